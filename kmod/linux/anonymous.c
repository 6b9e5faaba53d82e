// SPDX-License-Identifier: GPL-2.0
/*
 * The anonymous state: the boot program that is linked into the module, started while the module
 * loads, and kept under the name "anonymous" until a recorder claims it. Its probes may name
 * functions of modules that are not loaded yet (as with -Z). Process context, once, at load. Any
 * failure here is logged, and the boot goes on.
 */
#include "kmod/linux/boot_dof.h"
#include "kmod/linux/linux.h"

static void log_refusal(int error, const struct dfr_refusal *why)
{
	if (error != -EINVAL || !why->rf_reason[0]) {
		pr_err("dfr: boot program not started: error %d; the boot goes on without it\n", error);
		return;
	}
	pr_err("dfr: boot program refused: %s (section %d, offset %llu); the boot goes on without it\n",
	       why->rf_reason, (int)why->rf_section, why->rf_offset);
}

/* The engine's lock is held. *program becomes NULL when the state owns it. */
static int start(struct dfr_holding *holding, struct dfr_program **program, u32 *matched,
		 struct dfr_refusal *why)
{
	u32 cpu;
	int error;

	error = dfr_holding_keep(holding, DFR_ANONYMOUS_NAME, true)
			?: dfr_state_add(holding->hd_state, *program, DFR_ENABLE_ZERO_OK, matched, why);
	if (error)
		return error;
	*program = NULL;
	return dfr_holding_go(holding, &cpu);
}

/* Takes the engine's lock. */
static int start_program(const struct dfr_rights *rights, struct dfr_program **program, u32 *matched,
			 struct dfr_refusal *why)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	struct dfr_holding *holding;
	int error;

	dfr_mutex_lock(lock);
	error = dfr_holding_create(rights, NULL, &holding);
	if (!error) {
		error = start(holding, program, matched, why);
		if (error)
			dfr_holding_destroy(holding);
	}
	dfr_mutex_unlock(lock);
	return error;
}

void dfr_anonymous_start(void)
{
	struct dfr_rights rights = dfr_rights_of_boot();
	struct dfr_refusal why = { .rf_section = ~0u };
	struct dfr_program *program = NULL;
	u32 matched = 0;
	int error;

	if (!dfr_boot_dof_size())
		return;
	error = dfr_holding_load(&rights, dfr_boot_dof, dfr_boot_dof_size(), &program, &why);
	if (!error)
		error = start_program(&rights, &program, &matched, &why);
	dfr_program_free(program);
	if (error)
		log_refusal(error, &why);
	else
		pr_info("dfr: boot program is recording, %u probes\n", matched);
}
