// SPDX-License-Identifier: GPL-2.0
//
// The archive that a boot loader gives to the kernel as one more initrd: a cpio archive in the kernel's format
// ("newc"), compressed as a whole with zstd. It has no entries of folders: an entry of a folder would replace what
// the machine's own initrd has there (BOOT.md, "Traps").
//
//	/dfr-init        the kernel's helper and the first process (shim.c)
//	/dfr.ko          the module, as it is installed, so that its signature holds
//	/dfr.dof         the boot program
//	/dfr.parameters  one line: the module's parameters, which name the program and say who made it
//	/usr/sbin/modprobe  a symbolic link to /dfr-init, where the kernel's helper may be ours (kernel_files.h); it takes the
//	                 place of the initrd's own link, which /dfr-init makes again
//
// In front of it stand zeros, which kernels skip between archives: the end of an initrd that is compressed with lz4 is
// found only by them. The same files make the same bytes. Who puts another archive behind it pads it to a multiple of
// 4 bytes with zeros, as GRUB does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dfr::boot {

inline constexpr const char* kShimFile = "dfr-init";
inline constexpr const char* kModuleFile = "dfr.ko";
inline constexpr const char* kProgramFile = "dfr.dof";
inline constexpr const char* kParametersFile = "dfr.parameters";
inline constexpr const char* kHelperLink = "usr/sbin/modprobe";
// The kernel runs this first if its command line says so.
inline constexpr const char* kFirstProcess = "rdinit=/dfr-init";
// Lets the kernel keep its own events from its entry on, before the module is there (kernel's
// Documentation/admin-guide/kernel-parameters.txt). Without a clock of its own choice it empties the buffer when it
// finds that the usual one is not stable.
inline constexpr const char* kKernelEvents = "trace_event=initcall:,module:module_load trace_clock=mono";
inline constexpr size_t kZeros = 512; // before the compressed archive

struct ArchiveFile {
	std::string name; // without a slash in front
	uint32_t mode = 0644;
	std::vector<uint8_t> bytes; // of a link: where it leads
	bool link = false;
};

// A file that is no link.
ArchiveFile archive_file(const char* name, uint32_t mode, std::span<const uint8_t> bytes);
std::vector<uint8_t> pack_archive(const std::vector<ArchiveFile>& files);
// What pack_archive() made. Throws dfr::Error: it is damaged, or something else.
std::map<std::string, ArchiveFile> unpack_archive(std::span<const uint8_t> bytes, const std::string& name);

// Who made a boot program, in the parameter program_origin: one word, because it stands in a list of parameters.
struct ProgramOrigin {
	std::string name;        // of the program: letters, digits, "-" and "_"
	std::string release;     // of the kernel
	std::string source, dof; // SHA-256
	std::string module;      // likewise
	std::string btf; // the digest of formats/types/btf.h, in hexadecimal; empty: no types are used

	std::string text() const;
	// From the text of kParametersFile. Throws dfr::Error.
	static ProgramOrigin parse(const std::string& parameters, const std::string& archive);
	// Whole, for kParametersFile.
	std::string parameters() const;
};

bool valid_name(const std::string& name);

} // namespace dfr::boot
