// SPDX-License-Identifier: GPL-2.0
//
// The table of DIF opcodes: name and operand format. Only the disassembler and the
// assembler use it; the engine has its own table (kmod/engine/loading/verify.c).
#pragma once

#include <cstdint>
#include <string_view>

namespace dfr::dif {

enum class OpcodeFormat : uint8_t {
	None,
	Three,
	Two,
	Compare,
	Test,
	Branch,
	Load,
	Store,
	Return,
	SetInteger,
	SetString,
	LoadVariable,
	StoreVariable,
	LoadArray,
	Call,
	PushReference,
	PushValue,
	Translate
};

struct OpcodeInfo {
	const char* name;
	OpcodeFormat format;
};

const OpcodeInfo* find_opcode(unsigned op); // null: no such opcode
// The number, or 0.
unsigned find_opcode(std::string_view name);

} // namespace dfr::dif
