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
	Texts& same = starts_[start_of(text)];
	if (same.contains(text))
		return;
	same.emplace(text, Removal{});
	maybe_[slot_of(start_of(text))] = true;
	added_++;
}

// All texts that `rest` begins with stand in front of it, and each of them is the start of the next longer one:
// so the nearest text in front of it says how long the next one can be at most.
template <typename Starts, typename Visit>
void TextSearch::find_in(Starts& starts, std::span<const std::byte> bytes, const Visit& visit) const {
	for (size_t at = 0; at + kShortest <= bytes.size(); at++) {
		const auto start = load<uint64_t>(bytes.data() + at);
		if (!maybe_[slot_of(start)])
			continue;
		const auto known = starts.find(start);
		if (known == starts.end())
			continue;
		auto& texts = known->second;
		std::string_view rest = view(bytes.data() + at, bytes.size() - at);
		while (rest.size() >= kShortest) {
			auto text = texts.upper_bound(rest);
			if (text == texts.begin())
				break;
			--text;
			const std::string& near = text->first;
			const auto differs =
			    std::mismatch(near.begin(), near.end(), rest.begin(), rest.end()).first;
			const auto common = static_cast<size_t>(differs - near.begin());
			const bool there = common == near.size();
			if (there && !visit(*text))
				return;
			rest = rest.substr(0, there ? common - 1 : common);
		}
	}
}

void TextSearch::find(std::span<const std::byte> bytes,
                      const std::function<bool(const std::string&)>& visit) const {
	find_in(starts_, bytes, [&](const auto& text) { return text.second.removed || visit(text.first); });
}

void TextSearch::remove(std::string_view text) {
	find_in(starts_, std::as_bytes(std::span(text)), [this](auto& found) {
		removed_ += !found.second.removed;
		found.second.removed = true;
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
