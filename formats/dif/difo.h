// SPDX-License-Identifier: GPL-2.0
//
// Difo: one DIF object as a C++ value. The code generator makes it, a DOF carries
// it, the disassembler prints it and the assembler reads it. It is not verified:
// the engine does that when it loads the DOF (kmod/engine/loading/verify.c).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/abi/dif.h"

namespace dfr::dif {

// The engine adds the address of `symbol` ("module`name" or "name") and
// `addend` into integer table entry `index` when it loads the DIFO.
struct Relocation {
	std::string symbol;
	uint32_t index = 0;
	uint64_t addend = 0;

	bool operator==(const Relocation&) const = default;
};

// Instructions from `pc` on come from this place of the source.
struct SourceLine {
	uint32_t pc = 0;
	std::string file;
	uint32_t line = 0;
	uint32_t column = 0;

	bool operator==(const SourceLine&) const = default;
};

struct Difo {
	dif_type rtype{};
	std::vector<uint32_t> text;
	std::vector<uint64_t> integers;
	std::string strings; // the table's bytes: offset 0 is "", each string with its NUL; may be empty
	std::vector<dif_var> variables; // names are offsets in `strings`
	std::vector<Relocation> relocations;
	std::vector<SourceLine> lines; // by ascending pc

	// The string at `offset`; empty if that is outside the table.
	std::string_view string_at(uint32_t offset) const {
		if (offset >= strings.size())
			return {};
		return std::string_view(strings).substr(offset, strings.find('\0', offset) - offset);
	}
};

} // namespace dfr::dif
