// SPDX-License-Identifier: GPL-2.0
//
// Kills a program at a chosen point, which a test can choose again:
//
//   guest-killer N COMMAND...      runs it, and kills it with all its children at the Nth time that one
//                                  of them enters or leaves a system call that may change something
//   guest-killer N SIGNAL PID      sends SIGNAL to a program that runs, and counts from then on
//
// It says on stderr at which call, and its status is 0; or that the program ended before, and it is 1.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/abi/control.h"

#define MOST 64

static pid_t traced[MOST];
static int count;

static void fail(const char* what) {
	perror(what);
	exit(2);
}

static void add(pid_t pid) {
	for (int i = 0; i < count; i++)
		if (traced[i] == pid)
			return;
	if (count == MOST) {
		fprintf(stderr, "guest-killer: too many children\n");
		exit(2);
	}
	traced[count++] = pid;
}

static void forget(pid_t pid) {
	for (int i = 0; i < count; i++)
		if (traced[i] == pid)
			traced[i] = traced[--count];
}

/* Of the module: TAKE only says which blocks are to be read, and is asked for all the time. */
static int request_changes(unsigned long request) {
	switch (request) {
	case DFR_IOC_ENABLE:
	case DFR_IOC_GO:
	case DFR_IOC_STOP:
	case DFR_IOC_RELEASE:
	case DFR_IOC_KEEP:
	case DFR_IOC_CLAIM:
	case DFR_IOC_END: return 1;
	default: return 0;
	}
}

/* What only reads, or belongs to the process alone, makes no point: there are hundreds of these in each start. */
static int changes_something(const struct user_regs_struct* registers) {
	switch (registers->orig_rax) {
	case SYS_openat: return (registers->rdx & O_CREAT) != 0;
	case SYS_ioctl: return request_changes(registers->rsi);
	case SYS_read:
	case SYS_pread64:
	case SYS_close:
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_lseek:
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_munmap:
	case SYS_brk:
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_fcntl:
	case SYS_getdents64:
	case SYS_access:
	case SYS_readlink:
	case SYS_ppoll:
	case SYS_statfs:
	case SYS_getpid:
	case SYS_clock_gettime: return 0;
	default: return 1;
	}
}

static pid_t start(char** command) {
	const pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		raise(SIGSTOP);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (waitpid(pid, NULL, WUNTRACED) != pid)
		fail("waitpid");
	return pid;
}

static void kill_all(const struct user_regs_struct* registers) {
	fprintf(stderr, "guest-killer: killed in system call %lld\n", (long long)registers->orig_rax);
	for (int i = 0; i < count; i++)
		kill(traced[i], SIGKILL);
	// A child that one of them was just forking is traced, too, and stands still until it is told to go on or to end.
	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno != EINTR)
			return;
		if (pid > 0 && WIFSTOPPED(status))
			kill(pid, SIGKILL);
	}
}

int main(int argc, char** argv) {
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	                     PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	const int given = argc == 4 ? atoi(argv[2]) : 0; // a signal, or 0
	long left = argc > 2 ? atol(argv[1]) : 0;
	pid_t first;

	if (left <= 0)
		return 2;
	first = given ? atoi(argv[3]) : start(argv + 2);
	if (ptrace(PTRACE_SEIZE, first, NULL, options) || ptrace(PTRACE_INTERRUPT, first, NULL, NULL))
		fail("ptrace");
	add(first);
	kill(first, given ? given : SIGCONT);
	for (;;) {
		int status;
		unsigned long child;
		const pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0)
			fail("waitpid");
		if (!WIFSTOPPED(status)) {
			forget(pid);
			if (pid != first)
				continue;
			fprintf(stderr, "guest-killer: it ended, with %ld calls left\n", left);
			return 1;
		}
		add(pid);
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			struct user_regs_struct registers = {0};

			ptrace(PTRACE_GETREGS, pid, NULL, &registers);
			if (changes_something(&registers) && --left == 0) {
				kill_all(&registers);
				return 0;
			}
			ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		} else if (status >> 16) { // it forked, or begins to be traced
			if (!ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child) && child &&
			    status >> 16 != PTRACE_EVENT_STOP)
				add((pid_t)child);
			ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		} else {
			ptrace(PTRACE_SYSCALL, pid, NULL, WSTOPSIG(status));
		}
	}
}
