// SPDX-License-Identifier: GPL-2.0
//
// What dfrd shall do: its command line, and with --config a file for several daemons, which has the same options
// without "--": those before the first [NAME] are for all, those behind it for the state NAME. What a section says
// replaces what stands before it, and the command line replaces both. The services read /etc/dfr/dfrd.conf.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/trace/parts.h"
#include "recorder/retention.h"
#include "recorder/snapshot.h"

namespace dfr::recorder {

enum class DaemonMode { kStream, kFlight };

struct DaemonOptions {
	std::string name = DFR_ANONYMOUS_NAME, program, output, config;
	DaemonMode mode = DaemonMode::kStream;
	bool stop = false, help = false, check = false;
	std::chrono::seconds checkpoint{10};
	trace::Rotation rotate;
	Retention retain;
	// Of mode flight: what a snapshot holds, how often one reason may have one, and what triggers one or follows it.
	SnapshotSpan span;
	std::chrono::seconds every{60};
	uint64_t low_disk = 0;            // bytes; 0: is not looked at
	std::string run;                  // a command for the shell
	std::vector<std::string> remarks; // what is wrong in the file and is another state's
};

// Of the state that a reload begins; a name has room for it.
inline constexpr std::string_view kNextSuffix = ".next";

// `arguments`: without the program's name. Throws dfr::Error; with a code if the file cannot be read, which may pass.
DaemonOptions read_daemon_options(const std::vector<std::string>& arguments);

} // namespace dfr::recorder
