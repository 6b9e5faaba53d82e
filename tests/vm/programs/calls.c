// SPDX-License-Identifier: GPL-2.0
//
// Known numbers of system calls, by both of the processor's ways in: the 64-bit
// one, and int 0x80, which is the 32-bit one for a 64-bit program too. For cases
// that compare a provider's counts with what happened.
//
//   guest-calls NATIVE COMPAT    so many calls of getppid by each way; then one of
//                                getpriority(7, 9) by each, which fails with
//                                EINVAL (7 is no kind of thing that has one)
//   guest-calls exec PATH...     executes each by the 32-bit way, until one is
//                                a program
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMPAT_EXECVE 11
#define COMPAT_GETPPID 64
#define COMPAT_GETPRIORITY 96

static long compat_call(long number, long first, long second) {
	long result;

	__asm__ __volatile__("int $0x80"
	                     : "=a"(result)
	                     : "a"(number), "b"(first), "c"(second), "d"(0), "S"(0), "D"(0)
	                     : "memory", "r8", "r9", "r10", "r11");
	return result;
}

// 32 bits hold the addresses of static memory only.
static void compat_execute(const char* path) {
	static char text[256];
	static uint32_t arguments[2];

	strncpy(text, path, sizeof(text) - 1);
	arguments[0] = (uint32_t)(uintptr_t)text;
	compat_call(COMPAT_EXECVE, (long)text, (long)arguments);
}

int main(int argc, char** argv) {
	long native = argc == 3 ? atol(argv[1]) : 0, compat = argc == 3 ? atol(argv[2]) : 0;

	if (argc > 2 && !strcmp(argv[1], "exec")) {
		for (int i = 2; i < argc; i++)
			compat_execute(argv[i]);
		return 1;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: guest-calls NATIVE COMPAT, or guest-calls exec PATH...\n");
		return 2;
	}
	while (native-- > 0)
		syscall(SYS_getppid);
	while (compat-- > 0)
		if (compat_call(COMPAT_GETPPID, 0, 0) <= 0)
			return 1;
	syscall(SYS_getpriority, 7, 9);
	return compat_call(COMPAT_GETPRIORITY, 7, 9) == -22 ? 0 : 1;
}
