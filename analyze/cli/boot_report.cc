// SPDX-License-Identifier: GPL-2.0
//
// dfr boot report: a boot on one time axis, as text, JSON or HTML, from what the default boot program recorded.
#include <algorithm>
#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/boot_recording.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/page.h"
#include "analyze/cli/page_file.h"
#include "analyze/libdfr/boot_path.h"
#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "bootloader-hooks/boot/install.h"
#include "formats/amounts.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr const char* kBootReportExamples =
    "  dfr boot report                     the last boot that was stored\n"
    "  dfr boot report boot.dfr --all\n"
    "  dfr boot report -o report.html\n"
    "  dfr boot report --json | jq '.phases'\n";
constexpr size_t kLongest = 10;
constexpr int kBar = 40;

double seconds(uint64_t ns) {
	return static_cast<double>(ns) / 1e9;
}

std::string bar(uint64_t from, uint64_t to, uint64_t whole) {
	const auto column = [whole](uint64_t time) {
		return whole ? static_cast<int>(static_cast<double>(std::min(time, whole)) * kBar /
		                                static_cast<double>(whole))
		             : 0;
	};
	const int first = std::min(column(from), kBar - 1);
	const int last = std::clamp(column(to), first + 1, kBar);
	return "|" + std::string(static_cast<size_t>(first), ' ') +
	       std::string(static_cast<size_t>(last - first), '#') +
	       std::string(static_cast<size_t>(kBar - last), ' ') + "|";
}

void print_row(uint64_t from, uint64_t to, uint64_t whole, const std::string& text) {
	to = std::max(from, to);
	std::printf("%9.3f %9.3f %s %s\n", seconds(from), seconds(to - from), shown(bar(from, to, whole)),
	            shown(text));
}

std::string seconds_text(uint64_t ns) {
	char text[32];
	std::snprintf(text, sizeof text, "%.3f s", seconds(ns));
	return text;
}

// What a process used of CPUs and storage, as far as that is known.
std::string use_text(std::optional<uint64_t> cpu, std::optional<uint64_t> read,
                     std::optional<uint64_t> written) {
	std::string text;
	if (cpu)
		text += ", CPU " + seconds_text(*cpu);
	if (read.value_or(0))
		text += ", read " + bytes_text(*read);
	if (written.value_or(0))
		text += ", wrote " + bytes_text(*written);
	return text;
}

// Those of `from` with the most of something.
template <typename Amount>
void print_most(const lib::BootTimeline& boot, std::vector<const lib::BootProcess*> from, Amount amount) {
	std::ranges::stable_sort(from,
	                         [&amount](const auto* a, const auto* b) { return amount(*a) > amount(*b); });
	from.resize(std::min(from.size(), kLongest));
	for (const lib::BootProcess* const one : from)
		print_row(one->start, one->end, boot.end,
		          lib::boot_title(*one) + " (" + std::to_string(one->pid) + " of " +
		              lib::boot_title(boot.processes[one->root]) + ")" +
		              (one->killed ? ", killed" : "") + use_text(one->cpu, one->read, one->written));
}

void print_processes(const lib::BootTimeline& boot) {
	std::vector<const lib::BootProcess*> ended;
	for (const lib::BootProcess& one : boot.processes)
		if (one.exited && !lib::of_the_kernel(boot, one))
			ended.push_back(&one);
	std::printf("\nprocesses that ended, the longest %zu of them\n", std::min(ended.size(), kLongest));
	print_most(boot, ended, [](const lib::BootProcess& one) { return one.end - one.start; });
}

uint64_t cpu_of(const lib::BootProcess& one) {
	return one.cpu.value_or(0);
}

uint64_t bytes_of(const lib::BootProcess& one) {
	return one.read.value_or(0) + one.written.value_or(0);
}

// Also those that the kernel started.
void print_use(const lib::BootTimeline& boot) {
	std::vector<const lib::BootProcess*> on_cpu, storing;
	std::optional<uint64_t> cpu, read, written;
	size_t ended = 0;
	const auto add = [](std::optional<uint64_t>& sum, const std::optional<uint64_t>& one) {
		if (one)
			sum = sum.value_or(0) + *one;
	};
	for (const lib::BootProcess& one : boot.processes) {
		ended += one.exited;
		add(cpu, one.cpu);
		add(read, one.read);
		add(written, one.written);
		if (cpu_of(one))
			on_cpu.push_back(&one);
		if (bytes_of(one))
			storing.push_back(&one);
	}
	const std::string all = use_text(cpu, read, written);
	if (all.empty())
		return;
	std::printf("\nof processes and threads of the kernel %zu ended: %s; nothing is known of the %zu "
	            "that had not\n",
	            ended, shown(all.substr(2)), boot.processes.size() - ended);
	if (!on_cpu.empty())
		std::printf("the most CPU time\n");
	print_most(boot, on_cpu, cpu_of);
	if (!storing.empty())
		std::printf("the most read from storage and written to it\n");
	print_most(boot, storing, bytes_of);
}

// What a step of the path is called.
std::string step_title(const lib::BootTimeline& boot, const lib::BootStep& step) {
	return step.process ? lib::boot_title(boot.processes[*step.process])
	                    : "first process, or what is not recorded";
}

void print_path(const lib::BootTimeline& boot) {
	size_t left_out = 0;
	std::printf("\nwhat the boot waited for (inferred: of its processes, a parent waits for the one that "
	            "ends last)\n");
	for (const lib::BootStep& step : lib::boot_path(boot)) {
		if (step.to - step.from < boot.end / 100)
			left_out++;
		else
			print_row(step.from, step.to, boot.end, step_title(boot, step));
	}
	if (left_out)
		std::printf("          and %zu steps of less than a percent\n", left_out);
}

void print_text(const lib::BootTimeline& boot, const trace::Catalog& catalog, bool all) {
	const std::string program = catalog.machine_text("bootprogram");
	std::printf("boot of %s at %s, kernel %s, program %s\n", shown(catalog.machine_text("host")),
	            shown(begin_text(catalog)), shown(catalog.machine_text("release")),
	            shown(program.empty() ? "not named" : program.substr(0, program.find(','))));
	if (boot.login)
		std::printf("login prompt %.3f s after the kernel's entry; the trace begins at %.3f s\n",
		            seconds(*boot.login), seconds(boot.begin));
	else
		std::printf("no login prompt was seen; the trace begins at %.3f s and ends at %.3f s\n",
		            seconds(boot.begin), seconds(boot.end));
	std::printf("\n%9s %9s\n", "from s", "takes s");
	for (const lib::BootPhase& phase : boot.phases)
		print_row(phase.from, phase.to, boot.end, phase.name);

	print_path(boot);
	const std::vector<lib::BootService> services = lib::boot_services(boot);
	size_t left_out = 0;
	std::printf("\nwhat the first process started, with all that came from it\n");
	for (const lib::BootService& one : services) {
		if (!all && one.to - one.from < boot.end / 200) {
			left_out++;
			continue;
		}
		print_row(one.from, one.to, boot.end,
		          one.name + (one.processes > 1 ? " (" + std::to_string(one.processes) + " processes)"
		                                        : ""));
	}
	if (left_out)
		std::printf("          and %zu that took less than half a percent: --all\n", left_out);
	print_processes(boot);
	print_use(boot);
	std::printf("\n%s processes and threads were made, %s programs executed, %zu modules loaded\n",
	            shown(trace::grouped(boot.forks)), shown(trace::grouped(boot.execs)),
	            boot.modules.size());
	for (const lib::BootModule& module : boot.modules)
		if (all)
			std::printf("%9.3f           %s, by %s\n", seconds(module.time), shown(module.name),
			            shown(module.by));
}

// What an initcall is called: "inet_init", "virtio_init of virtio_pci".
std::string initcall_title(const lib::BootInitcall& call) {
	return call.name + (call.module.empty() ? "" : " of " + call.module);
}

// How much of the kernel's own events there is, if not all.
std::string events_remark(const lib::BootInitcalls& events) {
	std::string text;
	if (events.lost)
		text =
		    trace::grouped(events.lost) + " events were lost, because the kernel's buffer was full";
	if (events.unread)
		text += (text.empty() ? "" : "; ") + trace::grouped(events.unread) +
		        " events do not belong together";
	for (const std::string& remark : events.remarks)
		text += (text.empty() ? "" : "; ") + remark;
	return text;
}

void print_initcalls(BootRecording& recording) {
	std::string why;
	const auto events = recording.events(why);
	if (!events) {
		std::printf("\nno initcalls: %s\n", shown(why));
		return;
	}
	std::printf("\nthe kernel's levels of initcalls, and the longest initcalls of %zu\n",
	            events->calls.size());
	const uint64_t end = recording.timeline().end;
	for (const lib::BootPhase& level : events->levels)
		if (level.to > level.from)
			print_row(level.from, level.to, end, "level " + level.name);
	std::vector<const lib::BootInitcall*> longest;
	for (const lib::BootInitcall& call : events->calls)
		longest.push_back(&call);
	std::ranges::stable_sort(
	    longest, [](const auto* a, const auto* b) { return a->to - a->from > b->to - b->from; });
	longest.resize(std::min(longest.size(), kLongest));
	for (const lib::BootInitcall* const call : longest)
		print_row(call->from, call->to, end,
		          initcall_title(*call) + (call->ended ? "" : ", had not ended"));
	if (const std::string remark = events_remark(*events); !remark.empty())
		std::printf("          %s\n", shown(remark));
}

std::string json_events(BootRecording& recording) {
	std::string why;
	const auto events = recording.events(why);
	lib::JsonObject out;
	if (!events)
		return out.raw("kept", "false").text("why", why).raw("levels", "[]").raw("calls", "[]").str();
	std::vector<std::string> levels, calls;
	for (const lib::BootPhase& one : events->levels)
		levels.push_back(lib::JsonObject()
		                     .text("name", one.name)
		                     .raw("from_ns", std::to_string(one.from))
		                     .raw("to_ns", std::to_string(one.to))
		                     .str());
	for (const lib::BootInitcall& one : events->calls)
		calls.push_back(lib::JsonObject()
		                    .text("name", initcall_title(one))
		                    .text("function", one.name)
		                    .text("module", one.module)
		                    .text("level", one.level)
		                    .raw("pid", std::to_string(one.pid))
		                    .raw("from_ns", std::to_string(one.from))
		                    .raw("to_ns", std::to_string(one.to))
		                    .raw("ended", one.ended ? "true" : "false")
		                    .raw("result", std::to_string(one.result))
		                    .str());
	return out.raw("kept", "true")
	    .text("why", events_remark(*events))
	    .raw("levels", lib::json_list(levels))
	    .raw("calls", lib::json_list(calls))
	    .str();
}

std::string number_or_null(std::optional<uint64_t> number) {
	return number ? std::to_string(*number) : "null";
}

std::string json_text(BootRecording& recording) {
	const lib::BootTimeline& boot = recording.timeline();
	const trace::Catalog& catalog = recording.catalog();
	std::vector<std::string> phases, path, services, processes, modules;
	const auto times = [](lib::JsonObject& object, uint64_t from, uint64_t to) -> lib::JsonObject& {
		return object.raw("from_ns", std::to_string(from)).raw("to_ns", std::to_string(to));
	};
	for (const lib::BootStep& one : lib::boot_path(boot)) {
		lib::JsonObject object;
		times(object.text("name", step_title(boot, one)), one.from, one.to);
		path.push_back(
		    object.raw("pid", one.process ? std::to_string(boot.processes[*one.process].pid) : "null")
		        .str());
	}
	for (const lib::BootService& one : lib::boot_services(boot)) {
		lib::JsonObject object;
		times(object.text("name", one.name), one.from, one.to);
		services.push_back(object.raw("processes", std::to_string(one.processes))
		                       .raw("goes_on", one.goes_on ? "true" : "false")
		                       .str());
	}
	for (const lib::BootPhase& one : boot.phases) {
		lib::JsonObject object;
		phases.push_back(times(object.text("name", one.name), one.from, one.to).str());
	}
	for (const lib::BootProcess& one : boot.processes) {
		lib::JsonObject object;
		object.raw("pid", std::to_string(one.pid)).raw("parent", std::to_string(one.parent));
		times(object, one.start, one.end);
		processes.push_back(object.text("name", one.name)
		                        .text("path", one.path)
		                        .text("service", lib::boot_title(boot.processes[one.root]))
		                        .raw("exited", one.exited ? "true" : "false")
		                        .raw("killed", one.killed ? "true" : "false")
		                        .raw("cpu_ns", number_or_null(one.cpu))
		                        .raw("read_bytes", number_or_null(one.read))
		                        .raw("written_bytes", number_or_null(one.written))
		                        .str());
	}
	for (const lib::BootModule& one : boot.modules)
		modules.push_back(lib::JsonObject()
		                      .text("name", one.name)
		                      .text("by", one.by)
		                      .raw("time_ns", std::to_string(one.time))
		                      .str());
	lib::JsonObject out;
	out.text("host", catalog.machine_text("host"))
	    .text("release", catalog.machine_text("release"))
	    .text("bootid", catalog.machine_text("bootid"))
	    .text("program", catalog.machine_text("bootprogram"))
	    .raw("entered_unix_ns", catalog.clocks.empty() ? "null" : std::to_string(catalog.entered()))
	    .raw("begin_ns", std::to_string(boot.begin))
	    .raw("end_ns", std::to_string(boot.end))
	    .raw("login_ns", number_or_null(boot.login))
	    .raw("forks", std::to_string(boot.forks))
	    .raw("execs", std::to_string(boot.execs))
	    .raw("phases", lib::json_list(phases))
	    .raw("path", lib::json_list(path))
	    .raw("services", lib::json_list(services))
	    .raw("processes", lib::json_list(processes))
	    .raw("modules", lib::json_list(modules))
	    .raw("initcalls", json_events(recording))
	    .text("output", recording.output())
	    .raw("verdict", lib::verdict_text(recording.verdict(), catalog, true));
	return out.str();
}

std::string last_stored() {
	const boot::Installation installation("");
	const std::vector<std::string> files = installation.recordings();
	if (files.empty())
		throw Error("no recording of a boot is stored in " + installation.folder(),
		            "dfr boot status says whether this boot was traced; dfr boot store stores it");
	return files.back();
}

} // namespace

int run_boot_report(int argc, char** argv) {
	std::vector<std::string> files;
	PageFile page;
	bool json = false, all = false, last = false;
	const auto app = make_app(
	    "boot report",
	    "A boot on one time axis, from the kernel's entry to the login prompt: phases, what the\n"
	    "first process started, the longest processes, modules. Of recordings of the default\n"
	    "boot program; dfr replay asks others.",
	    kBootReportExamples);
	app->add_option("file", files,
	                "the recording, or all files of it (default: the last that was stored)");
	app->add_flag("--last", last, "the last that was stored");
	app->add_flag("--json", json, "everything, as one object; the verdict, too, on stderr");
	page.add(*app);
	app->add_flag("--all", all, "short ones and modules, too");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	page.require_writable();
	if (files.empty() || last)
		files = {last_stored()};
	auto groups = trace::group_by_state(files);
	if (groups.size() != 1)
		throw Error("these files are of several boots", "dfr boot report takes one");
	BootRecording recording(std::move(groups[0]));
	if (page.named()) {
		page.write(boot_page(json_text(recording)));
	} else if (json) {
		std::printf("%s\n", shown(json_text(recording)));
	} else {
		print_text(recording.timeline(), recording.catalog(), all);
		print_initcalls(recording);
	}
	return print_verdict(recording.verdict(), recording.catalog(), json);
}

} // namespace dfr::cli
