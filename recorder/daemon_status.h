// SPDX-License-Identifier: GPL-2.0
//
// What dfrd tells `dfr status`: a small file of lines "key value" in /run/dfr, written anew when something changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dfr::recorder {

// A snapshot that is being taken, or whose trigger waits for its turn.
struct SnapshotUnderWay {
	uint64_t number = 0;    // of its file; 0: it has none yet
	uint64_t time = 0;      // of the trigger
	uint64_t held_back = 0; // triggers before it that had none
	bool own = false;       // TriggerReason
	std::string reason;
};

// How often a reason had triggered when a dfrd asked the kernel for triggers.
struct AskedTriggers {
	uint64_t count = 0;
	bool oops = false; // Trigger
	std::string reason;
};

struct DaemonStatus {
	std::string mode; // "stream", "flight"
	int64_t pid = 0;
	uint64_t state = 0; // its id in the kernel
	std::string
	    program; // of what the state was started with, by which a reload knows a new one; empty: not known
	std::string output;            // a pattern for a shell, where there are several files
	uint64_t files = 0, bytes = 0; // that there are
	uint64_t free = 0;             // bytes on their disk
	uint64_t snapshots = 0, failed = 0, held_back = 0;
	std::string last, last_reason, last_verdict; // the last snapshot
	int64_t last_time = 0;                       // seconds since the epoch
	std::vector<SnapshotUnderWay> under_way;     // for the dfrd that follows one that was killed
	// Likewise: what of the kernel's triggers is in this. `asked`: when that was (the records' clock); 0: nobody has.
	uint64_t asked = 0;
	std::vector<AskedTriggers> triggers;
};

// "/run/dfr/flight.status"
std::string daemon_status_path(const std::string& state);
// An error is nobody's business: the daemon's work does not depend on it.
void write_daemon_status(const std::string& path, const DaemonStatus& status);
std::optional<DaemonStatus> read_daemon_status(const std::string& path);

} // namespace dfr::recorder
