// SPDX-License-Identifier: GPL-2.0
//
// The C preprocessor over a D program (-C): an external cpp, as ever.
#pragma once

#include <string>

#include "formats/d/compile_options.h"

namespace dfr::d {

// Throws dfr::Error if cpp cannot be run or fails.
std::string preprocess(const std::string& source, const CompileOptions& options);

} // namespace dfr::d
