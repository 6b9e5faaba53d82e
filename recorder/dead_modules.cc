// SPDX-License-Identifier: GPL-2.0
//
// From struct module to the lines that /proc/kallsyms had of it.
#include "recorder/dead_modules.h"

#include <elf.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace dfr::recorder {
namespace {

constexpr size_t kDeadModulesMost = 1024, kRangesMost = 16;
constexpr uint64_t kModuleSizeMost = 1ull << 30;
constexpr uint64_t kModuleSymbolsMost = 1 << 20; // of all modules
constexpr uint64_t kModuleNamesMost = 16 << 20;  // bytes, of one
constexpr size_t kModuleNameMost = 512;          // as the kernel allows
constexpr uint64_t kTextMost =
    32 << 20; // bytes of lines, of all modules: their names may be one again and again
constexpr size_t kPieceOfNames = 4096;

std::optional<uint64_t> offset_of(types::TypeRef type, std::string_view member) {
	const auto found = types::find_member(type, member);
	return found ? std::optional(found->bit_offset / 8) : std::nullopt;
}

bool is_name(std::string_view text) {
	return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

} // namespace

// In struct module.
struct DeadModules::Places {
	uint64_t list = 0, name = 0, name_size = 0, tables = 0;
	uint64_t ranges = 0, stride = 0, range_count = 0; // what its memory is, as structs
	uint64_t start = 0, size = 0;                     // in each of these
};

std::optional<DeadModules::Places> DeadModules::places(types::KernelTypes& types) {
	const types::TypeRef module = types.find(types::NameSpace::Struct, "module");
	const auto list = offset_of(module, "list"), tables = offset_of(module, "kallsyms");
	const auto name = types::find_member(module, "name");
	if (!list || !tables || !name)
		return std::nullopt;
	Places places{.list = *list,
	              .name = name->bit_offset / 8,
	              .name_size =
	                  std::min<uint64_t>(types::size_of(name->type).value_or(0), kModuleNameMost),
	              .tables = *tables};
	// One range before 6.4, several from then on.
	auto memory = types::find_member(module, "mem");
	types::TypeRef range = memory ? types::resolve(memory->type) : types::TypeRef{};
	if (range && types::info(range).kind == types::Kind::Array) {
		places.range_count = std::min<uint64_t>(types::info(range).count, kRangesMost);
		range = types::info(range).target;
	} else {
		memory = types::find_member(module, "core_layout");
		range = memory ? memory->type : types::TypeRef{};
		places.range_count = 1;
	}
	const auto start = offset_of(range, "base"), size = offset_of(range, "size");
	if (!memory || !start || !size)
		return std::nullopt;
	places.ranges = memory->bit_offset / 8;
	places.stride = types::size_of(range).value_or(0);
	places.start = *start;
	places.size = *size;
	return places;
}

DeadModules::DeadModules(Read read, uint64_t list, types::KernelTypes& types)
    : read_(std::move(read)), symbols_left_(kModuleSymbolsMost), text_left_(kTextMost) {
	const std::optional<Places> where = places(types);
	const types::TypeRef tables = types.find(types::NameSpace::Struct, "mod_kallsyms");
	const auto symbols = offset_of(tables, "symtab"), count = offset_of(tables, "num_symtab"),
	           names = offset_of(tables, "strtab"), letters = offset_of(tables, "typetab");
	if (!where || !symbols || !count || !names || !letters)
		return;
	symbols_at_ = *symbols;
	count_at_ = *count;
	names_at_ = *names;
	letters_at_ = *letters;
	for (uint64_t at = word(list); at && at != list && modules_.size() < kDeadModulesMost;
	     at = word(at)) {
		std::optional<NamedModule> module = read_module(at - where->list, *where);
		if (!module)
			return; // so what follows is not believed either
		modules_.push_back(std::move(*module));
	}
}

uint64_t DeadModules::word(uint64_t address, size_t bytes) const {
	uint64_t value = 0;
	return read_(address, std::as_writable_bytes(std::span(&value, 1)).first(bytes)) ? value : 0;
}

std::optional<DeadModules::NamedModule> DeadModules::read_module(uint64_t at, const Places& places) const {
	NamedModule module;
	module.name.resize(places.name_size);
	if (!read_(at + places.name, std::as_writable_bytes(std::span(module.name))))
		return std::nullopt;
	module.name.resize(std::min(module.name.find('\0'), module.name.size()));
	if (!is_name(module.name))
		return std::nullopt;
	module.tables = word(at + places.tables);
	for (uint64_t i = 0; i < places.range_count; i++) {
		const uint64_t range = at + places.ranges + i * places.stride;
		const uint64_t start = word(range + places.start), size = word(range + places.size, 4);
		if (start && size && size <= kModuleSizeMost && start + size > start)
			module.ranges.emplace_back(start, size);
	}
	return module;
}

// As /proc/kallsyms has them; empty: they are not all there.
std::string DeadModules::symbols_text(const NamedModule& module) {
	const uint64_t count = word(module.tables + count_at_, 4);
	if (!module.tables || count > symbols_left_)
		return {};
	symbols_left_ -= count;
	std::vector<Elf64_Sym> symbols(count);
	std::string letters(count, '\0');
	const uint64_t names_from = word(module.tables + names_at_);
	if (!names_from ||
	    !read_(word(module.tables + symbols_at_), std::as_writable_bytes(std::span(symbols))) ||
	    !read_(word(module.tables + letters_at_), std::as_writable_bytes(std::span(letters))))
		return {};
	uint64_t last = 0; // where the last name begins
	for (const Elf64_Sym& symbol : symbols)
		last = std::max<uint64_t>(last, symbol.st_name);
	if (last > kModuleNamesMost)
		return {};
	// Nothing says where the names end, so what is not mapped behind the last one is no loss.
	std::string names(last + kModuleNameMost, '\0');
	for (size_t at = 0; at < names.size();) {
		const size_t piece =
		    std::min<size_t>(names.size() - at, kPieceOfNames - (names_from + at) % kPieceOfNames);
		if (!read_(names_from + at, std::as_writable_bytes(std::span(names)).subspan(at, piece)))
			break;
		at += piece;
	}
	std::string text;
	for (size_t i = 0; i < count; i++) {
		const char* const start = names.data() + symbols[i].st_name;
		const std::string_view name(start, strnlen(start, kModuleNameMost));
		if (!symbols[i].st_value || !is_name(name) || !is_name({&letters[i], 1}))
			continue;
		char address[17];
		std::snprintf(address, sizeof(address), "%016" PRIx64, uint64_t{symbols[i].st_value});
		text.append(address).append(" ").append(1, letters[i]).append(" ").append(name);
		text.append("\t[").append(module.name).append("]\n");
		if (text.size() > text_left_)
			return {};
	}
	text_left_ -= text.size();
	return text;
}

std::optional<types::Symbol> DeadModules::find(uint64_t address) {
	for (NamedModule& module : modules_) {
		if (std::ranges::none_of(module.ranges, [address](const auto& range) {
			    return address - range.first < range.second;
		    }))
			continue;
		if (!module.symbols) {
			const std::string text = symbols_text(module);
			module.symbols = types::Symbols::from_kallsyms_text(
			    types::Blob::from_bytes({text.begin(), text.end()}));
		}
		return module.symbols->find(address);
	}
	return std::nullopt;
}

} // namespace dfr::recorder
