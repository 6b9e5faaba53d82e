// SPDX-License-Identifier: GPL-2.0
//
// Single calls of getppid, timed by the processor's own counter (under `-icount
// shift=0` guest instructions): what an adversarial program makes of one.
//
//   worst COUNT SPREAD
//
// The first argument of a call is its key: 0 with SPREAD 0, else the next of keys
// that all met in one chain of an aggregation while its hash was not keyed.
// Prints "calls MEDIAN NINETY_NINE MAX": half of the calls took no more than
// MEDIAN, 99 of 100 no more than NINETY_NINE. (The last hundredth is what the timer
// had to do meanwhile.) A call in which another task got the CPU is made again,
// because that task's time is none of the call's.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define CALLS_MAX 65536

static unsigned long long calls[CALLS_MAX];

static int ascending(const void* left, const void* right) {
	unsigned long long a = *(const unsigned long long*)left, b = *(const unsigned long long*)right;

	return a < b ? -1 : a > b;
}

/* A product's lowest bits, swapped, were the bucket: words that lead to products of our choice. */
static unsigned long chosen_key(unsigned long n) {
	const unsigned long factor = 0x9e3779b97f4a7c15UL;
	unsigned long inverse = factor;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	return (__builtin_bswap64(n << 16) * inverse) ^ 1;
}

static long switches(void) {
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(int argc, char** argv) {
	long count = argc == 3 ? atol(argv[1]) : 0;
	int spread = argc == 3 && atoi(argv[2]);

	if (count < 1 || count > CALLS_MAX) {
		fprintf(stderr, "usage: worst COUNT SPREAD\n");
		return 2;
	}
	memset(calls, 1, sizeof(calls)); // no page of it is to come up in the loop
	for (long i = 0; i < count;) {
		unsigned long key = spread ? chosen_key(i + 1) : 0;
		long before = switches();
		unsigned long long from = __rdtsc();

		syscall(SYS_getppid, key);
		calls[i] = __rdtsc() - from;
		i += switches() == before;
	}
	qsort(calls, count, sizeof(calls[0]), ascending);
	printf("calls %llu %llu %llu\n", calls[count / 2], calls[count - 1 - count / 100], calls[count - 1]);
	return 0;
}
