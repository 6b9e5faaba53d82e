// SPDX-License-Identifier: GPL-2.0
//
// The load of a machine that is about to die: a process on each CPU, whose nth system
// call is lseek(-1, n, CPU). How far each has come stands in one page, so that whoever
// reads the memory of the dead machine knows which calls there have been:
//
//   32 bytes of magic: "guest-sequence" with its first letter G, then dots
//   for each CPU two u64 at 64 * (CPU + 1): the call that was begun last, and the one that returned last
//
//   guest-sequence [PAUSE [CALLS]]    PAUSE: turns of a loop between two calls (default 200). Says so on stdout when
//                                     each CPU has made CALLS calls (default 1)
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct page {
	char magic[32];
	char rest[32];
	struct {
		volatile uint64_t begun, done;
		char rest[48];
	} cpu[63];
};
_Static_assert(sizeof(struct page) == 4096, "a page");

static void run(struct page* page, long cpu, long pause) {
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET((int)cpu, &only);
	if (sched_setaffinity(0, sizeof(only), &only)) {
		perror("sched_setaffinity");
		exit(1);
	}
	for (uint64_t n = 1;; n++) {
		page->cpu[cpu].begun = n;
		syscall(SYS_lseek, -1, n, cpu);
		page->cpu[cpu].done = n;
		for (volatile long turn = 0; turn < pause; turn++)
			;
	}
}

int main(int argc, char** argv) {
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN), pause = argc > 1 ? atol(argv[1]) : 200;
	const uint64_t calls = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct page* const page =
	    mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || cpus > (long)(sizeof(page->cpu) / sizeof(page->cpu[0])))
		return 1;
	// In two parts: the image has the program, too.
	memset(page->magic, '.', sizeof(page->magic));
	memcpy(page->magic, "guest-sequence", strlen("guest-sequence"));
	page->magic[0] = 'G';
	for (long cpu = 0; cpu < cpus; cpu++)
		if (!fork())
			run(page, cpu, pause);
	for (long cpu = 0; cpu < cpus; cpu++)
		while (page->cpu[cpu].done < calls)
			usleep(1000);
	puts("under way");
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 1;
}
