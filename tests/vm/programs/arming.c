// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: what others get done while somebody arms all functions.
 *
 *   guest-arming TRIES   prints each request that was surely made and answered in the middle of
 *                        it, and whether who arms was killed in the middle of it; then no function
 *                        is patched any more
 *
 * Time decides nothing: a request counts if functions were being patched when it was made, and
 * the ioctl that arms had not returned when it was answered. What comes too late in one try is
 * made in the next one.
 */
#include "client.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#define ME "guest-arming"
#define PATCHED 100 /* so many functions at least: he is in the middle of it */

/* What the two say to each other. */
struct talk {
	volatile int enabled, start, armed;
};

static struct talk* talk;

static const struct tiny_dof all_functions = {
    .probe = {"fbt", "", "", ""}, .builtin = DIF_VAR_EXECNAME, .string = 1, .action = DFR_ACT_COUNT};

/* States of ours: one that counts, two that record, and one that is kept. */
static int counts, records, held;

static int new_state(const struct tiny_dof* program) {
	int fd = open_device();

	enable(fd, program);
	go(fd);
	return fd;
}

static void new_states(void) {
	int fd = new_state(&record_program);

	if (named(fd, DFR_IOC_KEEP, "beside"))
		die("keep");
	close(fd);
	counts = new_state(&count_program);
	records = new_state(&record_program);
	held = new_state(&record_program);
	call_getppid(1000);
}

static void end_states(void) {
	close(counts);
	close(records);
	close(held);
	named(open_device(), DFR_IOC_END, "beside");
}

static void must(int error, const char* what) {
	if (error)
		die("%s: %s", what, strerror(error));
}

/* Requests. */

static void add_records(const struct dfr_block* block, void* arg) {
	*(uint64_t*)arg += block->records;
}

static void look_at_status(void) {
	struct dfr_ioc_status io;

	status(records, &io);
}

static void wait_for_blocks(void) {
	struct pollfd wait = {.fd = records, .events = POLLIN};

	poll(&wait, 1, 0);
}

static void read_blocks(void) {
	uint64_t n = 0;

	drain(records, add_records, &n);
}

static void read_catalog(void) {
	static uint8_t buffer[65536];
	struct dfr_ioc_catalog io = {
	    .size = sizeof(io), .buffer = (uintptr_t)buffer, .bytes = sizeof(buffer)};

	must(control(records, DFR_IOC_CATALOG, &io), "catalog");
}

static void read_counts(void) {
	struct dfr_ioc_aggclear io = {.size = sizeof(io), .varid = 1};

	counted(counts, ME);
	must(control(counts, DFR_IOC_AGGCLEAR, &io), "aggclear");
}

static void ask_option(void) {
	struct dfr_ioc_option io = {.size = sizeof(io), .option = DFR_OPT_BUFSIZE};

	must(control(records, DFR_IOC_OPTION, &io), "option");
}

static bool has_state(const char* name) {
	static char text[65536];
	struct dfr_ioc_states io = {.size = sizeof(io), .buffer = (uintptr_t)text, .bytes = sizeof(text) - 1};
	struct dfr_ioc_info info = {.size = sizeof(info)};
	int fd = open_device();

	must(control(fd, DFR_IOC_INFO, &info), "info");
	must(control(fd, DFR_IOC_STATES, &io), "states");
	close(fd);
	text[io.bytes] = 0;
	return strstr(text, name);
}

static void list_states(void) {
	has_state("");
}

static void list_probes(void) {
	static uint8_t buffer[65536];
	struct dfr_ioc_probes io = {.size = sizeof(io), .buffer = (uintptr_t)buffer, .bytes = sizeof(buffer)};
	int fd = open_device();

	strcpy(io.pattern[0], "syscall");
	strcpy(io.pattern[2], "getppid");
	must(control(fd, DFR_IOC_PROBES, &io), "probes");
	close(fd);
	if (!io.bytes)
		die("no probe is listed");
}

static void claim_and_end(void) {
	int fd = open_device(), error = named(fd, DFR_IOC_CLAIM, "beside");
	uint64_t n = 0;

	if (error == ENOENT)
		return; /* it was ended in a try before */
	must(error, "claim");
	drain(fd, add_records, &n);
	must(named(fd, DFR_IOC_END, "beside"), "end");
	close(fd);
	if (has_state("beside"))
		die("what has ended is still listed");
}

/* From then on nothing is recorded, though its probes may be armed yet. */
static void stop_one(void) {
	struct dfr_ioc_status before, after;

	status(records, &before);
	if (before.activity == DFR_ACTIVE)
		stop(records);
	status(records, &before);
	call_getppid(1000);
	status(records, &after);
	if (after.activity != DFR_STOPPED || after.records != before.records)
		die("stopped: activity %u, %llu records and %llu", after.activity,
		    (unsigned long long)before.records, (unsigned long long)after.records);
	read_blocks();
}

static void close_one(void) {
	close(held);
	held = -1;
}

/* In this order: what ends a state is last. */
static struct request {
	const char* name;
	void (*make)(void);
} requests[] = {
    {"status", look_at_status}, {"poll", wait_for_blocks}, {"read", read_blocks},
    {"catalog", read_catalog},  {"counts", read_counts},   {"option", ask_option},
    {"states", list_states},    {"probes", list_probes},   {"claim and end", claim_and_end},
    {"stop", stop_one},         {"close", close_one},
};
#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static bool seen[REQUESTS], killed;

/* A try. */

static void arm_all(void) {
	int fd = open_device();

	enable(fd, &all_functions);
	talk->enabled = 1;
	while (!talk->start)
		usleep(1000);
	go(fd);
	talk->armed = 1;
	exit(0);
}

static bool is_patched(unsigned int least) {
	FILE* list = fopen("/sys/kernel/tracing/enabled_functions", "r");
	char line[512];
	unsigned int n = 0;

	if (!list)
		die("no list of enabled functions");
	while (n < least && fgets(line, sizeof(line), list))
		n++;
	fclose(list);
	return n >= least;
}

static bool all_seen(void) {
	unsigned int i;

	for (i = 0; i < REQUESTS; i++)
		if (!seen[i])
			return false;
	return killed;
}

static void make_requests(void) {
	unsigned int i;

	for (i = 0; i < REQUESTS && !talk->armed; i++) {
		requests[i].make();
		if (!talk->armed)
			seen[i] = true;
	}
}

static void try_once(void) {
	pid_t arms;

	memset((void*)talk, 0, sizeof(*talk));
	arms = fork();
	if (!arms)
		arm_all();
	while (!talk->enabled)
		usleep(1000);
	new_states();
	talk->start = 1;
	while (!talk->armed && !is_patched(PATCHED))
		usleep(1000);
	make_requests();
	kill(arms, SIGKILL);
	waitpid(arms, NULL, 0);
	killed |= !talk->armed; /* out of the ioctl: it did not return */
	end_states();
	/* What was armed goes, though nobody waits for it. */
	while (is_patched(1))
		usleep(10000);
}

int main(int argc, char** argv) {
	int tries = argc > 1 ? atoi(argv[1]) : 1;
	unsigned int i;

	setbuf(stdout, NULL);
	talk = mmap(NULL, sizeof(*talk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (talk == MAP_FAILED)
		die("mmap");
	while (tries-- > 0 && !all_seen())
		try_once();
	for (i = 0; i < REQUESTS; i++)
		printf("%s%s\n", seen[i] ? "" : "not seen: ", requests[i].name);
	puts(killed ? "killed" : "not seen: killed");
	return 0;
}
