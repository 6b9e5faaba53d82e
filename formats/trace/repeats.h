// SPDX-License-Identifier: GPL-2.0
//
// Blocks that several recordings hold: if dfrd is killed after it wrote blocks to its
// file and before it gave them back, the engine gives them to the next owner, so the
// next file has them too. When a program reads several files, each such block is taken
// once: from the first file in which it can be read. The caller chooses the order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "formats/trace/source.h"

namespace dfr::trace {

// Which source gave which block so far, over all recordings.
class GivenBlocks {
public:
	size_t add_source(std::string name) {
		names_.push_back(std::move(name));
		return names_.size() - 1;
	}
	// Notes that `source` gives the block; returns which source gave it first.
	size_t first_giver(const Catalog& catalog, const dfr_block& head, size_t source);
	// Which source gave the block first; nullopt: none so far.
	std::optional<size_t> giver(const Catalog& catalog, const dfr_block& head) const;
	const std::string& name(size_t source) const { return names_[source]; }

private:
	// Boot, state, CPU and sequence number identify a kernel's block. The time is there because
	// in-process engines of different processes use the same state numbers; the length, because one
	// file may have a block before more records were added to it.
	using Key = std::tuple<std::array<uint8_t, 16>, uint64_t, uint32_t, uint64_t, uint64_t, uint32_t>;
	static Key key_of(const Catalog& catalog, const dfr_block& head);
	std::map<Key, size_t> given_;
	std::vector<std::string> names_;
};

// Wraps a source and leaves out the blocks that another source has given.
class UnrepeatedSource final : public BlockSource {
public:
	UnrepeatedSource(BlockSource& source, GivenBlocks& given)
	    : source_(source), given_(given), number_(given.add_source(source.name())) {}

	// "3 blocks are also in a.dfr and counted there"; empty: no block was left out.
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
	bool repeated(const dfr_block& head); // true: another source gave it; counts it in repeats_

	BlockSource& source_;
	GivenBlocks& given_;
	size_t number_;                      // of this source
	bool indexed_ = false;               // index() listed all blocks, so next() has none
	std::map<size_t, uint64_t> repeats_; // blocks left out, by the source that gave them
};

} // namespace dfr::trace
