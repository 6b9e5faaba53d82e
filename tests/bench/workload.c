// SPDX-License-Identifier: GPL-2.0
//
// Loops of one system call, timed by the processor's own counter. Under
// `-icount shift=0` that counter counts guest instructions, so what it prints is
// deterministic. Static, no threads.
//
//   workload getppid|read|open|mixed COUNT
//
// prints "loop COUNT TOTAL BATCH": the instructions of all the loop, with
// whatever else ran on this CPU meanwhile, and those of the usual batch of 50
// calls (the median), which nothing has interrupted.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static int zero;
static char buffer[64];

static void do_getppid(void) {
	syscall(SYS_getppid);
}

static void do_read(void) {
	if (read(zero, buffer, sizeof(buffer)) != sizeof(buffer))
		abort();
}

static void do_open(void) {
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0)
		abort();
	close(fd);
}

static void do_mixed(void) {
	do_getppid();
	do_read();
	do_open();
}

static const struct {
	const char* name;
	void (*call)(void);
} calls[] = {
    {"getppid", do_getppid},
    {"read", do_read},
    {"open", do_open},
    {"mixed", do_mixed},
};

#define WARM_UP 100
#define BATCH 50
#define BATCHES_MAX 65536

static unsigned long long batches[BATCHES_MAX];

static int ascending(const void* left, const void* right) {
	unsigned long long a = *(const unsigned long long*)left, b = *(const unsigned long long*)right;

	return a < b ? -1 : a > b;
}

static void run(void (*call)(void), long count) {
	unsigned long long start = __rdtsc(), from = start, to = start;
	long done, n = 0;

	for (done = 0; done < count; done += BATCH) {
		for (int i = 0; i < BATCH; i++)
			call();
		to = __rdtsc();
		if (n < BATCHES_MAX)
			batches[n++] = to - from;
		from = to;
	}
	qsort(batches, n, sizeof(batches[0]), ascending);
	printf("loop %ld %llu %llu\n", done, to - start, batches[n / 2]);
}

int main(int argc, char** argv) {
	long count = argc == 3 ? atol(argv[2]) : 0;

	zero = open("/dev/zero", O_RDONLY);
	memset(batches, 1, sizeof(batches)); // no page of it is to come up in the loop
	for (size_t i = 0; count > 0 && zero >= 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[1], calls[i].name))
			continue;
		for (int warm = 0; warm < WARM_UP; warm++) // first use of pages and caches
			calls[i].call();
		run(calls[i].call, count);
		return 0;
	}
	fprintf(stderr, "usage: workload getppid|read|open|mixed COUNT\n");
	return 2;
}
