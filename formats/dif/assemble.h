// SPDX-License-Identifier: GPL-2.0
//
// A whole DOF as text and back: disassemble_file() writes everything that the image
// holds and assemble() reads it. For every DOF that dof::write() made, dof::write()
// of the result gives the same bytes again.
//
// Each line is a keyword, then words and strings in quotes with C escapes.
// Instructions are written as dtrace -S shows them. assemble() reads the mnemonic
// and its operands; offset, word and comment are for people only.
#pragma once

#include <string>
#include <string_view>

#include "formats/dof/image.h"

namespace dfr::dif {

std::string disassemble_file(const dof::Image& image);

// Throws dfr::Error naming the line.
dof::Image assemble(std::string_view text);

} // namespace dfr::dif
