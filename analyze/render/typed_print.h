// SPDX-License-Identifier: GPL-2.0
//
// print(): a value with the names of its type and members, over several lines.
// The type comes as C text from the program, its layout as the description that
// the DOF carries (formats/d/type_text.h), or else from the kernel's types.
// A pointer to a struct comes with the first bytes of the struct.
#pragma once

#include <string>

#include "analyze/render/datum.h"

namespace dfr::types {
class Container;
}

namespace dfr::render {

void put_typed(std::string& out, const std::string& type, const Datum& datum, const types::Container* kernel,
               const std::string& description = {});

// print() of a pointer to a struct: the pointer, and what it points to without the members that are zero. `bytes`
// may be less than all of it; `description` is of the struct.
void put_pointed(std::string& out, const std::string& type, const Datum& pointer, const Datum& bytes,
                 const std::string& description);

} // namespace dfr::render
