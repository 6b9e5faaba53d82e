// SPDX-License-Identifier: GPL-2.0
//
// The BTF reader on blobs built byte by byte: every kind, split blobs, the old
// and the new way to write bit-fields, and damaged input.
#include <catch2/catch.hpp>

#include "formats/error.h"
#include "formats/types/btf.h"
#include "tests/unit/types_btf_builder.h"

namespace types_btf_test {

using namespace dfr::types;
using Catch::Contains;
using dfr::Error;
using dfr::test::BtfBuilder;
using dfr::test::RawBytes;

namespace {

// A small kernel:
//	typedef int pid_t;
//	struct list_head { struct list_head *next, *prev; };
//	struct task { pid_t pid; unsigned flag : 3, rest : 13; struct { long a; union { char b; long c; }; };
//	              char comm[16]; const char *name; };
struct SmallKernel {
	BtfBuilder b;
	std::uint32_t int_, uint_, long_, char_, pid_t_, list_head, list_pointer, inner_union, inner, comm,
	    const_char, name_pointer, task, colour, proto, task_pointer;

	SmallKernel() {
		int_ = b.integer("int", 4, 1);
		uint_ = b.integer("unsigned int", 4, 0);
		long_ = b.integer("long int", 8, 1);
		char_ = b.integer("char", 1, 0); // as in kernels from 6.2 on
		pid_t_ = b.type("pid_t", 8, 0, int_);
		list_head = b.type("list_head", 4, 2, 16);
		b.words({b.string("next"), list_head + 1, 0, b.string("prev"), list_head + 1, 64});
		list_pointer = b.pointer(list_head);
		inner_union = b.type("", 5, 2, 8);
		b.words({b.string("b"), char_, 0, b.string("c"), long_, 0});
		inner = b.type("", 4, 2, 16);
		b.words({b.string("a"), long_, 0, 0, inner_union, 64});
		comm = b.type("", 3, 0, 0);
		b.words({char_, int_, 16});
		const_char = b.type("", 10, 0, char_);
		name_pointer = b.pointer(const_char);
		task = b.type("task", 4, 6, 48, true);
		b.words({b.string("pid"), pid_t_, 0});
		b.words({b.string("flag"), uint_, 3U << 24 | 32, b.string("rest"), uint_, 13U << 24 | 35});
		b.words({0, inner, 64, b.string("comm"), comm, 192, b.string("name"), name_pointer, 320});
		colour = b.type("colour", 6, 3, 4, true);
		b.words({b.string("RED"), 0, b.string("GREEN"), 5, b.string("NONE"), 0xffffffff});
		task_pointer = b.pointer(task);
		proto = b.type("", 13, 2, int_);
		b.words({b.string("p"), task_pointer, b.string("n"), long_});
		b.type("wake_up", 12, 1, proto);
		b.type("current_task", 14, 0, task_pointer);
		b.words({1});
	}
};

std::string found_at(const Btf& btf, std::string_view member) {
	const auto found = find_member(btf.find(NameSpace::Struct, "task"), member);
	if (!found)
		return "none";
	return declare(found->type, member) + " @" + std::to_string(found->bit_offset) + ":" +
	       std::to_string(found->bit_width);
}

} // namespace

TEST_CASE("BTF: types are found by name and read") {
	const SmallKernel kernel;
	const Btf btf("vmlinux", kernel.b.blob());
	CHECK(btf.name() == "vmlinux");
	CHECK(btf.find(NameSpace::Ordinary, "pid_t") == TypeRef{&btf, kernel.pid_t_});
	CHECK(btf.find(NameSpace::Struct, "task") == TypeRef{&btf, kernel.task});
	CHECK(btf.find(NameSpace::Enum, "colour") == TypeRef{&btf, kernel.colour});
	CHECK_FALSE(btf.find(NameSpace::Union, "task"));
	CHECK_FALSE(btf.find(NameSpace::Ordinary, "task"));
	CHECK_FALSE(btf.find(NameSpace::Struct, "tas"));
	CHECK_FALSE(btf.find(NameSpace::Struct, ""));

	const TypeInfo integer = resolved_info(btf.find(NameSpace::Ordinary, "pid_t"));
	CHECK(integer.kind == Kind::Integer);
	CHECK(integer.name == "int");
	CHECK(integer.bits == 32);
	CHECK(integer.is_signed);
	CHECK_FALSE(btf.info(kernel.uint_).is_signed);
	CHECK(btf.info(kernel.char_).is_char);
	CHECK(btf.info(kernel.char_).is_signed); // D's is
	CHECK(btf.info(0).kind == Kind::Void);
	CHECK(*size_of({&btf, kernel.comm}) == 16);
	CHECK(*size_of({&btf, kernel.task}) == 48);
	CHECK(*align_of({&btf, kernel.task}) == 8);
	CHECK(*align_of({&btf, kernel.comm}) == 1);
	CHECK_FALSE(size_of({&btf, kernel.proto}));
}

TEST_CASE("BTF: members, bit-fields and anonymous ones") {
	const SmallKernel kernel;
	const Btf btf("vmlinux", kernel.b.blob());
	CHECK(found_at(btf, "pid") == "pid_t pid @0:0");
	CHECK(found_at(btf, "flag") == "unsigned int flag @32:3");
	CHECK(found_at(btf, "rest") == "unsigned int rest @35:13");
	CHECK(found_at(btf, "a") == "long int a @64:0");
	CHECK(found_at(btf, "c") == "long int c @128:0");
	CHECK(found_at(btf, "comm") == "char comm[16] @192:0");
	CHECK(found_at(btf, "name") == "const char *name @320:0");
	CHECK(found_at(btf, "none") == "none");
	CHECK_FALSE(find_member(btf.find(NameSpace::Ordinary, "int"), "a"));
	CHECK_THROWS_WITH(btf.member(kernel.task, 6), Contains("no member 6"));
}

TEST_CASE("BTF: bit-fields written without kind_flag") {
	BtfBuilder b;
	const auto narrow = b.type("unsigned int", 1, 0, 4);
	b.words({3U << 16 | 5}); // five bits, three into the unit
	const auto whole = b.type("s", 4, 1, 4);
	b.words({b.string("f"), narrow, 8});
	const Btf btf("old", b.blob());
	const Member member = btf.member(whole, 0);
	CHECK(member.bit_offset == 11);
	CHECK(member.bit_width == 5);
}

TEST_CASE("BTF: a bit-field that is wider than its type is refused") {
	BtfBuilder b;
	const auto int_ = b.integer("int", 4, 1);
	const auto s = b.type("s", 4, 2, 8, true);
	b.words({b.string("whole"), int_, 32U << 24, b.string("wider"), int_, 33U << 24});
	const Btf btf("wide", b.blob());
	CHECK(btf.member(s, 0).bit_width == 32);
	CHECK_THROWS_WITH(btf.member(s, 1), Contains("bit-field of 33 bits"));
}

TEST_CASE("BTF: functions, variables and enumerators") {
	const SmallKernel kernel;
	const Btf btf("vmlinux", kernel.b.blob());
	const TypeRef function = btf.find_function("wake_up");
	CHECK(function == TypeRef{&btf, kernel.proto});
	CHECK(declare(function, "wake_up") == "int wake_up(struct task *, long int)");
	CHECK(btf.parameter(function.id, 1).name == "n");
	CHECK(to_c(btf.find_variable("current_task")) == "struct task *");
	CHECK_FALSE(btf.find_function("current_task"));
	CHECK_FALSE(btf.find_variable("wake_up"));

	const auto none = btf.find_enumerator("NONE");
	REQUIRE(none);
	CHECK(none->value == -1);
	CHECK(none->type == TypeRef{&btf, kernel.colour});
	CHECK_FALSE(btf.find_enumerator("REEN")); // a part of a string is not a name
	CHECK_FALSE(btf.find_enumerator("BLUE"));
	CHECK_FALSE(btf.find_enumerator("BLUE")); // asked again
	CHECK(find_enumerator({&btf, kernel.colour}, 5)->name == "GREEN");
	CHECK(find_enumerator({&btf, kernel.colour}, "RED")->value == 0);
	CHECK_FALSE(find_enumerator({&btf, kernel.colour}, 7));

	unsigned seen = 0;
	btf.each_function([&](std::string_view name, TypeRef type) {
		seen += name == "wake_up" && type == function;
		return true;
	});
	CHECK(seen == 1);
}

// Where each constant looks at each string that ends so, and each function at all others, these take hours.
TEST_CASE("BTF: very many constants, and functions of one name, are searched") {
	BtfBuilder b;
	for (unsigned i = 0; i < 300000; i++)
		b.string("ANAME");
	const auto other = b.string("OTHER"), name = b.string("NAME");
	for (unsigned i = 0; i < 5; i++) {
		b.type("", 6, 60000, 4);
		for (unsigned constant = 0; constant < 60000; constant++)
			b.words({other, constant});
	}
	b.type("", 6, 1, 4);
	b.words({name, 42});
	for (unsigned i = 0; i < 50000; i++) {
		const auto pointer = b.pointer(b.type("s" + std::to_string(i), 4, 0, 0));
		const auto proto = b.type("", 13, 1, 0);
		b.words({0, pointer});
		b.type("same", 12, 0, proto);
	}
	const Btf btf("t", b.blob());
	CHECK(btf.find_enumerator("NAME")->value == 42);
	CHECK(btf.count_functions("same") == 64);
	CHECK_FALSE(btf.find_function("same"));
}

TEST_CASE("BTF: unsigned and 64-bit enums, floats, varargs, forwards, tags") {
	BtfBuilder b;
	const auto wide = b.type("wide", 19, 1, 8);
	b.words({b.string("TOP"), 0x00000001, 0x80000000});
	const auto plain = b.type("plain", 6, 1, 4);
	b.words({b.string("BIG"), 0xffffffff});
	const auto number = b.type("double", 16, 0, 8);
	const auto varargs = b.type("", 13, 2, 0);
	b.words({b.string("first"), number, 0, 0});
	b.type("later", 7, 0, 0);
	b.type("either", 7, 0, 0, true);
	b.type("announced", 6, 0, 4);
	const auto tagged = b.type("user", 18, 0, number);
	const auto pointer = b.pointer(tagged);
	b.type("note", 17, 0, pointer);
	b.words({0xffffffff});
	const Btf btf("t", b.blob());

	CHECK(btf.find_enumerator("TOP")->value == static_cast<std::int64_t>(0x8000000000000001ULL));
	CHECK(btf.find_enumerator("BIG")->value == 0xffffffffLL);
	CHECK(*size_of({&btf, wide}) == 8);
	CHECK_FALSE(btf.info(plain).is_signed);
	CHECK(btf.info(number).kind == Kind::Float);
	CHECK(btf.info(varargs).is_varargs);
	CHECK(btf.info(varargs).count == 1);
	CHECK(declare({&btf, varargs}, "f") == "void f(double, ...)");
	CHECK(info(btf.find(NameSpace::Struct, "later")).forward == Kind::Struct);
	CHECK(info(btf.find(NameSpace::Union, "either")).forward == Kind::Union);
	CHECK(info(btf.find(NameSpace::Enum, "announced")).forward == Kind::Enum);
	CHECK(to_c(btf.find(NameSpace::Struct, "later")) == "struct later");
	CHECK(btf.info(pointer).target == TypeRef{&btf, number});
	CHECK_FALSE(size_of(btf.find(NameSpace::Struct, "later")));
}

TEST_CASE("BTF: a complete type is preferred to a forward one, the first to a later") {
	BtfBuilder b;
	b.type("s", 7, 0, 0);
	const auto whole = b.type("s", 4, 0, 8);
	b.type("s", 4, 0, 16);
	const Btf btf("t", b.blob());
	CHECK(btf.find(NameSpace::Struct, "s").id == whole);
}

TEST_CASE("BTF: names of every length are found, also at the end of the strings") {
	BtfBuilder b;
	std::vector<std::uint32_t> ids;
	for (unsigned length = 1; length <= 40; length++)
		ids.push_back(b.type(std::string(length, 'n'), 4, 0, length));
	const Btf btf("t", b.blob());
	for (unsigned length = 1; length <= 40; length++)
		CHECK(btf.find(NameSpace::Struct, std::string(length, 'n')).id == ids[length - 1]);
	CHECK_FALSE(btf.find(NameSpace::Struct, std::string(41, 'n')));
}

TEST_CASE("BTF: a split blob refers to its base") {
	const SmallKernel kernel;
	const Btf base("vmlinux", kernel.b.blob());
	BtfBuilder b(kernel.b.next_id(), kernel.b.string_end());
	const auto client = b.type("client", 4, 2, 16);
	b.words({b.string("owner"), kernel.task_pointer, 0});
	b.words({b.string("none"), b.next_id(), 64});
	const auto to_void = b.pointer(0);
	// A name that stands in the base's strings.
	const auto again = b.type_at(kernel.b.string_end() - 13, 8, 0, client); // "current_task"
	const Btf module("nfs", b.blob(), &base);

	CHECK(module.first_id() == base.end_id());
	CHECK(module.find(NameSpace::Struct, "client").id == client);
	CHECK_FALSE(module.find(NameSpace::Struct, "task"));
	const auto owner = find_member(module.find(NameSpace::Struct, "client"), "owner");
	REQUIRE(owner);
	CHECK(owner->type == TypeRef{&base, kernel.task_pointer});
	CHECK(to_c(owner->type) == "struct task *");

	CHECK(info(module.info(to_void).target).kind == Kind::Void);
	CHECK(module.info(to_void).target == TypeRef{&base, 0});
	CHECK(module.find(NameSpace::Ordinary, "current_task").id == again);
}

TEST_CASE("BTF: the digest is FNV-1a over words and the length") {
	// Three bytes over a multiple of eight: 24 bytes of header, then 3 of strings.
	BtfBuilder b;
	b.string("x");
	const RawBytes bytes = b.bytes();
	REQUIRE(bytes.size() == 27);
	std::uint64_t expected = 0xcbf29ce484222325ULL;
	const std::uint64_t words[] = {0x00000018'0001eb9fULL, 0x00000000'00000000ULL, 0x00000003'00000000ULL,
	                               0x00000000'00007800ULL, 27};
	for (const std::uint64_t word : words)
		expected = (expected ^ word) * 0x100000001b3ULL;
	CHECK(Btf("t", b.blob()).digest() == expected);
}

TEST_CASE("BTF: damaged blobs are refused with the reason") {
	const SmallKernel kernel;
	RawBytes bytes = kernel.b.bytes();
	const auto reopen = [&] { return Btf("t", Blob::from_bytes(bytes)); };

	SECTION("too short") {
		bytes.resize(23);
		CHECK_THROWS_WITH(reopen(), Contains("shorter than a BTF header"));
	}
	SECTION("other byte order") {
		std::swap(bytes[0], bytes[1]);
		CHECK_THROWS_WITH(reopen(), Contains("byte order"));
	}
	SECTION("a byte of the header") {
		const auto [at, value, says] = GENERATE(table<std::size_t, std::uint8_t, const char*>({
		    {0, 0, "not BTF"},
		    {2, 2, "version"},
		    {4, 20, "header length 20"},
		    {15, 0xff, "types lie outside"},
		    {23, 0xff, "strings lie outside"},
		}));
		bytes[at] = value;
		CHECK_THROWS_WITH(reopen(), Contains(says));
	}
	SECTION("unterminated strings") {
		bytes.back() = 'x';
		CHECK_THROWS_WITH(reopen(), Contains("do not end in NUL"));
	}
	SECTION("unknown kind") {
		bytes[24 + 7] = 31;
		CHECK_THROWS_WITH(reopen().find(NameSpace::Struct, "x"),
		                  Contains("type 1 is of no known kind"));
	}
	SECTION("a type that runs over the end") {
		bytes[12] -= 4;
		CHECK_THROWS_WITH(reopen().end_id(), Contains("cut off"));
	}
	SECTION("a name outside the strings") {
		bytes[24 + 2] = 0xff;
		CHECK_THROWS_WITH(reopen().info(1), Contains("string offset"));
	}
	SECTION("an id that does not exist") {
		CHECK_THROWS_WITH(reopen().info(4000), Contains("no type 4000"));
	}
}

TEST_CASE("BTF: cycles and ids that lead nowhere end in an error") {
	BtfBuilder b;
	const auto loop = b.type("a", 8, 0, b.next_id() + 1);
	b.type("b", 8, 0, loop);
	const auto tag = b.type("t", 18, 0, b.next_id());
	const auto to_tag = b.pointer(tag);
	const auto array = b.type("", 3, 0, 0);
	b.words({array, array, 2});
	const auto self = b.type("self", 4, 1, 8);
	b.words({0, self, 0});
	const auto outside = b.pointer(1000);
	const auto wide = b.type("wide", 1, 0, 400);
	b.words({8});
	const auto function = b.type("f", 12, 0, loop);
	const Btf btf("t", b.blob());

	CHECK_THROWS_WITH(resolve({&btf, loop}), Contains("refers to itself"));
	CHECK_THROWS_WITH(btf.info(to_tag), Contains("type tags"));
	CHECK_THROWS_WITH(size_of({&btf, array}), Contains("refers to itself") || Contains("larger"));
	CHECK_THROWS_WITH(align_of({&btf, self}), Contains("refers to itself"));
	CHECK_THROWS_WITH(find_member({&btf, self}, "x"), Contains("refers to itself"));
	CHECK_THROWS_WITH(btf.info(outside), Contains("no type 1000"));
	CHECK_THROWS_WITH(btf.info(wide), Contains("400 bytes"));
	CHECK_THROWS_WITH(btf.info(function), Contains("not a type"));
	CHECK_THROWS_AS(btf.find_function("f"), Error);
	CHECK(to_c({&btf, array}).find("(...)") == 0);
}

TEST_CASE("BTF: types that hold each other twice do not make a walk endless") {
	BtfBuilder b;
	const auto int_ = b.integer("int", 4, 1);
	std::uint32_t last = int_;
	for (unsigned i = 0; i < 40; i++) {
		const auto next = b.type("", 4, 2, 8);
		b.words({0, last, 0, 0, last, 0});
		last = next;
	}
	const auto proto = b.type("", 13, 3, int_);
	b.words({0, proto, 0, proto, 0, proto});
	const Btf btf("t", b.blob());
	CHECK_THROWS_WITH(align_of({&btf, last}), Contains("nested too deeply"));
	CHECK_THROWS_WITH(find_member({&btf, last}, "x"), Contains("nested too deeply"));
	CHECK(to_c({&btf, proto}).size() < 100000);

	const Btf twin("u", b.blob());
	CHECK(equivalent({&btf, last}, {&twin, last}));
}

TEST_CASE("BTF: functions that take functions are compared pair by pair, once") {
	BtfBuilder b;
	const auto int_ = b.integer("int", 4, 1), long_ = b.integer("long", 8, 1);
	// Eight to the seventh ways down to a parameter, and seven pairs of functions.
	const auto family = [&](std::uint32_t leaf) {
		std::uint32_t last = leaf;
		for (unsigned i = 0; i < 7; i++) {
			const auto next = b.type("", 13, 8, int_);
			b.words({0, last, 0, last, 0, last, 0, last, 0, last, 0, last, 0, last, 0, last});
			last = next;
		}
		return last;
	};
	const auto one = family(int_), same = family(int_), other = family(long_);
	const Btf btf("t", b.blob());
	CHECK(equivalent({&btf, one}, {&btf, same}));
	CHECK_FALSE(equivalent({&btf, one}, {&btf, other}));
}

} // namespace types_btf_test
