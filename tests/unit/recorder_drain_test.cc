// SPDX-License-Identifier: GPL-2.0
//
// Drain on a session that the test plays: everything that the session gives,
// open blocks included, is in the file, and a file that is cut at a checkpoint
// has what came before it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <functional>
#include <unistd.h>

#include "formats/abi/dof.h"
#include "formats/trace/decode.h"
#include "recorder/drain.h"
#include "tests/unit/trace_builder.h"

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
	void flush() override { flushed = true; }
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

struct ScratchFile {
	ScratchFile() {
		char name[] = "/tmp/dfr-drain-XXXXXX";
		close(mkstemp(name));
		path = name;
	}
	~ScratchFile() { unlink(path.c_str()); }
	ScratchFile(const ScratchFile&) = delete;
	ScratchFile& operator=(const ScratchFile&) = delete;
	std::string path;
};

uint64_t blocks_in(const std::string& path) {
	const auto file = trace::open_file(path);
	uint64_t blocks = 0;
	while (file->next())
		blocks++;
	return blocks;
}

} // namespace

TEST_CASE("a drained session is in the file to the last open block", "[recorder]") {
	const ScratchFile scratch;
	PlayedSession session;
	trace::FileWriter writer(scratch.path, true);
	recorder::Drain drain(session, writer);
	CHECK(drain.pump() == 3);
	CHECK(drain.pump() == 0);
	drain.checkpoint();
	CHECK(blocks_in(scratch.path) == 3); // another reader, while it is being written
	session.aggs = {{.varid = 1, .kind = DFR_ACT_COUNT, .key = {}, .words = {9}}};
	session.lost.add({.cause = DFR_LOSS_PRINCIPAL, .count = 2});
	drain.finish();
	CHECK(drain.blocks() == 4);
	CHECK(drain.records() == 4);
	const auto file = trace::open_file(scratch.path);
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
TEST_CASE("blocks are given back when the file has them, at the latest when many are held", "[recorder]") {
	const ScratchFile scratch;
	PlayedSession session;
	session.closed = {1, 2, 3, 4, 5};
	session.open = 6;
	session.hold_most = 2;
	std::vector<uint64_t> in_file;
	session.on_stored = [&] { in_file.push_back(blocks_in(scratch.path)); };
	trace::FileWriter writer(scratch.path, true);
	recorder::Drain drain(session, writer);
	CHECK(drain.pump() == 4); // one store at a time
	CHECK(in_file == std::vector<uint64_t>{2});
	CHECK(drain.pump() == 1);
	CHECK(in_file == std::vector<uint64_t>{2, 4});
	CHECK(session.given == std::vector<uint64_t>{5});
	drain.checkpoint();
	CHECK(in_file == std::vector<uint64_t>{2, 4, 5});
	drain.finish();
	CHECK(in_file == std::vector<uint64_t>{2, 4, 5, 6});
	CHECK(session.given.empty());
}
