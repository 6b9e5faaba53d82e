// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: DOF with one byte changed, COUNT times, given to the kernel's
 * engine and to the same engine in this process. Both must decide alike: the
 * same error, naming the same section and offset for the same reason. What the
 * kernel accepts runs for a moment and must do no harm (the harness looks at the
 * kernel's log).
 *
 *   guest-dof FILE COUNT SEED     prints "COUNT tried, R refused, L loaded, D differ"
 */
#include "client.h"

#include "kmod/engine/engine.h"
#include <sys/syscall.h>

static uint64_t state;

static uint32_t next(void) {
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33);
}

struct verdict {
	int error;
	uint32_t section;
	uint64_t offset;
	char reason[128];
};

static void ask_process(struct dfr_engine* engine, const void* dof, size_t size, struct verdict* verdict) {
	const struct dfr_load_limits limits = {.ll_kernel_reads = true};
	struct dfr_refusal why = {.rf_section = ~0u};
	struct dfr_state* mine;
	u32 matched;

	verdict->error = -dfr_state_create(engine, &mine);
	if (verdict->error)
		return;
	verdict->error = -dfr_state_enable(mine, dof, size, &limits, DFR_ENABLE_ZERO_OK, &matched, &why);
	verdict->section = why.rf_section;
	verdict->offset = why.rf_offset;
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", why.rf_reason);
	dfr_state_destroy(mine);
}

/* A program that was let in runs: a few system calls on its probes, then the end. */
static void run(int fd) {
	struct dfr_ioc_go go = {.size = sizeof(go)};

	if (control(fd, DFR_IOC_GO, &go))
		return;
	for (int i = 0; i < 20; i++)
		syscall(SYS_getppid);
	control(fd, DFR_IOC_STOP, &go);
}

static void ask_kernel(const void* dof, size_t size, struct verdict* verdict) {
	struct dfr_ioc_enable io = {
	    .size = sizeof(io),
	    .flags = DFR_ENABLE_ZERO_OK,
	    .dof = (uint64_t)(uintptr_t)dof,
	    .dof_size = size,
	};
	int fd = open_device();

	verdict->error = control(fd, DFR_IOC_ENABLE, &io);
	verdict->section = io.error_section;
	verdict->offset = io.error_offset;
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", io.reason);
	if (!verdict->error)
		run(fd);
	close(fd);
}

static bool alike(const struct verdict* a, const struct verdict* b) {
	if (a->error != b->error)
		return false;
	return !a->error ||
	       (a->section == b->section && a->offset == b->offset && !strcmp(a->reason, b->reason));
}

static long read_all(const char* path, uint8_t* bytes, size_t room) {
	FILE* file = fopen(path, "rb");
	long size = file ? (long)fread(bytes, 1, room, file) : -1;

	if (file)
		fclose(file);
	return size;
}

int main(int argc, char** argv) {
	static uint8_t dof[1 << 16];
	unsigned int refused = 0, loaded = 0, differ = 0;
	long size = argc == 4 ? read_all(argv[1], dof, sizeof(dof)) : -1;
	long count = argc == 4 ? atol(argv[2]) : 0;
	struct dfr_engine* engine = dfr_engine_create(NULL);

	if (size < 64 || count < 1 || !engine) {
		fprintf(stderr, "usage: guest-dof FILE COUNT SEED\n");
		return 2;
	}
	state = strtoull(argv[3], NULL, 10);
	for (long i = 0; i < count; i++) {
		struct verdict here = {0}, there = {0};
		uint32_t at = next() % (uint32_t)size;
		uint8_t was = dof[at];

		dof[at] = (uint8_t)(was ^ (1 + next() % 255));
		ask_process(engine, dof, (size_t)size, &here);
		ask_kernel(dof, (size_t)size, &there);
		there.error ? refused++ : loaded++;
		if (!alike(&here, &there)) {
			differ++;
			printf("byte %u is %u: here %d section %d offset %llu %s; kernel %d section %d "
			       "offset %llu %s\n",
			       at, dof[at], here.error, (int)here.section, (unsigned long long)here.offset,
			       here.reason, there.error, (int)there.section, (unsigned long long)there.offset,
			       there.reason);
		}
		dof[at] = was;
	}
	printf("%ld tried, %u refused, %u loaded, %u differ\n", count, refused, loaded, differ);
	return differ != 0;
}
