// SPDX-License-Identifier: GPL-2.0
//
// dfr crash test: a panic made on purpose, here or in a virtual machine, and what comes back of it.
#pragma once

#include <string>

namespace dfr::cli {

struct CrashTest {
	bool vm = false, emulated = false; // without KVM
	std::string host; // of the machine that shall panic: this one's name; empty: it shall not
	std::string release, kernel, module; // of the virtual machine; empty: those that run here
};

// Each gives the exit status; throws dfr::Error.
int crash_test(const CrashTest& asked);
// What the virtual machine executes as its first process: it does not return.
int crash_test_guest();
// What the last test here has shown, a line each; empty: there was none.
std::string crash_test_result();
// Its file goes.
void forget_crash_test();

} // namespace dfr::cli
