// SPDX-License-Identifier: GPL-2.0
//
// Copying blocks while their CPUs write on.
#include "recorder/snapshot.h"

#include <algorithm>
#include <thread>

#include "formats/clock.h"
#include "recorder/drain.h"

namespace dfr::recorder {
namespace {

// How often to look for blocks that were closed: a ring of two blocks that fills in this time is overtaken.
constexpr std::chrono::milliseconds kLookEvery{50};
constexpr size_t kUnwrittenMost = 32 << 20;
constexpr size_t kPiece = 512 << 10; // written between two looks

struct UncopiedBlock {
	uint32_t cpu = 0;
	dfr_ioc_seen seen{};
	// Open ones, which are overwritten last, stand behind all others.
	uint64_t age() const { return seen.last_time ? seen.last_time : UINT64_MAX; }
};

} // namespace

void Snapshot::copy(uint32_t cpu, const dfr_ioc_seen& seen) {
	uint64_t& last = copied_[cpu];
	std::optional<trace::Block> block = session_.look(cpu, seen);
	if (!block)
		return; // overwritten: the next one shows the gap
	if (last && seen.seq > last + 1)
		overtaken_ += seen.seq - last - 1;
	last = seen.seq;
	unwritten_bytes_ += block->bytes.size();
	unwritten_.push_back(std::move(*block));
	if (unwritten_bytes_ >= kUnwrittenMost)
		write(unwritten_bytes_);
}

// The oldest of the copies, so many bytes of them.
void Snapshot::write(size_t bytes) {
	const trace::Catalog& catalog = session_.catalog(); // with all that the records need
	for (size_t written = 0; written < bytes && !unwritten_.empty(); unwritten_.pop_front()) {
		trace::Block& block = unwritten_.front();
		written += block.bytes.size();
		unwritten_bytes_ -= block.bytes.size();
		session_.seal(block);
		blocks_++;
		records_ += block.header().records;
		writer_.block(block);
		names_.block(block, catalog);
	}
}

// Blocks that were not copied yet and have records from `from` on; with the open ones, also the last one of each CPU, which
// tells since when the CPU has been silent.
Snapshot::Lists Snapshot::copy_all(uint64_t from, bool open_too) {
	Lists lists;
	std::vector<UncopiedBlock> waiting;
	for (uint32_t cpu = 0; cpu < session_.catalog().cpus; cpu++) {
		lists.push_back(session_.blocks(cpu));
		const std::vector<dfr_ioc_seen>& seen = lists.back().blocks;
		for (const dfr_ioc_seen& block : seen) {
			const bool open = !block.last_time;
			const bool wanted =
			    open ? open_too : block.last_time >= from || (open_too && &block == &seen.back());
			const auto at = copied_.find(cpu);
			if (wanted && (at == copied_.end() || block.seq > at->second))
				waiting.push_back({cpu, block});
		}
	}
	std::stable_sort(waiting.begin(), waiting.end(),
	                 [](const UncopiedBlock& a, const UncopiedBlock& b) { return a.age() < b.age(); });
	for (const UncopiedBlock& block : waiting)
		copy(block.cpu, block.seen);
	return lists;
}

// Of each CPU whose newest block is not in the file: its owner has taken all that it had, or what was listed has been
// overwritten or given back since. Without this the file would say that the CPU was silent.
void Snapshot::write_ends(const Lists& lists) {
	for (const DeviceSession::RingList& list : lists) {
		const auto at = copied_.find(list.cpu.cpu);
		const uint64_t last = at == copied_.end() ? 0 : at->second;
		if (list.cpu.newest <= last)
			continue;
		if (last)
			overtaken_ += list.cpu.newest - last;
		trace::Block block = session_.end_of(list);
		session_.seal(block);
		writer_.block(block);
	}
}

void Snapshot::take(const SnapshotSpan& span, const std::function<bool()>& going) {
	trigger_ = span.trigger ? span.trigger : now_ns();
	const auto last = static_cast<uint64_t>(span.last.count());
	const uint64_t from = last && last < trigger_ ? trigger_ - last : 0;
	const uint64_t end = trigger_ + static_cast<uint64_t>(span.after.count());
	while (now_ns() < end && going()) {
		copy_all(from, false);
		if (unwritten_.empty())
			std::this_thread::sleep_for(kLookEvery);
		else
			write(kPiece);
	}
	// Asked first: what ends meanwhile may have recorded behind it.
	const bool goes_on = trace::end_is_to_come(session_.status());
	const uint64_t until = session_.mark(); // the list of each CPU's blocks has what was recorded by then
	const Lists lists = copy_all(from, true);
	const std::vector<trace::AggEntry> aggregations = session_.aggregations();
	write(unwritten_bytes_);
	write_ends(lists);
	account_for(session_, writer_, names_, types_, aggregations, until);
	writer_.finish(goes_on);
}

} // namespace dfr::recorder
