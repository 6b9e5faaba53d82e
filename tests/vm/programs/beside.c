// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: ours beside others on one kernel function (others.h says which).
 *
 *   guest-beside STEPS SEED         prints what was counted wrongly, and "seed SEED: STEPS steps, N wrong"
 *   guest-beside STEPS SEED alone   without dfr: what the kernel's own tracers do to each other
 *
 * A process calls getpgid all through a step, while some of the parties come and
 * go, chosen at random; it knows how often. Who stayed attached all the while must
 * have counted exactly that, who was not attached nothing. Ours are parties as the
 * others are: four states, on the function's entry and return by fbt and by syscall.
 * Now and then they all go and dfr.ko is unloaded, and loaded again, while the
 * others stay. Another process sleeps all the time in a function whose return is
 * hooked, which neither a livepatch's transition nor rmmod may wait for.
 * Each step's choice is told on stderr, so that it can be read and, by the seed,
 * done again. It judges no time; whoever never comes to an end is judged by the caller.
 */
#include "others.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORKER "beside-work"
#define CALLS_MAX 20000 /* in one step: what function_graph's buffer has room for */

static uint64_t random_state;
static bool alone;
static unsigned int step_number;
static unsigned long wrong;

static unsigned int below(unsigned int n) {
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)((random_state >> 11) % n);
}

/* --- The work. ----------------------------------------------------------------- */

static struct shared {
	unsigned long sh_phase; /* odd: work */
	unsigned long sh_seen;  /* by the worker */
	unsigned long sh_calls;
} * shared;

static void work_a_little(unsigned long since) {
	unsigned int n;

	for (n = 1 + below(64); n && shared->sh_calls - since < CALLS_MAX; n--) {
		syscall(SYS_getpgid, 0);
		shared->sh_calls++;
	}
	if (below(4))
		usleep(below(400));
}

static void work(void) {
	unsigned long phase, since = 0, last = 0;

	prctl(PR_SET_NAME, WORKER);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		phase = __atomic_load_n(&shared->sh_phase, __ATOMIC_SEQ_CST);
		if (phase != last)
			since = shared->sh_calls;
		last = phase;
		__atomic_store_n(&shared->sh_seen, phase, __ATOMIC_SEQ_CST);
		if (phase & 1)
			work_a_little(since);
		else
			usleep(500);
	}
}

static void next_phase(void) {
	unsigned long phase = __atomic_add_fetch(&shared->sh_phase, 1, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&shared->sh_seen, __ATOMIC_SEQ_CST) != phase)
		usleep(500);
}

static unsigned long step_began; /* calls before it */

/* Some more work, unless there has been enough for a step. */
static void await_calls(unsigned long calls) {
	unsigned long end = __atomic_load_n(&shared->sh_calls, __ATOMIC_SEQ_CST) + calls;

	if (end > step_began + CALLS_MAX)
		end = step_began + CALLS_MAX;
	while (__atomic_load_n(&shared->sh_calls, __ATOMIC_SEQ_CST) < end)
		usleep(500);
}

/* --- Ours. ------------------------------------------------------------------------ */

/*
 * Nobody but the sleeper is in it: a transition that finds a runnable task in a function whose return is hooked, by
 * whomever, makes the kernel warn (KERNEL.md).
 */
#define SLEEP_FUNCTION "__x64_sys_rt_sigsuspend"

struct ours {
	const char *ou_provider, *ou_function, *ou_name;
	int ou_fd;
	uint64_t ou_before; /* what states that have gone counted */
};

static struct ours ours[] = {
    {.ou_provider = "fbt", .ou_function = OTHERS_FUNCTION, .ou_name = "entry"},
    {.ou_provider = "fbt", .ou_function = OTHERS_FUNCTION, .ou_name = "return"},
    {.ou_provider = "syscall", .ou_function = OTHERS_CALL, .ou_name = "entry"},
    {.ou_provider = "syscall", .ou_function = OTHERS_CALL, .ou_name = "return"},
    {.ou_provider = "fbt", .ou_function = SLEEP_FUNCTION, .ou_name = "return"},
};
#define OURS 4
#define OUR_SLEEPER (&ours[OURS])

/* States would be killed while this program waits for others: a transition may take long. */
static void be_patient(const char* seconds) {
	must_write("/sys/module/dfr/parameters/consumer_timeout", seconds);
}

static bool our_attach(struct ours* our) {
	const struct tiny_dof program = {
	    .probe = {our->ou_provider, "vmlinux", our->ou_function, our->ou_name},
	    .builtin = DIF_VAR_EXECNAME,
	    .string = 1,
	    .action = DFR_ACT_COUNT,
	    .bufsize = 65536,
	};

	our->ou_fd = open_device();
	enable(our->ou_fd, &program);
	go(our->ou_fd);
	return true;
}

static uint64_t our_count(struct ours* our) {
	return our->ou_before + (our->ou_fd > 0 ? counted(our->ou_fd, WORKER) : 0);
}

static void our_detach(struct ours* our) {
	if (below(2))
		stop(our->ou_fd);
	our->ou_before = our_count(our);
	close(our->ou_fd);
	our->ou_fd = -1;
}

/* --- Who sleeps in a function that returns to us. -------------------------------- */

static pid_t sleeper;

static void woken(int signal) {
	(void)signal;
}

static void sleep_always(void) {
	struct sigaction action = {.sa_handler = woken};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!alone)
		close(OUR_SLEEPER->ou_fd);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&none);
	for (;;)
		sigsuspend(&none);
}

/* --- All. -------------------------------------------------------------------------- */

struct party {
	const char* pa_name;
	bool (*pa_attach)(void);
	void (*pa_detach)(void);
	uint64_t (*pa_count)(void);
	uint64_t (*pa_also)(void); /* a second count, of returns */
	unsigned int pa_per_call;
	struct ours* pa_ours; /* instead of the functions */
	bool pa_on, pa_stays; /* attached; in this step it is left as it is */
	uint64_t pa_before[2];
};

#define LIVEPATCH OURS
#define FENTRY (OURS + 1)
#define FEXIT (OURS + 2)

static struct party parties[] = {
    {.pa_name = "fbt-entry", .pa_ours = &ours[0]},
    {.pa_name = "fbt-return", .pa_ours = &ours[1]},
    {.pa_name = "syscall-entry", .pa_ours = &ours[2]},
    {.pa_name = "syscall-return", .pa_ours = &ours[3]},
    [LIVEPATCH] = {"livepatch", patch_attach, patch_detach, patch_count, .pa_per_call = 1},
    [FENTRY] = {"fentry", fentry_attach, fentry_detach, fentry_count, .pa_per_call = 1},
    [FEXIT] = {"fexit", fexit_attach, fexit_detach, fexit_count, .pa_per_call = 1},
    {"ftrace", ops_attach, ops_detach, ops_count, .pa_per_call = 1},
    {"kretprobe", kretprobe_attach, kretprobe_detach, kretprobe_count, .pa_also = kretprobe_returned,
     .pa_per_call = 1},
    {"perf-entry", perf_entry_attach, perf_entry_detach, perf_entry_count, .pa_per_call = 1},
    {"perf-return", perf_return_attach, perf_return_detach, perf_return_count, .pa_per_call = 1},
    {"function_graph", graph_attach, graph_detach, graph_count, .pa_per_call = 2},
};
#define PARTIES (sizeof(parties) / sizeof(parties[0]))
#define FIRST (alone ? OURS : 0)

/*
 * In this step. BPF makes its trampoline anew then, and a call that is under way in the old one is not seen by fexit
 * (KERNEL.md); the worker is in one call at most.
 */
static unsigned int trampolines_replaced;

static void toggle(struct party* party) {
	if (party == &parties[FEXIT] && !party->pa_on && fexit_would_break())
		return;
	if (party->pa_on) {
		if (party->pa_ours)
			our_detach(party->pa_ours);
		else
			party->pa_detach();
	} else if (!(party->pa_ours ? our_attach(party->pa_ours) : party->pa_attach())) {
		die("%s cannot be attached: %s", party->pa_name, strerror(errno));
	}
	party->pa_on = !party->pa_on;
	if (party == &parties[FENTRY] || party == &parties[LIVEPATCH])
		trampolines_replaced++;
	fprintf(stderr, " %c%s", party->pa_on ? '+' : '-', party->pa_name);
}

static uint64_t count_of(struct party* party, int which) {
	if (which)
		return party->pa_also ? party->pa_also() : 0;
	return party->pa_ours ? our_count(party->pa_ours) : party->pa_count();
}

static void judge(struct party* party, int which, uint64_t calls) {
	uint64_t per_call = party->pa_ours ? 1 : party->pa_per_call;
	uint64_t expected = party->pa_on && (!which || party->pa_also) ? calls * per_call : 0;
	uint64_t seen = count_of(party, which) - party->pa_before[which];

	if (seen == expected)
		return;
	if (party == &parties[FEXIT] && seen < expected && expected - seen <= trampolines_replaced)
		return;
	wrong++;
	printf("%u: %s counted %llu, %s%llu expected\n", step_number, party->pa_name,
	       (unsigned long long)seen, which ? "returns, " : "", (unsigned long long)expected);
	if (party->pa_ours && party->pa_on)
		tell_losses(stdout, party->pa_ours->ou_fd);
}

/* All of ours go, the module with them, and come back if they were there. */
static void reload(void) {
	bool was_on[OURS];
	unsigned int i;

	for (i = 0; i < OURS; i++) {
		was_on[i] = parties[i].pa_on;
		if (was_on[i])
			toggle(&parties[i]);
	}
	our_detach(OUR_SLEEPER);
	unload_module("dfr");
	fprintf(stderr, " -dfr");
	await_calls(below(1000));
	if (below(2))
		kill(sleeper, SIGUSR1); /* it returns, to nobody */
	load_module("/dfr.ko", "consumer_timeout=0");
	fprintf(stderr, " +dfr");
	our_attach(OUR_SLEEPER);
	for (i = 0; i < OURS; i++)
		if (was_on[i])
			toggle(&parties[i]);
}

static void change(unsigned int chosen, bool reloads) {
	unsigned int i, n;

	if (reloads)
		reload();
	for (n = 1 + below(2 * chosen); n; n--) {
		for (i = below(PARTIES); parties[i].pa_stays || i < FIRST; i = below(PARTIES))
			;
		toggle(&parties[i]);
		if (below(2))
			await_calls(below(500));
	}
	await_calls(100);
}

static unsigned int choose(bool reloads) {
	unsigned int i, chosen = 1 + below(3);

	for (i = 0; i < PARTIES; i++)
		parties[i].pa_stays = i < FIRST || !(reloads && i < OURS);
	for (i = 0; i < chosen; i++)
		parties[FIRST + below((unsigned int)PARTIES - FIRST)].pa_stays = false;
	return chosen;
}

static void step(unsigned int number) {
	bool reloads = !alone && !below(5);
	unsigned int i, chosen = choose(reloads);
	unsigned long calls;

	step_number = number;
	step_began = shared->sh_calls;
	trampolines_replaced = 0;
	fprintf(stderr, "%u:", number);
	graph_clear();
	for (i = FIRST; i < PARTIES; i++) {
		parties[i].pa_before[0] = count_of(&parties[i], 0);
		parties[i].pa_before[1] = count_of(&parties[i], 1);
	}
	next_phase();
	change(chosen, reloads);
	next_phase();
	calls = shared->sh_calls - step_began;
	fprintf(stderr, ", %lu calls\n", calls);
	for (i = FIRST; i < PARTIES; i++) {
		if (!parties[i].pa_stays)
			continue;
		judge(&parties[i], 0, calls);
		judge(&parties[i], 1, calls);
	}
	patch_settle();
}

static pid_t start(void (*child)(void)) {
	pid_t pid = fork();

	if (!pid)
		child();
	return pid;
}

/* First all come, in some order: every party beside every other. At the end all go, ours first. */
static void run(unsigned int steps) {
	static const unsigned int strides[] = {1, 5, 7, 11}; /* which divide no number of parties */
	unsigned int i, n = (unsigned int)PARTIES - FIRST;
	unsigned int from = below(n), stride = strides[below(4)];

	for (i = 0; i < n; i++)
		toggle(&parties[FIRST + (from + i * stride) % n]);
	fprintf(stderr, "\n");
	patch_settle();
	for (i = 0; i < steps; i++)
		step(i);
	for (i = FIRST; i < PARTIES; i++)
		if (parties[i].pa_on)
			toggle(&parties[i]);
	fprintf(stderr, "\n");
	patch_settle();
}

int main(int argc, char** argv) {
	unsigned int steps = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;

	random_state = 88172645463325252ULL ^ (argc > 2 ? strtoull(argv[2], NULL, 10) << 32 : 0);
	alone = argc > 3 && !strcmp(argv[3], "alone");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	others_who = start(work);
	if (!alone) {
		be_patient("0");
		our_attach(OUR_SLEEPER);
	}
	sleeper = start(sleep_always);
	others_prepare();
	run(steps);
	if (!alone) {
		our_detach(OUR_SLEEPER);
		be_patient("10");
	}
	kill(sleeper, SIGKILL);
	kill(others_who, SIGKILL);
	while (wait(NULL) > 0)
		;
	others_end();
	printf("seed %s: %u steps, %lu wrong\n", argc > 2 ? argv[2] : "0", steps, wrong);
	return 0;
}
