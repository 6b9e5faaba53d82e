// SPDX-License-Identifier: GPL-2.0
//
// Loops of one system call, timed by the processor's own counter. Under
// `-icount shift=0` that counter counts guest instructions, so what it prints is
// deterministic: instructions for each call, loop included. Static, no threads.
//
//   workload getppid|read|open|mixed COUNT    prints "COUNT INSTRUCTIONS"
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

static void do_getppid(void)
{
	syscall(SYS_getppid);
}

static void do_read(void)
{
	if (read(zero, buffer, sizeof(buffer)) != sizeof(buffer))
		abort();
}

static void do_open(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0)
		abort();
	close(fd);
}

static void do_mixed(void)
{
	do_getppid();
	do_read();
	do_open();
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "getppid", do_getppid }, { "read", do_read }, { "open", do_open }, { "mixed", do_mixed },
};

static unsigned long long run(void (*call)(void), long count)
{
	unsigned long long start = __rdtsc();

	while (count-- > 0)
		call();
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 0;

	zero = open("/dev/zero", O_RDONLY);
	for (size_t i = 0; count > 0 && zero >= 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[1], calls[i].name))
			continue;
		run(calls[i].call, 100); // first use of pages and caches
		printf("%ld %llu\n", count, run(calls[i].call, count));
		return 0;
	}
	fprintf(stderr, "usage: workload getppid|read|open|mixed COUNT\n");
	return 2;
}
