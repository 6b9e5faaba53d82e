// SPDX-License-Identifier: GPL-2.0
//
// By the first eight bytes of each text: most places are no start of any.
#include "formats/trace/text_search.h"

#include <algorithm>
#include <iterator>

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
	for (; text.size() > 2 * kPiece; text.remove_prefix(kPiece))
		add(text.substr(0, kPiece));
	if (text.size() > kPiece) {
		add(text.substr(0, kPiece));
		text.remove_prefix(text.size() - kPiece);
	}
	if (text.size() < kShortest || full())
		return;
	AlikeTexts& same = starts_[start_of(text)];
	if (same.texts.contains(text))
		return;
	same.texts.emplace(text, SoughtText{.size = text.size()});
	same.linked = false;
	maybe_[slot_of(start_of(text))] = true;
	added_++;
}

// In their order, those that a text begins with stand in front of it, each the start of the next longer one.
void TextSearch::AlikeTexts::link() {
	std::vector<decltype(texts.begin())> open;
	for (auto text = texts.begin(); text != texts.end(); ++text) {
		while (!open.empty() && !text->first.starts_with(open.back()->first))
			open.pop_back();
		text->second.start = open.empty() ? nullptr : &open.back()->second;
		open.push_back(text);
	}
	linked = true;
}

// Whatever `bytes` begin with here, the nearest text in front of them begins with, too.
template <typename Visit> void TextSearch::find_in(std::span<const std::byte> bytes, const Visit& visit) {
	for (size_t at = 0; at + kShortest <= bytes.size(); at++) {
		const auto start = load<uint64_t>(bytes.data() + at);
		if (!maybe_[slot_of(start)])
			continue;
		const auto known = starts_.find(start);
		if (known == starts_.end())
			continue;
		if (!known->second.linked)
			known->second.link();
		const std::string_view rest = view(bytes.data() + at, bytes.size() - at);
		const auto behind = known->second.texts.upper_bound(rest);
		if (behind == known->second.texts.begin())
			continue;
		auto& [near, nearest] = *std::prev(behind);
		const auto differs = std::mismatch(near.begin(), near.end(), rest.begin(), rest.end()).first;
		const auto common = static_cast<size_t>(differs - near.begin());
		for (SoughtText* one = &nearest; one; one = one->start) {
			while (one->start && one->start->removed)
				one->start = one->start->start;
			if (one->size <= common && !one->removed && !visit(*one, rest.substr(0, one->size)))
				return;
		}
	}
}

void TextSearch::find(std::span<const std::byte> bytes,
                      const std::function<bool(const std::string&)>& visit) {
	find_in(bytes, [&](SoughtText&, std::string_view text) { return visit(std::string(text)); });
}

void TextSearch::remove(std::string_view text) {
	find_in(std::as_bytes(std::span(text)), [this](SoughtText& found, std::string_view) {
		removed_++;
		found.removed = true;
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
