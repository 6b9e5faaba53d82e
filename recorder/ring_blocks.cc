// SPDX-License-Identifier: GPL-2.0
//
// Finding and checking the blocks. Only headers are kept; load() reads a block again
// when a reader asks for it, so that large dumps need little memory.
//
// A ring's blocks bear numbers without gaps, and each header says how many records were
// before it and when the last one was. So a header whose checksum is wrong takes these
// from its neighbours, and two that contradict each other are told.
#include "recorder/ring_blocks.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "formats/trace/counted.h"
#include "formats/trace/decode.h"

namespace dfr::recorder {
namespace {

using trace::plural;

constexpr uint64_t kUnsoundNamed = 32; // intervals, and gaps
constexpr uint64_t kPlaceTakes = 384;  // bytes of our memory for each block, with what vectors have to spare
constexpr uint64_t kMendsMost = 1024;  // headers of a recording, each with
constexpr uint32_t kBeforeMost = 4096; // so many bytes' checksum for each of its bits

bool adjacent(const trace::BlockRef& a, const trace::BlockRef& b) {
	return a.head.cpu == b.head.cpu && a.head.seq + 1 == b.head.seq;
}

void store_head(trace::Block& block, const dfr_block& head) {
	std::memcpy(block.bytes.data(), &head, sizeof(head));
}

} // namespace

void RingBlocks::find(const AnchorGroup& group, const trace::Catalog& catalog, bool anchors_missing,
                      std::span<const uint64_t> loose, uint64_t died, ImageBudget& budget) {
	catalog_ = &catalog;
	budget_ = &budget;
	anchors_missing_ = anchors_missing;
	state_id_ = catalog.state_id;
	for (const auto& [key, anchor] : group.anchors)
		if (key.kind == DFR_ANCHOR_RING)
			find_of(anchor);
	anchored_ = places_.size();
	if (anchors_missing) {
		std::set<uint64_t> known;
		for (const BlockPlace& place : places_)
			known.insert(place.extent.frames[0] * kPage + place.extent.within);
		for (const uint64_t address : loose)
			if (!known.contains(address))
				add_loose(address);
	}
	listed_ = {};
	order();
	tell();
	set_held_apart();
	judge_given_back(died);
	catalog_ = nullptr;
	budget_ = nullptr;
}

// The runs of one anchor, laid end to end, hold whole blocks.
void RingBlocks::find_of(const FoundAnchor& anchor) {
	const uint32_t size = anchor.runs.empty() ? 0 : anchor.runs[0].offset;
	if (size < DFR_BLOCK_MIN || size > DFR_BLOCK_MAX || (size & (size - 1))) {
		lose(odd_anchors_, "an anchor of the ring of CPU " + std::to_string(anchor.cpu) +
		                       " has blocks of " + std::to_string(size) + " bytes");
		return;
	}
	missing_[anchor.cpu].damaged += each_unit(anchor, *memory_, size, listed_, [&](MemoryExtent extent) {
		anchored_blocks_[anchor.cpu]++;
		add(std::move(extent), size, anchor.cpu, true);
	});
}

void RingBlocks::add(MemoryExtent extent, uint32_t size, uint32_t cpu, bool anchored) {
	settle<dfr_block>(*memory_, extent, [this, cpu](const dfr_block& there) {
		return there.magic == DFR_BLOCK_FRESH ||
		       (there.magic == DFR_BLOCK_MAGIC && there.state_id == state_id_ && there.cpu == cpu);
	});
	trace::Block block;
	block.bytes.resize(size);
	dfr_block head;
	if (!memory_->read(extent.frames[0] * kPage + extent.within,
	                   std::as_writable_bytes(std::span(&head, 1)))) {
		missing_[cpu].absent++;
		return;
	}
	if (head.magic == DFR_BLOCK_MAGIC && !head.seq && head.version == DFR_BLOCK_VERSION &&
	    head.state_id == state_id_ && head.cpu == cpu && head.flags & DFR_BLOCK_CLOSED)
		given_back_.push_back({.cpu = cpu, .opened = head.open_time, .last = head.last_time});
	if (head.magic == DFR_BLOCK_FRESH || (head.magic == DFR_BLOCK_MAGIC && !head.seq))
		return; // never used, given back, or the engine was opening it when the machine died
	const bool is_right = trace::header_is_sane(head) && head.state_id == state_id_ && head.cpu == cpu &&
	                      head.size == size && head.open_time;
	uint64_t absent = 0;
	if (is_right)
		absent = read_extent(*memory_, extent,
		                     std::span(block.bytes).first(head.hdr_size + head.committed));
	store_head(block, head); // which may be all that there is of its page
	const bool has_checksums = head.checksum || head.flags & DFR_BLOCK_SEALED;
	if (is_right &&
	    (!has_checksums || (trace::block_is_sane(block.bytes) && trace::own_is_right(block.bytes)))) {
		// Nothing is to be mended.
	} else if (anchored && mend_head(extent, block, cpu)) {
		head = block.header();
	} else if (!is_right) {
		if (head.magic == DFR_BLOCK_MAGIC && head.version != DFR_BLOCK_VERSION && head.size == size)
			foreign_[head.version]++;
		else
			missing_[cpu].damaged++;
		return;
	}
	if (!budget_->keep(kPlaceTakes + 8 * extent.frames.size())) {
		missing_[cpu].left_out++;
		return;
	}
	const bool trusted = sound(block);
	name_damage(block);
	if (absent && !(head.flags & DFR_BLOCK_SEALED))
		lose(cut_, "CPU " + std::to_string(cpu) + ", block " + std::to_string(head.seq) + ": " +
		               plural(absent, "byte") + " are not in the image");
	refs_.push_back({.head = block.header(), .handle = places_.size()});
	places_.push_back({std::move(extent), trusted});
}

// A header that may be damaged. Much of it is known from the anchor, and the block's own checksum tells if one bit of the
// rest is wrong. If more is, the end of what was committed is tried as it stands and as far as it may be: with that the
// last interval alone is lost. False: that makes no interval sound that was not, and the block stays as it was.
bool RingBlocks::mend_head(const MemoryExtent& extent, trace::Block& block, uint32_t cpu) {
	const dfr_block was = block.header();
	if (!was.seq || ++mends_tried_ > kMendsMost || !budget_->mend())
		return false;
	trace::Block whole;
	whole.bytes.resize(block.bytes.size());
	read_extent(*memory_, extent, whole.bytes);
	const auto size = static_cast<uint32_t>(whole.bytes.size());
	dfr_block head = was;
	head.magic = DFR_BLOCK_MAGIC;
	head.version = DFR_BLOCK_VERSION;
	head.cpu = static_cast<uint16_t>(cpu);
	head.size = size;
	head.hdr_size = DFR_BLOCK_HDR_SIZE(size);
	head.state_id = state_id_;
	head.flags = DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED;
	const auto is_whole = [&whole](const dfr_block& with) {
		store_head(whole, with);
		return with.open_time && trace::block_is_sane(whole.bytes) &&
		       trace::own_is_right(whole.bytes, kBeforeMost);
	};
	bool found = is_whole(head);
	for (size_t bit = 0; bit < 8 * sizeof(head) && !found; bit++) {
		dfr_block flipped = head;
		std::as_writable_bytes(std::span(&flipped, 1))[bit / 8] ^= std::byte(1u << bit % 8);
		found = is_whole(flipped);
	}
	if (!found && was.version == DFR_BLOCK_VERSION) {
		const auto sound_with = [&](dfr_block with) {
			store_head(whole, with);
			return trace::block_is_sane(whole.bytes) ? trace::sound_intervals(whole.bytes) : 0;
		};
		// The checksums of intervals hold for any CPU, but as it stands the block would be nobody's.
		const bool fits =
		    was.cpu == cpu && was.state_id == state_id_ && was.size == size && was.open_time;
		size_t most = fits ? sound_with(was) : 0;
		dfr_block best = was;
		head.open_time = std::max<uint64_t>(head.open_time, 1); // mend() makes it anew
		for (const uint32_t committed : {head.committed, size - head.hdr_size}) {
			head.committed = committed;
			if (const size_t sound = sound_with(head); sound > most) {
				most = sound;
				best = head;
				found = true;
			}
		}
		store_head(whole, best);
	}
	if (found) {
		mended_++;
		block = std::move(whole);
	}
	return found;
}

// A block that no anchor lists: where its pages go on is not known. So what is sealed is right if its checksums
// are, and of what is not sealed only the page that it begins in is taken.
void RingBlocks::add_loose(uint64_t address) {
	dfr_block head;
	if (!memory_->read(address, std::as_writable_bytes(std::span(&head, 1))) ||
	    !trace::header_is_sane(head) || head.state_id != state_id_)
		return;
	MemoryExtent extent{.frames = {address / kPage}, .within = static_cast<uint32_t>(address % kPage)};
	if (head.flags & DFR_BLOCK_SEALED)
		for (uint64_t page = 1; page < head.size / kPage; page++)
			extent.frames.push_back(address / kPage + page);
	if (!budget_->read_loose(std::max<uint64_t>(head.size, kPage))) {
		missing_[head.cpu].left_out++;
		return;
	}
	loose_++;
	for (; extent.within < kPage; extent.within += head.size) {
		dfr_block next;
		if (memory_->read(address / kPage * kPage + extent.within,
		                  std::as_writable_bytes(std::span(&next, 1))) &&
		    trace::header_is_sane(next) && next.state_id == state_id_)
			add(extent, head.size, next.cpu, false); // anybody's page may look like one
	}
}

// Whether the header's counters are the engine's, as far as can be known. A block whose flag of being sealed was
// lost is right all the same if its checksums are.
bool RingBlocks::sound(trace::Block& block) const {
	block.verified = trace::block_is_verified(block.bytes);
	if (block.verified)
		return true;
	dfr_block head = block.header();
	if (!(head.flags & DFR_BLOCK_SEALED)) {
		if (!head.checksum)
			return true; // as it was before it was sealed
		head.flags |= DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED;
		store_head(block, head);
		block.verified = trace::block_is_verified(block.bytes);
		return block.verified;
	}
	const std::vector<trace::DamagedInterval> damage = trace::damaged_intervals(block.bytes);
	return damage.empty() || damage[0].from != 0;
}

void RingBlocks::name_damage(const trace::Block& block) {
	if (block.verified || !(block.header().flags & DFR_BLOCK_SEALED))
		return;
	for (const trace::DamagedInterval& lost : trace::damaged_intervals(block.bytes)) {
		if (++unsound_ > kUnsoundNamed)
			return;
		losses_.push_back("CPU " + std::to_string(block.header().cpu) + ", block " +
		                  std::to_string(block.header().seq) + ": bytes " +
		                  std::to_string(lost.from) + " to " + std::to_string(lost.to) +
		                  " are damaged: " + plural(lost.records, "record") + " after " +
		                  trace::time_text(*catalog_, lost.after) +
		                  (unsound_ == kUnsoundNamed ? "; more places are not named" : ""));
	}
}

// A crafted image may have any number of each kind of loss.
void RingBlocks::lose(uint64_t& told, const std::string& what) {
	if (++told <= kUnsoundNamed)
		losses_.push_back(what + (told == kUnsoundNamed ? "; more are not named" : ""));
}

// Of two that claim one number, the one whose header is trusted is kept, then the one that is closed, then the one
// that has more.
void RingBlocks::order() {
	const auto rank = [this](const trace::BlockRef& ref) {
		const bool closed = ref.head.flags & DFR_BLOCK_CLOSED;
		return std::tuple(ref.head.cpu, ref.head.seq, !places_[ref.handle].trusted, !closed,
		                  ~ref.head.committed, ref.handle);
	};
	std::sort(refs_.begin(), refs_.end(),
	          [&](const trace::BlockRef& a, const trace::BlockRef& b) { return rank(a) < rank(b); });
	const auto same = [this](const trace::BlockRef& a, const trace::BlockRef& b) {
		if (a.head.cpu != b.head.cpu || a.head.seq != b.head.seq)
			return false;
		// Of those that no anchor lists one may be a copy; a ring has each block once.
		const bool both_listed = a.handle < anchored_ && b.handle < anchored_;
		if (both_listed || std::memcmp(&a.head, &b.head, sizeof(a.head)) != 0)
			lose(twice_, "CPU " + std::to_string(a.head.cpu) +
			                 ": two blocks say that they are block " +
			                 std::to_string(a.head.seq) + ", one is left out");
		return true;
	};
	refs_.erase(std::unique(refs_.begin(), refs_.end(), same), refs_.end());
	for (size_t first = 0, end = 0; first < refs_.size(); first = end) {
		while (end < refs_.size() && refs_[end].head.cpu == refs_[first].head.cpu)
			end++;
		judge_chain(first, end);
	}
}

void RingBlocks::judge_chain(size_t first, size_t end) {
	for (size_t i = first; i < end; i++)
		if (!places_[refs_[i].handle].trusted)
			mend(i, first, end);
	for (size_t i = first; i + 1 < end; i++) {
		const dfr_block &one = refs_[i].head, &next = refs_[i + 1].head;
		if (!places_[refs_[i].handle].trusted || !places_[refs_[i + 1].handle].trusted)
			continue; // told already
		name_gap(one, next);
		// By their counters and times no block stands between the two.
		const bool join = one.flags & DFR_BLOCK_CLOSED && one.last_time == next.before &&
		                  one.record_base + one.records == next.record_base;
		if (join != adjacent(refs_[i], refs_[i + 1]) || next.record_base < one.record_base ||
		    next.lost < one.lost)
			lose(contradictions_, "CPU " + std::to_string(one.cpu) + ": the headers of blocks " +
			                          std::to_string(one.seq) + " and " +
			                          std::to_string(next.seq) + " contradict each other");
	}
}

// A consumer takes a block by putting a spare one in its place, and spares are made for the first one that does. So where anchors
// list no more blocks than a ring has, none was taken.
bool RingBlocks::none_was_taken(uint32_t cpu) const {
	const auto listed = anchored_blocks_.find(cpu);
	return !anchors_missing_ && listed != anchored_blocks_.end() && listed->second <= catalog_->blocks;
}

// Which blocks those are that are damaged or absent, by the two that stand beside them; or of which memory has what was there
// before, because lines of a cache did not come to it.
void RingBlocks::name_gap(const dfr_block& one, const dfr_block& next) {
	const MissingBlocks& missing = missing_[one.cpu];
	const uint64_t from = one.record_base + one.records;
	if ((missing.damaged + missing.absent == 0 && !none_was_taken(one.cpu)) || one.seq + 1 >= next.seq ||
	    from > next.record_base || ++gaps_ > kUnsoundNamed)
		return;
	const bool several = one.seq + 2 < next.seq;
	losses_.push_back(
	    "CPU " + std::to_string(one.cpu) + ": block" + (several ? "s " : " ") +
	    std::to_string(one.seq + 1) + (several ? " to " + std::to_string(next.seq - 1) + " are" : " is") +
	    " gone: " + plural(next.record_base - from, "record") + " between " +
	    trace::time_text(*catalog_, one.last_time) + " and " + trace::time_text(*catalog_, next.before) +
	    (gaps_ == kUnsoundNamed ? "; more are not named" : ""));
}

// A header with a wrong checksum gets its counters and times from the blocks beside it. Its number is right: the
// checksums of the intervals are made with it.
void RingBlocks::mend(size_t at, size_t first, size_t end) {
	dfr_block& head = refs_[at].head;
	const bool after = at > first && adjacent(refs_[at - 1], refs_[at]);
	const bool before =
	    at + 1 < end && adjacent(refs_[at], refs_[at + 1]) && places_[refs_[at + 1].handle].trusted;
	const dfr_block previous = after ? refs_[at - 1].head : dfr_block{};
	const dfr_block next = before ? refs_[at + 1].head : dfr_block{};
	if (after)
		head.record_base = previous.record_base + previous.records;
	else if (before)
		head.record_base = next.record_base - std::min<uint64_t>(next.record_base, head.records);
	if (before && next.record_base - head.record_base <= head.size)
		head.records = static_cast<uint32_t>(next.record_base - head.record_base);
	head.records = std::min(head.records, head.committed);
	head.lost = after ? previous.lost : 0; // the next block has what was lost in this one, too
	head.last_time = before ? next.before : 0;
	// Where the block before it is gone, the CPU is whole only behind this one.
	head.before = after ? previous.last_time : before ? next.before : head.before;
	head.open_time = head.first_time = head.before;
}

// A block that a consumer gives back loses its number. So what stands before a gap in the numbers was taken and not given
// back, what belongs into the gap was, and is in the consumer's file. Here the gap would be counted as loss, so everything
// before a CPU's last gap is given by itself. If anything is damaged or absent, a gap may come from that instead, so all
// blocks are kept together.
void RingBlocks::set_held_apart() {
	if (anchors_missing_ || !losses_.empty())
		return;
	std::vector<trace::BlockRef> kept;
	uint32_t held = UINT32_MAX; // the CPU whose older blocks are
	for (auto at = refs_.rbegin(); at != refs_.rend(); ++at) {
		const bool same_cpu = !kept.empty() && kept.back().head.cpu == at->head.cpu;
		if (same_cpu && (held == at->head.cpu || !adjacent(*at, kept.back()))) {
			held = at->head.cpu;
			held_.push_back(*at);
			continue;
		}
		kept.push_back(*at);
	}
	std::reverse(kept.begin(), kept.end());
	std::reverse(held_.begin(), held_.end());
	refs_ = std::move(kept);
	if (!held_.empty())
		remarks_.push_back(plural(held_.size(), "older block") +
		                   " that a consumer had taken and not given back: no part of this, and "
		                   "perhaps in no file");
}

// The latest time that anything in the memory may bear. Without a panic the clocks tell: from the first entry on the engine makes
// another one after a minute, then after twice that, and so on. UINT64_MAX: not known.
uint64_t RingBlocks::latest_possible(uint64_t died) const {
	if (!died) {
		if (catalog_->clocks.empty())
			return UINT64_MAX;
		constexpr uint64_t kClockLeast = 120'000'000'000;
		const uint64_t first = catalog_->clocks.front().mono, last = catalog_->clocks.back().mono;
		died = last + (last - std::min(first, last)) + kClockLeast;
	}
	for (const trace::BlockRef& ref : refs_)
		died = std::max<uint64_t>({died, ref.head.first_time, ref.head.last_time});
	return died;
}

// A block that was given back has no checksum that could be tried without its number. So its last time, which decides from where
// on the CPU is whole, is held against when it was opened, and against what stands there.
void RingBlocks::judge_given_back(uint64_t died) {
	if (given_back_.empty())
		return;
	std::map<uint32_t, uint64_t> oldest; // by CPU: the time before its blocks, from its last gap on
	for (size_t i = 0; i < refs_.size(); i++) {
		const dfr_block& head = refs_[i].head;
		if (i && adjacent(refs_[i - 1], refs_[i]))
			continue;
		oldest.erase(head.cpu);
		if (places_[refs_[i].handle].trusted)
			oldest.emplace(head.cpu, head.before);
	}
	const uint64_t latest = latest_possible(died);
	for (const GivenBack& one : given_back_) {
		const auto known = oldest.find(one.cpu);
		if (one.last >= one.opened && one.last <= (known == oldest.end() ? latest : known->second))
			whole_after_ = std::max(whole_after_, one.last);
		else
			lose(given_back_wrong_,
			     "CPU " + std::to_string(one.cpu) +
			         ": the header of a block that was given back is damaged, or that of the one "
			         "behind it");
	}
}

void RingBlocks::tell() {
	for (const trace::BlockRef& ref : refs_)
		open_ += !(ref.head.flags & DFR_BLOCK_CLOSED);
	if (open_)
		remarks_.push_back(plural(open_, "open block") + ", checked by structure only");
	if (mended_)
		remarks_.push_back(plural(mended_, "block") +
		                   " whose header was damaged and is mended by checksums");
	if (loose_)
		remarks_.push_back(plural(loose_, "page") +
		                   " with blocks that no anchor lists; what is sealed in them is right");
	for (const auto& [cpu, missing] : missing_) {
		const std::string of = " of CPU " + std::to_string(cpu);
		if (missing.damaged)
			losses_.push_back(plural(missing.damaged, "damaged block") + of);
		if (missing.absent)
			losses_.push_back(plural(missing.absent, "block") + of + " not in the image");
		if (missing.left_out)
			losses_.push_back(
			    plural(missing.left_out, "block") + of +
			    " left out: there are more than who reads them has memory or time for");
	}
	for (const auto& [version, blocks] : foreign_)
		losses_.push_back(plural(blocks, "block") + " of version " + std::to_string(version) +
		                  ", which this dfr does not read (it reads version " +
		                  std::to_string(DFR_BLOCK_VERSION) + ")");
}

trace::Block RingBlocks::load(const trace::BlockRef& ref) const {
	trace::Block block;
	block.bytes.resize(ref.head.hdr_size + ref.head.committed);
	read_extent(*memory_, places_[ref.handle].extent, block.bytes);
	store_head(block, ref.head);
	block.verified = trace::block_is_verified(block.bytes);
	return block;
}

} // namespace dfr::recorder
