// SPDX-License-Identifier: GPL-2.0
//
// Blocks that several recordings hold: a dfrd that is killed between its write and
// its sync leaves blocks in its file which the engine gives to the next owner, too.
// Asked one after the other, the files answer for each block once: the first that
// could be read. Which file comes first is the caller's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "formats/trace/source.h"

namespace dfr::trace {

// The blocks that were given so far, over all recordings.
class GivenBlocks {
public:
	size_t add_source(std::string name) {
		names_.push_back(std::move(name));
		return names_.size() - 1;
	}
	// This source gives the block now. Which has given it first?
	size_t first_giver(const Catalog& catalog, const dfr_block& head, size_t source);
	// Which source has given it; nullopt: none so far.
	std::optional<size_t> giver(const Catalog& catalog, const dfr_block& head) const;
	const std::string& name(size_t source) const { return names_[source]; }

private:
	// Boot, state, CPU and sequence number; the time and the length, since a state in a process has
	// the same number as another process's, and since a block may have grown.
	using Key = std::tuple<std::array<uint8_t, 16>, uint64_t, uint32_t, uint64_t, uint64_t, uint32_t>;
	static Key key_of(const Catalog& catalog, const dfr_block& head);
	std::map<Key, size_t> given_;
	std::vector<std::string> names_;
};

// A source without the blocks that earlier ones have given.
class UnrepeatedSource final : public BlockSource {
public:
	UnrepeatedSource(BlockSource& source, GivenBlocks& given)
	    : source_(source), given_(given), number_(given.add_source(source.name())) {}

	// "3 blocks are in a.dfr, too, and answered for there"; empty: there were none.
	std::string remark() const;

	const Catalog& catalog() override { return source_.catalog(); }
	std::optional<Block> next() override;
	std::vector<BlockRef> index() override;
	std::optional<Block> load(const BlockRef& ref) override;
	std::vector<AggEntry> aggregations() override { return source_.aggregations(); }
	std::optional<AggSnapshot> next_snapshot() override { return source_.next_snapshot(); }
	Losses losses() override { return source_.losses(); }
	std::vector<std::string> remarks() override { return source_.remarks(); }
	bool partial() override { return source_.partial(); }
	std::string name() const override { return source_.name(); }

private:
	bool repeated(const dfr_block& head); // by an earlier source; counts it

	BlockSource& source_;
	GivenBlocks& given_;
	size_t number_;                      // of this source
	bool indexed_ = false;               // all blocks were given by index(): next() has none
	std::map<size_t, uint64_t> repeats_; // by the source that has given them
};

} // namespace dfr::trace
