// SPDX-License-Identifier: GPL-2.0
//
// The heads of reserved memory's areas (kmod/linux/reserved_heads.h): which area a boot takes and which one it
// leaves, whatever a boot before has left of a write.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "analyze/engine/engine_c.h"

extern "C" {
#include "kmod/linux/reserved_heads.h"
}

namespace reserved_test {

namespace {

// Two areas, each with two heads.
struct Region {
	std::array<std::array<dfr_reserved_head, 2>, 2> heads{};

	dfr_reserved_areas boot(uint8_t id) const {
		dfr_reserved_areas areas{};
		areas.ra_address = 0x30000000;
		areas.ra_bytes = 1 << 24;
		std::memset(areas.ra_boot_id, id, sizeof(areas.ra_boot_id));
		const void* const at[2][2] = {{&heads[0][0], &heads[0][1]}, {&heads[1][0], &heads[1][1]}};
		dfr_reserved_find(&areas, at);
		return areas;
	}
	// As the module does: the boot takes its area. `bytes` of what that writes to the heads come to the memory.
	dfr_reserved_areas take(uint8_t id, size_t bytes = SIZE_MAX) {
		const dfr_reserved_areas areas = boot(id);
		const dfr_reserved_head erased{}, head = dfr_reserved_head_of(&areas);
		for (const dfr_reserved_head* now : {&erased, &head})
			for (dfr_reserved_head& copy : heads[areas.ra_mine]) {
				const size_t part = std::min(bytes, sizeof(copy));
				std::memcpy(&copy, now, part);
				bytes -= part;
			}
		return areas;
	}
};

} // namespace

TEST_CASE("boots take the areas of reserved memory in turn", "[reserved]") {
	Region region;
	CHECK(region.boot(1).ra_old == -1);
	CHECK(region.take(1).ra_mine == 0);
	CHECK(region.boot(1).ra_mine == 0); // the module was loaded again
	CHECK(region.boot(1).ra_old == -1);
	CHECK(region.boot(2).ra_old == 0); // who takes nothing changes nothing
	CHECK(region.boot(3).ra_old == 0);
	for (uint8_t id = 4; id < 40; id++) {
		const int before = region.boot(id).ra_old;
		const dfr_reserved_areas areas = region.take(id);
		REQUIRE(areas.ra_old == before);
		REQUIRE(static_cast<int>(areas.ra_mine) == 1 - before);
		REQUIRE(region.boot(id).ra_old == before);
		REQUIRE(region.boot(id + 1).ra_old == static_cast<int>(areas.ra_mine));
	}
}

TEST_CASE("a boot that dies while it takes an area leaves that of the boot before", "[reserved]") {
	for (size_t bytes = 0; bytes <= 4 * sizeof(dfr_reserved_head); bytes++) {
		Region region;
		region.take(1);
		region.take(2);
		const dfr_reserved_areas third = region.take(3, bytes);
		REQUIRE(third.ra_old == 1);
		const dfr_reserved_areas next = region.boot(4);
		// Its own head is there, as a whole, or the area is free again.
		const bool whole = bytes >= 3 * sizeof(dfr_reserved_head);
		REQUIRE(next.ra_old == (whole ? 0 : 1));
	}
}

TEST_CASE("one damaged head of an area costs nothing, and no damage a foreign area", "[reserved]") {
	std::mt19937 random(1);
	for (int round = 0; round < 2000; round++) {
		Region region;
		region.take(1);
		region.take(2);
		const uint32_t area = random() % 2, copy = random() % 2,
		               bit = random() % (8 * sizeof(dfr_reserved_head));
		auto* bytes = reinterpret_cast<uint8_t*>(&region.heads[area][copy]);
		bytes[bit / 8] ^= 1u << (bit % 8);
		REQUIRE(region.boot(3).ra_old == 1);
		REQUIRE(region.boot(3).ra_mine == 0);
		// Both heads of the newest are gone: its area is no recording any more, and the older one is not taken.
		region.heads[1] = {};
		REQUIRE(region.boot(3).ra_mine == 1);
		REQUIRE(region.boot(3).ra_old == 0);
	}
}

TEST_CASE("heads that say that the area was written back are the same area's", "[reserved]") {
	Region region;
	const dfr_reserved_areas areas = region.take(1);
	const dfr_reserved_head last = dfr_reserved_last_head_of(&areas);
	CHECK(last.written_back == 1);
	CHECK(region.heads[0][0].written_back == 2);
	for (size_t copies = 1; copies <= 2; copies++) { // a reset may come between the two
		region.heads[0][copies - 1] = last;
		CHECK(region.boot(2).ra_old == 0);
		CHECK(region.boot(2).ra_mine == 1);
	}
}

TEST_CASE("a head of another region, place or version is none", "[reserved]") {
	Region region;
	region.take(1);
	const dfr_reserved_head good = region.heads[0][0];
	const auto with = [&](auto change) {
		dfr_reserved_head head = good;
		change(head);
		head.checksum = dfr_reserved_checksum(&head);
		region.heads[0] = {head, head};
		return region.boot(2).ra_old;
	};
	CHECK(with([](dfr_reserved_head&) {}) == 0);
	CHECK(with([](dfr_reserved_head& head) { head.address += 4096; }) == -1);
	CHECK(with([](dfr_reserved_head& head) { head.bytes *= 2; }) == -1);
	CHECK(with([](dfr_reserved_head& head) { head.area = 1; }) == -1);
	CHECK(with([](dfr_reserved_head& head) { head.version++; }) == -1);
}

TEST_CASE("whatever turn a head has, the boots behind it take the areas in turn", "[reserved]") {
	constexpr uint64_t half = UINT64_MAX / 2;
	for (const uint64_t turn : {UINT64_MAX, UINT64_MAX - 1, half, half + 1, half + 2}) {
		Region region;
		region.take(1);
		region.take(2);
		for (dfr_reserved_head& head : region.heads[1]) {
			head.turn = turn;
			head.checksum = dfr_reserved_checksum(&head);
		}
		region.take(3);
		for (uint8_t id = 4; id < 10; id++) {
			const dfr_reserved_areas areas = region.take(id);
			REQUIRE(region.boot(id + 1).ra_old == static_cast<int>(areas.ra_mine));
			REQUIRE(areas.ra_old == 1 - static_cast<int>(areas.ra_mine));
		}
	}
}

} // namespace reserved_test
