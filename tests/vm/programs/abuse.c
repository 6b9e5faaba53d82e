// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: /dev/dfr misused at random, by several processes at once: every
 * request with arguments that are right, nearly right and nonsense, pointers to
 * nowhere, mappings that go while they are read, descriptors that are closed,
 * polled and inherited meanwhile, processes that are killed in the middle.
 * Privileged workers share their descriptors between two threads each; an
 * unprivileged one has inherited some, and keeps trying to open its own.
 *
 * What it asserts is little: nobody unprivileged gets a descriptor, and when all
 * workers are gone no held state is left. That the kernel has not complained is
 * for the harness to see.
 *
 *   guest-abuse SECONDS SEED    for so long at least, and until each kind has been
 *                               tried: prints how many requests of each succeeded
 */
#include "client.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define FDS 4
#define WORKERS 2
#define NR_LAST 20 /* of the requests that there are */
#define NR_MAX 24

struct counts {
	volatile unsigned long tried[NR_MAX], succeeded[NR_MAX];
	volatile unsigned long opened_by_nobody;
};
static struct counts* counts; /* shared by all processes */
#define ROOM (1u << 20)
static uint8_t* room; /* where the kernel may write; behind it is nothing */
static volatile int fds[FDS];
static __thread uint64_t random_state;
static time_t deadline;

static uint32_t next(void) {
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33);
}

static uint32_t one_of(uint32_t n) {
	return next() % n;
}

static const struct tiny_dof programs[] = {
    {.probe = {"syscall", "", "getppid", "entry"},
     .builtin = DIF_VAR_EXECNAME,
     .string = 1,
     .action = DFR_ACT_COUNT,
     .bufsize = 65536},
    {.probe = {"syscall", "", "getppid", ""},
     .builtin = DIF_VAR_ARG0,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 65536,
     .bufpolicy = DFR_BUFPOLICY_RING},
    {.probe = {"syscall", "", "", "entry"},
     .builtin = DIF_VAR_TIMESTAMP,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 4096,
     .bufpolicy = DFR_BUFPOLICY_FILL},
    {.probe = {"dtrace", "", "", "BEGIN"},
     .builtin = DIF_VAR_PID,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 1ull << 40},
    {.probe = {"syscall", "", "sched_yield", "entry"},
     .builtin = DIF_VAR_PID,
     .action = DFR_ACT_DIFEXPR,
     .bufsize = 1ull << 24},
};

/* Numbers at the edges of what somebody may have thought of. */
static uint64_t edge(void) {
	switch (one_of(8)) {
	case 0: return 0;
	case 1: return ~0ull >> one_of(64);
	case 2: return 1ull << one_of(64);
	case 3: return (1ull << one_of(64)) - 1;
	case 4: return ((uint64_t)next() << 32) | next();
	default: return one_of(8);
	}
}

/* Memory that is there, partly there, read-only, not there, or the kernel's. */
static uint64_t address(void) {
	switch (one_of(12)) {
	case 0: return 0;
	case 1: return 0xffffffff81000000ull + one_of(1 << 20);
	case 2: return (uintptr_t)programs; /* read-only */
	case 3: return (uintptr_t)room + ROOM - one_of(64);
	case 4: return edge();
	case 5: return 0x7ffffffff000ull - one_of(64);
	default: return (uintptr_t)room + one_of(4096);
	}
}

static const char* name(void) {
	static const char* const names[] = {"", "anonymous", "abuse-a", "abuse-b", "abuse-c", "a b"};

	return names[one_of(6)];
}

static void request(int fd, unsigned int nr, size_t size, void* arg) {
	unsigned long code = _IOC(_IOC_READ | _IOC_WRITE, 'F', nr, size);

	counts->tried[nr]++;
	if (ioctl(fd, code, arg) >= 0)
		counts->succeeded[nr]++;
}

union argument {
	uint32_t size;
	struct dfr_ioc_status status;
	struct dfr_ioc_take take;
	struct dfr_ioc_release release;
	struct dfr_ioc_catalog catalog;
	struct dfr_ioc_aggsnap snap;
	struct dfr_ioc_aggclear clear;
	struct dfr_ioc_name name;
	struct dfr_ioc_probes probes;
	struct dfr_ioc_states states;
	struct dfr_ioc_option option;
	struct dfr_ioc_blocks blocks;
	struct dfr_ioc_mark mark;
	struct dfr_ioc_triggers triggers;
};

static size_t size_of_argument(unsigned int nr) {
	static const uint16_t sizes[] = {0,
	                                 sizeof(struct dfr_ioc_info),
	                                 0,
	                                 8,
	                                 8,
	                                 0,
	                                 sizeof(struct dfr_ioc_take),
	                                 sizeof(struct dfr_ioc_release),
	                                 sizeof(struct dfr_ioc_catalog),
	                                 sizeof(struct dfr_ioc_aggsnap),
	                                 sizeof(struct dfr_ioc_aggclear),
	                                 sizeof(struct dfr_ioc_name),
	                                 sizeof(struct dfr_ioc_name),
	                                 sizeof(struct dfr_ioc_name),
	                                 0,
	                                 sizeof(struct dfr_ioc_states),
	                                 sizeof(struct dfr_ioc_option),
	                                 sizeof(struct dfr_ioc_name),
	                                 sizeof(struct dfr_ioc_blocks),
	                                 sizeof(struct dfr_ioc_mark),
	                                 sizeof(struct dfr_ioc_triggers)};

	switch (nr) {
	case 5: return sizeof(struct dfr_ioc_status);
	case 14: return sizeof(struct dfr_ioc_probes);
	default: return sizes[nr];
	}
}

/* What the fields of request `nr` could be. */
static void fill(union argument* u, unsigned int nr, struct dfr_ioc_taken taken[8]) {
	if (nr == 6) {
		u->take.flags = one_of(2);
		u->take.taken = one_of(4) ? (uintptr_t)taken : address();
		u->take.count = one_of(4) ? 1 + one_of(8) : (uint32_t)edge();
		if (u->take.taken == (uintptr_t)taken && u->take.count > 8)
			u->take.count = 8;
		u->take.cpu = one_of(2) ? ~0u : (uint32_t)edge();
	} else if (nr == 7) {
		for (int i = 0; i < 8; i++)
			taken[i] = (struct dfr_ioc_taken){one_of(3), one_of(64), one_of(64)};
		u->release.count = one_of(10);
		u->release.taken = one_of(4) ? (uintptr_t)taken : address();
	} else if (nr == 8) {
		u->catalog.offset = edge();
		u->catalog.buffer = address();
		u->catalog.bytes = one_of(2) ? 4096 : edge();
	} else if (nr == 9) {
		u->snap.buffer = address();
		u->snap.bytes = one_of(2) ? 1 << 19 : edge();
	} else if (nr == 10) {
		u->clear.varid = one_of(4);
		u->clear.remove = one_of(3);
	} else if ((nr >= 11 && nr <= 13) || nr == 17) {
		strcpy(u->name.name, name());
	} else if (nr == 14) {
		u->probes.id = (uint32_t)edge();
		u->probes.buffer = address();
		u->probes.bytes = one_of(2) ? 65536 : edge();
		strcpy(u->probes.pattern[0], one_of(2) ? "syscall" : "profile");
		strcpy(u->probes.pattern[3], one_of(2) ? "entry" : "profile-1[0-9]");
	} else if (nr == 15) {
		u->states.buffer = address();
		u->states.bytes = edge();
	} else if (nr == 16) {
		u->option.option = (uint32_t)edge();
	} else if (nr == 18) {
		u->blocks.cpu = one_of(3);
		u->blocks.block = one_of(2) ? 0 : (uint32_t)edge();
		u->blocks.count = one_of(4) ? 8 : (uint32_t)edge();
		u->blocks.seen = address();
	} else if (nr == 19) {
		strcpy(u->mark.text, one_of(4) ? "abuse" : "");
	} else if (nr == 20) {
		u->triggers.count = one_of(4) ? 8 : (uint32_t)edge();
		u->triggers.triggers = address();
	}
}

/* A structure of the interface, filled with what its fields could be. */
static void reasonable(int fd) {
	unsigned int nr = 1 + one_of(NR_LAST);
	struct dfr_ioc_taken taken[8];
	union argument u;

	if (nr == 2)
		return;
	memset(&u, 0, sizeof(u));
	fill(&u, nr, taken);
	u.size = (uint32_t)size_of_argument(nr);
	request(fd, nr, size_of_argument(nr), &u);
}

/* Any request, any bytes. */
static void nonsense(int fd) {
	static const uint16_t sizes[] = {sizeof(struct dfr_ioc_enable),
	                                 sizeof(struct dfr_ioc_status),
	                                 sizeof(struct dfr_ioc_probes),
	                                 8,
	                                 24,
	                                 32,
	                                 40,
	                                 72};
	uint64_t bytes[256];
	unsigned int nr = one_of(NR_MAX);
	size_t size = sizes[one_of(8)];

	for (unsigned int i = 0; i < 256; i++)
		bytes[i] = one_of(2) ? edge() : address();
	if (one_of(3))
		bytes[0] = one_of(2) ? size : edge(); /* a structure's own size comes first */
	request(fd, nr, size, one_of(4) ? (void*)bytes : (void*)(uintptr_t)address());
}

static void load(int fd) {
	uint8_t dof[4096];
	struct dfr_ioc_enable io;
	uint32_t choice = one_of(16); /* seldom those whose rings take all there is */
	size_t size = tiny_dof(dof, &programs[choice < 5 ? choice : choice % 3]);

	counts->tried[2]++;
	if (!one_of(4))
		dof[one_of((uint32_t)size)] ^= 1 << one_of(8);
	if (!enable_dof(fd, dof, one_of(8) ? size : edge(), &io))
		counts->succeeded[2]++;
}

/* Read by a system call: what is not there is an error and not a signal. */
static void look(const void* p, size_t n) {
	char bytes[64];
	struct iovec mine = {bytes, n < sizeof(bytes) ? n : sizeof(bytes)};
	struct iovec theirs = {(void*)p, mine.iov_len};

	process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0);
}

static void map(int fd) {
	uint64_t offset =
	    one_of(4) ? DFR_MAP_OFFSET(one_of(3), one_of(20)) + 4096 * one_of(4) : edge() & ~4095ull;
	size_t length = one_of(2) ? 4096ul << one_of(12) : 4096 * (1 + one_of(200));
	int protection = one_of(8) ? PROT_READ : (int)one_of(8);
	void* p = mmap(NULL, length, protection, one_of(4) ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return;
	counts->succeeded[0]++;
	for (int i = 0; i < 4; i++)
		look((char*)p + one_of((uint32_t)length), 64);
	mprotect(p, length, (int)one_of(8));
	if (one_of(4))
		munmap(p, length);
	else
		munmap(p,
		       4096 * (1 + one_of((uint32_t)(length / 4096)))); /* the rest goes with the process */
}

static void reopen(void) {
	unsigned int i = one_of(FDS);
	int fresh = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);

	if (fresh < 0)
		return;
	dup2(fresh, fds[i]); /* closes what the other thread may be using */
	close(fresh);
}

static void wait_a_moment(int fd) {
	struct pollfd p = {.fd = fd, .events = one_of(2) ? POLLIN : POLLIN | POLLPRI};

	poll(&p, 1, (int)one_of(3));
}

static void fire(void) {
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	sched_yield();
}

static void act(void);

/* A process that inherits everything and ends somehow. */
static void breed(void) {
	pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 20; i++)
			act();
		_exit(0);
	}
	if (child < 0)
		return;
	if (one_of(2)) {
		usleep(one_of(3000));
		kill(child, SIGKILL);
	}
	waitpid(child, &status, 0);
}

static void act(void) {
	int fd = fds[one_of(FDS)];

	switch (one_of(24)) {
	case 0:
	case 1:
	case 2: load(fd); break;
	case 3: request(fd, 3, 8, &(struct dfr_ioc_go){.size = 8}); break;
	case 4:
		if (!one_of(4))
			request(fd, 4, 8, &(struct dfr_ioc_go){.size = 8});
		break;
	case 5:
	case 6: map(fd); break;
	case 7: wait_a_moment(fd); break;
	case 8: reopen(); break;
	case 9:
	case 10: fire(); break;
	case 11:
	case 12:
	case 13:
	case 14: nonsense(fd); break;
	default: reasonable(fd);
	}
}

/* On a slow machine the time alone may be too short for it. */
static bool each_was_tried(void) {
	unsigned long n = 0;

	for (int i = 1; i <= NR_LAST; i++) {
		if (!counts->tried[i])
			return false;
		n += counts->tried[i];
	}
	return n > 300;
}

static bool over(void) {
	return time(NULL) >= deadline && each_was_tried();
}

static void* misuse(void* seed) {
	random_state = (uintptr_t)seed;
	while (!over())
		act();
	return NULL;
}

static void worker(uint64_t seed) {
	pthread_t second;

	for (int i = 0; i < FDS; i++)
		fds[i] = open_device();
	random_state = seed;
	while (!over()) {
		pthread_create(&second, NULL, misuse, (void*)(uintptr_t)next());
		for (int i = 0; i < 200 && !over(); i++)
			act();
		breed();
		if (over())
			pthread_join(second, NULL);
		else
			pthread_detach(second);
		if (one_of(8) == 0)
			_exit(0); /* with a thread in the middle of something */
	}
	_exit(0);
}

/* Nobody: what was inherited works, by design; nothing new is to be had. */
static void nobody(uint64_t seed) {
	random_state = seed;
	for (int i = 0; i < FDS; i++)
		fds[i] = open_device();
	if (setgid(65534) || setuid(65534))
		_exit(99);
	prctl(PR_SET_DUMPABLE, 1); /* who is not may not even trace himself, where users may */
	while (!over()) {
		int fd = open(DFR_DEVICE, O_RDWR);

		if (fd >= 0) {
			counts->opened_by_nobody++;
			close(fd);
		}
		for (int i = 0; i < 100; i++)
			act();
	}
	_exit(0);
}

static pid_t start(int which, uint64_t seed) {
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (which < WORKERS)
			worker(seed);
		nobody(seed);
	}
	return child;
}

/* Whatever it is called, because nonsense keeps a state by a name now and then. */
static void end_kept(void) {
	struct dfr_ioc_states io = {.size = sizeof(io), .buffer = (uintptr_t)room, .bytes = ROOM - 1};
	int fd = open_device();
	int error = control(fd, DFR_IOC_STATES, &io);
	char* line;

	if (error)
		die("states: %s", strerror(error));
	room[io.bytes] = 0;
	for (line = strtok((char*)room, "\n"); line; line = strtok(NULL, "\n")) {
		line[strcspn(line, "\t")] = 0;
		named(fd, DFR_IOC_END, line);
	}
	close(fd);
}

static unsigned int states_left(void) {
	struct dfr_ioc_info info = {.size = sizeof(info)};
	int fd = open_device();
	int error = control(fd, DFR_IOC_INFO, &info);

	close(fd);
	if (error)
		die("info: %s", strerror(error));
	return info.states;
}

int main(int argc, char** argv) {
	pid_t children[WORKERS + 1];
	int i, status;

	if (argc != 3)
		die("usage: guest-abuse SECONDS SEED");
	deadline = time(NULL) + atol(argv[1]);
	random_state = strtoull(argv[2], NULL, 10) * 2 + 1;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	room = mmap(NULL, 2 * ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(room, ROOM, PROT_READ | PROT_WRITE);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i <= WORKERS; i++)
		children[i] = start(i, next());
	while (!over()) {
		usleep(100000);
		for (i = 0; i <= WORKERS; i++) {
			if (i < WORKERS && !one_of(20))
				kill(children[i], SIGKILL);
			if (waitpid(children[i], &status, WNOHANG) == children[i])
				children[i] = over() ? -1 : start(i, next());
		}
	}
	for (i = 0; i <= WORKERS; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	while (waitpid(-1, &status, 0) > 0)
		;
	end_kept();
	for (i = 1; i <= NR_LAST; i++)
		printf("request %d: %lu tried, %lu succeeded\n", i, counts->tried[i], counts->succeeded[i]);
	printf("mappings: %lu\n", counts->succeeded[0]);
	printf("opened by nobody: %lu\n", counts->opened_by_nobody);
	printf("states left: %u\n", states_left());
	return 0;
}
