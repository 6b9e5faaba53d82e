// SPDX-License-Identifier: GPL-2.0
//
// What the guest programs share that give generated DOFs to the kernel's loader
// (mutate.cc, leaks.cc): the bytes of which tests/fuzz/dof_input.h makes them.
#pragma once

#include <cerrno>
#include <cstdint>
#include <sys/ioctl.h>
#include <vector>

#include "formats/abi/control.h"
#include "tests/fuzz/dof_input.h"

namespace dfr::guest {

// Probes that fire by themselves, and those that these programs make fire.
constexpr fuzz::Place kPlaces[4] = {{"dtrace", "", "BEGIN"},
                                    {"syscall", "getppid", "entry"},
                                    {"syscall", "getppid", "return"},
                                    {"dtrace", "", "E*"}};

class Numbers {
public:
	explicit Numbers(uint64_t seed) : state_(seed * 2 + 1) {}
	uint32_t next() {
		state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
		return static_cast<uint32_t>(state_ >> 33);
	}
	std::vector<uint8_t> input() {
		std::vector<uint8_t> bytes(3000);
		for (uint8_t& byte : bytes)
			byte = static_cast<uint8_t>(next());
		return bytes;
	}

private:
	uint64_t state_;
};

// It is not memory that is tried here, unless the damage says so.
inline void set_small_buffers(test::DofBuilder& dof) {
	for (const uint32_t option : {DFR_OPT_BUFSIZE, DFR_OPT_AGGSIZE, DFR_OPT_DYNVARSIZE})
		dof.option(option, 65536);
}

// The errno of an ioctl, 0: it succeeded.
inline int control(int fd, unsigned long request, void* arg) {
	return ioctl(fd, request, arg) < 0 ? errno : 0;
}

} // namespace dfr::guest
