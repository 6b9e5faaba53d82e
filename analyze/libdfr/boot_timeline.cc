// SPDX-License-Identifier: GPL-2.0
//
// See boot_timeline.h.
#include "analyze/libdfr/boot_timeline.h"

#include <algorithm>
#include <sstream>

#include "formats/error.h"

namespace dfr::lib {

const std::vector<BootQuestion>& boot_questions() {
	static const std::vector<BootQuestion> all = {
	    {{.provider = "proc", .name = "create"},
	     "proc:::create { printf(\"create %d %d %d\\n\", timestamp, pid, args[0]->pr_pid); }\n"},
	    {{.provider = "proc", .name = "exec-success"},
	     "proc:::exec-success { printf(\"exec %d %d %d %s\\n\", timestamp, pid, curpsinfo->pr_ppid, "
	     "execname); }\n"},
	    {{.provider = "sdt", .name = "sched_process_exec"},
	     "sdt:::sched_process_exec { printf(\"path %d %d %s\\n\", timestamp, pid, "
	     "stringof(args[2]->filename)); }\n"},
	    {{.provider = "proc", .name = "exit"},
	     "proc:::exit { printf(\"exit %d %d %d %s\\n\", timestamp, pid, args[0], execname); }\n"},
	    {{.provider = "sdt", .name = "module_load"},
	     "sdt:::module_load { printf(\"module %d %d %s\\n\", timestamp, pid, stringof(args[0]->name)); "
	     "}\n"},
	};
	return all;
}

namespace {

constexpr uint32_t kFirst = 1;         // the first process
constexpr uint32_t kKernelThreads = 2; // who makes the kernel's threads
constexpr int kExited = 1;             // of proc:::exit: it ended by itself

// Programs after which a person can log in.
bool asks_for_login(const std::string& name) {
	for (const char* const one : {"agetty", "getty", "login", "gdm3", "lightdm", "sddm", "sulogin"})
		if (name == one)
			return true;
	return false;
}

class TimelineReader {
public:
	void line(const std::string& text);
	BootTimeline finish();

private:
	BootProcess& process(uint32_t pid, uint64_t time);
	void exec(uint64_t time, uint32_t pid, uint32_t parent, const std::string& name);
	void path(uint64_t time, uint32_t pid, const std::string& path);
	void phase(const std::string& name, uint64_t from);

	BootTimeline out_;
	std::map<uint32_t, size_t> alive_; // indices of out_.processes
	std::string first_name_ = "init";  // of the first process
	std::string first_path_;
};

// One that was there before the recording, or of which the beginning is not known, began with it.
BootProcess& TimelineReader::process(uint32_t pid, uint64_t time) {
	const auto [at, added] = alive_.try_emplace(pid, out_.processes.size());
	if (added)
		out_.processes.push_back({.pid = pid, .start = time});
	return out_.processes[at->second];
}

void TimelineReader::phase(const std::string& name, uint64_t from) {
	if (!out_.phases.empty())
		out_.phases.back().to = from;
	out_.phases.push_back({name, from, from});
}

void TimelineReader::exec(uint64_t time, uint32_t pid, uint32_t parent, const std::string& name) {
	out_.execs++;
	if (!out_.login && asks_for_login(name)) {
		out_.login = time;
		phase("after the login prompt", time);
	}
	if (pid == kFirst) {
		// Of an initramfs /init comes first; what the first process is then is the real root's.
		if (name != "run-init" && name != "switch_root")
			phase(out_.phases.size() == 1 ? "first process" : "real root", time);
		first_name_ = name;
		return;
	}
	BootProcess& one = process(pid, time);
	one.name = name;
	one.parent = parent;
}

void TimelineReader::path(uint64_t time, uint32_t pid, const std::string& path) {
	if (pid == kFirst) {
		first_path_ = path;
		return;
	}
	process(pid, time).path = path;
}

void TimelineReader::line(const std::string& text) {
	std::istringstream stream(text);
	std::string kind, rest;
	uint64_t time = 0, pid = 0, other = 0;
	stream >> kind >> time >> pid;
	if (kind == "create" || kind == "exec" || kind == "exit")
		stream >> other;
	if (!stream)
		throw Error("the recording's answer has a line that is none: " + text);
	std::getline(stream >> std::ws, rest);
	if (out_.phases.empty()) {
		out_.begin = time;
		phase("kernel, before the trace", 0);
	}
	out_.end = std::max(out_.end, time);
	const auto id = static_cast<uint32_t>(pid), second = static_cast<uint32_t>(other);
	if (kind == "create") {
		out_.forks++;
		std::string name = first_name_;
		if (id != kFirst && alive_.contains(id))
			name = process(id, time).name;
		alive_.erase(second);
		BootProcess& child = process(second, time);
		child.parent = id;
		child.name = name;
	} else if (kind == "exec") {
		exec(time, id, second, rest);
	} else if (kind == "path") {
		path(time, id, rest);
	} else if (kind == "exit" && id != kFirst) {
		BootProcess& one = process(id, time);
		one.end = time;
		one.exited = true;
		one.killed = static_cast<int>(other) != kExited;
		if (one.path.empty() && !rest.empty())
			one.name = rest; // a thread of the kernel, or a process that executed nothing
		alive_.erase(id);
	} else if (kind == "module") {
		const auto at = alive_.find(id);
		out_.modules.push_back(
		    {rest, at == alive_.end() ? first_name_ : out_.processes[at->second].name, time});
	}
}

BootTimeline TimelineReader::finish() {
	if (!out_.phases.empty())
		out_.phases.back().to = out_.end;
	const auto root = std::ranges::find(out_.phases, "real root", &BootPhase::name);
	if (root != out_.phases.end() && out_.phases.size() > 1)
		out_.phases[1].name = "initramfs";
	std::map<uint32_t, size_t> roots; // by the latest process with this pid
	for (size_t i = 0; i < out_.processes.size(); i++) {
		BootProcess& one = out_.processes[i];
		if (!one.exited)
			one.end = out_.end;
		const auto of = roots.find(one.parent);
		one.root = one.parent > kKernelThreads && of != roots.end() ? of->second : i;
		roots[one.pid] = one.root;
	}
	return std::move(out_);
}

} // namespace

BootTimeline boot_timeline(const std::string& lines) {
	TimelineReader reader;
	std::istringstream stream(lines);
	for (std::string line; std::getline(stream, line);)
		if (!line.empty())
			reader.line(line);
	return reader.finish();
}

} // namespace dfr::lib
