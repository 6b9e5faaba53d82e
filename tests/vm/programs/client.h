/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small helpers of the guest programs that talk to /dev/dfr directly, without
 * libdfr: what they test is the kernel's side alone.
 */
#ifndef DFR_TESTS_CLIENT_H
#define DFR_TESTS_CLIENT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/abi/aggtab.h"
#include "formats/abi/catalog.h"
#include "formats/abi/control.h"
#include "tiny_dof.h"

static inline void die(const char* format, ...) {
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

static inline int open_device(void) {
	int fd = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s: %s", DFR_DEVICE, strerror(errno));
	return fd;
}

/* The errno of an ioctl, 0: it succeeded. */
static inline int control(int fd, unsigned long request, void* arg) {
	return ioctl(fd, request, arg) < 0 ? errno : 0;
}

static inline int enable_dof(int fd, const void* dof, size_t size, struct dfr_ioc_enable* io) {
	memset(io, 0, sizeof(*io));
	io->size = sizeof(*io);
	io->dof = (uintptr_t)dof;
	io->dof_size = size;
	return control(fd, DFR_IOC_ENABLE, io);
}

static inline void enable(int fd, const struct tiny_dof* program) {
	static uint8_t dof[4096];
	struct dfr_ioc_enable io;
	int error = enable_dof(fd, dof, tiny_dof(dof, program), &io);

	if (error)
		die("enable: %s: %s (section %d, offset %llu)", strerror(error), io.reason,
		    (int)io.error_section, (unsigned long long)io.error_offset);
	if (!io.matched)
		die("enable: no probe matched");
}

static inline void go(int fd) {
	struct dfr_ioc_go io = {.size = sizeof(io)};
	int error = control(fd, DFR_IOC_GO, &io);

	if (error)
		die("go: %s", strerror(error));
}

static inline void stop(int fd) {
	struct dfr_ioc_go io = {.size = sizeof(io)};
	int error = control(fd, DFR_IOC_STOP, &io);

	if (error)
		die("stop: %s", strerror(error));
}

static inline int named(int fd, unsigned long request, const char* name) {
	struct dfr_ioc_name io = {.size = sizeof(io)};

	snprintf(io.name, sizeof(io.name), "%s", name);
	return control(fd, request, &io);
}

static inline void status(int fd, struct dfr_ioc_status* io) {
	int error;

	memset(io, 0, sizeof(*io));
	io->size = sizeof(*io);
	error = control(fd, DFR_IOC_STATUS, io);
	if (error)
		die("status: %s", strerror(error));
}

/* What the state says it has lost, if anything. */
static inline void tell_losses(FILE* to, int fd) {
	struct dfr_ioc_status io;
	int i;

	status(fd, &io);
	for (i = 0; i < DFR_LOSS_MAX; i++)
		if (io.loss[i])
			fprintf(to, "lost, cause %d: %llu\n", i, (unsigned long long)io.loss[i]);
}

static inline const struct dfr_block* map_block(int fd, const struct dfr_ioc_taken* taken) {
	void* p = mmap(NULL, DFR_BLOCK_MAX, PROT_READ, MAP_SHARED, fd,
	               (off_t)DFR_MAP_OFFSET(taken->cpu, taken->block));

	if (p == MAP_FAILED)
		die("mmap of block %u of CPU %u: %s", taken->block, taken->cpu, strerror(errno));
	return p;
}

/* Takes and gives back every block; visits each while it is held. */
static inline void drain(int fd, void (*visit)(const struct dfr_block* block, void* arg), void* arg) {
	struct dfr_ioc_taken taken[64];
	struct dfr_ioc_take take;
	int error;

	do {
		memset(&take, 0, sizeof(take));
		take.size = sizeof(take);
		take.flags = DFR_TAKE_FLUSH;
		take.taken = (uintptr_t)taken;
		take.count = 64;
		take.cpu = ~0u;
		error = control(fd, DFR_IOC_TAKE, &take);
		if (error)
			die("take: %s", strerror(error));
		for (uint32_t i = 0; i < take.count; i++) {
			const struct dfr_block* block = map_block(fd, &taken[i]);

			if (block->magic != DFR_BLOCK_MAGIC || block->seq != taken[i].seq)
				die("block %u of CPU %u: magic %x, sequence %llu, expected %llu",
				    taken[i].block, taken[i].cpu, block->magic,
				    (unsigned long long)block->seq, (unsigned long long)taken[i].seq);
			visit(block, arg);
			munmap((void*)block, DFR_BLOCK_MAX);
		}
		struct dfr_ioc_release give = {
		    .size = sizeof(give), .count = take.count, .taken = (uintptr_t)taken};
		error = take.count ? control(fd, DFR_IOC_RELEASE, &give) : 0;
		if (error)
			die("release: %s", strerror(error));
	} while (take.count);
}

/* Calls visit for each string key of the state's aggregation with its (first) value. */
static inline void each_counted(int fd, void (*visit)(const char* key, uint64_t value)) {
	size_t room = 16 * 1024 * 1024;
	uint8_t* table = malloc(room);
	struct dfr_ioc_aggsnap io = {.size = sizeof(io), .buffer = (uintptr_t)table, .bytes = room};
	int error = control(fd, DFR_IOC_AGGSNAP, &io);
	const struct dfr_aggtab* head = (const void*)table;
	uint64_t at, value;

	if (error)
		die("aggsnap: %s", strerror(error));
	if (head->magic != DFR_AGGTAB_MAGIC)
		die("aggsnap: magic %x", head->magic);
	at = sizeof(*head) + 4ULL * head->nbuckets;
	while (at + sizeof(struct dfr_aggent) <= head->used) {
		const struct dfr_aggent* entry;

		at = (at + 7) & ~7ULL;
		entry = (const void*)(table + at);
		memcpy(&value, (const uint8_t*)(entry + 1) + entry->key_size, 8);
		if (entry->varid)
			visit((const char*)(entry + 1), value);
		at += sizeof(*entry) + entry->key_size + 8ULL * entry->words;
	}
	free(table);
}

static const char* wanted_key;
static uint64_t wanted_value;

static inline void look_for_wanted(const char* key, uint64_t value) {
	if (!strcmp(key, wanted_key))
		wanted_value = value;
}

/* The value of that key; 0: no such key. */
static inline uint64_t counted(int fd, const char* text) {
	wanted_key = text;
	wanted_value = 0;
	each_counted(fd, look_for_wanted);
	return wanted_value;
}

static const struct tiny_dof count_program = {.probe = {"syscall", "", "getppid", "entry"},
                                              .builtin = DIF_VAR_EXECNAME,
                                              .string = 1,
                                              .action = DFR_ACT_COUNT};

static const struct tiny_dof record_program = {.probe = {"syscall", "", "getppid", "entry"},
                                               .builtin = DIF_VAR_ARG0,
                                               .action = DFR_ACT_DIFEXPR,
                                               .bufpolicy = DFR_BUFPOLICY_RING,
                                               .bufsize = 4 * 1024 * 1024};

static inline void call_getppid(long n) {
	while (n-- > 0)
		syscall(SYS_getppid, 1, 2, 3, 4, 5, 6); /* so that its registers are known */
}

/* N calls counted on this descriptor: prints how many this program, `me`, has made. */
static inline int count_calls(int fd, long n, const char* me) {
	enable(fd, &count_program);
	go(fd);
	call_getppid(n);
	stop(fd);
	printf("%llu\n", (unsigned long long)counted(fd, me));
	return 0;
}

#endif
