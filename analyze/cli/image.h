// SPDX-License-Identifier: GPL-2.0
//
// What harvest and crash share: the recordings in the memory of a dead machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recorder/memory_image.h"

namespace dfr::cli {

using Images = std::vector<std::unique_ptr<recorder::ImageSource>>;

// `catalog`: a recording that lends its catalog, or empty.
Images open_image(const std::string& image, const std::string& catalog);

// "boot (state 1)", or "state 1" of one without a name.
std::string state_text(const trace::Catalog& catalog);

} // namespace dfr::cli
