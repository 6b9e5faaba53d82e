// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses and stacks as text.
#include "analyze/render/datum.h"

#include <cstring>

#include "analyze/render/text.h"

namespace dfr::render {

Datum integer(uint64_t number, unsigned size, bool is_signed) {
	Datum datum;
	datum.kind = DatumKind::Integer;
	datum.number = number;
	datum.size = static_cast<uint8_t>(size);
	datum.is_signed = is_signed;
	return datum;
}

Datum text_datum(std::string_view text) {
	Datum datum;
	datum.kind = DatumKind::String;
	datum.bytes = std::as_bytes(std::span(text.data(), text.size()));
	return datum;
}

uint64_t frame_of(const Datum& stack, size_t i) {
	uint64_t pc = 0;
	std::memcpy(&pc, stack.bytes.data() + i * 8, sizeof pc);
	return pc;
}

std::string address_text(const SymbolName& symbol, uint64_t address, bool with_offset) {
	std::string text;
	if (symbol.name.empty() && symbol.offset) {
		text.append(symbol.module).append("+0x");
		put_hex(text, symbol.offset);
		return text;
	}
	if (!symbol.module.empty())
		text.append(symbol.module).append("`");
	if (symbol.name.empty()) {
		text += "0x";
		put_hex(text, address);
		return text;
	}
	text += symbol.name;
	if (with_offset && symbol.offset != 0) {
		text += "+0x";
		put_hex(text, symbol.offset);
	}
	return text;
}

std::string name_of(const Datum& datum, Symboliser& symbols) {
	const bool kernel = datum.kind == DatumKind::Symbol || datum.kind == DatumKind::Module;
	const SymbolName symbol =
	    kernel ? symbols.kernel(datum.number) : symbols.user(datum.pid, datum.number);
	const bool module_only = datum.kind == DatumKind::Module || datum.kind == DatumKind::UserModule;
	if (module_only && !symbol.module.empty())
		return symbol.module;
	return address_text(symbol, datum.number, datum.kind == DatumKind::UserAddress);
}

void put_stack(std::string& out, const Datum& stack, unsigned indent, Symboliser& symbols) {
	const bool user = stack.kind == DatumKind::UserStack;
	out += '\n';
	for (size_t i = 0; i < frames_of(stack); i++) {
		const uint64_t pc = frame_of(stack, i);
		if (pc == 0)
			break;
		const SymbolName symbol = user ? symbols.user(stack.pid, pc) : symbols.kernel(pc);
		out.append(indent, ' ');
		out += address_text(symbol, pc, true);
		out += '\n';
	}
}

} // namespace dfr::render
