/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdfr: D programs from C. Open a session (on the kernel's engine, or the one
 * in this process), add programs, compile, go; then sleep and work in turns, and
 * text, messages, records and aggregations come to callbacks. Plain C; one
 * session is for one thread at a time. What dfr and dtrace do is this.
 *
 *	struct dfr_session *s = dfr_session_open(DFR_SESSION_AUTO, NULL, 0);
 *	dfr_session_program(s, "tick-1s { @ = count(); }");
 *	if (dfr_session_compile(s) < 0 || dfr_session_go(s) < 0)
 *		errx(1, "%s", dfr_session_error(s));
 *	while (dfr_session_sleep(s), dfr_session_work(s) == DFR_WORK_GOING)
 *		;
 *	dfr_session_stop(s);
 *	dfr_session_close(s);
 */
#ifndef DFR_H
#define DFR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dfr_session;

enum dfr_session_engine {
	DFR_SESSION_AUTO,    /* the kernel's, if it is there and lets us */
	DFR_SESSION_PROCESS, /* BEGIN, END, ERROR and tick, without privilege */
	DFR_SESSION_KERNEL
};

/* NULL: failed; the reason goes to `error` (room bytes, may be 0). */
struct dfr_session *dfr_session_open(enum dfr_session_engine engine, char *error, size_t room);
void dfr_session_close(struct dfr_session *session);
/* Why the last call failed, what to do next included; valid until the next call. */
const char *dfr_session_error(const struct dfr_session *session);

/* Before compile. Options as dtrace -x takes them; value may be NULL. 0 or -1. */
int dfr_session_option(struct dfr_session *session, const char *name, const char *value);
/* A program as dtrace -n takes it; a script. Several are one program. 0 or -1. */
int dfr_session_program(struct dfr_session *session, const char *text);
int dfr_session_script(struct dfr_session *session, const char *path);

/* Callbacks, before go. Without one for text, it goes to stdout; messages to stderr. */
typedef void dfr_text_fn(const char *text, size_t size, void *arg);
void dfr_session_on_text(struct dfr_session *session, dfr_text_fn *fn, void *arg);
void dfr_session_on_message(struct dfr_session *session, dfr_text_fn *fn, void *arg);

/* A record, before it is rendered. Valid during the call. */
struct dfr_record_value {
	int64_t number;	   /* integers, and the pid of a user stack */
	const void *bytes; /* text, structs, stacks (u64 each); NULL: none */
	size_t size;
};
struct dfr_record {
	uint64_t time; /* monotonic ns */
	uint32_t cpu, probe, pid, tid;
	const char *execname; /* not terminated: */
	size_t execname_size;
	const char *provider, *module, *function, *name;
	const struct dfr_record_value *values;
	size_t nvalues;
};
typedef void dfr_record_fn(const struct dfr_record *record, void *arg);
void dfr_session_on_record(struct dfr_session *session, dfr_record_fn *fn, void *arg);

/* Compile and load: how many probes match, or -1. */
int dfr_session_compile(struct dfr_session *session);
int dfr_session_go(struct dfr_session *session);	 /* BEGIN fires; 0 or -1 */
void dfr_session_sleep(struct dfr_session *session);	 /* until the next pass, or a signal */

#define DFR_WORK_ERROR (-1)
#define DFR_WORK_GOING 0
#define DFR_WORK_DONE 1 /* exit(), or a buffer is full */
int dfr_session_work(struct dfr_session *session);
/* END fires, the rest is rendered; aggregations that were not printed too. 0 or -1. */
int dfr_session_stop(struct dfr_session *session);
/* Status given to exit(); 0 without. */
int dfr_session_exit_status(const struct dfr_session *session);
/* Records lost so far, all causes. */
uint64_t dfr_session_lost(const struct dfr_session *session);

/* Aggregations as of the last pass, sorted by value. Valid during the call. */
struct dfr_aggregation {
	const char *name; /* without @ */
	uint32_t variable;
	const struct dfr_record_value *keys;
	size_t nkeys;
	int64_t value;	       /* count, sum, min, max, avg, stddev; 0 for histograms */
	const uint64_t *words; /* as the engine keeps it */
	size_t nwords;
};
/* Stops when fn returns other than 0, and returns that. */
typedef int dfr_aggregation_fn(const struct dfr_aggregation *aggregation, void *arg);
int dfr_session_aggregations(struct dfr_session *session, const char *name, dfr_aggregation_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
