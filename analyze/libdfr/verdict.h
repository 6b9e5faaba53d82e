// SPDX-License-Identifier: GPL-2.0
//
// The verdict that goes with every answer, as a line or as JSON.
#pragma once

#include <string>

#include "formats/trace/catalog.h"
#include "formats/trace/decode.h"

namespace dfr::lib {

// `of`: what recording it is of, where several answers are printed; empty: that is clear.
std::string verdict_text(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json,
                         const std::string& of = {});

} // namespace dfr::lib
