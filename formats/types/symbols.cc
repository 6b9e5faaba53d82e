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
#include <cctype>
#include <cstring>
#include <limits>

#include "formats/error.h"

namespace dfr::types {
namespace {

constexpr std::string_view kVmlinux = "vmlinux";
// So many searches by name scan the text; from then on an index pays.
constexpr unsigned kScansBeforeIndex = 4;

int hex_digit(char c) {
	if (c >= '0' && c <= '9')
		return c - '0';
	c = static_cast<char>(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Functions before data, global before local.
int preference(char type) {
	const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(type)));
	return (letter == 't' || letter == 'w' ? 2 : 0) + (type >= 'A' && type <= 'Z' ? 1 : 0);
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

const Blob& Symbols::text() const {
	if (!text_)
		text_ = Blob::from_file(path_);
	if (text_->size() > std::numeric_limits<std::uint32_t>::max())
		throw Error("a list of kernel symbols of more than 4 GB", "name a copy of /proc/kallsyms");
	return *text_;
}

bool Symbols::parse_line(std::size_t begin, std::size_t end, Entry& entry) const {
	const std::string_view line = text_->text().substr(begin, end - begin);
	std::uint64_t address = 0;
	std::size_t at = 0;
	for (; at < line.size() && at < 16; at++) {
		const int digit = hex_digit(line[at]);
		if (digit < 0)
			break;
		address = address << 4 | static_cast<std::uint64_t>(digit);
	}
	// A space, the letter, a space, a name of at least one character.
	if (at == 0 || line.size() < at + 4 || line[at] != ' ' || line[at + 2] != ' ')
		return false;
	const std::size_t name_at = at + 3;
	const std::size_t tab = line.find('\t', name_at);
	const std::size_t name_end = tab == std::string_view::npos ? line.size() : tab;
	std::size_t module_length = 0;
	if (tab != std::string_view::npos) {
		if (line.size() < tab + 4 || line[tab + 1] != '[' || line.back() != ']')
			return false;
		module_length = line.size() - tab - 3;
	}
	if (name_end == name_at || name_end - name_at > 0xffff || module_length > 0xffff)
		return false;
	entry = {.address = address,
	         .name_at = static_cast<std::uint32_t>(begin + name_at),
	         .name_length = static_cast<std::uint16_t>(name_end - name_at),
	         .module_length = static_cast<std::uint16_t>(module_length),
	         .type = line[at + 1]};
	return true;
}

std::string_view Symbols::name(const Entry& entry) const {
	return text_->text().substr(entry.name_at, entry.name_length);
}

std::string_view Symbols::module(const Entry& entry) const {
	return entry.module_length
	           ? text_->text().substr(entry.name_at + entry.name_length + 2, entry.module_length)
	           : kVmlinux;
}

Symbol Symbols::symbol(const Entry& entry) const {
	return {.name = name(entry), .module = module(entry), .address = entry.address, .type = entry.type};
}

void Symbols::load() const {
	if (loaded_)
		return;
	const std::string_view all = text().text();
	entries_.reserve(all.size() / 40);
	for (std::size_t begin = 0; begin < all.size();) {
		const void* newline = std::memchr(all.data() + begin, '\n', all.size() - begin);
		const std::size_t end =
		    newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - all.data())
		            : all.size();
		Entry entry;
		if (parse_line(begin, end, entry)) {
			if (entry.module_length == 0 && name(entry) == "_end")
				end_ = entry.address;
			entries_.push_back(entry);
		}
		begin = end + 1;
	}
	std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
		return a.address != b.address ? a.address < b.address
		                              : preference(a.type) < preference(b.type);
	});
	loaded_ = true;
}

std::optional<Symbol> Symbols::find(std::uint64_t address) const {
	load();
	const auto next =
	    std::upper_bound(entries_.begin(), entries_.end(), address,
	                     [](std::uint64_t value, const Entry& entry) { return value < entry.address; });
	if (next == entries_.begin())
		return std::nullopt;
	const Entry& entry = *(next - 1);
	if (entry.module_length == 0 && end_ != 0 && address >= end_)
		return std::nullopt;
	Symbol found = symbol(entry);
	found.offset = address - entry.address;
	const bool last = next == entries_.end() || module(*next) != found.module;
	if (last && found.offset >= kMostTail)
		return std::nullopt;
	found.size = last ? 0 : next->address - entry.address;
	return found;
}

// Looks for the name in the text itself, which needs no parsing.
std::optional<Symbol> Symbols::scan(std::string_view wanted, std::string_view only) const {
	const std::string_view all = text().text();
	std::string key = " ";
	key += wanted;
	std::optional<Symbol> other;
	for (std::size_t at = 0; at < all.size();) {
		const void* hit = ::memmem(all.data() + at, all.size() - at, key.data(), key.size());
		if (!hit)
			break;
		const auto start = static_cast<std::size_t>(static_cast<const char*>(hit) - all.data());
		at = start + 1;
		const std::size_t line = all.rfind('\n', start) + 1; // npos + 1 is 0
		const std::size_t end = std::min(all.find('\n', start), all.size());
		Entry entry;
		if (!parse_line(line, end, entry) || name(entry) != wanted)
			continue;
		if (only.empty() ? entry.module_length == 0 : module(entry) == only)
			return symbol(entry);
		if (only.empty() && !other)
			other = symbol(entry);
	}
	return other;
}

void Symbols::index_names() const {
	if (!by_name_.empty())
		return;
	load();
	by_name_.reserve(entries_.size());
	for (std::uint32_t i = 0; i < entries_.size(); i++)
		by_name_.emplace(name(entries_[i]), i);
}

std::optional<Symbol> Symbols::find(std::string_view wanted, std::string_view only) const {
	if (wanted.empty())
		return std::nullopt;
	if (scans_ < kScansBeforeIndex) {
		scans_++;
		return scan(wanted, only);
	}
	index_names();
	// Of several, the one that stands first in the text, as scan() finds it.
	const Entry* best = nullptr;
	const auto [first, last] = by_name_.equal_range(wanted);
	for (auto it = first; it != last; ++it) {
		const Entry& entry = entries_[it->second];
		if (!only.empty() && module(entry) != only)
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

} // namespace dfr::types
