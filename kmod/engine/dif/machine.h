/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside execution: what interp.c, builtin.c, machine.c, vars.c, dynvar.c and
 * subr*.c share. Everything declared here is probe context unless it says
 * otherwise: no allocation, no lock, no sleep, bounded work.
 */
#ifndef DFR_ENGINE_MACHINE_H
#define DFR_ENGINE_MACHINE_H

#include "kmod/engine/dif/exec.h"
#include "kmod/engine/provider.h"

#define dfr_pointer(addr) ((u8 *)(unsigned long)(addr))
#define dfr_address(p)	  ((u64)(unsigned long)(p))

/* True: the program is one of a user without privilege (confine.c). */
static inline bool dfr_confined(const struct dfr_machine *m)
{
	return m->m_difo && m->m_difo->di_flags & DFR_DIFO_CONFINED;
}

/* The first fault of a run is the one that counts. */
static inline void dfr_fault(struct dfr_machine *m, u32 code, u64 addr)
{
	if (m->m_fault)
		return;
	m->m_fault = code + 1;
	m->m_fault_addr = dfr_confined(m) && (s64)addr < 0 ? 0 : addr; /* hides addresses of the kernel's */
}

/* True: the program may see neither kernel memory nor kernel addresses, and faults with KPRIV. */
static inline bool dfr_restricted(const struct dfr_machine *m)
{
	return dfr_unlikely(m->m_difo && m->m_difo->di_flags & DFR_DIFO_RESTRICTED);
}

/*
 * Charges work to the firing (work.c) before it is done. To bound the length of the
 * DIF is not enough: 2 million instructions on strings of 64 KiB would keep interrupts
 * off for hours. False: the firing's work is used up, and ILLOP is the fault, as for a
 * chill() that is too long.
 */
static inline bool dfr_work(struct dfr_machine *m, u64 n)
{
	if (dfr_likely(dfr_firing_work(m->m_firing, m->m_state, n)))
		return true;
	dfr_fault(m, DIF_FAULT_ILLOP, 0);
	return false;
}

/* Estimated work in guest instructions; tests/bench/worst-firing checks the estimates. */
#define DFR_WORK_DIF	 32   /* an instruction of DIF; native ones take less, loads and variables more */
#define DFR_WORK_OWN	 28   /* a byte of a string in own memory, with the loop that reads it */
#define DFR_WORK_FOREIGN 64   /* a byte of a string in foreign memory: a checked load */
#define DFR_WORK_COPY	 4    /* a byte that is copied, at most */
#define DFR_WORK_SUBR	 256  /* a call of a subroutine, without the memory that it walks */
#define DFR_WORK_FRAME	 640  /* a frame of a stack */
#define DFR_WORK_FAULT	 4096 /* a foreign address that cannot be read or written: an exception */

/*
 * Charges an exception, which has been taken: nobody can know of it before. So the firing's work may
 * go beyond its bound by one.
 */
static inline void dfr_work_fault(struct dfr_machine *m)
{
	dfr_firing_work(m->m_firing, m->m_state, DFR_WORK_FAULT);
}

/* The fault of a foreign address that could not be read or written. */
void dfr_bad_address(struct dfr_machine *m, u64 addr);

/* ---- Memory (machine.c) ---- */

/*
 * Bytes from addr to the end of the piece of the machine's own memory that it
 * lies in; 0: foreign. Own memory can be read without a check.
 */
u64 dfr_own_room(const struct dfr_machine *m, u64 addr);

/* May these bytes be written? Allocated scratch, and the values of by-reference variables. */
bool dfr_storable(const struct dfr_machine *m, u64 addr, u64 size);
bool dfr_in_scratch(const struct dfr_machine *m, u64 addr, u64 size);

/* Scratch, 8-aligned; NULL: NOSCRATCH. Of dfr_scratch_unset() the caller must set each byte, and clear what is left. */
u8 *dfr_scratch(struct dfr_machine *m, u64 size); /* zeroed */
u8 *dfr_scratch_unset(struct dfr_machine *m, u64 size);

/* Zeroes an allocation from byte `from` on, with the gap before the next one, which can be read too. */
static inline void dfr_scratch_clear(u8 *bytes, u64 from, u64 size)
{
	memset(bytes + from, 0, ((size + 7) & ~7ull) - from);
}

/*
 * Gives back all but n bytes of the last allocation, which is at `bytes`, and returns its address. Who
 * reads a string's strsize bytes may go on reading there, and finds zeros or later results of the clause.
 */
static inline u64 dfr_scratch_keep(struct dfr_machine *m, u8 *bytes, u64 n)
{
	m->m_scratch_ptr = bytes + n;
	return dfr_address(bytes);
}

/* A load of 1, 2, 4 or 8 bytes, zero-extended. 0 with a fault set if it cannot be read. */
u64 dfr_load(struct dfr_machine *m, u64 addr, u32 size);
u64 dfr_load_own(struct dfr_machine *m, u64 addr, u32 size); /* the machine's own memory alone */
u64 dfr_load_user(struct dfr_machine *m, u64 addr, u32 size);

/*
 * Own memory may be a variable that another CPU is writing, so each word or byte is read
 * and written exactly once. A mixture of old and new ones is a race of the D program.
 */
void dfr_copy_own(u8 *dst, const u8 *src, u64 n);

/* The caller has checked that dst may be written. False: a fault is set. */
bool dfr_copy_in(struct dfr_machine *m, u8 *dst, u64 addr, u64 n);
bool dfr_copy_in_str(struct dfr_machine *m, u8 *dst, u64 addr, u64 room); /* room >= 1; NUL-terminated */

/* ---- Strings ---- */

/* A string as it is read byte by byte, from own or foreign memory, up to strsize. */
struct dfr_text {
	u64 tx_addr;
	u64 tx_limit;
	bool tx_own;
};

static inline void dfr_text_open(const struct dfr_machine *m, struct dfr_text *text, u64 addr)
{
	u64 room = dfr_own_room(m, addr);

	text->tx_addr = addr;
	text->tx_own = room != 0;
	text->tx_limit = room && room < m->m_strsize ? room : m->m_strsize;
}

/* Byte i; 0 at the end, at the limit and at a fault. Charges each byte, which bounds all its callers. */
static inline u8 dfr_text_at(struct dfr_machine *m, const struct dfr_text *text, u64 i)
{
	if (i >= text->tx_limit || !dfr_work(m, text->tx_own ? DFR_WORK_OWN : DFR_WORK_FOREIGN))
		return 0;
	if (dfr_likely(text->tx_own))
		return dfr_read_once(dfr_pointer(text->tx_addr + i));
	return (u8)dfr_load(m, text->tx_addr + i, 1);
}

u64 dfr_text_len(struct dfr_machine *m, const struct dfr_text *text);
/* -1, 0, 1. An address that is 0 counts as an empty string. */
s64 dfr_text_compare(struct dfr_machine *m, u64 a, u64 b);

/* ---- Instructions (interp.c) that native code calls as well ---- */
u64 dfr_op_divide(struct dfr_machine *m, u32 op, u64 a, u64 b);
u64 dfr_op_load(struct dfr_machine *m, u32 op, u64 addr);
void dfr_op_store(struct dfr_machine *m, u32 op, u64 addr, u64 value);
void dfr_op_push(struct dfr_machine *m, u64 value, u64 size);
void dfr_op_push_reference(struct dfr_machine *m, u32 type, u64 value, u64 size);
void dfr_op_copy(struct dfr_machine *m, u64 from, u64 size, u64 to);

/* ---- Built-ins (builtin.c) ---- */
u64 dfr_builtin(struct dfr_machine *m, u32 id);
u64 dfr_builtin_array(struct dfr_machine *m, u32 id, u64 index);

/* ---- Subroutines (subr.c dispatches; m_tuple holds m_ntuple arguments) ---- */
u64 dfr_subr(struct dfr_machine *m, u32 subr);
u64 dfr_subr_string(struct dfr_machine *m, u32 subr);  /* subr_str.c */
u64 dfr_subr_path(struct dfr_machine *m, u32 subr);    /* subr_path.c */
u64 dfr_subr_number(struct dfr_machine *m, u32 subr);  /* subr_num.c */
u64 dfr_subr_address(struct dfr_machine *m, u32 subr); /* subr_inet.c */
u64 dfr_subr_json(struct dfr_machine *m);	       /* subr_json.c */

/* A string result under construction, in scratch of ou_room bytes; bytes that do not fit are dropped. */
struct dfr_out {
	u8 *ou_bytes; /* NULL: no scratch */
	u64 ou_len;
	u64 ou_room; /* with NUL */
};

static inline bool dfr_out_open(struct dfr_machine *m, struct dfr_out *out, u64 room)
{
	out->ou_len = 0;
	out->ou_room = room;
	out->ou_bytes = dfr_scratch(m, room);
	return out->ou_bytes != NULL;
}

/* Writes no NUL, because scratch is zeroed. */
static inline void dfr_out_put(struct dfr_out *out, u8 byte)
{
	if (out->ou_len + 1 < out->ou_room)
		out->ou_bytes[out->ou_len++] = byte;
}

/* The finished string keeps only the room that it uses. Returns its address; 0: a fault has been set. */
static inline u64 dfr_out_close(struct dfr_machine *m, const struct dfr_out *out)
{
	return m->m_fault ? 0 : dfr_scratch_keep(m, out->ou_bytes, out->ou_len + 1);
}

#endif
