// SPDX-License-Identifier: GPL-2.0
//
// What a boot's recording says, on one time axis from the kernel's entry: phases, processes, modules. Made from the
// lines that boot_questions() print in a replay of what the default boot program records (formats/d/lib/boot).
// Times are nanoseconds since the kernel's entry.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/d/target.h"

namespace dfr::lib {

// A clause, for a recording that has these probes. Lines: "create TIME PARENT CHILD", "exec TIME PID PARENT NAME",
// "path TIME PID PATH", "exit TIME PID REASON NAME", "module TIME PID NAME", and at the end of a thread "cpu TIME PID NS",
// "bytes TIME PID READ WRITTEN"; names as %S prints them.
struct BootQuestion {
	d::ProbePattern probes;
	const char* clause;
	bool optional = false; // a recording with the probes may lack what the clause reads
};
const std::vector<BootQuestion>& boot_questions();

inline constexpr uint32_t kFirstPid = 1; // of the first process

struct BootProcess {
	uint32_t pid = 0, parent = 0;
	uint64_t start = 0,
	         end = 0; // of the process, not of its last exec; end: of the recording, if it did not exit
	bool exited = false, killed = false;
	std::string name, path; // of its last exec; before one, of its parent
	// Of all threads of one that ended: time on a CPU, bytes read from storage and written to it. None: not recorded.
	std::optional<uint64_t> cpu, read, written;
	size_t root = 0; // index of the child of the first process that it comes from
};

// What the first process started, with all that came from it.
struct BootService {
	std::string name;
	uint64_t from = 0, to = 0; // to: of the last of its processes; of the recording, if one goes on
	size_t processes = 0;
	bool goes_on = false; // one of them had not ended
	size_t root = 0;      // index of its first process
};

struct BootPhase {
	std::string name;
	uint64_t from = 0, to = 0;
};

struct BootModule {
	std::string name, by;
	uint64_t time = 0;
};

struct BootTimeline {
	uint64_t begin = 0, end = 0;        // of the recording
	std::optional<uint64_t> login;      // the first program that asks for a login was executed
	std::vector<BootPhase> phases;      // without a gap, from 0
	std::vector<BootProcess> processes; // in order of their start; the first process is not among them
	std::vector<BootModule> modules;
	uint64_t forks = 0, execs = 0;
};

// Throws dfr::Error: a line is none of these.
BootTimeline boot_timeline(const std::string& lines);

// What a process is called: the path of its program, else its name.
const std::string& boot_title(const BootProcess& process);
// Whether it does not come from the first process: a thread of the kernel, a helper that it started, or what these started.
bool of_the_kernel(const BootTimeline& boot, const BootProcess& process);
// In order of their start; without what the kernel started.
std::vector<BootService> boot_services(const BootTimeline& boot);

} // namespace dfr::lib
