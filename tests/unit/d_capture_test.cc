// SPDX-License-Identifier: GPL-2.0
//
// Firing inputs: their canonical text does not depend on how they were
// written, and in replay they take the place of what they were made from.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "formats/d/canon.h"
#include "formats/d/compile.h"
#include "tests/unit/d_target.h"

namespace d_capture_test {

using namespace dfr;

namespace {

class ReplayTarget : public test::TestTarget {
public:
	const std::vector<d::CapturedInput>* captured(const d::ProbeInfo&) override { return &inputs; }
	bool is_replay() const override { return true; }
	bool has_kernel() const override { return false; }
	ReplayTarget() { addresses = false; }
	std::vector<d::CapturedInput> inputs;
};

std::string canon(const std::string& expression, const std::string& declarations = {}) {
	test::TestTarget target;
	const auto result =
	    test::compile(declarations + " fbt::vfs_read:entry { trace(" + expression + "); }", target);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	return result.compiled.image.bodies[0].actions[0].expression;
}

} // namespace

TEST_CASE("canon: spacing, inlines, macros and constants leave no trace") {
	CHECK(canon("arg0+8") == "(+ arg0 8)");
	CHECK(canon("arg0 + (2 * 4)") == "(+ arg0 8)");
	CHECK(canon("arg0 + EIGHT", "inline int EIGHT = 8;") == "(+ arg0 8)");
	CHECK(canon("*(int *)(arg0 + 8)") == "(load s4 (+ arg0 8))");
	CHECK(canon("((struct s *)arg0)->b", "struct s { uint64_t a; int b; };") == "(load s4 (+ arg0 8))");
	CHECK(canon("((struct s *)arg0)->i.b", "struct t { int x, b; }; struct s { int a; struct t i; };") ==
	      "(load s4 (+ arg0 8))");
	CHECK(canon("copyinstr(arg1)") == "(copyinstr arg1)");
	CHECK(canon("stringof(arg1)") == "(str arg1)");
	CHECK(canon("(char)arg1") == "(cast s1 arg1)");
	CHECK(canon("(uint8_t)arg1") == "(cast u1 arg1)");
	CHECK(canon("(_Bool)arg1") == "(cast b1 arg1)");
	// D computes in 64 bits, so a cast to what is the type already may cut.
	CHECK(canon("(int)-(int)arg0") == "(cast s4 (neg (cast s4 arg0)))");
	CHECK(canon("(int)(int)arg0") == "(cast s4 arg0)");
	CHECK(canon("(copyinstr(arg0), arg1)") == "(, (copyinstr arg0) arg1)");
	CHECK(d::readable("(, (copyinstr arg0) arg1)") == "(copyinstr(arg0), arg1)");
}

TEST_CASE("canon: floating point is printed as D") {
	const std::pair<const char*, const char*> conditions[] = {
	    {"arg0 / 2.0 > 1.5", "(arg0 / 2.0) > 1.5"},
	    {"arg0 / 2.0 < 1.5", "(arg0 / 2.0) < 1.5"},
	    {"arg0 * 0.1 <= -4.0", "(arg0 * 0.1) <= -4.0"},
	    {"arg0 * 1e300 >= 2", "(arg0 * 1e+300) >= 2.0"},
	    {"(double)arg0 == 2", "arg0 == 2.0"},
	    {"(arg0 + 1.0) / (arg1 - 1.0) != 0.0", "((arg0 + 1.0) / (arg1 - 1.0)) != 0.0"},
	    {"-(double)arg0 < 0.5", "-arg0 < 0.5"},
	};
	for (const auto& [source, text] : conditions)
		CHECK(d::readable(canon(source)) == text);
	CHECK(d::readable(canon("(int)(arg0 / 2.0)")).find("f_") == std::string::npos);
}

TEST_CASE("canon: what is no firing input has none") {
	CHECK(canon("rand()").empty());
	CHECK(canon("x + 1", "int x;").empty());
	CHECK(canon("self->x", "self int x;").empty());
	CHECK(canon("strlen(strtok(execname, \"a\"))").empty());
	CHECK(canon("alloca(8)").empty());
	CHECK(canon("(x++, arg0)", "int x;").empty());
}

TEST_CASE("replay: the largest captured subtree first, the rest is computed") {
	ReplayTarget target;
	target.inputs = {{"arg0"}, {"(+ arg0 8)"}};
	const auto result = test::compile("fbt::vfs_read:entry { trace((arg0 + 8) * 2 + arg0); }", target);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	CHECK(result.compiled.captured == std::vector<std::string>{"(+ arg0 8)", "arg0"});
	// ldga DT_VAR(0x7e), index, register: index 0 is the sum, 1 is arg0.
	const auto& text = result.compiled.image.bodies[0].actions[0].difo->text;
	CHECK(text[0] == 0x287e0001);
}

TEST_CASE("replay: what was not captured is an error that names it and how to record it") {
	ReplayTarget target;
	target.inputs = {{"arg0"}};
	for (const char* const expression :
	     {"arg1", "*(int *)arg0", "copyinstr(arg0)", "uid", "`jiffies", "stack()"}) {
		const auto result = test::compile(
		    std::string("fbt::vfs_read:entry { @[") + expression + "] = count(); }", target);
		INFO(expression << "\n" << result.diagnostics.render(true));
		REQUIRE(result.diagnostics.errors() == 1);
		CHECK(result.diagnostics.all()[0].tag == "D_CAPTURE_MISSING");
		CHECK(result.diagnostics.all()[0].hint.find("capture(") != std::string::npos);
	}
}

TEST_CASE("replay: the standard context needs no capture, and variables are the program's own") {
	ReplayTarget target;
	const auto result = test::compile("fbt::vfs_read:entry { self->t = timestamp; @[execname, pid, tid, "
	                                  "cpu, probefunc] = sum(self->t); x[pid]++; }",
	                                  target);
	INFO(result.diagnostics.render(true));
	CHECK(!result.diagnostics.failed());
	CHECK(result.compiled.captured.empty());
}

TEST_CASE("replay: the probes that it fires itself have arguments of their own") {
	ReplayTarget target;
	target.inputs = {{"arg4"}};
	const auto own = test::compile("ERROR { trace(arg4); trace(arg0); } BEGIN { trace(arg0); }", target);
	INFO(own.diagnostics.render(true));
	CHECK(!own.diagnostics.failed());
	CHECK(own.compiled.captured.empty());
	for (const char* const program :
	     {"ERROR { trace(uid); }", "ERROR, fbt::vfs_read:entry { trace(arg0); }"})
		CHECK(test::compile(program, target).diagnostics.errors() == 1);
}

TEST_CASE("derive: clause by clause") {
	test::TestTarget target;
	d::CompileOptions options;
	options.name = "analysis.d";
	d::Diagnostics diagnostics;
	const auto derived = d::derive(
	    "BEGIN { x = 1; self->on = 1; self->p = 0; }\n"
	    "syscall::read:entry /pid == 7 && self->on/ { self->p = arg1; @[execname, copyinstr(arg0)] = "
	    "count(); }\n"
	    "syscall::read:return /self->p/ { @t = sum(arg0 + uid + x); printf(\"%d\", pid * 2); }\n"
	    "syscall::read:entry { @c = count(); }\n"
	    "syscall::read:entry /uid == 3 && x++ < 9 && pid == 7/ { @d = count(); }\n",
	    options, target, diagnostics);
	INFO(diagnostics.render(true));
	REQUIRE(!diagnostics.failed());
	CHECK(derived.text == "syscall::read:entry /(pid == 7)/ { capture(arg1, copyinstr(arg0)); }\n"
	                      "syscall::read:return { capture((arg0 + uid)); }\n"
	                      "syscall::read:entry { capture(0); }\n"
	                      "syscall::read:entry /(uid == 3)/ { capture((uid == 3)); }\n");
	const dof::Image& image = derived.program.image;
	REQUIRE(image.ecbs.size() == 4);
	REQUIRE(image.bodies[0].actions.size() == 2);
	CHECK(image.bodies[0].actions[0].expression == "arg1");
	CHECK(image.bodies[0].actions[1].expression == "(copyinstr arg0)");
	CHECK(image.bodies[1].actions[0].expression == "(+ arg0 uid)");
	CHECK(image.aggregations.empty());
}

// REPLAY.md, section 1: a record can tell of a fault in its first 256 values.
TEST_CASE("capture: behind 256 values of the clause is an error") {
	const auto values = [](unsigned count) {
		std::string list = "arg0";
		for (unsigned i = 1; i < count; i++)
			list += ", arg0";
		return list;
	};
	const auto errors = [](const std::string& statements) {
		test::TestTarget target;
		const auto result = test::compile("fbt::vfs_read:entry { " + statements + " }", target);
		INFO(result.diagnostics.render(true));
		for (const d::Diagnostic& one : result.diagnostics.all())
			CHECK(one.tag == "D_CAPTURE_MANY");
		return result.diagnostics.errors();
	};
	CHECK(errors("capture(" + values(256) + ");") == 0);
	CHECK(errors("capture(" + values(257) + ");") == 1);
	CHECK(errors("trace(arg0); capture(" + values(255) + ");") == 0);
	CHECK(errors("trace(arg0); capture(" + values(256) + ");") == 1);
	// The arguments of a probe are up to ten, once.
	CHECK(errors("capture(); capture(); capture(" + values(246) + ");") == 0);
	CHECK(errors("capture(); capture(); capture(" + values(247) + ");") == 1);
	// Keys, and statements that are no actions, are not in the record.
	CHECK(errors("@[arg0, arg1, stack()] = quantize(arg0, arg1); x = 1; capture(" + values(256) + ");") ==
	      0);
	// A part of `if` has a record of its own.
	CHECK(errors("x = 1; capture(" + values(256) + "); if (x) { capture(" + values(256) + "); }") == 0);
	// Of a stack no fault is told there, so it may stand behind.
	CHECK(errors("capture(" + values(256) + ", stack());") == 0);
}

TEST_CASE("derive: more than 256 inputs of one clause are an error") {
	for (const unsigned count : {256u, 257u}) {
		std::string source = "fbt::vfs_read:entry {";
		for (unsigned i = 0; i < count; i++)
			source += " trace(*(int *)(arg0 + " + std::to_string(4 * i) + "));";
		test::TestTarget target;
		d::CompileOptions options;
		options.name = "analysis.d";
		d::Diagnostics diagnostics;
		const auto derived = d::derive(source + " }", options, target, diagnostics);
		INFO(diagnostics.render(true));
		if (count == 256) {
			REQUIRE(diagnostics.errors() == 0);
			CHECK(derived.program.image.bodies.at(0).actions.size() == 256);
			continue;
		}
		REQUIRE(diagnostics.errors() == 1);
		CHECK(diagnostics.all()[0].tag == "D_CAPTURE_MANY");
	}
}

TEST_CASE("conditions: a predicate of firing inputs is kept as canonical text") {
	test::TestTarget target;
	const auto condition = [&](const std::string& predicate) {
		const auto result = test::compile(
		    "self int on; fbt::vfs_read:entry /" + predicate + "/ { capture(); }", target);
		INFO(result.diagnostics.render(true));
		REQUIRE(!result.diagnostics.failed());
		return dof::read(dof::write(result.compiled.image)).bodies[0].condition;
	};
	CHECK(condition("pid == 7 && execname == \"a\"") == "(&& (== pid 7) (==$ execname \"a\"))");
	CHECK(condition("pid == 7 && self->on").empty());
}

TEST_CASE("eight keys fit the tuple stack") {
	test::TestTarget target;
	const auto result = test::compile("BEGIN { x[1, 2, pid, tid, \"a\", execname, 7, 8] = 9; }", target);
	INFO(result.diagnostics.render(true));
	CHECK(!result.diagnostics.failed());
}

TEST_CASE("which clauses depend on the kernel's types") {
	const auto depends = [](const std::string& source) {
		test::TestTarget target;
		const types::TypeRef integer = target.kernel.integer("int", {});
		const types::TypeRef file = target.kernel.forward(types::Kind::Struct, "file");
		const std::vector<types::MemberSpec> members = {{"flags", integer, -1}};
		target.kernel.define(file, members);
		target.kernel.typedef_name("gfp_t", integer);
		target.arguments[6] = {{"struct file *", "", 0}};
		target.arguments[4] = {{"int", "", 0}};
		target.symbols["jiffies"] = 0xffffffff81000000;
		const auto result = test::compile(source, target);
		INFO(source);
		INFO(result.diagnostics.render(true));
		REQUIRE(!result.diagnostics.failed());
		REQUIRE(!result.compiled.image.ecbs.empty());
		return bool(result.compiled.image.ecbs.back().uarg & DFR_ECBUARG_KERNEL_TYPES);
	};
	CHECK(depends("BEGIN { trace(((struct file *)arg0)->flags); }"));
	CHECK(depends("BEGIN { trace(sizeof(struct file)); }"));
	CHECK(depends("BEGIN { trace(offsetof(struct file, flags)); }"));
	CHECK(depends("BEGIN { trace(*(struct file *)arg0); }"));
	CHECK(depends("BEGIN { trace((uint64_t)((struct file *)arg0 + 1)); }"));
	CHECK(depends("BEGIN { trace((uint64_t)&((struct file *)arg0)[2]); }"));
	CHECK(depends("BEGIN { this->f = (struct file *)arg0; this->f++; }"));
	CHECK(depends("BEGIN { trace((gfp_t)arg0); }"));
	CHECK(depends("fbt::vfs_read:entry { trace((uint64_t)args[0]); }"));
	CHECK(depends("fbt::vfs_read:entry /args[0]->flags/ { trace(1); }"));
	CHECK(depends("BEGIN { if (pid) { trace(((struct file *)arg0)->flags); } }"));
	CHECK_FALSE(depends("BEGIN { trace((uint64_t)(struct file *)arg0); }"));
	CHECK_FALSE(depends("BEGIN { trace((uint64_t)curthread); }"));
	CHECK_FALSE(depends("BEGIN { trace(`jiffies); }"));
	CHECK_FALSE(depends("syscall::read:entry { trace(args[0]); }"));
	CHECK_FALSE(depends("struct s { int a; }; BEGIN { trace(((struct s *)arg0)->a); trace(sizeof(int)); "
	                    "trace((pid_t)arg0); }"));
	CHECK_FALSE(
	    depends("fbt::vfs_read:entry { trace(args[0]->flags); } fbt::vfs_read:entry { trace(arg0); }"));
}

// LANGUAGE.md, section 7.
TEST_CASE("a clause has the priority that the last pragma before it says") {
	test::TestTarget target;
	const auto result = test::compile("fbt::vfs_read:entry { trace(1); }\n"
	                                  "#pragma D priority low\n"
	                                  "fbt::vfs_read:entry, END /arg0/ { trace(2); }\n"
	                                  "fbt::vfs_read:entry { if (arg0) trace(3); trace(4); }\n"
	                                  "#pragma D priority high\n"
	                                  "fbt::vfs_read:entry {\n"
	                                  "#pragma D priority normal\n"
	                                  "trace(5); }\n"
	                                  "fbt::vfs_read:entry { trace(6); }\n",
	                                  target);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	std::map<uint64_t, std::set<uint32_t>> priorities; // by clause
	for (const dof::EcbDesc& ecb : result.compiled.image.ecbs)
		priorities[DFR_ECBUARG_CLAUSE(ecb.uarg)].insert(DFR_ECBUARG_PRIORITY(ecb.uarg));
	CHECK(priorities == std::map<uint64_t, std::set<uint32_t>>{{0, {DFR_PRIORITY_NORMAL}},
	                                                           {1, {DFR_PRIORITY_LOW}},
	                                                           {2, {DFR_PRIORITY_LOW}},
	                                                           {3, {DFR_PRIORITY_HIGH}},
	                                                           {4, {DFR_PRIORITY_NORMAL}}});
}

TEST_CASE("in replay args[n] is made of argn where only that was recorded") {
	ReplayTarget target;
	for (const d::ProbeInfo& probe : target.probes)
		target.arguments[probe.id] = {{.native = "unsigned int"}, {.native = "void *", .mapping = 2}};
	const auto compiled = [&target](const char* program) { return test::compile(program, target); };
	target.inputs = {{"arg0"}, {"arg2"}};
	const auto both = compiled("fbt::vfs_read:entry { @[args[0]] = sum(args[1] != 0); }");
	INFO(both.diagnostics.render(true));
	CHECK(both.diagnostics.errors() == 0);
	CHECK(both.compiled.captured == std::vector<std::string>{"arg0", "arg2"});
	// What was recorded as args[n] is taken as it is.
	target.inputs = {{"arg0"}, {"args[0]"}};
	CHECK(compiled("fbt::vfs_read:entry { @ = sum(args[0]); }").compiled.captured ==
	      std::vector<std::string>{"args[0]"});
	const auto missing = compiled("fbt::vfs_read:entry { @ = sum(args[1] != 0); }");
	REQUIRE(missing.diagnostics.errors() == 1);
	CHECK(missing.diagnostics.all()[0].tag == "D_CAPTURE_MISSING");
	// What it points to was not recorded.
	target.inputs = {{"arg2"}};
	CHECK(compiled("fbt::vfs_read:entry { trace(*(int *)args[1]); }").diagnostics.errors() == 1);
	// Of a bool the register's other bits are anything.
	for (const d::ProbeInfo& probe : target.probes)
		target.arguments[probe.id] = {{.native = "_Bool"}};
	target.inputs = {{"arg0"}};
	const auto bools = compiled("fbt::vfs_read:entry { @ = sum(args[0]); }");
	REQUIRE(bools.diagnostics.errors() == 0);
	const auto& code = bools.compiled.image.bodies[0].actions[0].difo;
	REQUIRE(code);
	CHECK(std::count(code->integers.begin(), code->integers.end(), 56) == 1);
}

} // namespace d_capture_test
