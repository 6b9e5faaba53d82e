// SPDX-License-Identifier: GPL-2.0
//
// Texts and other bytes of a chunk that is being written: each stands once, and has a number.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/trace/frames.h"

namespace dfr::trace {

inline std::string_view view(const std::byte* from, size_t size) {
	return {reinterpret_cast<const char*>(from), size};
}

// Numbers texts as they come. The texts stay in the blocks.
class Interned {
public:
	uint64_t number(std::string_view text) {
		const auto [at, added] = numbers_.try_emplace(text, texts_.size());
		if (added) {
			texts_.push_back(text);
			bytes_ += text.size();
		}
		return at->second;
	}
	size_t count() const { return texts_.size(); }
	uint64_t bytes() const { return bytes_; }
	std::vector<uint64_t> sizes() const {
		std::vector<uint64_t> result;
		for (const std::string_view text : texts_)
			result.push_back(text.size());
		return result;
	}
	void write(FrameWriter& to) const {
		std::byte* at = to.piece(bytes_);
		for (const std::string_view text : texts_)
			at = std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), at);
	}

private:
	std::unordered_map<std::string_view, uint64_t> numbers_;
	std::vector<std::string_view> texts_;
	uint64_t bytes_ = 0;
};

} // namespace dfr::trace
