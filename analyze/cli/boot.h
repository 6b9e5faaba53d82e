// SPDX-License-Identifier: GPL-2.0
//
// dfr boot: its own commands, each in a file boot_*.cc, and what they share.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "bootloader-hooks/boot/archive.h"

namespace dfr::cli {

int run_boot_add(int argc, char** argv);
int run_boot_build(int argc, char** argv);
int run_boot_diff(int argc, char** argv);
int run_boot_disable(int argc, char** argv);
int run_boot_doctor(int argc, char** argv);
int run_boot_enable(int argc, char** argv);
int run_boot_reached(int argc, char** argv);
int run_boot_renew(int argc, char** argv);
int run_boot_report(int argc, char** argv);
int run_boot_status(int argc, char** argv);
int run_boot_store(int argc, char** argv);

// Where a machine's boot programs are; `root` is "" for this machine.
std::string boot_source_path(const std::string& root, const std::string& name);
inline constexpr const char* kDefaultBootProgram = "default";

// Whether a boot program records, or what it recorded is not stored yet. Throws dfr::Error where that may not be asked.
bool anonymous_state();

// What `dfr boot build` makes, and `enable` where there is none yet.
struct BootBuild {
	std::string root, release, name, source;
	std::string types, module, shim; // empty: found
	std::string output;              // empty: the machine's place
	std::string initrd;              // the folder of the initrd that will hold all this; empty: none
	bool inside = false;             // it will be in an initrd, not behind it
	std::string loading; // boot::kByHelper, boot::kByFirstProcess; empty: the earliest that works
	std::string then;    // the state that it records on as after the boot; empty: it ends
};
// Says on stdout what it finds. Returns the archive's path; throws dfr::Error.
std::string build_boot_archive(const BootBuild& build);
// Of boot::BootLock.
void tell_that_it_waits();
// The option --root; `of`: which machine's it is.
void add_root(CLI::App& app, std::string& root, const char* of);
// The option --loading.
void add_loading(CLI::App& app, BootBuild& build);

} // namespace dfr::cli
