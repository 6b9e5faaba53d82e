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
#include <string>
#include <vector>

#include "analyze/render/datum.h"
#include "formats/types/symbols.h"

namespace dfr::lib {

class LiveSymbols final : public render::Symboliser {
public:
	render::SymbolName kernel(uint64_t address) override;
	render::SymbolName user(uint32_t pid, uint64_t address) override;
	void remember(uint32_t pid) override; // if it has changed
	void remember(uint32_t pid, const std::string& maps) override;

private:
	struct Mapping {
		uint64_t start, end, offset;
		bool code;
		std::string path;
	};
	struct Process {
		std::vector<Mapping> maps;
		std::vector<Mapping> gone; // code that was mapped where nothing is now: of a program before exec()
		std::chrono::steady_clock::time_point read; // long ago: never
		std::string shape;			    // when it was read: how much was mapped, and where its program
	};
	void read(uint32_t pid);
	const Mapping* mapping(uint32_t pid, uint64_t address);
	const types::ElfSymbols* file(const std::string& path);

	std::unique_ptr<types::Symbols> kernel_;
	std::map<uint32_t, Process> processes_;
	std::map<std::string, std::unique_ptr<types::ElfSymbols>> files_;
};

} // namespace dfr::lib
