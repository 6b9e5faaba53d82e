// SPDX-License-Identifier: GPL-2.0
//
// What dfrd's two modes share: the signals that ask something of it, its state in the kernel, and what a reload brings.
// Mode stream moves all records into files (dfrd.cc), mode flight leaves them in the kernel's memory until
// something triggers a snapshot (flight.h).
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/error.h"
#include "recorder/daemon_options.h"
#include "recorder/daemon_status.h"
#include "recorder/device_session.h"
#include "recorder/notify.h"
#include "recorder/trial.h"

namespace dfr::recorder {

// SIGTERM and SIGINT: end; SIGHUP: reload; SIGUSR1: take a snapshot.
void catch_daemon_signals();
bool end_is_asked();
unsigned end_requests(); // so many so far
bool take_reload_request();
unsigned take_snapshot_requests();

bool has_ended(const dfr_ioc_status& status);
void say(const std::exception& error); // on stderr

// What dfrd goes on with after a reload.
struct Reload {
	DaemonOptions options;
	// The state of a new program, which records already; the old one ends once it is stored. Null: the program is the same.
	std::unique_ptr<DeviceSession> next;
	std::string program; // of `next`, as in DaemonStatus
};

class Daemon {
public:
	explicit Daemon(std::vector<std::string> arguments);

	DaemonOptions options;
	ServiceManager manager;
	DaemonStatus status;

	DeviceSession& session() { return *session_; }
	// Claims the state, or starts it. What was claimed before goes back first, with the blocks that were not stored.
	void start();
	// Reads options and program again. nullopt: they are wrong, which was said; all goes on as it was.
	std::optional<Reload> reload();
	// There is a reload already: dfrd was killed in the middle of one.
	std::optional<Reload> interrupted() { return std::exchange(interrupted_, {}); }
	// The options alone, before another try; wrong ones are said, and change nothing.
	void read_options_again();
	// The old state has ended.
	void go_on(Reload reload);
	// Removes what options.retain does not keep. `current`: the file that is being written; empty: none. `holds`: something
	// is in it.
	void remove_old_files(const std::string& current, bool holds = true);
	// Removes files in which nothing is, by starts that failed. None may be being written.
	void remove_empty_files();
	void tell_status(); // for `dfr status`
	// Runs the program for a moment, beside a state that may be there already.
	Trial check();

private:
	struct Loaded {
		std::unique_ptr<DeviceSession> session;
		uint32_t matched = 0; // probes
	};
	static Loaded load(std::span<const std::byte> program, DaemonMode mode);
	std::unique_ptr<DeviceSession> begin(const std::string& name, std::span<const std::byte> program,
	                                     const DaemonOptions& with);
	std::vector<std::byte> program() const;
	bool has_program() const;
	void say_removed(const std::vector<RemovedPart>& removed);
	std::optional<std::chrono::seconds> own_age(const std::string& path);

	const std::vector<std::string> arguments_;
	std::unique_ptr<DeviceSession> session_;
	std::optional<Reload> interrupted_;
	PartAges ages_;
	std::set<std::pair<std::string, int>> cannot_remove_; // told, once
};

// The pattern or the name of what the daemon writes; files are numbered where there are several.
std::string output_name(const DaemonOptions& options);

} // namespace dfr::recorder
