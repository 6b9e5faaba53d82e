// SPDX-License-Identifier: GPL-2.0
//
// A whole DOF as text. disassemble_listing() prints all its DIFOs in the order of
// compilation, as dtrace -S does. disassemble_file() writes everything that the image
// holds and assemble() reads it back: for every DOF that write() made, write() of the
// result gives the same bytes again.
//
// Each line is a keyword, then words and strings in quotes with C escapes.
// Instructions are written as dtrace -S shows them. assemble() reads the mnemonic
// and its operands; offset, word and comment are for people only.
#pragma once

#include <string>
#include <string_view>

#include "formats/dof/image.h"

namespace dfr::dof {

std::string disassemble_listing(const Image& image);
std::string disassemble_file(const Image& image);

// Throws dfr::Error naming the line.
Image assemble(std::string_view text);

} // namespace dfr::dof
