// SPDX-License-Identifier: GPL-2.0
//
// Signals of the command: counted, nothing else is done in the handler.
#include "analyze/cli/signals.h"

#include <csignal>
#include <unistd.h>

namespace dfr::cli {
namespace {

volatile sig_atomic_t caught;
const char* volatile unfinished; // remove_on_signal()

void handle(int) {
	caught = caught + 1;
	if (caught < 2)
		return;
	if (unfinished)
		unlink(unfinished);
	_exit(1);
}

// The terminal has gone. It may be told twice, by the kernel and by the shell, so it is no second signal.
void hang_up(int) {
	if (caught == 0)
		caught = 1;
}

// The end of a command ends a sleep, no more.
void wake(int) {}

struct HeldBack {
	HeldBack() {
		sigset_t ours;
		sigemptyset(&ours);
		for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
			sigaddset(&ours, signal);
		sigprocmask(SIG_BLOCK, &ours, &before);
	}
	~HeldBack() { sigprocmask(SIG_SETMASK, &before, nullptr); }
	HeldBack(const HeldBack&) = delete;
	HeldBack& operator=(const HeldBack&) = delete;

	sigset_t before;
};

} // namespace

void catch_signals() {
	struct sigaction action {};
	action.sa_handler = handle; // no SA_RESTART: sleeping ends
	// Also where they are ignored, as a shell has it for a script's `dtrace ... &`, which ends with kill -INT.
	for (const int signal : {SIGINT, SIGTERM})
		sigaction(signal, &action, nullptr);
	struct sigaction before {};
	sigaction(SIGHUP, nullptr, &before);
	action.sa_handler = hang_up;
	if (before.sa_handler != SIG_IGN) // nohup
		sigaction(SIGHUP, &action, nullptr);
	action.sa_handler = wake;
	sigaction(SIGCHLD, &action, nullptr);
}

void remove_on_signal(const char* path) {
	unfinished = path;
}

bool slept(const std::function<void(const sigset_t*)>& sleep) {
	const HeldBack held;
	if (signals_caught() != 0)
		return false;
	sleep(&held.before);
	return true;
}

unsigned signals_caught() {
	return static_cast<unsigned>(caught);
}

} // namespace dfr::cli
