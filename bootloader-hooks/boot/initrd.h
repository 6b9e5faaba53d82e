// SPDX-License-Identifier: GPL-2.0
//
// The trace inside the machine's own initrd, where the boot loader takes no archive of ours or the command line is not
// ours to change: files of hooks for what makes initrds (`dfr boot enable --inside` writes them, install.h), and what
// the hooks then put into each initrd that is made. Whatever fails in a hook, the initrd is made, without a trace.
//
// The hook calls `dfr boot add`, which compiles the program for that kernel and puts the files of archive.h into the
// initrd's folder. In the boot shim.c is then the kernel's helper, as it is with an archive, or the initrd's script
// (of dracut with systemd: a generator) starts it, if no module was requested before.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bootloader-hooks/boot/archive.h"

namespace dfr::boot {

struct HookFile {
	const char* path; // below the machine's root
	const char* text;
};

// In each hook's text, whichever version of dfr wrote it; a file without it is somebody else's.
inline constexpr const char* kHookMark = "`dfr boot enable --inside` wrote this";

// What makes the initrds of a machine.
struct InitrdBuilder {
	const char* name;
	const char* program;         // which is there where the builder is
	std::vector<HookFile> hooks; // what makes the others work is the last
	const char* folder; // of the hooks, and of nothing else; empty: they lie among those of others
	const char* initrd; // of a kernel: its release comes behind
	// Shell commands, with a kernel's release as $1: make that kernel's initrd anew; look into it, and end with a
	// status of InitrdState.
	const char* make;
	std::string look;
	const char* make_all;   // what an administrator runs
	const char* may_refuse; // why `make` may succeed and make nothing
};

// What an initrd has of the trace. Any other status: it is not known. Broken: the trace, and no modprobe, because what
// makes the initrd took away the link that stood in its place.
enum class InitrdState { kTraced = 0, kPlain = 1, kUnknown = 2, kBroken = 3 };

// Runs one of a builder's commands for a kernel; its exit status.
using RunForKernel = std::function<int(const char* command, const std::string& release)>;

const std::vector<InitrdBuilder>& initrd_builders();
// The one that the machine at `root` has; none: nullptr. dracut may be there beside initramfs-tools, for a try.
const InitrdBuilder* initrd_builder(const std::string& root);

InitrdState look_into(const InitrdBuilder& builder, const std::string& release, const RunForKernel& run);

// Those of these kernels whose initrds are known to have the trace.
std::vector<std::string> traced_among(const std::string& root, const std::vector<std::string>& releases,
                                      const RunForKernel& run);

// Makes these kernels' initrds anew, where there are any. Throws dfr::Error, after the last of them, unless all are known
// to have no trace: a builder may succeed and make nothing.
void make_plain(const std::string& root, const std::vector<std::string>& releases, const RunForKernel& run);

// Writes an archive's files into the folder of an initrd that is being made: all of them, or none if it throws
// dfr::Error. The link is made last, because what is behind it must be there; it is relative, because Ubuntu's mkinitramfs
// removes links that lead nowhere on the machine that makes the initrd.
void add_to_initrd(const std::map<std::string, ArchiveFile>& files, const std::string& folder);

} // namespace dfr::boot
