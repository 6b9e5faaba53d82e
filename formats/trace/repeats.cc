// SPDX-License-Identifier: GPL-2.0
//
// Each block once.
#include "formats/trace/repeats.h"

#include "formats/trace/decode.h"

namespace dfr::trace {

size_t GivenBlocks::first_giver(const Catalog& catalog, const dfr_block& head, size_t source) {
	const Key key{catalog.boot_id, head.state_id, head.cpu, head.seq, head.first_time, head.committed};
	return given_.try_emplace(key, source).first->second;
}

// That a recording holds a block twice itself is the reader's to judge.
bool UnrepeatedSource::repeated(const dfr_block& head) {
	const size_t first = given_.first_giver(source_.catalog(), head, number_);
	if (first == number_)
		return false;
	repeats_[first]++;
	return true;
}

std::optional<Block> UnrepeatedSource::next() {
	while (!indexed_) {
		std::optional<Block> block = source_.next();
		if (!block || !block_is_sane(block->bytes) || !repeated(block->header()))
			return block;
	}
	return std::nullopt;
}

std::vector<BlockRef> UnrepeatedSource::index() {
	std::vector<BlockRef> refs = source_.index();
	indexed_ |= !refs.empty();
	std::erase_if(refs, [this](const BlockRef& ref) { return repeated(ref.head); });
	return refs;
}

std::string UnrepeatedSource::remark() const {
	std::string text;
	for (const auto& [source, count] : repeats_)
		text += (text.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " block is" : " blocks are") + " in " +
			given_.name(source) + ", too, and answered for there";
	return text;
}

} // namespace dfr::trace
