// SPDX-License-Identifier: GPL-2.0
//
// DifoBuilder. Texts come first in the string table, names of variables last,
// as the classic assembler has them.
#include "formats/d/builder.h"

#include "formats/error.h"

namespace dfr::d {

unsigned DifoBuilder::allocate() {
	for (unsigned reg = 1; reg < registers_; reg++) {
		if (!(used_ & 1u << reg)) {
			used_ |= 1u << reg;
			return reg;
		}
	}
	throw OutOfRegisters{};
}

void DifoBuilder::release(unsigned reg) {
	if (reg)
		used_ &= ~(1u << reg);
}

void DifoBuilder::set_integer(uint64_t value, unsigned reg) {
	for (uint32_t i = 0; i < integers_.size(); i++) {
		bool relocated = false;
		for (const auto& relocation : relocations_)
			relocated |= relocation.index == i;
		if (integers_[i] == value && !relocated)
			return emit(DIF_INSTR_WIDE(DIF_OP_SETX, i, reg));
	}
	integers_.push_back(value);
	emit(DIF_INSTR_WIDE(DIF_OP_SETX, integers_.size() - 1, reg));
}

void DifoBuilder::set_address(const std::string& symbol, unsigned reg) {
	for (const auto& relocation : relocations_) {
		if (relocation.symbol == symbol)
			return emit(DIF_INSTR_WIDE(DIF_OP_SETX, relocation.index, reg));
	}
	relocations_.push_back({symbol, static_cast<uint32_t>(integers_.size()), 0});
	integers_.push_back(0);
	emit(DIF_INSTR_WIDE(DIF_OP_SETX, integers_.size() - 1, reg));
}

uint32_t DifoBuilder::string_offset(std::string_view text) {
	if (strings_.empty())
		strings_.push_back('\0');
	if (text.empty())
		return 0;
	// Whole strings only: a suffix of another would confuse whoever lists them.
	for (size_t at = 1; at < strings_.size();) {
		const std::string_view one(strings_.c_str() + at);
		if (one == text)
			return at;
		at += one.size() + 1;
	}
	const uint32_t offset = strings_.size();
	strings_.append(text).push_back('\0');
	return offset;
}

void DifoBuilder::set_string(std::string_view text, unsigned reg) {
	const uint32_t offset = string_offset(text);
	if (offset > 0xffff)
		throw Error("the string table of one expression is larger than 64 KiB",
		            "split the expression");
	emit(DIF_INSTR_WIDE(DIF_OP_SETS, offset, reg));
}

void DifoBuilder::use_variable(std::string_view name, uint32_t id, uint8_t kind, uint8_t scope, uint16_t flag,
                               dif_type type) {
	for (NamedVariable& known : variables_) {
		if (known.variable.id == id && known.variable.scope == scope && known.variable.kind == kind) {
			known.variable.flags |= flag;
			return;
		}
	}
	variables_.push_back({std::string(name), dif_var{0, id, kind, scope, flag, type}});
}

void DifoBuilder::mark(Place place) {
	if (!places_.empty() && places_.back().second == place)
		return;
	if (!places_.empty() && places_.back().first == text_.size())
		places_.back().second = place;
	else
		places_.emplace_back(text_.size(), place);
}

dif::Difo DifoBuilder::finish(dif_type type, const Sources& sources, bool lines) {
	if (integers_.size() > 0x10000 || text_.size() > 0xffffff)
		throw Error("one expression needs more code than a DIF object holds", "split the expression");
	dif::Difo difo;
	difo.rtype = type;
	difo.text.reserve(text_.size());
	for (const Instruction& one : text_)
		difo.text.push_back(one.label == kNoLabel ? one.word : one.word | labels_[one.label]);
	for (NamedVariable& named : variables_) {
		named.variable.name = string_offset(named.name);
		difo.variables.push_back(named.variable);
	}
	difo.integers = std::move(integers_);
	difo.strings = std::move(strings_);
	difo.relocations = std::move(relocations_);
	if (lines) {
		for (const auto& [pc, place] : places_) {
			const Location at = sources.locate(place);
			difo.lines.push_back({pc, std::string(at.file), at.line, at.column});
		}
	}
	return difo;
}

} // namespace dfr::d
