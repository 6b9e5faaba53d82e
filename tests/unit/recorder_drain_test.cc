// SPDX-License-Identifier: GPL-2.0
//
// Drain on a session that the test plays: everything that the session gives,
// open blocks included, is in the file; a file that is cut at a checkpoint has
// what came before it; and what the session is told to forget is on the disk,
// whichever call to the file system fails.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>
#include <unistd.h>

#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/trace/decode.h"
#include "recorder/drain.h"
#include "recorder/live_symbols.h"
#include "tests/unit/d_target.h"
#include "tests/unit/played_disk.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace recorder_drain_test {

using namespace dfr;

namespace {

trace::Block block_of(uint64_t seq) {
	test::BlockBytes block(0, seq, 100 * seq);
	block.long_head(0, 0, 100 * seq).context(1, 1, 1, "sh");
	block.short_head(1, 0, 0).u8(0).u8(static_cast<uint8_t>(seq));
	block.counters(0, seq - 1);
	return block.sealed();
}

// Gives closed blocks at once, and its open one only after flush().
class PlayedSession : public trace::LiveSource {
public:
	PlayedSession() {
		test::CatalogLog log;
		log.state("played", 1, 4096, DFR_BUFPOLICY_SWITCH)
		    .probe(1, "p", "", "", "n")
		    .layout(1, {test::int_field(8)});
		the_catalog.parse(log.ecb(1, 1, 1).done());
	}
	uint32_t enable(std::span<const std::byte>, bool) override { return 0; }
	uint32_t go() override { return 0; }
	uint32_t stop() override { return 0; }
	dfr_ioc_status status() override { return {}; }
	uint64_t flush() override {
		flushed = true;
		return 1000;
	}
	bool flushing() const override { return !closed.empty() || (flushed && open); }
	void wait(std::chrono::nanoseconds, bool, const sigset_t*) override {}
	void clear_aggregation(uint32_t, bool) override {}
	int64_t option(uint32_t) override { return 0; }
	const trace::Catalog& catalog() override { return the_catalog; }
	bool storing_is_due() const override { return given.size() == hold_most; }
	void stored() override {
		if (on_stored)
			on_stored();
		given.clear();
	}
	std::optional<trace::Block> next() override {
		if (storing_is_due())
			return std::nullopt;
		if (!closed.empty()) {
			const uint64_t seq = closed.front();
			closed.pop_front();
			given.push_back(seq);
			return block_of(seq);
		}
		if (!flushed || !open)
			return std::nullopt;
		const uint64_t seq = open;
		open = 0;
		given.push_back(seq);
		return block_of(seq);
	}
	std::vector<trace::AggEntry> aggregations() override { return aggs; }
	trace::Losses losses() override { return lost; }
	std::string name() const override { return "played"; }

	trace::Catalog the_catalog;
	std::deque<uint64_t> closed{1, 2, 3};
	uint64_t open = 4;
	bool flushed = false;
	std::vector<uint64_t> given; // since stored()
	size_t hold_most = 1000;
	std::function<void()> on_stored;
	std::vector<trace::AggEntry> aggs;
	trace::Losses lost;
};

// A session that is drained into a file.
struct Drained {
	test::ScratchFolder folder;
	std::string path = folder.file("drained.dfr");
	PlayedSession session;
	trace::PartsWriter writer{path, [this]() -> const trace::Catalog& { return session.catalog(); }, {}};
	recorder::LiveSymbols symbols;
	recorder::NameCollector names{symbols};
	test::TestTarget machine;
	recorder::TypeCollector types{machine};
	recorder::Drain drain{session, writer, names, types};
};

uint64_t blocks_in(const std::string& path) {
	const auto file = trace::open_file(path);
	uint64_t blocks = 0;
	while (file->next())
		blocks++;
	return blocks;
}

} // namespace

TEST_CASE_METHOD(Drained, "a drained session is in the file to the last open block", "[recorder]") {
	CHECK(drain.pump() == 3);
	CHECK(drain.pump() == 0);
	drain.checkpoint();
	CHECK(blocks_in(path) == 4); // another reader, while it is being written
	session.aggs = {{.varid = 1, .kind = DFR_ACT_COUNT, .key = {}, .words = {9}}};
	session.lost.add({.cause = DFR_LOSS_PRINCIPAL, .count = 2});
	drain.finish();
	CHECK(drain.blocks() == 4);
	CHECK(drain.records() == 4);
	const auto file = trace::open_file(path);
	CHECK(file->facts().finished);
	CHECK(file->aggregations().at(0).words.at(0) == 9);
	trace::Merger merger(*file);
	std::vector<uint64_t> values;
	merger.run([&](const trace::Record& record) {
		values.push_back(record.fields[0].number);
		return true;
	});
	CHECK(values == std::vector<uint64_t>{1, 2, 3, 4});
	const trace::Verdict verdict = trace::judge(*file, merger);
	CHECK(!verdict.complete);
	CHECK(verdict.lost == 2);
}

// Whenever a session hears that its blocks are stored, the file has them: the kernel may forget
// them then, and may crash the moment after.
TEST_CASE_METHOD(Drained, "blocks are given back when the file has them, at the latest when many are held",
                 "[recorder]") {
	session.closed = {1, 2, 3, 4, 5};
	session.open = 6;
	session.hold_most = 2;
	std::vector<uint64_t> in_file;
	session.on_stored = [&] { in_file.push_back(blocks_in(path)); };
	CHECK(drain.pump() == 4); // one store at a time
	CHECK(in_file == std::vector<uint64_t>{2});
	CHECK(drain.pump() == 1);
	CHECK(in_file == std::vector<uint64_t>{2, 4});
	CHECK(session.given == std::vector<uint64_t>{5});
	drain.checkpoint();
	CHECK(in_file == std::vector<uint64_t>{2, 4, 6});
	drain.finish();
	CHECK(in_file == std::vector<uint64_t>{2, 4, 6, 6});
	CHECK(session.given.empty());
}

TEST_CASE_METHOD(Drained, "what goes into a file that somebody has removed is not called stored",
                 "[recorder]") {
	session.closed = {1, 2};
	session.open = 3;
	drain.pump();
	REQUIRE(::unlink(path.c_str()) == 0);
	bool stored = false;
	session.on_stored = [&] { stored = true; };
	const auto code_of = [](const auto& call) {
		try {
			call();
		} catch (const Error& error) {
			return error.code();
		}
		return 0;
	};
	CHECK(code_of([this] { drain.checkpoint(); }) == ESTALE);
	CHECK(code_of([this] { drain.finish(); }) == ESTALE);
	CHECK(!stored);
	CHECK(session.given == std::vector<uint64_t>{1, 2, 3});
}

namespace {

// The values of the records that a file with these bytes holds. whole: it must have its end mark.
std::vector<uint64_t> values_in(const std::vector<std::byte>& bytes, bool whole = false) {
	const test::ScratchFolder folder;
	const std::string path = folder.file("values.dfr");
	FILE* const stream = std::fopen(path.c_str(), "wb");
	REQUIRE(stream);
	REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size());
	std::fclose(stream);
	std::vector<uint64_t> values;
	if (bytes.size() < 64) // a head and nothing else
		return values;
	const auto source = trace::open_file(path);
	CHECK((source->facts().finished || !whole));
	trace::Merger merger(*source);
	merger.run([&](const trace::Record& record) {
		REQUIRE(record.fields.size() == 1); // else no catalog explains it
		values.push_back(record.fields[0].number);
		return true;
	});
	return values;
}

struct Outcome {
	std::vector<uint64_t> stored; // records of which the session heard that they are on the disk
	bool failed = false, ended = false;
};

// A recording of so many blocks, of which some are held at most; the catalog grows whenever they are stored.
Outcome record_to(test::Disk& disk, uint64_t blocks = 8, size_t hold_most = 2) {
	Outcome outcome;
	PlayedSession session;
	session.closed.clear();
	for (uint64_t seq = 1; seq < blocks; seq++)
		session.closed.push_back(seq);
	session.open = blocks;
	session.hold_most = hold_most;
	session.on_stored = [&] {
		outcome.stored.insert(outcome.stored.end(), session.given.begin(), session.given.end());
		session.the_catalog.probes.emplace(outcome.stored.size() + 1,
		                                   trace::Probe{.provider = "new"});
	};
	try {
		trace::PartsWriter writer(
		    "played", [&]() -> const trace::Catalog& { return session.catalog(); },
		    {.output = [&] { return std::make_unique<test::PlayedFile>(disk); }});
		recorder::LiveSymbols symbols;
		recorder::NameCollector names(symbols);
		test::TestTarget machine;
		recorder::TypeCollector types(machine);
		recorder::Drain drain(session, writer, names, types);
		try {
			drain.pump();
			drain.checkpoint();
			drain.finish();
			outcome.ended = true;
		} catch (const Error& error) {
			outcome.failed = true;
			drain.give_up(error.what());
			outcome.ended = true;
		}
	} catch (const Error&) {
		outcome.failed = true;
	} catch (const test::PowerCut&) {
	}
	return outcome;
}

bool holds(const std::vector<uint64_t>& values, const std::vector<uint64_t>& expected) {
	return std::includes(values.begin(), values.end(), expected.begin(), expected.end());
}

const std::vector<uint64_t> kAll{1, 2, 3, 4, 5, 6, 7, 8};

} // namespace

TEST_CASE("each call to the file system fails once: what was called stored is there", "[recorder][storage]") {
	test::Disk whole;
	REQUIRE(record_to(whole).stored == kAll);
	REQUIRE(values_in(whole.written) == kAll);
	REQUIRE(whole.calls > 30);
	for (uint64_t call = 1; call <= whole.calls; call++)
		for (const int error : {ENOSPC, EIO, EROFS})
			for (const int manner : {0, 1, 2, 3}) {
				test::Disk disk{.fails_at = call, .error = error};
				disk.half = manner & 1;
				disk.fails_on = manner & 2;
				const Outcome outcome = record_to(disk);
				INFO("call " << call << " errno " << error << " manner " << manner);
				CHECK((outcome.failed || (disk.half && !disk.fails_on)));
				for (const auto& bytes : {disk.written, disk.synced}) {
					const std::vector<uint64_t> values = values_in(bytes, outcome.ended);
					CHECK(holds(values, outcome.stored));
					CHECK(holds(kAll, values)); // none is invented, none comes twice
				}
			}
}

// A full disk may still have room for the small segments that end a file, once the large one is taken back.
TEST_CASE("a disk of any size: a file that could be ended has its end mark", "[recorder][storage]") {
	test::Disk whole;
	REQUIRE(record_to(whole, 250, 1000).stored.size() == 250); // in one chunk
	size_t ended = 0;
	for (size_t room = 0; room <= whole.written.size(); room += 40) {
		test::Disk disk{.room = room};
		const Outcome outcome = record_to(disk, 250, 1000);
		INFO("room for " << room);
		const std::vector<uint64_t> values = values_in(disk.written, outcome.ended);
		CHECK(holds(values, outcome.stored));
		CHECK(outcome.failed == (room < whole.written.size()));
		ended += outcome.failed && outcome.ended;
	}
	CHECK(ended > 0);
}

TEST_CASE("the power goes at any call: what was called stored is on the disk", "[recorder][storage]") {
	test::Disk whole;
	record_to(whole);
	for (uint64_t call = 1; call <= whole.calls; call++) {
		test::Disk disk{.cut_at = call};
		const Outcome outcome = record_to(disk);
		INFO("call " << call);
		CHECK(!outcome.ended);
		// Of what was not synced, any part may have reached the disk.
		const size_t more = disk.written.size() - std::min(disk.written.size(), disk.synced.size());
		for (size_t part = 0; part <= more; part += more / 7 + 1) {
			std::vector<std::byte> bytes = disk.synced;
			const auto from = disk.written.begin() + static_cast<long>(bytes.size());
			bytes.insert(bytes.end(), from, from + static_cast<long>(part));
			const std::vector<uint64_t> values = values_in(bytes);
			CHECK(holds(values, outcome.stored));
			CHECK(holds(kAll, values));
		}
	}
}

// The kernel may drop what it could not write, and report success the next time.
TEST_CASE("after a sync that failed nothing is called stored any more", "[recorder][storage]") {
	test::Disk disk;
	PlayedSession session;
	trace::FileWriter writer(
	    "played", false, [&]() -> const trace::Catalog& { return session.catalog(); },
	    std::make_unique<test::PlayedFile>(disk));
	writer.block(block_of(1));
	writer.account(session); // what is left of flush() is the sync
	disk.error = EIO;
	disk.fails_at = disk.calls + 1;
	CHECK_THROWS_AS(writer.flush(), Error);
	CHECK_THROWS_AS(writer.flush(), Error);
	CHECK_THROWS_AS(writer.finish(), Error);
}

TEST_CASE_METHOD(Drained, "a checkpoint has the open blocks, and says until when the file is whole",
                 "[recorder]") {
	drain.checkpoint();
	CHECK(blocks_in(path) == 4);
	const auto file = trace::open_file(path);
	CHECK(file->facts().whole_until == 1000); // the played session's time of flush()
	REQUIRE(file->cut());
	CHECK(file->cut()->whole_until == 1000);
	CHECK_FALSE(file->partial()); // up to then
}

} // namespace recorder_drain_test
