// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

namespace dfr::cli {

// Runs a command with our stdout and stderr. Its exit status; -1: it could not be run.
int run(const std::vector<std::string>& command);

} // namespace dfr::cli
