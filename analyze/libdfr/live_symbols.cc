// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses on this machine.
#include "analyze/libdfr/live_symbols.h"

#include <cinttypes>
#include <cstdio>

#include "formats/error.h"

namespace dfr::lib {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

} // namespace

render::SymbolName LiveSymbols::kernel(uint64_t address) {
	if (!kernel_)
		kernel_ = std::make_unique<types::Symbols>(types::Symbols::from_kallsyms());
	try {
		if (!kernel_->has_addresses())
			return {};
		if (const auto symbol = kernel_->find(address))
			return {std::string(symbol->module), std::string(symbol->name), symbol->offset};
	} catch (const Error&) {
		// Without symbols an address is printed as it is.
	}
	return {};
}

// Again after a second, for processes exec and load libraries; sooner where an address is in
// none, but not for each frame of a process that makes its code itself.
constexpr auto kFresh = std::chrono::seconds(1);
constexpr auto kMissed = std::chrono::milliseconds(100);

void LiveSymbols::remember(uint32_t pid) {
	char path[64];
	std::snprintf(path, sizeof path, "/proc/%u/maps", pid);
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
	std::vector<Mapping> maps;
	char line[4400], name[4097];
	while (file && std::fgets(line, sizeof line, file.get())) {
		uint64_t start = 0, end = 0, offset = 0;
		name[0] = '\0';
		const int got = std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4096[^\n]", &start,
					    &end, &offset, name);
		if (got == 4 && name[0] == '/')
			maps.push_back({start, end, offset, name});
	}
	Process& process = processes_[pid];
	process.read = std::chrono::steady_clock::now();
	// A process that has ended keeps the maps that it had.
	if (!maps.empty())
		process.maps = std::move(maps);
}

const LiveSymbols::Mapping* LiveSymbols::mapping(uint32_t pid, uint64_t address) {
	const Process& process = processes_[pid];
	const auto find = [&]() -> const Mapping* {
		for (const Mapping& mapping : process.maps)
			if (address >= mapping.start && address < mapping.end)
				return &mapping;
		return nullptr;
	};
	const Mapping* const known = find();
	const auto age = std::chrono::steady_clock::now() - process.read;
	if (known ? age < kFresh : age < kMissed)
		return known;
	remember(pid);
	return find();
}

const types::ElfSymbols* LiveSymbols::file(const std::string& path) {
	const auto [at, fresh] = files_.try_emplace(path);
	if (fresh) {
		try {
			at->second = std::make_unique<types::ElfSymbols>(types::ElfSymbols::open(path));
		} catch (const Error&) {
			// Gone or no ELF file: its addresses keep their numbers.
		}
	}
	return at->second.get();
}

render::SymbolName LiveSymbols::user(uint32_t pid, uint64_t address) {
	const Mapping* const place = mapping(pid, address);
	if (!place)
		return {};
	const std::string object = base_name(place->path);
	const types::ElfSymbols* const symbols = file(place->path);
	const auto in_file = symbols ? symbols->address_of_offset(address - place->start + place->offset) : std::nullopt;
	if (const auto symbol = in_file ? symbols->find(*in_file) : std::nullopt)
		return {object, std::string(symbol->name), symbol->offset};
	return {object, {}, 0};
}

} // namespace dfr::lib
