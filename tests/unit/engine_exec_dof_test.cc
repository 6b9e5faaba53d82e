// SPDX-License-Identifier: GPL-2.0
//
// The loader's structure pass: one right DOF, then each rule of the reference
// sheet broken by itself. The reason must name the section and the offset.
#include <catch2/catch.hpp>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_dof_test {

using namespace dfr::test;

namespace {

// Sections: 0 strings, 1 DIF, 2 STRTAB, 3 DIFOHDR, 4 PROBEDESC, 5 ACTDESC, 6 ECBDESC.
DofBuilder small() {
	DofBuilder dof;
	dof.trace(Code().ret(0));
	dof.lay_out();
	return dof;
}

void refused(const DofBuilder& dof, const std::string& reason, uint32_t section) {
	Loaded result = load(dof.raw());
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == reason);
	CHECK(result.why.rf_section == section);
}

constexpr uint32_t kHeader = 0xffffffff;

} // namespace

TEST_CASE("a right DOF becomes clauses", "[exec][dof]") {
	DofBuilder dof;
	Code pred;
	pred.wide(DIF_OP_LDGS, DIF_VAR_PID, 1).ret(1);
	Code value;
	value.wide(DIF_OP_LDGS, DIF_VAR_PROBEFUNC, 1).ret(1).returns(kString);
	uint32_t predicate = dof.difo(pred), traced = dof.difo(value);
	uint32_t acts =
	    dof.actions({{DFR_ACT_DIFEXPR, traced}, {DFR_ACT_EXIT, dof.difo(Code().ret(0).returns(kInt32))}});
	uint32_t first = dof.ecb(dof.probe("syscall", "", "re*", "entry"), predicate, acts, 0x1234);
	dof.ecb(dof.probe("", "", "", "", 42), kNone, acts);
	dof.option(DFR_OPT_BUFSIZE, 65536);
	dof_hostdesc host{first, 0, dof.string("web*"), 0};
	dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{host});

	Loaded result = load(dof.bytes());
	REQUIRE(result.error == 0);
	const dfr_program& pg = *result.program;
	REQUIRE(pg.pg_nclauses == 2);
	CHECK(pg.pg_ndifos == 3);
	CHECK(std::string(pg.pg_clauses[0].cl_pattern[0]) == "syscall");
	CHECK(std::string(pg.pg_clauses[0].cl_pattern[2]) == "re*");
	CHECK(std::string(pg.pg_clauses[0].cl_host) == "web*");
	CHECK(std::string(pg.pg_clauses[1].cl_host).empty());
	CHECK(pg.pg_clauses[0].cl_uarg == 0x1234);
	CHECK(pg.pg_clauses[0].cl_pred->di_len == 2);
	CHECK(pg.pg_clauses[0].cl_nacts == 2);
	CHECK(pg.pg_clauses[0].cl_acts[1].ac_kind == DFR_ACT_EXIT);
	CHECK(pg.pg_clauses[1].cl_probe_id == 42);
	CHECK(pg.pg_clauses[1].cl_index == 1);
	CHECK(pg.pg_clauses[1].cl_pred == nullptr);
	CHECK(pg.pg_clauses[1].cl_acts == pg.pg_clauses[0].cl_acts); // one section, one table
	REQUIRE(pg.pg_noptions == 1);
	CHECK(pg.pg_options[0].po_option == DFR_OPT_BUFSIZE);
	CHECK(pg.pg_options[0].po_value == 65536);
	CHECK_FALSE(pg.pg_destructive);
}

TEST_CASE("an empty DOF and one of options alone are legal", "[exec][dof]") {
	DofBuilder empty;
	empty.sections.clear();
	CHECK(load(empty.bytes()).error == 0);
	DofBuilder options;
	options.sections.clear();
	options.option(DFR_OPT_STRSIZE, 512);
	CHECK(load(options.bytes()).error == 0);
}

TEST_CASE("the DOF is copied: the caller's memory may change afterwards", "[exec][dof]") {
	std::vector<uint8_t> bytes = small().raw();
	Loaded result = load(bytes);
	REQUIRE(result.error == 0);
	std::fill(bytes.begin(), bytes.end(), 0xff);
	CHECK(std::string(result.program->pg_clauses[0].cl_pattern[3]) == "BEGIN");
	CHECK(result.program->pg_difos[0].di_text[0] == 0x23000000);
}

// What is wrong in a header, and what is said of it.
const struct {
	void (*damage)(dof_header& header);
	const char* reason;
} kHeaders[] = {
    {[](dof_header& header) { header.ident[1] = 'X'; }, "not a DOF: it does not begin with the magic number"},
    {[](dof_header& header) { header.ident[4] = 3; }, "unknown data model"},
    {[](dof_header& header) { header.ident[5] = DOF_ENCODE_MSB; }, "byte order is not this machine's"},
    {[](dof_header& header) { header.ident[6] = 3; }, "DOF version is not 1 or 2"},
    {[](dof_header& header) { header.ident[7] = 1; }, "DIF version is not 2"},
    {[](dof_header& header) { header.ident[8] = 9; }, "uses more registers than there are"},
    {[](dof_header& header) { header.ident[9] = 9; }, "uses more tuple registers than there are"},
    {[](dof_header& header) { header.ident[15] = 1; }, "padding of the ident is not zero"},
    {[](dof_header& header) { header.flags = 1; }, "unknown flags in the header"},
    {[](dof_header& header) { header.hdrsize = 72; }, "header size is not 64"},
    {[](dof_header& header) { header.secsize = 0; }, "section headers are too small"},
    {[](dof_header& header) { header.secsize = 36; }, "section table is misaligned"},
    {[](dof_header& header) { header.secnum = 0x10000000; }, "section table is cut off"},
    {[](dof_header& header) { header.secoff = ~0ull - 7; }, "section table is cut off"},
    {[](dof_header& header) { header.secoff = 56; }, "section table overlaps the header"},
    {[](dof_header& header) { header.loadsz += 8; }, "the loadable part is cut off"},
    {[](dof_header& header) { header.loadsz = 56; }, "the loadable part is cut off"},
};

TEST_CASE("header rules", "[exec][dof]") {
	for (const auto& one : kHeaders) {
		INFO(one.reason);
		DofBuilder dof = small();
		one.damage(dof.header);
		refused(dof, one.reason, kHeader);
	}
	DofBuilder dof = small();
	SECTION("version 1 is fine") {
		dof.header.ident[6] = 1;
		CHECK(load(dof.raw()).error == 0);
	}
	SECTION("misaligned section table") {
		dof.header.secoff = 68;
		dof.header.secnum = 1;
		std::vector<uint8_t> bytes = small().raw();
		std::memcpy(bytes.data(), &dof.header, sizeof(dof.header));
		Loaded result = load(bytes);
		CHECK(result.error == -EINVAL);
		CHECK(std::string(result.why.rf_reason) == "section table is misaligned");
	}
	SECTION("8 MiB") {
		dof.header.loadsz = 8 * 1024 * 1024;
		Loaded result = load(dof.raw());
		CHECK(result.error == -E2BIG);
	}
	SECTION("shorter than a header") {
		std::vector<uint8_t> bytes = dof.raw();
		bytes.resize(63);
		Loaded result = load(bytes);
		CHECK(result.error == -EINVAL);
		CHECK(std::string(result.why.rf_reason) == "shorter than a DOF header");
	}
}

// What is wrong in a section, and what is said of it.
const struct {
	uint32_t section;
	void (*damage)(Section& section);
	const char* reason;
} kSections[] = {
    {3, [](Section& section) { section.hdr.align = 0; }, "alignment is not a power of two"},
    {3, [](Section& section) { section.hdr.align = 3; }, "alignment is not a power of two"},
    {3, [](Section& section) { section.hdr.offset += 2; }, "section is misaligned"},
    {6, [](Section& section) { section.hdr.size += 16; }, "section reaches beyond the loadable part"},
    {6, [](Section& section) { section.hdr.offset = ~0ull - 7; }, "section reaches beyond the loadable part"},
    {6, [](Section& section) { section.hdr.offset = 64; }, "section overlaps the section table"},
    {6, [](Section& section) { section.hdr.offset = 0; }, "section overlaps the header"},
    {3, [](Section& section) { section.hdr.flags = 0; }, "section must be loadable and is not"},
    {2, [](Section& section) { section.bytes[0] = 'x'; }, "string table does not end with NUL"},
    {2, [](Section& section) { section.hdr.size = 0; }, "string table does not end with NUL"},
    {6, [](Section& section) { section.hdr.size = 16; }, "ECB description is cut off"},
    {6, [](Section& section) { section.hdr.align = 4; }, "ECB description is misaligned"},
    {4, [](Section& section) { section.hdr.size = 20; }, "probe description is cut off"},
};

TEST_CASE("section rules", "[exec][dof]") {
	for (const auto& one : kSections) {
		INFO(one.reason);
		DofBuilder dof = small();
		one.damage(dof.sections[one.section]);
		refused(dof, one.reason, one.section);
	}
	DofBuilder dof = small();
	SECTION("providers have no place here") {
		for (uint32_t type : {DOF_SECT_PROVIDER, DOF_SECT_PROBES, DOF_SECT_PRARGS, DOF_SECT_PROFFS}) {
			DofBuilder other = small();
			uint32_t section = other.add(type, 4, 0, std::vector<uint8_t>(64));
			other.lay_out();
			refused(other, "a provider's section has no place in an enabling", section);
		}
	}
	SECTION("unknown ones are harmless, loadable or not") {
		dof.add(0x7777, 8, 0, std::vector<uint8_t>(24));
		dof.add(0x7778, 0, 0, std::vector<uint8_t>(24), 0);
		dof.add(DOF_SECT_COMMENTS, 1, 0, std::vector<uint8_t>(5), 0);
		dof.lay_out();
		CHECK(load(dof.raw()).error == 0);
	}
}

// What is wrong in the description of an ECB or of its probe, where, and what is said of it.
const struct {
	void (*damage)(dof_ecbdesc* ecb, dof_probedesc* probe);
	const char* reason;
	uint32_t section;
} kDescriptions[] = {
    {[](dof_ecbdesc* ecb, dof_probedesc*) { ecb->probes = kNone; }, "refers to a section that does not exist",
     6},
    {[](dof_ecbdesc* ecb, dof_probedesc*) { ecb->probes = 5; }, "refers to a section of another type", 6},
    {[](dof_ecbdesc* ecb, dof_probedesc*) { ecb->pred = 1; }, "refers to a section of another type", 6},
    {[](dof_ecbdesc* ecb, dof_probedesc*) { ecb->actions = 7; }, "refers to a section that does not exist",
     6},
    {[](dof_ecbdesc*, dof_probedesc* probe) { probe->function = 0x1000; }, "string is outside its table", 4},
    {[](dof_ecbdesc*, dof_probedesc* probe) { probe->strtab = 1; }, "refers to a section of another type", 4},
};

TEST_CASE("ECB and probe descriptions", "[exec][dof]") {
	for (const auto& one : kDescriptions) {
		INFO(one.reason);
		DofBuilder dof = small();
		one.damage(reinterpret_cast<dof_ecbdesc*>(dof.sections[6].bytes.data()),
		           reinterpret_cast<dof_probedesc*>(dof.sections[4].bytes.data()));
		refused(dof, one.reason, one.section);
	}
	SECTION("name of 1024 characters") {
		DofBuilder other;
		uint32_t section = other.probe("syscall", "", std::string(1024, 'a'), "entry");
		other.ecb(section, kNone, kNone);
		other.lay_out();
		refused(other, "field of a probe description is longer than 1023 characters", section);
	}
	SECTION("name of 1023 characters") {
		DofBuilder other;
		other.ecb(other.probe("syscall", "", std::string(1023, 'a'), "entry"), kNone, kNone);
		CHECK(load(other.bytes()).error == 0);
	}
	SECTION("a predicate that is a string") {
		DofBuilder dof = small();
		reinterpret_cast<dof_ecbdesc*>(dof.sections[6].bytes.data())->pred = 3;
		dof.sections[3].bytes[0] = DIF_KIND_STRING;
		dof.sections[3].bytes[2] = DIF_TF_BYREF;
		refused(dof, "a predicate's value must be a number", 6);
	}
}

TEST_CASE("DIFO headers", "[exec][dof]") {
	DofBuilder dof;
	uint32_t text = dof.table(DOF_SECT_DIF, 4, std::vector<uint32_t>{0x23000000});
	uint32_t other = dof.table(DOF_SECT_DIF, 4, std::vector<uint32_t>{0x23000000});
	uint32_t ints = dof.table(DOF_SECT_INTTAB, 8, std::vector<uint64_t>{1});
	auto with = [&](const std::vector<uint32_t>& links) {
		uint32_t section = dof.difo_header(kInt64, links);
		dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), section, kNone);
		dof.lay_out();
		return section;
	};
	SECTION("no links") {
		refused((with({}), dof), "DIFO header is cut off", 4);
	}
	SECTION("no text") {
		refused((with({ints}), dof), "DIFO has no text", 4);
	}
	SECTION("two texts") {
		refused((with({text, other}), dof), "a DIFO has two texts", other);
	}
	SECTION("two integer tables") {
		refused((with({text, ints, ints}), dof), "a DIFO has two integer tables", ints);
	}
	SECTION("two string tables") {
		refused((with({text, 0, 0}), dof), "a DIFO has two string tables", 0);
	}
	SECTION("a link to nowhere") {
		refused((with({text, 99}), dof), "refers to a section that does not exist", 4);
	}
	SECTION("a link to a probe") {
		uint32_t probe = dof.probe("a", "b", "c", "d");
		refused((with({text, probe}), dof), "section is no part of a DIFO", 5);
	}
	SECTION("translators") {
		uint32_t xl = dof.add(DOF_SECT_XLTAB, 4, 12, std::vector<uint8_t>(12));
		refused((with({text, xl}), dof), "translators must be resolved before loading", 5);
	}
	SECTION("a link that is not loadable is skipped") {
		uint32_t lines = dof.add(DOF_SECT_LINES, 4, 24, std::vector<uint8_t>(24), 0);
		with({text, lines});
		CHECK(load(dof.raw()).error == 0);
	}
	SECTION("text of odd size") {
		with({text});
		dof.sections[text].hdr.size = 3;
		refused(dof, "DIF text has a bad alignment or entry size", text);
	}
	SECTION("text of wrong entry size") {
		with({text});
		dof.sections[text].hdr.entsize = 8;
		refused(dof, "DIF text has a bad alignment or entry size", text);
	}
	SECTION("empty text") {
		with({text});
		dof.sections[text].hdr.size = 0;
		refused(dof, "DIF text is empty", text);
	}
	SECTION("integers of wrong entry size") {
		with({text, ints});
		dof.sections[ints].hdr.entsize = 4;
		refused(dof, "integer table has a bad alignment or entry size", ints);
	}
	SECTION("variables of odd size") {
		uint32_t vars = dof.add(DOF_SECT_VARTAB, 4, 20, std::vector<uint8_t>(21));
		refused((with({text, vars}), dof), "variable table has a bad alignment or entry size", vars);
	}
	SECTION("larger than 256 KiB") {
		std::vector<uint32_t> words(65536, DIF_INSTR_R(DIF_OP_NOP, 0, 0, 0));
		words.back() = 0x23000000;
		uint32_t big = dof.table(DOF_SECT_DIF, 4, words);
		SECTION("exactly is fine") {
			with({big});
			CHECK(load(dof.raw()).error == 0);
		}
		SECTION("one table more is not") {
			refused((with({big, ints}), dof), "DIFO is larger than 256 KiB", 5);
		}
	}
}

TEST_CASE("options", "[exec][dof]") {
	DofBuilder dof;
	auto refuse_option = [&](dof_optdesc desc, const char* reason) {
		uint32_t section = dof.table(DOF_SECT_OPTDESC, 8, std::vector<dof_optdesc>{desc});
		dof.lay_out();
		refused(dof, reason, section);
	};
	SECTION("unknown") {
		refuse_option({DFR_OPT_CLASSIC_MAX, kNone, 1}, "unknown option");
	}
	SECTION("unknown, of ours") {
		refuse_option({DFR_OPT_OURS_MAX, kNone, 1}, "unknown option");
	}
	SECTION("unset") {
		refuse_option({DFR_OPT_BUFSIZE, kNone, static_cast<uint64_t>(DFR_OPT_UNSET)},
		              "option has no value");
	}
	SECTION("negative") {
		refuse_option({DFR_OPT_BUFSIZE, kNone, ~0ull}, "option's value is negative");
	}
	SECTION("text") {
		refuse_option({DFR_OPT_BUFSIZE, 0, 1}, "option has a text; only numbers can be loaded");
	}
	SECTION("entry size") {
		uint32_t section = dof.option(DFR_OPT_BUFSIZE, 1);
		dof.lay_out();
		dof.sections[section].hdr.entsize = 0;
		refused(dof, "bad entry size of options", section);
	}
	SECTION("ours") {
		dof.option(DFR_OPT_SCRATCHSIZE, 4096);
		CHECK(load(dof.bytes()).error == 0);
	}
}

TEST_CASE("the host field", "[exec][dof]") {
	DofBuilder dof = small();
	SECTION("of no ECB") {
		uint32_t section = dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{{3, 0, 0, 0}});
		dof.lay_out();
		refused(dof, "refers to a section of another type", section);
	}
	SECTION("outside the strings") {
		uint32_t section =
		    dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{{6, 0, 999999, 0}});
		dof.lay_out();
		refused(dof, "string is outside its table", section);
	}
	SECTION("bad entry size") {
		uint32_t section = dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{{6, 0, 0, 0}});
		dof.lay_out();
		dof.sections[section].hdr.entsize = 12;
		refused(dof, "bad entry size of the host table", section);
	}
	SECTION("not loadable") {
		uint32_t section = dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>{{6, 0, 0, 0}});
		dof.lay_out();
		dof.sections[section].hdr.flags = 0;
		refused(dof, "section must be loadable and is not", section);
	}
}

namespace {

u64 these_types() {
	return 0x1234;
}

} // namespace

TEST_CASE("clauses that were compiled for other kernel types are left out", "[exec][dof]") {
	const uint64_t digest = GENERATE(0x1234, 0x1235);
	const bool checked = GENERATE(true, false);
	DofBuilder dof;
	const uint32_t difo = dof.difo(Code().ret(0));
	dof.ecb(dof.probe("syscall", "", "", "entry"), difo, kNone, DFR_ECBUARG(0, 0));
	dof.ecb(dof.probe("fbt", "", "vfs_read", "entry"), difo, kNone,
	        DFR_ECBUARG(1, DFR_ECBUARG_KERNEL_TYPES));
	dof.ecb(dof.probe("fbt", "", "vfs_read", "entry"), difo, kNone,
	        DFR_ECBUARG(1, DFR_ECBUARG_KERNEL_TYPES | DFR_ECBUARG_CONTINUATION));
	dof.table(DOF_SECT_BTFID, 8, std::vector<dof_btfid>{{digest, 0, 0}});
	const Loaded result = load(dof.bytes(), {true, true, checked ? these_types : nullptr});
	REQUIRE(result.error == 0);
	const bool other = checked && digest != 0x1234;
	CHECK_FALSE(result.program->pg_clauses[0].cl_foreign);
	CHECK(result.program->pg_clauses[1].cl_foreign == other);
	CHECK(result.program->pg_clauses[2].cl_foreign == other);
}

TEST_CASE("the digest of types", "[exec][dof]") {
	DofBuilder dof = small();
	const uint32_t section = dof.table(DOF_SECT_BTFID, 8, std::vector<dof_btfid>{{1, 0, 0}});
	SECTION("cut") {
		dof.sections[section].bytes.resize(12);
		dof.lay_out();
		refused(dof, "bad size of the digest of types", section);
	}
	SECTION("misaligned") {
		dof.sections[section].hdr.align = 4;
		dof.lay_out();
		refused(dof, "digest of types is misaligned", section);
	}
	SECTION("not loadable") {
		dof.lay_out();
		dof.sections[section].hdr.flags = 0;
		refused(dof, "section must be loadable and is not", section);
	}
}

namespace {

int asked = 0;

int known_symbol(const char* name, __u64* address) {
	asked++;
	if (std::string(name) != "vmlinux`jiffies")
		return -ENOENT;
	*address = 0xffffffff81000000ull;
	return 0;
}

struct Relocations {
	DofBuilder dof;
	uint32_t ints = 0, reltab = 0, relhdr = 0;
	dof_relodesc entry{};
	dof_relohdr head{};

	Relocations() {
		Code code;
		code.setx(5, 1).ret(1);
		uint32_t difo = dof.difo(code); // 1 DIF, 2 INTTAB, 3 STRTAB, 4 DIFOHDR
		dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), difo, kNone);
		ints = 2;
		entry = {dof.string("vmlinux`jiffies"), DOF_RELO_SETX, 0, 16};
		dfr_user_symbol = known_symbol;
	}
	~Relocations() { dfr_user_symbol = nullptr; }
	Relocations(const Relocations&) = delete;
	Relocations& operator=(const Relocations&) = delete;
	void build(uint32_t type = DOF_SECT_KRELHDR) {
		reltab = dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{entry});
		head = {0, reltab, ints};
		relhdr = dof.table(type, 4, std::vector<dof_relohdr>{head});
		dof.lay_out();
	}
	dof_relohdr& header() { return *reinterpret_cast<dof_relohdr*>(dof.sections[relhdr].bytes.data()); }
};

} // namespace

TEST_CASE("relocations", "[exec][dof]") {
	Relocations rel;
	SECTION("address and addend are added to the slot") {
		rel.build();
		Loaded result = load(rel.dof.raw());
		REQUIRE(result.error == 0);
		CHECK(result.program->pg_difos[0].di_ints[0] == 0xffffffff81000000ull + 16 + 5);
	}
	SECTION("an unknown symbol is named") {
		rel.entry.name = rel.dof.string("no_such_thing");
		rel.build();
		Loaded result = load(rel.dof.raw());
		CHECK(result.error == -ENOENT);
		CHECK(std::string(result.why.rf_reason) == "this kernel has no symbol no_such_thing");
		CHECK(result.why.rf_section == rel.reltab);
	}
	SECTION("type NONE is ignored") {
		rel.entry.type = DOF_RELO_NONE;
		rel.build();
		Loaded result = load(rel.dof.raw());
		REQUIRE(result.error == 0);
		CHECK(result.program->pg_difos[0].di_ints[0] == 5);
	}
	SECTION("of user space: nothing to add in an enabling") {
		rel.build(DOF_SECT_URELHDR);
		Loaded result = load(rel.dof.raw());
		REQUIRE(result.error == 0);
		CHECK(result.program->pg_difos[0].di_ints[0] == 5);
	}
	SECTION("DOFREL is for helpers") {
		rel.entry.type = DOF_RELO_DOFREL;
		rel.build();
		refused(rel.dof, "unknown relocation type", rel.reltab);
	}
	SECTION("misaligned slot") {
		rel.entry.offset = 4;
		rel.build();
		refused(rel.dof, "relocation is misaligned", rel.reltab);
	}
	SECTION("slot behind the target") {
		rel.entry.offset = 8;
		rel.build();
		refused(rel.dof, "relocation is outside its target", rel.reltab);
	}
	SECTION("slot far outside") {
		rel.entry.offset = ~0ull - 7;
		rel.build();
		refused(rel.dof, "relocation is outside its target", rel.reltab);
	}
	SECTION("name outside the strings") {
		rel.entry.name = 0x10000;
		rel.build();
		refused(rel.dof, "string is outside its table", rel.reltab);
	}
	SECTION("a target that is no integer table") {
		rel.build();
		rel.header().tgtsec = 1;
		refused(rel.dof, "refers to a section of another type", rel.relhdr);
	}
	SECTION("no table") {
		rel.build();
		rel.header().relsec = kNone;
		refused(rel.dof, "refers to a section that does not exist", rel.relhdr);
	}
	SECTION("entries too small") {
		rel.build();
		rel.dof.sections[rel.reltab].hdr.entsize = 16;
		refused(rel.dof, "bad entry size of relocations", rel.reltab);
	}
	SECTION("header cut off") {
		rel.build();
		rel.dof.sections[rel.relhdr].hdr.size = 8;
		refused(rel.dof, "relocation header is cut off", rel.relhdr);
	}
	SECTION("a name that does not print") {
		rel.entry.name = rel.dof.string("no\nsuch\x1b\x7f\xff thing");
		rel.build();
		Loaded result = load(rel.dof.raw());
		CHECK(result.error == -ENOENT);
		CHECK(std::string(result.why.rf_reason) == "this kernel has no symbol no?such??? thing");
	}
}

// An address would stand in what is read as something else, and be shown as that.
TEST_CASE("a relocation writes only where no other section lies", "[exec][dof]") {
	Relocations rel;
	rel.build();
	const dof_sec ints = rel.dof.sections[rel.ints].hdr;
	asked = 0;
	SECTION("a section of any type, over all of it or a byte of it") {
		const uint32_t type =
		    GENERATE(DOF_SECT_STRTAB, DOF_SECT_INTTAB, DOF_SECT_DIF, DOF_SECT_COMMENTS);
		const auto [offset, size] =
		    GENERATE(std::pair{0, 8}, std::pair{7, 1}, std::pair{-8, 10}, std::pair{-8, 32});
		const uint32_t other = rel.dof.add(type, 1, 0, {});
		rel.dof.lay_out();
		rel.dof.sections[other].hdr.offset =
		    rel.dof.sections[rel.ints].hdr.offset + static_cast<uint64_t>(offset);
		rel.dof.sections[other].hdr.size = static_cast<uint64_t>(size);
		const Loaded result = load(rel.dof.raw());
		CHECK(result.error == -EINVAL);
		CHECK(std::string(result.why.rf_reason) ==
		      "relocation of a table that another section shares");
		CHECK(result.why.rf_section == rel.reltab);
		CHECK(asked == 0);
	}
	SECTION("one that is not loaded, or is empty, holds nothing") {
		const bool empty = GENERATE(false, true);
		const uint32_t other = rel.dof.add(DOF_SECT_COMMENTS, 1, 0, {}, empty ? DOF_SECF_LOAD : 0);
		rel.dof.lay_out();
		rel.dof.sections[other].hdr.offset = rel.dof.sections[rel.ints].hdr.offset;
		rel.dof.sections[other].hdr.size = empty ? 0 : 8;
		CHECK(load(rel.dof.raw()).error == 0);
	}
	SECTION("neighbours share nothing") {
		rel.dof.sections[3].hdr.offset = ints.offset + 8;
		rel.dof.sections[3].hdr.size = 1;
		const Loaded result = load(rel.dof.raw());
		CHECK(std::string(result.why.rf_reason) !=
		      "relocation of a table that another section shares");
	}
}

// The name of a second relocation lies where the first one writes: it would be said which symbol there is not.
TEST_CASE("no refusal echoes an address", "[exec][dof]") {
	const bool confined = GENERATE(false, true);
	Relocations rel;
	rel.ints = rel.dof.table(DOF_SECT_INTTAB, 8, std::vector<uint64_t>{0, 0});
	rel.build();
	const uint32_t strings = rel.dof.add(DOF_SECT_STRTAB, 1, 0, {0});
	const uint32_t table =
	    rel.dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{{0, DOF_RELO_SETX, 8, 0}});
	rel.dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{strings, table, rel.ints}});
	rel.dof.lay_out();
	rel.dof.sections[strings].hdr.offset = rel.dof.sections[rel.ints].hdr.offset;
	rel.dof.sections[strings].hdr.size = 16;
	asked = 0;
	const Loaded result = load(rel.dof.raw(), {true, true, nullptr, confined});
	CHECK(result.error == (confined ? -EPERM : -EINVAL));
	CHECK(asked == 0);
	const std::string reason(result.why.rf_reason, sizeof(result.why.rf_reason));
	CHECK(reason.find("\x81\xff\xff\xff\xff") == std::string::npos);
}

TEST_CASE("any single byte changed: refused with a place, or loads", "[exec][dof]") {
	Relocations rel;
	rel.build();
	std::vector<uint8_t> good = rel.dof.raw();
	REQUIRE(load(good).error == 0);
	size_t refusals = 0;
	for (size_t at = 0; at < good.size(); at++) {
		for (int flip : {0x01, 0x80, 0xff}) {
			std::vector<uint8_t> bytes = good;
			bytes[at] = static_cast<uint8_t>(bytes[at] ^ flip);
			Loaded result = load(bytes);
			if (!result.error)
				continue;
			refusals++;
			CHECK(result.why.rf_reason[0] != '\0');
			CHECK((result.why.rf_section == kHeader ||
			       result.why.rf_section < rel.dof.sections.size()));
		}
	}
	CHECK(refusals > 100);
}

// Work that is asked for by naming the same bytes again and again.
TEST_CASE("clauses that share their actions have a million of them together", "[exec][dof]") {
	for (const int clauses : {64, 65}) {
		DofBuilder dof;
		const uint32_t where = dof.probe("dtrace", "", "", "BEGIN");
		const uint32_t actions =
		    dof.actions(std::vector<Act>(16384, Act{DFR_ACT_DIFEXPR, dof.difo(Code().ret(0))}));
		for (int i = 0; i < clauses; i++)
			dof.ecb(where, kNone, actions);
		const Loaded result = load(dof.bytes());
		CHECK(result.error == (clauses == 64 ? 0 : -EINVAL));
		if (result.error)
			CHECK(std::string(result.why.rf_reason) ==
			      "too many actions in all clauses together");
	}
}

TEST_CASE("headers of DIFOs name a million sections together", "[exec][dof]") {
	constexpr uint32_t kLinks = 65000;
	for (const uint32_t headers : {16u, 17u}) {
		DofBuilder dof;
		std::vector<uint32_t> links(
		    kLinks, dof.add(DOF_SECT_COMMENTS, 1, 0, {0}, 0)); // not loaded: passed over
		links.push_back(dof.table(DOF_SECT_DIF, 4, Code().ret(0).text));
		const uint32_t where = dof.probe("dtrace", "", "", "BEGIN");
		std::vector<Act> acts;
		for (uint32_t i = 0; i < headers; i++)
			acts.push_back(Act{DFR_ACT_DIFEXPR, dof.difo_header(kInt64, links)});
		dof.ecb(where, kNone, dof.actions(acts));
		const Loaded result = load(dof.bytes());
		CHECK(result.error == (headers == 16 ? 0 : -EINVAL));
		if (result.error)
			CHECK(std::string(result.why.rf_reason) ==
			      "DIFO headers name too many sections altogether");
	}
}

} // namespace engine_exec_dof_test
