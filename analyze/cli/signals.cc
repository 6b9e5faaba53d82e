// SPDX-License-Identifier: GPL-2.0
//
// Signals of the command: counted, nothing else is done in the handler.
#include "analyze/cli/signals.h"

#include <csignal>
#include <unistd.h>

namespace dfr::cli {
namespace {

volatile sig_atomic_t caught;

void handle(int) {
	caught = caught + 1;
	if (caught > 1)
		_exit(1);
}

// The end of a command ends a sleep, no more.
void wake(int) {}

} // namespace

void catch_signals() {
	struct sigaction action {};
	action.sa_handler = handle; // no SA_RESTART: sleeping ends
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
	action.sa_handler = wake;
	sigaction(SIGCHLD, &action, nullptr);
}

unsigned signals_caught() { return static_cast<unsigned>(caught); }

} // namespace dfr::cli
