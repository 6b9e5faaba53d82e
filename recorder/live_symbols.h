// SPDX-License-Identifier: GPL-2.0
//
// LiveSymbols: names of addresses on this running machine: the kernel's from
// /proc/kallsyms, a process's from its maps and ELF files. Everything is read
// when first asked for, maps again when they may have changed; those of processes
// that tracing goes along with while they live and at their end (remember), so that
// their stacks have names afterwards. Not for recordings of other boots.
//
// Each look finds what is there now, and an address may have occurred before. What a
// look finds new came after the look before it; at the first look, after the process
// began. Where two things may have been at an address at its time, it has no name.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/types/blob.h"
#include "formats/types/symboliser.h"
#include "formats/types/symbols.h"
#include "recorder/address_places.h"

namespace dfr::recorder {

// Does the kernel know processes by the numbers that we see? Not in a container with its own.
bool processes_have_our_numbers();

// /proc/PID/maps; empty: it is not there, or may not be read.
std::string read_maps(int pid);

class LiveSymbols final : public types::Symboliser, public AddressPlaces {
public:
	// Not `processes`: their numbers are not ours to look for.
	explicit LiveSymbols(bool processes = true) : see_processes_(processes) {}
	types::SymbolName kernel(uint64_t address) override;
	types::SymbolName user(uint32_t pid, uint64_t address) override;
	void remember(uint32_t pid) override; // if it has changed
	void remember(uint32_t pid, const std::string& text) override;
	void at(uint64_t time) override { time_ = time; }

	// The same, with all that is known of the place at that time.
	std::optional<KernelPlace> kernel_place(uint64_t address, uint64_t time) override;
	std::optional<UserPlace> place(uint32_t pid, uint64_t address, uint64_t time,
	                               std::string_view name_then = {}) override;
	std::vector<std::pair<uint32_t, UserPlace>> take_changes() override;
	std::vector<LoadedModule> gone_modules() const override;

private:
	using SteadyClock = std::chrono::steady_clock;

	// A file that processes have mapped, known by the device and inode that their maps name: what is
	// found under its path may be another one by now, or for us.
	struct MappedFile {
		std::string name, identity;
		std::optional<types::Blob> bytes; // until its symbols are read; it could not be opened: none
		std::unique_ptr<types::ElfSymbols> symbols;
	};
	struct Mapping {
		uint64_t start, end, offset;
		bool code;
		std::string file; // in files_, if code is mapped from it
		Presence present = {};
		bool told = false; // by place()
	};
	struct Process {
		std::vector<Mapping> maps;         // by address
		std::vector<Mapping> gone = {};    // code that is mapped no more: of a program before exec()
		SteadyClock::time_point read = {}; // long ago: never
		SteadyClock::duration rest = {};   // after it
		std::string shape = {}; // when it was read: how much was mapped, and where its program
		std::string began = {}; // as the kernel writes it: tells it from others of its number
		std::string name = {};  // of its first thread, when its program was first seen
		uint64_t looked = 0;    // when `maps` was read; 0: not of this process
		uint64_t bytes = 0;     // that its mappings take, by count()
	};
	struct KernelSymbols {
		types::Symbols symbols;
		std::string modules; // that were loaded when they were read
	};
	std::optional<KernelPlace> find_kernel(uint64_t address, uint64_t time);
	void see_modules(std::string_view text);
	const LoadedModule* module_at(const types::Symbol& symbol, uint64_t time) const;
	void read(uint32_t pid);
	std::vector<Mapping> parse_maps(uint32_t pid, const std::string& text);
	void leave(uint32_t pid, Mapping& mapping, uint64_t until);
	void count(Process& process, uint64_t bytes);
	void forget_some();
	Mapping* mapping(uint32_t pid, uint64_t address, uint64_t time);
	bool was_another_program(uint32_t pid, const Mapping& mapping, uint64_t time,
	                         std::string_view name_then);
	UserPlace place_of(const Mapping& mapping);
	std::optional<UserPlace> find_place(const Mapping& mapping, uint64_t address);
	void open_file(uint32_t pid, const Mapping& mapping, const std::string& path);

	const bool see_processes_;
	std::unique_ptr<KernelSymbols> kernel_, before_; // before_: with modules that have gone since
	SteadyClock::time_point asked_;                  // which modules there are
	uint64_t modules_looked_ = 0;                    // the same; 0: never
	std::vector<LoadedModule> modules_;              // also those that have gone
	std::vector<std::pair<uint32_t, Mapping>> changes_;
	uint64_t time_ = kAnyTime;
	std::map<uint32_t, Process> processes_;
	uint64_t all_maps_ = 0;                   // of these, bytes
	std::map<std::string, MappedFile> files_; // by device, inode and path
};

} // namespace dfr::recorder
