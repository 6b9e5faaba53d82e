// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's memory: own memory (scratch, variables, string tables, names of the
 * probe), reading of foreign memory, and strings that are read byte by byte from
 * either. All of it is probe context.
 */
#include "kmod/engine/dif/vars.h"

static u64 room_in(u64 base, u64 size, u64 addr)
{
	return addr >= base && addr - base < size ? size - (addr - base) : 0;
}

/* Probe names are shorter than this, so an address further behind a name's start is not in it. */
#define NAME_MAX_BYTES 512
static u64 room_in_name(const char *name, u64 addr)
{
	u64 at = addr - dfr_address(name), n;

	if (!name || at >= NAME_MAX_BYTES)
		return 0;
	for (n = 0; n < NAME_MAX_BYTES && name[n]; n++)
		;
	return n < NAME_MAX_BYTES && at <= n ? n + 1 - at : 0;
}

/* Charged for room_in_firing(), which reads a name only if addr is less than NAME_MAX_BYTES behind it. */
#define NAMES_WORK 256

static u64 room_in_firing(const struct dfr_machine *m, u64 addr)
{
	const struct dfr_firing *firing = m->m_firing;
	const struct dfr_probe *probe = firing->fr_probe;
	u64 room = 0;

	if (probe) {
		room = probe->pb_provider ? room_in_name(probe->pb_provider->pv_name, addr) : 0;
		if (!room)
			room = room_in_name(probe->pb_module, addr);
		if (!room)
			room = room_in_name(probe->pb_function, addr);
		if (!room)
			room = room_in_name(probe->pb_name, addr);
	}
#ifdef DFR_PLAT_HAS_CAPTURED
	if (!room)
		room = dfr_plat_firing_room(firing, addr);
#endif
	return room;
}

static u64 room_in_images(const struct dfr_vars *vars, u64 addr)
{
	u64 room = 0;
	u32 i;

	for (i = 0; i < vars->va_nimages && !room; i++)
		room = room_in(vars->va_images[i].im_base, vars->va_images[i].im_size, addr);
	return room;
}

u64 dfr_own_room(const struct dfr_machine *m, u64 addr)
{
	const struct dfr_vars *vars = m->m_vars;
	u64 room;

	room = room_in(dfr_address(m->m_scratch), (u64)(m->m_scratch_top - m->m_scratch), addr);
	if (!room && m->m_difo)
		room = room_in(dfr_address(m->m_difo->di_strs), m->m_difo->di_strsz, addr);
	if (!room)
		room = room_in(dfr_address(m->m_firing->fr_context.cx_comm),
			       sizeof(m->m_firing->fr_context.cx_comm), addr);
	if (!room && vars) {
		room = dfr_statics_room(vars, m->m_firing->fr_cpu, addr);
		if (!room)
			room = dfr_dyn_room(&vars->va_dyn, addr);
		if (!room && dfr_firing_work(m->m_firing, m->m_state, vars->va_nimages * 8u))
			room = room_in_images(vars, addr);
	}
	if (!room && dfr_firing_work(m->m_firing, m->m_state, NAMES_WORK))
		room = room_in_firing(m, addr);
	return room;
}

bool dfr_machine_readable(const struct dfr_machine *m, u64 addr, size_t size)
{
	return dfr_own_room(m, addr) >= size;
}

bool dfr_in_scratch(const struct dfr_machine *m, u64 addr, u64 size)
{
	return room_in(dfr_address(m->m_scratch), (u64)(m->m_scratch_ptr - m->m_scratch), addr) >= size;
}

bool dfr_storable(const struct dfr_machine *m, u64 addr, u64 size)
{
	const struct dfr_vars *vars = m->m_vars;

	if (dfr_in_scratch(m, addr, size))
		return true;
	if (!vars)
		return false;
	return dfr_statics_room(vars, m->m_firing->fr_cpu, addr) >= size ||
	       dfr_dyn_room(&vars->va_dyn, addr) >= size;
}

u8 *dfr_scratch_unset(struct dfr_machine *m, u64 size)
{
	u64 at = (dfr_address(m->m_scratch_ptr) + 7) & ~7ull, end = dfr_address(m->m_scratch_end);
	u8 *bytes = dfr_pointer(at);

	if (at > end || size > end - at) {
		dfr_fault(m, DIF_FAULT_NOSCRATCH, 0);
		return NULL;
	}
	if (!dfr_work(m, size))
		return NULL;
	m->m_scratch_ptr = bytes + size;
	if (m->m_scratch_ptr > m->m_scratch_top)
		m->m_scratch_top = m->m_scratch_ptr;
	return bytes;
}

u8 *dfr_scratch(struct dfr_machine *m, u64 size)
{
	u8 *bytes = dfr_scratch_unset(m, size);

	if (bytes)
		dfr_scratch_clear(bytes, 0, size);
	return bytes;
}

static u64 read_own(u64 addr, u32 size)
{
	const u8 *at = dfr_pointer(addr);
	u64 value = 0;
	u32 i;

	if (size == 8 && !(addr & 7))
		return dfr_read_once((const u64 *)at);
	if (size == 4 && !(addr & 3))
		return dfr_read_once((const u32 *)at);
	for (i = 0; i < size; i++)
		value |= (u64)dfr_read_once(at + i) << (8 * i);
	return value;
}

void dfr_bad_address(struct dfr_machine *m, u64 addr)
{
	dfr_fault(m, DIF_FAULT_BADADDR, addr);
	dfr_work_fault(m);
}

/* The kernel's dfr_plat_load() reads own memory as well; that of user space reads nothing. */
u64 dfr_load(struct dfr_machine *m, u64 addr, u32 size)
{
	u64 value = 0;

	if (dfr_restricted(m))
		return dfr_load_own(m, addr, size);
#ifndef __KERNEL__
	if (dfr_own_room(m, addr) >= size)
		return read_own(addr, size);
#endif
	if (dfr_likely(!dfr_plat_load(m->m_firing, addr, size, &value)))
		return value;
	dfr_bad_address(m, addr);
	return 0;
}

/*
 * A confined program may load only from scratch, where copyin() puts what it copies.
 * The index is masked, because otherwise a processor that speculates past the check
 * could read elsewhere.
 */
static u64 load_copied(struct dfr_machine *m, u64 addr, u32 size)
{
	u64 used = (u64)(m->m_scratch_top - m->m_scratch), at = addr - dfr_address(m->m_scratch);

	if (used < size || at > used - size) {
		dfr_fault(m, DIF_FAULT_KPRIV, 0); /* no address: it would show where scratch is */
		return 0;
	}
	return read_own(dfr_address(m->m_scratch + dfr_plat_masked(at, used - size + 1)), size);
}

u64 dfr_load_own(struct dfr_machine *m, u64 addr, u32 size)
{
	if (dfr_unlikely(dfr_confined(m)))
		return load_copied(m, addr, size);
	if (dfr_own_room(m, addr) >= size)
		return read_own(addr, size);
	dfr_fault(m, DIF_FAULT_KPRIV, addr);
	return 0;
}

u64 dfr_load_user(struct dfr_machine *m, u64 addr, u32 size)
{
	u64 value = 0;

	if (dfr_likely(!dfr_plat_load_user(m->m_firing, addr, size, &value)))
		return value;
	dfr_bad_address(m, addr);
	return 0;
}

void dfr_copy_own(u8 *dst, const u8 *src, u64 n)
{
	u64 i = 0;

	if (dst > src && dst < src + n) {
		while (n--)
			dfr_write_once(dst + n, dfr_read_once(src + n));
		return;
	}
	if (!((dfr_address(dst) | dfr_address(src)) & 7)) {
		for (; i + 8 <= n; i += 8)
			dfr_write_once((u64 *)(dst + i), dfr_read_once((const u64 *)(src + i)));
	}
	for (; i < n; i++)
		dfr_write_once(dst + i, dfr_read_once(src + i));
}

bool dfr_copy_in(struct dfr_machine *m, u8 *dst, u64 addr, u64 n)
{
	if (n == 0)
		return true;
	if (!dfr_work(m, n > ~0ull / DFR_WORK_COPY ? n : n * DFR_WORK_COPY))
		return false;
	if (dfr_own_room(m, addr) >= n) {
		dfr_copy_own(dst, dfr_pointer(addr), n);
		return true;
	}
	if (dfr_restricted(m)) {
		dfr_fault(m, DIF_FAULT_KPRIV, addr);
		return false;
	}
	if (dfr_likely(!dfr_plat_copy(m->m_firing, dst, addr, n)))
		return true;
	dfr_bad_address(m, addr);
	return false;
}

#define PIECE 64 /* bytes that are charged at a time where a string's length is not known */

/* Returns the length without NUL. *end: the source ended within the room, by a NUL or at its limit. */
static u64 copy_own_str(struct dfr_machine *m, u8 *dst, const u8 *src, u64 limit, u64 room, bool *end)
{
	u64 i, n = limit < room - 1 ? limit : room - 1;
	u8 byte = 1;

	for (i = 0; i < n; i++) {
		if (!(i % PIECE) && !dfr_work(m, PIECE * DFR_WORK_OWN))
			break;
		byte = dfr_read_once(src + i);
		if (!byte)
			break;
		dfr_write_once(dst + i, byte);
	}
	dfr_write_once(dst + i, 0);
	*end = !byte || i >= limit || !dfr_read_once(src + i);
	return i;
}

bool dfr_copy_in_str(struct dfr_machine *m, u8 *dst, u64 addr, u64 room)
{
	return dfr_machine_copy_str(m, (char *)dst, addr, room, false, NULL) >= 0;
}

long dfr_machine_copy_str(struct dfr_machine *m, char *dst, u64 addr, size_t room, bool user, bool *cut)
{
	u64 own = user ? 0 : dfr_own_room(m, addr), after = 0;
	bool end = true;
	int error;
	long n;

	if (cut)
		*cut = false;
	if (room == 0)
		return 0;
	if (own) {
		n = (long)copy_own_str(m, (u8 *)dst, dfr_pointer(addr), own, room, &end);
		if (cut)
			*cut = !end;
		return m->m_fault ? -E2BIG : n + 1;
	}
	if (!user && dfr_restricted(m)) {
		dst[0] = '\0';
		dfr_fault(m, DIF_FAULT_KPRIV, addr);
		return -EPERM;
	}
	if (!dfr_work(m, room * DFR_WORK_COPY)) {
		dst[0] = '\0';
		return -E2BIG;
	}
	n = user ? dfr_plat_copy_str_user(m->m_firing, dst, addr, room)
		 : dfr_plat_copy_str(m->m_firing, dst, addr, room);
	if (n < 0) {
		dst[0] = '\0';
		dfr_bad_address(m, addr);
		return n;
	}
	if (cut && (size_t)n + 1 == room) {
		/* dst is full: the string was cut unless its next byte is the NUL. */
		if (user)
			error = dfr_plat_load_user(m->m_firing, addr + (u64)n, 1, &after);
		else
			error = dfr_plat_load(m->m_firing, addr + (u64)n, 1, &after);
		if (error)
			dfr_work_fault(m);
		*cut = error || after;
	}
	return n + 1;
}

int dfr_machine_copy(struct dfr_machine *m, void *dst, u64 addr, size_t n, bool user)
{
	if (!user)
		return dfr_copy_in(m, dst, addr, n) ? 0 : -EFAULT;
	if (n == 0)
		return 0;
	if (!dfr_work(m, n))
		return -EFAULT;
	if (!dfr_plat_copy_user(m->m_firing, dst, addr, n))
		return 0;
	dfr_bad_address(m, addr);
	return -EFAULT;
}

u64 dfr_text_len(struct dfr_machine *m, const struct dfr_text *text)
{
	u64 n = 0;

	while (dfr_text_at(m, text, n))
		n++;
	return n;
}

static s64 order(u8 p, u8 q)
{
	return p < q ? -1 : p > q;
}

s64 dfr_text_compare(struct dfr_machine *m, u64 a, u64 b)
{
	struct dfr_text x, y;
	u64 i = 0, both = 0;
	u8 p = 0, q = 0;
	bool same = true;

	dfr_text_open(m, &x, a);
	dfr_text_open(m, &y, b);
	if (!a)
		x.tx_limit = 0;
	if (!b)
		y.tx_limit = 0;
	/* Most often both strings are own memory, which needs no checked load for each byte. */
	if (dfr_likely(x.tx_own && y.tx_own))
		both = x.tx_limit < y.tx_limit ? x.tx_limit : y.tx_limit;
	for (; same && i < both; i++) {
		if (!(i % PIECE) && !dfr_work(m, PIECE * DFR_WORK_OWN))
			return 0;
		p = dfr_read_once(dfr_pointer(a + i));
		q = dfr_read_once(dfr_pointer(b + i));
		same = p == q && p;
	}
	for (; same && i < m->m_strsize; i++) {
		p = dfr_text_at(m, &x, i);
		q = dfr_text_at(m, &y, i);
		same = p == q && p;
	}
	return order(p, q);
}
