// SPDX-License-Identifier: GPL-2.0
//
// The names of DIF's subroutines. What D says of them beside the name (types,
// arguments) is in formats/d/builtins.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace dfr::dif {

// Empty: there is none with this number.
std::string_view subroutine_name(uint32_t number);

} // namespace dfr::dif
