// SPDX-License-Identifier: GPL-2.0
//
// dfrd: the recorder's daemon. It holds one kept state of the kernel's engine and
// moves the state's records into .dfr files, or copies them there when something
// triggers it (flight.h), until SIGTERM or SIGINT or until the recorded program ends. Without --stop
// the state records on after dfrd has ended, so dfrd can be restarted without a gap. dfrd does not
// compile D: `dfr compile` does.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/daemon.h"
#include "recorder/device_target.h"
#include "recorder/drain.h"
#include "recorder/flight.h"
#include "recorder/live_symbols.h"
#include "recorder/recording_loop.h"

namespace {

using namespace dfr;

constexpr const char* kUsage =
    R"(usage: dfrd [--name NAME] [--program FILE.dof] [--output FILE.dfr] [options]

Keeps a recording, until SIGTERM or Ctrl-C, in one of two modes:
  stream   moves what a kept state of the kernel records into files
  flight   leaves it in the kernel's memory, and copies the seconds before (and after)
           something happens into a file of its own: a snapshot
Nothing that was recorded is lost when it stops: what is not on the disk yet is still
in the kernel's memory; a crash dump has it. SIGHUP reads the options' file and the
program again, without a gap.

  --name NAME        the state to claim, or to create with --program
                     (default: anonymous, what the module recorded since boot)
  --program FILE     a compiled program, to start if there is no state NAME yet;
                     it may take 1 % of each CPU, or what it says (-x cpubudget)
  --output FILE      where to record (default: /var/lib/dfr/NAME-TIME.dfr); if it
                     exists, the time is added to its name: a recording is never
                     overwritten, so dfrd can be restarted with the same options
  --rotate WHEN      go on in a next file after a size (256k or more, 64m, 1g) or a time
                     (30s, 10min, 1h, 1d): NAME-0001.dfr, NAME-0002.dfr ... Each can be
                     read alone, all together as one recording. Numbers go on after a
                     restart. A file is larger or older than that if its catalog, which
                     each repeats, would be more than 1 % of it, or by what the rings hold
  --retain BOUND     of the parts, or snapshots, keep this much: a number of parts (20), a size (1g) or an
                     age (7d); may be given several times, then each bound holds. The
                     oldest parts are removed, and each is named on stderr
  --free SIZE        remove the oldest parts, too, if the disk has less than this left (1g)
  --checkpoint N     write everything to the disk each N seconds (default: 10)
  --config FILE      options for several daemons, in a file
  --mode MODE        stream (default) or flight
  --last TIME        flight: what a snapshot has of the time before its trigger: 30s, 10min,
                     or all that is in memory (default)
  --after TIME       flight: and of the time after it (default: 0)
  --every TIME       flight: one reason has one snapshot in that time, which says how many
                     triggers had none (default: 60)
  --low-disk SIZE    flight: take one when the disk of the output has less left than this
  --run COMMAND      flight: a command for the shell after each snapshot; DFR_SNAPSHOT is the
                     file, DFR_REASON why it was taken, DFR_VERDICT what it holds, DFR_STATE the name.
                     It has ten minutes, and where dfrd or the program ends half a minute after the
                     last snapshot
  --check            start nothing: look at the options, run the program for a second, and say how
                     many bytes a second it records, how many seconds the memory holds, what it costs
  --stop             end the state too when this ends; else it records on
  --help             this text

In mode flight these trigger a snapshot: the program's action snapshot("reason"), an oops
of the kernel, SIGUSR1, the end of the program. Its files are named and removed as
parts are: NAME-0001.dfr, --retain, --free.
A file of options (--config) has them without dashes, "retain 2g", for all daemons, and
for the state NAME behind a line [NAME]. What is on the command line replaces it. The
services dfrd@NAME read /etc/dfr/dfrd.conf.

status: 0, also when the recorded program has ended; 1: it could not record on, the
kernel has killed the state, or the options' file cannot be read; 2: the command line
or that file is wrong. A state that has ended is removed once its records
are on the disk, so that the next start begins anew.

examples:
  dfrd                               persist what was recorded since boot
  dfr compile -o flight.dof flight.d
  dfrd --name flight --program flight.dof --output /srv/flight.dfr
  dfrd --name flight --program flight.dof --output /srv/flight.dfr --rotate 64m
  dfrd --name flight --program flight.dof --rotate 64m --retain 2g --retain 7d --free 1g
  dfrd --name flight --program flight.dof --mode flight --last 60s --after 5s --retain 20
  dfrd --check --name flight --program flight.dof --mode flight
  kill -USR1 $(pidof dfrd)           a snapshot, now
  dfr status                         what it has, what it costs, its last snapshot
  dfr replay /srv/flight*.dfr        ask it, also while it is being written
  dfr snapshot --name flight         what is only in memory yet
  systemctl enable --now dfrd@flight the same as a service, of /etc/dfr/flight.d
)";

// Mode stream: each pass moves new blocks into the file, and every so many seconds a checkpoint
// writes the file to the disk.
class Stream final : public recorder::RecordingLoop {
public:
	Stream(recorder::Daemon& daemon, recorder::Drain& drain, trace::PartsWriter& parts)
	    : daemon_(daemon), session_(daemon.session()), drain_(drain), parts_(parts),
	      reload_(daemon.interrupted()),
	      next_(std::chrono::steady_clock::now() + daemon.options.checkpoint) {}

	// How the state was when this mode ended; for the last message, and for dfrd's status.
	const char* state() const {
		if (status_.activity == DFR_KILLED)
			return "the kernel had killed the state, so nothing was recorded since "
			       "(dfr info says when)";
		if (recorder::has_ended(status_))
			return "the recorded program has ended";
		return ends() ? "the state was stopped" : "the state records on";
	}
	bool killed() const { return status_.activity == DFR_KILLED; }
	std::optional<recorder::Reload> reload() { return std::move(reload_); }

private:
	bool sleep() override {
		if (!reload_ && recorder::take_reload_request())
			reload_ = daemon_.reload();
		if (recorder::take_snapshot_requests())
			std::fprintf(stderr, "dfrd: mode stream takes no snapshots: dfr snapshot does\n");
		if (reload_ || recorder::end_is_asked())
			return false;
		const auto rest = next_ - std::chrono::steady_clock::now();
		if (!moved_ && rest.count() > 0)
			session_.wait(std::min<std::chrono::nanoseconds>(rest, std::chrono::seconds(1)), true,
			              nullptr);
		return !recorder::end_is_asked();
	}

	bool pass() override {
		moved_ = drain_.pump();
		if (const auto now = std::chrono::steady_clock::now(); now >= next_) {
			drain_.checkpoint();
			next_ = now + daemon_.options.checkpoint;
			look_at_files();
		}
		if (parts_.paths().size() != parts_seen_)
			look_at_files();
		daemon_.manager.alive("recording " + daemon_.options.name + " to " + parts_.paths().back() +
		                      ", " + std::to_string(drain_.records()) + " records");
		return !recorder::has_ended(session_.status());
	}

	void look_at_files() {
		parts_seen_ = parts_.paths().size();
		// A start that fails pushes nothing out.
		daemon_.remove_old_files(parts_.paths().back(), parts_.file().chunk_bytes() != 0);
		daemon_.tell_status();
	}

	// The state ends with this, because that was asked or because a new program follows it.
	bool ends() const { return reload_ ? reload_->next != nullptr : daemon_.options.stop; }

	void finish() override {
		if (!reload_)
			daemon_.manager.stopping("writing what is left");
		status_ = session_.status();
		if ((ends() || status_.exited) && trace::end_is_to_come(status_))
			session_.stop(); // END fires
		drain_.finish();
		if (ends() || recorder::has_ended(status_))
			session_.end();
	}

	void salvage(const Error& why) override { drain_.give_up(why.what()); }

	recorder::Daemon& daemon_;
	recorder::DeviceSession& session_;
	recorder::Drain& drain_;
	trace::PartsWriter& parts_;
	std::optional<recorder::Reload> reload_;
	std::chrono::steady_clock::time_point next_; // checkpoint
	dfr_ioc_status status_{};
	size_t parts_seen_ = 0;
	uint64_t moved_ = 1; // blocks in the last pass; 1 at first, so that the first pass does not wait
};

// After an error: all that would have been in the part is in memory yet, and starts that fail one after the other
// shall not push out what --retain keeps.
void remove_if_empty(const recorder::Daemon& daemon, const std::string& part) {
	if (daemon.options.rotate && recorder::is_empty(part) && ::unlink(part.c_str()) == 0)
		std::fprintf(stderr, "dfrd: removed %s: nothing is in it\n", shown(part));
}

// How a mode ended.
struct Outcome {
	std::optional<recorder::Reload> reload;
	bool killed = false;
};

Outcome stream(recorder::Daemon& daemon) {
	recorder::DeviceSession& session = daemon.session();
	const recorder::DaemonOptions& options = daemon.options;
	daemon.status.under_way.clear(); // all that there was before those triggers is stored now
	trace::PartsWriter parts(options.output, [&]() -> const trace::Catalog& { return session.catalog(); },
	                         {.rotation = options.rotate, .old = trace::PartsWriter::OldParts::kKeep});
	recorder::LiveSymbols symbols(recorder::processes_have_our_numbers());
	recorder::NameCollector names(symbols);
	recorder::DeviceTarget machine(session.device());
	recorder::TypeCollector types(machine);
	recorder::Drain drain(session, parts, names, types);
	session.hold();
	std::fprintf(stderr, "dfrd: recording %s to %s%s\n", shown(options.name),
	             shown(parts.paths().front()), options.rotate ? ", and to more files after it" : "");
	daemon.manager.ready("recording " + options.name + " to " + parts.paths().front());
	Stream loop(daemon, drain, parts);
	try {
		loop.record();
	} catch (const Error&) {
		remove_if_empty(daemon, parts.paths().back());
		throw;
	}
	const std::string last = parts.paths().size() > 1 ? " to " + parts.paths().back() : "";
	std::fprintf(stderr, "dfrd: %llu records in %llu blocks, %llu bytes in %s%s; %s\n",
	             static_cast<unsigned long long>(drain.records()),
	             static_cast<unsigned long long>(drain.blocks()),
	             static_cast<unsigned long long>(parts.size()), shown(parts.paths().front()), shown(last),
	             loop.state());
	return {.reload = loop.reload(), .killed = loop.killed()};
}

Outcome fly(recorder::Daemon& daemon) {
	recorder::Flight flight(daemon);
	std::fprintf(stderr, "dfrd: %s is in flight: snapshots go to %s\n", shown(daemon.options.name),
	             shown(trace::parts_pattern(daemon.options.output)));
	daemon.manager.ready(daemon.options.name + " is in flight");
	std::optional<recorder::Reload> reload = flight.run();
	if (!reload)
		std::fprintf(stderr, "dfrd: %llu snapshots, %llu failed, %llu triggers without one; %s\n",
		             static_cast<unsigned long long>(daemon.status.snapshots),
		             static_cast<unsigned long long>(daemon.status.failed),
		             static_cast<unsigned long long>(daemon.status.held_back), flight.state());
	return {.reload = std::move(reload), .killed = flight.killed()};
}

int check(recorder::Daemon& daemon) {
	for (const std::string& line : recorder::trial_lines(daemon.check()))
		std::printf("  %s\n", shown(line));
	return 0;
}

constexpr std::chrono::seconds kRoomEvery{30};

// The disk is full or read-only, or memory is short: that passes.
bool lacks_room(const Error& why) {
	return why.code() == ENOSPC || why.code() == EDQUOT || why.code() == EROFS || why.code() == ENOMEM;
}

// False: it cannot be waited for, or the end was asked.
bool wait_for_room(recorder::Daemon& daemon, const Error& why) {
	if (!lacks_room(why) || !daemon.manager.is_there() || recorder::end_is_asked())
		return false;
	const std::string status =
	    "what " + daemon.options.name + " has recorded stays in memory: " + why.what();
	recorder::say(why);
	std::fprintf(stderr,
	             "dfrd: what %s has recorded stays in the kernel's memory; this tries again in %lld s\n",
	             shown(daemon.options.name), static_cast<long long>(kRoomEvery.count()));
	daemon.manager.ready(status);
	const auto until = std::chrono::steady_clock::now() + kRoomEvery;
	while (!recorder::end_is_asked() && !recorder::take_reload_request() &&
	       std::chrono::steady_clock::now() < until) {
		daemon.manager.alive(status);
		std::this_thread::sleep_for(std::chrono::milliseconds(200));
	}
	return !recorder::end_is_asked();
}

// True: somebody has removed the file. What was not stored is in memory yet, and goes into a next one.
bool was_removed(const Error& why) {
	if (why.code() != ESTALE)
		return false;
	recorder::say(why);
	std::fprintf(stderr, "dfrd: it goes on in a next file\n");
	std::this_thread::sleep_for(std::chrono::seconds(1)); // if that cannot be written either
	return true;
}

// As a service dfrd does not end because a disk is full: systemd gives a service up that ends again and again, and
// nobody would start it when there is room.
Outcome record(recorder::Daemon& daemon) {
	bool again = false;
	for (bool last = false;; last = recorder::end_is_asked()) {
		const std::string output = daemon.options.output;
		try {
			if (again) {
				daemon.read_options_again();
				daemon.start();
			}
			daemon.options.output = recorder::output_name(daemon.options);
			daemon.remove_empty_files();
			daemon.remove_old_files({}); // a disk that is full has room afterwards
			return daemon.options.mode == recorder::DaemonMode::kFlight ? fly(daemon)
			                                                            : stream(daemon);
		} catch (const Error& error) {
			if (last || (!was_removed(error) && !wait_for_room(daemon, error)))
				throw;
		}
		daemon.options.output = output;
		again = true;
	}
}

int run(recorder::Daemon& daemon) {
	if (daemon.options.check)
		return check(daemon);
	daemon.start();
	for (;;) {
		Outcome outcome = record(daemon);
		if (!outcome.reload)
			return outcome.killed ? 1 : 0;
		daemon.go_on(std::move(*outcome.reload));
	}
}

} // namespace

int main(int argc, char** argv) {
	std::optional<recorder::Daemon> daemon;
	try {
		daemon.emplace(std::vector<std::string>(argv + 1, argv + argc));
	} catch (const std::exception& error) {
		recorder::say(error);
		// A file that cannot be read may be there at the next try, and so may memory.
		const auto* const told = dynamic_cast<const Error*>(&error);
		return told && !told->code() ? 2 : 1;
	}
	if (daemon->options.help) {
		std::fputs(kUsage, stdout);
		return 0;
	}
	recorder::catch_daemon_signals();
	try {
		return run(*daemon);
	} catch (const std::exception& error) {
		recorder::say(error);
		return 1;
	}
}
