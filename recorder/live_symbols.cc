// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses on this machine.
#include "recorder/live_symbols.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "formats/clock.h"
#include "formats/error.h"

namespace dfr::recorder {
namespace {

// Again after a second, for processes exec and load libraries, and modules are loaded; sooner where an
// address is in none, but not for each frame of a process that makes its code itself.
constexpr auto kFresh = std::chrono::seconds(1);
constexpr auto kMissed = std::chrono::milliseconds(100);
// A process with very many mappings is not looked at for ten times as long as a look takes.
constexpr unsigned kRest = 10;
constexpr uint64_t kMostFile = uint64_t(1) << 30; // that names are looked for in

// A process that maps and unmaps code all the time does not fill our memory, nor do processes.
constexpr size_t kGoneMost = 1024;
constexpr size_t kProcessesMost = 4096;
constexpr size_t kMapsMost = 16 << 20;       // bytes of /proc/PID/maps; what is behind them has no names
constexpr uint64_t kAllMapsMost = 256 << 20; // of all processes together
constexpr size_t kModulesMost = 4096;
constexpr uint64_t kSecond = 1'000'000'000;

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
				modules.append(word).append(field == 5 ? "\n" : " ");
	}
	return modules;
}

// What a line of /proc/PID/stat says, which costs a fraction of reading the maps.
struct ProcessStat {
	std::string name; // of the first thread
	std::string
	    began; // in ticks of the clock that counts sleep, since boot; empty: the process is not there
	std::string shape; // changes with exec() and with what is mapped
};

ProcessStat stat_of(uint32_t pid) {
	constexpr int kBegan = 22, kVirtualSize = 23, kStartOfCode = 26;
	const std::unique_ptr<FILE, int (*)(FILE*)> file(
	    std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re"), std::fclose);
	// Not up to the first line's end: a process may have one in its name.
	char line[2048];
	const std::string_view text(line, file ? std::fread(line, 1, sizeof line, file.get()) : 0);
	const size_t open = text.find('('), close = text.rfind(')');
	if (open == std::string_view::npos || close == std::string_view::npos || close < open)
		return {};
	ProcessStat stat{.name = std::string(text.substr(open + 1, close - open - 1))};
	size_t at = close;
	for (int field = 3; at < text.size() && field <= kStartOfCode; field++) {
		const size_t from = std::min(text.find_first_not_of(' ', at + 1), text.size());
		at = std::min(text.find(' ', from), text.size());
		const std::string_view word = text.substr(from, at - from);
		if (field == kBegan)
			stat.began = word;
		if (field == kVirtualSize || field == kStartOfCode)
			stat.shape.append(word).append(" ");
	}
	return stat;
}

// On the records' clock, and not later than it was: a tick begins before what is in it, and the clock of records
// stood still while the machine slept.
uint64_t time_of(const std::string& began) {
	const uint64_t now = now_ns(); // first, so that the other is not less
	timespec boot{};
	::clock_gettime(CLOCK_BOOTTIME, &boot);
	const uint64_t slept =
	    static_cast<uint64_t>(boot.tv_sec) * kSecond + static_cast<uint64_t>(boot.tv_nsec) - now;
	const uint64_t ticks = std::strtoull(began.c_str(), nullptr, 10);
	const uint64_t time = ticks * (kSecond / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)));
	return time > slept ? time - slept : 0;
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
	size_t got = 0;
	while (text.size() < kMapsMost && (got = file ? std::fread(piece, 1, sizeof piece, file.get()) : 0))
		text.append(piece, got);
	if (text.size() >= kMapsMost)
		text.resize(text.rfind('\n') + 1);
	return text;
}

// Takes what loaded_modules() says now.
void LiveSymbols::see_modules(std::string_view text) {
	const uint64_t now = now_ns();
	std::vector<LoadedModule> loaded;
	std::istringstream lines{std::string(text)};
	std::string name, size, start;
	while (lines >> name >> size >> start)
		loaded.push_back({name,
		                  std::strtoull(start.c_str(), nullptr, 16),
		                  std::strtoull(size.c_str(), nullptr, 10),
		                  {modules_looked_, now}});
	const auto same = [](const LoadedModule& one, const LoadedModule& other) {
		return one.name == other.name && one.start == other.start && one.size == other.size;
	};
	for (LoadedModule& known : modules_) {
		if (known.present.until != UINT64_MAX)
			continue;
		const auto still =
		    std::ranges::find_if(loaded, [&](const LoadedModule& one) { return same(one, known); });
		if (still == loaded.end())
			known.present.until = now;
		else
			loaded.erase(still);
	}
	modules_.insert(modules_.end(), loaded.begin(), loaded.end());
	if (modules_.size() > kModulesMost)
		std::erase_if(modules_,
		              [](const LoadedModule& one) { return one.present.until != UINT64_MAX; });
}

// The latest that had the symbol and may have been there; null: none.
const LoadedModule* LiveSymbols::module_at(const types::Symbol& symbol, uint64_t time) const {
	const LoadedModule* found = nullptr;
	bool in_range = false; // data, and what runs only once, may lie outside of what is listed
	for (const LoadedModule& one : modules_) {
		const bool inside = symbol.address - one.start < one.size;
		if (one.name != symbol.module || (in_range && !inside))
			continue;
		if (inside && !std::exchange(in_range, true))
			found = nullptr;
		if (time == kAnyTime || one.present.may_hold(time))
			found = &one;
	}
	return found;
}

std::optional<KernelPlace> LiveSymbols::find_kernel(uint64_t address, uint64_t time) {
	const auto find = [&](const std::unique_ptr<KernelSymbols>& kernel) -> std::optional<KernelPlace> {
		if (!kernel || !kernel->symbols.has_addresses())
			return std::nullopt;
		const auto symbol = kernel->symbols.find(address);
		if (!symbol)
			return std::nullopt;
		const LoadedModule* const module = module_at(*symbol, time);
		const bool of_module = std::ranges::any_of(
		    modules_, [&](const LoadedModule& one) { return one.name == symbol->module; });
		return of_module && !module ? std::nullopt : std::optional(KernelPlace{*symbol, module});
	};
	std::optional<KernelPlace> place = find(kernel_);
	const auto age = SteadyClock::now() - asked_;
	// Of the last symbol of a module nobody knows where it ends.
	if (!kernel_ || age >= (place && place->symbol.size != 0 ? kFresh : kMissed)) {
		asked_ = SteadyClock::now();
		const uint64_t looked = now_ns();
		std::string modules = loaded_modules();
		if (!kernel_ || modules != kernel_->modules) {
			see_modules(modules);
			auto now = std::make_unique<KernelSymbols>(
			    KernelSymbols{types::Symbols::from_kallsyms(), std::move(modules)});
			before_ = std::exchange(kernel_, std::move(now));
		}
		modules_looked_ = looked;
		place = find(kernel_);
	}
	return place ? place : find(before_);
}

std::optional<KernelPlace> LiveSymbols::kernel_place(uint64_t address, uint64_t time) {
	try {
		return find_kernel(address, time);
	} catch (const Error&) {
		return std::nullopt; // without symbols an address is printed as it is
	}
}

types::SymbolName LiveSymbols::kernel(uint64_t address) {
	if (const auto place = kernel_place(address, time_))
		return {std::string(place->symbol.module), std::string(place->symbol.name),
		        place->symbol.offset};
	return {};
}

void LiveSymbols::remember(uint32_t pid) {
	const std::string shape = stat_of(pid).shape;
	if (shape.empty() || shape == processes_[pid].shape)
		return;
	read(pid);
	processes_[pid].shape = shape;
}

void LiveSymbols::read(uint32_t pid) {
	const auto begun = SteadyClock::now();
	remember(pid, read_maps(static_cast<int>(pid)));
	Process& process = processes_[pid];
	process.read = SteadyClock::now();
	process.rest = kRest * (process.read - begun);
}

std::vector<LiveSymbols::Mapping> LiveSymbols::parse_maps(uint32_t pid, const std::string& text) {
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
	return maps;
}

// What was mapped and is no more.
void LiveSymbols::leave(uint32_t pid, Mapping& mapping, uint64_t until) {
	mapping.present.until = until;
	if (mapping.told)
		changes_.emplace_back(pid, mapping);
	if (mapping.code)
		processes_[pid].gone.push_back(mapping);
}

void LiveSymbols::remember(uint32_t pid, const std::string& text) {
	std::vector<Mapping> maps = parse_maps(pid, text);
	Process& process = processes_[pid];
	process.read = SteadyClock::now();
	// A process that has ended keeps the maps that it had.
	if (maps.empty())
		return;
	const uint64_t now = now_ns();
	const ProcessStat stat = stat_of(pid);
	const uint64_t began = stat.began.empty() ? 0 : time_of(stat.began);
	if (!stat.began.empty() && stat.began != process.began) { // another process has the number now
		for (Mapping& old : std::exchange(process.maps, {}))
			leave(pid, old, began);
		process.began = stat.began;
		process.looked = 0;
	}
	const bool same_program = !process.maps.empty() && process.maps[0].start == maps[0].start &&
	                          process.maps[0].file == maps[0].file;
	if (!same_program)
		process.name = stat.name;
	const auto same = [](const Mapping& one, const Mapping& other) {
		return one.start == other.start && one.end == other.end && one.offset == other.offset &&
		       one.file == other.file;
	};
	for (Mapping& one : maps)
		one.present = {process.looked ? process.looked : began, now};
	auto still = maps.begin(); // both are in order
	for (Mapping& old : process.maps) {
		while (still != maps.end() && still->start < old.start)
			++still;
		if (still == maps.end() || !same(*still, old))
			leave(pid, old, now);
		else
			*still = old;
	}
	if (process.gone.size() > kGoneMost)
		process.gone.erase(process.gone.begin(), process.gone.end() - kGoneMost);
	process.maps = std::move(maps);
	process.looked = now;
	count(process, text.size());
}

// What it takes of our memory. A process may map as many files with long names as it likes.
void LiveSymbols::count(Process& process, uint64_t bytes) {
	for (const Mapping& mapping : process.gone)
		bytes += mapping.file.size();
	all_maps_ += bytes - process.bytes;
	process.bytes = bytes;
}

LiveSymbols::Mapping* LiveSymbols::mapping(uint32_t pid, uint64_t address, uint64_t time) {
	if ((processes_.size() >= kProcessesMost || all_maps_ >= kAllMapsMost) && !processes_.contains(pid))
		forget_some();
	const auto find = [&](std::vector<Mapping>& maps) -> Mapping* {
		const auto at = std::upper_bound(
		    maps.begin(), maps.end(), address,
		    [](uint64_t value, const Mapping& mapping) { return value < mapping.end; });
		return at != maps.end() && address >= at->start ? &*at : nullptr;
	};
	Process& process = processes_[pid];
	Mapping* known = find(process.maps);
	const auto age = SteadyClock::now() - process.read;
	if (age >= std::max<SteadyClock::duration>(known ? kFresh : kMissed, process.rest)) {
		read(pid);
		known = find(process.maps);
	}
	if (known && time == kAnyTime)
		return known;
	if (known && !known->present.may_hold(time))
		known = nullptr;
	for (auto old = process.gone.rbegin(); old != process.gone.rend(); ++old) {
		if (address < old->start || address >= old->end ||
		    (time != kAnyTime && !old->present.may_hold(time)))
			continue;
		if (!known)
			known = &*old;
		else if (time != kAnyTime && (old->file != known->file ||
		                              old->start - old->offset != known->start - known->offset))
			return nullptr; // one of them, but nobody knows which
	}
	return known;
}

// Whether the process had another name then, before what is mapped now was seen: it has exec()ed since, and what is
// mapped now came later.
bool LiveSymbols::was_another_program(uint32_t pid, const Mapping& mapping, uint64_t time,
                                      std::string_view name_then) {
	Process& process = processes_[pid];
	if (name_then.empty() || name_then == process.name || time >= mapping.present.seen ||
	    mapping.present.until != UINT64_MAX)
		return false;
	for (Mapping& one : process.maps) {
		if (one.present.seen <= time || one.present.since > time)
			continue;
		one.present.since = time + 1;
		if (one.told)
			changes_.emplace_back(pid, one);
	}
	return true;
}

std::vector<LoadedModule> LiveSymbols::gone_modules() const {
	std::vector<LoadedModule> gone;
	std::ranges::copy_if(modules_, std::back_inserter(gone),
	                     [](const LoadedModule& one) { return one.present.until != UINT64_MAX; });
	return gone;
}

std::vector<std::pair<uint32_t, UserPlace>> LiveSymbols::take_changes() {
	std::vector<std::pair<uint32_t, UserPlace>> places;
	for (const auto& [pid, mapping] : std::exchange(changes_, {}))
		places.emplace_back(pid, place_of(mapping));
	return places;
}

// The half that was looked at longest ago, but for those that tracing goes along with.
void LiveSymbols::forget_some() {
	std::vector<SteadyClock::time_point> times;
	for (const auto& [pid, process] : processes_)
		times.push_back(process.read);
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	const auto middle = times[times.size() / 2];
	std::erase_if(processes_, [&](const auto& one) {
		const bool forgotten = one.second.shape.empty() && one.second.read <= middle;
		all_maps_ -= forgotten ? one.second.bytes : 0;
		return forgotten;
	});
	std::set<std::string> mapped;
	for (const auto& [pid, process] : processes_)
		for (const auto* const maps : {&process.maps, &process.gone})
			for (const Mapping& mapping : *maps)
				mapped.insert(mapping.file);
	std::erase_if(files_, [&](const auto& one) { return !mapped.contains(one.first); });
}

namespace {

struct FileFound {
	std::optional<types::Blob> bytes;
	std::string version; // its size and when it was written
};

// The path is the process's own to change, and what is no regular file is not opened, because that may wait, or do more.
FileFound try_file(const std::string& path) {
	const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
	if (place < 0)
		return {};
	FileFound found;
	struct stat info;
	if (::fstat(place, &info) == 0 && S_ISREG(info.st_mode) &&
	    static_cast<uint64_t>(info.st_size) <= kMostFile) {
		try {
			found = {types::Blob::from_file("/proc/self/fd/" + std::to_string(place)),
			         std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) +
			             "." + std::to_string(info.st_mtim.tv_nsec)};
			if (found.bytes->size() > kMostFile) // it has grown meanwhile
				found = {};
		} catch (const std::exception&) {
		}
	}
	::close(place);
	return found;
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
	FileFound found;
	if (path[0] == '/')
		found = try_file(process + "/map_files/" + range);
	else
		found.bytes = own_vdso();
	if (!found.bytes && !deleted)
		found = try_file(process + "/root" + path);
	if (!found.bytes && !deleted)
		found = try_file(path);
	file.bytes = std::move(found.bytes);
	// Until its build id is read, if it has one: device, inode and path, size and time.
	file.identity = mapping.file + " " + found.version;
}

// Without a symbol.
UserPlace LiveSymbols::place_of(const Mapping& mapping) {
	UserPlace place{.start = mapping.start,
	                .end = mapping.end,
	                .offset = mapping.offset,
	                .present = mapping.present,
	                .file = {},
	                .identity = {},
	                .symbol = {}};
	const auto at = files_.find(mapping.file);
	if (at == files_.end()) { // no code is mapped from it
		place.file = std::string_view(mapping.file).substr(mapping.file.rfind('/') + 1);
		place.identity = mapping.file;
		return place;
	}
	MappedFile& file = at->second;
	try {
		if (file.bytes)
			file.symbols = std::make_unique<types::ElfSymbols>(types::ElfSymbols::from_blob(
			    file.name, *std::exchange(file.bytes, std::nullopt)));
		if (file.symbols && !file.symbols->build_id().empty())
			file.identity = file.symbols->build_id();
	} catch (const std::exception&) {
		// Not an ELF file, or none that memory has room for: its addresses keep their numbers.
	}
	place.file = file.name;
	place.identity = file.identity;
	return place;
}

std::optional<UserPlace> LiveSymbols::find_place(const Mapping& mapping, uint64_t address) {
	UserPlace place = place_of(mapping);
	const auto at = files_.find(mapping.file);
	const types::ElfSymbols* const symbols = at == files_.end() ? nullptr : at->second.symbols.get();
	const uint64_t in_file = address - mapping.start + mapping.offset;
	const auto elf_address = symbols ? symbols->address_of_offset(in_file) : std::nullopt;
	if (const auto symbol = elf_address ? symbols->find(*elf_address) : std::nullopt) {
		place.symbol = symbol->name;
		place.symbol_offset = in_file - symbol->offset;
		place.symbol_size = symbol->size;
		place.into_symbol = symbol->offset;
	}
	return place;
}

std::optional<UserPlace> LiveSymbols::place(uint32_t pid, uint64_t address, uint64_t time,
                                            std::string_view name_then) {
	Mapping* const mapped = see_processes_ ? mapping(pid, address, time) : nullptr;
	if (!mapped || was_another_program(pid, *mapped, time, name_then))
		return std::nullopt;
	mapped->told = true;
	return find_place(*mapped, address);
}

types::SymbolName LiveSymbols::user(uint32_t pid, uint64_t address) {
	const Mapping* const mapped = see_processes_ ? mapping(pid, address, time_) : nullptr;
	const auto found = mapped ? find_place(*mapped, address) : std::nullopt;
	return found ? types::SymbolName{std::string(found->file), std::string(found->symbol),
	                                 found->into_symbol}
	             : types::SymbolName{};
}

} // namespace dfr::recorder
