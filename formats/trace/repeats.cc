// SPDX-License-Identifier: GPL-2.0
//
// Recognises blocks by their key, so that each is given once.
#include "formats/trace/repeats.h"

#include "formats/trace/decode.h"

namespace dfr::trace {

GivenBlocks::Key GivenBlocks::key_of(const Catalog& catalog, const dfr_block& head) {
	return {catalog.boot_id, head.state_id, head.cpu, head.seq, head.first_time, head.committed};
}

size_t GivenBlocks::first_giver(const Catalog& catalog, const dfr_block& head, size_t source) {
	return given_.try_emplace(key_of(catalog, head), source).first->second;
}

std::optional<size_t> GivenBlocks::giver(const Catalog& catalog, const dfr_block& head) const {
	const auto found = given_.find(key_of(catalog, head));
	return found == given_.end() ? std::nullopt : std::optional(found->second);
}

// A block that is twice in the same recording is not left out here; the reader has to judge that.
bool UnrepeatedSource::repeated(const dfr_block& head) {
	const std::optional<size_t> giver = given_.giver(source_.catalog(), head);
	if (!giver || *giver == number_)
		return false;
	repeats_[*giver]++;
	return true;
}

std::optional<Block> UnrepeatedSource::next() {
	while (!indexed_) {
		std::optional<Block> block = source_.next();
		if (!block || !block_is_sane(block->bytes))
			return block;
		if (!repeated(block->header())) {
			given_.first_giver(source_.catalog(), block->header(), number_);
			return block;
		}
	}
	return std::nullopt;
}

// A block counts as given only once load() could read it, not when index() lists its header: if it is
// damaged here, a later source may give it.
std::optional<Block> UnrepeatedSource::load(const BlockRef& ref) {
	std::optional<Block> block = source_.load(ref);
	if (block)
		given_.first_giver(source_.catalog(), ref.head, number_);
	return block;
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
		text += (text.empty() ? "" : "; ") + std::to_string(count) +
		        (count == 1 ? " block is" : " blocks are") + " also in " + given_.name(source) +
		        " and counted there";
	return text;
}

} // namespace dfr::trace
