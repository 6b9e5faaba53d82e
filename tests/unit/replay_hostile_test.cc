// SPDX-License-Identifier: GPL-2.0
//
// Recordings that no recorder wrote, with right checksums: by columns and by rows replay says the same of them.
#include <catch2/catch.hpp>

#include "analyze/replay/by_columns.h"
#include "analyze/replay/replayed_probes.h"
#include "formats/trace/container.h"
#include "formats/trace/remake.h"
#include "formats/trace/verify.h"
#include "tests/unit/harmed_file.h"
#include "tests/unit/trace_builder.h"

extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace replay_hostile_test {

using namespace dfr;
using namespace dfr::test;

namespace {

struct Rig {
	Rig() : kept(recorded_work(app)), path(folder.file("odd.dfr")) {}
	// Writes the blocks as `change` leaves them, sealed.
	void write(const std::function<void(dfr_block&)>& change) {
		kept.rewind();
		trace::FileWriter writer(path, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		while (auto block = kept.next()) {
			auto& head = *reinterpret_cast<dfr_block*>(block->bytes.data());
			change(head);
			head.flags &= ~static_cast<uint32_t>(DFR_BLOCK_SEALED);
			trace::seal_block(*block);
			writer.block(*block);
		}
		writer.account(kept);
		writer.finish();
	}
	App app;
	Kept kept;
	ScratchFolder folder;
	std::string path;
};

struct Said {
	std::string text;
	trace::Verdict verdict;
	bool by_columns = false;
};

Said said(const std::string& path, const std::string& program, replay::Way way,
          const replay::Wanted& wanted) {
	trace::JoinedSource source(std::move(trace::group_by_state({path}).at(0)));
	replay::RecordingTarget target(source.catalog(), "odd");
	const d::Compiled made = compiled(program, target);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	options.way = way;
	options.wanted = wanted;
	const replay::Answer answer =
	    replay::replay_program(trace::United({&source}), target, made, output, symbols, options);
	return {output.take(), answer.verdict, answer.by_columns};
}

// Whether it went by columns.
bool same_both_ways(const std::string& path, const std::string& program = kQuestion,
                    const replay::Wanted& wanted = {}) {
	const Said any = said(path, program, replay::Way::kAny, wanted);
	const Said rows = said(path, program, replay::Way::kRows, wanted);
	CHECK(any.text == rows.text);
	CHECK(any.verdict == rows.verdict);
	return any.by_columns;
}

} // namespace

TEST_CASE("hostile: what block headers say of times and counts is not believed", "[hostile][columns]") {
	Rig rig;
	rig.write([](dfr_block&) {});
	CHECK(same_both_ways(rig.path));
	const std::function<void(dfr_block&)> changes[] = {
	    [](dfr_block& head) { head.first_time += 200'000; },
	    [](dfr_block& head) { head.first_time -= 200'000; },
	    [](dfr_block& head) {
		    head.last_time -= std::min<uint64_t>(200'000, head.last_time - head.first_time);
	    },
	    [](dfr_block& head) { head.last_time += 200'000; },
	    [](dfr_block& head) { head.records += 3; },
	    [](dfr_block& head) { head.records--; },
	    [](dfr_block& head) { head.before = 0; },
	};
	for (const auto& change : changes) {
		rig.write([&](dfr_block& head) {
			if (head.cpu == 2 && head.seq % 3 == 1)
				change(head);
		});
		same_both_ways(rig.path);
		for (unsigned i = 0; i < 5; i++) {
			replay::Wanted wanted;
			wanted.from = replay::parse_when("@" + std::to_string(kStart + i * 2'100'000));
			wanted.to =
			    replay::parse_when("@" + std::to_string(kStart + 3'000'000 + i * 2'150'000));
			same_both_ways(rig.path, kQuestion, wanted);
		}
	}
}

TEST_CASE("hostile: a CPU that the catalog does not have is damage", "[hostile][columns]") {
	Rig rig;
	rig.write([](dfr_block& head) { head.cpu = head.cpu == 3 ? 9 : head.cpu; });
	same_both_ways(rig.path);
	const Said rows = said(rig.path, kQuestion, replay::Way::kRows, {});
	CHECK_FALSE(rows.verdict.complete);
	const std::string counts =
	    said(rig.path, "app::work:entry { @[cpu] = count(); }", replay::Way::kAny, {}).text;
	CHECK(std::count(counts.begin(), counts.end(), '4') == 3); // 4,000 each of the other three
	CHECK_FALSE(trace::verify_file(rig.path).sound());
}

TEST_CASE("hostile: an execname that no engine keeps", "[hostile][columns]") {
	Rig rig;
	trace::RecordShapes shapes(rig.kept.catalog());
	trace::FileWriter writer(rig.path, true,
	                         [&]() -> const trace::Catalog& { return rig.kept.catalog(); });
	while (const auto block = rig.kept.next())
		writer.block(trace::remake_block(*block, shapes, [&](const trace::Record& record) {
			             const trace::RecordShape* const shape = shapes.find(record.epid);
			             trace::Context context = record.context;
			             context.execname = "a-name-of-more-than-15";
			             return trace::RemadeRecord{
			                 record.epid, context, {shape->fields, shape->count}, record.fields};
		             }).block);
	writer.account(rig.kept);
	writer.finish();
	CHECK_FALSE(same_both_ways(rig.path));
	CHECK(same_both_ways(rig.path, "app::work:entry { @[arg0] = count(); }"));
	CHECK(said(rig.path, kQuestion, replay::Way::kAny, {}).text.find("a-name-of-more- ") !=
	      std::string::npos);
}

TEST_CASE("hostile: the range of a column does not decide what is counted", "[hostile][columns]") {
	Rig rig;
	std::vector<trace::Block> blocks;
	while (auto block = rig.kept.next())
		if (block->header().cpu == 0 && blocks.size() < 3)
			blocks.push_back(std::move(*block));
	const trace::Catalog& catalog = rig.kept.catalog();
	auto stored = [&](const std::vector<std::byte>& columns) {
		auto made = std::make_unique<trace::StoredColumns>();
		made->payload = columns;
		for (const trace::Block& block : blocks)
			made->headers.push_back(block.header());
		made->columns = trace::ChunkColumns::open(made->payload, made->headers);
		return made;
	};
	const std::vector<std::byte> columns = trace::encode_columns(blocks, catalog).value();
	auto sound = trace::RecordBatch::of(stored(columns), catalog);
	REQUIRE(sound);
	REQUIRE(sound->values(0, 0));
	// A column whose head says less than its values are.
	trace::FieldColumn lying = sound->epids()[0].fields[0];
	CHECK(trace::within(lying, *sound->values(0, 0)));
	lying.column.greatest--;
	CHECK_FALSE(trace::within(lying, *sound->values(0, 0)));
	lying.column.greatest++;
	lying.column.least++;
	CHECK_FALSE(trace::within(lying, *sound->values(0, 0)));
}

TEST_CASE("hostile: firings of two probes that have one time are the engine's", "[hostile][columns]") {
	App app;
	load(app, "app::work: { capture(); }");
	for (unsigned i = 0; i < 100; i++)
		app.fire(i % 3 ? app.entry : app.exit, kStart + i * 1000, 0, 100, "alpha", i, i);
	finish(app);
	Kept kept(app);
	const trace::Catalog& catalog = kept.catalog();
	replay::RecordingTarget target(catalog, "kept");
	const d::Compiled program = compiled("app::work: { @[probename] = max(timestamp); }", target);
	replay::ColumnProgram columns(catalog, target, program, [](uint32_t id) { return id; });
	// The records of the block, with their times, and with one for each two.
	for (const uint64_t unit : {1, 2000}) {
		replay::ByColumns by(columns, catalog);
		kept.rewind();
		std::optional<trace::Block> block = kept.next();
		REQUIRE(block);
		trace::RecordBatch batch(std::move(*block));
		trace::RecordShapes shapes(catalog);
		trace::RecordCursor cursor(shapes);
		trace::DecodeDamage damage;
		REQUIRE(cursor.open(batch.block(), damage, nullptr));
		while (cursor.next()) {
			trace::Record record = cursor.current();
			record.time -= record.time % unit;
			batch.add(record, *catalog.layout_of(record.epid));
		}
		CHECK(batch.records().size() >= 100);
		CHECK(by.take(batch, batch.block().header().cpu) == (unit == 1));
		CHECK(by.refusal() == (unit == 1 ? "" : "firings of two probes of a CPU have one time"));
	}
}

// Of a clause whose program cannot be read nobody knows that it records.
TEST_CASE("hostile: a firing with a record of a clause that is not known is the engine's",
          "[hostile][columns]") {
	Rig rig;
	trace::Catalog& catalog = rig.kept.identity();
	const auto unknown = static_cast<uint32_t>(catalog.ecbs.size()) + 1;
	catalog.layouts[999] = {.id = 999, .dof = 77, .clause = 0, .fields = {}};
	REQUIRE(catalog.add_ecb({.epid = unknown, .probe = rig.app.entry->pb_id, .layout = 999}));
	replay::RecordingTarget target(catalog, "odd");
	const d::Compiled program = compiled("app::work:entry { @ = count(); }", target);
	replay::ColumnProgram columns(catalog, target, program, [](uint32_t id) { return id; });
	REQUIRE(columns.refusal().empty());
	replay::ByColumns by(columns, catalog);
	rig.kept.rewind();
	std::optional<trace::Block> block = rig.kept.next();
	while (block && block->header().records < 10)
		block = rig.kept.next();
	REQUIRE(block);
	trace::RecordBatch batch(std::move(*block));
	trace::RecordShapes shapes(catalog);
	trace::RecordCursor cursor(shapes);
	trace::DecodeDamage damage;
	REQUIRE(cursor.open(batch.block(), damage, nullptr));
	for (unsigned i = 0; cursor.next(); i++) {
		trace::Record more = cursor.current();
		more.epid = unknown;
		more.fields = {};
		if (i == 5)
			batch.add(more, catalog.layouts[999]);
		batch.add(cursor.current(), *catalog.layout_of(cursor.current().epid));
	}
	CHECK_FALSE(by.take(batch, batch.block().header().cpu));
	CHECK(by.refusal() == "records are of a clause that is not known to leave any");
}

TEST_CASE("hostile: texts among the keys count in the bound of memory", "[hostile][columns]") {
	App app;
	load(app, "#pragma D option bufsize=1m\n#pragma D option strsize=200\n"
	          "app::work:entry { capture(copyinstr(arg0), arg1); }");
	static const std::string text(150, 'x');
	for (unsigned i = 0; i < 500; i++) {
		dfr_env env{};
		env.ev_flags = DFR_ENV_LIVE; // so that copyinstr() may read this process
		env.ev_time = kStart + i * 1000;
		env.ev_task = env.ev_tid = 100;
		const u64 arguments[3] = {reinterpret_cast<uint64_t>(text.c_str()), i, 0};
		dfr_user_cpu = 0;
		dfr_fire_env(app.entry, arguments, 3, nullptr, &env);
	}
	finish(app);
	Kept kept(app);
	replay::RecordingTarget target(kept.catalog(), "kept");
	const d::Compiled program = compiled(
	    "#pragma D option strsize=200\napp::work:entry { @[copyinstr(arg0), arg1] = count(); }", target);
	replay::ColumnProgram columns(kept.catalog(), target, program, [](uint32_t id) { return id; });
	REQUIRE(columns.refusal().empty());
	replay::ByColumns by(columns, kept.catalog());
	trace::Merger merger(kept);
	merger.scan([&](trace::RecordBatch& batch, uint32_t cpu) { return by.take(batch, cpu); });
	INFO(by.refusal());
	REQUIRE(by.refusal().empty());
	size_t keys = 0;
	for (const trace::AggEntry& entry : by.entries())
		keys += entry.key.size();
	CHECK(keys > 500 * 150);
	CHECK(by.bytes() >= keys);
}

// Names of the probe take no byte in a record, so a small block could ask for a gigabyte.
TEST_CASE("hostile: a batch keeps nothing of fields without bytes", "[hostile][columns]") {
	CatalogLog log;
	log.state("wide", 1, 512, DFR_BUFPOLICY_RING).clock(5, 500).probe(11, "app", "m", "work", "entry");
	Bytes layout;
	constexpr uint32_t kWide = trace::Catalog::kBytelessMost;
	layout.u32(1).u32(0).u32(0).u32(kWide + 1).put(int_field(8));
	for (uint32_t i = 0; i < kWide; i++)
		layout.put(plain_field(i % 2 ? DFR_FIELD_PROBETEXT : DFR_FIELD_BYTES, 0));
	log.entry(DFR_CAT_LAYOUT, layout).ecb(1, 11, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	BlockBytes block(0, 1, kStart, 512);
	block.long_head(1, 0, kStart).u8(0).u8(7);
	block.short_head(1, 0, 1).u8(0).u8(8);
	trace::RecordBatch batch(block.sealed());
	trace::RecordShapes shapes(catalog);
	trace::RecordCursor cursor(shapes);
	trace::DecodeDamage damage;
	REQUIRE(cursor.open(batch.block(), damage, nullptr));
	while (cursor.next())
		batch.add(cursor.current(), *catalog.layout_of(1));
	REQUIRE(batch.records().size() == 2);
	REQUIRE(batch.values(0, 0));
	CHECK(*batch.values(0, 0) == std::vector<uint64_t>{7, 8});
	for (size_t field = 1; field <= kWide; field++)
		REQUIRE_FALSE(batch.values(0, field));
}

TEST_CASE("hostile: clocks of several boots may be anything", "[hostile]") {
	App app;
	Kept first = recorded_work(app);
	App another;
	Kept second = recorded_work(another);
	first.place("first.dfr", "alpha", 1, 0);
	second.place("second.dfr", "beta", 2, 0);
	const uint64_t any[] = {0, 1, INT64_MAX, 1ull << 63, UINT64_MAX};
	std::vector<trace::Clock>& clocks = first.identity().clocks;
	for (const uint64_t mono : any)
		for (const uint64_t real : any)
			for (const uint64_t boot : any) {
				clocks = {{.mono = mono, .real = real, .boot = boot},
				          {.mono = mono, .real = boot, .boot = real}};
				const trace::United united({&first, &second});
				REQUIRE(united.boots() == 2);
				const trace::UnitedSource& member = united.members().front();
				CHECK(member.own_time(UINT64_MAX, false) == UINT64_MAX);
				for (const uint64_t time : any)
					member.own_time(member.time(time), false);
			}
}

TEST_CASE("hostile: high ids of probes make the engine look through no long chains", "[hostile]") {
	constexpr uint32_t kMoved = 199'000; // not further than ids are kept
	Rig rig;
	trace::Catalog& catalog = rig.kept.identity();
	std::map<uint32_t, trace::Probe> moved;
	for (auto& [id, probe] : catalog.probes) {
		probe.id += id > DFR_PROBE_ERROR ? kMoved : 0;
		moved.emplace(probe.id, probe);
	}
	catalog.probes = std::move(moved);
	for (trace::Ecb& ecb : catalog.ecbs)
		ecb.probe += ecb.probe > DFR_PROBE_ERROR ? kMoved : 0;
	replay::RecordingTarget target(catalog, "high");
	engine::EngineSession session("high", 4, false);
	const replay::ReplayedProbes probes(session, target, {}, "high");
	const uint32_t high = rig.app.entry->pb_id + kMoved;
	REQUIRE(probes.of(high));
	CHECK(probes.of(high)->pb_id == high);
	const dfr_engine& engine = *session.engine();
	CHECK(engine.en_nprobes >= high);
	size_t longest = 0;
	for (uint32_t i = 0; i < engine.en_byname_size; i++) {
		size_t length = 0;
		for (const dfr_probe* probe = engine.en_byname[i]; probe; probe = probe->pb_hash)
			length++;
		longest = std::max(longest, length);
	}
	CHECK(longest < 100);
}

} // namespace replay_hostile_test
