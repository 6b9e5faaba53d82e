// SPDX-License-Identifier: GPL-2.0
//
// LiveSymbols: names of addresses on this running machine: the kernel's from
// /proc/kallsyms, a process's from its maps and ELF files. Everything is read
// when first asked for. Not for recordings of other boots.
#pragma once

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

private:
	struct Mapping {
		uint64_t start, end, offset;
		std::string path;
	};
	const std::vector<Mapping>& maps(uint32_t pid);
	const types::ElfSymbols* file(const std::string& path);

	std::unique_ptr<types::Symbols> kernel_;
	std::map<uint32_t, std::vector<Mapping>> maps_;
	std::map<std::string, std::unique_ptr<types::ElfSymbols>> files_;
};

} // namespace dfr::lib
