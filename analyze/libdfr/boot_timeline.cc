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
	     "proc:::exec-success { printf(\"exec %d %d %d %S\\n\", timestamp, pid, curpsinfo->pr_ppid, "
	     "execname); }\n"},
	    {{.provider = "sdt", .name = "sched_process_exec"},
	     "sdt:::sched_process_exec { printf(\"path %d %d %S\\n\", timestamp, pid, "
	     "stringof(args[2]->filename)); }\n"},
	    {{.provider = "proc", .name = "exit"},
	     "proc:::exit { printf(\"exit %d %d %d %S\\n\", timestamp, pid, args[0], execname); }\n"},
	    {{.provider = "sdt", .name = "module_load"},
	     "sdt:::module_load { printf(\"module %d %d %S\\n\", timestamp, pid, stringof(args[0]->name)); "
	     "}\n"},
	    {.probes = {.provider = "proc", .name = "lwp-exit"},
	     .clause = "proc:::lwp-exit { printf(\"cpu %d %d %d\\n\", timestamp, pid, vtimestamp); }\n",
	     .optional = true},
	    {.probes = {.provider = "proc", .name = "lwp-exit"},
	     .clause = "proc:::lwp-exit { printf(\"bytes %d %d %d %d\\n\", timestamp, pid, "
	               "curthread->ioac.read_bytes, curthread->ioac.write_bytes); }\n",
	     .optional = true},
	};
	return all;
}

namespace {

constexpr uint32_t kKernelThreads = 2;                 // who makes the kernel's threads
constexpr const char* kFirstProcess = "first process"; // a phase
constexpr const char* kInitramfs = "initramfs";        // likewise
constexpr const char* kShim = "dfr-init"; // becomes the real first process; seen if the trace began before it
constexpr int kExited = 1;                // of proc:::exit: it ended by itself

// Programs after which a person can log in.
bool asks_for_login(const std::string& name) {
	for (const char* const one : {"agetty", "getty", "login", "gdm3", "lightdm", "sddm", "sulogin"})
		if (name == one)
			return true;
	return false;
}

// What %S made of a name: it is on one line, whatever is in it.
std::string without_escapes(const std::string& text) {
	constexpr std::string_view letters = "abtnvfr", meant = "\a\b\t\n\v\f\r";
	std::string out;
	for (size_t at = 0; at < text.size(); at++) {
		if (text[at] != '\\' || at + 1 == text.size()) {
			out += text[at];
			continue;
		}
		const char next = text[++at];
		const size_t letter = letters.find(next);
		if (next < '0' || next > '7') {
			out += letter == std::string_view::npos ? next : meant[letter];
			continue;
		}
		const size_t digits = std::min(text.find_first_not_of("01234567", at), text.size());
		const size_t past = std::min(digits, at + 3);
		out += static_cast<char>(std::stoi(text.substr(at, past - at), nullptr, 8));
		at = past - 1;
	}
	return out;
}

class TimelineReader {
public:
	void line(const std::string& text);
	BootTimeline finish();

private:
	BootProcess& process(uint32_t pid, uint64_t time);
	void exec(uint64_t time, uint32_t pid, uint32_t parent, const std::string& name);
	void begun_in_initramfs();
	void path(uint64_t time, uint32_t pid, const std::string& path);
	void thread_ends(const BootProcess& used, uint64_t time);
	void phase(const std::string& name, uint64_t from);
	std::string name_of(uint32_t pid) const; // empty: it was there before the recording

	BootTimeline out_;
	std::map<uint32_t, size_t> alive_,
	    ended_;                       // indices of out_.processes; ended_: the last with this number
	std::string first_name_ = "init"; // of the first process
	std::string first_path_;
	bool first_ran_ = false; // it is a program, not the kernel's own any more
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

std::string TimelineReader::name_of(uint32_t pid) const {
	if (pid == kFirstPid)
		return first_name_;
	if (pid == kKernelThreads)
		return "kthreadd";
	const auto at = alive_.find(pid);
	return at == alive_.end() ? std::string() : out_.processes[at->second].name;
}

// A script of the initramfs loaded the module: its /init ran before that, and has started another process. The kernel
// makes none in the name of the first process.
void TimelineReader::begun_in_initramfs() {
	first_ran_ = true;
	out_.phases.front().name = "before the trace";
	if (out_.phases.size() == 1)
		phase(kInitramfs, out_.begin);
	else
		out_.phases.back().name = kInitramfs;
}

void TimelineReader::exec(uint64_t time, uint32_t pid, uint32_t parent, const std::string& name) {
	out_.execs++;
	if (!out_.login && asks_for_login(name)) {
		out_.login = time;
		phase("after the login prompt", time);
	}
	if (pid == kFirstPid) {
		if (name == kShim)
			return;
		// Of an initramfs /init comes first; what the first process is then is the real root's.
		const bool leaves_initramfs = name == "run-init" || name == "switch_root";
		if (!leaves_initramfs)
			phase(first_ran_ ? "real root" : kFirstProcess, time);
		first_ran_ = true;
		first_name_ = name;
		return;
	}
	BootProcess& one = process(pid, time);
	one.name = name;
	one.parent = parent;
}

void TimelineReader::path(uint64_t time, uint32_t pid, const std::string& path) {
	if (pid == kFirstPid) {
		first_path_ = path;
		return;
	}
	process(pid, time).path = path;
}

// Of threads that end together one may do so behind the end of the process, which the kernel tells with the last that it
// has counted.
void TimelineReader::thread_ends(const BootProcess& used, uint64_t time) {
	if (used.pid == kFirstPid)
		return;
	const auto ended = ended_.find(used.pid);
	BootProcess& one = alive_.contains(used.pid) || ended == ended_.end() ? process(used.pid, time)
	                                                                      : out_.processes[ended->second];
	for (const auto amount : {&BootProcess::cpu, &BootProcess::read, &BootProcess::written})
		if (used.*amount)
			one.*amount = (one.*amount).value_or(0) + *(used.*amount);
}

void TimelineReader::line(const std::string& text) {
	std::istringstream stream(text);
	std::string kind, rest;
	uint64_t time = 0, pid = 0, other = 0, written = 0;
	stream >> kind >> time >> pid;
	if (kind != "path" && kind != "module")
		stream >> other;
	if (kind == "bytes")
		stream >> written;
	if (!stream)
		throw Error("the recording's answer has a line that is none: " + text);
	stream.ignore(1);
	std::getline(stream, rest);
	rest = without_escapes(rest);
	const auto id = static_cast<uint32_t>(pid), second = static_cast<uint32_t>(other);
	out_.end = std::max(out_.end, time);
	// Where the boot was at its first record, the line behind it says.
	if (kind == "cpu")
		return thread_ends({.pid = id, .cpu = other}, time);
	if (kind == "bytes")
		return thread_ends({.pid = id, .read = other, .written = written}, time);
	if (out_.phases.empty()) {
		out_.begin = time;
		phase("kernel, before the trace", 0);
		const bool loader_ends = kind == "exit" && rest == kShim; // a child of the first process
		if ((kind != "exec" || pid != kFirstPid) && !loader_ends)
			phase("kernel, traced", time);
	}
	if (kind == "create") {
		out_.forks++;
		if (id == kFirstPid && !first_ran_)
			begun_in_initramfs();
		std::string name = name_of(id);
		alive_.erase(second);
		BootProcess& child = process(second, time);
		child.parent = id;
		child.name = name;
	} else if (kind == "exec") {
		exec(time, id, second, rest);
	} else if (kind == "path") {
		path(time, id, rest);
	} else if (kind == "exit" && id != kFirstPid) {
		BootProcess& one = process(id, time);
		one.end = time;
		one.exited = true;
		one.killed = static_cast<int>(other) != kExited;
		if (one.path.empty() && !rest.empty())
			one.name = rest; // a thread of the kernel, or a process that executed nothing
		ended_[id] = alive_.at(id);
		alive_.erase(id);
	} else if (kind == "module") {
		out_.modules.push_back({rest, name_of(id), time});
	}
}

BootTimeline TimelineReader::finish() {
	if (!out_.phases.empty())
		out_.phases.back().to = out_.end;
	const auto root = std::ranges::find(out_.phases, "real root", &BootPhase::name);
	const auto first = std::ranges::find(out_.phases, kFirstProcess, &BootPhase::name);
	if (root != out_.phases.end() && first != out_.phases.end())
		first->name = kInitramfs;
	std::map<uint32_t, size_t> roots; // by the latest process with this pid
	for (size_t i = 0; i < out_.processes.size(); i++) {
		BootProcess& one = out_.processes[i];
		if (!one.exited) {
			one.end = out_.end;
			one.cpu = one.read = one.written = std::nullopt; // of some of its threads alone
		}
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

const std::string& boot_title(const BootProcess& process) {
	return process.path.empty() ? process.name : process.path;
}

bool of_the_kernel(const BootTimeline& boot, const BootProcess& process) {
	return boot.processes[process.root].parent != kFirstPid;
}

std::vector<BootService> boot_services(const BootTimeline& boot) {
	std::vector<BootService> all;
	std::map<size_t, size_t> known;
	for (const BootProcess& one : boot.processes) {
		if (of_the_kernel(boot, one))
			continue;
		const BootProcess& root = boot.processes[one.root];
		const auto [at, added] = known.try_emplace(one.root, all.size());
		if (added)
			all.push_back({.name = boot_title(root), .from = root.start, .root = one.root});
		BootService& service = all[at->second];
		service.to = std::max(service.to, one.end);
		service.goes_on = service.goes_on || !one.exited;
		service.processes++;
	}
	return all;
}

} // namespace dfr::lib
