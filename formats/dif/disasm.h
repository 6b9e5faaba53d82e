// SPDX-License-Identifier: GPL-2.0
//
// DIF as text: disassemble() prints one DIFO in the layout of dtrace -S. A whole
// DOF as text: formats/dof/text.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/dif/difo.h"

namespace dfr::dif {

// One instruction without its comment: "ldgs DT_VAR(280), %r1".
std::string instruction_text(uint32_t word);
// "D type (integer) (size 8)".
std::string type_text(const dif_type& type);
// A name or a string of a DIFO, which may be anybody's, in one line of plain characters.
std::string escaped(std::string_view text);

std::string disassemble(const Difo& difo);

} // namespace dfr::dif
