/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An example of libdfr: runs a D program and prints its aggregations once a
 * second as JSON lines, until the program calls exit() or Ctrl-C.
 *
 *	top 'syscall:::entry { @[execname] = count(); }'
 */
#include <signal.h>
#include <stdio.h>

#include "dfr.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
	(void)number;
	interrupted = 1;
}

static int print(const struct dfr_aggregation* aggregation, void* arg) {
	size_t i;

	(void)arg;
	printf("{\"name\": \"%s\", \"value\": %lld, \"keys\": [", aggregation->name,
	       (long long)aggregation->value);
	for (i = 0; i < aggregation->nkeys; i++) {
		const struct dfr_record_value* key = &aggregation->keys[i];

		if (key->bytes)
			printf("%s\"%.*s\"", i ? ", " : "", (int)key->size, (const char*)key->bytes);
		else
			printf("%s%lld", i ? ", " : "", (long long)key->number);
	}
	puts("]}");
	return 0;
}

int main(int argc, char** argv) {
	const char* program = argc > 1 ? argv[1] : "tick-100ms { @ticks = count(); } tick-1s { exit(0); }";
	struct dfr_session* session = dfr_session_open(DFR_SESSION_AUTO);
	int going = DFR_WORK_GOING;

	if (!session)
		return 1;
	signal(SIGINT, on_signal);
	if (dfr_session_program(session, DFR_BY_NAME, program) < 0 || dfr_session_compile(session) < 0 ||
	    dfr_session_go(session) < 0) {
		fprintf(stderr, "%stop: %s\n%s\n", dfr_session_diagnostics(session),
		        dfr_session_error(session), dfr_session_hint(session));
		dfr_session_close(session);
		return 1;
	}
	while (going == DFR_WORK_GOING && !interrupted) {
		dfr_session_sleep(session);
		going = dfr_session_work(session);
		dfr_session_aggregations(session, NULL, print, NULL);
	}
	dfr_session_close(session);
	return going == DFR_WORK_ERROR;
}
