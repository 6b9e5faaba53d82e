// SPDX-License-Identifier: GPL-2.0
//
// See initrd.h.
#include "bootloader-hooks/boot/initrd.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/error.h"

namespace dfr::boot {
namespace {

// initramfs-tools orders an initrd's scripts by what lies in its own folders, not by what hooks add: so there are two
// files. Scripts without prerequisites run in the order of their names. kdump-tools make the crash kernel's initrd
// from a copy of /etc/initramfs-tools: the hook sees where it lies.
constexpr const char* kInitramfsScript = R"(#!/bin/sh
# `dfr boot enable --inside` wrote this, and `dfr boot disable` removes it: traces the boot, unless the kernel has
# begun already, and ends with the log saying so if anything is wrong.
[ "$1" != prereqs ] && [ -x /dfr-init ] && /dfr-init
exit 0
)";
constexpr const char* kInitramfsHook = R"(#!/bin/sh
# `dfr boot enable --inside` wrote this, and `dfr boot disable` removes it: puts into the initrd what traces its boot.
# If anything is wrong the initrd is made without that. The initrd of a crash kernel (kdump-tools) never gets it.
[ "$1" != prereqs ] || exit 0
if [ "$CONFDIR" = /etc/initramfs-tools ] && [ -x /usr/bin/dfr ]; then
	/usr/bin/dfr boot add --kernel "$version" "$DESTDIR" >/dev/null && exit 0
	echo "dfr: the boot of kernel $version will not be traced" >&2
fi
rm -f "$DESTDIR/scripts/init-top/00-dfr"
exit 0
)";

// A listing without /init is none of an initrd: lsinitramfs may succeed on a damaged file.
constexpr const char* kInitramfsList = R"(list=$(lsinitramfs "/boot/initrd.img-$1") || exit 2
has() { printf '%s\n' "$list" | grep -qx "$1"; })";
// What comes behind either listing.
constexpr const char* kLook = R"(
has init || exit 2
has dfr.ko || exit 1
has sbin/modprobe || has usr/sbin/modprobe || exit 3)";

// A dracut with systemd runs nothing before the generators. They run again when systemd reads its units anew; the shim
// then has nothing to do. dracut's other hooks run in the order of their numbers, `cmdline` first.
constexpr const char* kDracutScript = R"(#!/bin/sh
# `dfr boot enable --inside` wrote this, and `dfr boot disable` removes it: traces the boot, unless the kernel has
# begun already, and ends with the log saying so if anything is wrong.
[ ! -x /dfr-init ] || /dfr-init
)";
constexpr const char* kDracutModule = R"(#!/bin/bash
# `dfr boot enable --inside` wrote this, and `dfr boot disable` removes it: puts into the initrd what traces its boot.
# If anything is wrong the initrd is made without that. The initrd of a crash kernel (kdump) never gets it.
check() {
	[[ -x /usr/bin/dfr && -z $dracutsysrootdir && $outfile != *kdump* &&
		" $dracutmodules $add_dracutmodules $force_add_dracutmodules " != *kdumpbase* ]]
}

install() {
	if ! /usr/bin/dfr boot add --kernel "$kernel" "$initdir" >/dev/null; then
		echo "dfr: the boot of kernel $kernel will not be traced" >&2
	elif dracut_module_included systemd; then
		mkdir -p "$initdir$systemdutildir/system-generators"
		ln -sfn /dfr-init "$initdir$systemdutildir/system-generators/dfr-init"
	elif [[ -f $moddir/dfr.sh ]]; then
		inst_hook cmdline 00 "$moddir/dfr.sh"
	fi
	return 0
}
)";

constexpr const char* kDracutList = R"(list=$(lsinitrd "/boot/initrd.img-$1") || exit 2
has() { printf '%s\n' "$list" | grep -qE " $1( -> .*)?\$"; })";

void write_into(const std::string& folder, const ArchiveFile& file) {
	const std::string path = folder + "/" + file.name;
	if (!file.link)
		return write_atomically(path, file.bytes, file.mode);
	const std::filesystem::path target{std::string(file.bytes.begin(), file.bytes.end())};
	const std::string beside = path + ".dfr-new";
	remove_durably(beside);
	link_atomically(target.lexically_relative(std::filesystem::path("/" + file.name).parent_path()),
	                beside);
	rename_durably(beside, path);
}

} // namespace

const std::vector<InitrdBuilder>& initrd_builders() {
	static const std::vector<InitrdBuilder> builders{
	    {.name = "initramfs-tools",
	     .program = "/usr/sbin/update-initramfs",
	     .hooks = {{"/etc/initramfs-tools/scripts/init-top/00-dfr", kInitramfsScript},
	               {"/etc/initramfs-tools/hooks/dfr", kInitramfsHook}},
	     .folder = "",
	     .initrd = "/boot/initrd.img-",
	     .make = "update-initramfs -u -k \"$1\"",
	     .look = std::string(kInitramfsList) + kLook,
	     .make_all = "update-initramfs -u -k all",
	     .may_refuse = "with update_initramfs=no in /etc/initramfs-tools/update-initramfs.conf, or with "
	                   "/boot mounted read-only, it makes nothing"},
	    {.name = "dracut",
	     .program = "/usr/bin/dracut",
	     .hooks = {{"/usr/lib/dracut/modules.d/99dfr/dfr.sh", kDracutScript},
	               {"/usr/lib/dracut/modules.d/99dfr/module-setup.sh", kDracutModule}},
	     .folder = "/usr/lib/dracut/modules.d/99dfr",
	     .initrd = "/boot/initrd.img-",
	     // dracut itself writes over the initrd that is there, and removes it where it does not fit.
	     .make =
	         "new=/boot/initrd.img-$1.dfr-new; dracut -q --force \"$new\" \"$1\" && sync -f \"$new\" && "
	         "mv -f \"$new\" \"/boot/initrd.img-$1\" || { rm -f \"$new\"; exit 1; }",
	     .look = std::string(kDracutList) + kLook,
	     .make_all = "dracut --force --regenerate-all",
	     .may_refuse = "with /boot full or mounted read-only the initrd of before stays"}};
	return builders;
}

const InitrdBuilder* initrd_builder(const std::string& root) {
	const auto found = std::ranges::find_if(initrd_builders(), [&root](const InitrdBuilder& one) {
		return ::access((root + one.program).c_str(), X_OK) == 0;
	});
	return found == initrd_builders().end() ? nullptr : &*found;
}

InitrdState look_into(const InitrdBuilder& builder, const std::string& release, const RunForKernel& run) {
	const auto state = InitrdState(run(builder.look.c_str(), release));
	for (const InitrdState known : {InitrdState::kTraced, InitrdState::kPlain, InitrdState::kBroken})
		if (state == known)
			return state;
	return InitrdState::kUnknown;
}

std::vector<std::string> traced_among(const std::string& root, const std::vector<std::string>& releases,
                                      const RunForKernel& run) {
	std::vector<std::string> traced;
	const InitrdBuilder* const builder = initrd_builder(root);
	for (const std::string& release : releases) {
		if (!builder || ::access((root + builder->initrd + release).c_str(), F_OK) != 0)
			continue;
		const InitrdState state = look_into(*builder, release, run);
		if (state == InitrdState::kTraced || state == InitrdState::kBroken)
			traced.push_back(release);
	}
	return traced;
}

void make_plain(const std::string& root, const std::vector<std::string>& releases, const RunForKernel& run) {
	const InitrdBuilder* const builder = initrd_builder(root);
	std::string failed;
	for (const std::string& release : releases) {
		InitrdState state = InitrdState::kUnknown;
		if (builder) {
			if (::access((root + builder->initrd + release).c_str(), F_OK) != 0 &&
			    ::access((root + "/boot/vmlinuz-" + release).c_str(), F_OK) != 0)
				continue; // the kernel has gone
			run(builder->make, release);
			state = look_into(*builder, release, run);
		}
		if (state != InitrdState::kPlain)
			failed += (failed.empty() ? "" : "; ") + std::string("that of kernel ") + release +
			          (state == InitrdState::kUnknown ? " may have the trace" : " has the trace");
	}
	if (failed.empty())
		return;
	const std::string why = "initrds are not known to be without the trace: " + failed;
	if (!builder)
		throw Error(why + "; nothing is known here that makes initrds",
		            "make them anew, remove the archives of these kernels in " + root +
		                "/boot/dfr, then dfr boot disable again");
	throw Error(why, "mend what it says above (" + std::string(builder->may_refuse) + "), then " +
	                     builder->make_all + ", and dfr boot disable again");
}

void add_to_initrd(const std::map<std::string, ArchiveFile>& files, const std::string& folder) {
	try {
		for (const bool links : {false, true})
			for (const auto& [name, file] : files)
				if (file.link == links)
					write_into(folder, file);
	} catch (...) {
		for (const auto& [name, file] : files)
			if (!file.link)
				::unlink((folder + "/" + name).c_str());
		throw;
	}
}

} // namespace dfr::boot
