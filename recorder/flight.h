// SPDX-License-Identifier: GPL-2.0
//
// Mode flight: the records stay in the kernel's memory, and something that happens (a trigger) makes dfrd copy the
// seconds before it, and some after it, into a file of its own.
//
// Each snapshot is taken by a process of its own, so that one that waits for what comes after its trigger, or for a slow
// disk, keeps no other trigger waiting; so does the command that runs after it.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <sys/types.h>
#include <vector>

#include "recorder/daemon.h"
#include "recorder/trigger_gate.h"

namespace dfr::recorder {

class Flight {
public:
	explicit Flight(Daemon& daemon);
	~Flight(); // what runs yet, after an error, ends as if this dfrd had died: the next Flight takes those snapshots again
	Flight(const Flight&) = delete;
	Flight& operator=(const Flight&) = delete;
	// Until it is asked to end (nullopt then), another state or mode follows, or the state has ended.
	std::optional<Reload> run();
	// For the last message, and for the exit status.
	const char* state() const;
	bool killed() const { return ended_.activity == DFR_KILLED; }

private:
	// To take a snapshot.
	struct Attempt {
		bool left_over = false; // of all, because there is what a dfrd in mode stream did not store
		TriggerGate::Admitted trigger; // that it is for
		std::string remark;            // for the file's reason
		std::string rest;              // the file of the try before, which could not be removed then
		std::chrono::steady_clock::time_point failing{}; // since then; none: it did not fail before
		std::chrono::steady_clock::time_point due{};     // not before
	};
	struct FlightProcess {
		pid_t process = 0;
		int result = -1; // where a snapshot writes what became of it; -1: it is a command
		std::string path, reason;
		uint64_t number = 0; // of the snapshot's file
		Attempt attempt;     // of a snapshot
		bool last = false;   // of a state that ends
		bool killed = false; // a command that did not end
		std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
	};
	bool look_for_triggers();
	bool look_for_kernel_triggers();
	void begin_snapshots();
	void begin_snapshot(const Attempt& attempt, const SnapshotSpan& span);
	bool begin_next_snapshot();
	void take_over(const std::vector<SnapshotUnderWay>& before);
	void take_over_triggers();
	void take_left_over();
	bool failed(Attempt attempt, bool once_more);
	bool last_snapshot(const std::string& reason);
	void begin_command(const FlightProcess& snapshot, const std::string& verdict);
	void end_command(const FlightProcess& command, const char* why);
	void finish_snapshots();
	void finish_commands();
	void take_up(Reload reload);
	std::optional<Reload> fly();
	void reap();
	void alive();
	void tell();
	void ended(const FlightProcess& snapshot, int status);
	void stored(const FlightProcess& snapshot, const std::string& said);
	void remove_old_files();
	std::vector<TriggerReason> snapshots_under_way() const;

	Daemon& daemon_;
	TriggerGate gate_;
	std::vector<FlightProcess> processes_;
	std::deque<Attempt> again_; // whose snapshots failed, or a dfrd before this one was killed over
	uint64_t number_ = 0;       // of the last file
	uint64_t held_back_before_; // by dfrds before this one
	size_t waiting_told_ = 0;   // triggers that wait, in the status
	bool ending_ = false;       // what fails now is not tried again
	int last_failed_ = 0;       // the snapshot of a state that ends: an errno value
	const DeviceSession* next_ = nullptr; // the state of a new program, while the old one ends
	bool disk_was_low_ = false, no_triggers_ = false;
	dfr_ioc_status ended_{};
};

} // namespace dfr::recorder
