// SPDX-License-Identifier: GPL-2.0
//
// The kernel's types in a recording: what the recorder collects comes back from the
// file, and replay compiles against it where this machine runs another kernel; of a
// program that was compiled elsewhere all that can be reached is kept; damage is told.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

#include "analyze/replay/recording_target.h"
#include "formats/error.h"
#include "formats/trace/file.h"
#include "recorder/type_collector.h"
#include "tests/unit/d_target.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace trace_types_test {

using namespace dfr;
using types::NameSpace;
using types::TypeRef;

namespace {

// A kernel with struct outer { int number; struct middle *middle; }, struct middle { struct inner *inner; },
// struct inner { int end; }, struct task_struct { int pid; }, and fbt::vfs_read:entry(struct outer *, int).
struct RecordedKernel : test::TestTarget {
	RecordedKernel() {
		const TypeRef integer = kernel.integer("int", {.bits = 32, .is_signed = true});
		const auto make = [&](const char* name, types::MemberSpec member) {
			const TypeRef made = kernel.forward(types::Kind::Struct, name);
			kernel.define(made, {&member, 1});
			return made;
		};
		const TypeRef inner = make("inner", {.name = "end", .type = integer});
		const TypeRef middle = make("middle", {.name = "inner", .type = kernel.pointer(inner)});
		const types::MemberSpec members[] = {{.name = "number", .type = integer},
		                                     {.name = "middle", .type = kernel.pointer(middle)}};
		outer = kernel.forward(types::Kind::Struct, "outer");
		kernel.define(outer, members);
		make("task_struct", {.name = "pid", .type = integer});
		arguments[6] = {{.native = "const struct outer *", .name = "it"},
		                {.native = "int", .translated = "", .mapping = 1, .user = true}};
	}
	TypeRef outer;
};

// A recording of the probe, by a program whose clause has this uarg.
trace::Catalog catalog_of(uint64_t uarg) {
	test::CatalogLog log;
	log.state("types", 1, 4096, DFR_BUFPOLICY_RING).probe(6, "fbt", "vmlinux", "vfs_read", "entry", 2);
	log.layout(1, {test::int_field(8)}).ecb(1, 6, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	dof::Image image;
	dof::Action action{.kind = DFR_ACT_CAPTURE_ARGS};
	image.bodies.push_back({.actions = {action}});
	image.ecbs.push_back({.probe = {.provider = "fbt"}, .uarg = uarg});
	const auto bytes = dof::write(image);
	const auto view = std::as_bytes(std::span(bytes));
	catalog.dofs = {{view.begin(), view.end()}};
	catalog.machine["release"] = "not this one";
	return catalog;
}

types::Kind kind_of(const types::Container* container, const char* name) {
	const TypeRef type = container->find(NameSpace::Struct, name);
	return type ? types::info(type).kind : types::Kind::Void;
}

const d::ProbeInfo kProbe{
    .id = 6, .provider = "fbt", .module = "vmlinux", .function = "vfs_read", .name = "entry"};

std::string write_recording(const std::string& path, const trace::Catalog& catalog,
                            const trace::RecordedTypes& types) {
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
	writer.types(types);
	writer.finish();
	return path;
}

} // namespace

TEST_CASE("replay elsewhere has the types that the recording keeps", "[trace][types]") {
	RecordedKernel kernel;
	const trace::Catalog catalog = catalog_of(DFR_ECBUARG_KERNEL_TYPES);
	recorder::TypeCollector collector(kernel);
	collector.relies_on({kernel.outer});
	collector.look(catalog, SIZE_MAX);
	const auto collected = collector.fresh();
	REQUIRE(collected);
	CHECK_FALSE(collector.fresh()); // nothing has come
	CHECK(collected->left_out == 0);

	test::ScratchFolder folder;
	const auto file = trace::open_file(write_recording(folder.file("a.dfr"), catalog, *collected));
	const trace::United one({file.get()});
	replay::RecordingTarget target(one);
	const types::Container* const there = target.kernel_types("");
	REQUIRE(there);
	CHECK(there->name() == "vmlinux");
	CHECK(types::same_structure(there->find(NameSpace::Struct, "outer"), kernel.outer));
	CHECK(kind_of(there, "middle") == types::Kind::Struct);    // behind one pointer
	CHECK(kind_of(there, "inner") == types::Kind::Forward);    // behind two
	CHECK(kind_of(there, "task_struct") == types::Kind::Void); // nobody uses it
	CHECK_FALSE(target.kernel_types("ext4"));
	const auto args = target.args(kProbe);
	REQUIRE(args.size() == 2);
	CHECK(args[0].native == "const struct outer *");
	CHECK(args[0].name == "it");
	CHECK(args[1].mapping == 1);
	CHECK(args[1].user);
	d::ProbeInfo other = kProbe;
	other.function = "vfs_write";
	CHECK(target.args(other).empty());
}

TEST_CASE("of a program that was compiled elsewhere all types are kept", "[trace][types]") {
	RecordedKernel kernel;
	recorder::TypeCollector collector(kernel);
	collector.look(catalog_of(DFR_ECBUARG_KERNEL_TYPES), SIZE_MAX);
	const auto all = collector.fresh();
	REQUIRE(all);
	const auto known = types::KernelTypes::from_bytes(all->btf, "the test");
	CHECK(kind_of(&known->vmlinux(), "inner") == types::Kind::Struct);
	CHECK(kind_of(&known->vmlinux(), "task_struct") == types::Kind::Struct);

	recorder::TypeCollector untyped(kernel);
	untyped.look(catalog_of(0), SIZE_MAX);
	const auto few = untyped.fresh();
	REQUIRE(few);
	const auto some = types::KernelTypes::from_bytes(few->btf, "the test");
	CHECK(kind_of(&some->vmlinux(), "inner") == types::Kind::Forward);
	CHECK(kind_of(&some->vmlinux(), "task_struct") == types::Kind::Void);
}

TEST_CASE("probes are looked at in parts, and written when all were", "[trace][types]") {
	RecordedKernel kernel;
	trace::Catalog catalog = catalog_of(0);
	for (uint32_t id = 7; id < 10; id++) {
		catalog.probes[id] = {.id = id, .provider = "fbt", .function = std::to_string(id)};
		catalog.add_ecb({.epid = id - 5, .probe = id, .layout = 1});
		kernel.arguments[id] = kernel.arguments[6];
	}
	recorder::TypeCollector collector(kernel);
	CHECK_FALSE(collector.fresh());
	collector.look(catalog, 3);
	CHECK_FALSE(collector.fresh());
	collector.look(catalog, 3);
	const auto all = collector.fresh();
	REQUIRE(all);
	CHECK(all->probes.size() == 4);
}

TEST_CASE("damaged types are told", "[trace][types]") {
	RecordedKernel kernel;
	const trace::Catalog catalog = catalog_of(0);
	recorder::TypeCollector collector(kernel);
	collector.look(catalog, SIZE_MAX);
	trace::RecordedTypes types = collector.fresh().value();
	test::ScratchFolder folder;
	const std::string path = write_recording(folder.file("a.dfr"), catalog, types);
	std::ifstream in(path, std::ios::binary);
	std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
	const std::string head{'D', 'S', 'E', 'G', 9, 0}; // a segment of type 9: container.h
	const auto at = std::search(bytes.begin(), bytes.end(), head.begin(), head.end());
	REQUIRE(at != bytes.end());
	at[40] ^= 1;
	std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	const auto file = trace::open_file(path);
	CHECK(file->types().empty());
	CHECK(file->partial());
	REQUIRE(file->remarks().size() == 1);
	CHECK(file->remarks().front().find("(types) are damaged") != std::string::npos);

	// Its checksum is right, and what is in it is no BTF.
	types.btf["vmlinux"].resize(10);
	const auto other = trace::open_file(write_recording(folder.file("b.dfr"), catalog, types));
	const trace::United one({other.get()});
	replay::RecordingTarget target(one);
	CHECK_THROWS_AS(target.kernel_types(""), Error);
	CHECK_THROWS_AS(trace::decode_types({}), Error);
}

namespace {

// A recording of an engine in this process that has these types, as if they were its kernel's.
struct TypedRecording final : trace::BlockSource {
	TypedRecording(test::App& app, std::string called, trace::RecordedTypes own)
	    : kept(app), own_name(std::move(called)), own_types(std::move(own)) {
		kept.identity().machine = {{"release", "6.1.0-1"}};
	}
	const trace::Catalog& catalog() override { return kept.catalog(); }
	std::optional<trace::Block> next() override { return kept.next(); }
	std::vector<trace::AggEntry> aggregations() override { return {}; }
	trace::Losses losses() override { return kept.losses(); }
	trace::RecordedTypes types() override { return own_types; }
	std::string name() const override { return own_name; }
	test::Kept kept;
	std::string own_name;
	trace::RecordedTypes own_types;
};

trace::Verdict verdict_of(const std::vector<trace::BlockSource*>& all, const std::string& program,
                          std::string& said) {
	const trace::United united(all);
	replay::RecordingTarget target(united);
	const d::Compiled made = test::compiled(program, target);
	render::Output output(-1);
	render::NoSymbols symbols;
	const auto answer = replay::replay_program(united, target, made, output, symbols, test::quiet());
	said = output.take();
	return answer.verdict;
}

trace::RecordedTypes types_for(RecordedKernel& kernel, TypeRef root) {
	recorder::TypeCollector collector(kernel);
	collector.relies_on({root});
	collector.look(catalog_of(0), SIZE_MAX);
	return collector.fresh().value();
}

} // namespace

// REPLAY.md section 2, the kernel's types
TEST_CASE("recordings of one kernel have their types together, others are named", "[trace][types][several]") {
	RecordedKernel kernel;
	trace::RecordedTypes first = types_for(kernel, kernel.outer);
	trace::RecordedTypes second = types_for(kernel, kernel.kernel.find(NameSpace::Struct, "task_struct"));
	const TypeRef inner = kernel.kernel.find(NameSpace::Struct, "inner");
	trace::RecordedTypes third = types_for(kernel, inner);
	first.digest = second.digest = third.digest = 5;
	second.probes["fbt:vmlinux:vfs_write:entry"] = {.args = {{.native = "struct task_struct *"}}};
	test::App app;
	test::load(app, "app::work:entry { capture(arg0); }");
	test::finish(app);
	TypedRecording a(app, "a.dfr", first), b(app, "b.dfr", second), c(app, "c.dfr", third);
	{
		const trace::United all({&a, &b, &c});
		replay::RecordingTarget target(all);
		const types::Container* const there = target.kernel_types("");
		REQUIRE(there);
		for (const char* const name : {"outer", "middle", "task_struct", "inner"})
			CHECK(kind_of(there, name) == types::Kind::Struct);
		CHECK(types::same_structure(there->find(NameSpace::Struct, "outer"), kernel.outer));
		CHECK(types::same_structure(there->find(NameSpace::Struct, "inner"), inner));
		CHECK(target.args(kProbe).size() == 2);
		d::ProbeInfo other = kProbe;
		other.function = "vfs_write";
		CHECK(target.args(other).size() == 1);
		CHECK(target.other_types().empty());
	}
	// Of another kernel, and of another release without types.
	c.own_types.digest = 6;
	TypedRecording d(app, "d.dfr", {}), same(app, "same.dfr", {});
	d.kept.identity().machine = {{"release", "6.1.0-2"}};
	const std::vector<std::string> reasons = {
	    "c.dfr was recorded with other types of the kernel than a.dfr, whose types were used for both",
	    "d.dfr has no types of its kernel, and those of a.dfr were used for both"};
	{
		const trace::United all({&a, &b, &c, &d, &same});
		replay::RecordingTarget target(all);
		CHECK(kind_of(target.kernel_types(""), "task_struct") == types::Kind::Struct);
		CHECK(kind_of(target.kernel_types(""), "inner") == types::Kind::Forward);
		CHECK(target.other_types() == reasons);
	}
	const auto times = [&reasons](const trace::Verdict& verdict) {
		return std::ranges::count_if(verdict.reasons, [&reasons](const std::string& one) {
			return std::ranges::count(reasons, one) != 0;
		});
	};
	std::string said;
	const trace::Verdict typed =
	    verdict_of({&a, &b, &c, &d, &same}, "END { trace(sizeof(struct outer)); }", said);
	CHECK(said.find("16") != std::string::npos);
	CHECK(times(typed) == 2);
	CHECK_FALSE(typed.complete);
	CHECK(times(verdict_of({&a, &b, &c, &d, &same}, "END { trace(sizeof(int)); }", said)) == 0);
}

} // namespace trace_types_test
