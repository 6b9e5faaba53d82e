// SPDX-License-Identifier: GPL-2.0
//
// A DOF through write() and read(): everything comes back, the layout is the
// reference writer's, and damaged bytes are refused or harmless. And through
// the disassembler and assembler to the same bytes.
#include <catch2/catch.hpp>

#include <cstring>

#include "formats/dof/image.h"
#include "formats/dof/text.h"
#include "formats/error.h"
#include "tests/unit/d_target.h"
#include "tests/unit/dof_builder.h"
#include "tests/unit/peak_memory.h"

namespace dof_image_test {

using namespace dfr;

namespace {

const char* const kProgram =
    "#pragma D option bufsize=64k\n"
    "struct s { int a; char b[4]; };\n"
    "struct s v;\n"
    "BEGIN, END /pid != 0 && execname == \"a\\\"b\"/ {\n"
    "  v.a = 3; self->x[pid, \"k\"] = timestamp; this->y = self->x[pid, \"k\"] / 3;\n"
    "  if (this->y) printf(\"%d %s\\n\", pid, execname); else stack(4);\n"
    "  @[execname, ustack(3, 10)] = quantize(arg0, 2); @b = lquantize(pid, -5, 100, 5);\n"
    "  printa(\"%s %k %@d\\n\", @); trunc(@, 3); capture(arg1, `jiffies);\n"
    "}\n"
    "#pragma D priority low\n"
    "host1:syscall:::entry { trace(arg0); exit(2); }\n";

std::vector<uint8_t> program_bytes() {
	test::TestTarget target;
	target.symbols["jiffies"] = 0;
	target.addresses = false;
	const auto result = test::compile(kProgram, target);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	return dof::write(result.compiled.image);
}

template <typename T> T at(const std::vector<uint8_t>& bytes, size_t offset) {
	T value;
	REQUIRE(offset + sizeof value <= bytes.size());
	std::memcpy(&value, bytes.data() + offset, sizeof value);
	return value;
}

} // namespace

TEST_CASE("dof: the header and the first section are as the reference writer makes them") {
	const auto bytes = program_bytes();
	const auto header = at<dof_header>(bytes, 0);
	CHECK(std::memcmp(header.ident, "\177DOF\2\1\2\2\10\10\0\0\0\0\0\0", 16) == 0);
	CHECK(header.hdrsize == 64);
	CHECK(header.secsize == 32);
	CHECK(header.secoff == 64);
	CHECK(header.filesz == bytes.size());
	CHECK(header.loadsz % 8 == 0);
	const auto first = at<dof_sec>(bytes, 64);
	CHECK(first.type == DOF_SECT_STRTAB);
	CHECK(bytes[first.offset] == 0);
	CHECK(bytes[first.offset + first.size - 1] == 0);
	// Its bytes close the loadable part.
	CHECK((first.offset + first.size + 7) / 8 * 8 == header.loadsz);
	for (uint32_t i = 0; i < header.secnum; i++) {
		const auto section = at<dof_sec>(bytes, 64 + i * 32);
		CHECK(section.offset % section.align == 0);
		if (section.flags & DOF_SECF_LOAD)
			CHECK(section.offset + section.size <= header.loadsz);
		else
			CHECK(section.offset >= header.loadsz);
	}
}

TEST_CASE("dof: what was written is read, and written again to the same bytes") {
	const auto bytes = program_bytes();
	const dof::Image image = dof::read(bytes);
	CHECK(dof::write(image) == bytes);
	CHECK(dof::write(dof::read(std::as_bytes(std::span(bytes)))) == bytes);
	REQUIRE(image.options.size() == 1);
	CHECK(image.options[0] == dof::Option{DFR_OPT_BUFSIZE, 65536});
	REQUIRE(image.aggregations.size() == 2);
	CHECK(image.aggregations[0] == dof::AggName{1, "_"});
	CHECK(image.aggregations[1] == dof::AggName{2, "b"});
	CHECK(image.ecbs.back().probe == dof::ProbeDesc{"host1", "syscall", "", "", "entry", 0});
	CHECK(image.source == kProgram);
	bool relocated = false;
	for (const auto& body : image.bodies) {
		for (const auto& action : body.actions) {
			for (const auto& one :
			     action.difo ? action.difo->relocations : std::vector<dif::Relocation>())
				relocated |= one.symbol == "vmlinux`jiffies";
		}
	}
	CHECK(relocated);
}

TEST_CASE("dof: the loadable part alone holds all but source and comments") {
	auto bytes = program_bytes();
	bytes.resize(at<dof_header>(bytes, 0).loadsz);
	const dof::Image image = dof::read(bytes);
	CHECK(image.source.empty());
	CHECK(image.aggregations.size() == 2);
	bool lines = false;
	for (const auto& body : image.bodies)
		lines |= body.predicate && !body.predicate->lines.empty();
	CHECK(lines);
}

TEST_CASE("dof: both descriptions of a clause share its bodies, and an if's parts are one clause") {
	const dof::Image image = dof::read(program_bytes());
	// Parts: before the if and its condition, then, else, after.
	REQUIRE(image.ecbs.size() == 9);
	for (unsigned i = 0; i < 4; i++) {
		CHECK(image.ecbs[i].probe.name == "BEGIN");
		CHECK(image.ecbs[4 + i].probe.name == "END");
		CHECK(image.ecbs[i].body == image.ecbs[4 + i].body);
		CHECK(image.ecbs[i].uarg == DFR_ECBUARG(0, i ? DFR_ECBUARG_CONTINUATION : 0));
	}
	CHECK(DFR_ECBUARG_CLAUSE(image.ecbs[8].uarg) == 1);
}

TEST_CASE("dof: any byte changed, any length: refused with section and offset, or read") {
	const auto bytes = program_bytes();
	unsigned refused = 0;
	for (size_t i = 0; i < bytes.size(); i++) {
		auto changed = bytes;
		changed[i] ^= 0xff;
		try {
			dof::read(changed);
		} catch (const Error& error) {
			refused++;
			const std::string what = error.what();
			CHECK((what.find("section") != std::string::npos ||
			       what.find("header") != std::string::npos));
			CHECK(what.find("offset") != std::string::npos);
		}
	}
	CHECK(refused > 64);
	for (size_t length = 0; length < bytes.size(); length += 7) {
		const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + length);
		CHECK_NOTHROW([&] {
			try {
				dof::read(cut);
			} catch (const Error&) {
			}
		}());
	}
}

// A few bytes may name much text again and again.
TEST_CASE("dof: text and lines that are named too often are refused", "[dof]") {
	constexpr uint32_t kText = 1 << 20, kTimes = 200;
	const auto read = [](const std::function<void(test::DofBuilder&)>& add) {
		test::DofBuilder dof;
		const uint32_t text = dof.string(std::string(kText, 'a'));
		REQUIRE(text == 1);
		add(dof);
		const std::vector<uint8_t> bytes = dof.bytes();
		return test::peak_of([&] {
			CHECK_THROWS_WITH(dof::read(std::span<const uint8_t>(bytes)),
			                  Catch::Contains("names the same bytes too often"));
		});
	};
	constexpr uint64_t kMost = 200ull << 20; // of 200 MiB of text a third is read
	CHECK(read([](test::DofBuilder& dof) {
		      const std::vector<test::Act> acts(kTimes,
		                                        {.kind = DFR_ACT_PRINTF, .arg = 1, .strtab = 0});
		      dof.ecb(dof.probe("a", "b", "c", "d"), test::kNone, dof.actions(acts));
	      }) < kMost);
	CHECK(read([](test::DofBuilder& dof) {
		      const uint32_t difo = dof.trace(test::Code().ret(0));
		      dof.table(DOF_SECT_LINES, 8, std::vector<dof_line>(kTimes, {difo, 0, 0, 1, 1, 1}));
	      }) < kMost);
}

// Where there is no text, what is read counts.
TEST_CASE("dof: empty texts, tables and sections that are named too often are refused", "[dof]") {
	constexpr uint32_t kTimes = 4000;
	const auto refused = [](const std::function<void(test::DofBuilder&)>& add) {
		test::DofBuilder dof;
		add(dof);
		const std::vector<uint8_t> bytes = dof.bytes();
		CHECK_THROWS_WITH(dof::read(std::span<const uint8_t>(bytes)),
		                  Catch::Contains("names the same bytes too often"));
	};
	refused([](test::DofBuilder& dof) { // relocations, by many headers
		const uint32_t integers = dof.table(DOF_SECT_INTTAB, 8, std::vector<uint64_t>(1));
		const uint32_t relocations = dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>(kTimes));
		for (uint32_t i = 0; i < kTimes; i++)
			dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{0, relocations, integers}});
	});
	refused([](test::DofBuilder& dof) { // conditions, of many bodies that share their actions
		const uint32_t probe = dof.probe("a", "b", "c", "d"), actions = dof.actions({});
		const uint32_t text = dof.table(DOF_SECT_DIF, 4, test::Code().ret(0).text);
		for (uint32_t i = 0; i < kTimes; i++)
			dof.ecb(probe, dof.difo_header(test::kInt64, {text}), actions);
		dof.table(DOF_SECT_EXPRS, 4,
		          std::vector<dof_expr>(kTimes, {actions, DOF_EXPR_PREDICATE, 0, 0}));
	});
	refused([](test::DofBuilder& dof) { // options, of many sections in one place
		const uint32_t options = dof.table(DOF_SECT_OPTDESC, 8, std::vector<dof_optdesc>(kTimes));
		for (uint32_t i = 0; i < kTimes; i++)
			dof.alias(DOF_SECT_OPTDESC, 8, options, 0, kTimes * sizeof(dof_optdesc));
	});
}

TEST_CASE("dif: a DOF disassembles to text that assembles to the same bytes") {
	const auto bytes = program_bytes();
	const std::string text = dof::disassemble_file(dof::read(bytes));
	CHECK(dof::write(dof::assemble(text)) == bytes);
}

TEST_CASE("dif: a name with a newline and an escape is text of one line", "[hostile]") {
	const char* const text = "dof 1\nbody\n  action 0x1 0 0x0 0x100\n    difo 0 1 0 4\n"
	                         "      00: 29050001 ldgs DT_VAR(1280), %r1\n      01: 23000001 ret %r1\n"
	                         "      strings \"\\000x\\nend\\033[m\\000\"\n"
	                         "      variable 1 0x500 0 0 1 0 1 0 4\n"
	                         "      relocation \"y\\n\\033[m\" 0 0x0\n    end\n";
	const dof::Image image = dof::assemble(text);
	const std::string file = dof::disassemble_file(image), listing = dof::disassemble_listing(image);
	INFO(file);
	INFO(listing);
	CHECK_THAT(file, Catch::Contains("! x\\nend\\033[m\n"));
	CHECK_THAT(listing, Catch::Contains("= \"x\\nend\\033[m\"\n") && Catch::Contains(" y\\n\\033[m\n"));
	CHECK(dof::disassemble_file(dof::assemble(file)) == file);
}

TEST_CASE("dif: the assembler names the line that it does not understand") {
	CHECK_THROWS_WITH(dof::assemble("dof 1\nbody\n  action 0x1 0 0x0 0x100\n    difo 0 1 0 4\n      00: "
	                                "23000001 rett %r1\n    end\n"),
	                  Catch::Contains("line 5") && Catch::Contains("rett"));
	CHECK_THROWS_WITH(dof::assemble("dof 1\nnonsense\n"), Catch::Contains("line 2"));
	CHECK_THROWS_WITH(dof::assemble("ecb 0 0 0 \"\" \"\" \"\" \"\" \"BEGIN\"\n"),
	                  Catch::Contains("body"));
}

TEST_CASE("dif: a negative number fits where 64 bits do") {
	const std::string begin = "dof 1\nbody\n", ecb = " \"\" \"\" \"\" \"\" \"BEGIN\"\n";
	CHECK(dof::assemble(begin + "ecb 0 -1 0" + ecb).ecbs[0].uarg == UINT64_MAX);
	for (const std::string& wrong :
	     {"ecb -1 0 0" + ecb, "ecb 0 0 -1" + ecb, std::string("  action -1 0 0 0\n"),
	      "ecb 0 0 -0xffffffffffffffff" + ecb, std::string("ecb -18446744073709551615 0 0") + ecb})
		CHECK_THROWS_WITH(dof::assemble(begin + wrong),
		                  Catch::Contains("not a number that fits here"));
}

TEST_CASE("dif: an edited operand assembles to what it says") {
	const dof::Image image =
	    dof::assemble("dof 1\nbody\n  action 0x1 0 0x0 0x100\n    difo 0 1 0 4\n"
	                  "      00: 00000000 add %r1, %r2, %r3\n      01: 00000000 ret %r3\n    end\n");
	CHECK(image.bodies[0].actions[0].difo->text == std::vector<uint32_t>{0x07010203, 0x23000003});
}

} // namespace dof_image_test
