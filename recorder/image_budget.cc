// SPDX-License-Identifier: GPL-2.0
#include "recorder/image_budget.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace dfr::recorder {
namespace {

// A dump that is cut, or leaves pages out, lists more than it has.
constexpr uint64_t kPagesLeast = 1 << 18, kWorkLeast = 8 << 20;
constexpr uint64_t kLooseLeast = 1 << 30; // bytes: some seconds' work
constexpr uint64_t kMendsMost = 8192;

} // namespace

ImageBudget::ImageBudget(const PhysicalMemory& memory, uint64_t heap)
    : pages_(kPagesLeast + 4 * (memory.bytes() / kPage)), work_(kWorkLeast + 4 * memory.bytes()), heap_(heap),
      loose_(std::max(kLooseLeast, memory.bytes() / 4)), mends_(kMendsMost) {}

bool ImageBudget::take(uint64_t& left, uint64_t wanted) {
	if (wanted > left)
		return false;
	left -= wanted;
	return true;
}

bool ImageBudget::list_pages(const ModuleLoad& load, uint64_t pages) {
	uint64_t& listed = listed_[load];
	if (pages > pages_ - listed)
		return false;
	listed += pages;
	return true;
}

uint64_t heap_to_spare() {
	std::ifstream file("/proc/meminfo");
	std::string word;
	uint64_t kib = 0;
	while (file >> word)
		if (word == "MemAvailable:" && file >> kib)
			break;
	return kib ? kib * 1024 / 2 : 64 << 20;
}

} // namespace dfr::recorder
