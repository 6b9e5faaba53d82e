// SPDX-License-Identifier: GPL-2.0
//
// What the guest's cases have done to be observed, each by a word and a number,
// so that the number is what a provider must have counted:
//
//   guest-workload sleep N     sleeps N times (1 ms): N voluntary switches
//   guest-workload yield N     sched_yield() N times
//   guest-workload nice N      sets its nice value to N
//   guest-workload fork N      N children, one after another, that exit at once
//   guest-workload threads N   N threads, one after another, that end at once
//   guest-workload crowds N    N children, one after another, whose nine threads end together
//   guest-workload sigwait N   takes SIGUSR1 by sigtimedwait(2) N times
//   guest-workload handle N    handles SIGUSR1 N times
//   guest-workload ignore N    N SIGUSR1 to itself, which it ignores
//   guest-workload spin N      user_outer() calls user_middle() calls user_inner(),
//                              which computes N million steps and then getppid()
//   guest-workload number N    getpgid(1), getpgid(2) ... getpgid(N)
//   guest-workload kernel N    reads N blocks of 1 MiB of zeroes: time in the kernel
//   guest-workload until FILE  waits until there is such a file
//
// Several pairs run in order. It prints its pid first.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* what) {
	perror(what);
	exit(1);
}

static void do_sleep(int n) {
	const struct timespec ms = {.tv_nsec = 1000000};

	while (n--)
		nanosleep(&ms, NULL);
}

static void do_yield(int n) {
	while (n--)
		sched_yield();
}

static void do_nice(int n) {
	if (setpriority(PRIO_PROCESS, 0, n))
		fail("setpriority");
}

static void do_fork(int n) {
	while (n--) {
		const pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void* nothing(void* unused) {
	return unused;
}

static void do_threads(int n) {
	pthread_t thread;

	while (n--) {
		if (pthread_create(&thread, NULL, nothing, NULL))
			fail("pthread_create");
		pthread_join(thread, NULL);
	}
}

static pthread_barrier_t all_run;

static void* waits(void* unused) {
	pthread_barrier_wait(&all_run);
	for (;;)
		pause();
	return unused;
}

static void do_crowds(int n) {
	while (n--) {
		const pid_t pid = fork();
		pthread_t thread;

		if (pid < 0)
			fail("fork");
		if (!pid) {
			pthread_barrier_init(&all_run, NULL, 9);
			for (int i = 0; i < 8; i++)
				if (pthread_create(&thread, NULL, waits, NULL))
					fail("pthread_create");
			pthread_barrier_wait(&all_run);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void do_sigwait(int n) {
	const struct timespec second = {.tv_sec = 1};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (n--) {
		kill(getpid(), SIGUSR1);
		if (sigtimedwait(&set, NULL, &second) != SIGUSR1)
			fail("sigtimedwait");
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void handler(int signal) {
	(void)signal;
}

static void send_with(void (*disposition)(int), int n) {
	signal(SIGUSR1, disposition);
	while (n--)
		kill(getpid(), SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
}

static void do_handle(int n) {
	send_with(handler, n);
}

static void do_ignore(int n) {
	send_with(SIG_IGN, n);
}

/* Three functions for ustack(): none inlined, no tail call, so each has its frame. */
__attribute__((noinline)) static unsigned user_inner(int n) {
	volatile unsigned sum = 0;
	long result;

	for (long i = 0; i < n * 1000000L; i++)
		sum = sum + 1;
	/* The call itself is here and not in the library, whose functions have no frames. */
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return sum + (result < 0);
}

__attribute__((noinline)) static unsigned user_middle(int n) {
	return user_inner(n) + 1;
}

__attribute__((noinline)) static unsigned user_outer(int n) {
	return user_middle(n) + 1;
}

static void do_spin(int n) {
	if (user_outer(n) == 0)
		puts("never");
}

static void do_kernel(int n) {
	static char block[1 << 20];
	const int fd = open("/dev/zero", O_RDONLY);

	while (n--)
		if (read(fd, block, sizeof(block)) != sizeof(block))
			fail("read");
	close(fd);
}

static void do_number(int n) {
	for (int i = 1; i <= n; i++)
		syscall(SYS_getpgid, i);
}

static void wait_until(const char* file) {
	while (access(file, F_OK))
		do_sleep(20);
}

static const struct {
	const char* name;
	void (*run)(int n);
} works[] = {
    {"sleep", do_sleep},     {"yield", do_yield},   {"nice", do_nice},       {"fork", do_fork},
    {"threads", do_threads}, {"crowds", do_crowds}, {"sigwait", do_sigwait}, {"handle", do_handle},
    {"ignore", do_ignore},   {"spin", do_spin},     {"kernel", do_kernel},   {"number", do_number},
};

static void run(const char* name, const char* argument) {
	if (!strcmp(name, "until")) {
		wait_until(argument);
		return;
	}
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(works[i].name, name)) {
			works[i].run(atoi(argument));
			return;
		}
	fprintf(stderr, "guest-workload: there is no work %s\n", name);
	exit(2);
}

int main(int argc, char** argv) {
	printf("%d\n", getpid());
	fflush(stdout);
	for (int i = 1; i + 1 < argc; i += 2)
		run(argv[i], argv[i + 1]);
	return 0;
}
