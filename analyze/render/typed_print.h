// SPDX-License-Identifier: GPL-2.0
//
// print(): a value with the names of its type and members, over several lines.
// The type comes as C text from the program, its layout as the description that
// the DOF carries (formats/d/type_text.h), or else from the kernel's types.
#pragma once

#include <string>

#include "analyze/render/datum.h"

namespace dfr::types {
class Container;
}

namespace dfr::render {

void put_typed(std::string& out, const std::string& type, const Datum& datum, const types::Container* kernel,
	       const std::string& description = {});

} // namespace dfr::render
