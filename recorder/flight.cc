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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "formats/clock.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/output_file.h"
#include "formats/trace/parts.h"
#include "recorder/retention.h"
#include "recorder/snapshot_file.h"

namespace dfr::recorder {
namespace {

// Each takes up to 32 MiB while it copies; further triggers wait until one of them is done.
constexpr size_t kSnapshotsAtOnce = 4;
constexpr std::chrono::minutes kCommandMost{10};
constexpr std::chrono::seconds kLastCommandMost{30};
constexpr std::chrono::seconds kEndMost{1};
constexpr std::chrono::seconds kTellEvery{5};
// A snapshot that failed: meanwhile the disk may get room, by --retain too, and the ring moves on.
constexpr std::chrono::seconds kTryEvery{5}, kTryMost{60};

double seconds(std::chrono::nanoseconds time) {
	return std::chrono::duration<double>(time).count();
}

// What a snapshot lacks of what was asked for; empty: nothing.
std::string shortfall(const SnapshotSpan& span, const JudgedSnapshot& judged) {
	char text[96];
	std::string lacks;
	if (judged.before < span.last) {
		std::snprintf(text, sizeof text, "; only %.1f of %.1f s before the trigger",
		              seconds(judged.before), seconds(span.last));
		lacks += text;
	}
	if (const auto late =
	        std::chrono::nanoseconds(judged.verdict.from - std::min(judged.verdict.from, span.trigger));
	    late >= std::chrono::milliseconds(50)) {
		std::snprintf(text, sizeof text, "; it begins %.1f s after the trigger", seconds(late));
		lacks += text;
	}
	const uint64_t end = std::max(judged.until, span.trigger);
	if (const std::chrono::nanoseconds after(end - span.trigger); after < span.after) {
		std::snprintf(text, sizeof text, "; only %.1f of %.1f s after it", seconds(after),
		              seconds(span.after));
		lacks += text;
	}
	return lacks;
}

std::string what_it_holds(const SnapshotSpan& span, const JudgedSnapshot& judged) {
	char text[64];
	std::snprintf(text, sizeof text, "%.1f s before the trigger, ", seconds(judged.before));
	return text + trace::verdict_line(judged.verdict, judged.catalog) + shortfall(span, judged);
}

// Of a snapshot that became whole although the dfrd that began it was killed; nullopt: there is no whole one.
std::optional<std::string> held_by_whole(const std::string& path, const SnapshotUnderWay& one,
                                         SnapshotSpan span) {
	if (!one.number || ::access(path.c_str(), F_OK) != 0 || is_cut(path))
		return std::nullopt;
	try {
		span.trigger = one.time;
		const JudgedSnapshot judged = judge_snapshot(path, one.time);
		const auto its_own = [&](const trace::EventMark& mark) {
			return mark.event == DFR_EVENT_SNAPSHOT && mark.time == one.time;
		};
		if (std::ranges::any_of(judged.catalog.events, its_own))
			return what_it_holds(span, judged);
	} catch (const Error&) {
		// It cannot be read.
	}
	return std::nullopt;
}

// The status of a snapshot's process. One that failed has left nothing, or its file.
enum SnapshotStatus { kComplete = 0, kFailed = 1, kPartial = 3, kUnreadable = 4, kFailedAndStays = 5 };

// In the process of a snapshot. Writes one line for dfrd's log: what the file holds and its verdict.
int take(const std::string& state, const SnapshotSpan& span, const std::string& reason,
         const std::string& path, int result) {
	std::string said;
	int status = kFailed;
	bool written = false, ours = true;
	try {
		write_snapshot(state, span, reason, path, false, []() { return !end_is_asked(); });
		written = true;
		const JudgedSnapshot judged = judge_snapshot(path, span.trigger);
		said = what_it_holds(span, judged);
		status = judged.verdict.complete ? kComplete : kPartial;
	} catch (const Error& error) {
		said = error.what();
		ours = error.code() != EEXIST;
	} catch (const std::exception& error) {
		said = error.what();
	}
	if (status == kFailed && written) {
		status = kUnreadable;
		said = "it is written, but cannot be read again: " + said;
	} else if (status == kFailed && ours && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
		status =
		    kFailedAndStays; // as on a disk that became read-only; half of a file would push out whole ones
	}
	said.resize(std::min<size_t>(said.size(), PIPE_BUF)); // dfrd reads it when this process has ended
	if (::write(result, said.data(), said.size()) < 0)
		return kFailed;
	return status;
}

// In a child: systemctl kill sends to all of a service what is meant for dfrd.
void ignore_requests() {
	for (const int number : {SIGHUP, SIGUSR1})
		::signal(number, SIG_IGN);
}

std::string read_all(int descriptor) {
	std::string text(PIPE_BUF, '\0');
	const ssize_t n = ::read(descriptor, text.data(), text.size());
	text.resize(n < 0 ? 0 : static_cast<size_t>(n));
	return text;
}

void say_if_cut(const std::string& path, const char* is) {
	if (is_cut(path))
		std::fprintf(stderr, "dfrd: %s %s cut off: it has what was written by then\n", shown(path),
		             is);
}

} // namespace

Flight::Flight(Daemon& daemon) : daemon_(daemon), held_back_before_(daemon.status.held_back) {
	const std::string& output = daemon.options.output;
	if (::access(trace::folder_of(output).c_str(), W_OK | X_OK) != 0)
		throw Error::from_errno("cannot write snapshots to " + trace::parts_pattern(output),
		                        "say where else: --output FILE.dfr");
	gate_.every(daemon.options.every);
	const auto files = trace::parts_of(output);
	number_ = files.empty() ? 0 : files.back().first;
	for (const auto& [number, path] : files)
		say_if_cut(path, "was");
	take_over(std::exchange(daemon.status.under_way, {}));
	take_over_triggers();
	take_left_over();
}

Flight::~Flight() {
	for (const FlightProcess& process : processes_) {
		::kill(process.result >= 0 ? process.process : -process.process, SIGKILL);
		if (process.result >= 0)
			::close(process.result);
	}
	// They end at once, but for one that sleeps for a disk, for which nobody waits.
	const auto until = std::chrono::steady_clock::now() + kEndMost;
	for (const FlightProcess& process : processes_)
		while (::waitpid(process.process, nullptr, WNOHANG) == 0 &&
		       std::chrono::steady_clock::now() < until)
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// What it has told of the kernel's triggers is of its state.
void Flight::take_over_triggers() {
	DaemonStatus& status = daemon_.status;
	if (status.state != daemon_.session().catalog().state_id) {
		status.asked = 0;
		status.triggers.clear();
	}
	for (const AskedTriggers& one : status.triggers)
		daemon_.session().had_triggers(one.reason, one.oops, one.count);
}

// What a dfrd in mode stream had taken from the rings and did not store, as for a full disk: left where it is, it would be the
// beginning of every snapshot, with a hole behind it. One snapshot has it, then it is given back.
void Flight::take_left_over() {
	const size_t blocks = daemon_.session().take_left_over();
	if (!blocks)
		return;
	std::fprintf(
	    stderr,
	    "dfrd: %zu blocks were taken and not stored by a dfrd before this one: a snapshot has them\n",
	    blocks);
	again_.push_back({.left_over = true,
	                  .trigger = {.reason = {.text = "what was taken and not stored", .own = true},
	                              .time = now_ns()}});
}

// What a dfrd of before had begun and did not end: those triggers have their snapshots now, of what is in memory yet, but
// where the file became whole all the same.
void Flight::take_over(const std::vector<SnapshotUnderWay>& before) {
	for (const SnapshotUnderWay& one : before) {
		const std::string path = trace::part_path(daemon_.options.output, one.number);
		const TriggerGate::Admitted trigger{.reason = {.text = one.reason, .own = one.own},
		                                    .time = one.time,
		                                    .held_back = one.held_back};
		if (const auto held = held_by_whole(path, one, daemon_.options.span)) {
			stored({.path = path, .reason = one.reason, .number = one.number, .attempt = {}},
			       *held);
			continue;
		}
		std::fprintf(stderr,
		             "dfrd: '%s' had triggered a snapshot that was not ended: it is taken now\n",
		             shown(one.reason));
		again_.push_back({.trigger = trigger, .remark = "the dfrd of then was killed"});
	}
}

const char* Flight::state() const {
	if (killed())
		return "the kernel had killed the state, so nothing was recorded since";
	if (has_ended(ended_))
		return "the recorded program has ended";
	return daemon_.options.stop ? "the state was stopped" : "the state records on";
}

// The reason of each.
std::vector<TriggerReason> Flight::snapshots_under_way() const {
	std::vector<TriggerReason> reasons;
	for (const FlightProcess& child : processes_)
		if (child.result >= 0)
			reasons.push_back(child.attempt.trigger.reason);
	return reasons;
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
	const bool told = std::exchange(daemon_.status.asked, daemon_.session().triggers_asked()) != 0;
	daemon_.status.triggers.clear();
	for (const Trigger& trigger : triggers) {
		any |= trigger.fresh != 0;
		daemon_.status.triggers.push_back({trigger.count, trigger.oops, trigger.reason});
		// By somebody else: perhaps a dfrd that was killed before it told of them.
		const bool asked_for = trigger.fresh && !trigger.first;
		if (asked_for && !told) {
			std::fprintf(stderr, "dfrd: '%s' had triggered %llu times before this dfrd began\n",
			             shown(trigger.reason), static_cast<unsigned long long>(trigger.fresh));
			continue;
		}
		if (asked_for)
			std::fprintf(
			    stderr,
			    "dfrd: '%s' had triggered before this dfrd began: its snapshot is taken now\n",
			    shown(trigger.reason));
		gate_.trigger(trigger.oops ? TriggerReason{"an oops of the kernel", true}
		                           : TriggerReason{trigger.reason},
		              asked_for ? trigger.last : trigger.first, trigger.fresh,
		              std::chrono::steady_clock::now());
	}
	return any;
}

// True: the kernel has new ones.
bool Flight::look_for_triggers() {
	const bool any = look_for_kernel_triggers();
	const auto now = std::chrono::steady_clock::now();
	gate_.trigger({"SIGUSR1", true}, now_ns(), take_snapshot_requests(), now);
	if (const uint64_t least = daemon_.options.low_disk) {
		const auto left = free_space(trace::folder_of(daemon_.options.output));
		const bool low = left && *left < least;
		if (low && !disk_was_low_)
			gate_.trigger({"low disk", true}, now_ns(), 1, now);
		// Once it was low, a tenth more ends that, so that it does not trigger at each file that comes and goes.
		disk_was_low_ = low || (disk_was_low_ && left && *left < least + least / 10);
	}
	while (const auto told = gate_.ended(now))
		std::fprintf(
		    stderr,
		    "dfrd: '%s' triggered %llu times more within %lld s; one snapshot has to do for them\n",
		    shown(told->reason.text), static_cast<unsigned long long>(told->held_back),
		    static_cast<long long>(daemon_.options.every.count()));
	return any;
}

void Flight::begin_snapshot(const Attempt& attempt, const SnapshotSpan& span) {
	const TriggerGate::Admitted& trigger = attempt.trigger;
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		throw Error::from_errno("cannot take a snapshot");
	if (!attempt.rest.empty())
		::unlink(attempt.rest.c_str());
	SnapshotSpan asked = span;
	asked.trigger = trigger.time;
	std::string path; // that is nobody else's, because the file of a snapshot that failed is removed
	do
		path = trace::part_path(daemon_.options.output, ++number_);
	while (::access(path.c_str(), F_OK) == 0);
	FlightProcess child{.result = ends[0],
	                    .path = path,
	                    .reason = trigger.reason.text,
	                    .number = number_,
	                    .attempt = attempt};
	if (!attempt.remark.empty())
		child.reason += " (" + attempt.remark + ")";
	if (trigger.held_back)
		child.reason += " (" + std::to_string(trigger.held_back) + " more since the snapshot before)";
	const pid_t dfrd = ::getpid();
	child.process = ::fork();
	if (child.process == 0) {
		// The next dfrd takes the snapshots of one that died, and removes files in which nothing is.
		::prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (::getppid() != dfrd)
			::_exit(1);
		ignore_requests();
		// The state stays dfrd's, and with it the right to claim it when dfrd has died.
		::close(daemon_.session().device().fd());
		if (next_)
			::close(next_->device().fd());
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

// True: it is tried again. One of a reason is, so that a reason that triggers all the time does not fill the disk's time.
bool Flight::failed(Attempt attempt, bool once_more) {
	const auto now = std::chrono::steady_clock::now();
	if (attempt.failing == std::chrono::steady_clock::time_point{})
		attempt.failing = now;
	const bool waits = std::ranges::any_of(
	    again_, [&attempt](const Attempt& one) { return one.trigger.reason == attempt.trigger.reason; });
	const bool soon = once_more && now - attempt.failing < kTryMost;
	if ((soon || attempt.left_over) && !ending_ && !waits) {
		attempt.due = now + (soon ? kTryEvery : kTryMost);
		again_.push_back(std::move(attempt));
		return true;
	}
	daemon_.status.failed++;
	gate_.failed(attempt.trigger, now);
	return false;
}

// False: there is none to begin.
bool Flight::begin_next_snapshot() {
	const auto now = std::chrono::steady_clock::now();
	const auto due =
	    std::ranges::find_if(again_, [&](const Attempt& one) { return ending_ || one.due <= now; });
	Attempt next;
	if (due != again_.end()) {
		next = *due;
		again_.erase(due);
	} else if (const auto trigger = gate_.next(snapshots_under_way())) {
		next.trigger = *trigger;
	} else {
		return false;
	}
	try {
		begin_snapshot(next, next.left_over ? SnapshotSpan{} : daemon_.options.span);
	} catch (const Error& error) {
		const bool again = failed(next, true);
		std::fprintf(stderr, "dfrd: %s (%s)%s\n", shown(error.what()),
		             shown(next.trigger.reason.text), again ? "; it is tried again" : "");
	}
	return true;
}

void Flight::begin_snapshots() {
	bool begun = false;
	while (snapshots_under_way().size() < kSnapshotsAtOnce && begin_next_snapshot())
		begun = true;
	if (begun)
		tell();
}

// None that is being written or that a command works on, and none behind it. What a killed command had may go.
void Flight::remove_old_files() {
	const FlightProcess* oldest = nullptr;
	for (const FlightProcess& process : processes_)
		if (!process.killed && (!oldest || process.number < oldest->number))
			oldest = &process;
	daemon_.remove_old_files(oldest ? oldest->path : std::string());
}

// The process of a snapshot has ended.
void Flight::ended(const FlightProcess& snapshot, int status) {
	const std::string said = read_all(snapshot.result);
	::close(snapshot.result);
	const int result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (result != kComplete && result != kPartial) {
		// Not where its process was killed, as by a memory that is full, or all of it was written.
		const bool may_pass = !said.empty() && result != kUnreadable;
		const bool no_memory = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		if (snapshot.last)
			last_failed_ = may_pass ? ENOSPC : no_memory ? ENOMEM : EIO;
		Attempt attempt = snapshot.attempt;
		attempt.rest = result == kFailedAndStays ? snapshot.path : std::string();
		const bool again = failed(attempt, may_pass);
		std::fprintf(stderr, "dfrd: the snapshot %s (%s) failed: %s%s\n", shown(snapshot.path),
		             shown(snapshot.reason), said.empty() ? "its process was killed" : shown(said),
		             again ? "; it is tried again" : "");
		if (said.empty() && is_cut(snapshot.path) && is_empty(snapshot.path))
			::unlink(snapshot.path.c_str());
		else if (said.empty() || !attempt.rest.empty())
			say_if_cut(snapshot.path, "is");
		return;
	}
	stored(snapshot, said);
}

// Says so, and runs the command.
void Flight::stored(const FlightProcess& snapshot, const std::string& said) {
	std::fprintf(stderr, "dfrd: snapshot %s (%s): %s\n", shown(snapshot.path), shown(snapshot.reason),
	             shown(said));
	if (snapshot.attempt.left_over)
		daemon_.session().release_left_over();
	daemon_.status.snapshots++;
	daemon_.status.last = snapshot.path;
	daemon_.status.last_reason = snapshot.reason;
	daemon_.status.last_verdict = said;
	daemon_.status.last_time = std::time(nullptr);
	if (!daemon_.options.run.empty())
		begin_command(snapshot, said);
	remove_old_files();
}

void Flight::begin_command(const FlightProcess& snapshot, const std::string& verdict) {
	FlightProcess child{
	    .path = snapshot.path, .reason = snapshot.reason, .number = snapshot.number, .attempt = {}};
	child.process = ::fork();
	if (child.process < 0) {
		std::fprintf(stderr, "dfrd: cannot run '%s': %s\n", shown(daemon_.options.run),
		             std::strerror(errno));
		return;
	}
	if (child.process == 0) {
		::setpgid(0, 0); // so that all of it can be ended
		for (const int number : {SIGTERM, SIGINT, SIGPIPE})
			::signal(number, SIG_DFL);
		ignore_requests();
		::setenv("DFR_SNAPSHOT", snapshot.path.c_str(), 1);
		::setenv("DFR_REASON", snapshot.reason.c_str(), 1);
		::setenv("DFR_VERDICT", verdict.c_str(), 1);
		::setenv("DFR_STATE", daemon_.options.name.c_str(), 1);
		::unsetenv("NOTIFY_SOCKET");
		::execl("/bin/sh", "sh", "-c", daemon_.options.run.c_str(), nullptr);
		::_exit(127);
	}
	processes_.push_back(std::move(child));
}

void Flight::end_command(const FlightProcess& command, const char* why) {
	std::fprintf(stderr, "dfrd: '%s' is ended: %s\n", shown(daemon_.options.run), why);
	::kill(-command.process, SIGKILL);
}

// Takes note of the processes that have ended.
void Flight::reap() {
	for (size_t i = 0; i < processes_.size();) {
		const FlightProcess child = processes_[i];
		const bool snapshot = child.result >= 0;
		int status = 0;
		const pid_t found = ::waitpid(child.process, &status, WNOHANG);
		if (found == 0) {
			if (!snapshot && !child.killed &&
			    std::chrono::steady_clock::now() - child.began > kCommandMost) {
				end_command(child, "it ran for ten minutes");
				processes_[i].killed =
				    true; // one that sleeps for a disk ends when that answers
			}
			i++;
			continue;
		}
		if (found < 0)
			status = 1 << 8; // nobody knows how it ended
		processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(i));
		if (snapshot)
			ended(child, status);
		else if (status)
			std::fprintf(stderr, "dfrd: '%s' ended with status %d\n", shown(daemon_.options.run),
			             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		else
			continue;
		tell();
	}
}

void Flight::alive() {
	daemon_.manager.alive("in flight: " + std::to_string(daemon_.status.snapshots) + " snapshots" +
	                      (daemon_.status.last.empty() ? "" : ", the last is " + daemon_.status.last));
}

void Flight::tell() {
	daemon_.status.held_back = held_back_before_ + gate_.held_back();
	std::vector<SnapshotUnderWay>& under_way = daemon_.status.under_way;
	under_way.clear();
	const auto add = [&](const TriggerGate::Admitted& trigger, uint64_t number) {
		under_way.push_back({.number = number,
		                     .time = trigger.time,
		                     .held_back = trigger.held_back,
		                     .own = trigger.reason.own,
		                     .reason = trigger.reason.text});
	};
	for (const FlightProcess& child : processes_)
		// The end of a state has its snapshot anyhow, and so has what was not stored.
		if (child.result >= 0 && !child.last && !child.attempt.left_over)
			add(child.attempt.trigger, child.number);
	for (const Attempt& one : again_)
		if (!one.left_over)
			add(one.trigger, 0);
	for (const TriggerGate::Admitted& trigger : gate_.waiting())
		add(trigger, 0);
	waiting_told_ = gate_.waiting().size();
	daemon_.tell_status();
}

// Until all that has triggered has its snapshot, or until the end is asked for once more: a disk may never answer. Those that
// wait for what comes after their trigger end with what there is.
void Flight::finish_snapshots() {
	// timeout(1) asks twice at once.
	const auto once = std::chrono::steady_clock::now() + kEndMost;
	unsigned asked = std::max(1U, end_requests());
	daemon_.options.span.after = {};
	ending_ = true;
	for (const FlightProcess& child : processes_)
		if (child.result >= 0)
			::kill(child.process, SIGTERM);
	look_for_triggers();
	tell(); // who follows a dfrd that does not wait for all of them, or is killed, knows of them
	for (;;) {
		begin_snapshots();
		reap();
		const size_t left = snapshots_under_way().size();
		if (!left)
			return;
		if (std::chrono::steady_clock::now() < once)
			asked = std::max(asked, end_requests());
		else if (end_requests() > asked)
			throw Error("asked to end again: " + std::to_string(left) +
			                " snapshots are not whole, and the state is left as it is",
			            "the next dfrd takes them, of what is in memory yet");
		alive();
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
	}
}

// The last ones may run for a while yet.
void Flight::finish_commands() {
	const auto until = std::chrono::steady_clock::now() + kLastCommandMost;
	while (!processes_.empty() && std::chrono::steady_clock::now() < until) {
		reap();
		alive();
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
	}
	for (const FlightProcess& command : processes_)
		end_command(command, "dfrd ends");
}

// Of a state that ends: END fires, and then all that it has. False: that failed.
bool Flight::last_snapshot(const std::string& reason) {
	if (trace::end_is_to_come(daemon_.session().status()))
		daemon_.session().stop();
	begin_snapshot({.trigger = {.reason = {.text = reason, .own = true}, .time = now_ns()}}, {});
	processes_.back().last = true;
	finish_snapshots();
	return last_failed_ == 0;
}

// Other options for the same state: all that is under way goes on.
void Flight::take_up(Reload reload) {
	daemon_.go_on(std::move(reload));
	daemon_.options.output = output_name(daemon_.options);
	gate_.every(daemon_.options.every);
}

std::optional<Reload> Flight::fly() {
	DeviceSession& session = daemon_.session();
	auto due = std::chrono::steady_clock::now();
	while (!end_is_asked()) {
		ended_ = session.status();
		if (has_ended(ended_))
			break;
		const bool any = look_for_triggers();
		if (any || gate_.waiting().size() > waiting_told_)
			tell(); // who follows a dfrd that is killed now knows of them
		begin_snapshots();
		reap();
		if (held_back_before_ + gate_.held_back() != daemon_.status.held_back)
			tell(); // a dfrd that is killed cannot tell it in its log
		if (const auto now = std::chrono::steady_clock::now(); now >= due) {
			remove_old_files(); // the disk may get full by others
			tell();
			due = now + kTellEvery;
		}
		alive();
		// A program may trigger all the time, and is asked ten times a second then.
		if (any || !processes_.empty())
			session.wait(std::chrono::milliseconds(100), false, nullptr);
		else if (no_triggers_)
			session.wait(std::chrono::seconds(1), false, nullptr);
		else
			session.await_trigger(std::chrono::seconds(1));
		std::optional<Reload> reload;
		if (take_reload_request())
			reload = daemon_.reload();
		if (reload && (reload->next || reload->options.mode != DaemonMode::kFlight))
			return reload;
		if (reload)
			take_up(std::move(*reload));
	}
	return std::nullopt;
}

std::optional<Reload> Flight::run() {
	std::optional<Reload> reload = daemon_.interrupted();
	if (!reload)
		reload = fly();
	next_ = reload ? reload->next.get() : nullptr;
	finish_snapshots();
	const bool stop = daemon_.options.stop && !reload;
	bool stored = true;
	if (has_ended(ended_))
		stored =
		    last_snapshot(killed() ? "the kernel has killed the state" : "the program has ended");
	else if (next_)
		stored = last_snapshot("a reload ends this program");
	else if (stop)
		stored = last_snapshot("dfrd was asked to stop");
	finish_commands();
	tell();
	if (!stored) // of what, its process has said; who waits for room tries again
		throw Error("the last snapshot of " + daemon_.options.name +
		                " could not be written, so the state is left as it is",
		            "make room on the disk and start dfrd again, or drop it: dfr stop " +
		                daemon_.options.name,
		            last_failed_);
	if (has_ended(ended_) || next_ || stop)
		daemon_.session().end();
	return reload;
}

} // namespace dfr::recorder
