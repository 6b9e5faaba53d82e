/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdfr: D programs from C. Open a session (on the kernel's engine, or the one
 * in this process), add programs, compile, go; then sleep and work in turns, and
 * text, messages, records and aggregations come to callbacks. Plain C; one
 * session is for one thread at a time. dtrace and `dfr trace` are clients of it.
 *
 *	struct dfr_session *s = dfr_session_open(DFR_SESSION_AUTO);
 *	dfr_session_program(s, DFR_BY_NAME, "tick-1s { @ = count(); }");
 *	if (dfr_session_compile(s) < 0 || dfr_session_go(s) < 0)
 *		errx(1, "%s\n%s", dfr_session_error(s), dfr_session_diagnostics(s));
 *	while (dfr_session_sleep(s), dfr_session_work(s) == DFR_WORK_GOING)
 *		;
 *	dfr_session_stop(s);
 *	dfr_session_close(s);
 *
 * What returns an int returns -1 if it fails; dfr_session_error() says why. What
 * returns text never returns NULL; it is valid until the next call.
 */
#ifndef DFR_H
#define DFR_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dfr_session;

enum dfr_session_engine {
	DFR_SESSION_AUTO, /* the kernel's if it is there; else here, and what cannot run here in the kernel */
	DFR_SESSION_PROCESS, /* BEGIN, END, ERROR and tick, without privilege */
	DFR_SESSION_KERNEL,
	DFR_SESSION_BOOT /* none: programs for the module of a boot, see dfr_session_dof() */
};

/* Opens no engine yet. NULL: no memory. */
struct dfr_session* dfr_session_open(enum dfr_session_engine engine);
void dfr_session_close(struct dfr_session* session); /* kills commands that have not begun */

/* Why the last call failed, and what to do next (may be empty). */
const char* dfr_session_error(const struct dfr_session* session);
const char* dfr_session_hint(const struct dfr_session* session);
/* The error as dtrace(1) words it. */
const char* dfr_session_classic(const struct dfr_session* session);
/* What the last compilation found in the programs: every error and warning with place, line and caret. */
const char* dfr_session_diagnostics(struct dfr_session* session);
/* Its trees, if the option of that name is set. */
const char* dfr_session_tree(struct dfr_session* session);

/* Before compile. Options as dtrace -x takes them; value may be NULL. */
int dfr_session_option(struct dfr_session* session, const char* name, const char* value);
/* Those of the environment: DTRACE_OPT_NAME=VALUE, _DTRACE_TESTING. */
int dfr_session_environment(struct dfr_session* session);
/* 1 if a flag is on: destructive errtags grabanon quiet verbose zdefs. */
int dfr_session_is_set(const struct dfr_session* session, const char* name);

/* Programs, as dtrace -n, -f, -m, -P and -i take them, and scripts. Several are one program. */
enum dfr_specifier { DFR_BY_NAME, DFR_BY_FUNCTION, DFR_BY_MODULE, DFR_BY_PROVIDER, DFR_BY_ID };
int dfr_session_program(struct dfr_session* session, enum dfr_specifier specifier, const char* text);
int dfr_session_script(struct dfr_session* session, const char* path); /* "-": standard input */
/* $0, $1 ...; NULL ends them. A script's $0 is its path. */
int dfr_session_arguments(struct dfr_session* session, const char* const* arguments);

/* A command that starts at go, a process to go along with: the last one is $target, and when all have ended
 * the session is over. Returns the pid. */
int dfr_session_command(struct dfr_session* session, const char* const* words);
int dfr_session_process(struct dfr_session* session, int pid);

/* Callbacks, before go. Without one, text goes to a descriptor (at first stdout), trouble to stderr. What is handed out has
 * names and texts as others gave them, also such as a terminal would obey: who prints it looks at that. */
enum dfr_message {
	DFR_MESSAGE_NOTICE, /* how many probes match, a pid has ended; none with `quiet` */
	DFR_MESSAGE_TROUBLE /* faults and losses */
};
typedef void dfr_text_fn(const char* text, size_t size, void* arg);
typedef void dfr_message_fn(enum dfr_message kind, const char* line, void* arg);
void dfr_session_output(struct dfr_session* session, int fd);
void dfr_session_on_text(struct dfr_session* session, dfr_text_fn* fn, void* arg);
void dfr_session_on_message(struct dfr_session* session, dfr_message_fn* fn, void* arg);

/* A record, before it is rendered. Valid during the call. */
struct dfr_record_value {
	int64_t number;    /* integers, and the pid of a user stack */
	const void* bytes; /* text, structs, stacks (u64 each); NULL: none */
	size_t size;
};
struct dfr_record {
	uint64_t time; /* monotonic ns */
	uint32_t cpu, probe, pid, tid;
	const char* execname; /* not terminated: */
	size_t execname_size;
	const char *provider, *module, *function, *name;
	const struct dfr_record_value* values;
	size_t nvalues;
};
typedef void dfr_record_fn(const struct dfr_record* record, void* arg);
void dfr_session_on_record(struct dfr_session* session, dfr_record_fn* fn, void* arg);

/* Opens the engine and compiles; 0 or -1. Without a program: to claim the boot's state (option grabanon). */
int dfr_session_compile(struct dfr_session* session);
/* Then: the code as dtrace -S shows it, stability as -v does, and the program as a file for another time. */
const char* dfr_session_listing(struct dfr_session* session);
const char* dfr_session_stability(struct dfr_session* session);
const void* dfr_session_dof(struct dfr_session* session, size_t* size); /* NULL: failed */

/* In place of compile: visits the probes that the programs describe, all probes without one, until fn returns
 * other than 0. Returns how many descriptions match none, each told as trouble unless zdefs is set. */
struct dfr_listed_probe {
	uint32_t id;
	const char *provider, *module, *function, *name;
	const char* stability;        /* three lines */
	const char* const* arguments; /* types of args[], if they were asked for */
	size_t narguments;
};
typedef int dfr_probe_fn(const struct dfr_listed_probe* probe, void* arg);
int dfr_session_list(struct dfr_session* session, int arguments, dfr_probe_fn* fn, void* arg);

int dfr_session_go(struct dfr_session* session);     /* BEGIN fires, commands start; 0 or -1 */
void dfr_session_sleep(struct dfr_session* session); /* until the next pass, or a signal */
/* With this mask of signals meanwhile, as ppoll(2): who blocks a signal, looks whether it came, and lets it in here
 * misses none. */
void dfr_session_sleep_with(struct dfr_session* session, const sigset_t* mask);

#define DFR_WORK_ERROR (-1)
#define DFR_WORK_GOING 0
#define DFR_WORK_DONE 1 /* exit(), a full buffer, the processes have ended */
int dfr_session_work(struct dfr_session* session);
/* Text of the caller's own, at its place among the programs'. */
int dfr_session_print(struct dfr_session* session, const char* text);
/* END fires, the rest is rendered; aggregations that were not printed too. 0; 1 if the engine had ended the
 * session rather than let the machine hang; -1. */
int dfr_session_stop(struct dfr_session* session);

/* Status given to exit(); 0 without. */
int dfr_session_exit_status(const struct dfr_session* session);
/* Records lost so far, all causes. */
uint64_t dfr_session_lost(const struct dfr_session* session);
/* After stop: what was traced and what is missing, as a line or as JSON; 1 in `complete`: nothing is, in the time
 * that the line names. A ring that came round has its last part only, and what was lost before that does not count here,
 * as it does in dfr_session_lost(). */
const char* dfr_session_verdict(struct dfr_session* session, int json, int* complete);

/* Aggregations as of the last pass, sorted by value. Valid during the call. */
struct dfr_aggregation {
	const char* name; /* without @ */
	uint32_t variable;
	const struct dfr_record_value* keys;
	size_t nkeys;
	int64_t value;         /* count, sum, min, max, avg, stddev; 0 for histograms */
	const uint64_t* words; /* as the engine keeps it */
	size_t nwords;
};
/* Stops when fn returns other than 0, and returns that. */
typedef int dfr_aggregation_fn(const struct dfr_aggregation* aggregation, void* arg);
int dfr_session_aggregations(struct dfr_session* session, const char* name, dfr_aggregation_fn* fn,
                             void* arg);

#ifdef __cplusplus
}
#endif
#endif
