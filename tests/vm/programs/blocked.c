// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: THREADS threads that all block in read() at once, ROUNDS times,
 * while four others make CALLS quick system calls together. What a tracer must
 * tell apart: calls that took long and calls that did not.
 *
 *   guest-blocked THREADS ROUNDS CALLS     prints how many reads blocked
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUICK 4
#define STACK (64 * 1024)

static int pipes[2];
static long rounds, calls;
static volatile long waiting, woken;

static void* block(void* unused) {
	char byte;

	for (long i = 0; i < rounds; i++) {
		__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
		if (read(pipes[0], &byte, 1) != 1)
			abort();
		__atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
		/* Nobody starts again before all have come so far. */
		while (*(volatile long*)&woken < (i + 1) * (long)(size_t)unused)
			usleep(1000);
	}
	return NULL;
}

static void* be_quick(void* unused) {
	(void)unused;
	for (long i = 0; i < calls / QUICK; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void start(pthread_t* thread, void* (*work)(void*), void* arg) {
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(thread, &attributes, work, arg)) {
		fprintf(stderr, "no more threads\n");
		exit(1);
	}
}

int main(int argc, char** argv) {
	long threads = argc == 4 ? atol(argv[1]) : 0;
	pthread_t* ids = calloc((size_t)threads + QUICK, sizeof(*ids));
	char byte = 0;

	if (threads < 1 || !ids || pipe(pipes)) {
		fprintf(stderr, "usage: guest-blocked THREADS ROUNDS CALLS\n");
		return 2;
	}
	rounds = atol(argv[2]);
	calls = atol(argv[3]);
	for (long i = 0; i < threads; i++)
		start(&ids[i], block, (void*)threads);
	for (int i = 0; i < QUICK; i++)
		start(&ids[threads + i], be_quick, NULL);
	for (long i = 0; i < rounds; i++) {
		while (waiting < (i + 1) * threads)
			usleep(1000);
		usleep(1000000); /* the last of them, too, is in the kernel by now, and for long */
		for (long k = 0; k < threads; k++)
			if (write(pipes[1], &byte, 1) != 1)
				return 1;
	}
	for (long i = 0; i < threads + QUICK; i++)
		pthread_join(ids[i], NULL);
	printf("%ld\n", threads * rounds);
	return 0;
}
