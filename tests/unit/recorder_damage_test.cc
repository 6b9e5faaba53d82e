// SPDX-License-Identifier: GPL-2.0
//
// Damage to a dead machine's memory (recorder/CRASH.md): an image of a recording that the
// engine made in this process is damaged at random places, hundreds of times, and what is
// harvested from it is held against what the undamaged one gives. Never is a record of a
// sealed block another than it was, and never is an answer complete that lacks something.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <unistd.h>

#include "formats/abi/aggtab.h"
#include "formats/abi/tally.h"
#include "formats/error.h"
#include "formats/trace/decode.h"
#include "formats/trace/redact.h"
#include "recorder/memory_image.h"
#include "tests/unit/engine_store_rig.h"
#include "tests/unit/image_builder.h"

namespace recorder_damage_test {

using namespace dfr;
using store_rig::aggregate;
using store_rig::arg;
using store_rig::Program;
using store_rig::Rig;
using test::Memory;

namespace {

// What the engine would have listed in anchors.
struct Listed {
	uint32_t kind, cpu, half;
	const std::byte* memory;
	size_t size, unit;
};
thread_local std::vector<Listed> listed;

void note_anchor(const dfr_state*, uint32_t kind, uint32_t cpu, uint32_t half, void* p, size_t size,
                 size_t unit) {
	listed.push_back({kind, cpu, half, static_cast<const std::byte*>(p), size, unit});
}

class Listing {
public:
	Listing() {
		listed.clear();
		dfr_user_anchor = note_anchor;
	}
	~Listing() { dfr_user_anchor = nullptr; }
	Listing(const Listing&) = delete;
	Listing& operator=(const Listing&) = delete;
};

// A machine's memory with the recording on frames that are scattered by the sixteen, as the kernel's allocator
// leaves them, and two anchors for each list.
class Image {
public:
	Image() {
		const Listing listing;
		Rig rig(2);
		dfr_probe* const read = rig.probe("read");
		dfr_probe* const write = rig.probe("write");
		store_rig::State state(rig);
		Program program;
		program.clause("rig::read:entry", {store_rig::trace(arg(0)), store_rig::trace(arg(1))})
		    .clause("rig::write:entry", {store_rig::trace(arg(0)), store_rig::trace(arg(0)),
		                                 aggregate(DFR_ACT_COUNT, 1, 1, {}, 0)})
		    .option(DFR_OPT_BUFSIZE, 128 << 10)
		    .option(DFR_OPT_BLOCKSIZE, 8192)
		    .option(DFR_OPT_AGGSIZE, 32 << 10)
		    .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_RING);
		REQUIRE(state.enable(program) == 0);
		REQUIRE(state.go() == 0);
		const auto fire = [&](uint64_t from, uint64_t to) {
			for (uint64_t i = from; i < to; i++) {
				dfr_user_cpu = i % 3 == 0;
				rig.fire(i % 4 ? read : write, {i % 97, i * 7919},
				         1'000'000'000'000 + 1000 * i);
			}
			dfr_user_cpu = 0;
		};
		fire(0, 60'000);
		dfr_state_clean(state.state);
		state.aggregation(1); // a snapshot, so that the base table has something
		fire(60'000, 60'300); // some of them in blocks that nobody has sealed yet
		std::memcpy(&boot_, dfr_plat_boot_id(), sizeof(boot_));
		state_id_ = dfr_state_id(state.state);
		for (const Listed& one : listed)
			put(one);
	}

	Memory memory;
	std::vector<uint64_t> catalog; // frames of both copies
	std::vector<uint64_t> heads;   // frames on which aggregation tables begin
	std::vector<uint64_t> tallies; // frames of the counters of losses
	std::vector<uint64_t> anchors; // frames of these
	std::vector<uint64_t>
	    unchecked; // frames of what has no checksums: tables, blocks that are not sealed

private:
	void put(const Listed& one) {
		const size_t pages = one.size / Memory::kPageSize;
		std::vector<size_t> chunks((pages + 15) / 16);
		for (size_t i = 0; i < chunks.size(); i++)
			chunks[i] = i;
		std::shuffle(chunks.begin(), chunks.end(), random_);
		std::vector<uint64_t> frames;
		for (size_t i = 0; i < pages; i++)
			frames.push_back(next_ + chunks[i / 16] * 17 + i % 16);
		next_ += chunks.size() * 17;
		memory.put(frames, {one.memory, one.size});
		note_unchecked(one, frames);
		if (one.kind == DFR_ANCHOR_CATALOG)
			catalog.insert(catalog.end(), frames.begin(), frames.end());
		if (one.kind == DFR_ANCHOR_AGG)
			heads.push_back(frames[0]);
		if (one.kind == DFR_ANCHOR_TALLY)
			tallies.push_back(frames[0]);
		const size_t block = one.kind == DFR_ANCHOR_RING ? std::max<size_t>(one.unit / 4096, 1) : 1;
		const size_t most = DFR_ANCHOR_RUNS_MAX / block * block;
		for (size_t from = 0; from < pages; from += most) {
			Memory::Anchor anchor{.kind = one.kind,
			                      .cpu = one.cpu,
			                      .half = one.half,
			                      .part = part_of(one),
			                      .state_id = state_id_,
			                      .generation = ++generation_,
			                      .unit = static_cast<uint32_t>(one.unit),
			                      .exact_boot = boot_};
			for (size_t i = from; i < std::min(pages, from + most); i++)
				anchor.frames.push_back(frames[i]);
			for (unsigned copy = 0; copy < 2; copy++) {
				anchors.push_back(anchor.pfn = next_++);
				memory.anchor(anchor);
			}
		}
	}
	uint32_t part_of(const Listed& one) { return parts_[{one.kind, one.cpu, one.half}]++; }
	void note_unchecked(const Listed& one, const std::vector<uint64_t>& frames) {
		for (size_t at = 0; at < one.size; at += one.unit) {
			dfr_block head;
			std::memcpy(&head, one.memory + at, sizeof(head));
			if (one.kind != DFR_ANCHOR_CATALOG &&
			    !(one.kind == DFR_ANCHOR_RING && head.flags & DFR_BLOCK_SEALED))
				for (size_t i = at / 4096; i < (at + one.unit + 4095) / 4096; i++)
					unchecked.push_back(frames[i]);
		}
	}
	std::mt19937 random_{5};
	std::array<uint8_t, 16> boot_{};
	uint64_t state_id_ = 0, next_ = 64, generation_ = 0;
	std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> parts_;
};

// A record by where it stands, and what it says.
using Place = std::tuple<uint32_t, uint64_t, uint32_t>; // cpu, block, offset
struct Said {
	uint64_t time;
	uint32_t epid;
	std::vector<uint64_t> numbers;
	bool operator==(const Said&) const = default;
};

struct Harvest {
	std::map<Place, Said> records;
	std::set<std::pair<uint32_t, uint64_t>> sealed; // blocks
	std::map<std::vector<std::byte>, std::vector<uint64_t>> counts;
	trace::Verdict verdict;
	trace::Catalog catalog;
	size_t recordings = 0;
};

Harvest harvest(const std::vector<std::byte>& file, const trace::Catalog* lent = nullptr) {
	char path[] = "/tmp/dfr-damage-XXXXXX";
	const int fd = mkstemp(path);
	REQUIRE(fd >= 0);
	close(fd);
	std::ofstream(path, std::ios::binary)
	    .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
	Harvest result;
	try {
		const auto found = recorder::open_memory_image(path, lent);
		result.catalog = found[0]->catalog();
		recorder::ImageSource& source = *found[0];
		result.recordings = found.size();
		trace::Merger merger(source);
		merger.run([&](const trace::Record& record) {
			Said said{record.time, record.epid, {}};
			for (const trace::Value& value : record.fields)
				said.numbers.push_back(value.number);
			result.records[{record.cpu, record.seq, record.offset}] = said;
			return true;
		});
		result.verdict = trace::judge(source, merger);
		for (const trace::BlockRef& ref : source.index())
			if (ref.head.flags & DFR_BLOCK_SEALED)
				result.sealed.emplace(ref.head.cpu, ref.head.seq);
		for (const trace::AggEntry& entry : source.aggregations())
			result.counts[entry.key] = entry.words;
	} catch (const Error&) {
		result.verdict.complete = false; // no recording is left, or no memory: it is said
	}
	unlink(path);
	return result;
}

const Image& sample() {
	static const Image image;
	return image;
}
const Harvest& undamaged() {
	static const Harvest whole = harvest(sample().memory.elf());
	return whole;
}

using Damage = void (*)(std::mt19937&, Memory&); // null: the file is cut

std::vector<uint64_t> frames_of(const Memory& memory) {
	std::vector<uint64_t> frames;
	for (const auto& [pfn, page] : memory.pages)
		frames.push_back(pfn);
	return frames;
}

// A page that has checksums: what is changed in others may change in silence.
Memory::Page& checked_page(std::mt19937& random, Memory& memory) {
	const std::vector<uint64_t> frames = frames_of(memory);
	const std::vector<uint64_t>& unchecked = sample().unchecked;
	for (;;) {
		const uint64_t frame = frames[random() % frames.size()];
		if (std::find(unchecked.begin(), unchecked.end(), frame) == unchecked.end())
			return memory.page(frame);
	}
}

void flip_bits(std::mt19937& random, Memory& memory) {
	for (unsigned left = 1 + random() % 64; left; left--)
		checked_page(random, memory)[random() % 4096] ^= std::byte(1u << random() % 8);
}
// In each block one entry of the restart table names the place of another one.
void move_entries(std::mt19937& random, Memory& memory) {
	for (auto& named : memory.pages) {
		auto& page = named.second;
		dfr_block head;
		std::memcpy(&head, page.data(), sizeof(head));
		if (!trace::header_is_sane(head))
			continue;
		const auto record_of = [&](uint32_t entry) {
			return page.data() + sizeof(head) + entry * sizeof(dfr_restart) +
			       offsetof(dfr_restart, record);
		};
		const uint32_t entries = trace::restart_count(head);
		const auto from = record_of(static_cast<uint32_t>(random() % entries));
		std::memcpy(record_of(static_cast<uint32_t>(random() % entries)), from, sizeof(uint32_t));
	}
}
void put_noise(std::mt19937& random, Memory& memory) {
	for (unsigned left = 1 + random() % 5; left; left--)
		for (std::byte& byte : checked_page(random, memory))
			byte = std::byte(random());
}
void lose_lines(std::mt19937& random, Memory& memory) {
	for (unsigned left = 1 + random() % 32; left; left--)
		std::fill_n(checked_page(random, memory).begin() + random() % 64 * 64, 64, std::byte{0});
}
void wipe_pages(std::mt19937& random, Memory& memory) {
	const std::vector<uint64_t> frames = frames_of(memory);
	for (unsigned left = 1 + random() % 5; left; left--)
		std::fill_n(memory.page(frames[random() % frames.size()]).begin(), 4096, std::byte{0});
}
void drop_pages(std::mt19937& random, Memory& memory) {
	const std::vector<uint64_t> frames = frames_of(memory);
	for (unsigned left = 1 + random() % 5; left; left--)
		memory.pages.erase(frames[random() % frames.size()]);
}

// A block's pages have what another block's have: a dump whose descriptors are damaged. Checksums are right there, too.
void copy_blocks(std::mt19937& random, Memory& memory) {
	std::vector<uint64_t> blocks;
	for (const auto& [pfn, page] : memory.pages) {
		dfr_block head;
		std::memcpy(&head, page.data(), sizeof(head));
		if (trace::header_is_sane(head) && memory.pages.contains(pfn + 1))
			blocks.push_back(pfn);
	}
	for (unsigned left = 1 + random() % 5; left; left--) {
		const uint64_t from = blocks[random() % blocks.size()], to = blocks[random() % blocks.size()];
		for (const uint64_t page : {0, 1})
			memory.page(to + page) = memory.page(from + page);
	}
}
// Each of a run of pages has what the next one has: a bit of the map is lost.
void move_pages(std::mt19937& random, Memory& memory) {
	const std::vector<uint64_t> frames = frames_of(memory);
	const size_t from = random() % frames.size();
	const size_t to = std::min<size_t>(frames.size() - 1, from + 1 + random() % 64);
	for (size_t i = from; i < to; i++)
		memory.page(frames[i]) = memory.page(frames[i + 1]);
}

bool lacks_something(const Harvest& damaged) {
	const Harvest& whole = undamaged();
	return damaged.counts != whole.counts ||
	       std::any_of(whole.records.begin(), whole.records.end(),
	                   [&](const auto& record) { return !damaged.records.contains(record.first); });
}

uint64_t wrong_in_sealed(const Harvest& damaged) {
	const Harvest& whole = undamaged();
	uint64_t wrong = 0;
	for (const auto& [place, said] : damaged.records) {
		if (!damaged.sealed.contains({std::get<0>(place), std::get<1>(place)}))
			continue;
		const auto truth = whole.records.find(place);
		wrong += truth == whole.records.end() || !(truth->second == said);
	}
	return wrong;
}

} // namespace

TEST_CASE("an image of the engine's own memory gives all of it", "[recorder][image][damage]") {
	const Harvest& whole = undamaged();
	CHECK(whole.verdict.complete);
	CHECK(whole.verdict.reasons.empty());
	CHECK(whole.recordings == 1);
	CHECK(whole.records.size() > 5'000);
	CHECK(whole.sealed.size() > 20);
	uint64_t writes = 0;
	for (const auto& [key, words] : whole.counts)
		writes += words.at(0);
	CHECK(writes == 60'300 / 4);
}

TEST_CASE("damage is told, and what is left is right", "[recorder][image][damage]") {
	const char* const seed_text = std::getenv("DFR_SEED");
	const auto seed = static_cast<uint32_t>(seed_text ? std::strtoul(seed_text, nullptr, 0) : 1);
	constexpr unsigned rounds = 60;
	const std::pair<const char*, Damage> kinds[] = {
	    {"flipped bits", flip_bits},     {"noise", put_noise},        {"lost lines", lose_lines},
	    {"moved entries", move_entries}, {"wiped pages", wipe_pages}, {"dropped pages", drop_pages},
	    {"copied blocks", copy_blocks},  {"moved pages", move_pages}, {"cut", nullptr}};
	const size_t all = undamaged().records.size();
	for (const auto& [name, damage] : kinds) {
		uint64_t left = 0;
		for (unsigned round = 0; round < rounds; round++) {
			std::mt19937 random(seed * 1000 + round);
			Memory memory = sample().memory;
			if (damage)
				damage(random, memory);
			std::vector<std::byte> file = memory.elf();
			if (!damage)
				file.resize(random() % file.size());
			const Harvest damaged = harvest(file);
			INFO(name << ", DFR_SEED=" << seed << ", round " << round);
			CHECK(wrong_in_sealed(damaged) == 0);
			const bool silent = damaged.verdict.complete && lacks_something(damaged);
			CHECK_FALSE(silent);
			left += damaged.records.size();
		}
		// Most of the memory is intact, and so is most of what comes out of it.
		if (damage)
			CHECK(100 * left / (all * rounds) > 70);
	}
}

TEST_CASE("a wrong bit in the head of an aggregation table is told, or costs nothing",
          "[recorder][image][damage]") {
	REQUIRE(sample().heads.size() == 5); // the base table, two halves of two CPUs
	unsigned told = 0;
	for (const uint64_t frame : sample().heads)
		for (const size_t field : {offsetof(dfr_aggtab, generation), offsetof(dfr_aggtab, used)})
			for (const unsigned bit :
			     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 31, 32, 63}) {
				Memory memory = sample().memory;
				memory.page(frame)[field + bit / 8] ^= std::byte(1u << bit % 8);
				const Harvest damaged = harvest(memory.elf());
				told += !damaged.verdict.complete;
				CAPTURE(frame, field, bit);
				CHECK((!damaged.verdict.complete || damaged.counts == undamaged().counts));
			}
	CHECK(told > 80);
}

// formats/abi/tally.h: marks.
TEST_CASE("a line that the engine's counters of losses have lost is told", "[recorder][image][damage]") {
	REQUIRE(sample().tallies.size() == 3);
	for (const uint64_t frame : sample().tallies)
		for (size_t line = 0; line < (sizeof(dfr_tally) + 63) / 64; line++) {
			Memory memory = sample().memory;
			std::fill_n(memory.page(frame).begin() + static_cast<long>(64 * line), 64,
			            std::byte{0});
			const Harvest damaged = harvest(memory.elf());
			CAPTURE(frame, line);
			CHECK_FALSE(damaged.verdict.complete);
			CHECK(damaged.records == undamaged().records);
		}
}

TEST_CASE("what is lost of a catalog is lent by another recording of the state, and of no other",
          "[recorder][image][damage]") {
	Memory memory = sample().memory;
	for (const uint64_t frame : sample().catalog)
		memory.pages.erase(frame);
	const std::vector<std::byte> file = memory.elf();
	const Harvest alone = harvest(file);
	CHECK(alone.records.empty());
	CHECK_FALSE(alone.verdict.complete);
	trace::Catalog lender = undamaged().catalog;
	const Harvest with = harvest(file, &lender);
	CHECK(with.records == undamaged().records);
	CHECK(with.counts == undamaged().counts);
	CHECK_FALSE(with.verdict.complete); // nobody knows whether what was lent is all that there was
	// Without anchors nothing but its blocks tells which state it was, and no more of the boot than their ids have.
	for (const uint64_t frame : sample().anchors)
		memory.pages.erase(frame);
	const std::vector<std::byte> bare = memory.elf();
	CHECK(harvest(bare).records.empty());
	const Harvest loose = harvest(bare, &lender);
	CHECK(100 * loose.records.size() > 90 * undamaged().records.size());
	CHECK(wrong_in_sealed(loose) == 0);
	CHECK_FALSE(loose.verdict.complete);
	CHECK(loose.catalog.boot_id == lender.boot_id);
	lender.machine[trace::kRedactedKey] = "inputs";
	CHECK(harvest(file, &lender).recordings == 0); // refused
	lender.machine.erase(trace::kRedactedKey);
	lender.state_id++;
	CHECK(harvest(file, &lender).recordings == 0); // refused
	CHECK(harvest(bare, &lender).recordings == 0);
	lender.state_id--;
	lender.boot_id[0]++;
	CHECK(harvest(bare, &lender).recordings == 0);
}

} // namespace recorder_damage_test
