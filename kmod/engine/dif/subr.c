// SPDX-License-Identifier: GPL-2.0
/*
 * Subroutines: the dispatcher, and those that move memory or ask the platform.
 * The others are in subr_str.c (strings), subr_path.c (names of files),
 * subr_num.c (numbers and text), subr_inet.c (addresses) and subr_json.c. The
 * verifier has checked that each call has at least the arguments that the subroutine
 * needs. Probe context.
 */
#include "kmod/engine/dif/vars.h"

static u64 copyin(struct dfr_machine *m, u64 from, u64 n)
{
	u8 *to = dfr_scratch(m, n);

	if (!to)
		return 0;
	if (n && !dfr_work(m, n))
		return 0;
	if (n && dfr_plat_copy_user(m->m_firing, to, from, n)) {
		dfr_bad_address(m, from);
		return 0;
	}
	return dfr_address(to);
}

static u64 copyinstr(struct dfr_machine *m, u64 from)
{
	u64 room = m->m_strsize;
	long n;
	u8 *to;

	if (m->m_ntuple > 1 && m->m_tuple[1] < room - 1)
		room = m->m_tuple[1] + 1;
	if (!dfr_work(m, room * DFR_WORK_COPY))
		return 0;
	to = dfr_scratch_unset(m, room);
	if (!to)
		return 0;
	n = dfr_plat_copy_str_user(m->m_firing, (char *)to, from, room);
	/* The platform copies in pieces, so there are bytes of the process behind the NUL. */
	dfr_scratch_clear(to, n < 0 ? 0 : (u64)n + 1, room);
	if (n < 0) {
		dfr_bad_address(m, from);
		return 0;
	}
	return dfr_scratch_keep(m, to, (u64)n + 1);
}

static u64 copyinto(struct dfr_machine *m, u64 from, u64 n, u64 to)
{
	if (n && !dfr_in_scratch(m, to, n))
		dfr_fault(m, DIF_FAULT_BADADDR, to);
	else
		dfr_machine_copy(m, dfr_pointer(to), from, n, true);
	return 0;
}

static u64 copy_bytes(struct dfr_machine *m, u64 from, u64 to, u64 n)
{
	if (n && !dfr_in_scratch(m, to, n))
		dfr_fault(m, DIF_FAULT_BADADDR, to);
	else
		dfr_copy_in(m, dfr_pointer(to), from, n);
	return 0;
}

static bool may_destroy(struct dfr_machine *m, u64 to)
{
	if (m->m_flags & DFR_M_SILENT)
		return false;
	if (m->m_flags & DFR_M_DESTRUCTIVE)
		return true;
	dfr_fault(m, DIF_FAULT_UPRIV, to);
	return false;
}

/* Copies through scratch, which it gives back, so that what is stored is what the checked loads have read. */
static u64 copyout(struct dfr_machine *m, u64 from, u64 to, u64 n)
{
	u8 *before = m->m_scratch_ptr, *bytes;

	if (!n || !may_destroy(m, to))
		return 0;
	bytes = dfr_scratch(m, n);
	if (bytes && dfr_copy_in(m, bytes, from, n) && dfr_work(m, n) &&
	    dfr_plat_store_user(m->m_firing, to, bytes, n))
		dfr_bad_address(m, to);
	m->m_scratch_ptr = before;
	return 0;
}

static u64 copyoutstr(struct dfr_machine *m, u64 from, u64 to, u64 most)
{
	u8 *before = m->m_scratch_ptr, *bytes;
	long n;

	if (!most || !may_destroy(m, to))
		return 0;
	bytes = dfr_scratch(m, m->m_strsize);
	if (!bytes)
		return 0;
	n = dfr_machine_copy_str(m, (char *)bytes, from, m->m_strsize, false, NULL);
	if (n > 0 && (u64)n > most)
		n = (long)most;
	if (n > 0 && dfr_plat_store_user(m->m_firing, to, bytes, (size_t)n))
		dfr_bad_address(m, to);
	m->m_scratch_ptr = before;
	return 0;
}

/* n bytes as one string: each NUL becomes the separator, except where it is the last byte. */
static u64 memstr(struct dfr_machine *m, u64 from, u8 separator, u64 n)
{
	u8 *to;
	u64 i;

	if (n > m->m_strsize - 1)
		n = m->m_strsize - 1;
	to = dfr_scratch(m, n + 1);
	if (!to || !dfr_work(m, n * DFR_WORK_COPY) || !dfr_copy_in(m, to, from, n))
		return 0;
	for (i = 0; i < n; i++) {
		if (!to[i] && i + 1 < n)
			to[i] = separator;
	}
	return dfr_address(to);
}

static u64 memref(struct dfr_machine *m, u64 addr, u64 n)
{
	u64 *pair = (u64 *)dfr_scratch(m, 2 * sizeof(*pair));

	if (!pair)
		return 0;
	pair[0] = addr;
	pair[1] = n;
	return dfr_address(pair);
}

/* The platform has left a string of n bytes somewhere in a buffer of strsize bytes: it keeps its own room alone. */
static u64 keep_string(struct dfr_machine *m, u8 *buffer, u64 string, u64 n)
{
	dfr_copy_own(buffer, dfr_pointer(string), n + 1);
	dfr_scratch_clear(buffer, n + 1, m->m_strsize);
	return dfr_scratch_keep(m, buffer, n + 1);
}

/* For subroutines that only the platform can answer; d_path()'s string is in scratch. */
static u64 ask_platform(struct dfr_machine *m, u32 subr)
{
	bool string = subr == DIF_SUBR_D_PATH;
	u8 *buffer = NULL;
	u64 result = 0;
	long n;

	if (dfr_restricted(m)) {
		dfr_fault(m, DIF_FAULT_KPRIV, m->m_tuple[0]);
		return 0;
	}
	if (!dfr_work(m, (u64)m->m_strsize * DFR_WORK_OWN))
		return 0;
	if (string) {
		buffer = dfr_scratch(m, m->m_strsize);
		if (!buffer)
			return 0;
	}
	n = dfr_plat_subr(m->m_firing, subr, m->m_tuple, (char *)buffer, string ? m->m_strsize : 0, &result);
	if (n == -EFAULT)
		dfr_bad_address(m, result);
	else if (n < 0)
		dfr_fault(m, DIF_FAULT_ILLOP, 0);
	if (n < 0)
		return 0;
	return string ? keep_string(m, buffer, result, (u64)n) : result;
}

static u64 speculation(struct dfr_machine *m)
{
	return m->m_state ? dfr_spec_create(m->m_state, m->m_firing) : 0;
}

/* splitmix64. The kernel's own generator takes a lock that the probe may have interrupted. */
static u64 random_of(const struct dfr_machine *m)
{
	struct dfr_random *random = &m->m_vars->va_random[m->m_firing->fr_cpu];
	u64 z = random->dw_word += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Fixed, because softfloat.c's loops have 64 steps at most, and progenyof() asks 1024 ancestors at most. */
#define FLOAT_WORK     1024
#define ANCESTORS_WORK 8192

u64 dfr_subr(struct dfr_machine *m, u32 subr)
{
	const u64 *arg = m->m_tuple;

	if (!dfr_work(m, subr >= DIF_SUBR_F_ADD ? FLOAT_WORK : DFR_WORK_SUBR))
		return 0;
	if (subr >= DIF_SUBR_F_ADD)
		return dfr_softfloat(subr, arg[0], arg[1]);
	switch (subr) {
	case DIF_SUBR_RAND: return random_of(m) >> 33; /* an int that is not negative */
	case DIF_SUBR_RANDOM: return random_of(m);
	case DIF_SUBR_COPYIN: return copyin(m, arg[0], arg[1]);
	case DIF_SUBR_COPYINSTR: return copyinstr(m, arg[0]);
	case DIF_SUBR_COPYINTO: return copyinto(m, arg[0], arg[1], arg[2]);
	case DIF_SUBR_COPYOUT: return copyout(m, arg[0], arg[1], arg[2]);
	case DIF_SUBR_COPYOUTSTR: return copyoutstr(m, arg[0], arg[1], arg[2]);
	case DIF_SUBR_SPECULATION: return speculation(m);
	case DIF_SUBR_PROGENYOF:
		return dfr_work(m, ANCESTORS_WORK) && dfr_plat_progenyof(m->m_firing, (u32)arg[0]);
	case DIF_SUBR_ALLOCA: return dfr_address(dfr_scratch(m, arg[0]));
	case DIF_SUBR_BCOPY: return copy_bytes(m, arg[0], arg[1], arg[2]);
	case DIF_SUBR_MEMREF: return memref(m, arg[0], arg[1]);
	case DIF_SUBR_MEMSTR: return memstr(m, arg[0], (u8)arg[1], arg[2]);
	case DIF_SUBR_STRLEN:
	case DIF_SUBR_STRJOIN:
	case DIF_SUBR_STRCHR:
	case DIF_SUBR_STRRCHR:
	case DIF_SUBR_STRSTR:
	case DIF_SUBR_STRTOK:
	case DIF_SUBR_SUBSTR:
	case DIF_SUBR_INDEX:
	case DIF_SUBR_RINDEX:
	case DIF_SUBR_TOUPPER:
	case DIF_SUBR_TOLOWER: return dfr_subr_string(m, subr);
	case DIF_SUBR_BASENAME:
	case DIF_SUBR_DIRNAME:
	case DIF_SUBR_CLEANPATH: return dfr_subr_path(m, subr);
	case DIF_SUBR_LLTOSTR:
	case DIF_SUBR_STRTOLL:
	case DIF_SUBR_GETMAJOR:
	case DIF_SUBR_GETMINOR:
	case DIF_SUBR_HTONS:
	case DIF_SUBR_HTONL:
	case DIF_SUBR_HTONLL:
	case DIF_SUBR_NTOHS:
	case DIF_SUBR_NTOHL:
	case DIF_SUBR_NTOHLL: return dfr_subr_number(m, subr);
	case DIF_SUBR_INET_NTOP:
	case DIF_SUBR_INET_NTOA:
	case DIF_SUBR_INET_NTOA6:
	case DIF_SUBR_LINK_NTOP: return dfr_subr_address(m, subr);
	case DIF_SUBR_JSON: return dfr_subr_json(m);
	default: return ask_platform(m, subr);
	}
}
