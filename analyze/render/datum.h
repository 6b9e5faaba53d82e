// SPDX-License-Identifier: GPL-2.0
//
// Datum: one recorded value or one element of an aggregation's key, as the
// formatters take it: a number, text, bytes, a stack, an address to be named.
// It borrows its bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/types/symboliser.h"

namespace dfr::render {

enum class DatumKind : uint8_t {
	None,
	Integer,
	Float,  // number holds the bits
	String, // bytes without NUL
	Bytes,
	Stack,      // bytes: u64 PCs, maybe unaligned
	UserStack,  // the same, of process `pid`
	Symbol,     // sym(), func(): number is the address
	Module,     // mod()
	UserSymbol, // usym(), ufunc()
	UserModule, // umod()
	UserAddress // uaddr()
};

struct Datum {
	DatumKind kind = DatumKind::None;
	bool is_signed = false;
	uint8_t size = 8; // Integer, Float: bytes as declared
	uint32_t pid = 0;
	uint64_t number = 0;
	std::span<const std::byte> bytes;

	std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
	bool is_address() const { return kind >= DatumKind::Symbol; }
};

Datum integer(uint64_t number, unsigned size, bool is_signed);
Datum text_datum(std::string_view text);
// The i-th PC of a Stack or UserStack.
uint64_t frame_of(const Datum& stack, size_t i);
inline size_t frames_of(const Datum& stack) {
	return stack.bytes.size() / 8;
}

using types::Symboliser;
using types::SymbolName;

// Knows nothing: addresses print as numbers.
class NoSymbols final : public Symboliser {
public:
	SymbolName kernel(uint64_t) override { return {}; }
	SymbolName user(uint32_t, uint64_t) override { return {}; }
};

// "module`name+0x12", "module`0xaddr" or "0xaddr"; without offset where the kind drops it.
std::string address_text(const SymbolName& symbol, uint64_t address, bool with_offset);
// The text of a Symbol .. UserAddress datum.
std::string name_of(const Datum& datum, Symboliser& symbols);
// Newline, then a line for each frame, `indent` columns in.
void put_stack(std::string& out, const Datum& stack, unsigned indent, Symboliser& symbols);

} // namespace dfr::render
