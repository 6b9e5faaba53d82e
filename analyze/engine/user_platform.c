// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the user-space platform (dfr_platform_ops.h) that need system
 * calls or variables of their own: CPU locks, access to this process's memory,
 * clocks, facts about the machine. User space only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "kmod/engine/engine.h"
#include "kmod/engine/recording/state.h"

/* A CPU's lock, on a cache line of its own. Held during a firing, or a function of dfr_plat_on_cpu(). */
struct cpu_lock {
	u32 cl_held;
	u32 cl_pad[15];
} __attribute__((aligned(64)));

struct dfr_host {
	struct cpu_lock ho_cpus[DFR_USER_CPUS_MAX];
	struct dfr_host* ho_next; /* under hosts_mutex */
};

__thread unsigned dfr_user_cpu;
__thread int (*dfr_user_symbol)(const char* name, __u64* address);
__thread void (*dfr_user_anchor)(const struct dfr_state* state, __u32 kind, __u32 cpu, __u32 half, void* p,
                                 size_t size, size_t unit);
__thread int (*dfr_user_proceed)(void);
__thread void (*dfr_user_wake)(struct dfr_state* state);
__thread void (*dfr_user_visit)(unsigned cpu);
__thread unsigned long dfr_user_alloc_fails;
__thread __u64 dfr_user_reserved_left = ~0ull;

/* The lock that this thread holds; taking it again does nothing (dfr_user_lock_cpu()). */
static __thread struct cpu_lock* held_lock;

static unsigned user_ncpus = 1;
__thread size_t dfr_user_agg_room;
static struct dfr_host shared_host;
static struct dfr_host* hosts = &shared_host;
static pthread_mutex_t hosts_mutex = PTHREAD_MUTEX_INITIALIZER;

void dfr_user_set_ncpus(unsigned ncpus) {
	if (ncpus < 1)
		ncpus = 1;
	if (ncpus > DFR_USER_CPUS_MAX)
		ncpus = DFR_USER_CPUS_MAX;
	dfr_write_once(&user_ncpus, ncpus);
}

unsigned dfr_user_ncpus(void) {
	return dfr_read_once(&user_ncpus);
}

struct dfr_host* dfr_host_create(void) {
	struct dfr_host* host = aligned_alloc(64, sizeof(*host));

	if (!host)
		return NULL;
	memset(host, 0, sizeof(*host));
	pthread_mutex_lock(&hosts_mutex);
	host->ho_next = hosts;
	hosts = host;
	pthread_mutex_unlock(&hosts_mutex);
	return host;
}

void dfr_host_destroy(struct dfr_host* host) {
	struct dfr_host** link;

	if (!host)
		return;
	pthread_mutex_lock(&hosts_mutex);
	for (link = &hosts; *link; link = &(*link)->ho_next) {
		if (*link == host) {
			*link = host->ho_next;
			break;
		}
	}
	pthread_mutex_unlock(&hosts_mutex);
	free(host);
}

static void lock_cpu(struct cpu_lock* lock) {
	unsigned spins = 0;

	while (__atomic_exchange_n(&lock->cl_held, 1, __ATOMIC_ACQUIRE)) {
		/* The thread that holds the lock may not be running: let it run. */
		if (++spins < 100)
			dfr_relax();
		else
			sched_yield();
	}
}

static void unlock_cpu(struct cpu_lock* lock) {
	dfr_store_release(&lock->cl_held, 0);
}

/* Returns the lock's address as the flags word; 0: this thread held the lock already. */
unsigned long dfr_user_lock_cpu(struct dfr_engine* engine, unsigned cpu) {
	struct dfr_host* host = engine ? dfr_engine_host(engine) : NULL;
	struct cpu_lock* lock = &(host ? host : &shared_host)->ho_cpus[cpu % DFR_USER_CPUS_MAX];

	if (held_lock == lock)
		return 0;
	lock_cpu(lock);
	if (!held_lock)
		held_lock = lock;
	return (unsigned long)lock;
}

void dfr_user_unlock_cpu(unsigned long flags) {
	struct cpu_lock* lock = (struct cpu_lock*)flags;

	if (!lock)
		return;
	if (held_lock == lock)
		held_lock = NULL;
	unlock_cpu(lock);
}

void dfr_user_synchronize(void) {
	struct dfr_host* host;
	unsigned cpu, n = dfr_user_ncpus();

	pthread_mutex_lock(&hosts_mutex);
	for (host = hosts; host; host = host->ho_next) {
		for (cpu = 0; cpu < n; cpu++) {
			if (held_lock == &host->ho_cpus[cpu])
				continue;
			lock_cpu(&host->ho_cpus[cpu]);
			unlock_cpu(&host->ho_cpus[cpu]);
		}
	}
	pthread_mutex_unlock(&hosts_mutex);
}

/* For tests without memory: counts dfr_user_alloc_fails down; true: this allocation must fail. */
static bool alloc_fails(void) {
	return dfr_user_alloc_fails && --dfr_user_alloc_fails == 0;
}

void* dfr_user_alloc(size_t size) {
	if (alloc_fails())
		return NULL;
	return calloc(1, size ? size : 1);
}

void dfr_user_free(void* p) {
	free(p);
}

static size_t whole_pages(size_t size) {
	return (size + 4095) & ~(size_t)4095;
}

void* dfr_user_alloc_pages(size_t size) {
	void* p;

	if (size == 0 || size > SIZE_MAX - 4096 || alloc_fails())
		return NULL;
	p = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	         -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void dfr_user_free_pages(void* p, size_t size) {
	if (p)
		munmap(p, whole_pages(size));
}

/* Memory that nobody touches costs nothing, so it is only a matter of what the process may address. */
size_t dfr_user_agg_base(size_t halves) {
	size_t size;
	void* p;

	for (size = dfr_user_agg_room; size > halves; size /= 2) {
		p = dfr_user_alloc_pages(size);
		if (p) {
			dfr_user_free_pages(p, size);
			return size;
		}
	}
	return halves;
}

bool dfr_user_due(const struct dfr_state* state, unsigned cpu) {
	const struct dfr_share* share = state->st_shares[cpu];
	const struct dfr_aggtab* half = share ? share->sh_agg : NULL;

	return (share && share->sh_ring.rg_closed) || (half && half->used > half->size / 2);
}

u64 dfr_user_recorded(const struct dfr_state* state, unsigned cpu) {
	const struct dfr_share* share = state->st_shares[cpu];
	const struct dfr_block* block = share ? share->sh_ring.rg_block : NULL;

	return (share ? share->sh_ring.rg_seq << 32 : 0) + (block ? block->committed : 0);
}

const struct dfr_aggtab* dfr_user_aggregations(const struct dfr_state* state) {
	return state->st_agg_base;
}

u64 dfr_user_clock(int which) {
	struct timespec now;

	clock_gettime((clockid_t)which, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

/*
 * A reading between two of the monotonic clock: the closest two of several, because this thread may
 * have to wait between them.
 */
static u64 measure_offset(int which) {
	u64 least = ~0ULL, offset = 0, before, there, took;
	int tries;

	for (tries = 0; tries < 8; tries++) {
		before = dfr_user_clock(CLOCK_MONOTONIC);
		there = dfr_user_clock(which);
		took = dfr_user_clock(CLOCK_MONOTONIC) - before;
		if (took >= least)
			continue;
		least = took;
		offset = there - before - took / 2;
	}
	return offset;
}

/*
 * What was measured first stays, until the clock has been set: two measurements differ by some ns, and a program
 * would see wall time go at another pace than the monotonic clock.
 */
u64 dfr_user_clock_offset(int which) {
	static u64 kept[2]; /* of wall time, of the clock that counts sleep too; 0: not measured yet */
	u64* const last = &kept[which == CLOCK_BOOTTIME];
	const u64 offset = measure_offset(which), known = dfr_load_acquire(last);

	if (known && offset - known + 1000 <= 2000)
		return known;
	dfr_store_release(last, offset);
	return offset;
}

/*
 * /proc/self/mem: for reads of this process's memory where a sandbox forbids
 * process_vm_readv(). With both a bad address is an error and not a signal.
 */
static int own_memory(void) {
	static int fd = -1;
	int seen = dfr_load_acquire(&fd), opened;

	if (seen >= 0)
		return seen;
	opened = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	seen = dfr_cmpxchg(&fd, -1, opened);
	if (seen < 0)
		return opened;
	close(opened); /* another thread was first */
	return seen;
}

int dfr_user_read(void* dst, u64 addr, size_t n) {
	struct iovec local = {dst, n};
	struct iovec remote = {(void*)addr, n};
	ssize_t done;

	if (n == 0)
		return 0;
	done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	if (done < 0 && (errno == ENOSYS || errno == EPERM) && addr <= LONG_MAX)
		done = pread(own_memory(), dst, n, (off_t)addr);
	return done == (ssize_t)n ? 0 : -EFAULT;
}

int dfr_user_write(u64 addr, const void* src, size_t n) {
	struct iovec local = {(void*)src, n};
	struct iovec remote = {(void*)addr, n};
	ssize_t done;

	if (n == 0)
		return 0;
	/* No /proc/self/mem here, because writing it changes read-only pages too. */
	done = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	return done == (ssize_t)n ? 0 : -EFAULT;
}

/* Reads page by page, because the page after the string's end may not be mapped. */
long dfr_user_read_str(char* dst, u64 addr, size_t room) {
	size_t done = 0;

	if (room == 0)
		return -EFAULT;
	while (done < room - 1) {
		size_t n = 4096 - ((addr + done) & 4095);
		const char* end;

		if (n > room - 1 - done)
			n = room - 1 - done;
		if (dfr_user_read(dst + done, addr + done, n)) {
			dst[done] = '\0';
			return -EFAULT;
		}
		end = memchr(dst + done, '\0', n);
		if (end)
			return end - dst;
		done += n;
	}
	dst[done] = '\0';
	return (long)done;
}

static u32 parent_of(u32 pid) {
	char path[48], text[512];
	const char* at;
	unsigned parent = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* "pid (comm) state ppid": comm may contain anything, also parentheses, so search the last one. */
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %u", &parent) != 1)
		return 0;
	return parent;
}

bool dfr_user_progenyof(const struct dfr_env* env, u32 pid) {
	u32 at;
	int depth;

	if (env->ev_progenyof)
		return env->ev_progenyof(env, pid);
	if (pid == env->ev_pid || pid == env->ev_ppid)
		return true;
	if (!(env->ev_flags & DFR_ENV_LIVE))
		return false;
	at = env->ev_ppid;
	for (depth = 0; at && depth < 64; depth++) {
		if (at == pid)
			return true;
		at = parent_of(at);
	}
	return false;
}

u64 dfr_user_fixed_secret;

static u64 random_word(void) {
	static __thread u64 state;
	u64 z;

	if (!state)
		state = dfr_user_clock(CLOCK_MONOTONIC) ^ (u64)(size_t)&state;
	/* splitmix64 */
	state += 0x9e3779b97f4a7c15ull;
	z = state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

u64 dfr_user_secret(void) {
	u64 word = dfr_user_fixed_secret;

	if (!word && getrandom(&word, sizeof(word), 0) != sizeof(word))
		word = random_word(); /* the kernel has no random numbers yet, or no getrandom() */
	return word;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static u32 crc32c_by_instruction(u32 crc, const u8* at, size_t n) {
	u64 wide = crc, word;

	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	for (crc = (u32)wide; n; n--)
		crc = __builtin_ia32_crc32qi(crc, *at++);
	return crc;
}
#endif

/* By the processor's instruction; else four bits at a time, by a table of 16. */
u32 dfr_user_crc32c(u32 crc, const void* p, size_t n) {
	static const u32 nibble[16] = {
	    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const u8* at = p;

#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_by_instruction(crc, at, n);
#endif
	while (n--) {
		crc ^= *at++;
		crc = (crc >> 4) ^ nibble[crc & 15];
		crc = (crc >> 4) ^ nibble[crc & 15];
	}
	return crc;
}

void dfr_user_log(const char* fmt, ...) {
	va_list args;

	va_start(args, fmt);
	fputs("dfr: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

static u8 boot_id[16];

static int hex_digit(char c) {
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static void read_boot_id(void) {
	char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n, i;
	unsigned digits = 0;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < n && digits < 32; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			continue;
		boot_id[digits / 2] = (u8)(boot_id[digits / 2] << 4 | digit);
		digits++;
	}
}

const u8* dfr_user_boot_id(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_boot_id);
	return boot_id;
}

size_t dfr_user_machine(char* buffer, size_t room) {
	struct utsname names;
	int n;

	if (room == 0 || uname(&names))
		return 0;
	n = snprintf(buffer, room, "engine=process\nhost=%s\nrelease=%s\nversion=%s\nmachine=%s\n",
	             names.nodename, names.release, names.version, names.machine);
	return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

int dfr_user_raise(int sig) {
	return kill(getpid(), sig) ? -errno : 0;
}

int dfr_user_chill(u64 ns) {
	struct timespec wait = {0, 0};

	if (ns > 500000000u)
		return -EINVAL;
	wait.tv_nsec = (long)ns;
	nanosleep(&wait, NULL);
	return 0;
}

/* The inode of this process's directory in the unified hierarchy, which is the kernel's id; 0: none is mounted. */
static u64 own_cgroup(void) {
	static const char* const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char line[4096], path[sizeof(line) + 32];
	FILE* file = fopen("/proc/self/cgroup", "re");
	u64 id = 0;

	while (file && !id && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]) && !id; i++) {
			struct stat found;

			snprintf(path, sizeof(path), "%s%s/cgroup.procs", roots[i], line + 3);
			if (access(path, F_OK))
				continue;
			path[strlen(path) - strlen("cgroup.procs")] = '\0';
			if (!stat(path, &found))
				id = found.st_ino;
		}
	}
	if (file)
		fclose(file);
	return id;
}

void dfr_env_self(struct dfr_env* env) {
	memset(env, 0, sizeof(*env));
	env->ev_flags = DFR_ENV_LIVE;
	env->ev_pid = (u32)getpid();
	env->ev_tid = (u32)gettid();
	env->ev_task = env->ev_tid;
	env->ev_nspid = env->ev_pid;
	env->ev_cgroup = own_cgroup();
	env->ev_ppid = (u32)getppid();
	env->ev_uid = (u32)getuid();
	env->ev_gid = (u32)getgid();
	prctl(PR_GET_NAME, env->ev_comm);
	env->ev_comm[15] = '\0';
}

__thread const struct dfr_env* dfr_user_env;

/* What this thread has set in dfr_user_env; else the process itself, read once in each thread. */
const struct dfr_env* dfr_user_default_env(void) {
	static __thread struct dfr_env self;

	if (dfr_user_env)
		return dfr_user_env;
	if (!self.ev_flags)
		dfr_env_self(&self);
	return &self;
}
