// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: exercises /dev/dfr directly, with programs written by hand.
 *
 *   guest-device count N          N getppid() calls, counted by execname: prints the count
 *   guest-device record N         N getppid() calls, recorded: prints how many records came, and on
 *                                 stderr what was lost
 *   guest-device record-on CPU N  the same, but the calls are made on that CPU, as soon as it is there
 *   guest-device hold SECONDS     enables, goes, sleeps (to be killed)
 *   guest-device busy SECONDS     the same, but works all that time and asks for nothing: prints
 *                                 whether the state is still active then
 *   guest-device keep NAME        leaves a recording of getppid behind, under this name
 *   guest-device claim NAME N     claims it, makes N more calls, prints its records, lets it go
 *   guest-device budget NAME      claims it, prints its option cpubudget, lets it go
 *   guest-device costs NAME       looks at it, prints its budget and which priorities' probes are detached
 *   guest-device end NAME         ends it
 *   guest-device states           prints the states
 *   guest-device view NAME        looks at it, prints what each request that would change it says, ends it, reads
 *                                 a block of it afterwards
 *   guest-device getppid N        only the calls
 *   guest-device load SECONDS US  calls, US microseconds of other work after each: prints how many
 *   guest-device cost N           the calls' cost each, by the time stamp counter: instructions in a
 *                                 guest that counts them (--icount)
 *   guest-device dof              writes a boot program to stdout: all system calls, by execname
 *   guest-device crowd SECONDS    takes all the memory that the module gives for rings, and twelve processes
 *                                 ask for more than is left: prints whether each was refused
 *   guest-device marks N          gives everything that records N marks
 *   guest-device claimed-counts   claims the anonymous state, prints its counts by execname
 */
#include "client.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#define ME "guest-device"
#define CROWD_BYTES DOF_LOADSZ_MAX

static const struct tiny_dof boot_program = {
    .probe = {"syscall", "", "", "entry"}, .builtin = DIF_VAR_EXECNAME, .string = 1, .action = DFR_ACT_COUNT};

static void add_records(const struct dfr_block* block, void* arg) {
	*(uint64_t*)arg += block->records;
}

static int run_count(long n) {
	return count_calls(open_device(), n, ME);
}

/* cpu: -1, or where the calls are made, as soon as it is there. */
static int run_record(long n, int cpu) {
	uint64_t records = 0;
	cpu_set_t there;
	int fd = open_device();

	CPU_ZERO(&there);
	if (cpu >= 0)
		CPU_SET((size_t)cpu, &there);
	enable(fd, &record_program);
	go(fd);
	while (cpu >= 0 && sched_setaffinity(0, sizeof(there), &there))
		;
	call_getppid(n);
	stop(fd);
	drain(fd, add_records, &records);
	tell_losses(stderr, fd);
	printf("%llu\n", (unsigned long long)records);
	return 0;
}

static int run_hold(long seconds) {
	int fd = open_device();

	enable(fd, &record_program);
	go(fd);
	printf("holding\n");
	fflush(stdout);
	sleep((unsigned int)seconds);
	return 0;
}

static int run_keep(const char* name) {
	int fd = open_device(), error;

	enable(fd, &record_program);
	error = named(fd, DFR_IOC_KEEP, name);
	if (error)
		die("keep: %s", strerror(error));
	go(fd);
	return 0;
}

static int run_claim(const char* name, long n) {
	uint64_t records = 0;
	int fd = open_device(), error = named(fd, DFR_IOC_CLAIM, name);

	if (error)
		die("claim: %s", strerror(error));
	call_getppid(n);
	drain(fd, add_records, &records);
	printf("%llu\n", (unsigned long long)records);
	return 0;
}

static int run_budget(const char* name) {
	struct dfr_ioc_option io = {.size = sizeof(io), .option = DFR_OPT_CPUBUDGET};
	int fd = open_device(), error = named(fd, DFR_IOC_CLAIM, name);

	if (!error)
		error = control(fd, DFR_IOC_OPTION, &io);
	if (error)
		die("budget: %s", strerror(error));
	printf("%lld\n", (long long)io.value);
	return 0;
}

static int run_costs(const char* name) {
	struct dfr_ioc_cpu_cost costs[64];
	struct dfr_ioc_cost io = {.size = sizeof(io), .count = 64, .costs = (uintptr_t)costs};
	int fd = open_device(), error = named(fd, DFR_IOC_VIEW, name);

	if (!error)
		error = control(fd, DFR_IOC_COST, &io);
	if (error)
		die("cost: %s", strerror(error));
	printf("budget %u, detached %u\n", io.budget, io.detached);
	return 0;
}

static int run_end(const char* name) {
	int error = named(open_device(), DFR_IOC_END, name);

	if (error)
		die("end: %s", strerror(error));
	return 0;
}

static int run_states(void) {
	static char text[65536];
	struct dfr_ioc_states io = {.size = sizeof(io), .buffer = (uintptr_t)text, .bytes = sizeof(text)};
	int error = control(open_device(), DFR_IOC_STATES, &io);

	if (error)
		die("states: %s", strerror(error));
	fwrite(text, 1, io.bytes, stdout);
	return 0;
}

/* A CPU's first block that holds records; 0: it has none. */
static int first_block(int fd, uint32_t cpu, struct dfr_ioc_seen* seen) {
	struct dfr_ioc_blocks io = {.size = sizeof(io), .cpu = cpu, .count = 1, .seen = (uintptr_t)seen};
	int error = control(fd, DFR_IOC_BLOCKS, &io);

	if (error)
		die("blocks of CPU %u: %s", cpu, strerror(error));
	return io.count == 1;
}

/* What requests that change a state answer to who only looks at it. */
static void try_changes(int fd) {
	struct dfr_ioc_taken taken[1] = {{0}};
	struct dfr_ioc_take take = {.size = sizeof(take), .taken = (uintptr_t)taken, .count = 1, .cpu = ~0u};
	struct dfr_ioc_release release = {.size = sizeof(release), .count = 1, .taken = (uintptr_t)taken};
	struct dfr_ioc_go go = {.size = sizeof(go)};
	struct dfr_ioc_aggclear clear = {.size = sizeof(clear)};
	struct dfr_ioc_enable io;
	uint8_t dof[4096];

	printf("take: %s\n", strerrorname_np(control(fd, DFR_IOC_TAKE, &take)));
	printf("release: %s\n", strerrorname_np(control(fd, DFR_IOC_RELEASE, &release)));
	printf("go: %s\n", strerrorname_np(control(fd, DFR_IOC_GO, &go)));
	printf("stop: %s\n", strerrorname_np(control(fd, DFR_IOC_STOP, &go)));
	printf("clear: %s\n", strerrorname_np(control(fd, DFR_IOC_AGGCLEAR, &clear)));
	printf("keep: %s\n", strerrorname_np(named(fd, DFR_IOC_KEEP, "other")));
	printf("claim: %s\n", strerrorname_np(named(fd, DFR_IOC_CLAIM, "other")));
	printf("view: %s\n", strerrorname_np(named(fd, DFR_IOC_VIEW, "other")));
	printf("enable: %s\n", strerrorname_np(enable_dof(fd, dof, tiny_dof(dof, &record_program), &io)));
}

static int run_view(const char* name) {
	struct dfr_ioc_seen seen = {0};
	struct dfr_ioc_status now;
	const struct dfr_block* block;
	uint32_t cpu = 0;
	int fd = open_device(), error = named(fd, DFR_IOC_VIEW, name);

	if (error)
		die("view: %s", strerror(error));
	try_changes(fd);
	run_end(name);
	while (!first_block(fd, cpu, &seen))
		cpu++;
	block = map_block(fd, &(struct dfr_ioc_taken){.cpu = cpu, .block = seen.block});
	status(fd, &now);
	printf("block: %s, state: %s\n",
	       block->magic == DFR_BLOCK_MAGIC && block->seq == seen.seq && block->committed ? "there"
	                                                                                     : "gone",
	       now.activity == DFR_STOPPED ? "stopped" : "not stopped");
	close(fd);
	/* What is mapped stays. */
	printf("mapped: %s\n", block->magic == DFR_BLOCK_MAGIC ? "there" : "gone");
	return run_states();
}

static uint64_t now_us(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int run_busy(long seconds) {
	uint64_t end = now_us() + (uint64_t)seconds * 1000000;
	struct dfr_ioc_status io;
	int fd = open_device();

	enable(fd, &record_program);
	go(fd);
	while (now_us() < end)
		;
	status(fd, &io);
	printf("%s\n", io.activity == DFR_ACTIVE ? "active" : "not active");
	return 0;
}

static int run_load(long seconds, long pause) {
	uint64_t end = now_us() + (uint64_t)seconds * 1000000, until = now_us();
	unsigned long calls = 0;

	for (; until < end; calls++) {
		syscall(SYS_getppid);
		for (until = now_us() + (uint64_t)pause; now_us() < until;)
			;
	}
	printf("%lu\n", calls);
	return 0;
}

/* Programs that are too large, listings and snapshots into far more room than they need. */
static void ask_for_much(int fd, const uint8_t* zeros, uint64_t end) {
	struct dfr_ioc_enable enabled;

	while (now_us() < end) {
		struct dfr_ioc_probes probes = {.size = sizeof(probes), .buffer = 64, .bytes = CROWD_BYTES};
		struct dfr_ioc_aggsnap snap = {.size = sizeof(snap), .buffer = 64, .bytes = 1ull << 40};

		if (!enable_dof(fd, zeros, CROWD_BYTES, &enabled) || !control(fd, DFR_IOC_PROBES, &probes) ||
		    control(fd, DFR_IOC_AGGSNAP, &snap))
			_exit(1);
	}
	_exit(0);
}

static int run_crowd(long seconds) {
	struct tiny_dof program = record_program;
	uint64_t end = now_us() + (uint64_t)seconds * 1000000;
	/* Memory that is only read is one page of the kernel's. */
	const uint8_t* zeros = mmap(NULL, CROWD_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fds[12], states = 0, wrong = 0, error, status, i;

	for (i = 0; i < 12; i++) {
		fds[i] = open_device();
		enable(fds[i], &record_program);
	}
	for (program.bufsize = CROWD_BYTES; program.bufsize >= 65536; states++) {
		static uint8_t dof[4096];
		struct dfr_ioc_enable enabled;
		struct dfr_ioc_go io = {.size = sizeof(io)};
		int fd = open_device();

		error = enable_dof(fd, dof, tiny_dof(dof, &program), &enabled);
		error = error ? error : control(fd, DFR_IOC_GO, &io);
		if (error && error != ENOMEM)
			die("%s", strerror(error));
		if (error)
			program.bufsize /= 2;
	}
	for (i = 0; i < 12; i++)
		if (!fork())
			ask_for_much(fds[i], zeros, end);
	while (wait(&status) > 0)
		wrong += status != 0;
	printf("%s, %d processes failed\n", states > 20 ? "full" : "not full", wrong);
	return 0;
}

static int run_dof(void) {
	static uint8_t dof[4096];
	size_t size = tiny_dof(dof, &boot_program);

	return fwrite(dof, 1, size, stdout) == size ? 0 : 1;
}

static int run_cost(long n) {
	uint64_t start;

	call_getppid(1000);
	start = __builtin_ia32_rdtsc();
	call_getppid(n);
	printf("%.1f\n", (double)(__builtin_ia32_rdtsc() - start) / (double)n);
	return 0;
}

static int run_marks(long n) {
	int fd = open_device();

	while (n-- > 0) {
		struct dfr_ioc_mark mark = {.size = sizeof(mark), .text = "marked"};
		int error = control(fd, DFR_IOC_MARK, &mark);

		if (error)
			die("mark: %s", strerror(error));
	}
	return 0;
}

static void print_count(const char* key, uint64_t value) {
	printf("%s %llu\n", key, (unsigned long long)value);
}

static int run_claimed_counts(void) {
	int fd = open_device(), error = named(fd, DFR_IOC_CLAIM, "");

	if (error)
		die("claim: %s", strerror(error));
	each_counted(fd, print_count);
	return 0;
}

int main(int argc, char** argv) {
	const char* command = argc > 1 ? argv[1] : "";
	const char* first = argc > 2 ? argv[2] : "";
	long number = atol(argc > 3 ? argv[3] : first);

	if (!strcmp(command, "count"))
		return run_count(number);
	if (!strcmp(command, "record"))
		return run_record(number, -1);
	if (!strcmp(command, "record-on"))
		return run_record(number, atoi(first));
	if (!strcmp(command, "hold"))
		return run_hold(number);
	if (!strcmp(command, "busy"))
		return run_busy(number);
	if (!strcmp(command, "keep"))
		return run_keep(first);
	if (!strcmp(command, "claim"))
		return run_claim(first, number);
	if (!strcmp(command, "budget"))
		return run_budget(first);
	if (!strcmp(command, "costs"))
		return run_costs(first);
	if (!strcmp(command, "end"))
		return run_end(first);
	if (!strcmp(command, "states"))
		return run_states();
	if (!strcmp(command, "view"))
		return run_view(first);
	if (!strcmp(command, "load"))
		return run_load(atol(first), number);
	if (!strcmp(command, "crowd"))
		return run_crowd(number);
	if (!strcmp(command, "marks"))
		return run_marks(number);
	if (!strcmp(command, "cost"))
		return run_cost(number);
	if (!strcmp(command, "dof"))
		return run_dof();
	if (!strcmp(command, "claimed-counts"))
		return run_claimed_counts();
	if (!strcmp(command, "getppid"))
		return call_getppid(number), 0;
	die("usage: see the top of tests/vm/programs/device.c");
	return 2;
}
