// SPDX-License-Identifier: GPL-2.0
//
// dfr boot report: a boot on one time axis, as text or JSON, from what the default boot program recorded.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/dfr.h"
#include "analyze/libdfr/boot_timeline.h"
#include "analyze/libdfr/json.h"
#include "analyze/replay/replay.h"
#include "bootloader-hooks/boot/install.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/joined.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples = "  dfr boot report                     the last boot that was stored\n"
                                  "  dfr boot report boot.dfr --all\n"
                                  "  dfr boot report --json | jq '.phases'\n";
constexpr size_t kLongest = 10;
constexpr int kBar = 40;

double seconds(uint64_t ns) {
	return static_cast<double>(ns) / 1e9;
}

// What the first process or the kernel started, with all that came from it.
struct Service {
	std::string name;
	uint64_t from = 0, to = 0;
	size_t processes = 0;
};

// What a process is called: the path of its program, else its name.
const std::string& title(const lib::BootProcess& process) {
	return process.path.empty() ? process.name : process.path;
}

std::vector<Service> services_of(const lib::BootTimeline& boot) {
	std::vector<Service> all;
	std::map<size_t, size_t> known;
	for (const lib::BootProcess& one : boot.processes) {
		const lib::BootProcess& root = boot.processes[one.root];
		if (root.parent == 2)
			continue; // threads of the kernel
		const auto [at, added] = known.try_emplace(one.root, all.size());
		if (added)
			all.push_back({.name = title(root), .from = root.start});
		Service& service = all[at->second];
		service.to = std::max(service.to, one.end);
		service.processes++;
	}
	return all;
}

std::string bar(uint64_t from, uint64_t to, uint64_t whole) {
	const auto column = [whole](uint64_t time) {
		return whole ? static_cast<int>(static_cast<double>(time) * kBar / static_cast<double>(whole))
		             : 0;
	};
	const int first = std::min(column(from), kBar - 1);
	const int last = std::clamp(column(to), first + 1, kBar);
	return "|" + std::string(static_cast<size_t>(first), ' ') +
	       std::string(static_cast<size_t>(last - first), '#') +
	       std::string(static_cast<size_t>(kBar - last), ' ') + "|";
}

void print_row(uint64_t from, uint64_t to, uint64_t whole, const std::string& text) {
	std::printf("%9.3f %9.3f %s %s\n", seconds(from), seconds(to - from), shown(bar(from, to, whole)),
	            shown(text));
}

std::string machine_text(const trace::Catalog& catalog, const char* key) {
	const auto at = catalog.machine.find(key);
	return at == catalog.machine.end() ? std::string() : at->second;
}

void print_processes(const lib::BootTimeline& boot) {
	std::vector<const lib::BootProcess*> longest;
	for (const lib::BootProcess& one : boot.processes)
		if (one.exited && boot.processes[one.root].parent != 2)
			longest.push_back(&one);
	std::ranges::stable_sort(
	    longest, [](const auto* a, const auto* b) { return a->end - a->start > b->end - b->start; });
	longest.resize(std::min(longest.size(), kLongest));
	std::printf("\nprocesses that ended, the longest %zu of them\n", longest.size());
	for (const lib::BootProcess* const one : longest)
		print_row(one->start, one->end, boot.end,
		          title(*one) + " (" + std::to_string(one->pid) + " of " +
		              title(boot.processes[one->root]) + ")" + (one->killed ? ", killed" : ""));
}

// When the kernel was entered, which is the axis' 0, in local time.
std::string begin_text(const trace::Catalog& catalog) {
	const auto at = static_cast<std::time_t>(catalog.walltime(0) / 1'000'000'000);
	char text[32] = "";
	std::tm local{};
	if (localtime_r(&at, &local))
		std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
	return text;
}

void print_text(const lib::BootTimeline& boot, const trace::Catalog& catalog, bool all) {
	const std::string program = machine_text(catalog, "bootprogram");
	std::printf("boot of %s at %s, kernel %s, program %s\n", shown(machine_text(catalog, "host")),
	            shown(begin_text(catalog)), shown(machine_text(catalog, "release")),
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

	const std::vector<Service> services = services_of(boot);
	size_t left_out = 0;
	std::printf("\nwhat the first process started, with all that came from it\n");
	for (const Service& one : services) {
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
	std::printf("\n%s processes and threads were made, %s programs executed, %zu modules loaded\n",
	            shown(with_commas(boot.forks)), shown(with_commas(boot.execs)), boot.modules.size());
	for (const lib::BootModule& module : boot.modules)
		if (all)
			std::printf("%9.3f           %s, by %s\n", seconds(module.time), shown(module.name),
			            shown(module.by));
}

std::string json_list(const std::vector<std::string>& objects) {
	std::string list;
	for (const std::string& one : objects)
		list += (list.empty() ? "" : ", ") + one;
	return "[" + list + "]";
}

void print_json(const lib::BootTimeline& boot, const trace::Catalog& catalog) {
	std::vector<std::string> phases, processes, modules;
	const auto times = [](lib::JsonObject& object, uint64_t from, uint64_t to) -> lib::JsonObject& {
		return object.raw("from_ns", std::to_string(from)).raw("to_ns", std::to_string(to));
	};
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
		                        .text("service", title(boot.processes[one.root]))
		                        .raw("exited", one.exited ? "true" : "false")
		                        .raw("killed", one.killed ? "true" : "false")
		                        .str());
	}
	for (const lib::BootModule& one : boot.modules)
		modules.push_back(lib::JsonObject()
		                      .text("name", one.name)
		                      .text("by", one.by)
		                      .raw("time_ns", std::to_string(one.time))
		                      .str());
	lib::JsonObject out;
	out.text("host", machine_text(catalog, "host"))
	    .text("release", machine_text(catalog, "release"))
	    .text("bootid", machine_text(catalog, "bootid"))
	    .text("program", machine_text(catalog, "bootprogram"))
	    .raw("begin_ns", std::to_string(boot.begin))
	    .raw("end_ns", std::to_string(boot.end))
	    .raw("login_ns", boot.login ? std::to_string(*boot.login) : "null")
	    .raw("forks", std::to_string(boot.forks))
	    .raw("execs", std::to_string(boot.execs))
	    .raw("phases", json_list(phases))
	    .raw("processes", json_list(processes))
	    .raw("modules", json_list(modules));
	std::printf("%s\n", shown(out.str()));
}

std::string last_stored() {
	std::string last;
	std::filesystem::file_time_type latest;
	const std::string folder = boot::Installation("").folder();
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(folder, error); !error && at != end; at.increment(error))
		if (const auto time = std::filesystem::last_write_time(at->path(), error);
		    !error && at->path().extension() == ".dfr" && (last.empty() || time > latest)) {
			last = at->path().string();
			latest = time;
		}
	if (last.empty())
		throw Error("no recording of a boot is stored in " + folder,
		            "dfr boot status says whether this boot was traced; dfr boot store stores it");
	return last;
}

// The lines of lib::boot_questions() over a recording; none if it has none of their probes.
std::string ask(const trace::United& recording, trace::Verdict& verdict) {
	replay::RecordingTarget target(recording);
	lib::ProgramPart part;
	part.name = "boot report";
	for (const lib::BootQuestion& question : lib::boot_questions())
		target.match(question.probes, [&](const d::ProbeInfo&) {
			part.text += question.clause;
			return false;
		});
	if (part.text.empty())
		return {};
	std::vector<lib::ProgramPart> parts{part};
	ProgramArguments program;
	const d::Compiled compiled = compile_or_throw(parts, program.compile_options(0), target);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", shown(text)); };
	verdict = replay::replay_program(recording, target, compiled, output, symbols, options).verdict;
	return output.take();
}

} // namespace

int run_boot_report(int argc, char** argv) {
	std::vector<std::string> files;
	bool json = false, all = false, last = false;
	const auto app = make_app(
	    "boot report",
	    "A boot on one time axis, from the kernel's entry to the login prompt: phases, what the\n"
	    "first process started, the longest processes, modules. Of recordings of the default\n"
	    "boot program; dfr replay asks others.",
	    kExamples);
	app->add_option("file", files,
	                "the recording, or all files of it (default: the last that was stored)");
	app->add_flag("--last", last, "the last that was stored");
	app->add_flag("--json", json, "everything, as one object; the verdict, too, on stderr");
	app->add_flag("--all", all, "short ones and modules, too");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (files.empty() || last)
		files = {last_stored()};
	auto groups = trace::group_by_state(files);
	if (groups.size() != 1)
		throw Error("these files are of several boots", "dfr boot report takes one");
	trace::JoinedSource source(std::move(groups[0]));
	const trace::United united({&source});
	trace::Verdict verdict;
	const lib::BootTimeline boot = lib::boot_timeline(ask(united, verdict));
	if (boot.phases.empty())
		throw Error("the recording has nothing of what the report shows",
		            "it shows what the default boot program records; dfr replay FILE prints what "
		            "another one said");
	if (json)
		print_json(boot, source.catalog());
	else
		print_text(boot, source.catalog(), all);
	return print_verdict(verdict, source.catalog(), json);
}

} // namespace dfr::cli
