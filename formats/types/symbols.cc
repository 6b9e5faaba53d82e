// SPDX-License-Identifier: GPL-2.0
//
// The kernel's symbols from the text of /proc/kallsyms:
//
//	ffffffff81000000 T _text
//	ffffffffc0123000 t nfs_open<TAB>[nfs]
//
// A line that does not look so is skipped: what the kernel prints has grown
// columns before, and one odd line must not cost the other 200,000.
#include "formats/types/symbols.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>

#include "formats/error.h"

namespace dfr::types {
namespace {

// The value of a hexadecimal digit; 16 for everything else.
constexpr std::array<std::uint8_t, 256> make_digits() {
	std::array<std::uint8_t, 256> digits{};
	digits.fill(16);
	for (unsigned i = 0; i < 10; i++)
		digits['0' + i] = static_cast<std::uint8_t>(i);
	for (unsigned i = 0; i < 6; i++)
		digits['a' + i] = digits['A' + i] = static_cast<std::uint8_t>(10 + i);
	return digits;
}

constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

// Functions before data, global before local.
int preference(char type) {
	const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(type)));
	return (letter == 't' || letter == 'w' ? 2 : 0) + (type >= 'A' && type <= 'Z' ? 1 : 0);
}

// Eight lower-case hexadecimal digits at once; false if they are not. A list of
// symbols is mostly such digits.
inline bool parse_eight(const char* text, std::uint64_t& value) {
	constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
	std::uint64_t packed;
	std::memcpy(&packed, text, 8);
	const std::uint64_t letter = packed >> 6 & kOnes;
	std::uint64_t digits = (packed & 0x0f * kOnes) + 9 * letter;
	// Written again, a valid digit is the same character.
	const std::uint64_t over_nine = (digits + 6 * kOnes) >> 4 & kOnes;
	if ((digits & 0xf0 * kOnes) != 0 || digits + '0' * kOnes + 0x27 * over_nine != packed)
		return false;
	// The first character is the lowest byte and the highest digit.
	digits = (digits << 4 | digits >> 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits << 8 | digits >> 16) & 0x0000ffff0000ffffULL;
	value = (digits << 16 | digits >> 32) & 0xffffffff;
	return true;
}

// An address at the line's start; its length, 0 if there is none.
std::size_t parse_address(std::string_view line, std::uint64_t& address) {
	std::uint64_t high, low;
	if (line.size() >= 16 && parse_eight(line.data(), high) && parse_eight(line.data() + 8, low)) {
		address = high << 32 | low;
		return 16;
	}
	std::size_t at = 0;
	for (address = 0; at < line.size() && at < 16; at++) {
		const unsigned digit = kDigits[static_cast<std::uint8_t>(line[at])];
		if (digit == 16)
			break;
		address = address << 4 | digit;
	}
	return at;
}

struct SymbolLine {
	std::uint64_t address = 0;
	std::size_t name_at = 0;
	std::size_t name_length = 0;
	std::size_t module_length = 0;
	char type = 0;
};

bool parse_line(std::string_view line, SymbolLine& out) {
	std::uint64_t address;
	const std::size_t at = parse_address(line, address);
	// A space, the letter, a space, a name of at least one character.
	if (at == 0 || line.size() < at + 4 || line[at] != ' ' || line[at + 2] != ' ')
		return false;
	out = {
	    .address = address, .name_at = at + 3, .name_length = line.size() - at - 3, .type = line[at + 1]};
	const std::size_t tab = line.find('\t', out.name_at);
	if (tab != std::string_view::npos) {
		if (line.size() < tab + 4 || line[tab + 1] != '[' || line.back() != ']')
			return false;
		out.name_length = tab - out.name_at;
		out.module_length = line.size() - tab - 3;
	}
	return out.name_length != 0 && out.name_length <= 0xffff && out.module_length <= 0xffff;
}

std::uint64_t hash_name(std::string_view name) {
	std::uint64_t first = 0, last = 0;
	std::memcpy(&first, name.data(), std::min<std::size_t>(8, name.size()));
	if (name.size() > 8)
		std::memcpy(&last, name.data() + name.size() - 8, 8);
	const std::uint64_t hash =
	    (first ^ name.size()) * 0x9e3779b97f4a7c15ULL ^ last * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

} // namespace

Symbols Symbols::from_kallsyms(std::string path) {
	Symbols symbols;
	symbols.path_ = std::move(path);
	return symbols;
}

Symbols Symbols::from_kallsyms_text(Blob text) {
	Symbols symbols;
	symbols.text_ = std::move(text);
	return symbols;
}

std::string_view Symbols::name(const SymbolEntry& entry) const {
	return text_->text().substr(entry.name_at, entry.name_length);
}

std::string_view Symbols::module(const SymbolEntry& entry) const {
	return entry.module_length
	           ? text_->text().substr(entry.name_at + entry.name_length + 2, entry.module_length)
	           : "vmlinux";
}

Symbol Symbols::symbol(const SymbolEntry& entry) const {
	return {.name = name(entry), .module = module(entry), .address = entry.address, .type = entry.type};
}

void Symbols::load() const {
	if (loaded_)
		return;
	if (!text_)
		text_ = Blob::from_file(path_);
	const std::string_view all = text_->text();
	if (all.size() > std::numeric_limits<std::uint32_t>::max())
		throw Error("a list of kernel symbols of more than 4 GB", "name a copy of /proc/kallsyms");
	std::vector<SymbolEntry> entries;
	entries.reserve(all.size() / 40);
	for (std::size_t begin = 0; begin < all.size();) {
		const std::size_t end = std::min(all.find('\n', begin), all.size());
		SymbolLine line;
		if (parse_line(all.substr(begin, end - begin), line))
			entries.push_back({.address = line.address,
			                   .name_at = static_cast<std::uint32_t>(begin + line.name_at),
			                   .name_length = static_cast<std::uint16_t>(line.name_length),
			                   .module_length = static_cast<std::uint16_t>(line.module_length),
			                   .type = line.type});
		begin = end + 1;
	}
	entries_ = std::move(entries);
	sort();
	loaded_ = true;
	for (auto entry = entries_.rbegin(); entry != entries_.rend() && end_ == 0; ++entry) {
		if (entry->module_length == 0 && name(*entry) == "_end")
			end_ = entry->address;
	}
}

// The kernel proper comes in order; modules behind it in the order of loading.
void Symbols::sort() const {
	const auto by_address = [](const SymbolEntry& a, const SymbolEntry& b) {
		return a.address < b.address;
	};
	const auto by_preference = [](const SymbolEntry& a, const SymbolEntry& b) {
		return preference(a.type) < preference(b.type);
	};
	const auto tail = std::is_sorted_until(entries_.begin(), entries_.end(), by_address);
	std::stable_sort(tail, entries_.end(), by_address);
	std::inplace_merge(entries_.begin(), tail, entries_.end(), by_address);
	for (auto begin = entries_.begin(); begin != entries_.end();) {
		auto end = begin + 1;
		while (end != entries_.end() && end->address == begin->address)
			++end;
		if (end - begin > 1)
			std::stable_sort(begin, end, by_preference);
		begin = end;
	}
}

std::optional<Symbol> Symbols::find(std::uint64_t address) const {
	load();
	const auto next = std::upper_bound(
	    entries_.begin(), entries_.end(), address,
	    [](std::uint64_t value, const SymbolEntry& entry) { return value < entry.address; });
	if (next == entries_.begin())
		return std::nullopt;
	const SymbolEntry& entry = *(next - 1);
	if (entry.module_length == 0 && end_ != 0 && address >= end_)
		return std::nullopt;
	// An absolute symbol is a number (where a variable lies in each CPU's area), not a place.
	if (entry.type == 'A' || entry.type == 'a')
		return std::nullopt;
	Symbol found = symbol(entry);
	found.offset = address - entry.address;
	const bool last = next == entries_.end() || module(*next) != found.module;
	if (last && found.offset >= kMostTail)
		return std::nullopt;
	found.size = last ? 0 : next->address - entry.address;
	return found;
}

void Symbols::index_names() const {
	load();
	if (!buckets_.empty())
		return;
	std::size_t size = 16;
	while (size < entries_.size())
		size *= 2;
	buckets_.assign(size, 0);
	chain_.assign(entries_.size(), 0);
	for (std::uint32_t i = 0; i < entries_.size(); i++) {
		std::uint32_t& bucket = buckets_[hash_name(name(entries_[i])) & (size - 1)];
		chain_[i] = bucket;
		bucket = i + 1;
	}
}

std::optional<Symbol> Symbols::find(std::string_view wanted, std::string_view only) const {
	if (wanted.empty())
		return std::nullopt;
	index_names();
	// Of several, one of the kernel proper, and the first in the text.
	const SymbolEntry* best = nullptr;
	std::uint32_t next = buckets_[hash_name(wanted) & (buckets_.size() - 1)];
	for (; next != 0; next = chain_[next - 1]) {
		const SymbolEntry& entry = entries_[next - 1];
		if (name(entry) != wanted || (!only.empty() && module(entry) != only))
			continue;
		const bool in_kernel = entry.module_length == 0;
		const bool better = !best || (in_kernel && best->module_length) ||
		                    (in_kernel == !best->module_length && entry.name_at < best->name_at);
		best = better ? &entry : best;
	}
	return best ? std::optional(symbol(*best)) : std::nullopt;
}

bool Symbols::has_addresses() const {
	load();
	return !entries_.empty() && entries_.back().address != 0;
}

std::size_t Symbols::count() const {
	load();
	return entries_.size();
}

void Symbols::each(const std::function<void(const Symbol&)>& visit) const {
	load();
	sort();
	for (const SymbolEntry& entry : entries_)
		visit(symbol(entry));
}

} // namespace dfr::types
