// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses on this machine.
#include "analyze/libdfr/live_symbols.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "analyze/libdfr/follower.h"
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

// A process that maps and unmaps code all the time does not fill our memory.
constexpr size_t kGoneMost = 1024;

namespace {

// Changes with exec() and with what is mapped; a line of /proc/PID/stat costs a fraction of its maps.
std::string shape_of(uint32_t pid) {
	constexpr int kVirtualSize = 23, kStartOfCode = 26;
	const std::unique_ptr<FILE, int (*)(FILE*)> file(
	    std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re"), std::fclose);
	char line[2048];
	if (!file || !std::fgets(line, sizeof line, file.get()))
		return {};
	const std::string_view text(line);
	std::string shape;
	size_t at = text.rfind(')');
	for (int field = 3; at < text.size() && field <= kStartOfCode; field++) {
		const size_t from = text.find_first_not_of(' ', at + 1);
		at = std::min(text.find(' ', from), text.size());
		if (field == kVirtualSize || field == kStartOfCode)
			shape.append(text.substr(std::min(from, at), at - from)).append(" ");
	}
	return shape;
}

} // namespace

void LiveSymbols::remember(uint32_t pid) {
	const std::string shape = shape_of(pid);
	if (shape.empty() || shape == processes_[pid].shape)
		return;
	read(pid);
	processes_[pid].shape = shape;
}

void LiveSymbols::read(uint32_t pid) { remember(pid, read_maps(static_cast<int>(pid))); }

void LiveSymbols::remember(uint32_t pid, const std::string& text) {
	std::vector<Mapping> maps;
	std::istringstream lines(text);
	char access[5], name[4097];
	for (std::string line; std::getline(lines, line);) {
		uint64_t start = 0, end = 0, offset = 0;
		name[0] = '\0';
		const int got = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4096[^\n]", &start,
					    &end, access, &offset, name);
		if (got == 5 && name[0] == '/')
			maps.push_back({start, end, offset, std::strchr(access, 'x') != nullptr, name});
	}
	Process& process = processes_[pid];
	process.read = std::chrono::steady_clock::now();
	// A process that has ended keeps the maps that it had.
	if (maps.empty())
		return;
	const auto covered = [&](const Mapping& old) {
		return std::any_of(maps.begin(), maps.end(),
				   [&](const Mapping& now) { return old.start < now.end && now.start < old.end; });
	};
	process.gone.insert(process.gone.end(), process.maps.begin(), process.maps.end());
	std::erase_if(process.gone, [&](const Mapping& old) { return !old.code || covered(old); });
	if (process.gone.size() > kGoneMost)
		process.gone.erase(process.gone.begin(), process.gone.end() - kGoneMost);
	process.maps = std::move(maps);
}

const LiveSymbols::Mapping* LiveSymbols::mapping(uint32_t pid, uint64_t address) {
	const Process& process = processes_[pid];
	const auto find = [&](const std::vector<Mapping>& maps) -> const Mapping* {
		for (const Mapping& mapping : maps)
			if (address >= mapping.start && address < mapping.end)
				return &mapping;
		return nullptr;
	};
	const Mapping* known = find(process.maps);
	const auto age = std::chrono::steady_clock::now() - process.read;
	if (known ? age >= kFresh : age >= kMissed) {
		read(pid);
		known = find(process.maps);
	}
	return known ? known : find(process.gone);
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
