// SPDX-License-Identifier: GPL-2.0
//
// One at a time changes what is enabled on a machine: whoever holds this has read the plan (install.h) as it is. What runs
// below a holder, such as the hook of an initrd that is made, takes no lock.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace dfr::boot {

// A file in the folder of the plan that is there while somebody holds it, and that only root can open, because who holds it
// keeps a boot from reporting. Where it cannot be written nothing is locked: a full disk keeps no machine on a trace.
class BootLock {
public:
	// Longer than initrds take to be made. Who waited for ever for one that hangs would keep a kernel from being installed.
	static constexpr std::chrono::minutes kLongest{5};

	// `waits` is called once if somebody else holds it. Throws dfr::Error if he still does after `longest`.
	BootLock(const std::string& root, const std::function<void()>& waits,
	         std::chrono::milliseconds longest = kLongest);
	~BootLock();
	BootLock(const BootLock&) = delete;
	BootLock& operator=(const BootLock&) = delete;

private:
	std::string path_;
	int file_ = -1;
};

} // namespace dfr::boot
