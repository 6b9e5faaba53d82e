// SPDX-License-Identifier: GPL-2.0
//
// Canonical text of an analysed expression that is a firing input: built-ins,
// arguments, kernel symbols, loads from these, subroutines without side
// effects. Two expressions with the same text have the same value in the same
// firing, however they were written: names of inlines, translators, spacing and
// constants computed at compile time leave no trace. Grammar:
//
//   12  "text"  execname  arg0  args[0]  uregs[3]  `jiffies_64  `module`name
//   (load s4 ADDRESS)   sign, bytes; (uload ...) from user memory
//   (ref 16 ADDRESS)    that many bytes by value; (uref ...) likewise
//   (str ADDRESS)       text up to its NUL
//   (bits s OFFSET WIDTH ADDRESS)
//   (+ a b) (sdiv a b) (udiv a b) (neg a) (not a) ... (?: a b c)
//   (cast u1 a)         cut to a smaller type; (cast b1 a) to a bool
//   (, a b)             b, after a, which may fault
//   (strlen a)          a subroutine
#pragma once

#include <string>

#include "formats/d/compilation.h"

namespace dfr::d {

// Empty: not a firing input.
std::string canonical(TypeTable& types, const Node* node);

// The canonical text of what stands in an integer of so many bytes, in which `canonical` was recorded: D computes in
// 64 bits, of which fewer bytes have the lowest.
std::string recorded_text(const std::string& canonical, uint64_t size, bool is_signed);

// Canonical text as D source, for messages: "execname == "csh" && arg0 > 3".
std::string readable(const std::string& canonical);

// The expression as D source, for messages.
std::string source_text(TypeTable& types, const Node* node);

} // namespace dfr::d
