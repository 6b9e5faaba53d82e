/* SPDX-License-Identifier: GPL-2.0 */
/* CPUs. Linux has no processor sets and no latency groups: those members read 0. */
#pragma D depends_on library procfs.d

/* pi_state is P_ONLINE: what asks is on a CPU that runs. The clock is in MHz. */
inline int P_OFFLINE = 1;
inline int P_ONLINE = 2;

typedef struct processor_info {
	int pi_state;
	string pi_processor_type;
	string pi_fputypes;
	int pi_clock;
} processor_info_t;

translator processor_info_t < struct task_struct *T > {
	pi_state = P_ONLINE;
	pi_processor_type = "x86_64";
	pi_fputypes = "i387 compatible";
	pi_clock = `cpu_khz / 1000;
};

typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip;
	lgrp_id_t cpu_lgrp;
	processor_info_t cpu_info;
} cpuinfo_t;

translator cpuinfo_t < struct task_struct *T > {
	cpu_id = T->thread_info.cpu;
	cpu_pset = 0;
	cpu_chip = 0;
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (T);
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curcpu
inline psetid_t pset = 0;
inline chipid_t chip = 0;
inline lgrp_id_t lgrp = 0;
