// SPDX-License-Identifier: GPL-2.0
//
// DIF as text. disassemble() prints one DIFO in the layout of dtrace -S,
// disassemble_listing() all DIFOs of a program in compile order.
// disassemble_file() in assemble.h writes everything that a DOF holds, so that
// assemble() can read it back.
#pragma once

#include <cstdint>
#include <string>

#include "formats/dif/difo.h"
#include "formats/dof/image.h"

namespace dfr::dif {

// One instruction without its comment: "ldgs DT_VAR(280), %r1".
std::string instruction_text(uint32_t word);
// "D type (integer) (size 8)".
std::string type_text(const dif_type& type);
// The name of a subroutine; empty: there is none with this number.
std::string_view subroutine_name(uint32_t number);

std::string disassemble(const Difo& difo);
std::string disassemble_listing(const dof::Image& image);

} // namespace dfr::dif
