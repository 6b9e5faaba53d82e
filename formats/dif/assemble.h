// SPDX-License-Identifier: GPL-2.0
//
// A whole DOF as text and back: disassemble_file() writes everything the image
// holds, assemble() reads it, and dof::write() of the result gives the bytes
// that disassemble_file() was given (for every DOF that dof::write() made).
//
// The text is line by line: a keyword, then words, strings in quotes with
// C escapes. Instructions are written as dtrace -S shows them; their offset, word
// and comment are for people: assemble() reads the mnemonic and its operands.
#pragma once

#include <string>
#include <string_view>

#include "formats/dof/image.h"

namespace dfr::dif {

std::string disassemble_file(const dof::Image& image);

// Throws dfr::Error naming the line.
dof::Image assemble(std::string_view text);

} // namespace dfr::dif
