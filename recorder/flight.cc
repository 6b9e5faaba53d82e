// SPDX-License-Identifier: GPL-2.0
//
// From triggers to files.
#include "recorder/flight.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/clock.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/snapshot_file.h"

namespace dfr::recorder {
namespace {

// Each takes up to 32 MiB while it copies; further triggers wait until one of them is done.
constexpr size_t kSnapshotsAtOnce = 4;
constexpr std::chrono::minutes kCommandMost{10};
constexpr std::chrono::seconds kTellEvery{5};

// In the process of a snapshot. Prints one line for dfrd's log: what the file holds and its verdict.
int take(const std::string& state, const SnapshotSpan& span, const std::string& reason,
         const std::string& path, int result) {
	std::string said;
	int status = 0;
	try {
		const SnapshotFile file =
		    write_snapshot(state, span, reason, path, false, []() { return !end_is_asked(); });
		const JudgedSnapshot judged = judge_snapshot(path, file.trigger);
		said = trace::verdict_line(judged.verdict, judged.catalog);
		if (!judged.verdict.complete)
			status = 3;
		char text[64];
		std::snprintf(text, sizeof text, "%.1f s before the trigger, ",
		              std::chrono::duration<double>(judged.before).count());
		said.insert(0, text);
	} catch (const Error& error) {
		said = error.what();
		status = 1;
	}
	said.resize(std::min<size_t>(said.size(), PIPE_BUF)); // dfrd reads it when this process has ended
	if (::write(result, said.data(), said.size()) < 0)
		return 1;
	return status;
}

std::string read_all(int descriptor) {
	std::string text(PIPE_BUF, '\0');
	const ssize_t n = ::read(descriptor, text.data(), text.size());
	text.resize(n < 0 ? 0 : static_cast<size_t>(n));
	return text;
}

// Bytes that are free where this file will be.
std::optional<uint64_t> free_space(const std::string& path) {
	const size_t slash = path.rfind('/');
	const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
	struct statvfs about {};
	if (::statvfs(folder.c_str(), &about) != 0)
		return std::nullopt;
	return uint64_t{about.f_bavail} * about.f_frsize;
}

} // namespace

Flight::Flight(Daemon& daemon) : daemon_(daemon) {
	gate_.every(daemon.options.every);
	const auto files = trace::parts_of(daemon.options.output);
	number_ = files.empty() ? 0 : files.back().first;
}

const char* Flight::state() const {
	if (killed())
		return "the kernel had killed the state, so nothing was recorded since";
	if (has_ended(ended_))
		return "the recorded program has ended";
	return daemon_.options.stop ? "the state was stopped" : "the state records on";
}

size_t Flight::snapshots_under_way() const {
	return static_cast<size_t>(
	    std::count_if(processes_.begin(), processes_.end(),
	                  [](const FlightProcess& child) { return child.result >= 0; }));
}

// Of the program's snapshot() actions, and oopses. True: there are new ones.
bool Flight::look_for_kernel_triggers() {
	if (no_triggers_)
		return false;
	std::vector<Trigger> triggers;
	try {
		triggers = daemon_.session().triggers();
	} catch (const Error& error) {
		if (error.code() != ENOTTY)
			throw;
		no_triggers_ = true;
		std::fprintf(stderr, "dfrd: the loaded module is older than this dfrd: snapshot() and oopses "
		                     "trigger nothing\n");
	}
	bool any = false;
	for (const Trigger& trigger : triggers) {
		any |= trigger.fresh != 0;
		if (trigger.fresh && trigger.first) // else they had their snapshot before this dfrd began
			gate_.trigger(trigger.oops ? "an oops of the kernel" : trigger.reason, trigger.first,
			              trigger.fresh, std::chrono::steady_clock::now());
	}
	return any;
}

// True: the kernel has new ones.
bool Flight::look_for_triggers() {
	const bool any = look_for_kernel_triggers();
	const auto now = std::chrono::steady_clock::now();
	gate_.trigger("SIGUSR1", now_ns(), take_snapshot_requests(), now);
	if (const uint64_t least = daemon_.options.low_disk) {
		const auto left = free_space(daemon_.options.output);
		const bool low = left && *left < least;
		if (low && !disk_was_low_)
			gate_.trigger("low disk", now_ns(), 1, now);
		// Once it was low, a tenth more ends that, so that it does not trigger at each file that comes and goes.
		disk_was_low_ = low || (disk_was_low_ && left && *left < least + least / 10);
	}
	while (const auto told = gate_.ended(now))
		std::fprintf(
		    stderr,
		    "dfrd: '%s' triggered %llu times more within %lld s; one snapshot has to do for them\n",
		    shown(told->reason), static_cast<unsigned long long>(told->held_back),
		    static_cast<long long>(daemon_.options.every.count()));
	return any;
}

void Flight::begin_snapshot(const TriggerGate::Admitted& trigger, const SnapshotSpan& span) {
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		throw Error::from_errno("cannot take a snapshot");
	SnapshotSpan asked = span;
	asked.trigger = trigger.time;
	FlightProcess child{.result = ends[0],
	                    .path = trace::part_path(daemon_.options.output, ++number_),
	                    .reason = trigger.reason};
	if (trigger.held_back)
		child.reason += " (" + std::to_string(trigger.held_back) + " more since the snapshot before)";
	child.process = ::fork();
	if (child.process == 0) {
		// The state stays dfrd's, and with it the right to claim it when dfrd has died.
		::close(daemon_.session().device().fd());
		::close(ends[0]);
		::_exit(take(daemon_.options.name, asked, child.reason, child.path, ends[1]));
	}
	const int error = errno;
	::close(ends[1]);
	if (child.process < 0) {
		::close(ends[0]);
		throw Error(std::string("cannot take a snapshot: ") + std::strerror(error), "", error);
	}
	processes_.push_back(std::move(child));
}

void Flight::begin_snapshots() {
	while (snapshots_under_way() < kSnapshotsAtOnce) {
		const auto trigger = gate_.next();
		if (!trigger)
			return;
		try {
			begin_snapshot(*trigger, daemon_.options.span);
		} catch (const Error& error) {
			daemon_.status.failed++;
			std::fprintf(stderr, "dfrd: %s (%s)\n", shown(error.what()), shown(trigger->reason));
		}
	}
}

// None that is being written, and none behind it.
void Flight::remove_old_files() {
	std::string oldest;
	for (const FlightProcess& child : processes_)
		if (child.result >= 0 && oldest.empty())
			oldest = child.path;
	daemon_.remove_old_files(oldest);
}

// A snapshot has ended: says so, and runs the command.
void Flight::ended(const FlightProcess& snapshot, int status) {
	const std::string said = read_all(snapshot.result);
	::close(snapshot.result);
	const bool there = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
	if (!there) {
		daemon_.status.failed++;
		std::fprintf(stderr, "dfrd: the snapshot %s (%s) failed: %s\n", shown(snapshot.path),
		             shown(snapshot.reason), said.empty() ? "its process was killed" : shown(said));
		return;
	}
	std::fprintf(stderr, "dfrd: snapshot %s (%s): %s\n", shown(snapshot.path), shown(snapshot.reason),
	             shown(said));
	daemon_.status.snapshots++;
	daemon_.status.last = snapshot.path;
	daemon_.status.last_reason = snapshot.reason;
	daemon_.status.last_verdict = said;
	daemon_.status.last_time = std::time(nullptr);
	remove_old_files();
	if (!daemon_.options.run.empty())
		begin_command(snapshot);
}

void Flight::begin_command(const FlightProcess& snapshot) {
	FlightProcess child{.path = snapshot.path, .reason = snapshot.reason};
	child.process = ::fork();
	if (child.process < 0) {
		std::fprintf(stderr, "dfrd: cannot run '%s': %s\n", shown(daemon_.options.run),
		             std::strerror(errno));
		return;
	}
	if (child.process == 0) {
		::setpgid(0, 0); // so that all of it can be ended
		for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE})
			::signal(number, SIG_DFL);
		::setenv("DFR_SNAPSHOT", snapshot.path.c_str(), 1);
		::setenv("DFR_REASON", snapshot.reason.c_str(), 1);
		::setenv("DFR_STATE", daemon_.options.name.c_str(), 1);
		::unsetenv("NOTIFY_SOCKET");
		::execl("/bin/sh", "sh", "-c", daemon_.options.run.c_str(), nullptr);
		::_exit(127);
	}
	processes_.push_back(std::move(child));
}

// Takes note of the processes that have ended; with `wait`, after all snapshots have.
void Flight::reap(bool wait) {
	for (size_t i = 0; i < processes_.size();) {
		const FlightProcess child = processes_[i];
		const bool snapshot = child.result >= 0;
		int status = 0;
		pid_t found;
		while ((found = ::waitpid(child.process, &status, wait && snapshot ? 0 : WNOHANG)) < 0 &&
		       errno == EINTR)
			;
		if (found == 0) {
			if (!snapshot && std::chrono::steady_clock::now() - child.began > kCommandMost) {
				std::fprintf(stderr, "dfrd: '%s' is ended: it ran for ten minutes\n",
				             shown(daemon_.options.run));
				::kill(-child.process, SIGKILL);
			}
			i++;
			continue;
		}
		processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(i));
		if (snapshot)
			ended(child, status);
		else if (status)
			std::fprintf(stderr, "dfrd: '%s' ended with status %d\n", shown(daemon_.options.run),
			             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		else
			continue;
		daemon_.tell_status();
	}
}

// Of a state that ends: all that it has. If that fails, the state stays, and the next start tries again.
void Flight::last_snapshot(const std::string& reason) {
	const uint64_t failed = daemon_.status.failed;
	begin_snapshot({.reason = reason, .time = now_ns()}, {});
	reap(true);
	if (daemon_.status.failed != failed)
		throw Error("the last snapshot of " + daemon_.options.name +
		                " could not be written, so the state is left as it is",
		            "make room on the disk and start dfrd again, or drop it: dfr stop " +
		                daemon_.options.name);
}

std::optional<Reload> Flight::run() {
	std::optional<Reload> reload = daemon_.interrupted();
	DeviceSession& session = daemon_.session();
	auto tell = std::chrono::steady_clock::now();
	while (!reload && !end_is_asked()) {
		ended_ = session.status();
		if (has_ended(ended_))
			break;
		const bool any = look_for_triggers();
		begin_snapshots();
		reap(false);
		if (const auto now = std::chrono::steady_clock::now(); now >= tell) {
			remove_old_files(); // the disk may get full by others
			daemon_.status.held_back = gate_.held_back();
			daemon_.tell_status();
			tell = now + kTellEvery;
		}
		daemon_.manager.alive(
		    "in flight: " + std::to_string(daemon_.status.snapshots) + " snapshots" +
		    (daemon_.status.last.empty() ? "" : ", the last is " + daemon_.status.last));
		// A program may trigger all the time, and is asked ten times a second then.
		if (any || !processes_.empty())
			session.wait(std::chrono::milliseconds(100), false, nullptr);
		else if (no_triggers_)
			session.wait(std::chrono::seconds(1), false, nullptr);
		else
			session.await_trigger(std::chrono::seconds(1));
		if (take_reload_request())
			reload = daemon_.reload();
	}
	// Those that wait for what comes after their trigger end now, with what there is.
	if (end_is_asked())
		for (const FlightProcess& child : processes_)
			if (child.result >= 0)
				::kill(child.process, SIGTERM);
	reap(true);
	if (has_ended(ended_))
		last_snapshot(killed() ? "the kernel has killed the state" : "the program has ended");
	else if (reload && reload->next)
		last_snapshot("a reload ends this program");
	else if (daemon_.options.stop && !reload) {
		session.stop(); // END fires
		last_snapshot("dfrd was asked to stop");
	} else
		return reload;
	session.end();
	return reload;
}

} // namespace dfr::recorder
