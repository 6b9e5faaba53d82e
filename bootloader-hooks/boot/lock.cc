// SPDX-License-Identifier: GPL-2.0
//
// See lock.h.
#include "bootloader-hooks/boot/lock.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/error.h"

namespace dfr::boot {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

// For give_up(). Nothing depends on it, and a full disk may have no room.
void write_holder(int file) {
	if (::ftruncate(file, 0) == 0)
		::dprintf(file, "%d\n", static_cast<int>(::getpid()));
}

[[noreturn]] void give_up(const std::string& path) {
	const std::string text = read_text(path).value_or("");
	const std::string holder = text.substr(0, text.find('\n'));
	if (holder.empty()) // of an older dfr, or of one on a full disk
		throw Error("another dfr boot has not ended, which holds " + path,
		            "see what it waits for (ps -C dfr -f), end it if it hangs, then do this again");
	throw Error("another dfr boot has not ended: process " + holder + " holds " + path,
	            "see what it waits for (ps -f " + holder + "), end it if it hangs, then do this again");
}

// Whoever held it before has removed it while we waited.
bool is_still(int file, const std::string& path) {
	struct stat held = {}, there = {};
	return ::fstat(file, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
	       held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

} // namespace

BootLock::BootLock(const std::string& root, const std::function<void()>& waits,
                   std::chrono::milliseconds longest) {
	const auto until = std::chrono::steady_clock::now() + longest;
	const std::string folder = resolve_links(root, root + "/var/lib/dfr/boot");
	std::error_code error;
	if (std::filesystem::is_directory(root + "/", error))
		std::filesystem::create_directories(folder, error);
	path_ = folder + "/lock";
	for (bool told = false;; ::close(file_)) {
		file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (file_ < 0)
			return;
		if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
			if (!is_still(file_, path_))
				continue;
			write_holder(file_);
			return;
		}
		if (errno != EWOULDBLOCK)
			return;
		if (!told)
			waits();
		told = true;
		if (std::chrono::steady_clock::now() >= until) {
			::close(file_);
			give_up(path_);
		}
		std::this_thread::sleep_for(kLookEvery);
	}
}

BootLock::~BootLock() {
	if (file_ < 0)
		return;
	::unlink(path_.c_str()); // before it is let go
	::flock(file_, LOCK_UN); // a child that was just forked has the file, too
	::close(file_);
}

} // namespace dfr::boot
