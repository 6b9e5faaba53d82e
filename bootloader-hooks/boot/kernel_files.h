// SPDX-License-Identifier: GPL-2.0
//
// Where the files of an installed kernel are that a boot archive is made of: its types and its dfr.ko. `root` is the
// root of the machine that will boot, "" for this one.
#pragma once

#include <string>
#include <vector>

#include "formats/types/blob.h"

namespace dfr::boot {

// The running kernel's release.
std::string running_release();
// The kernels that are installed, the newest first, as names of /lib/modules that have a /boot/vmlinuz.
std::vector<std::string> installed_kernels(const std::string& root);

// Does this vmlinuz say that it is of another build than `version`, what uname has? An upgrade may keep the release.
bool is_another_build(const std::string& vmlinuz, const std::string& version);
// Files that may hold a kernel's types, the cheapest first: of the kernel that will boot, which the running one is only
// as long as no other one of its release is installed.
std::vector<std::string> types_places(const std::string& root, const std::string& release);
// The first of them that is there. Throws dfr::Error, which says where it looked.
std::string find_types(const std::string& root, const std::string& release);

// Why that kernel cannot unpack the archive, by its /boot/config-RELEASE; empty: it can, or it has no such file.
std::string cannot_unpack(const std::string& root, const std::string& release, std::string& hint);

// Why the kernel's own requests for modules cannot start a helper of ours there, as far as the files of the machine
// say; empty: they can.
std::string no_helper(const std::string& root, const std::string& release);
// Who loads the module: at the kernel's first request for a module, or before the real init.
inline constexpr const char* kByHelper = "helper";
inline constexpr const char* kByFirstProcess = "first-process";
// Is the helper to be ours, where somebody asked for `loading`, and `why` is no_helper()'s? Who asks for it gets it all the
// same, but in an initrd: those are made again and again with nobody looking, of other kernels, too.
bool brings_helper(const std::string& loading, const std::string& why, bool into_initrd);

// dfr.ko of that kernel. Throws dfr::Error, which says where it looked and how to get one.
std::string find_module(const std::string& root, const std::string& release);

// The release that a module was built for, of its vermagic; empty: it does not say.
std::string module_release(const types::Blob& module, const std::string& name);
bool has_debug_information(const types::Blob& module, const std::string& name);
// The kernel's mark at the end of a signed module.
bool is_signed(const types::Blob& module);

} // namespace dfr::boot
