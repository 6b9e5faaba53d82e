// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

namespace dfr::cli {

// Runs a command with our stdout and stderr. Its exit status; -1: it could not be run.
int run(const std::vector<std::string>& command);
// The same for a shell command, with a kernel's release as $1.
int run_for_kernel(const char* command, const std::string& release);

} // namespace dfr::cli
