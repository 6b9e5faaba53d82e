// SPDX-License-Identifier: GPL-2.0
//
// Catalog, decoder, merger, verdict and aggregation tables on bytes laid by
// hand. Expected values follow from formats/abi; damage is made on purpose.
// More than 800 lines, because all of it shares the bytes that are laid here.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace trace_decode_test {

using namespace dfr;
using test::BlockBytes;
using test::Bytes;
using test::CatalogLog;
using test::int_field;
using test::plain_field;

namespace {

// EPID 1: two integers (8 bytes unsigned, 4 bytes signed). EPID 2: every other kind.
// EPID 3000: beyond short ids, nothing recorded.
CatalogLog sample_log() {
	CatalogLog log;
	log.state("anonymous", 4, 4096, DFR_BUFPOLICY_RING);
	log.entry(DFR_CAT_MACHINE, Bytes().text("release=6.1.0-56-amd64\nhost=box\ncmdline=a=b c\n"));
	log.clock(1'000'000'000, 1'700'000'000'000'000'000);
	log.probe(10, "syscall", "vmlinux", "read", "entry", 3);
	log.probe(11, "fbt", "vmlinux", "vfs_read", "return");
	log.layout(1, {int_field(8), int_field(4, true)});
	log.layout(2, {plain_field(DFR_FIELD_STRING, 256), int_field(2), plain_field(DFR_FIELD_BYTES, 3),
	               plain_field(DFR_FIELD_VARBYTES, 100), plain_field(DFR_FIELD_STACK, 20),
	               plain_field(DFR_FIELD_USTACK, 20), plain_field(DFR_FIELD_USYM, 16),
	               plain_field(DFR_FIELD_PROBETEXT, 2)});
	log.layout(3, {});
	log.ecb(1, 10, 1).ecb(2, 11, 2).ecb(3000, 11, 3);
	log.dof(0, "no program, but no matter");
	return log;
}

trace::Catalog sample_catalog() {
	trace::Catalog catalog;
	const std::vector<std::byte> log = sample_log().done();
	REQUIRE(catalog.parse(log) == log.size());
	return catalog;
}

struct Seen {
	uint64_t time;
	uint32_t epid;
	uint64_t number;
	std::string execname;
	uint32_t speculation;
	bool operator==(const Seen&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
	return out << "{" << seen.time << ", epid " << seen.epid << ", " << seen.number << ", "
	           << seen.execname << ", spec " << seen.speculation << "}";
}

Seen see(const trace::Record& record) {
	return {record.time, record.epid, record.fields.empty() ? 0 : record.fields[0].number,
	        std::string(record.context.execname), record.speculation};
}

// Starts a block with a context of its own, as the engine does.
BlockBytes begun(uint16_t cpu, uint64_t seq, uint64_t time, std::string_view name = "sh") {
	BlockBytes block(cpu, seq, time);
	block.long_head(0, 0, time).context(5, 5, 5, name);
	return block;
}

// EPID 1 with small values: one byte of codes (0, 0), then two bytes.
void small_record(BlockBytes& block, uint32_t delta, uint8_t value) {
	block.short_head(1, 0, delta).u8(0).u8(value).u8(0);
}

} // namespace

TEST_CASE("crc32c has its check value", "[trace]") {
	const std::string digits = "123456789";
	CHECK(trace::crc32c(std::as_bytes(std::span(digits))) == 0xe3069283);
	const auto bytes = std::as_bytes(std::span(digits));
	CHECK(trace::crc32c(bytes.subspan(4), trace::crc32c(bytes.first(4))) == 0xe3069283);
}

TEST_CASE("a catalog is read entry by entry", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	CHECK(catalog.state_id == 7);
	CHECK(catalog.boot_id[15] == 0xbf);
	CHECK(catalog.state_name == "anonymous");
	CHECK(catalog.cpus == 4);
	CHECK(catalog.machine.at("release") == "6.1.0-56-amd64");
	CHECK(catalog.machine.at("cmdline") == "a=b c");
	CHECK(catalog.probes.at(10).nargs == 3u);
	CHECK(!catalog.probes.at(11).nargs);
	CHECK(catalog.probe_of(2)->function == "vfs_read");
	CHECK(catalog.layout_of(2)->integers == 1);
	CHECK(catalog.ecb(2999) == nullptr);
	CHECK(catalog.ecb(3000)->probe == 11);
	CHECK(catalog.ecb(0) == nullptr);
	CHECK(catalog.ecb(3001) == nullptr);
	CHECK(catalog.walltime(1'500'000'000) == 1'700'000'000'500'000'000);
	CHECK(catalog.walltime(400'000'000) == 1'699'999'999'400'000'000);
}

TEST_CASE("a catalog's kernel was entered when its last clock says", "[trace][boot]") {
	constexpr uint64_t second = 1'000'000'000, now = 1'700'000'000 * second;
	trace::Catalog catalog;
	CHECK(catalog.entered() == 0);
	catalog.add_clock({.mono = 2 * second, .real = 2 * second, .boot = 2 * second}); // as of 1970
	CHECK(catalog.entered() == 0);
	catalog.add_clock({.mono = 10 * second, .real = now, .boot = 10 * second}); // set by the network
	CHECK(catalog.entered() == static_cast<int64_t>(now - 10 * second));
	catalog.add_clock({.mono = 20 * second, .real = now + 70 * second, .boot = 80 * second}); // it slept
	CHECK(catalog.entered() == static_cast<int64_t>(now - 10 * second));
	CHECK(catalog.walltime(0) == 0); // what a record of then is shown with
}

TEST_CASE("a catalog that grows is read in any pieces", "[trace]") {
	const std::vector<std::byte> log = sample_log().done();
	trace::Catalog catalog;
	size_t consumed = 0;
	for (size_t end = 0; end <= log.size(); end++)
		consumed += catalog.parse(std::span(log).subspan(consumed, end - consumed));
	CHECK(consumed == log.size());
	CHECK(catalog.layouts.size() == 3);
	CHECK(catalog.dofs.size() == 1);
}

TEST_CASE("a catalog with any byte changed is read or refused, never more", "[trace]") {
	const std::vector<std::byte> log = sample_log().done();
	for (size_t at = 0; at < log.size(); at++) {
		for (uint8_t flip : {0x01, 0x80, 0xff}) {
			std::vector<std::byte> bad = log;
			bad[at] ^= std::byte{flip};
			trace::Catalog catalog;
			try {
				catalog.parse(bad);
			} catch (const Error& error) {
				CHECK(std::string(error.what()).find("catalog") == 0);
			}
		}
	}
}

TEST_CASE("integers have their size and their sign", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	BlockBytes block = begun(2, 1, 5'000);
	block.short_head(1, 1, 0).u8(0b0011).u64(0xffff888012345678).u8(0xfe);  // codes 3, 0
	block.short_head(1, 2, 0x7ffff).u8(0b0110).u32(0xfffffffe).u16(0x8000); // codes 2, 1
	block.long_head(1, 3, 4'000).u8(0b1000).u8(0xff).u32(0x80000000);       // codes 0, 2
	trace::BlockDecoder decoder(catalog);
	std::vector<std::pair<uint64_t, uint64_t>> values;
	std::vector<uint64_t> times;
	std::vector<unsigned> levels;
	decoder.decode(block.sealed(), [&](const trace::Record& record) {
		values.emplace_back(record.fields[0].number, record.fields[1].number);
		times.push_back(record.time);
		levels.push_back(record.level);
		CHECK(record.cpu == 2);
		CHECK(record.context.execname == "sh");
		return true;
	});
	CHECK(values == std::vector<std::pair<uint64_t, uint64_t>>{{0xffff888012345678, 0xfffffffffffffffe},
	                                                           {0xfffffffe, 0xffffffffffff8000},
	                                                           {0xff, 0xffffffff80000000}});
	CHECK(times == std::vector<uint64_t>{5'000, 5'000 + 0x7ffff, 4'000});
	CHECK(levels == std::vector<unsigned>{1, 2, 3});
	CHECK(decoder.damage().regions == 0);
}

TEST_CASE("every other kind of field", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	BlockBytes block = begun(0, 1, 100);
	// A fault in field 1 and a cut string in field 0, noted before the record.
	block.short_head(0, 0, 0).u8(DFR_CONTROL_NOTE).u8(1).u8(DIF_FAULT_BADADDR).u64(0xdead);
	block.short_head(0, 0, 0).u8(DFR_CONTROL_NOTE).u8(0).u8(DFR_NOTE_CUT).u64(0);
	block.short_head(2, 0, 7).u8(0).text("hello").u8(9);
	block.u8('a').u8('b').u8('c');
	block.u16(2).u8('x').u8('y');
	block.u8(2).u64(0x1111).u64(0x2222);
	block.u32(77).u8(1).u64(0x3333);
	block.u64(77).u64(0x4444);
	block.short_head(3, 0, 1); // not an EPID: 3 is unknown; skipped below
	trace::BlockDecoder decoder(catalog);
	unsigned records = 0;
	decoder.decode(block.sealed(), [&](const trace::Record& record) {
		records++;
		REQUIRE(record.fields.size() == 8);
		CHECK(record.time == 107);
		CHECK(record.fields[0].text() == "hello");
		CHECK(record.fields[0].fault == DFR_NOTE_CUT);
		CHECK(record.fields[1].number == 9);
		CHECK(record.fields[1].fault == DIF_FAULT_BADADDR);
		CHECK(record.fields[1].fault_value == 0xdead);
		CHECK(record.fields[2].text() == "abc");
		CHECK(record.fields[2].fault == 0);
		CHECK(record.fields[3].text() == "xy");
		CHECK(record.fields[4].bytes.size() == 16);
		CHECK(record.fields[5].number == 77);
		CHECK(record.fields[5].bytes.size() == 8);
		CHECK(record.fields[6].number == 0x4444);
		CHECK(record.fields[7].text() == "vfs_read");
		return true;
	});
	CHECK(records == 1);
	CHECK(decoder.damage().regions == 1);
	CHECK(decoder.damage().bytes == 4);
}

TEST_CASE("ids beyond the short form, losses and an early end", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	BlockBytes block = begun(1, 1, 100);
	block.long_head(3000, 0, 200);
	block.loss(DFR_LOSS_NMI, 10, 5, 150, 180).loss(DFR_LOSS_NMI, 10, 2, 120, 190);
	block.long_head(3000, 0, 300);
	trace::BlockDecoder decoder(catalog);
	trace::Losses losses;
	std::vector<Seen> seen;
	decoder.decode(
	    block.sealed(),
	    [&](const trace::Record& record) {
		    seen.push_back(see(record));
		    return true;
	    },
	    &losses);
	CHECK(seen == std::vector<Seen>{{200, 3000, 0, "sh", 0}, {300, 3000, 0, "sh", 0}});
	REQUIRE(losses.entries.size() == 1);
	CHECK(losses.entries[0].count == 7);
	CHECK(losses.entries[0].cpu == 1);
	CHECK(losses.entries[0].from == 120);
	CHECK(losses.entries[0].to == 190);
	unsigned visits = 0;
	decoder.decode(block.sealed(), [&](const trace::Record&) { return ++visits < 1; });
	CHECK(visits == 1);
}

namespace {

// 200 records of 7 bytes over several restart points; record i has value i and time 1000 + 10 * i.
BlockBytes long_block() {
	BlockBytes block = begun(0, 1, 1'000);
	unsigned next = 0;
	while (block.here() >= (next + 1) * DFR_RESTART_BYTES)
		next++;
	for (unsigned i = 0; i < 500; i++) {
		if (block.here() >= (next + 1) * DFR_RESTART_BYTES)
			block.restart(next++ + 1);
		small_record(block, i ? 10 : 0, static_cast<uint8_t>(i));
	}
	return block;
}

std::vector<Seen> decode_all(const trace::Catalog& catalog, const trace::Block& block,
                             trace::DecodeDamage& damage) {
	trace::BlockDecoder decoder(catalog);
	std::vector<Seen> seen;
	decoder.decode(block, [&](const trace::Record& record) {
		seen.push_back(see(record));
		return true;
	});
	damage = decoder.damage();
	return seen;
}

} // namespace

TEST_CASE("a damaged byte costs at most its region, and never invents a record", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	const trace::Block good = long_block().sealed();
	REQUIRE(trace::block_is_verified(good.bytes));
	trace::DecodeDamage damage;
	const std::vector<Seen> all = decode_all(catalog, good, damage);
	REQUIRE(all.size() == 500);
	REQUIRE(damage.regions == 0);
	for (size_t at = sizeof(dfr_block); at < good.bytes.size(); at++) {
		trace::Block bad = good;
		bad.bytes[at] ^= std::byte{0x55};
		bad.verified = trace::block_is_verified(bad.bytes);
		const std::vector<Seen> seen = decode_all(catalog, bad, damage);
		const size_t entry = (at - sizeof(dfr_block)) / sizeof(dfr_restart);
		if (at < good.header().hdr_size &&
		    !trace::restart_at(good.bytes.data(), static_cast<uint32_t>(entry)).record) {
			CHECK(seen == all); // an entry that is not used
			continue;
		}
		CHECK(!bad.verified);
		CHECK(seen.size() <= 500);
		// Three regions of 1 KiB at most, 7 bytes a record: a damaged restart entry joins two, and the block's own
		// checksum, which covers the table, is of what stands before the first restart. The first context
		// holds for all records.
		if (at < good.header().hdr_size || at >= good.header().hdr_size + DFR_CONTEXT_MAX)
			CHECK(seen.size() >= 500 - 3 * (1024 + 16) / 7);
		CHECK(damage.regions > 0);
		CHECK(damage.records == 500 - seen.size());
	}
}

TEST_CASE("of a sealed block that has lost a line, all other intervals are given", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	const trace::Block good = long_block().sealed();
	const dfr_block head = good.header();
	trace::DecodeDamage damage;
	const std::vector<Seen> all = decode_all(catalog, good, damage);
	// Where each interval begins, and how many records are before it; the last entry is the block's end.
	std::vector<std::pair<uint32_t, uint32_t>> intervals = {{head.hdr_size, 0}};
	for (uint32_t i = 0; i < trace::restart_count(head); i++)
		if (const dfr_restart entry = trace::restart_at(good.bytes.data(), i); entry.record)
			intervals.emplace_back(entry.record, entry.records);
	intervals.emplace_back(head.hdr_size + head.committed, 500);
	REQUIRE(intervals.size() == 5);
	for (size_t line = head.hdr_size + DFR_CONTEXT_MAX; line + 64 <= good.bytes.size(); line += 16) {
		trace::Block bad = good;
		std::fill_n(bad.bytes.begin() + static_cast<long>(line), 64, std::byte{0});
		bad.verified = trace::block_is_verified(bad.bytes);
		const std::vector<Seen> seen = decode_all(catalog, bad, damage);
		std::vector<uint64_t> expected, numbers;
		size_t lost = 0;
		for (size_t i = 0; i + 1 < intervals.size(); i++) {
			const auto [from, before] = intervals[i];
			const auto [to, until] = intervals[i + 1];
			if (line < to && line + 64 > from)
				lost += until - before;
			else
				for (uint32_t n = before; n < until; n++)
					expected.push_back(n & 0xff);
		}
		for (const Seen& one : seen)
			numbers.push_back(one.number);
		CHECK(numbers == expected);
		CHECK(damage.records == lost);
		const auto named = trace::damaged_intervals(bad.bytes);
		CHECK(named.size() == damage.regions);
		uint64_t named_records = 0;
		for (const trace::DamagedInterval& one : named)
			named_records += one.records;
		CHECK(named_records == lost);
	}
}

TEST_CASE("an interval of an earlier use of a block's memory is not taken for sound", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	const trace::Block old = long_block().sealed();
	trace::Block now = old;
	dfr_block head = now.header();
	head.seq++;
	head.flags = head.checksum = 0;
	std::memcpy(now.bytes.data(), &head, sizeof(head));
	trace::seal_block(now);
	REQUIRE(now.verified);
	// The second interval and its entry are as they were, the rest is new.
	const dfr_restart entry = trace::restart_at(old.bytes.data(), 2);
	const uint32_t end = trace::restart_at(old.bytes.data(), 3).record;
	std::copy(old.bytes.begin() + entry.record, old.bytes.begin() + end,
	          now.bytes.begin() + entry.record);
	std::memcpy(now.bytes.data() + sizeof(dfr_block) + 2 * sizeof(dfr_restart), &entry, sizeof(entry));
	now.verified = trace::block_is_verified(now.bytes);
	CHECK_FALSE(now.verified);
	CHECK_FALSE(trace::interval_is_sound(now.bytes, entry.record, end));
	CHECK(trace::interval_is_sound(now.bytes, end, head.hdr_size + head.committed));
}

TEST_CASE("a block cut anywhere, or with any header, is walked safely", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	const trace::Block good = long_block().sealed();
	trace::DecodeDamage damage;
	for (size_t size = 0; size < good.bytes.size(); size += 13) {
		trace::Block cut{.bytes = {good.bytes.begin(), good.bytes.begin() + size}, .verified = true};
		CHECK(decode_all(catalog, cut, damage).empty());
		CHECK(damage.blocks == 1);
	}
	for (size_t at = 0; at < sizeof(dfr_block); at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			trace::Block bad = good;
			bad.bytes[at] ^= std::byte(1 << bit);
			for (bool verified : {true, false}) {
				bad.verified = verified;
				CHECK(decode_all(catalog, bad, damage).size() <= 500);
			}
		}
	}
}

TEST_CASE("committed speculations carry their own times, contexts and commit", "[trace]") {
	const trace::Catalog catalog = sample_catalog();
	BlockBytes block = begun(0, 1, 50);
	small_record(block, 50, 1); // at 100
	Bytes part;
	part.u32(0x7ff).u32(0).u64(60).context_body(9, 9, 9, "spec");
	part.u32(1 | 2 << 13).u8(0).u8(42).u8(0); // at 62
	block.short_head(0, 0, 100).u8(DFR_CONTROL_GROUP).u32(3).u32(part.bytes.size()).u64(200);
	block.bytes.insert(block.bytes.end(), part.bytes.begin(), part.bytes.end());
	block.short_head(0, 0, 0).context(5, 5, 5, "sh");
	small_record(block, 10, 2); // 200 + 10
	trace::DecodeDamage damage;
	const std::vector<Seen> seen = decode_all(catalog, block.sealed(), damage);
	CHECK(seen == std::vector<Seen>{{100, 1, 1, "sh", 0}, {62, 1, 42, "spec", 3}, {210, 1, 2, "sh", 0}});
	CHECK(damage.regions == 0);

	test::ListSource source;
	source.the_catalog = sample_catalog();
	source.blocks.push_back(block.sealed());
	trace::Merger merger(source);
	std::vector<Seen> merged;
	merger.run([&](const trace::Record& record) {
		merged.push_back(see(record));
		if (record.speculation)
			CHECK(record.commit_time == 200);
		return true;
	});
	CHECK(merged ==
	      std::vector<Seen>{{62, 1, 42, "spec", 3}, {100, 1, 1, "sh", 0}, {210, 1, 2, "sh", 0}});
	CHECK(merger.damage().regions == 0);
}

TEST_CASE("the merger orders events by time, then CPU, then place", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes a1 = begun(0, 1, 100, "a"), a2 = begun(0, 2, 130, "a"), b1 = begun(3, 1, 100, "b");
	small_record(a1, 0, 1);  // 100
	small_record(a1, 20, 2); // 120
	a2.counters(0, 2);
	small_record(a2, 0, 3);  // 130
	small_record(b1, 0, 4);  // 100
	small_record(b1, 0, 5);  // 100, the same firing
	small_record(b1, 30, 6); // 130
	source.blocks = {a1.sealed(), a2.sealed(), b1.sealed()};
	trace::Merger merger(source);
	std::vector<uint64_t> numbers;
	merger.run([&](const trace::Record& record) {
		numbers.push_back(record.fields[0].number);
		return true;
	});
	CHECK(numbers == std::vector<uint64_t>{1, 4, 5, 2, 3, 6});
	REQUIRE(merger.cpus().size() == 4);
	CHECK(merger.cpus()[0].records == 3);
	CHECK(merger.cpus()[0].last == 130);
	CHECK(merger.cpus()[3].blocks == 1);
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(verdict.complete);
	CHECK(!verdict.windowed);
	CHECK(verdict.cpus == 2);
	CHECK(verdict.records == 6);
	CHECK(verdict.from == 100);
	CHECK(verdict.to == 130);
}

TEST_CASE("a state that the kernel has ended makes the verdict partial from then on", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes block = begun(0, 1, 100);
	small_record(block, 0, 1);
	source.blocks = {block.sealed()};
	const auto judged_to = [&source](uint64_t to) {
		trace::Merger merger(source);
		merger.select({.to = to});
		merger.run([](const trace::Record&) { return true; });
		return trace::judge(source, merger);
	};
	struct Killed {
		int32_t why;
		const char *begins, *ends;
	};
	const auto [why, begins, ends] =
	    GENERATE(Killed{DFR_KILLED_OOPS, "ended by an oops of the kernel inside a probe's firing (from ",
	                    " on, what fired on its CPU is not known)"},
	             Killed{DFR_KILLED_COST, "ended by the kernel at ",
	                    ", because probes took more than nine tenths of a CPU for a second"},
	             Killed{DFR_KILLED_CONSUMER, "ended by the kernel at ",
	                    ", because its consumer was not seen for too long"});
	source.the_catalog.events.push_back({.event = DFR_EVENT_KILLED, .value = why, .time = 400});
	const trace::Verdict verdict = judged_to(UINT64_MAX);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0].starts_with(begins));
	CHECK(verdict.reasons[0].ends_with(ends));
	CHECK_FALSE(verdict.complete);
	CHECK_FALSE(judged_to(400).complete); // what fired then may have no record
	CHECK(judged_to(399).complete);
}

TEST_CASE("window, gaps and losses make the verdict", "[trace]") {
	setenv("TZ", "UTC", 1);
	tzset();
	test::ListSource source;
	source.the_catalog = sample_catalog();
	const uint64_t second = 1'000'000'000;
	// CPU 0: blocks 4 and 6, block 5 is missing with 3 records. CPU 1: from its start.
	BlockBytes a = begun(0, 4, 5 * second), b = begun(0, 6, 9 * second), c = begun(1, 1, 2 * second);
	a.counters(1, 30).opened(4 * second, 5 * second);
	small_record(a, 0, 1);
	b.counters(3, 34).opened(8 * second, 9 * second);
	small_record(b, 0, 2);
	small_record(c, 0, 3);
	source.blocks = {a.sealed(), b.sealed(), c.sealed()};
	SECTION("the headers' counters alone") {
		trace::Merger merger(source);
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(source, merger);
		CHECK(merger.cpus()[0].overwritten == 30);
		CHECK(merger.cpus()[0].gaps == 1);
		CHECK(merger.cpus()[0].missing == 3);
		CHECK(merger.cpus()[0].lost == 2);
		CHECK(verdict.windowed);
		CHECK(verdict.from == 4 * second + 1); // CPU 0 was silent until 5 s
		CHECK(verdict.to == 9 * second);
		CHECK(!verdict.complete);
		CHECK(verdict.lost == 3);
		// mono 1 s is 22:13:20 on 2023-11-14 (1,700,000,000): 4 s is 3 s later.
		CHECK(trace::verdict_line(verdict, source.catalog()) ==
		      "partial: 22:13:23.000-22:13:28.000, 2 CPUs, 3 records; earlier records are missing "
		      "(overwritten, or taken earlier); "
		      "3 records missing on CPU 0 (1 block not there)");
	}
	SECTION("the engine's own accounts; what was lost before the window is not loss") {
		source.lost.add({.cause = DFR_LOSS_NMI, .cpu = 1, .count = 1204});
		source.lost.add({.cause = DFR_LOSS_DYNVAR, .cpu = 0, .count = 9, .from = 1, .to = 2});
		trace::Merger merger(source);
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(source, merger);
		CHECK(verdict.lost == 1207);
		REQUIRE(verdict.reasons.size() == 2);
		CHECK(verdict.reasons[0] == "1,204 firings lost on CPU 1 (nested in an NMI)");
	}
}

TEST_CASE("losses from before the window are not in the verdict, however they are told", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	// CPU 0 begins at its block 4, 30 s; 7 records were lost before that. CPU 1 has everything, and tells
	// in its first block that 5 were lost at 10 s.
	BlockBytes late = begun(0, 4, 30 * kSecond), whole = begun(1, 1, 9 * kSecond);
	late.counters(7, 30).opened(29 * kSecond, 30 * kSecond);
	small_record(late, 0, 1);
	small_record(whole, 0, 2);
	whole.loss(DFR_LOSS_PRINCIPAL, 10, 5, 10 * kSecond, 11 * kSecond);
	source.blocks = {late.sealed(), whole.sealed()};
	const auto judged = [&] {
		source.at = 0;
		trace::Merger merger(source);
		merger.run([](const trace::Record&) { return true; });
		return trace::judge(source, merger);
	};
	source.lost.add({.cause = DFR_LOSS_PRINCIPAL, .cpu = -1, .count = 12});
	CHECK(judged().lost == 0);
	CHECK(judged().complete);
	source.lost.add({.cause = DFR_LOSS_NMI, .cpu = -1, .count = 3});
	CHECK(judged().lost == 3);
	CHECK_FALSE(judged().complete);
	// Of a cause that has a number in a newer dfr only.
	source.lost.add({.cause = DFR_LOSS_MAX + 3, .cpu = -1, .count = 2});
	CHECK(judged().lost == 5);
	CHECK(judged().reasons.at(1) == "2 records lost (by what a newer dfr knows)");
}

// The window is that of all CPUs: one whose first block is older has losses before it in its counters and its LOSS records.
TEST_CASE("losses of a CPU that goes back further than the others are not in the window", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	// CPU 0 begins at its block 4, 30 s, when 7 were lost, and tells that 5 were at 31 s; CPU 1 begins at 40 s.
	const bool goes_on = GENERATE(false, true), inside = GENERATE(false, true);
	BlockBytes early = begun(0, 4, 30 * kSecond), late = begun(1, 3, 40 * kSecond);
	early.counters(7, 30).opened(29 * kSecond, 30 * kSecond);
	late.counters(0, 9).opened(39 * kSecond, 40 * kSecond);
	const auto tell = [](BlockBytes& block, uint64_t count, uint64_t from) {
		block.loss(DFR_LOSS_PRINCIPAL, 10, count, from * kSecond, (from + 1) * kSecond);
	};
	small_record(early, 0, 1);
	tell(early, 5, 31);
	small_record(late, 0, 2);
	// What the counter of the next block says, too.
	BlockBytes more = begun(0, 5, 41 * kSecond);
	more.counters(12, 31).opened(30 * kSecond, 41 * kSecond);
	small_record(more, 0, 3);
	if (inside)
		tell(goes_on ? more : late, 2, 42);
	source.blocks = {early.sealed(), late.sealed()};
	if (goes_on)
		source.blocks.push_back(more.sealed());
	const uint64_t lost = inside ? 14 : 12;
	source.lost.add({.cause = DFR_LOSS_PRINCIPAL, .cpu = -1, .count = lost});
	const trace::Verdict verdict = trace::judge_whole(source);
	CHECK(verdict.windowed);
	CHECK(verdict.from == 39 * kSecond + 1);
	CHECK(verdict.lost == (inside ? 2 : 0));
	CHECK(verdict.complete == !inside);
	CHECK(verdict.records == (goes_on ? 2 : 1));
	// As a replay asks, which selects the window; of a CPU that has no block in it, it reads none.
	if (!goes_on)
		return;
	source.at = 0;
	trace::Merger merger(source);
	merger.open();
	merger.select({.from = merger.horizon()});
	merger.run([](const trace::Record&) { return true; });
	CHECK(trace::judge(source, merger).lost == verdict.lost);
}

// Two clauses on a probe: the second one's record begins a block, in which nothing but that firing is as old.
TEST_CASE("a block that begins in the middle of a firing has the counter of that time", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes front = begun(0, 5, 40 * kSecond), next = begun(0, 6, 60 * kSecond);
	front.counters(500, 50).opened(40 * kSecond, 40 * kSecond);
	small_record(front, 0, 1);
	next.counters(500, 51).opened(40 * kSecond, 60 * kSecond);
	small_record(next, 0, 2);
	source.blocks = {front.sealed(), next.sealed()};
	source.lost.add({.cause = DFR_LOSS_THROTTLE, .cpu = -1, .count = 500});
	const trace::Verdict verdict = trace::judge_whole(source);
	CHECK(verdict.lost == 0);
	CHECK(verdict.complete);
	CHECK(verdict.windowed);
}

TEST_CASE("a counter that is younger than its block's opening takes nothing out of the window", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	// Of CPU 0 only what stands for it in a snapshot: its last record was at 30 s, and by now, 42 s, 207 are lost.
	BlockBytes end(0, 6, 30 * kSecond), other = begun(1, 3, 40 * kSecond);
	end.counters(207, 60).opened(30 * kSecond, 30 * kSecond);
	end.patch<uint64_t>(40, 30 * kSecond);
	other.counters(0, 9).opened(39 * kSecond, 40 * kSecond);
	small_record(other, 0, 1);
	source.blocks = {end.open(), other.sealed()};
	source.lost.add({.cause = DFR_LOSS_THROTTLE, .cpu = -1, .count = 207});
	const trace::Verdict verdict = trace::judge_whole(source);
	CHECK(verdict.from == 39 * kSecond + 1);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 207); // how many of them before the window, nothing tells
}

TEST_CASE("blocks that tell of losses only say when they were", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	const uint64_t from = GENERATE(97, 150);
	BlockBytes first = begun(0, 1, kSecond);
	small_record(first, 0, 1);
	source.blocks.push_back(first.sealed());
	for (uint64_t at = 2; at <= 100; at++) { // one each second
		BlockBytes block(0, at, at * kSecond);
		block.counters(10 * (at - 1), 1).opened((at - 1) * kSecond, at * kSecond);
		block.long_head(0, 0, at * kSecond);
		block.loss_body(DFR_LOSS_DYNVAR, 0, 10, (at - 1) * kSecond + 1, at * kSecond);
		source.blocks.push_back(block.sealed());
	}
	BlockBytes last = begun(0, 101, 160 * kSecond);
	last.counters(990, 1).opened(100 * kSecond, 160 * kSecond);
	small_record(last, 0, 2);
	source.blocks.push_back(last.sealed());
	source.lost.add({.cause = DFR_LOSS_DYNVAR, .cpu = -1, .count = 990});
	trace::Merger merger(source);
	merger.open();
	merger.select({.from = from * kSecond});
	merger.run([](const trace::Record&) { return true; });
	CHECK(trace::judge(source, merger).lost == (from == 150 ? 0 : 40)); // 97 to 100
}

// What the governor held back has its LOSS record where firings are recorded again (formats/abi/block.h).
TEST_CASE("losses that reach beyond the end of the answer are in it, wherever it begins", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	const auto lost = [](BlockBytes& block, uint64_t count, uint64_t from, uint64_t to) {
		block.loss(DFR_LOSS_THROTTLE, 0, count, from * kSecond, to * kSecond);
	};
	// Records at 10 s, 20 s and 30 s; lost are 3 firings before the first block, 5 after 11 s, 7 from 21 s to 30 s.
	BlockBytes first = begun(0, 4, 10 * kSecond), next = begun(0, 5, 30 * kSecond);
	first.counters(3, 30).opened(9 * kSecond, 10 * kSecond);
	lost(first, 5, 11, 12);
	small_record(first, 0, 1);
	first.long_head(1, 0, 20 * kSecond).u8(0).u8(2).u8(0);
	next.counters(15, 32).opened(20 * kSecond, 30 * kSecond);
	lost(next, 7, 21, 30);
	small_record(next, 0, 3);
	source.blocks = {first.sealed(), next.sealed()};
	const auto judged = [&](uint64_t from, uint64_t to) {
		source.at = 0;
		trace::Merger merger(source);
		merger.open();
		merger.select({.from = from * kSecond, .to = to * kSecond});
		merger.run([](const trace::Record&) { return true; });
		return trace::judge(source, merger);
	};
	CHECK(judged(0, 40).lost == 12);
	CHECK(judged(0, 25).lost == 12);
	CHECK(judged(15, 40).lost == 7);
	CHECK(judged(15, 25).lost == 7);
	CHECK_FALSE(judged(15, 25).complete);
	CHECK(judged(15, 20).lost == 7); // the block tells that it ended at 20 s, not when they were lost
	CHECK(judged(15, 19).lost == 7);
	CHECK(judged(25, 40).lost == 7);
	CHECK(judged(31, 40).lost == 0);
}

// Any CPU tells of what a detached probe would have recorded.
TEST_CASE("what is estimated is told apart from what was counted", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	source.lost.add({.cause = DFR_LOSS_THROTTLE, .cpu = 2, .count = 3});
	source.lost.add({.cause = DFR_LOSS_DETACHED, .cpu = 2, .count = 12});
	trace::Merger merger(source);
	merger.run([](const trace::Record&) { return true; });
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(verdict.lost == 15);
	CHECK(verdict.estimated == 12);
	CHECK(verdict.reasons ==
	      std::vector<std::string>{"3 firings lost on CPU 2 (held back by the governor)",
	                               "12 firings lost (estimated: probes detached)"});
}

// A consumer held all spares: five records were overwritten before it could have them.
TEST_CASE("what was overwritten while it was read is lost once", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes first = begun(0, 1, 1000), next = begun(0, 3, 3000);
	small_record(first, 0, 1);
	next.counters(5, 6).opened(1000, 3000);
	next.loss(DFR_LOSS_OVERWRITTEN, 0, 5, 2000, 2500);
	small_record(next, 0, 3);
	source.blocks = {first.sealed(), next.sealed()};
	source.lost.add({.cause = DFR_LOSS_OVERWRITTEN, .cpu = -1, .count = 5});
	trace::Merger merger(source);
	merger.run([](const trace::Record&) { return true; });
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(verdict.lost == 5);
	CHECK(verdict.reasons ==
	      std::vector<std::string>{"5 records lost on CPU 0 (overwritten while they were read)"});
}

TEST_CASE("who asks for one CPU is not told what others lost", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes first = begun(0, 1, 1000), other = begun(1, 1, 1000);
	first.counters(9, 0);
	small_record(first, 0, 1);
	small_record(other, 0, 1);
	source.blocks = {first.sealed(), other.sealed()};
	source.lost.add({.cause = DFR_LOSS_PRINCIPAL, .cpu = -1, .count = 9});
	for (const uint32_t cpu : {0u, 1u}) {
		source.at = 0;
		trace::Merger merger(source);
		merger.open();
		merger.select({.cpus = {cpu == 0, cpu == 1}});
		merger.run([](const trace::Record&) { return true; });
		CHECK(trace::judge(source, merger).lost == (cpu == 0 ? 9 : 0));
	}
}

TEST_CASE("what was lost between the block before and a CPU's first one is in the window", "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	// The ring was full from 20 s to 29 s, which cost 4 records; 3 were lost before. Two more were lost after
	// the last block, so that no block tells of them.
	BlockBytes block = begun(0, 4, 30 * kSecond);
	block.counters(7, 30).opened(20 * kSecond, 30 * kSecond);
	block.loss(DFR_LOSS_PRINCIPAL, 10, 4, 21 * kSecond, 29 * kSecond);
	small_record(block, 0, 1);
	source.blocks = {block.sealed()};
	source.lost.add({.cause = DFR_LOSS_PRINCIPAL, .cpu = -1, .count = 9});
	trace::Merger merger(source);
	merger.run([](const trace::Record&) { return true; });
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(verdict.from == 20 * kSecond + 1);
	CHECK(verdict.lost == 6);
}

namespace {

constexpr uint64_t kNs = 1'000'000'000;

// EPID 1 (syscall::read:entry) is of low priority.
void thinnable(test::ListSource& source) {
	source.the_catalog = sample_catalog();
	source.the_catalog.ecbs[0].priority = DFR_PRIORITY_LOW;
}

void stretch(BlockBytes& block, uint64_t count, uint64_t from, uint64_t to, uint32_t flags = 0) {
	block.loss(DFR_LOSS_THINNED, DFR_THINNED(DFR_PRIORITY_LOW, flags), count, from, to);
}

trace::Verdict judged(test::ListSource& source, const trace::Selection& selection = {},
                      const std::function<bool(uint32_t)>& needs = {}) {
	source.at = 0;
	trace::Merger merger(source);
	merger.open();
	merger.select(selection);
	merger.run([](const trace::Record&) { return true; });
	return trace::judge(source, merger, {.priority = needs});
}

} // namespace

// REPLAY.md, section 7.
TEST_CASE("clauses that were off for a while are in the verdict of who needs them", "[trace][thin]") {
	test::ListSource source;
	thinnable(source);
	BlockBytes one = begun(0, 1, 10 * kNs), other = begun(1, 1, 10 * kNs);
	small_record(one, 0, 1);
	stretch(one, 0, 12 * kNs, 0); // it begins, is said again, and ends
	stretch(one, 30, 12 * kNs, 0);
	stretch(one, 70, 12 * kNs, 14 * kNs);
	one.long_head(3000, 0, 20 * kNs);
	small_record(other, 0, 2);
	source.blocks = {one.sealed(), other.sealed()};
	const trace::Verdict all = judged(source);
	CHECK_FALSE(all.complete);
	CHECK(all.lost == 0);
	REQUIRE(all.reasons.size() == 1);
	CHECK(
	    all.reasons[0].starts_with("clauses of low priority (syscall:vmlinux:read:entry) were thinned "));
	CHECK(all.reasons[0].ends_with(" on CPU 0 (budget, 70 firings left out)"));
	CHECK(judged(source, {}, [](uint32_t priority) { return priority == DFR_PRIORITY_HIGH; }).complete);
	CHECK_FALSE(
	    judged(source, {}, [](uint32_t priority) { return priority == DFR_PRIORITY_LOW; }).complete);
	CHECK(judged(source, {.from = 15 * kNs}).complete);
	CHECK_FALSE(judged(source, {.from = 13 * kNs}).complete);
	CHECK(judged(source, {.to = 11 * kNs}).complete);
}

TEST_CASE("several stretches, and one that nobody saw end", "[trace][thin]") {
	test::ListSource source;
	thinnable(source);
	BlockBytes one = begun(0, 1, 10 * kNs), other = begun(1, 1, 10 * kNs), next = begun(1, 2, 30 * kNs);
	small_record(one, 0, 1);
	stretch(one, 5, 12 * kNs, 14 * kNs, DFR_THINNED_DETACHED);
	stretch(other, 1, 17 * kNs, 0);
	small_record(other, 0, 2);
	small_record(next, 0, 3);
	source.blocks = {one.sealed(), other.sealed(), next.sealed()};
	const trace::Verdict all = judged(source);
	REQUIRE(all.reasons.size() == 1);
	CHECK(all.reasons[0].find(" 2 times, 15.0 s in all, ") != std::string::npos);
	CHECK(all.reasons[0].ends_with(
	    " (budget, 6 firings left out, and more while its probes were detached)"));
	// Nothing of what is selected says that clauses were off: the block before it does.
	CHECK_FALSE(judged(source, {.from = 20 * kNs, .to = 25 * kNs}).complete);
	CHECK(judged(source, {.from = 15 * kNs, .to = 16 * kNs}).complete);
}

TEST_CASE("a stretch of which only the ledger tells is in the verdict, also through a file",
          "[trace][thin]") {
	test::ListSource source;
	thinnable(source);
	BlockBytes one = begun(0, 1, 10 * kNs), other = begun(1, 1, 10 * kNs);
	small_record(one, 0, 1);
	one.long_head(3000, 0, 20 * kNs);
	small_record(other, 0, 2);
	source.blocks = {one.sealed(), other.sealed()};
	source.lost.add(trace::Losses::Stretch{.cpu = 1, .from = 12 * kNs, .left_out = 9});
	const test::ScratchFolder folder;
	const std::string path = folder.file("told.dfr");
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return source.the_catalog; });
	trace::copy_to_file(source, writer);
	writer.finish();
	std::vector<std::unique_ptr<trace::FileSource>> files;
	files.push_back(trace::open_file(path));
	trace::JoinedSource joined(std::move(files));
	for (trace::BlockSource* const from : std::initializer_list<trace::BlockSource*>{&source, &joined}) {
		source.at = 0;
		trace::Merger merger(*from);
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(*from, merger, {});
		REQUIRE(verdict.reasons.size() == 1);
		CHECK(verdict.reasons[0].ends_with(" on CPU 1 (budget, 9 firings left out)"));
	}
	CHECK(judged(source, {.to = 11 * kNs}).complete);
}

namespace {

// Lists the block of one CPU and has another's in its place.
struct LyingSource : test::ListSource {
	std::vector<trace::BlockRef> index() override { return {{.head = blocks[0].header(), .handle = 0}}; }
	std::optional<trace::Block> load(const trace::BlockRef&) override { return blocks[1]; }
};

} // namespace

TEST_CASE("a block that is not the one which was listed is damage", "[trace]") {
	LyingSource source;
	source.the_catalog = sample_catalog();
	BlockBytes listed = begun(0, 1, 100, "a"), other = begun(60'000, 1, 100, "b");
	small_record(listed, 0, 1);
	small_record(other, 0, 2);
	source.blocks = {listed.sealed(), other.sealed()};
	trace::Merger merger(source);
	merger.run([](const trace::Record&) { return true; });
	CHECK(merger.damage().blocks == 1);
	CHECK(merger.cpus().size() == 1);
}

TEST_CASE("losses beyond what a number can say are many, not none", "[trace]") {
	trace::Losses losses;
	for (const int32_t cpu : {0, 0, 1})
		losses.add(
		    trace::Losses::Loss{.cause = DFR_LOSS_THROTTLE, .cpu = cpu, .count = uint64_t{1} << 63});
	CHECK(losses.entries.front().count == UINT64_MAX);
	CHECK(losses.total() == UINT64_MAX);
}

TEST_CASE("a LOSS record of no known priority is damage", "[trace][thin]") {
	test::ListSource source;
	thinnable(source);
	BlockBytes one = begun(0, 1, 10 * kNs);
	small_record(one, 0, 1);
	stretch(one, 5, 12 * kNs, 14 * kNs, DFR_PRIORITIES);
	source.blocks = {one.sealed()};
	CHECK(judged(source).reasons.at(0).find("damaged") != std::string::npos);
}

TEST_CASE("a window begins with the last of the CPUs' gone blocks, not with a silent CPU's first record",
          "[trace]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog = sample_catalog();
	// CPU 0 recorded at 5 s and then nothing until 60 s; CPU 1 all the time, and its blocks up to 20 s are
	// gone; CPU 2 came at 30 s, and has everything.
	BlockBytes silent = begun(0, 4, 60 * kSecond), busy = begun(1, 9, 20 * kSecond),
	           late = begun(2, 1, 30 * kSecond);
	silent.counters(0, 30).opened(5 * kSecond, 60 * kSecond);
	busy.counters(0, 80).opened(20 * kSecond, 20 * kSecond);
	small_record(silent, 0, 1);
	small_record(busy, 0, 2); // of the firing of which the block before has a record, too
	small_record(busy, 1000, 3);
	small_record(late, 0, 4);
	source.blocks = {silent.sealed(), busy.sealed(), late.sealed()};
	trace::Merger merger(source);
	merger.open();
	CHECK(merger.cpus()[0].horizon == 5 * kSecond + 1);
	CHECK(merger.cpus()[2].horizon == 0);
	CHECK(merger.horizon() == 20 * kSecond + 1);
	SECTION("all records") {
		merger.run([](const trace::Record&) { return true; });
		CHECK(merger.left_out() == 0);
	}
	SECTION("of the window") {
		merger.select({.from = merger.horizon(), .to = UINT64_MAX, .cpus = {}});
		std::vector<uint64_t> numbers;
		merger.run([&](const trace::Record& record) {
			numbers.push_back(record.fields[0].number);
			return true;
		});
		CHECK(numbers == std::vector<uint64_t>{3, 4, 1});
		CHECK(merger.left_out() == 1);
	}
	SECTION("of one CPU, whose window is its own") {
		merger.select({.from = 0, .to = UINT64_MAX, .cpus = {true}});
		CHECK(merger.horizon() == 5 * kSecond + 1);
	}
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(verdict.windowed);
	CHECK(verdict.complete);
}

TEST_CASE("a gap counts if it reaches into the selection", "[trace]") {
	test::ListSource source;
	source.the_catalog = sample_catalog();
	BlockBytes a = begun(0, 1, 100), c = begun(0, 3, 300);
	small_record(a, 0, 1);
	small_record(c, 0, 2);
	c.counters(0, 6).opened(150, 300); // 5 records are missing, the last one at 150
	source.blocks = {a.sealed(), c.sealed()};
	for (const auto& [from, gaps] : {std::pair{0u, 1u}, {150u, 1u}, {151u, 0u}}) {
		source.at = 0;
		trace::Merger merger(source);
		merger.open();
		merger.select({.from = from, .to = UINT64_MAX, .cpus = {}});
		CHECK(merger.cpus()[0].gaps == gaps);
		CHECK(merger.cpus()[0].missing == 5 * gaps);
	}
}

namespace {

class AggTable : public Bytes {
public:
	explicit AggTable(uint32_t buckets = 2) {
		u32(DFR_AGGTAB_MAGIC)
		    .u32(1)
		    .u64(7)
		    .u32(0)
		    .u32(0)
		    .u64(1)
		    .u64(0)
		    .u64(0)
		    .u32(buckets)
		    .u32(0)
		    .u64(0);
		for (uint32_t i = 0; i < buckets; i++)
			u32(0);
		pad(8);
	}
	AggTable& entry(uint32_t varid, uint16_t kind, uint64_t key, std::initializer_list<uint64_t> words) {
		u32(0)
		    .u32(0)
		    .u32(varid)
		    .u16(kind)
		    .u16(static_cast<uint16_t>(words.size()))
		    .u32(8)
		    .u32(0)
		    .u64(key);
		for (uint64_t word : words)
			u64(word);
		return *this;
	}
	std::vector<std::byte> done() {
		patch<uint64_t>(32, bytes.size());
		patch<uint64_t>(40, bytes.size());
		return bytes;
	}
};

} // namespace

TEST_CASE("aggregation tables merge by variable and key", "[trace]") {
	AggTable one, two;
	one.entry(1, DFR_ACT_COUNT, 5, {10}).entry(2, DFR_ACT_MIN, 5, {static_cast<uint64_t>(-3)});
	one.entry(3, DFR_ACT_STDDEV, 5, {1, 2, ~0ull, 0}).entry(0, DFR_ACT_COUNT, 9, {99});
	one.entry(4, DFR_ACT_AVG, 1, {2, 20}).entry(6, DFR_ACT_MAX, 1, {static_cast<uint64_t>(-9)});
	two.entry(1, DFR_ACT_COUNT, 5, {7}).entry(1, DFR_ACT_COUNT, 6, {1});
	two.entry(2, DFR_ACT_MIN, 5, {4}).entry(3, DFR_ACT_STDDEV, 5, {1, 3, 2, 1});
	two.entry(4, DFR_ACT_AVG, 1, {1, 1}).entry(6, DFR_ACT_MAX, 1, {static_cast<uint64_t>(-2)});
	// lquantize(base 0, limit 2, step 1): word 0 is step<<48 | levels<<32 | base, then 2 + 2 buckets.
	const uint64_t arg = 1ull << 48 | 2ull << 32;
	one.entry(5, DFR_ACT_LQUANTIZE, 0, {arg, 1, 2, 3, 4});
	two.entry(5, DFR_ACT_LQUANTIZE, 0, {arg, 10, 20, 30, 40});
	std::vector<trace::AggEntry> all;
	CHECK(trace::merge_aggregation_table(one.done(), all) == 0);
	CHECK(trace::merge_aggregation_table(two.done(), all) == 0);
	REQUIRE(all.size() == 7);
	CHECK(all[0].words == std::vector<uint64_t>{17});
	CHECK(all[1].words == std::vector<uint64_t>{static_cast<uint64_t>(-3)});
	CHECK(all[2].words == std::vector<uint64_t>{2, 5, 1, 2}); // ~0 + 2 carries
	CHECK(all[3].words == std::vector<uint64_t>{3, 21});
	CHECK(all[4].words == std::vector<uint64_t>{static_cast<uint64_t>(-2)});
	CHECK(all[5].words == std::vector<uint64_t>{arg, 11, 22, 33, 44});
	CHECK(all[6].varid == 1);
	CHECK(all[6].key[0] == std::byte{6});
}

TEST_CASE("an aggregation table cut or changed anywhere is safe, and says what is missing", "[trace]") {
	AggTable table;
	table.entry(1, DFR_ACT_COUNT, 5, {10}).entry(1, DFR_ACT_COUNT, 6, {1});
	const std::vector<std::byte> good = table.done();
	for (size_t size = 1; size < good.size(); size++) {
		std::vector<trace::AggEntry> all;
		CHECK(trace::merge_aggregation_table(std::span(good).first(size), all) > 0);
	}
	for (size_t at = 0; at < good.size(); at++) {
		std::vector<std::byte> bad = good;
		bad[at] ^= std::byte{0xff};
		std::vector<trace::AggEntry> all;
		trace::merge_aggregation_table(bad, all);
		CHECK(all.size() <= 2);
	}
	// A kind whose words do not fit, and two kinds under one key.
	AggTable odd;
	odd.entry(1, DFR_ACT_AVG, 5, {10}).entry(2, DFR_ACT_COUNT, 5, {1}).entry(2, DFR_ACT_SUM, 5, {1});
	std::vector<trace::AggEntry> all;
	CHECK(trace::merge_aggregation_table(odd.done(), all) == 80);
	CHECK(all.size() == 1);
}

TEST_CASE("a catalog's table of EPIDs grows with what is known, not with how far each jumps", "[trace]") {
	trace::Catalog catalog;
	CHECK_FALSE(catalog.add_ecb({.epid = 0, .probe = 1, .layout = 1}));
	CHECK(catalog.add_ecb({.epid = 60000, .probe = 1, .layout = 1}));
	CHECK(catalog.add_ecb({.epid = 1, .probe = 2, .layout = 1}));
	CHECK_FALSE(catalog.add_ecb({.epid = 120000, .probe = 1, .layout = 1}));
	CHECK(catalog.ecbs.size() == 60000);
	CHECK(catalog.ecb(60000)->probe == 1);
	CHECK_FALSE(catalog.ecb(2));
}

} // namespace trace_decode_test
