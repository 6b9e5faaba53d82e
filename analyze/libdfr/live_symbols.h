// SPDX-License-Identifier: GPL-2.0
//
// LiveSymbols: names of addresses on this running machine: the kernel's from
// /proc/kallsyms, a process's from its maps and ELF files. Everything is read
// when first asked for, maps again when they may have changed; those of processes
// that tracing goes along with while they live and at their end (remember), so that
// their stacks have names afterwards. Not for recordings of other boots.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/render/datum.h"
#include "formats/types/blob.h"
#include "formats/types/symbols.h"

namespace dfr::lib {

// Does the kernel know processes by the numbers that we see? Not in a container with its own.
bool processes_have_our_numbers();

class LiveSymbols final : public render::Symboliser {
public:
	// Not `processes`: their numbers are not ours to look for.
	explicit LiveSymbols(bool processes = true) : see_processes_(processes) {}
	render::SymbolName kernel(uint64_t address) override;
	render::SymbolName user(uint32_t pid, uint64_t address) override;
	void remember(uint32_t pid) override; // if it has changed
	void remember(uint32_t pid, const std::string& text) override;

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
	std::optional<types::Symbol> kernel_symbol(uint64_t address);
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

// What addresses in a recording of that boot are called: known if it is this one. If not, they stay
// numbers, and `unknown` is called when the first is asked for.
std::unique_ptr<render::Symboliser> symbols_of_boot(const std::array<uint8_t, 16>& boot_id,
                                                    std::function<void()> unknown);

} // namespace dfr::lib
