// SPDX-License-Identifier: GPL-2.0
//
// GRUB, as Debian configures it: the entry of a kernel in grub.cfg, our block in custom.cfg, and the variables in
// grubenv. Texts in, texts out; install.h reads and writes the files.
//
// grub.cfg is update-grub's and is never changed. It reads custom.cfg if there is one (/etc/grub.d/41_custom). Our
// block is put at the top of that file, so that what was there before it is there after it, byte for byte.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dfr::boot {

// A menu entry of grub.cfg, as it stands there.
struct GrubEntry {
	std::vector<std::string> body; // lines between "menuentry ... {" and "}"
	std::string initrd_folder;     // as GRUB sees it: "/boot/", "/" or ""
	std::string access; // who may boot it: " --unrestricted", " --users X"; empty: GRUB decides
};

// The first entry that boots this kernel as usual, with an initrd. None: nothing.
std::optional<GrubEntry> find_grub_entry(const std::string& grub_cfg, const std::string& release);
// The word that lets that entry's kernel start another first process than ours, which would not be started; empty: none.
std::string own_first_process(const GrubEntry& entry);
// Does grub.cfg read custom.cfg?
bool reads_custom(const std::string& grub_cfg);
// Does GRUB boot the first entry if nobody chooses, and is it this kernel's? `saved_entry`: of grubenv. Who has it put
// another one than the newest first (GRUB_TOP_LEVEL, GRUB_FLAVOUR_ORDER) is booted by that.
bool boots_newest(const std::string& grub_cfg, const std::string& saved_entry, const std::string& newest);

struct GrubBlock {
	std::string name, release;
	std::string archive; // below initrd_folder: "dfr/default-6.1.0-56-amd64.img"
	bool may_default =
	    false; // the entry may become what is booted if nobody chooses; else it is only offered
};
// The block, with the entry "with boot trace".
std::string grub_block(const GrubBlock& block, const GrubEntry& entry);
// custom.cfg with our block (in place of an older one), and what it is without. `before` is nothing where there is
// no such file, and so is the answer where there was none.
std::string with_block(const std::optional<std::string>& before, const std::string& block);
std::optional<std::string> without_block(const std::optional<std::string>& custom);
bool has_block(const std::string& custom);
bool has_block(const std::string& custom, const std::string& block); // this one

// grubenv: 1024 bytes, which GRUB writes in place.
class GrubEnvironment {
public:
	// Nothing: a new one. Throws dfr::Error if it is none.
	explicit GrubEnvironment(const std::optional<std::string>& text);
	std::string get(const std::string& name) const; // empty: it is not set
	void set(const std::string& name, const std::string& value);
	void unset(const std::string& name);
	bool empty() const;
	// Throws dfr::Error: there is no room.
	std::string text() const;

private:
	std::vector<std::string> lines_; // comments at the top, then name=value
};

// Variables of ours in grubenv. kArmed: once, always; spent and failed are what GRUB makes of these.
inline constexpr const char* kArmedVariable = "dfr_armed";
inline constexpr const char* kTriesVariable = "dfr_tries"; // boots since user space was reached: 1, 2

} // namespace dfr::boot
