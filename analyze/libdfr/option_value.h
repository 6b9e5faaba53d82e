// SPDX-License-Identifier: GPL-2.0
//
// Values of options as people write them: rates (10hz, 500ms).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dfr::lib {

std::optional<uint64_t> parse_rate(std::string_view text); // ns

} // namespace dfr::lib
