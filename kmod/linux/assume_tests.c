// SPDX-License-Identifier: GPL-2.0
/*
 * Tests whether the thing at an address is what its name says, for variables, whose types BTF does
 * not have. A row of assumptions.h names its test. All tests read by loads that may fault, and
 * change nothing. Process context, while the module loads.
 */
#include "kmod/linux/assume.h"

#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include "kmod/linux/btf_read.h"
#include "kmod/linux/resolve.h"

bool dfr_test_readable(unsigned long address)
{
	u64 word;

	return !copy_from_kernel_nofault(&word, (const void *)address, sizeof(word));
}

/* The begin of an area: the test of its end compares the two. */
bool dfr_test_begin(unsigned long address)
{
	return true;
}

/* Only the address is compared, because init text may have been freed after boot. */
bool dfr_test_end_of_init(unsigned long address)
{
	return address > dfr_row_found(DFR_ROW___init_begin);
}

/* register_kprobe() is exported, so the linker has given us an address within the kernel's text. */
bool dfr_test_begin_of_text(unsigned long address)
{
	return address <= (unsigned long)register_kprobe;
}

bool dfr_test_end_of_text(unsigned long address)
{
	return address > (unsigned long)register_kprobe;
}

bool dfr_test_text(unsigned long address)
{
	return address >= dfr_row_found(DFR_ROW__stext) && address < dfr_row_found(DFR_ROW__etext);
}

static unsigned long load(unsigned long address)
{
	unsigned long value;

	return copy_from_kernel_nofault(&value, (const void *)address, sizeof(value)) ? 0 : value;
}

bool dfr_test_boolean(unsigned long address)
{
	u8 value;

	return !copy_from_kernel_nofault(&value, (const void *)address, sizeof(value)) && value <= 1;
}

/* An int that is 0 or 1. */
bool dfr_test_flag(unsigned long address)
{
	int value;

	return !copy_from_kernel_nofault(&value, (const void *)address, sizeof(value)) &&
	       (value == 0 || value == 1);
}

#define KPROBE_TRIES 20

/* Each CPU's pointer to the kprobe whose handler runs there: the same one for so many ms runs no more, it has died. */
static bool is_stuck(const unsigned long *running)
{
	unsigned long first, now;
	int tries;

	for (tries = 0; tries < KPROBE_TRIES; tries++) {
		if (copy_from_kernel_nofault(&now, running, sizeof(now)) || !now || (tries && now != first))
			return false;
		first = now;
		msleep(1);
	}
	return true;
}

/* After an oops in a handler the kernel skips every kprobe of that CPU, whoever's it is, until the machine restarts. */
bool dfr_test_no_kprobe(unsigned long address)
{
	static char why[96];
	unsigned int cpu, first = 0, stuck = 0;

	for_each_possible_cpu (cpu) {
		if (!is_stuck(per_cpu_ptr((const unsigned long __percpu *)address, cpu)))
			continue;
		first = stuck++ ? first : cpu;
	}
	if (stuck) {
		snprintf(why, sizeof(why), "is set since an oops, until the machine restarts: on CPU %u",
			 first);
		if (stuck > 1)
			scnprintf(why + strlen(why), sizeof(why) - strlen(why), " and %u more", stuck - 1);
		dfr_row_fails(DFR_ROW_current_kprobe, why);
	}
	return true;
}

/*
 * The head of a list: its neighbours point back to it. Tried several times, since one may be added
 * or removed just now.
 */
bool dfr_test_list(unsigned long address)
{
	int tries;

	for (tries = 0; tries < 8; tries++) {
		unsigned long next = load(address + offsetof(struct list_head, next));
		unsigned long prev = load(address + offsetof(struct list_head, prev));

		if (next && prev && load(next + offsetof(struct list_head, prev)) == address &&
		    load(prev + offsetof(struct list_head, next)) == address)
			return true;
		cpu_relax();
	}
	return false;
}

static __maybe_unused bool has_room(unsigned long address, unsigned long wanted)
{
	char name[KSYM_NAME_LEN], *module;
	unsigned long size = 0, offset;

	return dfr_symbol_at(address, &size, &offset, &module, name) && !offset && size >= wanted;
}

/*
 * A mutex has a list of waiters. Where it has only a pointer to the first one (DFR_MUTEX_HAS_LIST), and
 * on -rt, where it is an rt_mutex, its size before the next symbol is checked; its owner, if it has one,
 * is memory of the kernel.
 */
bool dfr_test_mutex(unsigned long address)
{
#if defined(CONFIG_PREEMPT_RT)
	return has_room(address, sizeof(struct mutex));
#elif !DFR_MUTEX_HAS_LIST
	unsigned long owner = load(address + offsetof(struct mutex, owner)) & ~7UL;

	return has_room(address, sizeof(struct mutex)) && (!owner || dfr_test_readable(owner));
#else
	return dfr_test_list(address + offsetof(struct mutex, wait_list));
#endif
}

/*
 * The end of BPF's table of raw tracepoints: every entry before it has a tracepoint with a name, and
 * few arguments.
 */
bool dfr_test_raw_tracepoints(unsigned long address)
{
	unsigned long at = dfr_row_found(DFR_ROW___start__bpf_raw_tp);
	struct bpf_raw_event_map entry;
	char name[2];

	if (address < at || (address - at) % sizeof(entry))
		return false;
	for (; at < address; at += sizeof(entry))
		if (copy_from_kernel_nofault(&entry, (const void *)at, sizeof(entry)) ||
		    entry.num_args > 12 ||
		    copy_from_kernel_nofault(name, (const void *)load((unsigned long)entry.tp),
					     sizeof(name)) ||
		    !isprint(name[0]))
			return false;
	return true;
}

/* A pointer to a string of printable characters. */
bool dfr_test_command_line(unsigned long address)
{
	unsigned long line = load(address);
	unsigned int n;
	char c;

	for (n = 0; line && n < 65536; n++) {
		if (copy_from_kernel_nofault(&c, (const void *)(line + n), 1))
			return false;
		if (!c)
			return true;
		if ((u8)c < ' ' && c != '\n' && c != '\t')
			return false;
	}
	return false;
}

/* A random UUID (version 4), or one that the kernel has not made yet. */
bool dfr_test_uuid(unsigned long address)
{
	u8 id[16];

	if (copy_from_kernel_nofault(id, (const void *)address, sizeof(id)))
		return false;
	return !memchr_inv(id, 0, sizeof(id)) || ((id[6] & 0xf0) == 0x40 && (id[8] & 0xc0) == 0x80);
}

bool dfr_test_btf(unsigned long address)
{
	unsigned long start = dfr_row_found(DFR_ROW___start_BTF);
	struct dfr_btf btf;
	int error = address > start ? dfr_btf_open(&btf, (const void *)start, address - start) : -EINVAL;

	if (error)
		return error == -ENOMEM;
	dfr_btf_close(&btf);
	return true;
}
