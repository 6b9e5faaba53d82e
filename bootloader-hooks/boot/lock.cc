// SPDX-License-Identifier: GPL-2.0
//
// See lock.h.
#include "bootloader-hooks/boot/lock.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bootloader-hooks/boot/atomic_file.h"

namespace dfr::boot {
namespace {

// Whoever held it before has removed it while we waited.
bool is_still(int file, const std::string& path) {
	struct stat held = {}, there = {};
	return ::fstat(file, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
	       held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

} // namespace

BootLock::BootLock(const std::string& root, const std::function<void()>& waits) {
	const std::string folder = resolve_links(root, root + "/var/lib/dfr/boot");
	std::error_code error;
	if (std::filesystem::is_directory(root + "/", error))
		std::filesystem::create_directories(folder, error);
	path_ = folder + "/lock";
	for (bool told = false;; ::close(file_)) {
		file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (file_ < 0)
			return;
		int status = ::flock(file_, LOCK_EX | LOCK_NB);
		if (status != 0 && errno == EWOULDBLOCK) {
			if (!told)
				waits();
			told = true;
			while ((status = ::flock(file_, LOCK_EX)) != 0 && errno == EINTR)
				continue;
		}
		if (status != 0 || is_still(file_, path_))
			return;
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
