// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: who may open /dev/dfr, and what an open descriptor is worth.
 *
 *   guest-access caps LIST open            keeps these capabilities (names with commas, or
 *                                          none) and opens: prints "opened" or the error
 *   guest-access userns open               the same as root of a new user namespace
 *   guest-access caps LIST dropped N       opens, gives up every privilege, counts N
 *                                          getppid() calls: prints the count
 *   guest-access caps LIST passed N        opens, passes the descriptor to a child that is
 *                                          nobody, which counts N calls
 *   guest-access caps LIST load FILE       opens and loads a compiled program: prints
 *                                          "loaded", or the error and the reason
 *   guest-access as UID COMMAND ...        runs a command as this user
 *   guest-access hidden N                  N calls of a process that is not dumpable
 *   guest-access calls N                   N calls; with a set-user-id bit, not its user's own
 *   guest-access scan FILE N               runs the compiled program over N calls, then looks
 *                                          for addresses of the kernel's in all that it got:
 *                                          prints how many, and whether there was anything
 *   guest-access others                    tries what is not for users without privilege
 *   guest-access many                      states until one is refused: prints how many
 *   guest-access paused N [listening]      N threads in pause(): prints "paused". listening: with a state that counts its
 *                                          returns; prints how many were lost, and "ended" when
 *                                          SIGUSR1 has ended the state and they are still there
 *   guest-access facts                     what INFO says of others, and how a new state is numbered
 *   guest-access hurry N                   N requests of each kind that interrupts CPUs: says of each whether they took N
 *                                          ms, and of the first, which find nothing, whether CPU 1 had fewer interrupts
 *   guest-access briefly N                 N times pause(), which returns
 */
#include "client.h"

#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define ME "guest-access"

static void set_capabilities(uint64_t set) {
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
	    {.effective = (uint32_t)set, .permitted = (uint32_t)set},
	    {.effective = set >> 32, .permitted = set >> 32},
	};

	if (syscall(SYS_capset, &header, data))
		die("capset: %s", strerror(errno));
}

static void keep_capabilities(const char* list) {
	static const struct {
		const char* name;
		int number;
	} known[] = {
	    {"perfmon", CAP_PERFMON},       {"bpf", CAP_BPF},
	    {"sys_admin", CAP_SYS_ADMIN},   {"dac_override", CAP_DAC_OVERRIDE},
	    {"sys_ptrace", CAP_SYS_PTRACE},
	};
	uint64_t set = 0;
	char *copy = strdup(list), *name;

	for (name = strtok(copy, ","); name; name = strtok(NULL, ",")) {
		uint64_t before = set;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(name, known[i].name))
				set |= 1ull << known[i].number;
		if (set == before && strcmp(name, "none"))
			die("there is no capability %s here", name);
	}
	free(copy);
	set_capabilities(set);
}

static void become(uid_t uid) {
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		die("cannot become user %u: %s", uid, strerror(errno));
}

static int open_it(void) {
	int fd = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);

	printf("%s\n", fd < 0 ? strerror(errno) : "opened");
	return 0;
}

static int dropped(long n) {
	int fd = open_device();

	set_capabilities(0);
	if (open(DFR_DEVICE, O_RDWR) >= 0)
		die("opened once more, without privilege");
	return count_calls(fd, n, ME);
}

static void send_descriptor(int socket, int fd) {
	char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {&byte, 1};
	struct msghdr message = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
	struct cmsghdr* head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(int));
	if (sendmsg(socket, &message, 0) != 1)
		die("sendmsg: %s", strerror(errno));
}

static int receive_descriptor(int socket) {
	char byte, space[CMSG_SPACE(sizeof(int))];
	struct iovec data = {&byte, 1};
	struct msghdr message = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
	int fd;

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		die("recvmsg: %s", strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

/* The child exists before the descriptor: it is passed and not inherited. */
static int passed(long n) {
	int pair[2], status;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		die("socketpair: %s", strerror(errno));
	child = fork();
	if (!child) {
		/* These capabilities suffice for no change of ids. */
		set_capabilities(0);
		if (open(DFR_DEVICE, O_RDWR) >= 0)
			die("the child opened it itself");
		status = count_calls(receive_descriptor(pair[1]), n, ME);
		fflush(stdout);
		_exit(status);
	}
	send_descriptor(pair[0], open_device());
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static uint8_t program[1 << 20];

static int load_file(int fd, const char* path, struct dfr_ioc_enable* io) {
	int file = open(path, O_RDONLY);
	ssize_t size = file < 0 ? -1 : read(file, program, sizeof(program));

	if (size <= 0)
		die("cannot read %s: %s", path, strerror(errno));
	close(file);
	return enable_dof(fd, program, (size_t)size, io);
}

static int load(const char* path) {
	struct dfr_ioc_enable io;
	int error = load_file(open_device(), path, &io);

	if (error)
		printf("%s: %s\n", strerror(error), io.reason);
	else
		printf("loaded\n");
	return 0;
}

/* Where the kernel has anything, with page tables of five levels too (of four: from ffff800000000000). */
static bool is_kernel_address(uint64_t value) {
	return value >= 0xff00000000000000ull && value < 0xffffffffff000000ull;
}

/*
 * Eight bytes at any place, of times, checksums and hashes, look like one now and then.
 * What a program says of each firing is there as often as it fired.
 */
#define OFTEN 100
static uint64_t found[1 << 20];
static size_t addresses, looked_at;

static void look_through(const void* p, size_t n) {
	uint64_t value;

	for (size_t at = 0; at + sizeof(value) <= n; at++) {
		memcpy(&value, (const uint8_t*)p + at, sizeof(value));
		if (is_kernel_address(value) && addresses < sizeof(found) / sizeof(found[0]))
			found[addresses++] = value;
	}
	looked_at += n;
}

static int by_value(const void* a, const void* b) {
	uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;

	return x < y ? -1 : x > y;
}

/* The value that is there most often, if that is often. */
static uint64_t usual_address(void) {
	size_t i, from = 0;

	qsort(found, addresses, sizeof(found[0]), by_value);
	for (i = 1; i <= addresses; i++) {
		if (i < addresses && found[i] == found[from])
			continue;
		if (i - from >= OFTEN)
			return found[from];
		from = i;
	}
	return 0;
}

static void look_through_block(const struct dfr_block* block, void* unused) {
	(void)unused;
	look_through(block, block->hdr_size + block->committed);
}

static void look_through_rest(int fd) {
	static uint8_t bytes[4 << 20];
	struct dfr_ioc_catalog catalog = {
	    .size = sizeof(catalog), .buffer = (uintptr_t)bytes, .bytes = 1 << 20};
	struct dfr_ioc_aggsnap snap = {
	    .size = sizeof(snap), .buffer = (uintptr_t)bytes, .bytes = sizeof(bytes)};
	int error = control(fd, DFR_IOC_CATALOG, &catalog);

	if (error || catalog.bytes != catalog.committed)
		die("catalog: %s, %llu bytes", strerror(error), (unsigned long long)catalog.bytes);
	look_through(bytes, catalog.bytes);
	error = control(fd, DFR_IOC_AGGSNAP, &snap);
	if (error)
		die("aggsnap: %s", strerror(error));
	look_through(bytes, snap.bytes);
}

/*
 * A context record with a process number that ends in ff has 00 00 00 00 01 55 00 ff in it, as
 * often as it is written, and that looks like an address. The child has the next number.
 */
static void avoid_such_number(void) {
	int status;
	pid_t child;

	if ((getpid() & 0xff) != 0xff)
		return;
	child = fork();
	if (!child)
		return;
	waitpid(child, &status, 0);
	exit(WEXITSTATUS(status));
}

static int scan(const char* path, long n) {
	struct dfr_ioc_enable io;
	struct dfr_ioc_status st;
	int fd = open_device(), error = load_file(fd, path, &io);

	if (error)
		die("%s: %s", strerror(error), io.reason);
	go(fd);
	call_getppid(n);
	stop(fd);
	status(fd, &st);
	drain(fd, look_through_block, NULL);
	look_through_rest(fd);
	printf("%s address, %s than %ld records\n", usual_address() ? "an" : "no",
	       st.records >= (uint64_t)n ? "not less" : "less", n);
	fprintf(stderr, "%llx, %zu bytes that look like one\n", (unsigned long long)usual_address(),
	        addresses);
	return looked_at ? 0 : 1;
}

static int others(void) {
	static char text[4096];
	struct dfr_ioc_states states = {.size = sizeof(states), .bytes = sizeof(text)};
	struct dfr_ioc_mark mark = {.size = sizeof(mark), .text = "mine"};
	struct dfr_ioc_trigger entries[8];
	struct dfr_ioc_triggers triggers = {
	    .size = sizeof(triggers), .count = 8, .triggers = (uintptr_t)entries};
	int fd = open_device();

	enable(fd, &count_program);
	printf("keep: %s\n", strerror(named(fd, DFR_IOC_KEEP, "mine")));
	printf("claim: %s\n", strerror(named(open_device(), DFR_IOC_CLAIM, "root-has-it")));
	printf("end: %s\n", strerror(named(open_device(), DFR_IOC_END, "root-has-it")));
	printf("view: %s\n", strerror(named(open_device(), DFR_IOC_VIEW, "root-has-it")));
	printf("mark: %s\n", strerror(control(open_device(), DFR_IOC_MARK, &mark)));
	go(fd);
	printf("triggers: %s", strerror(control(fd, DFR_IOC_TRIGGERS, &triggers)));
	printf(", of %u reasons\n", triggers.count);
	states.buffer = (uintptr_t)text;
	printf("states: %s\n", strerror(control(fd, DFR_IOC_STATES, &states)));
	printf("of another: %s\n", memmem(text, states.bytes, "root-has-it", 11) ? "shown" : "not shown");
	return 0;
}

static int facts(void) {
	static uint8_t bytes[1 << 20];
	struct dfr_ioc_info info = {.size = sizeof(info)};
	struct dfr_ioc_catalog catalog = {
	    .size = sizeof(catalog), .buffer = (uintptr_t)bytes, .bytes = sizeof(bytes)};
	const struct dfr_catalog* head = (const void*)bytes;
	int fd = open_device(), error;

	enable(fd, &count_program);
	error = control(fd, DFR_IOC_INFO, &info);
	error = error ? error : control(fd, DFR_IOC_CATALOG, &catalog);
	if (error || catalog.bytes < sizeof(*head))
		die("info and catalog: %s", strerror(error));
	printf("%u probes, %s state of the boot, %s\n", info.probes,
	       info.flags & DFR_INFO_ANONYMOUS ? "a" : "no",
	       (uint32_t)head->state_id >> 31 ? "a number at random" : "the next number");
	return 0;
}

static int many(void) {
	uint8_t dof[4096];
	struct dfr_ioc_enable io;
	size_t size = tiny_dof(dof, &count_program);
	int n = 0, error;

	while (!(error = enable_dof(open_device(), dof, size, &io)) && n < 100)
		n++;
	printf("%d, then %s\n", n, strerror(error));
	return 0;
}

/* Function calls by interrupt that CPU 1 has had. */
static long interrupts_of_cpu_1(void) {
	FILE* file = fopen("/proc/interrupts", "r");
	char line[1024];
	long first, second = -1;

	while (file && fgets(line, sizeof(line), file) && sscanf(line, " CAL: %ld %ld", &first, &second) != 2)
		;
	if (second < 0)
		die("CPU 1 has no line CAL in /proc/interrupts");
	fclose(file);
	return second;
}

static double now(void) {
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void ask_often(int fd, const char* name, unsigned long request, uint32_t flags, long n) {
	static uint8_t room[1 << 20];

	for (long i = 0; i < n; i++) {
		struct dfr_ioc_take take = {
		    .size = sizeof(take), .flags = flags, .taken = (uintptr_t)room, .count = 64, .cpu = ~0u};
		struct dfr_ioc_blocks blocks = {.size = sizeof(blocks), .seen = (uintptr_t)room, .count = 64};
		struct dfr_ioc_cost cost = {.size = sizeof(cost), .costs = (uintptr_t)room, .count = 2};
		struct dfr_ioc_aggsnap snap = {
		    .size = sizeof(snap), .buffer = (uintptr_t)room, .bytes = sizeof(room)};
		void* arg = request == DFR_IOC_TAKE     ? (void*)&take
		            : request == DFR_IOC_BLOCKS ? (void*)&blocks
		            : request == DFR_IOC_COST   ? (void*)&cost
		                                        : (void*)&snap;
		int error = control(fd, request, arg);

		if (error)
			die("%s: %s", name, strerror(error));
	}
}

static void hurry_with(int fd, const char* name, unsigned long request, uint32_t flags, long n) {
	const double from = now();

	ask_often(fd, name, request, flags, n);
	/* The first one need not wait. */
	printf("%s: %s\n", name, now() - from >= (double)(n - 1) / 1000 ? "rests" : "hurries");
}

static int hurry(long n) {
	cpu_set_t cpus;
	long before, part;
	bool left_alone = false;
	int fd = open_device();

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity: %s", strerror(errno));
	enable(fd, &record_program);
	go(fd);
	hurry_with(fd, "take what is not there", DFR_IOC_TAKE, 0, n);
	/* In a tenth of them at least: the kernel's own interrupts come by time, and these may take long. */
	for (part = 0; part < 10; part++) {
		before = interrupts_of_cpu_1();
		ask_often(fd, "take what is not there", DFR_IOC_TAKE, 0, n / 10);
		left_alone |= interrupts_of_cpu_1() - before < n / 20;
	}
	printf("CPU 1: %s\n", left_alone ? "left alone" : "interrupted");
	hurry_with(fd, "take", DFR_IOC_TAKE, DFR_TAKE_FLUSH, n);
	hurry_with(fd, "blocks", DFR_IOC_BLOCKS, 0, n);
	hurry_with(fd, "cost", DFR_IOC_COST, 0, n);
	hurry_with(fd, "aggsnap", DFR_IOC_AGGSNAP, 0, n);
	return 0;
}

static void* pause_for_ever(void* unused) {
	for (;;)
		pause();
	return unused;
}

/* Whether N threads wait in the call. */
static bool are_paused(long n) {
	DIR* threads = opendir("/proc/self/task");
	struct dirent* entry;
	char path[300];

	if (!threads)
		die("/proc/self/task: %s", strerror(errno));
	while ((entry = readdir(threads))) {
		FILE* file;
		int call = -1;

		snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%d", &call) == 1 && call == SYS_pause)
			n--;
		fclose(file);
	}
	closedir(threads);
	return n <= 0;
}

static void start_paused(long n) {
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread, &attributes, pause_for_ever, NULL))
			die("no more than %ld threads", i);
	while (!are_paused(n))
		usleep(100000);
}

static int paused(long n, bool listening) {
	static const struct tiny_dof of_pause = {.probe = {"syscall", "", "pause", "return"},
	                                         .builtin = DIF_VAR_EXECNAME,
	                                         .string = 1,
	                                         .action = DFR_ACT_COUNT};
	struct dfr_ioc_status st = {.size = sizeof(st)};
	int fd = -1, signal;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (listening) {
		fd = open_device();
		enable(fd, &of_pause);
		go(fd);
	}
	start_paused(n);
	if (listening) {
		status(fd, &st);
		printf("lost %llu\n", (unsigned long long)st.loss[DFR_LOSS_RETURN_POOL]);
	}
	printf("paused\n");
	fflush(stdout);
	sigwait(&set, &signal);
	close(fd);
	printf("ended\n");
	fflush(stdout);
	while (sleep(1) <= 1)
		;
	return 0;
}

static void nothing(int unused) {
	(void)unused;
}

static int briefly(long n) {
	signal(SIGALRM, nothing);
	ualarm(10000, 10000);
	while (n-- > 0)
		pause();
	return 0;
}

static int act(char** argv) {
	const char *what = argv[0] ? argv[0] : "", *first = what[0] && argv[1] ? argv[1] : "";

	if (!strcmp(what, "open"))
		return open_it();
	if (!strcmp(what, "dropped"))
		return dropped(atol(first));
	if (!strcmp(what, "passed"))
		return passed(atol(first));
	if (!strcmp(what, "load"))
		return load(first);
	if (!strcmp(what, "scan") && argv[2])
		return avoid_such_number(), scan(first, atol(argv[2]));
	if (!strcmp(what, "others"))
		return others();
	if (!strcmp(what, "many"))
		return many();
	if (!strcmp(what, "paused"))
		return paused(atol(first), argv[2] && !strcmp(argv[2], "listening"));
	if (!strcmp(what, "facts"))
		return facts();
	if (!strcmp(what, "hurry"))
		return hurry(atol(first));
	if (!strcmp(what, "briefly"))
		return briefly(atol(first));
	if (!strcmp(what, "calls"))
		return call_getppid(atol(first)), 0;
	if (!strcmp(what, "hidden")) {
		prctl(PR_SET_DUMPABLE, 0);
		return call_getppid(atol(first)), 0;
	}
	die("usage: see the top of tests/vm/programs/access.c");
	return 2;
}

int main(int argc, char** argv) {
	if (argc > 3 && !strcmp(argv[1], "caps")) {
		keep_capabilities(argv[2]);
		return act(argv + 3);
	}
	if (argc > 2 && !strcmp(argv[1], "userns")) {
		if (unshare(CLONE_NEWUSER))
			die("unshare: %s", strerror(errno));
		return act(argv + 2);
	}
	if (argc > 3 && !strcmp(argv[1], "as")) {
		become((uid_t)atol(argv[2]));
		execvp(argv[3], argv + 3);
		die("cannot execute %s: %s", argv[3], strerror(errno));
	}
	return act(argv + 1);
}
