// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses on this machine.
#include "recorder/live_symbols.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "formats/error.h"

namespace dfr::recorder {
namespace {

// Again after a second, for processes exec and load libraries, and modules are loaded; sooner where an
// address is in none, but not for each frame of a process that makes its code itself.
constexpr auto kFresh = std::chrono::seconds(1);
constexpr auto kMissed = std::chrono::milliseconds(100);

// A process that maps and unmaps code all the time does not fill our memory, nor do processes.
constexpr size_t kGoneMost = 1024;
constexpr size_t kProcessesMost = 4096;

constexpr std::string_view kDeleted = " (deleted)";
constexpr uint64_t kFourGigabytes = 1ull << 32;

std::string base_name(const std::string& path) {
	return path.substr(path.rfind('/') + 1);
}

// Name, size and place of each module; what else /proc/modules says of it changes all the time.
std::string loaded_modules() {
	std::ifstream file("/proc/modules");
	std::string modules, word;
	for (std::string line; std::getline(file, line);) {
		std::istringstream words(line);
		for (int field = 0; words >> word; field++)
			if (field < 2 || field == 5)
				modules.append(word).append(" ");
	}
	return modules;
}

} // namespace

bool processes_have_our_numbers() {
	constexpr std::string_view kFirst = "pid:[4026531836]"; // PROC_PID_INIT_INO
	char name[64];
	const ssize_t length = ::readlink("/proc/self/ns/pid", name, sizeof name);
	return length <= 0 || std::string_view(name, static_cast<size_t>(length)) == kFirst;
}

std::string read_maps(int pid) {
	const std::unique_ptr<FILE, int (*)(FILE*)> file(
	    std::fopen(("/proc/" + std::to_string(pid) + "/maps").c_str(), "re"), std::fclose);
	std::string text;
	char piece[4096];
	while (const size_t got = file ? std::fread(piece, 1, sizeof piece, file.get()) : 0)
		text.append(piece, got);
	return text;
}

std::optional<types::Symbol> LiveSymbols::find_kernel(uint64_t address) {
	const auto find = [&](const std::unique_ptr<KernelSymbols>& kernel) -> std::optional<types::Symbol> {
		return kernel && kernel->symbols.has_addresses() ? kernel->symbols.find(address)
		                                                 : std::nullopt;
	};
	std::optional<types::Symbol> symbol = find(kernel_);
	const auto age = SteadyClock::now() - asked_;
	// Of the last symbol of a module nobody knows where it ends.
	if (!kernel_ || age >= (symbol && symbol->size != 0 ? kFresh : kMissed)) {
		asked_ = SteadyClock::now();
		std::string modules = loaded_modules();
		if (!kernel_ || modules != kernel_->modules) {
			auto now = std::make_unique<KernelSymbols>(
			    KernelSymbols{types::Symbols::from_kallsyms(), std::move(modules)});
			before_ = std::exchange(kernel_, std::move(now));
			symbol = find(kernel_);
		}
	}
	return symbol ? symbol : find(before_);
}

std::optional<types::Symbol> LiveSymbols::kernel_symbol(uint64_t address) {
	try {
		return find_kernel(address);
	} catch (const Error&) {
		return std::nullopt; // without symbols an address is printed as it is
	}
}

types::SymbolName LiveSymbols::kernel(uint64_t address) {
	if (const auto symbol = kernel_symbol(address))
		return {std::string(symbol->module), std::string(symbol->name), symbol->offset};
	return {};
}

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

void LiveSymbols::read(uint32_t pid) {
	remember(pid, read_maps(static_cast<int>(pid)));
}

void LiveSymbols::remember(uint32_t pid, const std::string& text) {
	std::vector<Mapping> maps;
	std::istringstream lines(text);
	char access[5], device[32], inode[32], name[4097];
	for (std::string line; std::getline(lines, line);) {
		uint64_t start = 0, end = 0, offset = 0;
		name[0] = '\0';
		const int got =
		    std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %31s %31s %4096[^\n]",
		                &start, &end, access, &offset, device, inode, name);
		const bool vdso = std::strcmp(name, "[vdso]") == 0 && start >= kFourGigabytes;
		if (got != 7 || (name[0] != '/' && !vdso))
			continue;
		const bool code = std::strchr(access, 'x') != nullptr;
		maps.push_back({start, end, offset, code, std::string(device) + " " + inode + " " + name});
		if (code && !files_.contains(maps.back().file))
			open_file(pid, maps.back(), name);
	}
	Process& process = processes_[pid];
	process.read = SteadyClock::now();
	// A process that has ended keeps the maps that it had.
	if (maps.empty())
		return;
	const auto covered = [&](const Mapping& old) {
		const auto now = std::upper_bound(
		    maps.begin(), maps.end(), old.start,
		    [](uint64_t start, const Mapping& mapping) { return start < mapping.end; });
		return now != maps.end() && now->start < old.end;
	};
	process.gone.insert(process.gone.end(), process.maps.begin(), process.maps.end());
	std::erase_if(process.gone, [&](const Mapping& old) { return !old.code || covered(old); });
	if (process.gone.size() > kGoneMost)
		process.gone.erase(process.gone.begin(), process.gone.end() - kGoneMost);
	process.maps = std::move(maps);
}

const LiveSymbols::Mapping* LiveSymbols::mapping(uint32_t pid, uint64_t address) {
	if (processes_.size() >= kProcessesMost && !processes_.contains(pid))
		forget_some();
	const auto holds = [&](const Mapping& mapping) {
		return address >= mapping.start && address < mapping.end;
	};
	const auto find = [&](const std::vector<Mapping>& maps) -> const Mapping* {
		const auto at = std::upper_bound(
		    maps.begin(), maps.end(), address,
		    [](uint64_t value, const Mapping& mapping) { return value < mapping.end; });
		return at != maps.end() && holds(*at) ? &*at : nullptr;
	};
	const Mapping* known = find(processes_[pid].maps);
	const auto age = SteadyClock::now() - processes_[pid].read;
	if (known ? age >= kFresh : age >= kMissed) {
		read(pid);
		known = find(processes_[pid].maps);
	}
	if (known)
		return known;
	const std::vector<Mapping>& gone = processes_[pid].gone;
	const auto at = std::find_if(gone.begin(), gone.end(), holds);
	return at == gone.end() ? nullptr : &*at;
}

// The half that was looked at longest ago, but for those that tracing goes along with.
void LiveSymbols::forget_some() {
	std::vector<SteadyClock::time_point> times;
	for (const auto& [pid, process] : processes_)
		times.push_back(process.read);
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	const auto middle = times[times.size() / 2];
	std::erase_if(processes_,
	              [&](const auto& one) { return one.second.shape.empty() && one.second.read <= middle; });
	std::set<std::string> mapped;
	for (const auto& [pid, process] : processes_)
		for (const auto* const maps : {&process.maps, &process.gone})
			for (const Mapping& mapping : *maps)
				mapped.insert(mapping.file);
	std::erase_if(files_, [&](const auto& one) { return !mapped.contains(one.first); });
}

namespace {

std::optional<types::Blob> try_file(const std::string& path) {
	struct stat info;
	if (::stat(path.c_str(), &info) != 0 ||
	    !S_ISREG(info.st_mode)) // opening what is none may wait, or do more
		return std::nullopt;
	try {
		return types::Blob::from_file(path);
	} catch (const Error&) {
		return std::nullopt;
	}
}

// The kernel gives all of its processes the same.
std::optional<types::Blob> own_vdso() {
	std::istringstream lines(read_maps(::getpid()));
	for (std::string line; std::getline(lines, line);) {
		uint64_t start = 0, end = 0;
		if (line.ends_with("[vdso]") &&
		    std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &start, &end) == 2) {
			const auto* const bytes = reinterpret_cast<const uint8_t*>(start);
			return types::Blob::from_bytes({bytes, bytes + (end - start)});
		}
	}
	return std::nullopt;
}

} // namespace

// What is mapped there, whatever its path means today and here; where that may not be asked, what the
// process finds under the path, and then what we do.
void LiveSymbols::open_file(uint32_t pid, const Mapping& mapping, const std::string& path) {
	MappedFile& file = files_[mapping.file];
	const std::string process = "/proc/" + std::to_string(pid);
	char range[40];
	std::snprintf(range, sizeof range, "%" PRIx64 "-%" PRIx64, mapping.start, mapping.end);
	const bool deleted = path.ends_with(kDeleted);
	file.name = base_name(deleted ? path.substr(0, path.size() - kDeleted.size()) : path);
	file.bytes = path[0] == '/' ? try_file(process + "/map_files/" + range) : own_vdso();
	if (!file.bytes && !deleted)
		file.bytes = try_file(process + "/root" + path);
	if (!file.bytes && !deleted)
		file.bytes = try_file(path);
}

std::optional<UserPlace> LiveSymbols::place(uint32_t pid, uint64_t address) {
	const Mapping* const mapped = see_processes_ ? mapping(pid, address) : nullptr;
	if (!mapped)
		return std::nullopt;
	UserPlace place{.start = mapped->start, .end = mapped->end, .offset = mapped->offset};
	const auto at = files_.find(mapped->file);
	if (at == files_.end()) { // no code is mapped from it
		place.file = std::string_view(mapped->file).substr(mapped->file.rfind('/') + 1);
		return place;
	}
	MappedFile& file = at->second;
	place.file = file.name;
	try {
		if (file.bytes)
			file.symbols = std::make_unique<types::ElfSymbols>(types::ElfSymbols::from_blob(
			    file.name, *std::exchange(file.bytes, std::nullopt)));
	} catch (const Error&) {
		// Not an ELF file: its addresses keep their numbers.
	}
	const uint64_t in_file = address - mapped->start + mapped->offset;
	const auto elf_address = file.symbols ? file.symbols->address_of_offset(in_file) : std::nullopt;
	if (const auto symbol = elf_address ? file.symbols->find(*elf_address) : std::nullopt) {
		place.symbol = symbol->name;
		place.symbol_offset = in_file - symbol->offset;
		place.symbol_size = symbol->size;
		place.into_symbol = symbol->offset;
	}
	return place;
}

types::SymbolName LiveSymbols::user(uint32_t pid, uint64_t address) {
	const auto found = place(pid, address);
	return found ? types::SymbolName{std::string(found->file), std::string(found->symbol),
	                                 found->into_symbol}
	             : types::SymbolName{};
}

} // namespace dfr::recorder
