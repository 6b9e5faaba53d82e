// SPDX-License-Identifier: GPL-2.0
//
// From a compiled program's options (-x and pragmas alike) to the renderer's
// style, and DTrace's words for what may keep tracing from beginning.
#pragma once

#include <string>
#include <vector>

#include "analyze/render/renderer.h"
#include "formats/d/compile.h"
#include "formats/error.h"

namespace dfr::lib {

void apply_options(const d::Compiled& compiled, render::Style& style);
void apply_options(const dof::Image& image, render::Style& style);
// Options of the program that are taken and do nothing here: "option evaltime has no effect: ...".
std::vector<std::string> without_effect(const d::Compiled& compiled);
std::string go_reason(const Error& error);

} // namespace dfr::lib
