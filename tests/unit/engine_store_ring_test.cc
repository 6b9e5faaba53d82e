// SPDX-License-Identifier: GPL-2.0
//
// Rings: policies at their boundaries, snapshots by swapping, the loss ledger,
// restart points, sealing. Counts are derived from the record's layout: with
// blocks of 512 bytes a payload of 416; the first context takes 16 (long head)
// + 2 + 3 + 4 ("csh") = 25 bytes; a record of one small integer 4 + 1 + 1 = 6.
// A record is reserved at its worst, 8 + 16 + 1 + 8 (slack) = 33 bytes, so a
// block holds k records with 25 + 6 (k - 1) + 33 <= 416: 60.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sys/mman.h>

#include "formats/trace/crc32c.h"
#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/fire.h"
}

namespace engine_store_ring_test {

using namespace store_rig;

namespace {

constexpr uint64_t kPerBlock = 60;
constexpr uint64_t kStart = 1000000;

Program small_ring(int policy) {
	return Program()
	    .clause("rig::read:entry", {trace(arg(0))})
	    .option(DFR_OPT_BUFSIZE, 4096)
	    .option(DFR_OPT_BLOCKSIZE, 512)
	    .option(DFR_OPT_BUFPOLICY, policy);
}

void fire_many(Rig& rig, dfr_probe* probe, uint64_t from, uint64_t to) {
	for (uint64_t i = from; i < to; i++)
		rig.fire(probe, {i % 100}, kStart + 10 * i);
}

Difo faulting_status() {
	Difo difo = bad_load();
	difo.rtype = int_type(4);
	return difo;
}

} // namespace

// The kernel's addresses are in the upper half, so the distance from NULL (the next record must take the
// slow path) to a place in a block is positive there. Nothing is read or written at these addresses.
TEST_CASE("a stream whose next record is to take the slow path has no room at any address", "[store][ring]") {
	dfr_firing firing{};
	firing.fr_flags = DFR_FR_CONTEXT;
	for (const uint64_t address : {0x7f12c09d8f00ULL, 0xff6019adc09d8f00ULL}) {
		INFO(std::hex << address);
		dfr_stream stream{};
		stream.sm_ptr = reinterpret_cast<uint8_t*>(address);
		stream.sm_cgroups = dfr_plat_cgroups(&firing);
		CHECK(!dfr_stream_ready(&stream, &firing, 24));
		stream.sm_soft = stream.sm_ptr + 24;
		CHECK(dfr_stream_ready(&stream, &firing, 24));
		CHECK(!dfr_stream_ready(&stream, &firing, 25));
		stream.sm_soft = stream.sm_ptr - 1; // a restart entry was due before
		CHECK(!dfr_stream_ready(&stream, &firing, 1));
	}
}

TEST_CASE("switch drops the newest, exactly, and tells", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_SWITCH));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 600);
	CHECK(state.status().records == 8 * kPerBlock);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 600 - 8 * kPerBlock);
	CHECK(dfr_state_readable(state.state));
	std::vector<Record> records = state.take(false);
	REQUIRE(records.size() == 8 * kPerBlock);
	CHECK(records.back().time == kStart + 10 * (8 * kPerBlock - 1));
	CHECK(state.losses.entries.empty());
	CHECK_FALSE(dfr_state_readable(state.state));
	fire_many(rig, read, 600, 601);
	records = state.take();
	REQUIRE(records.size() == 1);
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_PRINCIPAL);
	CHECK(state.losses.entries[0].probe == read->pb_id);
	CHECK(state.losses.entries[0].count == 600 - 8 * kPerBlock);
	CHECK(state.losses.entries[0].from == kStart + 10 * 8 * kPerBlock);
	CHECK(state.losses.entries[0].to == kStart + 10 * 599);
	CHECK(state.blocks.back().lost == 600 - 8 * kPerBlock);
	CHECK(state.blocks.back().record_base == 8 * kPerBlock);
	CHECK(state.damage == 0);
}

TEST_CASE("switch at its boundary: the last record that fits", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_SWITCH));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 8 * kPerBlock);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 0);
	fire_many(rig, read, 8 * kPerBlock, 8 * kPerBlock + 1);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 1);
	// A consumer that asks in time loses nothing.
	CHECK(state.take().size() == 8 * kPerBlock);
	for (uint64_t i = 0; i < 20; i++) {
		fire_many(rig, read, 1000 + i * 400, 1000 + i * 400 + 400);
		CHECK(state.take(false).size() <= 7 * kPerBlock);
	}
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 1);
}

TEST_CASE("exit takes effect although its record finds no room", "[engine][store][ring]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	const int policy = GENERATE(DFR_BUFPOLICY_SWITCH, DFR_BUFPOLICY_FILL);
	State state(rig);
	REQUIRE(state.enable(small_ring(policy)
	                         .clause("rig::write:entry", {exit_with(7), trace(arg(0))})
	                         .clause("dtrace:::END", {trace(constant(77))})) == 0);
	REQUIRE(state.go() == 0);
	fire_many(rig, read, 0, 600);
	REQUIRE(state.status().exited == 0);
	rig.fire(write, {1}, kStart + 10000);
	CHECK(state.status().exited == 1);
	CHECK(state.status().exit_status == 7);
	rig.fire(read, {1}, kStart + 10010); // tracing has ended: not even a drop
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] ==
	      (policy == DFR_BUFPOLICY_SWITCH ? 601 - 8 * kPerBlock : 0));
	CHECK(state.take(false).size() == 8 * kPerBlock);
	REQUIRE(state.stop() == 0);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers.at(0) == 77);
}

TEST_CASE("an exit that faults takes no effect, room or not", "[engine][store][ring]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state(rig);
	REQUIRE(state.enable(small_ring(DFR_BUFPOLICY_SWITCH)
	                         .clause("rig::write:entry",
	                                 {act(DFR_ACT_EXIT, faulting_status()), trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	fire_many(rig, read, 0, 600);
	rig.fire(write, {1}, kStart + 10000);
	CHECK(state.status().exited == 0);
	CHECK(state.status().errors == 1);
}

TEST_CASE("fill stops when full, counts the CPU, and END still records", "[engine][store][ring]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(small_ring(DFR_BUFPOLICY_FILL).clause("dtrace:::END", {trace(constant(77))})) ==
	        0);
	REQUIRE(state.go() == 0);
	fire_many(rig, read, 0, 8 * kPerBlock);
	CHECK(state.status().filled == 0);
	fire_many(rig, read, 8 * kPerBlock, 1000);
	CHECK(state.status().filled == 1);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 0);
	REQUIRE(state.stop() == 0);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 8 * kPerBlock + 1);
	CHECK(records[8 * kPerBlock - 1].time == kStart + 10 * (8 * kPerBlock - 1));
	CHECK(records.back().numbers.at(0) == 77);
}

TEST_CASE("ring overwrites the oldest, and says where it begins", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 1000);
	CHECK(state.status().records == 1000);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 0);
	REQUIRE(state.stop() == 0);
	std::vector<Record> records = state.take();
	// 16 full blocks and 40 records in the 17th; the last 8 blocks survive.
	REQUIRE(records.size() == 7 * kPerBlock + 40);
	for (size_t i = 0; i < records.size(); i++)
		REQUIRE(records[i].time == kStart + 10 * (1000 - records.size() + i));
	CHECK(state.blocks.front().seq == 10);
	CHECK(state.blocks.front().record_base == 9 * kPerBlock);
	CHECK(state.blocks.back().seq == 17);
	CHECK(state.losses.entries.empty());
}

TEST_CASE("a ring that wraps while a consumer holds its spares names what it overwrote",
          "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 8 * kPerBlock);
	std::vector<dfr_ioc_taken> held = state.take_raw(true);
	REQUIRE(held.size() == 8);
	CHECK_FALSE(state.left);
	fire_many(rig, read, 1000, 1000 + 8 * kPerBlock);
	// Spares for as many blocks as the ring has, and eight, were made; then there is no more.
	std::vector<dfr_ioc_taken> more = state.take_raw(true);
	while (true) {
		held.insert(held.end(), more.begin(), more.end());
		fire_many(rig, read, 10000 + held.size() * 1000, 10000 + held.size() * 1000 + 8 * kPerBlock);
		more = state.take_raw(true);
		if (more.size() < 8)
			break;
		CHECK_FALSE(state.left);
	}
	CHECK(state.left);
	held.insert(held.end(), more.begin(), more.end());
	uint64_t before = state.status().loss[DFR_LOSS_OVERWRITTEN];
	CHECK(before == 0);
	fire_many(rig, read, 900000, 900000 + 8 * kPerBlock);
	CHECK(state.status().loss[DFR_LOSS_OVERWRITTEN] > 0);
	// What is held has not changed under the reader.
	state.read_catalog();
	uint64_t seen = 0;
	for (const dfr_ioc_taken& one : held) {
		seen += state.decode(one).size();
		CHECK(dfr_state_release(state.state, one.cpu, one.block, one.seq) == 0);
		CHECK(dfr_state_release(state.state, one.cpu, one.block, one.seq) == -EINVAL);
	}
	seen += state.take().size();
	CHECK(seen + state.status().loss[DFR_LOSS_OVERWRITTEN] == state.status().records);
	REQUIRE_FALSE(state.losses.entries.empty());
	CHECK(state.losses.entries[0].cause == DFR_LOSS_OVERWRITTEN);
	CHECK(state.losses.entries[0].count == state.status().loss[DFR_LOSS_OVERWRITTEN]);
	CHECK(state.damage == 0);
}

TEST_CASE("release takes nothing but what was handed out", "[engine][store][ring]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(small_ring(DFR_BUFPOLICY_SWITCH)) == 0);
	CHECK(dfr_state_release(state.state, 0, 0, 1) == -EINVAL);
	REQUIRE(state.go() == 0);
	fire_many(rig, read, 0, 10);
	CHECK(state.take_raw(false).empty());
	std::vector<dfr_ioc_taken> taken = state.take_raw(true);
	REQUIRE(taken.size() == 1);
	CHECK(dfr_state_release(state.state, 0, taken[0].block, taken[0].seq + 1) == -EINVAL);
	CHECK(dfr_state_release(state.state, 0, 4000000000u, taken[0].seq) == -EINVAL);
	CHECK(dfr_state_release(state.state, 7, taken[0].block, taken[0].seq) == -EINVAL);
	CHECK(dfr_state_release(state.state, 0, taken[0].block, 0) == -EINVAL);
	CHECK(dfr_state_release(state.state, 0, taken[0].block, taken[0].seq) == 0);
	CHECK(dfr_state_block(state.state, 0, 4000000000u) == nullptr);
	CHECK(dfr_state_block(state.state, 9, 0) == nullptr);
}

TEST_CASE("who looks at a ring sees its blocks, those that are taken too, and changes nothing",
          "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	dfr_ioc_blocks io{};
	const auto seen = [&state = state, &io]() {
		std::vector<dfr_ioc_seen> all, piece(3); // so that it takes several calls
		do {
			io.count = static_cast<uint32_t>(piece.size());
			dfr_state_blocks(state.state, &io, piece.data());
			all.insert(all.end(), piece.begin(), piece.begin() + io.count);
		} while (io.block != ~0u);
		io.block = 0;
		std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seq < b.seq; });
		return all;
	};
	CHECK(seen().empty());
	fire_many(rig, read, 0, 3 * kPerBlock + 5);
	std::vector<dfr_ioc_seen> blocks = seen();
	REQUIRE(blocks.size() == 4);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(blocks[i].seq == i + 1);
	CHECK(blocks[2].last_time == kStart + 10 * (3 * kPerBlock - 1));
	CHECK(blocks[3].last_time == 0); // open
	CHECK(io.newest == 4);
	CHECK(io.records == 3 * kPerBlock + 5);
	CHECK(io.last == kStart + 10 * (3 * kPerBlock + 4));
	CHECK(blocks[3].committed >= 5 * 6);
	const std::vector<dfr_ioc_taken> taken = state.take_raw(false, 2);
	REQUIRE(taken.size() == 2);
	CHECK(seen().size() == 4);
	state.read_catalog();
	CHECK(state.decode(taken[0]).size() == kPerBlock);
	REQUIRE(dfr_state_release(state.state, 0, taken[0].block, taken[0].seq) == 0);
	blocks = seen();
	REQUIRE(blocks.size() == 3);
	CHECK(blocks[0].seq == 2);
	fire_many(rig, read, 3 * kPerBlock + 5, 20 * kPerBlock); // the ring has eight
	blocks = seen();
	REQUIRE(blocks.size() == 9);
	CHECK(blocks[0].seq == 2);
	CHECK(blocks[8].seq == 20);
	io = {.cpu = 7, .count = 3};
	dfr_state_blocks(state.state, &io, blocks.data());
	CHECK(io.count == 0);
	CHECK(io.block == ~0u);
}

TEST_CASE("what a consumer that has gone had taken is handed to the next, first and once",
          "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_SWITCH));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 3 * kPerBlock + 1); // three closed blocks, one open
	const auto taken = state.take_raw(false);
	REQUIRE(taken.size() == 3);
	CHECK(state.take_raw(false).empty());
	REQUIRE(dfr_state_release(state.state, taken[0].cpu, taken[0].block, taken[0].seq) == 0);

	dfr_state_disown(state.state);                              // killed between TAKE and RELEASE
	fire_many(rig, read, 3 * kPerBlock + 1, 4 * kPerBlock + 1); // closes the fourth
	const auto again = state.take_raw(false);
	REQUIRE(again.size() == 3);
	CHECK(again[0].seq == taken[1].seq);
	CHECK(again[1].seq == taken[2].seq);
	CHECK(again[2].seq == taken[2].seq + 1);
	CHECK(again[0].block == taken[1].block);
	CHECK(state.take_raw(false).empty());
	for (const dfr_ioc_taken& block : again)
		CHECK(dfr_state_release(state.state, block.cpu, block.block, block.seq) == 0);
}

TEST_CASE("what a consumer that has gone had taken can be had alone", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 5 * kPerBlock + 1);
	const auto taken = state.take_raw(0, 3);
	REQUIRE(taken.size() == 3);
	CHECK(state.take_raw(DFR_TAKE_ORPHANS).empty()); // their consumer is here
	dfr_state_disown(state.state);
	fire_many(rig, read, 5 * kPerBlock + 1, 20 * kPerBlock); // the ring has eight
	std::vector<uint64_t> again;
	for (unsigned calls = 0; calls < 3; calls++)
		for (const dfr_ioc_taken& block : state.take_raw(DFR_TAKE_ORPHANS, 2)) {
			again.push_back(block.seq);
			CHECK(dfr_state_release(state.state, block.cpu, block.block, block.seq) == 0);
		}
	CHECK(again == std::vector<uint64_t>{1, 2, 3});
	CHECK(state.status().loss[DFR_LOSS_OVERWRITTEN] == 0);
	const auto rest = state.take_raw(0);
	REQUIRE(rest.size() == 7); // the eighth is open
	CHECK(rest[0].seq == 13);
}

TEST_CASE("when the consumer that lacked blocks has gone, the ring overwrites by design again",
          "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	uint64_t at = 0;
	for (; !state.left; at += 8 * kPerBlock) {
		fire_many(rig, read, at, at + 8 * kPerBlock);
		state.take_raw(true);
	}
	fire_many(rig, read, at, at + 8 * kPerBlock);
	const uint64_t lost = state.status().loss[DFR_LOSS_OVERWRITTEN];
	CHECK(lost > 0);
	dfr_state_disown(state.state);
	fire_many(rig, read, at + 8 * kPerBlock, at + 40 * kPerBlock);
	CHECK(state.status().loss[DFR_LOSS_OVERWRITTEN] == lost);
}

TEST_CASE("what was taken is handed out again a few at a time, the oldest first", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_SWITCH));
	auto& [rig, read, state] = running;
	std::vector<uint64_t> taken, again;
	for (unsigned n = 0; n < 9;
	     n += 3) { // spares are put in place of what is taken, so blocks change their places
		fire_many(rig, read, n * kPerBlock, (n + 3) * kPerBlock + 1);
		for (const dfr_ioc_taken& block : state.take_raw(false)) {
			if (block.seq % 4 == 0)
				CHECK(dfr_state_release(state.state, block.cpu, block.block, block.seq) == 0);
			else
				taken.push_back(block.seq);
		}
	}
	REQUIRE(taken.size() >= 6);
	dfr_state_disown(state.state);
	while (again.size() < taken.size()) {
		const auto some = state.take_raw(false, 2);
		REQUIRE(!some.empty());
		REQUIRE(some.size() <= 2);
		for (const dfr_ioc_taken& block : some)
			again.push_back(block.seq);
	}
	again.resize(taken.size()); // the last request may have had room for a block that was closed since
	CHECK(again == taken);
}

TEST_CASE("a block says when the one before it ended, and when it was opened", "[engine][store][ring]") {
	const int policy = GENERATE(DFR_BUFPOLICY_RING, DFR_BUFPOLICY_SWITCH);
	Running running(small_ring(policy));
	auto& [rig, read, state] = running;
	// Firing i is at kStart + 10 i, so block n has those from kPerBlock (n - 1) on.
	fire_many(rig, read, 0, 3 * kPerBlock + 1);
	state.take(false); // a consumer has taken the closed ones
	REQUIRE(state.blocks.size() == 3);
	CHECK(state.blocks[0].before == 0);
	CHECK(state.blocks[0].open_time == kStart);
	for (unsigned n = 1; n < 3; n++) {
		CHECK(state.blocks[n].before == kStart + 10 * (n * kPerBlock - 1));
		CHECK(state.blocks[n].before == state.blocks[n - 1].last_time);
		CHECK(state.blocks[n].open_time == kStart + 10 * n * kPerBlock);
	}
	state.blocks.clear();
	// The ring is overwritten, or full, while the CPU goes on after a silence.
	fire_many(rig, read, 100000, 100000 + 20 * kPerBlock);
	REQUIRE(state.stop() == 0);
	state.take();
	REQUIRE(state.blocks.size() > 1);
	uint64_t before = 0;
	for (const dfr_block& block : state.blocks) {
		CHECK(block.before <= block.open_time);
		CHECK((!before || block.before == before));
		before = block.last_time;
	}
	if (policy == DFR_BUFPOLICY_RING) // what is left begins in the middle of the second burst
		CHECK(state.blocks.front().before == state.blocks.front().open_time - 10);
	else // the open block's first record; the ring was full 7 blocks later
		CHECK(state.blocks[1].open_time - state.blocks[1].before == 10);
}

TEST_CASE("the next consumer is told when a CPU was recorded last, also if it is silent",
          "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_RING));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 10);
	CHECK(state.take().size() == 10); // the first consumer takes all that there is
	CHECK(state.blocks.size() == 1);
	CHECK(state.take().empty());
	CHECK(state.blocks.size() == 1);
	dfr_state_disown(state.state);
	state.blocks.clear();
	CHECK(state.take().empty());
	REQUIRE(state.blocks.size() == 1);
	const dfr_block head = state.blocks[0];
	CHECK(head.committed == 0);
	CHECK(head.records == 0);
	CHECK(head.seq == 2);
	CHECK(head.record_base == 10);
	CHECK(head.before == kStart + 10 * 9);
	CHECK(head.open_time == kStart + 10 * 9);
	CHECK(head.first_time == head.open_time);
	CHECK(head.last_time == head.open_time);
	CHECK(state.take().empty()); // once
	CHECK(state.blocks.size() == 1);
	fire_many(rig, read, 20, 30);
	state.blocks.clear();
	CHECK(state.take().size() == 10);
	CHECK(state.blocks.at(0).before == kStart + 10 * 9);
	CHECK(state.blocks.at(0).open_time == kStart + 10 * 20);
	CHECK(state.damage == 0);
}

TEST_CASE("restart points: each KiB decodes from its own entry", "[engine][store][ring]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0))})
	                    .option(DFR_OPT_BUFSIZE, 64 << 10)
	                    .option(DFR_OPT_BLOCKSIZE, 8192));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 1200);
	std::vector<dfr_ioc_taken> taken = state.take_raw(true);
	REQUIRE(taken.size() == 1);
	const dfr_block* block = dfr_state_block(state.state, 0, taken[0].block);
	const auto* restart = reinterpret_cast<const dfr_restart*>(block + 1);
	// hdr 96 + 8 * 24 = 288; 28 + 6 * 1200 = 7228 bytes: up to 7516, so entries 0 to 7.
	REQUIRE(block->hdr_size == 288);
	CHECK(block->committed == 28 + 6 * 1200);
	CHECK(restart[0].record == 288);
	CHECK(restart[0].context == 0);
	for (unsigned i = 1; i < 8; i++) {
		CHECK(restart[i].record >= i * 1024);
		CHECK(restart[i].record < i * 1024 + 6);
		CHECK(restart[i].context == 288);
		uint64_t record = (restart[i].record - 288 - 28) / 6;
		CHECK((restart[i].record - 288 - 28) % 6 == 0);
		CHECK(restart[i].time == kStart + 10 * (record - 1));
		CHECK(restart[i].records == record);
	}
}

TEST_CASE("a ring's blocks take memory as they are used, unless dead memory is examined",
          "[engine][store][ring]") {
	const Program program = Program()
	                            .clause("rig::read:entry", {trace(arg(0))})
	                            .option(DFR_OPT_BUFSIZE, 4 << 20)
	                            .option(DFR_OPT_BLOCKSIZE, 64 << 10);
	const auto blocks = [](Running& running) {
		std::vector<const dfr_block*> all;
		for (uint32_t i = 0; i < 64; i++)
			all.push_back(dfr_state_block(running.state.state, 0, i));
		return all;
	};
	{
		Running running(program);
		fire_many(running.rig, running.read, 0, 10);
		unsigned there = 0;
		for (const dfr_block* const block : blocks(running)) {
			unsigned char resident = 0;
			REQUIRE(mincore(const_cast<dfr_block*>(block), 4096, &resident) == 0);
			there += resident & 1;
		}
		CHECK(there == 1);
	}
	dfr_user_anchor = [](const dfr_state*, uint32_t, uint32_t, uint32_t, void*, size_t, size_t) {};
	Running running(program);
	dfr_user_anchor = nullptr;
	fire_many(running.rig, running.read, 0, 10);
	const auto all = blocks(running);
	CHECK(std::count_if(all.begin(), all.end(),
	                    [](const dfr_block* block) { return block->magic == DFR_BLOCK_FRESH; }) == 63);
}

TEST_CASE("a taken block is sealed with the checksum that readers compute", "[engine][store][ring]") {
	Running running(small_ring(DFR_BUFPOLICY_SWITCH));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 2 * kPerBlock + 5);
	dfr_state_clean(state.state); // seals the two closed ones in the ring
	std::vector<dfr_ioc_taken> taken = state.take_raw(true);
	REQUIRE(taken.size() == 3);
	for (const dfr_ioc_taken& one : taken) {
		const dfr_block* head = dfr_state_block(state.state, 0, one.block);
		std::vector<std::byte> bytes(head->hdr_size + head->committed);
		std::memcpy(bytes.data(), head, bytes.size());
		auto* copy = reinterpret_cast<dfr_block*>(bytes.data());
		CHECK(copy->flags == (DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED));
		copy->checksum = 0; // blocks of 512 bytes have no restart point: one checksum covers all
		CHECK(head->checksum == dfr::trace::crc32c(bytes));
		CHECK(head->last_time >= head->first_time);
	}
}

TEST_CASE("a context is written when it changes, and not otherwise", "[engine][store][ring]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	fire_many(rig, read, 0, 2);
	rig.env.ev_tid = 102;
	fire_many(rig, read, 2, 3);
	rig.env.ev_pid = 70000;
	fire_many(rig, read, 3, 4);
	std::strcpy(rig.env.ev_comm, "tcsh");
	fire_many(rig, read, 4, 5);
	rig.env.ev_task = 5;
	rig.env.ev_level = DFR_LEVEL_IRQ; // the level is in each head, not in the context
	fire_many(rig, read, 5, 6);
	rig.env.ev_level = DFR_LEVEL_TASK;
	fire_many(rig, read, 6, 7);
	rig.env.ev_cgroup = 1ull << 40;
	fire_many(rig, read, 7, 8);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 8);
	CHECK(records[1].tid == 101);
	CHECK(records[2].tid == 102);
	CHECK(records[2].pid == 100);
	CHECK(records[3].pid == 70000);
	CHECK(records[3].execname == "csh");
	CHECK(records[4].execname == "tcsh");
	CHECK(records[5].task == 5);
	CHECK(records[5].level == DFR_LEVEL_IRQ);
	CHECK(records[6].level == DFR_LEVEL_TASK);
	CHECK(records[6].cgroup == 7);
	CHECK(records[7].cgroup == 1ull << 40);
	CHECK(records[7].nspid == 3);
	// Contexts: a head of 16 or 4 bytes, kind, 2 of codes, task, pid, tid, nspid, cgroup, execname.
	const auto context = [](uint32_t head, uint32_t pid, uint32_t cgroup, uint32_t name) {
		return head + 3 + 1 + pid + 1 + 1 + cgroup + name;
	};
	const uint32_t contexts = context(16, 1, 1, 4) + context(4, 1, 1, 4) + context(4, 4, 1, 4) +
	                          2 * context(4, 4, 1, 5) + context(4, 4, 8, 5);
	CHECK(state.blocks[0].committed == contexts + 8 * 6);
}

TEST_CASE("integers take the bytes that they need, with the sign they have", "[engine][store][ring]") {
	Running running(Program().clause(
	    "rig::read:entry", {trace(arg(0, int_type(8, true))), trace(arg(0, int_type(8, false))),
	                        trace(arg(0, int_type(4, true))), trace(arg(0, int_type(4, false))),
	                        trace(arg(0, int_type(2, true))), trace(arg(0, int_type(1, false)))}));
	auto& [rig, read, state] = running;
	const uint64_t values[] = {0,           127,   128,         255,         256,        32767,
	                           32768,       65535, 65536,       0x7fffffff,  0x80000000, 0xffffffff,
	                           0x100000000, ~0ull, ~0ull - 127, ~0ull - 128, 1ull << 63};
	for (uint64_t value : values)
		rig.fire(read, {value});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == std::size(values));
	for (size_t i = 0; i < records.size(); i++) {
		uint64_t v = values[i];
		CHECK(records[i].numbers.at(0) == v);
		CHECK(records[i].numbers.at(1) == v);
		CHECK(records[i].numbers.at(2) ==
		      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(v))));
		CHECK(records[i].numbers.at(3) == static_cast<uint32_t>(v));
		CHECK(records[i].numbers.at(4) ==
		      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(v))));
		CHECK(records[i].numbers.at(5) == static_cast<uint8_t>(v));
	}
	CHECK(state.damage == 0);
}

TEST_CASE("times of one CPU are unique and never go back", "[engine][store][ring]") {
	Running running(
	    Program().clause("rig::read:entry", {trace(arg(0))}).clause("rig::read:entry", {trace(arg(1))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {1, 2}, 5000);
	rig.fire(read, {1, 2}, 5000);
	rig.fire(read, {1, 2}, 4000);
	rig.fire(read, {1, 2}, 5000000000);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 8);
	const uint64_t times[] = {5000, 5001, 5002, 5000000000};
	for (size_t i = 0; i < 8; i++)
		CHECK(records[i].time == times[i / 2]);
}

TEST_CASE("sizes: E2BIG for END's reserve, ENOSPC for what can never fit", "[engine][store][ring]") {
	Rig rig;
	rig.probe("read");
	SECTION("END alone is larger than the buffer") {
		State state(rig);
		// 12 bytes of head and 8 of value: 20.
		REQUIRE(state.enable(Program()
		                         .clause("dtrace:::END", {trace(constant(1))})
		                         .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL)
		                         .option(DFR_OPT_BUFSIZE, 16)) == 0);
		CHECK(state.go() == -E2BIG);
	}
	SECTION("a record larger than the buffer") {
		State state(rig);
		REQUIRE(state.enable(Program()
		                         .clause("rig::read:entry", {trace(text("a"))})
		                         .option(DFR_OPT_BUFSIZE, 200)) == 0);
		CHECK(state.go() == -ENOSPC);
	}
	SECTION("small is small, and works") {
		State state(rig);
		REQUIRE(state.enable(Program()
		                         .clause("dtrace:::BEGIN", {trace(constant(1))})
		                         .option(DFR_OPT_BUFSIZE, 300)) == 0);
		REQUIRE(state.go() == 0);
		CHECK(dfr_state_block_size(state.state) == 512);
		CHECK(state.take().size() == 1);
	}
	SECTION("a string of 64 KiB gets a block that holds it") {
		State state(rig);
		REQUIRE(state.enable(Program()
		                         .clause("dtrace:::BEGIN", {trace(text(std::string(500, 'x')))})
		                         .option(DFR_OPT_STRSIZE, 65536)) == 0);
		REQUIRE(state.go() == 0);
		CHECK(dfr_state_block_size(state.state) >= 4096);
		CHECK(state.take().size() == 1);
	}
}

} // namespace engine_store_ring_test
