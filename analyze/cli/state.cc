// SPDX-License-Identifier: GPL-2.0
//
// `dfr` alone: the state of this machine, recordings that are here, and the next
// three commands.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "analyze/cli/dfr.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/device.h"
#include "recorder/unmet.h"

namespace dfr::cli {
namespace {

constexpr const char* kStore = "/var/lib/dfr";

void print_recordings(const std::vector<std::string>& found) {
	if (found.empty()) {
		std::printf("recordings  none here\n");
		return;
	}
	for (const std::string& path : found) {
		struct stat about {};
		::stat(path.c_str(), &about);
		std::printf("%-11s %s (%s bytes)\n", path == found[0] ? "recordings" : "", shown(path),
		            shown(trace::grouped(static_cast<uint64_t>(about.st_size))));
	}
}

// "held by dfrd (process 4711)"
std::string holder_text(const recorder::StateLine& state) {
	if (state.holder == "unclaimed")
		return "held by nobody (dfr record --claim " + state.name + " takes it over)";
	if (state.holder == "0")
		return "held by a process outside of this container";
	std::ifstream comm("/proc/" + state.holder + "/comm");
	std::string name;
	std::getline(comm, name);
	return "held by " +
	       (name.empty() ? "process " + state.holder : name + " (process " + state.holder + ")");
}

void print_module(const recorder::DeviceAccess& access) {
	if (!access.loaded || !access.permitted) {
		std::printf("%-11s %s\n", "module", shown(access.why));
		if (!access.hint.empty())
			std::printf("%-11s %s\n", "", shown(access.hint));
		return;
	}
	try {
		const recorder::Device device;
		const dfr_ioc_info info = device.info();
		std::printf("%-11s loaded: %s probes, %u states, %s%s\n", "module",
		            shown(trace::grouped(info.probes)), info.states,
		            info.flags & DFR_INFO_JIT ? "native code" : "interpreter",
		            info.flags & DFR_INFO_ANONYMOUS ? ", an anonymous state of the boot" : "");
		for (const auto& state : device.states())
			std::printf("%-11s %s: %s, %s\n", "state", shown(state.name), shown(state.activity),
			            shown(holder_text(state)));
	} catch (const Error& error) {
		std::printf("%-11s loaded, but: %s\n", "module", shown(error.what()));
	}
}

void print_unmet() {
	for (const recorder::Unmet& one : recorder::unmet())
		std::printf("%-11s %s: %s\n", "off", shown(one.off), shown(one.why));
}

// Functions that somebody else traces as well (ftrace's own list: name, users in parentheses):
// there each call takes the kernel's slower way through all of them.
void print_shared_functions() {
	std::ifstream list("/sys/kernel/tracing/enabled_functions");
	std::string line, names;
	size_t count = 0;
	while (std::getline(list, line)) {
		const size_t users = line.find(" (");
		if (users == std::string::npos || std::strtoul(line.c_str() + users + 2, nullptr, 10) < 2)
			continue;
		if (count++ < 3)
			names += (names.empty() ? "" : ", ") + line.substr(0, users);
	}
	if (count)
		std::printf("%-11s %s functions are traced by others as well, where probes cost more: %s%s\n",
		            "shared", shown(trace::grouped(count)), shown(names), count > 3 ? ", ..." : "");
}

} // namespace

int print_state() {
	const auto access = recorder::device_access();
	print_module(access);
	print_unmet();
	print_shared_functions();
	std::vector<std::string> found;
	for (const char* const folder : {".", kStore})
		if (::access(folder, R_OK | X_OK) == 0)
			for (const std::string& path : trace::recordings_in(folder))
				found.push_back(path.starts_with("./") ? path.substr(2) : path);
	print_recordings(found);
	std::printf("next\n");
	std::printf("  dfr demo%*sthree questions to a recording that comes with dfr\n", 34, "");
	if (!found.empty())
		std::printf("  dfr info %-33swhat it holds and what to ask it\n", shown(found[0]));
	else if (access.loaded && access.permitted)
		std::printf("  dfr record -o ls.dfr -- ls -l             record a command's system calls\n");
	else
		std::printf("  dfr trace -n 'tick-1s { exit(0); }'       run D in this process; needs no "
		            "privilege\n");
	std::printf("  dfr --help                                all commands\n");
	return 0;
}

} // namespace dfr::cli
