// SPDX-License-Identifier: GPL-2.0
//
// Small files of the command's own: DOFs and their text. Recordings have readers
// and writers of their own (formats/trace).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dfr::cli {

// Both throw dfr::Error; `what` completes "give the path of ...".
std::vector<uint8_t> read_file(const std::string& path, const char* what);
void write_file(const std::string& path, std::span<const uint8_t> bytes);
// Of regular files only a DOF, or an empty one, is written over.
void write_dof(const std::string& path, std::span<const uint8_t> bytes);
// What was printed has arrived, or dfr::Error.
void flush_stdout();

} // namespace dfr::cli
