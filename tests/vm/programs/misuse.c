// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: misuses /dev/dfr. Each check is a request that must be refused
 * with a certain error, or survived; prints those that came out otherwise, and
 * at the end how many there were of each.
 */
#include "client.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static unsigned int passed, failed;

static void expect(const char* what, int got, int wanted) {
	if (got == wanted) {
		passed++;
		return;
	}
	failed++;
	printf("%s: %s, expected %s\n", what, got ? strerror(got) : "success",
	       wanted ? strerror(wanted) : "success");
}

/* Sizes, flags and pointers that no caller has a right to. */
static void structures(void) {
	int fd = open_device();
	struct dfr_ioc_info info = {.size = sizeof(info)};
	union {
		struct dfr_ioc_info info;
		uint8_t bytes[8192];
	} big;

	expect("info", control(fd, DFR_IOC_INFO, &info), 0);
	expect("version", info.version, DFR_CONTROL_VERSION);
	info.size = 0;
	expect("info of size 0", control(fd, DFR_IOC_INFO, &info), EINVAL);
	info.size = 5000;
	expect("info of 5000 bytes", control(fd, DFR_IOC_INFO, &info), EINVAL);
	memset(&big, 0, sizeof(big));
	big.info.size = 4096;
	expect("longer info with zeroes", control(fd, DFR_IOC_INFO, &big), 0);
	big.bytes[4095] = 1;
	expect("longer info that asks for something", control(fd, DFR_IOC_INFO, &big), E2BIG);
	info.size = 8;
	info.cpus = 77;
	expect("shorter info", control(fd, DFR_IOC_INFO, &info), 0);
	expect("nothing is written beyond it", (int)info.cpus, 77);
	expect("info at NULL", control(fd, DFR_IOC_INFO, NULL), EFAULT);
	expect("info in the kernel", control(fd, DFR_IOC_INFO, (void*)0xffffffff81000000), EFAULT);
	expect("unknown request", control(fd, _IOWR('F', 99, struct dfr_ioc_info), &info), ENOTTY);
	close(fd);
}

static void without_a_state(void) {
	int fd = open_device();
	struct dfr_ioc_go io = {.size = sizeof(io)};
	struct dfr_ioc_status st = {.size = sizeof(st)};
	struct dfr_ioc_taken taken;
	struct dfr_ioc_take take = {.size = sizeof(take), .count = 1, .cpu = ~0u, .taken = (uintptr_t)&taken};
	struct dfr_ioc_catalog catalog = {.size = sizeof(catalog)};
	struct dfr_ioc_aggsnap snap = {.size = sizeof(snap)};
	struct dfr_ioc_triggers triggers = {.size = sizeof(triggers)};

	expect("go without a state", control(fd, DFR_IOC_GO, &io), ENXIO);
	expect("stop without a state", control(fd, DFR_IOC_STOP, &io), ENXIO);
	expect("status without a state", control(fd, DFR_IOC_STATUS, &st), ENXIO);
	expect("take without a state", control(fd, DFR_IOC_TAKE, &take), ENXIO);
	expect("catalog without a state", control(fd, DFR_IOC_CATALOG, &catalog), ENXIO);
	expect("aggsnap without a state", control(fd, DFR_IOC_AGGSNAP, &snap), ENXIO);
	expect("triggers without a state", control(fd, DFR_IOC_TRIGGERS, &triggers), ENXIO);
	enable(fd, &record_program);
	expect("triggers before go", control(fd, DFR_IOC_TRIGGERS, &triggers), ENXIO);
	close(fd);
	fd = open_device();
	expect("keep without a state", named(fd, DFR_IOC_KEEP, "x"), ENXIO);
	expect("claim what is not there", named(fd, DFR_IOC_CLAIM, "no-such-name"), ENOENT);
	expect("end what is not there", named(fd, DFR_IOC_END, "no-such-name"), ENOENT);
	expect("mmap without a state",
	       mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0, ENXIO);
	close(fd);
}

static void programs(void) {
	static uint8_t dof[4096];
	struct dfr_ioc_enable io;
	size_t size = tiny_dof(dof, &record_program);
	int fd = open_device();

	expect("DOF of 0 bytes", enable_dof(fd, dof, 0, &io), EINVAL);
	expect("DOF of 10 bytes", enable_dof(fd, dof, 10, &io), EINVAL);
	expect("DOF of 1 TiB", enable_dof(fd, dof, 1ULL << 40, &io), E2BIG);
	expect("DOF at NULL", enable_dof(fd, NULL, size, &io), EFAULT);
	expect("cut DOF", enable_dof(fd, dof, size - 1, &io), EINVAL);
	expect("cut DOF has a reason", io.reason[0] ? 0 : EINVAL, 0);
	dof[0] ^= 1;
	expect("DOF without magic", enable_dof(fd, dof, size, &io), EINVAL);
	dof[0] ^= 1;
	expect("the same, whole", enable_dof(fd, dof, size, &io), 0);
	io.flags = 0x80;
	expect("unknown flag", control(fd, DFR_IOC_ENABLE, &io), EINVAL);
	close(fd);
}

static int map_error(int fd, int protection, size_t length, uint64_t offset) {
	void* p = mmap(NULL, length, protection, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, length);
	return 0;
}

static void mappings(void) {
	int fd = open_device();
	void* p;

	enable(fd, &record_program);
	go(fd);
	expect("read-only mapping", map_error(fd, PROT_READ, 4096, DFR_MAP_OFFSET(0, 0)), 0);
	expect("writable mapping", map_error(fd, PROT_READ | PROT_WRITE, 4096, 0), EACCES);
	expect("executable mapping", map_error(fd, PROT_READ | PROT_EXEC, 4096, 0), EACCES);
	expect("mapping of a TiB", map_error(fd, PROT_READ, 1ULL << 40, DFR_MAP_OFFSET(0, 0)), EINVAL);
	expect("block of no CPU", map_error(fd, PROT_READ, 4096, DFR_MAP_OFFSET(4000, 0)), ENOENT);
	expect("block that is not there", map_error(fd, PROT_READ, 4096, DFR_MAP_OFFSET(0, 100000)), ENOENT);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	expect("made writable", mprotect(p, 4096, PROT_READ | PROT_WRITE) ? errno : 0, EACCES);
	expect("grown", mremap(p, 4096, 1 << 20, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0, EFAULT);
	close(fd);
	/* The state is gone; its pages live until the mapping does. */
	expect("mapping outlives the state", *(volatile uint32_t*)p == 0x12345678 ? EINVAL : 0, 0);
	munmap(p, 4096);
}

static void costs(void) {
	struct dfr_ioc_cpu_cost cost[1];
	struct dfr_ioc_cost io = {.size = sizeof(io), .count = 1, .costs = (uintptr_t)cost};
	int fd = open_device();

	expect("cost without a state", control(fd, DFR_IOC_COST, &io), ENXIO);
	enable(fd, &record_program);
	expect("cost before go", control(fd, DFR_IOC_COST, &io), ENXIO);
	go(fd);
	expect("cost", control(fd, DFR_IOC_COST, &io), 0);
	expect("cost of one CPU", io.count, 1);
	expect("which is the first", cost[0].cpu, 0);
	io = (struct dfr_ioc_cost){.size = sizeof(io), .costs = (uintptr_t)cost};
	expect("room for no cost", control(fd, DFR_IOC_COST, &io), EINVAL);
	io = (struct dfr_ioc_cost){.size = sizeof(io), .count = 1, .cpu = 4000, .costs = (uintptr_t)cost};
	expect("cost of no CPU", control(fd, DFR_IOC_COST, &io), EINVAL);
	io = (struct dfr_ioc_cost){.size = sizeof(io), .count = 1, .costs = 8};
	expect("cost to nowhere", control(fd, DFR_IOC_COST, &io), EFAULT);
	io = (struct dfr_ioc_cost){.size = sizeof(io), .count = ~0u, .costs = 8};
	expect("very much room", control(fd, DFR_IOC_COST, &io), EFAULT);
	close(fd);
}

static int release_error(int fd, uint32_t cpu, uint32_t block, uint64_t seq) {
	struct dfr_ioc_taken taken = {.cpu = cpu, .block = block, .seq = seq};
	struct dfr_ioc_release give = {.size = sizeof(give), .count = 1, .taken = (uintptr_t)&taken};

	return control(fd, DFR_IOC_RELEASE, &give);
}

static void blocks(void) {
	struct dfr_ioc_release give = {.size = sizeof(give)};
	struct dfr_ioc_take take = {.size = sizeof(take), .count = 1, .cpu = 4000};
	int fd = open_device();

	enable(fd, &record_program);
	go(fd);
	expect("release of nothing", control(fd, DFR_IOC_RELEASE, &give), EINVAL);
	give.count = ~0u;
	expect("release of everything", control(fd, DFR_IOC_RELEASE, &give), EINVAL);
	expect("release of what was not taken", release_error(fd, 0, 0, 1), EINVAL);
	expect("release of no block", release_error(fd, 0, 1 << 20, 1), EINVAL);
	expect("release of no CPU", release_error(fd, 4000, 0, 1), EINVAL);
	expect("take from no CPU", control(fd, DFR_IOC_TAKE, &take), EINVAL);
	take.cpu = ~0u;
	take.count = 0;
	expect("take nothing", control(fd, DFR_IOC_TAKE, &take), EINVAL);
	take.count = 1;
	take.flags = 0x40;
	expect("take with an unknown flag", control(fd, DFR_IOC_TAKE, &take), EINVAL);
	close(fd);
}

static void names(void) {
	struct dfr_ioc_name io = {.size = sizeof(io)};
	int first = open_device(), second = open_device();

	enable(first, &record_program);
	expect("name with a space", named(first, DFR_IOC_KEEP, "a b"), EINVAL);
	expect("empty name", named(first, DFR_IOC_KEEP, ""), EINVAL);
	memset(io.name, 'x', sizeof(io.name));
	expect("name without an end", control(first, DFR_IOC_KEEP, &io), EINVAL);
	expect("keep", named(first, DFR_IOC_KEEP, "misuse"), 0);
	enable(second, &record_program);
	expect("a second of that name", named(second, DFR_IOC_KEEP, "misuse"), EEXIST);
	expect("claim with a state", named(second, DFR_IOC_CLAIM, "misuse"), EBUSY);
	close(second);
	second = open_device();
	expect("claim what has an owner", named(second, DFR_IOC_CLAIM, "misuse"), EBUSY);
	expect("end what has an owner", named(second, DFR_IOC_END, "misuse"), EBUSY);
	close(first);
	expect("claim what has none", named(second, DFR_IOC_CLAIM, "misuse"), 0);
	expect("end it", named(second, DFR_IOC_END, "misuse"), 0);
	expect("it is gone", named(second, DFR_IOC_CLAIM, "misuse"), ENOENT);
	close(second);
}

static void listing(void) {
	static uint8_t buffer[65536];
	struct dfr_ioc_probes io = {.size = sizeof(io), .buffer = (uintptr_t)buffer, .bytes = 16};
	int fd = open_device();

	expect("listing into 16 bytes", control(fd, DFR_IOC_PROBES, &io), EINVAL);
	io.bytes = sizeof(buffer);
	memset(io.pattern[2], 'x', sizeof(io.pattern[2]));
	expect("pattern without an end", control(fd, DFR_IOC_PROBES, &io), EINVAL);
	memset(&io.pattern, 0, sizeof(io.pattern));
	strcpy(io.pattern[0], "syscall");
	io.buffer = 8;
	expect("listing to a bad address", control(fd, DFR_IOC_PROBES, &io), EFAULT);
	io.buffer = (uintptr_t)buffer;
	io.bytes = sizeof(buffer);
	io.id = 0;
	expect("listing", control(fd, DFR_IOC_PROBES, &io), 0);
	expect("something is listed", io.bytes ? 0 : ENOENT, 0);
	close(fd);
}

/* A user who is nobody; the node's mode is opened first, so that the module's own check is met. */
static void nobody(void) {
	pid_t child = fork();
	int status;

	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(99);
		_exit(open(DFR_DEVICE, O_RDWR) < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	expect("opened by nobody", WEXITSTATUS(status), EPERM);
}

int main(void) {
	structures();
	without_a_state();
	programs();
	mappings();
	costs();
	blocks();
	names();
	listing();
	system("chmod 666 " DFR_DEVICE);
	nobody();
	system("chmod 600 " DFR_DEVICE);
	printf("%u as expected, %u not\n", passed, failed);
	return failed ? 1 : 0;
}
