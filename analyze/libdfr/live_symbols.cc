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

const std::vector<LiveSymbols::Mapping>& LiveSymbols::maps(uint32_t pid) {
	const auto [at, fresh] = maps_.try_emplace(pid);
	if (!fresh)
		return at->second;
	char path[64];
	std::snprintf(path, sizeof path, "/proc/%u/maps", pid);
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
	char line[4400], name[4097];
	while (file && std::fgets(line, sizeof line, file.get())) {
		uint64_t start = 0, end = 0, offset = 0;
		name[0] = '\0';
		const int got = std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4096[^\n]", &start,
					    &end, &offset, name);
		if (got == 4 && name[0] == '/')
			at->second.push_back({start, end, offset, name});
	}
	return at->second;
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
	for (const Mapping& mapping : maps(pid)) {
		if (address < mapping.start || address >= mapping.end)
			continue;
		const std::string object = base_name(mapping.path);
		const types::ElfSymbols* const symbols = file(mapping.path);
		const auto in_file = symbols ? symbols->address_of_offset(address - mapping.start + mapping.offset)
					     : std::nullopt;
		if (const auto symbol = in_file ? symbols->find(*in_file) : std::nullopt)
			return {object, std::string(symbol->name), symbol->offset};
		return {object, {}, 0};
	}
	return {};
}

} // namespace dfr::lib
