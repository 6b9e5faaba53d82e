// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program, for the debug kernel alone (FAULT_INJECTION): a program is
 * enabled, started, fired, read and stopped, and of the allocations that this
 * takes in the kernel the first fails, then in a new attempt the second, and so
 * on until there are not so many. Each attempt must succeed or be refused, and
 * the one after the last, in which nothing fails, must succeed.
 *
 *   guest-nomem     prints "N allocations, R refusals"
 */
#include "client.h"

#include <stdbool.h>

static const struct tiny_dof programs[] = {
    {.probe = {"syscall", "", "getppid", ""},
     .builtin = DIF_VAR_EXECNAME,
     .string = 1,
     .action = DFR_ACT_COUNT,
     .bufsize = 65536},
    {.probe = {"fbt", "vmlinux", "vfs_read", ""},
     .builtin = DIF_VAR_ARG0,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 65536},
    {.probe = {"profile", "", "", "profile-97"},
     .builtin = DIF_VAR_PID,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 65536},
};

static void set(const char* path, const char* text) {
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static void no_more(const struct dfr_block* block, void* arg) {
	(void)block;
	(void)arg;
}

static const char* reason;

/* 0, or the errno of the step that was refused. */
static int live(int fd, const void* dof, size_t size) {
	static uint8_t table[1 << 20];
	struct dfr_ioc_go io = {.size = sizeof(io)};
	struct dfr_ioc_aggsnap snap = {
	    .size = sizeof(snap), .buffer = (uintptr_t)table, .bytes = sizeof(table)};
	static struct dfr_ioc_enable enabling;
	int error = enable_dof(fd, dof, size, &enabling);

	reason = enabling.reason;
	if (!error)
		error = control(fd, DFR_IOC_GO, &io);
	if (error)
		return error;
	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	error = control(fd, DFR_IOC_AGGSNAP, &snap);
	return control(fd, DFR_IOC_STOP, &io) ?: error;
}

/* Whether there were `number` allocations. */
static bool attempt(int nth, const struct tiny_dof* program, unsigned int number, unsigned int* refused) {
	static uint8_t dof[4096];
	char text[16];
	size_t size = tiny_dof(dof, program);
	int fd = open_device(), error, length = snprintf(text, sizeof(text), "%u", number);

	if (pwrite(nth, text, (size_t)length, 0) != length)
		die("fail-nth: %s", strerror(errno));
	error = live(fd, dof, size);
	length = (int)pread(nth, text, sizeof(text) - 1, 0);
	pwrite(nth, "0", 1, 0);
	if (error && error != ENOMEM && error != EFAULT && error != ESRCH)
		die("allocation %u of %s: %s: %s", number, program->probe[0], strerror(error), reason);
	*refused += error != 0;
	if (!error)
		drain(fd, no_more, NULL);
	close(fd);
	text[length > 0 ? length : 0] = 0;
	if (atoi(text) && error)
		die("nothing failed, and yet: %s", strerror(error));
	return !atoi(text);
}

int main(void) {
	unsigned int number, all = 0, refused = 0;
	int nth;

	set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/failslab/verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	set("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	nth = open("/proc/self/fail-nth", O_RDWR);
	if (nth < 0)
		die("/proc/self/fail-nth: %s", strerror(errno));
	for (unsigned int i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		for (number = 1; attempt(nth, &programs[i], number, &refused); number++)
			;
		all += number - 1;
	}
	printf("%u allocations, %u refusals\n", all, refused);
	return 0;
}
