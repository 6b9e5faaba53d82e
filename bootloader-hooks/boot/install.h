// SPDX-License-Identifier: GPL-2.0
//
// What `dfr boot enable` changes on a machine whose boot loader is GRUB, and `disable` takes back. Each write is atomic
// (atomic_file.h), and they come in an order in which every beginning of it boots as before, or with the trace:
//
//	/boot/dfr/NAME-RELEASE.img           the archive; nothing names it yet
//	/var/lib/dfr/boot/enabled            what was asked for
//	two links below /etc/systemd/system  units that take note when user space is reached, and store the recording
//	/boot/grub/grubenv                   dfr_armed, which nothing reads yet
//	/boot/grub/custom.cfg                the entry, and the choice of it
//
// What is only offered is disarmed first of all. disable goes the other way, after it has noted in the plan that it does. grub.cfg, the machine's initrd and its
// kernel are never written.
//
// Or what `dfr boot enable --inside` changes, where the trace is in the machine's own initrd (initrd.h): archive,
// enabled and units as above, then the builder's hooks. Whoever calls has the initrds made anew, after enable_inside(),
// and between remove_hooks() and disable().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bootloader-hooks/boot/atomic_file.h"
#include "bootloader-hooks/boot/grub.h"
#include "formats/error.h"
#include "formats/trace/parts.h"

namespace dfr::boot {

// A disable has begun and not ended.
inline constexpr const char* kModeEnding = "off";

struct BootPlan {
	std::string name, release;
	std::string mode = "always"; // once, always, menu: only offered, kModeEnding
	std::string wanted;  // the mode that it is to have again once a renewal succeeds; empty: `mode`
	unsigned runs = 0;   // boots to be traced yet; 0: not limited
	std::string loading; // who is to load the module; empty: the earliest that works
	std::string then;    // as this state dfrd@THEN records on after the boot; empty: it ends
	bool made_environment = false;  // there was no grubenv before
	bool inside = false;            // in the machine's initrds; GRUB is not told
	std::vector<std::string> older; // names of before, whose archives have not been removed yet

	std::string text() const;
	static BootPlan parse(const std::string& text);
	bool ending() const { return mode == kModeEnding; }
};

class Installation {
public:
	explicit Installation(std::string root) : root_(std::move(root)) {}

	std::string archive(const std::string& name, const std::string& release) const;
	std::string folder() const { return resolve_links(root_, root_ + "/var/lib/dfr/boot"); }
	// Of boots, that are stored there, by the times of the files: the latest is the last.
	std::vector<std::string> recordings() const { return trace::recordings_in(folder()); }
	// Removes the oldest of those that `dfr boot store` named, but for so many and for `stored`, which a clock that begins
	// anew makes the oldest; returns which. `failed`: one cannot be removed, which keeps no other one.
	std::vector<std::string> remove_old(size_t kept, const std::string& stored,
	                                    const std::function<void(const Error&)>& failed) const;

	// What is enabled; nothing: nothing.
	std::optional<BootPlan> plan() const;
	// Why the boot loader cannot be told; empty: it can. `hint`: what to do.
	std::string obstacle(const std::string& release, std::string& hint) const;
	// Why GRUB cannot count boots here, so that the entry is only offered; empty: it can.
	std::string cannot_count() const;
	// May what is enabled go over to the newest kernel? Its own has gone, or the newest is what GRUB boots by
	// default; who has GRUB boot another one is not moved from it.
	bool follows(const BootPlan& plan, const std::vector<std::string>& kernels) const;
	// Whether the entry in custom.cfg is what enable() would write now. Not: an enable was interrupted, or update-grub has
	// made another entry of the one that ours is a copy of. True also where nothing can be written.
	bool entry_is_current(const BootPlan& plan) const;
	// Throws dfr::Error if the trace is enabled the other way.
	void refuse_other_way(bool inside) const;
	// The archive is there already. Throws dfr::Error; what was done until then boots.
	void enable(BootPlan plan) const;
	// Throws dfr::Error if nothing is known that makes initrds, or GRUB was told.
	void check_inside() const;
	// The same as enable() inside the machine's initrds.
	void enable_inside(BootPlan plan) const;
	// Initrds that are made from now on have no trace.
	void remove_hooks() const;
	// Kernels whose initrds were made with the trace, as far as `dfr boot add` has left a copy of what it put there.
	std::vector<std::string> kernels_inside() const;
	// Removes those copies but for these kernels'.
	void keep_copies(const std::vector<std::string>& kernels) const;
	// Returns whether anything was enabled. Archives of its name go, sources and other archives stay.
	bool disable() const;
	// Throws where /boot has nothing that a boot needs: it is not mounted.
	void require_boot() const;

	// A variable of grubenv; empty: it is not set.
	std::string variable(const char* name) const;
	// User space was reached: the next boot may be traced again.
	void reached() const;
	// A boot was traced and stored: counts runs, and disarms after the last one.
	void traced() const;

private:
	// Links are followed, so that a link stays one when the file is written anew.
	std::string grub(const char* file) const {
		return resolve_links(root_, root_ + "/boot/grub/" + file);
	}
	std::string plan_path() const { return folder() + "/enabled"; }
	// No link in the machine's root leads a write or a removal out of it (`--root`).
	std::string below_root(const std::string& path) const { return resolve_folder(root_, root_ + path); }
	std::string archive_folder() const { return resolve_links(root_, root_ + "/boot/dfr"); }
	// What custom.cfg gets; nothing: grub.cfg has no entry to go by.
	std::optional<std::string> block_of(const BootPlan& plan) const;
	void arm(const std::string& how) const;
	void write_environment(const GrubEnvironment& environment) const;
	void begin_to_end(BootPlan plan) const;
	void disarm(bool made_environment) const;
	void link_units() const;
	void unlink_units() const;
	void remove_archives(const std::string& name) const;

	std::string root_;
};

} // namespace dfr::boot
