// SPDX-License-Identifier: GPL-2.0
//
// The thread that stands by a command.
#include "analyze/libdfr/follower.h"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <utility>

#include "recorder/live_symbols.h"

namespace dfr::lib {

// Outlives the follower if the command does.
struct Follower::Shared {
	explicit Shared(int the_pid) : pid(the_pid) {}
	const int pid;
	std::mutex mutex;
	std::condition_variable changed;
	bool settled = false, traced = false; // settled: traced is known
	std::string maps;
	std::optional<int> status;
};

namespace {

bool is_stop(int status) {
	const int signal = WSTOPSIG(status);
	return status >> 16 == PTRACE_EVENT_STOP &&
	       (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU);
}

// Lets a process go on that stands still for us. One that was stopped is left alone, stopped, for a
// debugger may want it; a signal that comes stays in force.
void let_go(int pid, int status) {
	if (is_stop(status))
		::ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
	else
		::ptrace(PTRACE_CONT, pid, nullptr, status >> 16 == 0 ? WSTOPSIG(status) : 0);
}

// While it lives, signals are for the other threads, and for no thread that is made.
class Deaf {
public:
	Deaf() {
		sigset_t all;
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before_);
	}
	~Deaf() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
	Deaf(const Deaf&) = delete;
	Deaf& operator=(const Deaf&) = delete;

private:
	sigset_t before_{};
};

} // namespace

void Follower::follow(const std::shared_ptr<Shared>& shared) {
	const int pid = shared->pid;
	const bool traced = ::ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_TRACEEXIT) == 0;
	{
		const std::lock_guard lock(shared->mutex);
		shared->settled = true;
		shared->traced = traced;
	}
	shared->changed.notify_all();
	while (traced) {
		int status = 0;
		const int result = ::waitpid(pid, &status, __WALL);
		if (result < 0 && errno == EINTR)
			continue;
		if (result == pid && WIFSTOPPED(status)) {
			if (status >> 16 == PTRACE_EVENT_EXIT || is_stop(status)) {
				std::string maps = recorder::read_maps(pid);
				const std::lock_guard lock(shared->mutex);
				shared->maps = std::move(maps);
			}
			let_go(pid, status);
			continue;
		}
		{
			const std::lock_guard lock(shared->mutex);
			shared->status = status; // 0 if somebody else has waited for it
		}
		shared->changed.notify_all();
		return;
	}
}

std::unique_ptr<Follower> Follower::start(int pid) {
	const auto shared = std::make_shared<Shared>(pid);
	try {
		const Deaf deaf;
		std::thread([shared] { follow(shared); }).detach();
	} catch (const std::system_error&) {
		return nullptr; // no thread, no names
	}
	std::unique_lock lock(shared->mutex);
	shared->changed.wait(lock, [&] { return shared->settled; });
	return shared->traced ? std::unique_ptr<Follower>(new Follower(shared)) : nullptr;
}

Follower::~Follower() = default;

std::optional<int> Follower::ended() {
	// A zombie is about to be waited for by the thread: whoever was woken by its end need not come again.
	// What stands still for the thread is told as well, asked for or not.
	siginfo_t info{};
	const int result =
	    ::waitid(P_PID, static_cast<id_t>(shared_->pid), &info, WEXITED | WNOHANG | WNOWAIT);
	const bool over =
	    info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
	std::unique_lock lock(shared_->mutex);
	if ((result != 0 && errno == ECHILD) || (result == 0 && info.si_pid == shared_->pid && over))
		shared_->changed.wait(lock, [this] { return shared_->status.has_value(); });
	return shared_->status;
}

std::string Follower::take_maps() {
	const std::lock_guard lock(shared_->mutex);
	return std::exchange(shared_->maps, {});
}

} // namespace dfr::lib
