// SPDX-License-Identifier: GPL-2.0
//
// Functions of one name: static functions of different files stand in one BTF, and
// nothing there says which address is whose. Where their types differ there is no
// type, and whoever asks is told why.
#include <catch2/catch.hpp>

#include <fstream>
#include <unistd.h>

#include "formats/types/kernel_types.h"
#include "recorder/probe_args.h"
#include "tests/unit/d_target.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/types_btf_builder.h"

namespace types_twins_test {

using namespace dfr;
using namespace dfr::types;
using Catch::Contains;
using dfr::test::BtfBuilder;
using dfr::test::ScratchFolder;

namespace {

// int twin(int n) and int twin(int count): equal. void odd(int), void odd(long).
// void near(struct s *): two structs of that name and size, whose members differ.
// void far(struct t *): twice the same struct, as two types.
struct Twins {
	BtfBuilder b;
	std::uint32_t int_, long_;

	std::uint32_t proto(std::uint32_t result, std::string_view name, std::uint32_t parameter) {
		const auto id = b.type("", 13, 1, result);
		b.words({b.string(name), parameter});
		return id;
	}
	void function(std::string_view name, std::uint32_t type) { b.type(name, 12, 0, type); }
	std::uint32_t record(std::string_view name, std::string_view first, std::string_view second) {
		const auto id = b.type(name, 4, 2, 8);
		b.words({b.string(first), int_, 0, b.string(second), int_, 32});
		return id;
	}

	Twins() {
		int_ = b.integer("int", 4, 1);
		long_ = b.integer("long int", 8, 1);
		function("twin", proto(int_, "n", int_));
		function("twin", proto(int_, "count", int_));
		function("odd", proto(0, "n", int_));
		function("odd", proto(0, "n", long_));
		function("near", proto(0, "p", b.pointer(record("s", "a", "b"))));
		function("near", proto(0, "p", b.pointer(record("s", "c", "d"))));
		function("far", proto(0, "p", b.pointer(record("t", "a", "b"))));
		function("far", proto(0, "p", b.pointer(record("t", "a", "b"))));
		function("__traceiter_event", proto(int_, "n", int_));
		function("__traceiter_event", proto(int_, "n", long_));
		b.type("btf_trace_event", 8, 0, b.pointer(proto(0, "n", int_)));
	}
};

} // namespace

TEST_CASE("BTF: a name of several functions has a type where all have the same") {
	const Twins twins;
	const Btf btf("vmlinux", twins.b.blob());
	CHECK(declare(btf.find_function("twin"), "twin") == "int twin(int)");
	CHECK(btf.count_functions("twin") == 1);
	CHECK_FALSE(btf.find_function("odd"));
	CHECK(btf.count_functions("odd") == 2);
	CHECK_FALSE(btf.find_function("near"));
	CHECK(btf.count_functions("near") == 2);
	CHECK(declare(btf.find_function("far"), "far") == "void far(struct t *)");
	CHECK(btf.count_functions("far") == 1);
	CHECK(btf.count_functions("none") == 0);
}

TEST_CASE("kernel types: the module decides between functions of one name") {
	const ScratchFolder folder;
	Twins base;
	folder.write("vmlinux", base.b.bytes());
	for (const char* name : {"one", "two"}) {
		BtfBuilder b(base.b.next_id(), base.b.string_end());
		const auto proto = b.type("", 13, 1, base.int_);
		b.words({b.string("n"), name == std::string("one") ? base.int_ : base.long_});
		b.type("odd", 12, 0, proto);
		b.type("local", 12, 0, proto);
		folder.write(name, b.bytes());
	}
	const auto types = KernelTypes::from_directory(folder.path());
	CHECK(declare(types->find_function("odd", "two"), "odd") == "int odd(long int)");
	CHECK_FALSE(types->find_function("odd", "vmlinux"));
	CHECK_FALSE(types->find_function("odd")); // the kernel's own is not another module's
	CHECK(types->count_functions("odd") == 2);
	CHECK_FALSE(types->find_function("local"));
	CHECK(types->count_functions("local") == 2);
	CHECK(declare(types->find_function("local", "one"), "local") == "int local(int)");
	CHECK_FALSE(types->find_tracepoint("event")); // not the first that is found either

	const d::ProbeInfo odd{.provider = "fbt", .module = "vmlinux", .function = "odd", .name = "entry"};
	CHECK(recorder::probe_args(odd, *types, "/nonexistent").empty());
	CHECK(recorder::why_untyped(odd, *types) == "the kernel has 2 functions odd with different "
	                                            "arguments, and does not say which of them is where");
	const d::ProbeInfo in_module{.provider = "fbt", .module = "one", .function = "odd", .name = "entry"};
	CHECK(recorder::probe_args(in_module, *types, "/nonexistent").size() == 1);
	CHECK(recorder::why_untyped(in_module, *types).empty());
	// One type stands there, for one of several functions.
	d::ProbeInfo shared{.provider = "fbt", .module = "vmlinux", .function = "twin", .name = "entry"};
	CHECK(recorder::probe_args(shared, *types, "/nonexistent").size() == 1);
	shared.shared = true;
	CHECK(recorder::probe_args(shared, *types, "/nonexistent").empty());
	shared.name = "return";
	CHECK(recorder::probe_args(shared, *types, "/nonexistent").empty());
	CHECK(recorder::why_untyped(shared, *types) ==
	      "several functions are called twin, and the kernel's types do not say which is which");
	// A function that has no type in the kernel is not a module's that has one.
	const d::ProbeInfo untyped{
	    .provider = "fbt", .module = "vmlinux", .function = "local", .name = "entry"};
	CHECK(recorder::probe_args(untyped, *types, "/nonexistent").empty());
	CHECK(recorder::why_untyped(untyped, *types).empty());
	CHECK_THAT(recorder::why_untyped({.provider = "sdt", .module = "x", .name = "event"}, *types),
	           Contains("2 functions __traceiter_event"));
}

TEST_CASE("args[] of a probe without types are refused with the reason") {
	struct Target : test::TestTarget {
		std::string why_untyped(const d::ProbeInfo& probe) override {
			return probe.function == "vfs_read" ? "there are two" : "";
		}
	} target;
	const auto alone = test::compile("fbt::vfs_read:entry { trace(args[0]); }", target);
	REQUIRE(alone.diagnostics.errors() == 1);
	CHECK(alone.diagnostics.all()[0].tag == "D_ARGS_NONE");
	CHECK(alone.diagnostics.all()[0].hint == "there are two: use arg0 to arg9 and casts");
	// The reason is of the clause that it is about.
	const auto other = test::compile(
	    "fbt::vfs_read:entry { trace(args[0]); } syscall::read:return { trace(args[0]); }", target);
	REQUIRE(other.diagnostics.errors() == 2);
	CHECK(other.diagnostics.all()[1].hint == "use arg0 to arg9 and casts");
}

} // namespace types_twins_test
