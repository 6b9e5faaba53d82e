// SPDX-License-Identifier: GPL-2.0
//
// A type as text that needs nothing else to be understood: what print() has to
// know when the value is shown, perhaps on another machine and without the
// kernel's type information. One type a line, the first one is meant; others
// are named by line number (from 0):
//
//   I BITS s|u|c|b NAME    integer: signed, unsigned, char, bool
//   F BYTES NAME           P TARGET            A COUNT ELEMENT        V
//   S|U BYTES NAME MEMBER:BITOFFSET:BITWIDTH:TYPE ...
//   E BYTES s|u NAME CONSTANT=VALUE ...
//   T TARGET NAME          N s|u|e NAME (only its name is known)
//
// NAME and MEMBER are "-" where there is none. What a pointer points to is
// named, not described.
#pragma once

#include <string>
#include <string_view>

#include "formats/types/program_types.h"

namespace dfr::d {

std::string write_type_text(types::TypeRef type);

// Makes the type in `into`. The text is hostile: dfr::Error if it is wrong.
types::TypeRef read_type_text(std::string_view text, types::ProgramTypes& into);

} // namespace dfr::d
