// SPDX-License-Identifier: GPL-2.0
//
// How long a command takes to its first output and to its end, by the guest's
// clock: under -icount that is guest instructions at 1 ns each, and waiting.
// Meanwhile the calls that the command may be waiting for, getppid and read, are
// made once a millisecond. Static, no threads.
//
//   stopwatch COMMAND [ARGUMENT...]
//
// prints "first NS total NS STATUS"; first is 0 if the command said nothing. What
// the command printed on stdout goes to stderr.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void run(char** command, int output) {
	dup2(output, STDOUT_FILENO);
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char** argv) {
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int ends[2], status;
	long long start, first = 0;
	char text[65536];
	ssize_t got = 1;
	pid_t child;

	if (argc < 2 || zero < 0 || pipe2(ends, O_CLOEXEC)) {
		fprintf(stderr, "usage: stopwatch COMMAND [ARGUMENT...]\n");
		return 2;
	}
	start = now();
	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0)
		run(argv + 1, ends[1]);
	close(ends[1]);
	while (got > 0) {
		struct pollfd waiting = {.fd = ends[0], .events = POLLIN};

		syscall(SYS_getppid);
		if (read(zero, text, 1) != 1)
			abort();
		if (poll(&waiting, 1, 1) <= 0)
			continue;
		got = read(ends[0], text, sizeof(text));
		if (!first && got > 0)
			first = now() - start;
		if (got > 0 && write(STDERR_FILENO, text, got) != got)
			abort();
	}
	waitpid(child, &status, 0);
	printf("first %lld total %lld %d\n", first, now() - start,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return 0;
}
