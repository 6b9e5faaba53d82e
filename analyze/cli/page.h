// SPDX-License-Identifier: GPL-2.0
//
// A report as one page of HTML that works from a file, without a network: page.html with a script of the report's own
// and the report's JSON in it. What a recording says is somebody else's text: it is only in the JSON, without "<", and
// the page's script makes no markup of it. The page's policy lets a browser run that script and style alone, by their
// digests.
#pragma once

#include <string>

namespace dfr::cli {

// `json`: one object, as the report's --json prints it.
std::string boot_page(const std::string& json);
std::string crash_page(const std::string& json);

} // namespace dfr::cli
