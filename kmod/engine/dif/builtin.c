// SPDX-License-Identifier: GPL-2.0
/*
 * Built-in variables: what a program may ask about the firing. The engine answers
 * from the firing, the platform (dfr_plat_*) from the machine. Probe context.
 */
#include "kmod/engine/dif/machine.h"

/*
 * Arguments that were not passed to dfr_fire() come from the provider's getarg(), or are 0.
 * getarg() may call functions that are traced themselves, so it is not called before the
 * guard: there this faults, and the predicate is run again behind the guard.
 */
static u64 argument(struct dfr_machine *m, u64 n)
{
	const struct dfr_firing *firing = m->m_firing;
	const struct dfr_provider *provider;

	if (n < firing->fr_nargs)
		return firing->fr_args[dfr_plat_masked(n, firing->fr_nargs)];
	if (dfr_unlikely(firing->fr_flags & DFR_FR_UNGUARDED)) {
		dfr_fault(m, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	provider = firing->fr_probe ? firing->fr_probe->pb_provider : NULL;
	if (!provider || !provider->pv_ops || !provider->pv_ops->getarg || n > 0xff)
		return 0;
	return provider->pv_ops->getarg(firing, (unsigned)n);
}

static u64 probe_text(const struct dfr_probe *probe, u32 id)
{
	const char *text = NULL;

	if (!probe)
		return dfr_address("");
	switch (id) {
	case DIF_VAR_PROBEPROV: text = probe->pb_provider ? probe->pb_provider->pv_name : NULL; break;
	case DIF_VAR_PROBEMOD: text = probe->pb_module; break;
	case DIF_VAR_PROBEFUNC: text = probe->pb_function; break;
	default: /* DIF_VAR_PROBENAME */ text = probe->pb_name; break;
	}
	return dfr_address(text ? text : "");
}

static u64 wall_time(struct dfr_firing *firing)
{
	if (!(firing->fr_flags & DFR_FR_WALL)) {
		firing->fr_wall = dfr_firing_time(firing) + dfr_plat_wall_offset(firing);
		firing->fr_flags |= DFR_FR_WALL;
	}
	return firing->fr_wall;
}

#define CALLER_WORK (8 * DFR_WORK_FRAME + DFR_WORK_FAULT)
#define DEPTH_WORK                                                                                           \
	(64 * DFR_WORK_FRAME +                                                                               \
	 DFR_WORK_FAULT) /* the platform would count further, but stacks are not deeper */

u64 dfr_builtin(struct dfr_machine *m, u32 id)
{
	struct dfr_firing *firing = m->m_firing;

	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return argument(m, id - DIF_VAR_ARG0);
	switch (id) {
	case DIF_VAR_TIMESTAMP: return dfr_firing_time(firing);
	case DIF_VAR_WALLTIMESTAMP: return wall_time(firing);
	case DIF_VAR_EPID: return m->m_epid;
	case DIF_VAR_ID: return firing->fr_probe ? firing->fr_probe->pb_id : 0;
	case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD:
	case DIF_VAR_PROBEFUNC:
	case DIF_VAR_PROBENAME: return probe_text(firing->fr_probe, id);
	case DIF_VAR_PID: return dfr_firing_context(firing)->cx_pid;
	case DIF_VAR_TID: return dfr_firing_context(firing)->cx_tid;
	case DIF_VAR_EXECNAME: return dfr_address(dfr_firing_context(firing)->cx_comm);
	case DIF_VAR_CPU: return firing->fr_cpu;
	case DIF_VAR_CURTHREAD:
	case DIF_VAR_CALLER:
		if (dfr_restricted(m)) {
			dfr_fault(m, DIF_FAULT_KPRIV, 0);
			return 0;
		}
		return dfr_work(m, CALLER_WORK) ? dfr_plat_builtin(firing, id, 0) : 0;
	case DIF_VAR_UCALLER: return dfr_work(m, CALLER_WORK) ? dfr_plat_builtin(firing, id, 0) : 0;
	case DIF_VAR_STACKDEPTH:
	case DIF_VAR_USTACKDEPTH: return dfr_work(m, DEPTH_WORK) ? dfr_plat_builtin(firing, id, 0) : 0;
	default: return dfr_plat_builtin(firing, id, 0);
	}
}

#ifdef DFR_PLAT_HAS_CAPTURED
/* In replay: an input whose recording faulted faults again in the program that reads its value. */
static u64 captured_input(struct dfr_machine *m, u64 index)
{
	const struct dfr_captured *captured;

	if (index & DIF_CAPTURED_THERE)
		return dfr_plat_captured_there(m->m_firing, index & ~DIF_CAPTURED_THERE);
	captured = dfr_plat_captured(m->m_firing, index);
	if (!captured) {
		dfr_fault(m, DIF_FAULT_ILLOP, index);
		return 0;
	}
	if (captured->fault) {
		dfr_fault(m, captured->fault - 1, captured->fault_addr);
		return 0;
	}
	return captured->value;
}
#endif

u64 dfr_builtin_array(struct dfr_machine *m, u32 id, u64 index)
{
	if (id == DIF_VAR_ARGS)
		return argument(m, index);
#ifdef DFR_PLAT_HAS_CAPTURED
	if (id == DIF_VAR_CAPTURED)
		return captured_input(m, index);
#endif
	return dfr_plat_builtin(m->m_firing, id, index);
}
