// SPDX-License-Identifier: GPL-2.0
//
// The blocks of a dead machine's rings: those that anchors list and, where anchors
// are missing, those that are found by their headers alone. What a block's header
// says is checked against its checksum and against the blocks beside it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/trace/source.h"
#include "recorder/extent.h"
#include "recorder/image_budget.h"

namespace dfr::recorder {

class RingBlocks {
public:
	explicit RingBlocks(std::shared_ptr<const PhysicalMemory> memory) : memory_(std::move(memory)) {}

	// `loose`: where pages begin with the header of a block of this state; read if anchors are missing. `died`: when the
	// machine panicked; 0: not known.
	void find(const AnchorGroup& group, const trace::Catalog& catalog, bool anchors_missing,
	          std::span<const uint64_t> loose, uint64_t died, ImageBudget& budget);

	// By (cpu, seq); a handle is an index of the places.
	const std::vector<trace::BlockRef>& refs() const { return refs_; }
	// Those that a consumer had taken and not given back, which are not among these: who took them may have stored
	// them, or died with them.
	const std::vector<trace::BlockRef>& held() const { return held_; }
	size_t places() const { return places_.size(); }
	trace::Block load(const trace::BlockRef& ref) const;
	bool damaged() const { return !losses_.empty(); }
	// The last record of a block that a consumer has given back, which only its header tells; 0: there is none. A CPU
	// without another block has it from no other source.
	uint64_t whole_after() const { return whole_after_; }
	const std::vector<std::string>& losses() const { return losses_; } // what is missing or wrong
	const std::vector<std::string>& remarks() const { return remarks_; }

private:
	struct BlockPlace {
		MemoryExtent extent;
		bool trusted = true; // false: the header's counters are not the engine's
	};
	struct MissingBlocks {
		uint64_t damaged = 0, absent = 0, left_out = 0;
	};
	struct GivenBack {
		uint32_t cpu = 0;
		uint64_t opened = 0, last = 0;
	};
	void find_of(const FoundAnchor& anchor);
	void add(MemoryExtent extent, uint32_t size, uint32_t cpu, bool anchored);
	void add_loose(uint64_t address);
	bool mend_head(const MemoryExtent& extent, trace::Block& block, uint32_t cpu);
	bool sound(trace::Block& block) const;
	void name_damage(const trace::Block& block);
	void lose(uint64_t& told, const std::string& what);
	void order();
	void judge_chain(size_t first, size_t end);
	bool none_was_taken(uint32_t cpu) const;
	void name_gap(const dfr_block& one, const dfr_block& next);
	void mend(size_t at, size_t first, size_t end);
	void set_held_apart();
	uint64_t latest_possible(uint64_t died) const;
	void judge_given_back(uint64_t died);
	void tell();

	std::shared_ptr<const PhysicalMemory> memory_;
	const trace::Catalog* catalog_ = nullptr; // during find()
	uint64_t state_id_ = 0;
	bool anchors_missing_ = false;
	ImageBudget* budget_ = nullptr; // during find(), too
	FrameSet listed_;               // of each_unit(), likewise
	std::vector<trace::BlockRef> refs_, held_;
	std::vector<BlockPlace> places_;
	size_t anchored_ = 0; // of these, the first are those that anchors list
	std::map<uint32_t, uint64_t> anchored_blocks_;
	std::map<uint32_t, MissingBlocks> missing_; // by CPU
	std::map<uint32_t, uint64_t> foreign_;      // blocks of other versions, by version
	std::vector<GivenBack> given_back_;         // blocks, to a consumer
	uint64_t whole_after_ = 0;
	uint64_t open_ = 0, loose_ = 0, mended_ = 0, mends_tried_ = 0, unsound_ = 0, gaps_ = 0, twice_ = 0,
	         contradictions_ = 0, given_back_wrong_ = 0, odd_anchors_ = 0, cut_ = 0;
	std::vector<std::string> losses_, remarks_;
};

} // namespace dfr::recorder
