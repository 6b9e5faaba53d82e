/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who else may sit on a kernel function that dfr traces: BPF's fentry and fexit,
 * perf's kprobes, the function_graph tracer, and what dfr_beside.ko and
 * dfr_patch.ko (tests/vm/provider) are. Each is attached, detached, and says how
 * often it has seen the process `others_who` call OTHERS_FUNCTION.
 */
#ifndef DFR_TESTS_OTHERS_H
#define DFR_TESTS_OTHERS_H

#include "client.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/stat.h>

#define OTHERS_CALL "getpgid"
#define OTHERS_FUNCTION "__x64_sys_" OTHERS_CALL

static pid_t others_who;

/* --- Files. ---------------------------------------------------------------- */

static inline bool write_text(const char* path, const char* text) {
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

static inline void must_write(const char* path, const char* text) {
	if (!write_text(path, text))
		die("cannot write %s to %s: %s", text, path, strerror(errno));
}

static inline void must_write_number(const char* path, long number) {
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	must_write(path, text);
}

/* The first number behind `label` in a file. */
static inline bool read_number(const char* path, const char* label, uint64_t* number) {
	char text[4096], *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	at = strstr(text, label);
	if (at)
		*number = strtoull(at + strlen(label), NULL, 10);
	return at != NULL;
}

static inline uint64_t must_read(const char* path, const char* label) {
	uint64_t number = 0;

	if (!read_number(path, label, &number))
		die("no number %s in %s", label, path);
	return number;
}

/* --- Kernel modules. --------------------------------------------------------- */

static inline void load_module(const char* path, const char* parameters) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		die("cannot load %s: %s", path, strerror(errno));
	close(fd);
}

/* Who uses it may just be letting go. */
static inline void unload_module(const char* name) {
	int tries;

	for (tries = 0; syscall(SYS_delete_module, name, O_NONBLOCK); tries++) {
		if (tries > 1000)
			die("cannot unload %s: %s", name, strerror(errno));
		usleep(10000);
	}
}

/* --- dfr_beside.ko ----------------------------------------------------------- */

#define BESIDE "/sys/module/dfr_beside/parameters/"

static inline bool ops_attach(void) {
	return write_text(BESIDE "ops", "1");
}
static inline void ops_detach(void) {
	must_write(BESIDE "ops", "0");
}
static inline uint64_t ops_count(void) {
	return must_read(BESIDE "ops_calls", "");
}
static inline bool kretprobe_attach(void) {
	return write_text(BESIDE "kretprobe", "1");
}
static inline void kretprobe_detach(void) {
	must_write(BESIDE "kretprobe", "0");
}
static inline uint64_t kretprobe_count(void) {
	return must_read(BESIDE "kretprobe_calls", "");
}
static inline uint64_t kretprobe_returned(void) {
	return must_read(BESIDE "kretprobe_returns", "");
}

/* --- dfr_patch.ko: a transition goes on behind who asks for it, and can be turned round. --- */

#define PATCHES "/sys/kernel/livepatch/dfr_patch/"
#define PATCH_CALLS "/sys/module/dfr_patch/parameters/calls"

static bool patch_wanted, patch_loaded;
static uint64_t patch_before; /* what was counted by those that have gone */

static inline bool patch_in_kernel(void) {
	return access(PATCHES "enabled", F_OK) == 0;
}

/* The kernel has let go of it, and nobody is in what it replaced. */
static inline void patch_unload(void) {
	patch_before += must_read(PATCH_CALLS, "");
	unload_module("dfr_patch");
	patch_loaded = false;
}

static inline bool patch_attach(void) {
	char parameters[32];

	patch_wanted = true;
	if (patch_loaded && write_text(PATCHES "enabled", "1"))
		return true;
	if (patch_loaded) {
		while (patch_in_kernel())
			usleep(10000);
		patch_unload();
	}
	snprintf(parameters, sizeof(parameters), "who=%d", others_who);
	load_module("/lib/modules/dfr_patch.ko", parameters);
	return patch_loaded = true;
}

static inline void patch_detach(void) {
	patch_wanted = false;
	must_write(PATCHES "enabled", "0");
}

static inline void patch_settle(void) {
	uint64_t changing = 1;

	if (!patch_loaded)
		return;
	while (read_number(PATCHES "transition", "", &changing) && changing)
		usleep(10000);
	if (patch_wanted)
		return;
	while (patch_in_kernel())
		usleep(10000);
	patch_unload();
}

static inline uint64_t patch_count(void) {
	return patch_before + (patch_loaded ? must_read(PATCH_CALLS, "") : 0);
}

/*
 * Where a livepatch is there before it, fexit breaks the kernel, with nobody but these two (KERNEL.md): calls miss the
 * livepatch, run in a trampoline that has been freed, and with fentry 6.1 ends ftrace.
 */
static inline bool fexit_would_break(void) {
	return patch_loaded;
}

/* --- BPF --------------------------------------------------------------------- */

static inline int bpf(int command, union bpf_attr* attr) {
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static inline size_t btf_behind(const struct btf_type* type) {
	unsigned int n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT: return 4;
	case BTF_KIND_ARRAY: return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM: return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64: return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO: return n * sizeof(struct btf_param);
	case BTF_KIND_VAR: return sizeof(struct btf_var);
	case BTF_KIND_DATASEC: return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG: return sizeof(struct btf_decl_tag);
	}
	return 0;
}

/* The kernel's own BTF: the number of the function's type. */
static inline uint32_t btf_function(const char* name) {
	static uint8_t blob[32 << 20];
	const struct btf_header* header = (const void*)blob;
	const struct btf_type* type;
	const uint8_t *at, *end;
	const char* strings;
	size_t size = 0;
	ssize_t n;
	uint32_t id = 1;
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (n = read(fd, blob + size, sizeof(blob) - size)) > 0)
		size += (size_t)n;
	if (size < sizeof(*header) || header->magic != BTF_MAGIC)
		die("no BTF of the kernel");
	close(fd);
	at = blob + header->hdr_len + header->type_off;
	end = at + header->type_len;
	strings = (const char*)blob + header->hdr_len + header->str_off;
	for (; at < end; at += sizeof(*type) + btf_behind(type), id++) {
		type = (const void*)at;
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC && !strcmp(strings + type->name_off, name))
			return id;
	}
	die("the kernel's BTF has no function %s", name);
	return 0;
}

static int bpf_counts[2] = {-1, -1}, bpf_programs[2], bpf_links[2]; /* fentry, fexit */

static inline int bpf_count_map(void) {
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	return bpf(BPF_MAP_CREATE, &attr);
}

/* if (bpf_get_current_pid_tgid() >> 32 == others_who) count[0]++; */
static inline int bpf_counter(int map, uint32_t type, uint32_t function) {
	const struct bpf_insn program[] = {
	    {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
	    {.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = 0, .imm = 32},
	    {.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 0, .off = 4, .imm = others_who},
	    /* NOLINTNEXTLINE(misc-redundant-expression): BPF_LD and BPF_IMM are both 0 */
	    {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map},
	    {.code = 0},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1},
	    {.code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = 1, .src_reg = 2, .imm = BPF_ADD},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	static char log[65536];
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACING;
	attr.expected_attach_type = type;
	attr.attach_btf_id = function;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t) "GPL";
	attr.log_buf = (uintptr_t)log;
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		die("BPF program: %s: %s", strerror(errno), log);
	return fd;
}

static inline void bpf_prepare(void) {
	uint32_t function = btf_function(OTHERS_FUNCTION);
	int i;

	for (i = 0; i < 2; i++) {
		bpf_counts[i] = bpf_count_map();
		bpf_programs[i] =
		    bpf_counter(bpf_counts[i], i ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY, function);
	}
}

static inline bool bpf_attach(int i) {
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.prog_fd = (uint32_t)bpf_programs[i];
	bpf_links[i] = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	return bpf_links[i] >= 0;
}

static inline uint64_t bpf_count(int i) {
	union bpf_attr attr;
	uint32_t key = 0;
	uint64_t value = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)bpf_counts[i];
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("BPF map: %s", strerror(errno));
	return value;
}

static inline bool fentry_attach(void) {
	return bpf_attach(0);
}
static inline void fentry_detach(void) {
	close(bpf_links[0]);
}
static inline uint64_t fentry_count(void) {
	return bpf_count(0);
}
static inline bool fexit_attach(void) {
	return bpf_attach(1);
}
static inline void fexit_detach(void) {
	close(bpf_links[1]);
}
static inline uint64_t fexit_count(void) {
	return bpf_count(1);
}

/* --- perf's kprobe and kretprobe. ---------------------------------------------- */

static int perf_events[2] = {-1, -1};
static uint64_t perf_before[2];

static inline bool perf_attach(int i) {
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = (uint32_t)must_read("/sys/bus/event_source/devices/kprobe/type", "");
	attr.config = (uint64_t)i; /* retprobe */
	attr.kprobe_func = (uintptr_t)OTHERS_FUNCTION;
	perf_events[i] = (int)syscall(SYS_perf_event_open, &attr, others_who, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return perf_events[i] >= 0;
}

static inline uint64_t perf_count(int i) {
	uint64_t value = 0;

	if (perf_events[i] >= 0 && read(perf_events[i], &value, sizeof(value)) != sizeof(value))
		die("perf: %s", strerror(errno));
	return perf_before[i] + value;
}

static inline void perf_detach(int i) {
	perf_before[i] = perf_count(i);
	close(perf_events[i]);
	perf_events[i] = -1;
}

static inline bool perf_entry_attach(void) {
	return perf_attach(0);
}
static inline void perf_entry_detach(void) {
	perf_detach(0);
}
static inline uint64_t perf_entry_count(void) {
	return perf_count(0);
}
static inline bool perf_return_attach(void) {
	return perf_attach(1);
}
static inline void perf_return_detach(void) {
	perf_detach(1);
}
static inline uint64_t perf_return_count(void) {
	return perf_count(1);
}

/* --- function_graph: entries and returns in its buffer, which has room for a step's. --- */

#define TRACING "/sys/kernel/tracing/"

static inline void graph_prepare(void) {
	must_write(TRACING "buffer_size_kb", "8192");
	must_write(TRACING "set_ftrace_filter", OTHERS_FUNCTION);
	must_write_number(TRACING "set_ftrace_pid", others_who);
}

static inline bool graph_attach(void) {
	return write_text(TRACING "current_tracer", "function_graph");
}
static inline void graph_detach(void) {
	must_write(TRACING "current_tracer", "nop");
}
static inline void graph_clear(void) {
	must_write(TRACING "trace", "");
}

static inline uint64_t graph_count(void) {
	uint64_t events = 0;
	char path[128];
	int cpu;

	for (cpu = 0; cpu < 64; cpu++) {
		snprintf(path, sizeof(path), TRACING "per_cpu/cpu%d/stats", cpu);
		if (access(path, F_OK))
			continue;
		events += must_read(path, "entries: ");
		if (must_read(path, "overrun: "))
			die("function_graph: its buffer is too small");
	}
	return events;
}

static inline void others_prepare(void) {
	load_module("/lib/modules/dfr_beside.ko", "");
	must_write_number(BESIDE "who", others_who);
	bpf_prepare();
	graph_prepare();
}

static inline void others_end(void) {
	unload_module("dfr_beside");
	must_write(TRACING "set_ftrace_pid", " ");
	must_write(TRACING "set_ftrace_filter", " ");
	must_write(TRACING "buffer_size_kb", "1408");
}

#endif
