// SPDX-License-Identifier: GPL-2.0
//
// What every target shares.
#include "formats/d/target.h"

namespace dfr::d {

std::string ProbePattern::text() const {
	if (id)
		return std::to_string(id);
	return (host.empty() ? "" : host + ":") + provider + ":" + module + ":" + function + ":" + name;
}

} // namespace dfr::d
