// SPDX-License-Identifier: GPL-2.0
//
// united_btf(): the types that several recordings of one kernel have, together. Each has what its own program used, and
// BTF that stands alone.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/trace/recorded_types.h"

namespace dfr::replay {

// By container, as RecordedTypes::btf. All of one digest. Hostile BTF: dfr::Error. `origin` is for messages.
std::map<std::string, std::vector<std::byte>> united_btf(std::span<const trace::RecordedTypes> all,
                                                         const std::string& origin);

} // namespace dfr::replay
