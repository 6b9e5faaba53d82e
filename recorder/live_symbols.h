// SPDX-License-Identifier: GPL-2.0
//
// LiveSymbols: names of addresses on this running machine: the kernel's from
// /proc/kallsyms, a process's from its maps and ELF files. Everything is read
// when first asked for, maps again when they may have changed; those of processes
// that tracing goes along with while they live and at their end (remember), so that
// their stacks have names afterwards. Not for recordings of other boots.
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

namespace dfr::recorder {

// Does the kernel know processes by the numbers that we see? Not in a container with its own.
bool processes_have_our_numbers();

// /proc/PID/maps; empty: it is not there, or may not be read.
std::string read_maps(int pid);

// What of a process is at an address: `offset` of a file is mapped at `start`, and the symbol there, if one
// is known, begins at `symbol_offset` of that file. Texts are valid until the next question.
struct UserPlace {
	uint64_t start = 0, end = 0, offset = 0;
	std::string_view file;
	std::string_view symbol; // empty: not known
	uint64_t symbol_offset = 0, symbol_size = 0;
	uint64_t into_symbol = 0; // the address's distance from its start
};

class LiveSymbols final : public types::Symboliser {
public:
	// Not `processes`: their numbers are not ours to look for.
	explicit LiveSymbols(bool processes = true) : see_processes_(processes) {}
	types::SymbolName kernel(uint64_t address) override;
	types::SymbolName user(uint32_t pid, uint64_t address) override;
	void remember(uint32_t pid) override; // if it has changed
	void remember(uint32_t pid, const std::string& text) override;

	// The same, with all that is known of the place. Texts are valid until the next question.
	std::optional<types::Symbol> kernel_symbol(uint64_t address);
	std::optional<UserPlace> place(uint32_t pid, uint64_t address);

private:
	using SteadyClock = std::chrono::steady_clock;

	// A file that processes have mapped, known by the device and inode that their maps name: what is
	// found under its path may be another one by now, or for us.
	struct MappedFile {
		std::string name;
		std::optional<types::Blob> bytes; // until its symbols are read; it could not be opened: none
		std::unique_ptr<types::ElfSymbols> symbols;
	};
	struct Mapping {
		uint64_t start, end, offset;
		bool code;
		std::string file; // in files_, if code is mapped from it
	};
	struct Process {
		std::vector<Mapping> maps; // by address
		std::vector<Mapping>
		    gone; // code that was mapped where nothing is now: of a program before exec()
		SteadyClock::time_point read; // long ago: never
		std::string shape;            // when it was read: how much was mapped, and where its program
	};
	struct KernelSymbols {
		types::Symbols symbols;
		std::string modules; // that were loaded when they were read
	};
	std::optional<types::Symbol> find_kernel(uint64_t address);
	void read(uint32_t pid);
	void forget_some();
	const Mapping* mapping(uint32_t pid, uint64_t address);
	void open_file(uint32_t pid, const Mapping& mapping, const std::string& path);

	const bool see_processes_;
	std::unique_ptr<KernelSymbols> kernel_, before_; // before_: with modules that have gone since
	SteadyClock::time_point asked_;                  // which modules there are
	std::map<uint32_t, Process> processes_;
	std::map<std::string, MappedFile> files_; // by device, inode and path
};

} // namespace dfr::recorder
