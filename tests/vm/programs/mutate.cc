// SPDX-License-Identifier: GPL-2.0
//
// Guest program: generated DOFs (tests/fuzz/dof_input.h), most of them damaged
// where it hurts, given to the kernel's loader. Whatever it refuses must say
// why; whatever it lets in is started now and then, made to fire, read and
// stopped or simply let go. It judges no more than that: what counts is that the
// kernel's log stays empty, which the harness looks at.
//
//   guest-mutate COUNT SEED    prints "COUNT tried, R refused, L loaded, S started"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/vm/programs/generated.h"

using namespace dfr;
using namespace dfr::guest;

namespace {

// More would test how long arming takes.
constexpr uint32_t kProbesMax = 64;

struct Counts {
	unsigned refused = 0, loaded = 0, started = 0;
};

std::vector<uint8_t> make_dof(Numbers& numbers) {
	const std::vector<uint8_t> input = numbers.input();
	fuzz::Decisions in(input.data(), input.size());
	test::DofBuilder dof = fuzz::ProgramMaker(in, kPlaces).make();
	set_small_buffers(dof);
	return numbers.next() % 4 == 0 ? dof.bytes() : fuzz::Damage(in, dof).bytes();
}

void read_state(int fd) {
	static uint8_t table[1 << 20];
	dfr_ioc_taken taken[16];
	dfr_ioc_status status{};
	dfr_ioc_aggsnap snap{};
	dfr_ioc_take take{};
	dfr_ioc_release give{};

	status.size = sizeof(status);
	control(fd, DFR_IOC_STATUS, &status);
	snap.size = sizeof(snap);
	snap.buffer = reinterpret_cast<uintptr_t>(table);
	snap.bytes = sizeof(table);
	control(fd, DFR_IOC_AGGSNAP, &snap);
	take.size = sizeof(take);
	take.flags = DFR_TAKE_FLUSH;
	take.taken = reinterpret_cast<uintptr_t>(taken);
	take.count = 16;
	take.cpu = ~0u;
	if (control(fd, DFR_IOC_TAKE, &take) || !take.count)
		return;
	give.size = sizeof(give);
	give.count = take.count;
	give.taken = take.taken;
	control(fd, DFR_IOC_RELEASE, &give);
}

// A program that was let in runs for a moment; every other one is let go while it does.
bool run(int fd, bool until_the_end) {
	dfr_ioc_go go{};

	go.size = sizeof(go);
	if (control(fd, DFR_IOC_GO, &go))
		return false;
	for (int i = 0; i < 8; i++)
		syscall(SYS_getppid);
	read_state(fd);
	if (until_the_end && !control(fd, DFR_IOC_STOP, &go))
		read_state(fd);
	return true;
}

// false: the kernel said no and not why.
bool try_one(const std::vector<uint8_t>& dof, uint32_t choice, Counts& counts) {
	dfr_ioc_enable io{};
	const int fd = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		std::perror(DFR_DEVICE);
		std::exit(2);
	}
	io.size = sizeof(io);
	io.flags = DFR_ENABLE_ZERO_OK;
	io.dof = reinterpret_cast<uintptr_t>(dof.data());
	io.dof_size = dof.size();
	const int error = control(fd, DFR_IOC_ENABLE, &io);
	if (error) {
		counts.refused++;
	} else {
		counts.loaded++;
		if (io.matched <= kProbesMax && choice % 4 == 0)
			counts.started += run(fd, choice & 4);
	}
	close(fd);
	return error != EINVAL || io.reason[0];
}

} // namespace

int main(int argc, char** argv) {
	const long count = argc == 3 ? std::atol(argv[1]) : 0;
	Counts counts;

	if (count < 1) {
		std::fprintf(stderr, "usage: guest-mutate COUNT SEED\n");
		return 2;
	}
	const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
	for (long i = 0; i < count; i++) {
		Numbers numbers(seed + static_cast<uint64_t>(i));
		const std::vector<uint8_t> dof = make_dof(numbers);
		if (!try_one(dof, numbers.next(), counts)) {
			std::printf("seed %llu was refused without a reason\n",
			            static_cast<unsigned long long>(seed) +
			                static_cast<unsigned long long>(i));
			return 1;
		}
	}
	std::printf("%ld tried, %u refused, %u loaded, %u started\n", count, counts.refused, counts.loaded,
	            counts.started);
	return 0;
}
