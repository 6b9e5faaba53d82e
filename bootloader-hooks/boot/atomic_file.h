// SPDX-License-Identifier: GPL-2.0
//
// Files that a boot depends on: each is written beside its place, synced and renamed, so that a power cut or a full
// disk leaves the old one or the new one, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace dfr::boot {

// Makes the folders above it, too. Throws dfr::Error; the file is then what it was.
void write_atomically(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode);
void write_atomically(const std::string& path, const std::string& text, uint32_t mode);
// With mode and owner of the file that is there; 0644 if none is.
void rewrite_atomically(const std::string& path, const std::string& text);
// In its place, where the file has that size: for one that must change although nothing can be written beside it. False:
// not done.
bool overwrite(const std::string& path, const std::string& text);
// What a path below `root` is after all symbolic links in it, as who has his root there finds it: no link leads out.
// Throws dfr::Error: there are too many.
std::string resolve_links(const std::string& root, const std::string& path);
// The same for the folders above a file: the file itself may be a link, which is replaced or removed in its place.
std::string resolve_folder(const std::string& root, const std::string& path);
// A symbolic link; no error if there is one.
void link_atomically(const std::string& target, const std::string& path);
void rename_durably(const std::string& from, const std::string& to);
// No error if there is none.
void remove_durably(const std::string& path);
// Nothing: there is no such file. Throws dfr::Error for other reasons.
std::optional<std::string> read_text(const std::string& path);

} // namespace dfr::boot
