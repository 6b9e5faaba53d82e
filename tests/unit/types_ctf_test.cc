// SPDX-License-Identifier: GPL-2.0
//
// The CTF reader: on dictionaries and archives built byte by byte, and on
// programs that gcc -gctf compiles while the test runs.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <zlib.h>

#include "formats/error.h"
#include "formats/types/ctf.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/types_ctf_builder.h"

namespace types_ctf_test {

using namespace dfr::types;
using Catch::Contains;
using dfr::test::CtfBuilder;
using dfr::test::put;
using dfr::test::put32;
using dfr::test::RawBytes;

namespace {

struct SmallUnit {
	CtfBuilder b;
	std::uint32_t int_, char_, void_, slice, node, pointer, colour, function;

	SmallUnit() {
		int_ = b.integer("int", 4, 1);
		char_ = b.integer("char", 1, 3);
		void_ = b.type("void", 1, 0, 0);
		b.words({0});
		slice = b.type("", 14, 0, 4);
		b.words({int_, 5U << 16 | 2}); // five bits at two
		node = b.type("node", 6, 3, 16);
		// name, offset, type
		b.words({b.string("next"), 0, node + 1, b.string("f"), 64, slice, b.string("c"), 96, char_});
		pointer = b.type("", 3, 0, node);
		colour = b.type("colour", 8, 2, 4);
		b.words({b.string("RED"), 1, b.string("NEG"), 0xfffffffd});
		function = b.type("", 5, 2, void_);
		b.words({pointer, 0});
		b.type("later", 9, 0, 7);
		// Two objects with names, one function with its name, one variable.
		put32(b.objects, pointer);
		put32(b.objects, 0);
		put32(b.object_names, b.string("head"));
		put32(b.object_names, b.string("mystery"));
		put32(b.functions, function);
		put32(b.function_names, b.string("walk"));
		put32(b.variables, b.string("limit"));
		put32(b.variables, int_);
	}
};

void check_small_unit(const Ctf& ctf, const SmallUnit& unit) {
	const TypeRef node = ctf.find(NameSpace::Struct, "node");
	CHECK(node == TypeRef{&ctf, unit.node});
	CHECK(*size_of(node) == 16);
	const auto field = find_member(node, "f");
	REQUIRE(field);
	CHECK(field->type == TypeRef{&ctf, unit.int_});
	CHECK(field->bit_offset == 66);
	CHECK(field->bit_width == 5);
	CHECK(find_member(node, "c")->bit_width == 0);
	CHECK(to_c(find_member(node, "next")->type) == "struct node *");
	CHECK(ctf.find_enumerator("NEG")->value == -3);
	CHECK(info(ctf.find(NameSpace::Union, "later")).kind == Kind::Forward);
	CHECK(declare(ctf.find_function("walk"), "walk") == "void walk(struct node *, ...)");
	CHECK(to_c(ctf.find_variable("head")) == "struct node *");
	CHECK(to_c(ctf.find_variable("limit")) == "int");
	CHECK_FALSE(ctf.find_variable("mystery"));
	CHECK_FALSE(ctf.find_function("head"));
	CHECK_FALSE(ctf.find(NameSpace::Ordinary, "node"));
	CHECK(info(ctf.find(NameSpace::Ordinary, "char")).is_char);
}

// Of empty dictionaries with these names, which stand where `at` says in the texts behind them.
RawBytes archive_of(std::span<const std::uint64_t> at, std::string_view texts) {
	const RawBytes part = CtfBuilder().bytes();
	const std::uint64_t data_at = 40 + 16 * at.size();
	RawBytes archive;
	put(archive, 0x8b47f2a4d7623eebULL, 8);
	put(archive, 2, 8);
	put(archive, at.size(), 8);
	put(archive, data_at + at.size() * (8 + part.size()), 8);
	put(archive, data_at, 8);
	for (std::size_t i = 0; i < at.size(); i++) {
		put(archive, at[i], 8);
		put(archive, i * (8 + part.size()), 8);
	}
	for (std::size_t i = 0; i < at.size(); i++) {
		put(archive, part.size(), 8);
		archive.insert(archive.end(), part.begin(), part.end());
	}
	archive.insert(archive.end(), texts.begin(), texts.end());
	return archive;
}

// gcc in a directory of its own, which goes away with it.
class Compiler {
public:
	std::string build(std::vector<std::string> sources, const std::string& options) {
		std::string command = "gcc -gctf " + options;
		for (std::size_t i = 0; i < sources.size(); i++) {
			const std::string path = folder_.file("unit" + std::to_string(i) + ".c");
			std::ofstream(path) << sources[i];
			command += " " + path;
		}
		std::string program = folder_.file("program");
		command += " -o " + program;
		REQUIRE(std::system(command.c_str()) == 0);
		return program;
	}

private:
	dfr::test::ScratchFolder folder_;
};

constexpr const char* kProgram = R"(
enum colour { RED, GREEN = 7, NEG = -3 };
struct node {
	struct node *next;
	unsigned f : 3, g : 11;
	enum colour c;
	union { long a; char b; };
	char name[16];
};
typedef int (*handler_t)(const char *, ...);
struct node head;
handler_t table[4];
void walk(struct node *n, handler_t h, unsigned char k) { h(n->name); n->f = k; }
int main(void) { return head.f; }
)";

} // namespace

TEST_CASE("CTF: one dictionary") {
	SmallUnit unit;
	const Ctf ctf("unit", unit.b.blob(), nullptr);
	check_small_unit(ctf, unit);
	CHECK(ctf.info(unit.void_).kind == Kind::Void);
	CHECK_FALSE(ctf.is_child());
	CHECK_THROWS_WITH(ctf.member(unit.node, 3), Contains("no member 3"));
	CHECK_THROWS_WITH(ctf.info(77), Contains("no type 77"));
}

TEST_CASE("CTF: a compressed dictionary") {
	SmallUnit unit;
	unit.b.flags |= 1;
	const RawBytes body = unit.b.body();
	RawBytes packed(compressBound(body.size()));
	uLongf length = packed.size();
	REQUIRE(compress(packed.data(), &length, body.data(), body.size()) == Z_OK);
	packed.resize(length);
	const Ctf ctf("unit", Blob::from_bytes(unit.b.bytes(&packed)), nullptr);
	check_small_unit(ctf, unit);

	packed[packed.size() / 2] ^= 0x55;
	CHECK_THROWS_WITH(Ctf("bad", Blob::from_bytes(unit.b.bytes(&packed)), nullptr),
	                  Contains("compressed data"));
	packed.resize(1);
	CHECK_THROWS_WITH(Ctf("bad", Blob::from_bytes(unit.b.bytes(&packed)), nullptr),
	                  Contains("damaged CTF"));
}

TEST_CASE("CTF: an archive of a parent and a child") {
	CtfBuilder parent;
	const auto int_ = parent.integer("int", 4, 1);
	parent.type("conflict", 9, 0, 6);
	CtfBuilder child;
	child.parent = ".ctf";
	const auto conflict = child.type("conflict", 6, 1, 4);
	child.words({child.string("a"), 0, int_});
	const auto pointer = child.type("", 3, 0, conflict);
	const RawBytes parts[] = {parent.bytes(), child.bytes()};

	// Header, two entries; the child stands first in the names.
	RawBytes archive;
	put(archive, 0x8b47f2a4d7623eebULL, 8);
	put(archive, 2, 8);
	put(archive, 2, 8);
	const std::uint64_t data_at = 40 + 32;
	const std::uint64_t second = 8 + parts[0].size();
	put(archive, data_at + second + 8 + parts[1].size(), 8);
	put(archive, data_at, 8);
	put(archive, 5, 8); // "a.c"
	put(archive, second, 8);
	put(archive, 0, 8); // ".ctf"
	put(archive, 0, 8);
	for (const RawBytes& part : parts) {
		put(archive, part.size(), 8);
		archive.insert(archive.end(), part.begin(), part.end());
	}
	for (const char c : std::string_view(".ctf\0a.c\0", 9))
		archive.push_back(static_cast<std::uint8_t>(c));

	const auto file = CtfFile::from_blob("prog", Blob::from_bytes(archive));
	REQUIRE(file->dictionaries().size() == 2);
	const Ctf& shared = *file->dictionaries()[0];
	const Ctf& unit = *file->dictionaries()[1];
	CHECK(unit.name() == "prog(a.c)");
	CHECK(unit.is_child());
	CHECK(file->find(NameSpace::Struct, "conflict") == TypeRef{&unit, conflict});
	CHECK(unit.member(conflict, 0).type == TypeRef{&shared, int_});
	CHECK(to_c({&unit, pointer}) == "struct conflict *");

	SECTION("the parent is missing") {
		const Ctf orphan("orphan", Blob::from_bytes(parts[1]), nullptr);
		CHECK_THROWS_WITH(orphan.member(conflict, 0), Contains("parent dictionary"));
	}
	SECTION("cut anywhere") {
		for (std::size_t length = 0; length < archive.size(); length++) {
			RawBytes cut(archive.begin(), archive.begin() + static_cast<std::ptrdiff_t>(length));
			CHECK_THROWS_AS(CtfFile::from_blob("cut", Blob::from_bytes(cut)), dfr::Error);
		}
	}
}

TEST_CASE("CTF: an archive's names are no longer than it, and one of them is the parent's", "[hostile]") {
	const std::string text = std::string(1 << 20, 'a') + '\0';
	const std::vector<std::uint64_t> same(1000), different = {0, 1};
	CHECK_THROWS_WITH(CtfFile::from_blob("long", Blob::from_bytes(archive_of(same, text))),
	                  Contains("lies outside"));
	const std::string names = std::string(".ctf") + '\0' + ".ctf" + '\0';
	CHECK(CtfFile::from_blob("one", Blob::from_bytes(archive_of(different, names)))
	          ->dictionaries()
	          .size() == 2);
	const std::vector<std::uint64_t> twice = {0, 5};
	CHECK_THROWS_WITH(CtfFile::from_blob("two", Blob::from_bytes(archive_of(twice, names))),
	                  Contains("two dictionaries are the parent"));
}

TEST_CASE("CTF: more than 32,768 types") {
	CtfBuilder b;
	const auto int_ = b.integer("int", 4, 1);
	std::uint32_t last = int_;
	for (unsigned i = 0; i < 70000; i++)
		last = b.type("t" + std::to_string(i), 10, 0, i % 60 == 0 ? int_ : last);
	const Ctf ctf("big", b.blob(), nullptr);
	const TypeRef found = ctf.find(NameSpace::Ordinary, "t69999");
	CHECK(found.id == 70001);
	CHECK(resolve(found).id == int_);
}

TEST_CASE("CTF: large structs have 64-bit member offsets") {
	CtfBuilder b;
	const auto char_ = b.integer("char", 1, 3);
	const auto big = b.type("big", 6, 1, 0xffffffff);
	b.words({0, 0x40000000}); // size, high and low
	b.words({b.string("end"), 1, char_, 0xfffffff8});
	const Ctf ctf("big", b.blob(), nullptr);
	CHECK(*size_of({&ctf, big}) == 0x40000000);
	CHECK(ctf.member(big, 0).bit_offset == 0x1fffffff8ULL);
}

TEST_CASE("CTF: a bit-field that is wider than its type is refused") {
	CtfBuilder b;
	const auto int_ = b.integer("int", 4, 1);
	const auto whole = b.type("", 14, 0, 4);
	b.words({int_, 32U << 16});
	const auto wider = b.type("", 14, 0, 4);
	b.words({int_, 33U << 16});
	const auto s = b.type("s", 6, 2, 8);
	b.words({b.string("whole"), 0, whole, b.string("wider"), 32, wider});
	const Ctf ctf("wide", b.blob(), nullptr);
	CHECK(ctf.member(s, 0).bit_width == 32);
	CHECK_THROWS_WITH(ctf.member(s, 1), Contains("bit-field of 33 bits"));
}

TEST_CASE("CTF: damaged dictionaries are refused with the reason") {
	SmallUnit unit;
	RawBytes bytes = unit.b.bytes();
	const auto reopen = [&] { return Ctf("t", Blob::from_bytes(bytes), nullptr); };
	SECTION("short") {
		bytes.resize(51);
		CHECK_THROWS_WITH(reopen(), Contains("shorter"));
	}
	SECTION("unterminated strings") {
		bytes.back() = 'x';
		CHECK_THROWS_WITH(reopen(), Contains("do not end in NUL"));
	}
	SECTION("compressed, with a length nothing can hold") {
		bytes[3] |= 1;
		bytes[51] = 0x7f;
		CHECK_THROWS_WITH(reopen(), Contains("more bytes than"));
	}
	SECTION("unknown kind") {
		bytes[52 + 32 + 7] = 0xfc;
		CHECK_THROWS_WITH(reopen().find(NameSpace::Struct, "node"), Contains("type kind 63"));
	}
	SECTION("a byte of the header") {
		const auto [at, value, says] = GENERATE(table<std::size_t, std::uint8_t, const char*>({
		    {0, 0, "not CTF"},
		    {2, 3, "only version 3"},
		    {21, 0xff, "out of order"},
		    {51, 0x10, "strings lie outside"},
		}));
		bytes[at] = value;
		CHECK_THROWS_WITH(reopen(), Contains(says));
	}
}

TEST_CASE("CTF: cycles end in an error") {
	CtfBuilder b;
	const auto slice = b.type("", 14, 0, 4);
	b.words({slice, 0});
	const auto pointer = b.type("", 3, 0, slice);
	const auto alias = b.type("a", 10, 0, pointer + 1);
	const Ctf ctf("t", b.blob(), nullptr);
	CHECK_THROWS_WITH(ctf.info(slice), Contains("slices"));
	CHECK_THROWS_WITH(ctf.info(pointer), Contains("slices"));
	CHECK_THROWS_WITH(resolve({&ctf, alias}), Contains("refers to itself"));
}

TEST_CASE("CTF: what gcc writes for a program") {
	Compiler compiler;
	const bool object = GENERATE(true, false);
	const std::string program = compiler.build({kProgram}, object ? "-c" : "-rdynamic");
	const auto file = CtfFile::open(program);
	REQUIRE(file);
	const TypeRef node = file->find(NameSpace::Struct, "node");
	REQUIRE(node);
	CHECK(*size_of(node) == 40); // 8 + 4 + 4 + 8 + 16
	const auto place = [&](std::string_view name) {
		const auto found = find_member(node, name);
		return declare(found->type, name) + " " + std::to_string(found->bit_offset) + ":" +
		       std::to_string(found->bit_width);
	};
	CHECK(place("next") == "struct node *next 0:0");
	CHECK(place("f") == "unsigned int f 64:3");
	CHECK(place("g") == "unsigned int g 67:11");
	CHECK(place("c") == "enum colour c 96:0");
	CHECK(place("b") == "char b 128:0");
	CHECK(place("name") == "char name[16] 192:0");
	CHECK(file->find_enumerator("GREEN")->value == 7);
	CHECK(file->find_enumerator("NEG")->value == -3);
	CHECK(to_c(resolve(file->find(NameSpace::Ordinary, "handler_t"))) == "int (*)(const char *, ...)");
	CHECK(declare(file->find_function("walk"), "walk") ==
	      "void walk(struct node *, handler_t, unsigned char)");
	CHECK(declare(file->find_function("main"), "main") == "int main(void)");
	CHECK(to_c(file->find_variable("head")) == "struct node");
	CHECK(declare(file->find_variable("table"), "table") == "handler_t table[4]");
	CHECK_FALSE(file->find_function("no_such"));
}

TEST_CASE("CTF: what the linker writes when units disagree") {
	Compiler compiler;
	const std::string program =
	    compiler.build({"struct c { int a; }; struct c x; int main(void) { return x.a; }",
	                    "struct c { long z; char b; }; struct c y;"},
	                   "-rdynamic");
	const auto file = CtfFile::open(program);
	REQUIRE(file);
	CHECK(file->dictionaries().size() == 3);
	const TypeRef either = file->find(NameSpace::Struct, "c");
	REQUIRE(either);
	CHECK(info(either).kind == Kind::Struct);
	CHECK((*size_of(either) == 4 || *size_of(either) == 16));
}

TEST_CASE("CTF: a file without any") {
	Compiler compiler;
	CHECK_FALSE(CtfFile::open(compiler.build({"int main(void) { return 0; }"}, "-gctf0")));
	CHECK_THROWS_WITH(CtfFile::open("/etc/passwd"), Contains("not an ELF file"));
}

} // namespace types_ctf_test
