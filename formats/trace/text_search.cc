// SPDX-License-Identifier: GPL-2.0
//
// By the first eight bytes of each text: most places are no start of any.
#include "formats/trace/text_search.h"

#include <algorithm>

#include "formats/trace/bytes.h"
#include "formats/trace/interned.h"

namespace dfr::trace {
namespace {

size_t slot_of(uint64_t start) {
	return start * 0x9e3779b97f4a7c15u >> 44;
}

uint64_t start_of(std::string_view text) {
	return load<uint64_t>(reinterpret_cast<const std::byte*>(text.data()));
}

} // namespace

void TextSearch::add(std::string_view text) {
	if (text.size() < kShortest || full())
		return;
	std::vector<uint32_t>& same = starts_[start_of(text)];
	if (std::any_of(same.begin(), same.end(), [&](uint32_t one) { return texts_[one] == text; }))
		return;
	maybe_[slot_of(start_of(text))] = true;
	same.push_back(static_cast<uint32_t>(texts_.size()));
	texts_.emplace_back(text);
	is_removed_.push_back(false);
}

template <typename Visit>
void TextSearch::find_numbers(std::span<const std::byte> bytes, const Visit& visit) const {
	for (size_t at = 0; at + kShortest <= bytes.size(); at++) {
		const auto start = load<uint64_t>(bytes.data() + at);
		if (!maybe_[slot_of(start)])
			continue;
		const auto known = starts_.find(start);
		if (known == starts_.end())
			continue;
		const std::string_view here = view(bytes.data() + at, bytes.size() - at);
		for (const uint32_t one : known->second)
			if (!is_removed_[one] && here.starts_with(texts_[one]) && !visit(one))
				return;
	}
}

void TextSearch::find(std::span<const std::byte> bytes,
                      const std::function<bool(const std::string&)>& visit) const {
	find_numbers(bytes, [&](uint32_t one) { return visit(texts_[one]); });
}

void TextSearch::remove(std::string_view text) {
	find_numbers(std::as_bytes(std::span(text)), [this](uint32_t one) {
		is_removed_[one] = true;
		removed_++;
		return true;
	});
}

void each_text(std::span<const std::byte> bytes, const std::function<void(std::string_view)>& visit) {
	size_t from = 0;
	for (size_t at = 0; at <= bytes.size(); at++) {
		const auto byte = at < bytes.size() ? std::to_integer<unsigned>(bytes[at]) : 0;
		if (byte >= ' ' && byte != 0x7f)
			continue;
		if (at - from >= TextSearch::kShortest)
			visit(view(bytes.data() + from, at - from));
		from = at + 1;
	}
}

} // namespace dfr::trace
