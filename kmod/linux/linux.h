/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of kmod/linux and kmod/providers: the module's one engine, a state's Linux
 * half (the holding), and the functions that start and stop each part. Start reading in main.c.
 */
#ifndef DFR_KMOD_LINUX_LINUX_H
#define DFR_KMOD_LINUX_LINUX_H

#include "kmod/engine/engine.h"

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/smp.h>
#include <linux/wait.h>

/*
 * A holding is a state as this machine holds it: its owner (an open descriptor, or nobody while a
 * kept state is unclaimed) and the tasks that sleep on it. A holding and its state are created and
 * destroyed together.
 *
 * All holdings are on one list. holdings_lock guards the list, names and owners; housekeeping walks
 * the list under it. The owner of a holding uses it without that lock, because nobody else may end
 * it and the owner's requests come one by one. A holding leaves the list when it or its name is
 * ended; its state then records nothing from that moment on. Destroying it needs the engine's lock,
 * so it waits on a list of its own (hd_doomed) until somebody has that, after its last viewer has gone.
 *
 * hd_silent is how long the owner has made no request, in ns: it counts from the request of which
 * fl_words was hd_words up to hd_noticed (watch_consumer()).
 */
struct dfr_holding {
	struct list_head hd_list;
	struct dfr_state *hd_state;
	struct dfr_file *hd_owner; /* NULL: kept and unclaimed; wake-ups read it under RCU */
	bool hd_kept;
	bool hd_active;	   /* between go and stop; housekeeping reads it, with acquire */
	bool hd_unsettled; /* there is something for dfr_state_settle(): under holdings_lock */
	bool hd_started;   /* its rings are there: mapping.c reads it without the lock */
	u64 hd_next_clean; /* dfr_plat_clock() */
	u64 hd_next_clock;
	u64 hd_silent;	/* ns without a word of the owner, as housekeeping counts them: */
	u64 hd_noticed; /* up to here, */
	u32 hd_words;	/* since its fl_words were these */
	struct irq_work hd_wake;
	bool hd_owed; /* a wake-up that no CPU could be asked for */
	struct llist_node hd_doomed;
	struct list_head hd_viewers; /* fl_viewer, of VIEW: under holdings_lock, read under RCU */
	bool hd_spared;	  /* it is off the list and disarmed, and its last viewer dooms it again: likewise */
	bool hd_confined; /* for hd_uid */
	u32 hd_uid;
	struct rcu_head hd_rcu; /* dfr_holdings_wake() may be at it */
};

struct dfr_file;

/*
 * False: this CPU may be reset before it takes an interrupt again, because it goes offline (the
 * kernel runs what is queued once more after it is marked so) or sleeps with the machine. What is
 * queued now would stay in its list: who waits for it would wait forever, and no interrupt would be
 * asked for others' work on this CPU any more.
 */
static inline bool dfr_takes_interrupts(void)
{
	return cpu_online(raw_smp_processor_id()) && system_state != SYSTEM_SUSPEND;
}

static inline bool dfr_queue_here(struct irq_work *work)
{
	bool takes = dfr_takes_interrupts();

	if (takes)
		irq_work_queue(work);
	return takes;
}

extern struct dfr_engine *dfr_engine_instance;
struct dfr_engine *dfr_kernel_engine(void); /* exported */

/* What the programs of a descriptor (or the boot program) may do; decided once, when it is opened. */
struct dfr_rights {
	bool rt_kernel_reads;
	bool rt_destructive;
	bool rt_confined; /* a user without privilege, to his own tasks: */
	u32 rt_uid;
	u32 rt_gid;
};
int dfr_rights_of_current(struct dfr_rights *rights);
struct dfr_rights dfr_rights_of_boot(void);
bool dfr_jit_works(void);
void dfr_jit_init(void);
void dfr_stack_init(void);
void dfr_subr_init(void);
extern bool dfr_destructive;	    /* the module parameter */
bool dfr_destructive_allowed(void); /* and no lockdown */
extern bool dfr_unprivileged;	    /* the module parameter: users may trace their own tasks */

/* holding.c; the engine's lock is held. */
int dfr_holding_create(const struct dfr_rights *rights, struct dfr_file *owner, struct dfr_holding **out);
void dfr_holding_destroy(struct dfr_holding *holding);
int dfr_holding_keep(struct dfr_holding *holding, const char *name, bool anonymous); /* -EEXIST */
int dfr_holding_go(struct dfr_holding *holding, u32 *cpu);
extern struct task_struct *dfr_holding_starts; /* who is in dfr_holding_go(): he may be killed out of it */
/* Disarms and destroys what others have ended without the engine's lock. */
void dfr_holdings_settle(void);

/* Without the engine's lock, because somebody may hold it for as long as arming takes. */
int dfr_holding_load(const struct dfr_rights *rights, const void *dof, size_t size,
		     struct dfr_program **program, struct dfr_refusal *why);
int dfr_holding_stop(struct dfr_holding *holding, u32 *cpu);
int dfr_holding_claim(struct dfr_file *file, const char *name, struct dfr_holding **out); /* kept ones */
int dfr_holding_end(struct dfr_file *file, const char *name);				  /* likewise */
int dfr_holding_view(struct dfr_file *file, const char *name,
		     struct dfr_holding **out); /* kept ones, whoever owns them */
void dfr_holding_unview(struct dfr_file *file);
void dfr_holdings_wake(void); /* everybody who waits for any of them; interrupts may be off */
/* An error: not all states have the mark. */
int dfr_holding_mark(const char *text, u64 time, u32 *marked);
void dfr_holding_let_go(
	struct dfr_holding *holding); /* its owner goes: a held one ends, a kept one runs on */
unsigned int dfr_holding_count(const struct dfr_rights *rights);
bool dfr_holding_known(const char *name);
/* Returns the bytes needed. Users without privilege see their own states only. */
size_t dfr_holding_describe(const struct dfr_rights *rights, char *buffer, size_t room);
void dfr_holdings_end(void); /* all of them, at unload */

int dfr_device_init(void);
void dfr_device_exit(void);

/*
 * memory.c: as dfr_plat_alloc(), for what goes with its request: where little memory is left, too. *lent: what
 * dfr_request_free() is to be told.
 */
void *dfr_request_alloc(size_t size, size_t *lent);
void dfr_request_free(void *p, size_t lent);

/* Starts the boot program, if there is one. Failures are logged, not returned. */
void dfr_anonymous_start(void);
/* Who made the boot program, as the loader says: one line, whose length is returned. */
int dfr_anonymous_origin(const char **text);

void dfr_clock_init(void);
void dfr_platform_init(void);
void dfr_destructive_init(void);
void dfr_destructive_exit(void);
struct dfr_anchor;
void dfr_anchor_init(void);					  /* before any is published */
void dfr_anchor_publish(struct dfr_anchor *page, u64 generation); /* any context */
int dfr_panic_record_init(void);
void dfr_panic_record_exit(void);
/*
 * Any context of a machine that dies, interrupts off, this CPU held (dfr_cpu_hold()) or in a firing. time: since when it
 * dies, as ktime_get_mono_fast_ns() has it.
 */
void dfr_panic_entered(const char *reason); /* panic.c: of panic(), at its entry */
void dfr_panic_note(const char *reason, u64 time);
bool dfr_panic_is_crash_entry(unsigned long ip); /* of __crash_kexec(), while it is watched */
/* Of the CPU that the kernel has chosen. Called again it takes what the log has by then; whole: texts too. */
void dfr_panic_note_chosen(const char *reason, u64 time, bool whole);
/* Of panic_text.c: the first record's, and two that the chosen CPU's takes in turn. */
#define DFR_PANIC_BUFFERS 3
struct dfr_panic_texts;
int dfr_panic_text_init(void);
void dfr_panic_text_exit(void);
/* The same context; false: there is no memory for it, so none are made. */
bool dfr_panic_text(unsigned int buffer, struct dfr_panic_texts *made);
bool dfr_boot_id_is_kernels(void); /* if not, each load of the module has another one */
/*
 * reserved.c: memory that a warm reset leaves (formats/abi/reserved.h). What is allocated is zeroed; NULL: there is
 * no room, or no such memory.
 */
int dfr_reserved_init(void); /* fails for nobody: who asks for such memory is told why there is none */
void dfr_reserved_exit(void);
/* Never fails; the last of all parts, because programs may hold the module from then on. */
int dfr_reserved_old_init(void);
void dfr_reserved_old_exit(void);
u64 dfr_reserved_left(void);
void *dfr_reserved_alloc(size_t size);
void dfr_reserved_free(void *p, size_t size);
bool dfr_reserved_has(const void *p);
u64 dfr_reserved_pfn(const void *p);
/* Two pages for anchors of a panic, with DFR_RESERVED_TEXT_PAGES behind them; NULL: nothing is recorded there. */
void *dfr_reserved_record(unsigned int which);
void dfr_reserved_write_back(void); /* any context of a dying machine: from the caches to the memory */

/*
 * Process context, called after the engine's lock was released: CPUs that came meanwhile get their
 * rings, by a work item. True: wait for it.
 */
void dfr_hotplug_settle(bool wait);
int dfr_hotplug_init(void);
void dfr_hotplug_exit(void);
int dfr_panic_init(void);
void dfr_panic_exit(void);
/* Starts or ends watching panic() at its entry; the engine's lock is held. */
void dfr_panic_watch(bool wanted);

/* Builtins that have files of their own. Probe context. */
u64 dfr_stack_builtin(const struct dfr_firing *firing, u32 id);
u64 dfr_syscall_errno(const struct dfr_firing *firing);

/* Providers, in the order in which they register. */
int dfr_syscall_init(void);
void dfr_syscall_exit(void);
int dfr_fbt_init(void);
void dfr_fbt_exit(void);
int dfr_profile_init(void);
void dfr_profile_exit(void);
int dfr_sdt_init(void);
void dfr_sdt_exit(void);
int dfr_proc_init(void);
void dfr_proc_exit(void);
int dfr_sched_init(void);
void dfr_sched_exit(void);
int dfr_io_init(void);
void dfr_io_exit(void);
int dfr_vfs_init(void);
void dfr_vfs_exit(void);
int dfr_kinst_init(void);
void dfr_kinst_exit(void);

#endif
