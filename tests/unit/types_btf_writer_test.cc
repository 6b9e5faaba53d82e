// SPDX-License-Identifier: GPL-2.0
//
// write_btf(): what is written is what was asked for, as the reader of BTF has it; what
// lies behind pointers is cut off where btf_writer.h says; damaged types end the
// writing, and room that is too small leaves roots out and says so.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "formats/error.h"
#include "formats/types/btf.h"
#include "formats/types/btf_writer.h"
#include "tests/unit/types_btf_builder.h"

namespace types_btf_writer_test {

using namespace dfr::types;
using dfr::test::BtfBuilder;

namespace {

constexpr std::size_t kRoom = 1 << 20;
constexpr unsigned kPtr = 2, kArray = 3, kStruct = 4, kUnion = 5, kEnum = 6, kTypedef = 8, kConst = 10,
                   kProto = 13, kEnum64 = 19; // linux/btf.h

// struct node { int value; unsigned flag:3; const enum colour colour; char name[8]; struct node *next;
//               struct far *far; int (*call)(struct far *, ...); union { long wide; int narrow; }; };
// struct far { struct farther *farther; }; struct farther { int end; }; enum colour { RED, BLUE = 5 };
// enum big : unsigned long { HUGE = 2^40 }; typedef struct node node_t;
struct Types {
	Types() {
		BtfBuilder b;
		const auto integer = b.integer("int", 4, 1);
		const auto flags = b.integer("unsigned int", 4, 0);
		const auto character = b.integer("char", 1, 3);
		const auto wide = b.integer("long", 8, 1);
		const auto colour = b.type("colour", kEnum, 2, 4);
		b.words({b.string("RED"), 0, b.string("BLUE"), 5});
		const auto constant = b.type("", kConst, 0, colour);
		const auto text = b.type("", kArray, 0, 0);
		b.words({character, integer, 8});
		const auto node = text + 1;
		const std::uint32_t next = node + 1, far_pointer = node + 2, call_pointer = node + 3,
		                    choice = node + 4, far = node + 5, farther_pointer = node + 6,
		                    farther = node + 7, call = node + 8;
		b.type("node", kStruct, 8, 56, true);
		b.words({b.string("value"), integer, 0});
		b.words({b.string("flag"), flags, 3U << 24 | 32});
		b.words({b.string("colour"), constant, 64});
		b.words({b.string("name"), text, 96});
		b.words({b.string("next"), next, 192});
		b.words({b.string("far"), far_pointer, 256});
		b.words({b.string("call"), call_pointer, 320});
		b.words({0, choice, 384});
		b.type("", kPtr, 0, node);
		b.type("", kPtr, 0, far);
		b.type("", kPtr, 0, call);
		b.type("", kUnion, 2, 8);
		b.words({b.string("wide"), wide, 0, b.string("narrow"), integer, 0});
		b.type("far", kStruct, 1, 8);
		b.words({b.string("farther"), farther_pointer, 0});
		b.type("", kPtr, 0, farther);
		b.type("farther", kStruct, 1, 4);
		b.words({b.string("end"), integer, 0});
		b.type("", kProto, 2, integer);
		b.words({b.string("of"), far_pointer, 0, 0});
		b.type("big", kEnum64, 1, 8);
		b.words({b.string("HUGE"), 0, 256});
		b.type("node_t", kTypedef, 0, node);
		btf = std::make_unique<Btf>("vmlinux", Blob::from_bytes(b.bytes()));
	}
	TypeRef find(NameSpace space, const char* name) const { return btf->find(space, name); }
	std::unique_ptr<Btf> btf;
};

std::unique_ptr<Btf> read(const WrittenBtf& written) {
	return std::make_unique<Btf>("vmlinux", Blob::from_bytes(written.bytes));
}

// A struct as C has it, with the places of its members.
std::string layout(TypeRef type) {
	std::string text = to_c(type) + " " + std::to_string(info(type).size);
	for (std::uint32_t i = 0; i < info(type).count; i++) {
		const Member member = type.container->member(type.id, i);
		text += "\n" + declare(member.type, member.name) + " " + std::to_string(member.bit_offset) +
		        ":" + std::to_string(member.bit_width) + " " +
		        std::to_string(size_of(member.type).value_or(0));
	}
	return text;
}

Kind kind_of(const Btf& btf, const char* name) {
	const TypeRef type = btf.find(NameSpace::Struct, name);
	return type ? info(type).kind : Kind::Void;
}

} // namespace

TEST_CASE("written types are those that were asked for", "[types][btf][writer]") {
	const Types types;
	const TypeRef roots[] = {types.find(NameSpace::Ordinary, "node_t"),
	                         types.find(NameSpace::Enum, "big")};
	const WrittenBtf written = write_btf(roots, 0, kRoom);
	const auto back = read(written);
	CHECK(written.structs == 2); // node, and the union in it
	CHECK(written.left_out == 0);
	const TypeRef node = back->find(NameSpace::Struct, "node");
	REQUIRE(node);
	CHECK(same_structure(node, types.find(NameSpace::Struct, "node")));
	CHECK(size_of(node) == 56);
	CHECK(resolve(back->find(NameSpace::Ordinary, "node_t")) == node);
	CHECK(find_member(node, "flag")->bit_width == 3);
	CHECK(find_member(node, "flag")->bit_offset == 32);
	CHECK(find_member(node, "narrow")->bit_offset == 384);
	CHECK(declare(find_member(node, "name")->type, "name") == "char name[8]");
	CHECK(declare(find_member(node, "call")->type, "call") == "int (*call)(struct far *, ...)");
	CHECK(declare(find_member(node, "next")->type, "next") == "struct node *next");
	CHECK(back->find_enumerator("BLUE")->value == 5);
	CHECK(back->find_enumerator("HUGE")->value == std::int64_t{1} << 40);
	CHECK(to_c(find_member(node, "colour")->type) == "const enum colour");
	CHECK(info(resolve(find_member(node, "name")->type)).target ==
	      back->find(NameSpace::Ordinary, "char"));
}

TEST_CASE("behind pointers only so much is written", "[types][btf][writer]") {
	const Types types;
	const TypeRef node = types.find(NameSpace::Struct, "node");
	const auto none = read(write_btf({&node, 1}, 0, kRoom));
	CHECK(kind_of(*none, "node") == Kind::Struct);
	CHECK(kind_of(*none, "far") == Kind::Forward);
	const auto one = read(write_btf({&node, 1}, 1, kRoom));
	CHECK(kind_of(*one, "far") == Kind::Struct);
	CHECK(kind_of(*one, "farther") == Kind::Forward);
	CHECK(kind_of(*read(write_btf({&node, 1}, 2, kRoom)), "farther") == Kind::Struct);
	// A root that is a pointer: what it points to is a root.
	const TypeRef pointer = find_member(node, "far")->type;
	const auto far = read(write_btf({&pointer, 1}, 0, kRoom));
	CHECK(kind_of(*far, "far") == Kind::Struct);
	CHECK(kind_of(*far, "farther") == Kind::Forward);
	CHECK(kind_of(*far, "node") == Kind::Void);
}

TEST_CASE("roots that have no room are announced and counted", "[types][btf][writer]") {
	const Types types;
	const TypeRef roots[] = {types.find(NameSpace::Struct, "farther"),
	                         types.find(NameSpace::Struct, "node")};
	const WrittenBtf written = write_btf(roots, 9, 100);
	const auto back = read(written);
	CHECK(written.left_out == 1);
	CHECK(kind_of(*back, "farther") == Kind::Struct);
	CHECK(kind_of(*back, "node") == Kind::Forward);
	CHECK(written.bytes.size() < 400);
}

TEST_CASE("writing types that refer to themselves ends", "[types][btf][writer]") {
	BtfBuilder b;
	b.type("", kArray, 0, 0); // of itself
	b.words({1, 1, 2});
	b.type("", kPtr, 0, 2); // to itself
	b.type("loop", kTypedef, 0, 3);
	b.type("holds", kStruct, 3, 8); // itself, and the array and the pointer
	b.words({b.string("self"), 4, 0, b.string("array"), 1, 0, b.string("pointer"), 2, 0});
	b.type("lost", kStruct, 1, 8);
	b.words({b.string("nothing"), 99, 0}); // there is no type 99
	const Btf damaged("damaged", Blob::from_bytes(b.bytes()));
	const auto write = [&](TypeId id) {
		const TypeRef root{&damaged, id};
		return write_btf({&root, 1}, 20, kRoom);
	};
	CHECK(write(1).structs == 0);
	CHECK(write(2).structs == 0);
	CHECK_THROWS_AS(write(3), dfr::Error);
	CHECK(write(4).structs == 1);
	CHECK_THROWS_AS(write(5), dfr::Error);
}

// Where this machine has a kernel with types: each struct comes back as it was.
TEST_CASE("a kernel's types come back", "[types][btf][writer]") {
	if (!std::filesystem::exists("/sys/kernel/btf/vmlinux"))
		return;
	const auto kernel = Btf::open("/sys/kernel/btf/vmlinux", "vmlinux");
	for (const char* const name : {"task_struct", "file", "sk_buff", "bio"}) {
		const TypeRef root = kernel->find(NameSpace::Struct, name);
		if (!root)
			continue;
		const auto back = read(write_btf({&root, 1}, 20, kRoom));
		for (TypeId id = 1; id < back->end_id(); id++) {
			const TypeRef type{back.get(), id};
			const TypeInfo here = info(type);
			if (here.kind != Kind::Struct || here.name.empty())
				continue;
			const TypeRef there = kernel->find(NameSpace::Struct, here.name);
			INFO(here.name);
			CHECK(layout(there) == layout(type));
		}
	}
}

} // namespace types_btf_writer_test
