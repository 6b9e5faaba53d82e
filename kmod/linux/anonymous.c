// SPDX-License-Identifier: GPL-2.0
/*
 * The anonymous state: the boot program, started while the module loads, and kept under the name
 * "anonymous" until a recorder claims it. It is the file that the parameter `program` names, or what
 * is linked into the module. Its probes may name functions of modules that are not loaded yet (as
 * with -Z). Process context, once, at load. Any failure here is logged, and the boot goes on.
 */
#include "kmod/linux/boot_dof.h"
#include "kmod/linux/linux.h"

#include <linux/kernel_read_file.h>
#include <linux/moduleparam.h>
#include <linux/vmalloc.h>

static char *program;
module_param(program, charp, 0400);
MODULE_PARM_DESC(program, "path of a DOF file, the boot program (default: what is linked in, or none)");

static char *program_origin;
module_param(program_origin, charp, 0400);
MODULE_PARM_DESC(program_origin, "what the log and recordings say of it: its name, and digests");

/* One line, because it becomes one of the log and one of the catalog. */
int dfr_anonymous_origin(const char **text)
{
	*text = program_origin ?: "";
	return strcspn(*text, "\n\r");
}

static void log_refusal(int error, const struct dfr_refusal *why)
{
	if (!why->rf_reason[0])
		pr_err("dfr: boot program not started: error %d; the boot goes on without it\n", error);
	else if (error != -EINVAL)
		pr_err("dfr: boot program not started: %s (error %d); the boot goes on without it\n",
		       why->rf_reason, error);
	else
		pr_err("dfr: boot program refused: %s (section %d, offset %llu); the boot goes on without "
		       "it\n",
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

static void start_dof(const void *dof, size_t size)
{
	struct dfr_rights rights = dfr_rights_of_boot();
	struct dfr_refusal why = { .rf_section = ~0u };
	struct dfr_program *loaded = NULL;
	const char *origin;
	u32 matched = 0;
	int error, length;

	error = dfr_holding_load(&rights, dof, size, &loaded, &why);
	if (!error)
		error = start_program(&rights, &loaded, &matched, &why);
	dfr_program_free(loaded);
	length = dfr_anonymous_origin(&origin);
	if (error)
		log_refusal(error, &why);
	else
		pr_info("dfr: boot program is recording, %u probes%s%.*s\n", matched, length ? ": " : "",
			min(length, 256), origin);
}

/*
 * From the initramfs, while there is no other root yet; modprobe takes it from the real one. To security modules it
 * is a policy, because some (ipe) warn of reads whose kind they do not know.
 */
static void start_file(const char *path)
{
	void *dof = NULL;
	ssize_t size = kernel_read_file_from_path(path, 0, &dof, DOF_LOADSZ_MAX, NULL, READING_POLICY);

	if (size < 0) {
		pr_err("dfr: boot program %s cannot be read (error %zd); the boot goes on without it\n", path,
		       size);
		return;
	}
	start_dof(dof, size);
	vfree(dof);
}

void dfr_anonymous_start(void)
{
	if (program && *program)
		start_file(program);
	else if (dfr_boot_dof_size())
		start_dof(dfr_boot_dof, dfr_boot_dof_size());
}
