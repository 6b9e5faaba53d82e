// SPDX-License-Identifier: GPL-2.0
//
// Small files of the command's own: DOFs, their text, and pages. Recordings have readers
// and writers of their own (formats/trace).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dfr::cli {

// All throw dfr::Error; `what` completes "give the path of ...". What has more than 64 MiB is not read.
std::vector<uint8_t> read_file(const std::string& path, const char* what);
// The file has its name when it is whole and on the disk.
void write_file(const std::string& path, bool replace, mode_t mode, std::string_view bytes);
// Of regular files only a DOF, or an empty one, is replaced, also where a link leads to it.
void write_dof(const std::string& path, std::span<const uint8_t> bytes);
// What was printed has arrived, or dfr::Error.
void flush_stdout();

} // namespace dfr::cli
