// SPDX-License-Identifier: GPL-2.0
//
// DifoBuilder: instructions, labels, registers and tables of one DIFO while it
// is generated. Knows DIF, not D.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/d/diagnostics.h"
#include "formats/dif/difo.h"

namespace dfr::d {

class DifoBuilder {
public:
	struct OutOfRegisters {};
	using Label = uint32_t;

	explicit DifoBuilder(unsigned registers) : registers_(registers) {}

	// The lowest free register from 1 on.
	unsigned allocate();
	void release(unsigned reg); // %r0 is never allocated and may be released

	void emit(uint32_t instruction) { text_.push_back({instruction, kNoLabel}); }
	void branch(unsigned op, Label label) { text_.push_back({DIF_INSTR_BRANCH(op, 0), label}); }
	Label label() {
		labels_.push_back(0);
		return labels_.size() - 1;
	}
	void place(Label label) { labels_[label] = text_.size(); }

	void set_integer(uint64_t value, unsigned reg);
	void set_address(const std::string& symbol, unsigned reg); // left for the engine to resolve
	void set_string(std::string_view text, unsigned reg);

	// Enters a variable in the table, or adds a flag to it.
	void use_variable(std::string_view name, uint32_t id, uint8_t kind, uint8_t scope, uint16_t flag,
	                  dif_type type);

	// What follows may fault on behalf of this place.
	void mark(Place place);

	dif::Difo finish(dif_type type, const Sources& sources, bool lines);

private:
	static constexpr Label kNoLabel = 0xffffffff;
	struct Instruction {
		uint32_t word;
		Label label;
	};
	struct NamedVariable {
		std::string name;
		dif_var variable;
	};
	uint32_t string_offset(std::string_view text);

	std::vector<Instruction> text_;
	std::vector<uint32_t> labels_;
	std::vector<uint64_t> integers_;
	std::vector<dif::Relocation> relocations_;
	std::string strings_;
	std::vector<NamedVariable> variables_;
	std::vector<std::pair<uint32_t, Place>> places_;
	unsigned registers_; // how many there are, %r0 among them
	unsigned used_ = 1;  // bit n: register n; %r0 is never free
};

} // namespace dfr::d
