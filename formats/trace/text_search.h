// SPDX-License-Identifier: GPL-2.0
//
// TextSearch: many texts, searched for in bytes at once. dfr redact looks with it
// for what it took out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dfr::trace {

class TextSearch {
public:
	// Shorter ones occur by chance where numbers stand.
	static constexpr size_t kShortest = 8;
	static constexpr size_t kMost = 1'000'000;
	// A longer one is searched for in pieces, the last of which ends with it, because each place of a crafted one could
	// begin like all of it. Where the text is, all of its pieces are; and where only some of them stand in what stays,
	// the others are searched for.
	static constexpr size_t kPiece = 256;

	// Not if it is too short, was removed, or there are too many (full()).
	void add(std::string_view text);
	bool full() const { return added_ == kMost; }
	size_t size() const { return added_ - removed_; }
	// Calls visit for each of the texts that occurs in the bytes, until it returns false.
	void find(std::span<const std::byte> bytes, const std::function<bool(const std::string&)>& visit);
	// Those that occur in the text are not searched for any more. All adding before all removing is fastest.
	void remove(std::string_view text);

private:
	struct SoughtText {
		bool removed = false;
		size_t size = 0;
		// The longest of the others that it begins with and that is not removed.
		SoughtText* start = nullptr;
	};
	// Those that begin with the same bytes; sorted, because thousands may begin alike: paths do.
	struct AlikeTexts {
		std::map<std::string, SoughtText, std::less<>> texts;
		bool linked = false; // `start` is right
		void link();
	};

	// Calls visit for each that is not removed, with its text, until it returns false.
	template <typename Visit> void find_in(std::span<const std::byte> bytes, const Visit& visit);

	std::unordered_map<uint64_t, AlikeTexts> starts_;      // by the first kShortest bytes
	std::vector<bool> maybe_ = std::vector<bool>(1 << 20); // by a hash of these: whether one is there
	size_t added_ = 0, removed_ = 0;
};

// Calls visit for each run of at least TextSearch::kShortest printable characters.
void each_text(std::span<const std::byte> bytes, const std::function<void(std::string_view)>& visit);

} // namespace dfr::trace
