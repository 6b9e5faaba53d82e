// SPDX-License-Identifier: GPL-2.0
//
// The code generator: an analysed expression to a DIFO. Register use and
// instruction choice follow the classic conventions (formats/dif/DIF.md,
// section 9), so that listings look as people know them.
#pragma once

#include <optional>

#include "formats/d/compilation.h"
#include "formats/dif/difo.h"

namespace dfr::d {

// What the DIFO returns. A type given here overrides the expression's own.
struct Result {
	std::optional<dif_type> type;
	bool mark_signed = false; // set DIF_TF_SIGNED where it applies
	bool cut = false;         // who takes it takes of an integer only what its type can hold
};

dif_type void_result();
dif_type int_result(uint32_t size);
// The DIF type of a value of this D type; `user`: it lies in user memory.
dif_type dif_type_of(TypeTable& types, types::TypeRef type, bool user);

// Whether a register that has this integer's value holds just what its type can hold: D computes in 64 bits.
bool exact(TypeTable& types, const Node* node);
// An integer that may have more than its type can hold.
bool is_wide(TypeTable& types, const Node* node);

// Reports D_NOREG and returns nothing if the registers do not suffice.
// In replay the expression is rewritten to use captured inputs first.
std::optional<dif::Difo> generate(Compilation& compilation, Node* node, const Result& result);

} // namespace dfr::d
