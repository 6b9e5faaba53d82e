// SPDX-License-Identifier: GPL-2.0
//
// Programs from decisions: DOFs whose structure is right and whose DIF words
// have the right shapes most of the time, so that a fuzzer's input gets past the
// loader and runs. What decides wrongly (a register 8, a branch back, a missing
// argument) is left wrong now and then: the verifier must see it.
//
// And damage that knows the structure: the words of headers, section headers and
// tables become what an offset, a size or an index is most harmful as.
#pragma once

#include <iterator>

#include "tests/fuzz/decisions.h"
#include "tests/unit/dof_builder.h"

namespace dfr::fuzz {

// Where the clauses of made programs stand.
struct Place {
	const char *provider, *function, *name;
};
inline constexpr Place kOwnPlaces[4] = {
    {"dtrace", "", "BEGIN"}, {"dtrace", "", "END"}, {"dtrace", "", "ERROR"}, {"dtrace", "", "*"}};

class ProgramMaker {
public:
	explicit ProgramMaker(Decisions& in, const Place (&places)[4] = kOwnPlaces)
	    : in_(in), places_(places) {}

	// On top of what `dof` has already.
	test::DofBuilder make(test::DofBuilder dof = {}) {
		const unsigned clauses = 1 + in_.byte() % 4;
		for (unsigned i = 0; i < clauses; i++)
			clause(dof);
		const uint8_t choice = in_.byte();
		if (choice % 4 == 0)
			option(dof);
		if (choice % 8 == 1)
			relocation(dof);
		if (choice % 8 == 2)
			host(dof);
		if (choice % 8 == 3)
			dof.table(DOF_SECT_BTFID, choice == 0xfb ? 4 : 8,
			          std::vector<dof_btfid>(choice == 0xf3 ? 2 : 1, {in_.byte() % 4u, 0, 0}));
		return dof;
	}

	// Of the first integer table, if there is one; mostly of a name that is known.
	void relocation(test::DofBuilder& dof) {
		const uint8_t choice = in_.byte();
		for (uint32_t i = 0; i < dof.sections.size(); i++) {
			if (dof.sections[i].hdr.type != DOF_SECT_INTTAB)
				continue;
			const dof_relodesc entry{dof.string(choice % 16 ? "commit_creds" : "unknown"),
			                         choice % 8 ? 1u : choice % 3u,
			                         in_.byte() % 4 ? 0 : in_.number() * 8, in_.number()};
			relocations(dof, choice & 64 ? DOF_SECT_URELHDR : DOF_SECT_KRELHDR, 0,
			            choice & 128 ? i : in_.byte(), entry);
			if (choice & 32)
				share(dof, i);
			return;
		}
	}

	test::Code code() {
		test::Code made;
		variables(made);
		const unsigned steps = 1 + in_.byte() % 24;
		for (unsigned i = 0; i < steps; i++)
			step(made);
		made.ret(reg());
		fix_branches(made);
		made.rtype = type();
		return made;
	}

private:
	// 1 to 7, and now and then 0 or 8.
	uint32_t reg() {
		const uint8_t choice = in_.byte();
		return choice < 252 ? 1 + choice % 7 : choice == 255 ? 8 : 0;
	}

	dif_type type() {
		switch (in_.byte() % 8) {
		case 0: return test::kString;
		case 1: return test::struct_of(in_.byte());
		case 2: return test::kInt32;
		case 3: return test::kVoid;
		case 4: return {DIF_KIND_STRING, 0, DIF_TF_BYREF, 0, 0};
		default: return test::kInt64;
		}
	}

	// Variables keep their type across the programs of a state: the id decides it.
	static dif_type type_of(uint32_t scope, uint32_t n) {
		if (n % 4 == 2)
			return {DIF_KIND_STRING, 0, DIF_TF_BYREF, 0, 32};
		if (n % 4 == 3 && scope != DIF_VS_LOCAL)
			return test::struct_of(24);
		return test::kInt64;
	}

	void variables(test::Code& made) {
		for (uint32_t n = 0; n < 4; n++) {
			for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_THREAD, DIF_VS_LOCAL})
				made.var(scope, DIF_VAR_USER_FIRST + n, type_of(scope, n));
			for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_THREAD})
				made.var(scope, DIF_VAR_USER_FIRST + 4 + n, type_of(scope, n), DIF_VK_ARRAY);
		}
	}

	uint64_t constant() {
		switch (in_.byte() % 8) {
		case 0: return 1ull << (in_.byte() & 63);
		case 1: return ~0ull << (in_.byte() & 63);
		case 2: return in_.wide();
		case 3: return 0xffff888000000000 + in_.half();
		case 4: return 0;
		default: return in_.byte();
		}
	}

	std::string word() {
		static const char* const words[] = {"",
		                                    "a",
		                                    "/usr/bin//x",
		                                    "a,b,,c",
		                                    "{\"a\":[1,\"b\",{\"c\":2}], \"d\":null}",
		                                    "a[1]",
		                                    "0x7f",
		                                    "../../x/./y/../",
		                                    "aaaaaaaaaaaaaaaaaaaaaaaaab",
		                                    "-12345678901234567890",
		                                    "/",
		                                    "a[2].c",
		                                    "[[1],{\"a\":\"x\"}]",
		                                    "[1].a",
		                                    "xyzzy"};
		std::string made = words[in_.byte() % 15];
		for (unsigned i = in_.byte(); i < 3; i++) // seldom a piece of another one
			made.insert(in_.byte() % (made.size() + 1), words[in_.byte() % 15]);
		if (in_.byte() % 8 == 0)
			made += std::string(in_.half() % 600, static_cast<char>('a' + in_.byte() % 3));
		return made;
	}

	uint32_t subroutine() {
		const uint8_t choice = in_.byte();
		if (choice < 200)
			return choice % (DIF_SUBR_CLASSIC_MAX + 2);
		if (choice < 240)
			return DIF_SUBR_F_ADD + choice % 13;
		return DIF_SUBR_D_PATH + choice % 3;
	}

	void push(test::Code& made) {
		const uint8_t choice = in_.byte();
		const uint32_t r = reg();
		if (choice < 128)
			made.pushv(r);
		else if (choice < 250)
			made.pushr(choice & 1, choice & 2 ? 0 : reg(), r);
		else
			made.pushr(choice, 0, r);
	}

	// A document and a selector, of pieces that fit together more often than chance would have it.
	void json(test::Code& made) {
		static const char* const documents[] = {"{\"a\":[1,\"b\",{\"c\":2}], \"d\":null}",
		                                        "[[1],{\"a\":\"x\\\"y\"}]", "{\"a\" : {\"b\":\"", "[",
		                                        "{\"a\":1"};
		static const char* const selectors[] = {
		    "a[2].c", "[1].a", "d", "a[1]", "a.b", "[0][0]", "a[", "a[9999999999]", ""};
		made.flush();
		made.sets(documents[in_.byte() % 5], 1).pushr(DIF_KIND_STRING, 0, 1);
		made.sets(selectors[in_.byte() % 9], 2).pushr(DIF_KIND_STRING, 0, 2);
		made.call(DIF_SUBR_JSON, reg());
	}

	void path(test::Code& made) {
		static const char* const pieces[] = {"/", "..", ".", "a", "//", "b/"};
		static const uint32_t subrs[] = {DIF_SUBR_BASENAME, DIF_SUBR_DIRNAME, DIF_SUBR_CLEANPATH};
		std::string text;
		for (unsigned i = 0, n = in_.byte() % 8; i < n; i++)
			text += pieces[in_.byte() % 6];
		made.flush().sets(text, 1).pushr(DIF_KIND_STRING, 0, 1).call(subrs[in_.byte() % 3], reg());
	}

	std::string digits() {
		static const char* const pieces[] = {
		    "0x", "-", "+", " ", "\t", "7", "1f", "zZ", "99999999999999999999", ","};
		std::string text;
		for (unsigned left = 1 + in_.byte() % 4; left; left--)
			text += pieces[in_.byte() % 10];
		return text;
	}

	// Twenty bytes, as network addresses have at most; the first sixteen may be a mapped one's.
	std::string address() {
		std::string bytes(20, '\0');
		const uint8_t choice = in_.byte();
		if (choice & 1)
			bytes.replace(10, 2, "\xff\xff");
		for (unsigned left = choice / 2 % 8; left; left--)
			bytes[in_.byte() % 20] = static_cast<char>(in_.byte());
		return bytes;
	}

	// The bits of a double, mostly one at an end of something.
	uint64_t number() {
		static constexpr uint64_t kBits[] = {0,
		                                     1ull << 63,
		                                     0x7ff0000000000000,
		                                     0xfff0000000000000,
		                                     0x7ff8000000000000,
		                                     0x3ff0000000000000,
		                                     0xbff8000000000000,
		                                     1,
		                                     0x7fefffffffffffff,
		                                     0x43e0000000000000,
		                                     0xc3e0000000000001,
		                                     0x47efffffffffffff,
		                                     0x36a0000000000000,
		                                     0x7f800000,
		                                     0x7fc00000};
		const uint8_t choice = in_.byte();
		return choice < 0xf0 ? kBits[choice % 15] : in_.wide();
	}

	// A subroutine with arguments of the kind that it is for: s a string, d digits, a an address in the
	// program's own memory, n a small number, x any, b a base, f a family or a type of hardware, g a
	// double. (Not copyout(): here it would write into the fuzzer.)
	void fitting(test::Code& made) {
		static constexpr struct {
			uint32_t subr;
			const char* arguments;
		} kCalls[] = {
		    {DIF_SUBR_STRTOLL, "db"},   {DIF_SUBR_LLTOSTR, "xb"},   {DIF_SUBR_INET_NTOP, "fa"},
		    {DIF_SUBR_INET_NTOA6, "a"}, {DIF_SUBR_LINK_NTOP, "fa"}, {DIF_SUBR_INET_NTOA, "a"},
		    {DIF_SUBR_SUBSTR, "sxx"},   {DIF_SUBR_INDEX, "ssx"},    {DIF_SUBR_RINDEX, "ssx"},
		    {DIF_SUBR_MEMSTR, "ann"},   {DIF_SUBR_STRTOK, "ss"},    {DIF_SUBR_BCOPY, "aan"},
		    {DIF_SUBR_STRSTR, "ss"},    {DIF_SUBR_MEMREF, "an"},    {DIF_SUBR_HTONLL, "x"},
		    {DIF_SUBR_STRJOIN, "ss"},   {DIF_SUBR_F_ADD, "gg"},     {DIF_SUBR_F_SUB, "gg"},
		    {DIF_SUBR_F_MUL, "gg"},     {DIF_SUBR_F_DIV, "gg"},     {DIF_SUBR_F_CMP, "gg"},
		    {DIF_SUBR_F_TO_I64, "g"},   {DIF_SUBR_F_TO_U64, "g"},   {DIF_SUBR_F_FROM_F32, "g"},
		    {DIF_SUBR_F_TO_F32, "g"},   {DIF_SUBR_F_FROM_I64, "x"}};
		static constexpr uint32_t kFamilies[] = {2, 10, 1, 32, 0};
		const auto& one = kCalls[in_.byte() % std::size(kCalls)];
		made.flush();
		for (uint32_t i = 0; one.arguments[i]; i++) {
			switch (one.arguments[i]) {
			case 's': made.sets(word(), 1 + i); break;
			case 'd': made.sets(digits(), 1 + i); break;
			case 'a': made.sets(address(), 1 + i); break;
			case 'n': made.setx(in_.byte() % 32, 1 + i); break;
			case 'g': made.setx(number(), 1 + i); break;
			case 'b': made.setx(1 + in_.byte() % 37, 1 + i); break;
			case 'f': made.setx(kFamilies[in_.byte() % 5], 1 + i); break;
			default: made.setx(constant(), 1 + i);
			}
			if (one.arguments[i] == 's' || one.arguments[i] == 'd')
				made.pushr(DIF_KIND_STRING, 0, 1 + i);
			else
				made.pushv(1 + i);
		}
		made.call(one.subr, reg());
	}

	// Half of the calls get constants that the subroutine can make something of.
	void call(test::Code& made) {
		const uint8_t choice = in_.byte();
		if (choice >= 0xd0 && choice < 0xe8)
			return fitting(made);
		if (choice >= 0xf8)
			return json(made);
		if (choice >= 0xf0)
			return path(made);
		made.flush();
		// Now and then more than the tuple stack has room for.
		const bool many = choice >= 0xe8;
		for (unsigned i = 0, n = many ? in_.byte() % 16 : 2 + choice % 2; i < n; i++) {
			if (many || choice & 2)
				push(made);
			else if (choice & 4 || in_.byte() & 1)
				made.sets(word(), 1 + i).pushr(DIF_KIND_STRING, 0, 1 + i);
			else
				made.setx(constant(), 1 + i).pushv(1 + i);
		}
		made.call(subroutine(), reg());
	}

	// An access to a variable that is declared, by an instruction that fits it, as a rule.
	void variable(test::Code& made) {
		static const uint32_t scalars[] = {DIF_OP_LDGS, DIF_OP_STGS, DIF_OP_LDTS,
		                                   DIF_OP_STTS, DIF_OP_LDLS, DIF_OP_STLS};
		static const uint32_t arrays[] = {DIF_OP_LDGAA, DIF_OP_STGAA, DIF_OP_LDTAA, DIF_OP_STTAA};
		const uint8_t choice = in_.byte();
		const uint32_t n = choice & 3;
		if (choice >= 253) {
			made.wide(scalars[choice % 6], in_.half(), reg());
		} else if (choice & 4) {
			made.wide(scalars[(choice >> 3) % 6], DIF_VAR_USER_FIRST + n, reg());
		} else {
			if (choice & 8) {
				made.flush();
				push(made);
			}
			made.wide(arrays[(choice >> 4) % 4], DIF_VAR_USER_FIRST + 4 + n, reg());
		}
	}

	// A comparison as a rule; else what compilers seldom make.
	void unusual(test::Code& made) {
		const uint8_t choice = in_.byte();
		if (choice < 0xe0)
			made.r(choice & 1 ? DIF_OP_CMP : DIF_OP_SCMP, reg(), reg(), 0);
		else if (choice < 0xe8)
			made.r(DIF_OP_NOT, reg(), 0, reg());
		else if (choice < 0xf0)
			made.r(DIF_OP_TST, reg(), 0, 0);
		else if (choice < 0xf4)
			made.r(DIF_OP_NOP, 0, 0, 0);
		else if (choice < 0xf8)
			made.r(DIF_OP_POPTS, 0, 0, 0);
		else if (choice < 0xfc)
			made.r(DIF_OP_LDTA, DIF_VAR_ARGS, reg(), reg());
		else
			made.wide(DIF_OP_LDGS, DIF_VAR_CPU, reg());
	}

	void step(test::Code& made) {
		const uint8_t choice = in_.byte();
		switch (choice % 16) {
		case 0:
		case 1: made.setx(constant(), reg()); break;
		case 2:
		case 3: made.sets(word(), reg()); break;
		case 4: made.wide(DIF_OP_LDGS, DIF_VAR_CURTHREAD + in_.byte() % 33, reg()); break;
		case 5:
		case 6: variable(made); break;
		case 7: unusual(made); break;
		case 8:
			made.branch(DIF_OP_BA + in_.byte() % 11, 1 + in_.byte() % 8);
			break; // relative for now
		case 9:
		case 10: call(made); break;
		case 11: made.r(DIF_OP_LDSB + in_.byte() % 7, reg(), 0, reg()); break;
		case 12: made.r(DIF_OP_STB + in_.byte() % 11, reg(), 0, reg()); break;
		case 13: {
			static const uint32_t plain[] = {DIF_OP_OR,   DIF_OP_XOR,  DIF_OP_AND,  DIF_OP_SLL,
			                                 DIF_OP_SRL,  DIF_OP_SUB,  DIF_OP_ADD,  DIF_OP_MUL,
			                                 DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM,
			                                 DIF_OP_SRA,  DIF_OP_COPYS};
			made.r(plain[in_.byte() % 14], reg(), reg(), reg());
			break;
		}
		case 14: made.r(in_.byte() & 1 ? DIF_OP_ALLOCS : DIF_OP_MOV, reg(), 0, reg()); break;
		default:
			if (choice < 250)
				made.r(DIF_OP_LDGA, choice & 16 ? DIF_VAR_ARGS : DIF_VAR_CAPTURED, reg(),
				       reg());
			else
				made.word(in_.word());
		}
	}

	// Distances become labels, inside the text unless the decision was to leave it.
	static void fix_branches(test::Code& made) {
		for (size_t pc = 0; pc < made.text.size(); pc++) {
			const uint32_t op = DIF_OP(made.text[pc]);
			if (op < DIF_OP_BA || op > DIF_OP_BLEU)
				continue;
			size_t label = pc + (DIF_LABEL(made.text[pc]) & 15);
			if (label >= made.text.size())
				label = made.text.size() - 1;
			made.text[pc] = DIF_INSTR_BRANCH(op, label);
		}
	}

	void option(test::DofBuilder& dof) {
		static const uint32_t options[] = {DFR_OPT_BUFSIZE,  DFR_OPT_BUFPOLICY,   DFR_OPT_DYNVARSIZE,
		                                   DFR_OPT_AGGSIZE,  DFR_OPT_SPECSIZE,    DFR_OPT_NSPEC,
		                                   DFR_OPT_STRSIZE,  DFR_OPT_SCRATCHSIZE, DFR_OPT_BLOCKSIZE,
		                                   DFR_OPT_SPECPOOL, DFR_OPT_DESTRUCTIVE, DFR_OPT_ZONE};
		const uint8_t choice = in_.byte();
		const uint32_t which = choice < 0xfc ? options[choice % 12] : in_.byte();
		// Or a negative one; as much memory as there may be is nothing to try.
		dof.option(which, in_.half() | (choice < 0xf0 ? 0 : 1ull << 63));
	}

	// Headers and entries; `names` is a section of strings.
	void relocations(test::DofBuilder& dof, uint32_t type, uint32_t names, uint32_t target,
	                 dof_relodesc entry) {
		const uint32_t table = dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{entry});
		dof.table(type, 4, std::vector<dof_relohdr>{{names, table, target}});
	}

	// The bytes of the integer table as something else, which shows or tells what is written there: names
	// of another relocation or of a probe, a string of a program's, or any section there is.
	void share(test::DofBuilder& dof, uint32_t ints) {
		const uint8_t choice = in_.byte();
		const uint64_t from = choice & 0x80 ? 0 : in_.byte() % 16 - 8, size = 8 + in_.byte() % 24;
		const uint32_t names = dof.alias(DOF_SECT_STRTAB, 1, ints, from, size);
		const std::vector<dof_probedesc> probe{{names, 0, 0, 0, 0, 0}};
		const uint32_t any = in_.byte() % static_cast<uint32_t>(dof.sections.size());
		switch (choice % 4) {
		case 0: relocations(dof, DOF_SECT_KRELHDR, names, ints, {0, DOF_RELO_SETX, 0, 0}); break;
		case 1: dof.ecb(dof.table(DOF_SECT_PROBEDESC, 4, probe), test::kNone, test::kNone); break;
		default:
			if (choice % 4 == 2 && dof.sections[any].hdr.type != DOF_SECT_STRTAB)
				break;
			dof.sections[any].of = ints;
			dof.sections[any].from = from;
			dof.sections[any].size = size;
		}
	}

	void host(test::DofBuilder& dof) {
		for (uint32_t i = 0; i < dof.sections.size(); i++) {
			if (dof.sections[i].hdr.type != DOF_SECT_ECBDESC)
				continue;
			dof_hostdesc entry{i, 0, dof.string("web*"), 0};
			dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{entry});
			return;
		}
	}

	test::Act value(test::DofBuilder& dof, uint32_t kind, dif_type rtype) {
		test::Code made = code();
		made.rtype = rtype;
		return {kind, dof.difo(made)};
	}

	// A key or two, perhaps a weight, and an aggregating action.
	void aggregation(test::DofBuilder& dof, std::vector<test::Act>& acts) {
		const uint8_t choice = in_.byte();
		const uint32_t kind = DFR_ACT_COUNT + choice % 9;
		test::Act agg{kind};
		agg.ntuple = 1 + (choice >> 4) % 3;
		agg.uarg = 1 + kind - DFR_ACT_COUNT;
		for (uint32_t i = 0; i < agg.ntuple; i++) {
			if (in_.byte() % 5 == 0)
				acts.push_back({DFR_ACT_STACK, test::kNone, 0, in_.byte() % 8u});
			else
				acts.push_back(value(dof, DFR_ACT_DIFEXPR,
				                     in_.byte() & 1 ? test::kString : test::kInt64));
		}
		if (kind != DFR_ACT_COUNT)
			agg.difo = value(dof, kind, test::kInt64).difo;
		if (kind == DFR_ACT_LQUANTIZE)
			agg.arg = static_cast<uint64_t>(1 + in_.byte()) << 48 |
			          static_cast<uint64_t>(1 + in_.byte()) << 32 | in_.word();
		if (kind == DFR_ACT_LLQUANTIZE)
			agg.arg = 10ull << 48 | static_cast<uint64_t>(in_.byte() % 4) << 32 |
			          static_cast<uint64_t>(1 + in_.byte() % 18) << 16 |
			          (in_.byte() & 1 ? 10 : 20);
		if (choice >= 0xe8)
			odd(agg, acts.back());
		acts.push_back(agg);
	}

	// Parameters that come near to what may be, a weight, a key that is not there.
	void odd(test::Act& agg, test::Act& last) {
		switch (in_.byte() % 6) {
		case 0: agg.arg = in_.wide(); break;
		case 1:
			agg.arg = uint64_t{in_.byte() % 4u} << 48 | uint64_t{in_.byte() % 8u} << 32 |
			          uint64_t{in_.byte() % 64u} << 16 | in_.byte() % 32u;
			break;
		case 2: agg.uarg = in_.byte() % 2 ? 0 : in_.wide(); break;
		case 3: agg.ntuple = in_.byte() % 16; break;
		default: last.uarg = DFR_UARG_WEIGHT;
		}
	}

	// An address that readers look up; now and then an action that takes a number of another size, or none.
	void looked_up(test::DofBuilder& dof, std::vector<test::Act>& acts) {
		static constexpr uint32_t kKinds[] = {
		    DFR_ACT_USYM,  DFR_ACT_SYM,    DFR_ACT_MOD,     DFR_ACT_UMOD,  DFR_ACT_UADDR,
		    DFR_ACT_EXIT,  DFR_ACT_STOP,   DFR_ACT_RAISE,   DFR_ACT_CHILL, DFR_ACT_BREAKPOINT,
		    DFR_ACT_PANIC, DFR_ACT_JSTACK, DFR_ACT_SNAPSHOT};
		const uint8_t choice = in_.byte();
		const uint32_t kind = kKinds[choice < 0xe0 ? choice % 5 : choice % 13];
		if (kind == DFR_ACT_SNAPSHOT) {
			const uint64_t number = in_.number();
			acts.push_back({kind, test::kNone, 0, number % 4 ? dof.string("slow read") : number});
			acts.back().strtab = 0;
		} else if (kind == DFR_ACT_JSTACK || kind == DFR_ACT_STOP || kind == DFR_ACT_BREAKPOINT ||
		           kind == DFR_ACT_PANIC)
			acts.push_back({kind, test::kNone, 0, in_.number()});
		else
			acts.push_back(
			    value(dof, kind, choice < 0xf0 && kind != DFR_ACT_EXIT ? test::kInt64 : type()));
	}

	void action(test::DofBuilder& dof, std::vector<test::Act>& acts) {
		switch (in_.byte() % 16) {
		case 0:
		case 1:
		case 2:
		case 3: acts.push_back(value(dof, DFR_ACT_DIFEXPR, type())); break;
		case 4:
			acts.push_back(value(dof, DFR_ACT_PRINTF, type()));
			if (in_.byte() & 1) {
				acts.back().strtab = 0;
				acts.back().arg = dof.string("%d\n");
			}
			break;
		case 5: acts.push_back({DFR_ACT_STACK, test::kNone, 0, in_.byte()}); break;
		case 6: acts.push_back({DFR_ACT_USTACK, test::kNone, 0, in_.byte()}); break;
		case 7: acts.push_back(value(dof, DFR_ACT_TRACEMEM, test::struct_of(1u + in_.byte()))); break;
		case 8: acts.push_back(value(dof, DFR_ACT_SPECULATE, test::kInt64)); break;
		case 9: acts.push_back(value(dof, DFR_ACT_COMMIT, test::kInt64)); break;
		case 10: acts.push_back(value(dof, DFR_ACT_DISCARD, test::kInt64)); break;
		case 11: looked_up(dof, acts); break;
		case 12: acts.push_back(value(dof, DFR_ACT_CAPTURE, type())); break;
		case 13: acts.push_back({DFR_ACT_CAPTURE_ARGS}); break;
		case 14:
			acts.push_back(
			    {in_.half(), test::kNone, in_.byte() % 3u, in_.number(), in_.number()});
			break;
		default: aggregation(dof, acts);
		}
	}

	void clause(test::DofBuilder& dof) {
		const bool any_provider = in_.byte() % 8 == 0;
		const Place& place = places_[in_.byte() % 4];
		const uint32_t probe =
		    dof.probe(any_provider ? "" : place.provider, "", place.function, place.name);
		uint32_t predicate = test::kNone;
		if (in_.byte() % 4 == 0)
			predicate = value(dof, 0, test::kInt64).difo;
		std::vector<test::Act> acts;
		for (unsigned i = 0, n = in_.byte() % 5; i < n; i++)
			action(dof, acts);
		dof.ecb(probe, predicate, acts.empty() ? test::kNone : dof.actions(acts), in_.byte() & 3);
	}

	Decisions& in_;
	const Place (&places_)[4];
};

class Damage {
public:
	Damage(Decisions& in, test::DofBuilder& dof) : in_(in), dof_(dof) {}

	std::vector<uint8_t> bytes() {
		dof_.lay_out();
		sections();
		std::vector<uint8_t> made = dof_.raw();
		for (unsigned i = 0, n = in_.byte() % 4; i < n; i++)
			word(made);
		if (in_.byte() % 16 == 0)
			made[in_.half() % made.size()] = in_.byte();
		if (in_.byte() % 32 == 0)
			made.resize(sizeof(dof_header) + in_.half() % made.size());
		return made;
	}

private:
	// Numbers that are about to be right, or as wrong as can be.
	uint64_t number() {
		const uint64_t whole = dof_.header.filesz;
		switch (in_.byte() % 12) {
		case 0: return ~0ull >> (in_.byte() & 63);
		case 1: return ~0ull << (in_.byte() & 63);
		case 2: return whole + in_.byte() % 9 - 4;
		case 3: return dof_.sections.size() + in_.byte() % 5 - 2;
		case 4:
		case 5: {
			const dof_sec& other = dof_.sections[in_.byte() % dof_.sections.size()].hdr;
			return (in_.byte() & 1 ? other.offset : other.size) + in_.byte() % 5 - 2;
		}
		case 6: return whole - dof_.sections[in_.byte() % dof_.sections.size()].hdr.offset;
		case 7: return in_.wide();
		default: return in_.byte() % dof_.sections.size();
		}
	}

	void contents(std::vector<uint8_t>& bytes, size_t other) {
		if (bytes.size() < 4)
			return;
		const std::vector<uint8_t> last(bytes.end() - 4, bytes.end());
		if (in_.byte() & 1)
			bytes.insert(bytes.end(), last.begin(), last.end());
		else
			bytes[bytes.size() - 4] = static_cast<uint8_t>(other);
	}

	// Whole sections: one with another's type, two in one place, one lost or doubled.
	void sections() {
		std::vector<test::Section>& all = dof_.sections;
		const size_t i = in_.byte() % all.size(), j = in_.byte() % all.size();
		switch (in_.byte() % 24) {
		case 0: all[i].hdr.type = in_.byte() % 32; break;
		case 1: all[i].hdr.type = all[j].hdr.type; break;
		case 2: all[i].hdr.offset = all[j].hdr.offset; break;
		case 3: std::swap(all[i], all[j]); break;
		case 4:
			all.push_back(all[i]);
			dof_.lay_out();
			break;
		case 5:
			all.pop_back();
			if (all.empty())
				all.emplace_back();
			dof_.lay_out();
			break;
		case 6: all[i].hdr.size = number(); break;
		case 7: all[i].hdr.entsize = static_cast<uint32_t>(number()); break;
		case 8: all[i].hdr.flags = 0; break;
		case 9: all[i].hdr.align = 1; break;
		case 10: all[i].hdr.entsize++; break;
		case 11: // the last link or entry twice, or one to elsewhere
		case 12:
			contents(all[i].bytes, j);
			dof_.lay_out();
			break;
		case 13:
			all[i].bytes.resize(in_.byte() % (all[i].bytes.size() + 1));
			dof_.lay_out();
			break;
		case 14: // every name is long
			all[0].bytes.assign(1100, 'x');
			all[0].bytes.push_back(static_cast<uint8_t>(in_.byte() & 1));
			dof_.lay_out();
			break;
		case 15: dof_.header.ident[4 + in_.byte() % 8] = in_.byte(); break;
		}
	}

	// A word of the header, of a section's header or of what a section holds.
	void word(std::vector<uint8_t>& made) {
		const uint8_t choice = in_.byte();
		const size_t i = in_.byte() % dof_.sections.size();
		size_t start = 0, room = sizeof(dof_header);
		if (choice % 8 == 1 || choice % 8 == 2) {
			start = sizeof(dof_header) + i * sizeof(dof_sec);
			room = sizeof(dof_sec);
		} else if (choice % 8 > 2) {
			start = dof_.sections[i].hdr.offset;
			room = dof_.sections[i].bytes.size();
		}
		const size_t width = choice & 0x80 ? 8 : 4;
		const size_t at = start + (room ? in_.half() % room : 0) / width * width;
		const uint64_t value = number();
		if (at < made.size() && width <= made.size() - at)
			std::memcpy(made.data() + at, &value, width);
	}

	Decisions& in_;
	test::DofBuilder& dof_;
};

} // namespace dfr::fuzz
