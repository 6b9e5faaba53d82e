// SPDX-License-Identifier: GPL-2.0
//
// dfr info: what a recording holds, its window and verdict, and three questions
// that run on this very file.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/panic.h"
#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "analyze/render/messages.h"
#include "analyze/replay/recording_target.h"
#include "formats/d/canon.h"
#include "formats/shown.h"
#include "formats/trace/cut.h"
#include "formats/trace/joined.h"

namespace dfr::cli {
namespace {

constexpr const char* kInfoExamples = "  dfr info boot.dfr\n"
                                      "  dfr info --json boot.dfr\n";

// Records of one EPID.
struct EpidRecords {
	uint64_t count = 0, first = 0, last = 0; // times
};

struct Contents {
	trace::Verdict verdict;
	std::map<uint32_t, uint64_t> records; // by probe
	std::vector<EpidRecords> by_epid;
	std::vector<trace::Losses::Loss> throttled; // what the governor left out
	std::vector<trace::Losses::Stretch> thinned;
};

Contents read_all(trace::BlockSource& source) {
	Contents contents;
	trace::Merger merger(source);
	std::vector<EpidRecords>& by_epid = contents.by_epid;
	by_epid.resize(source.catalog().ecbs.size() + 1);
	contents.verdict = trace::judge_whole(source, merger, [&](const trace::Record& record) {
		if (record.epid >= by_epid.size())
			return true;
		EpidRecords& recorded = by_epid[record.epid];
		if (!recorded.count++ || record.time < recorded.first)
			recorded.first = record.time;
		recorded.last = std::max(recorded.last, record.time);
		return true;
	});
	for (uint32_t epid = 1; epid < by_epid.size(); epid++)
		if (by_epid[epid].count != 0)
			contents.records[source.catalog().ecbs[epid - 1].probe] += by_epid[epid].count;
	for (const trace::Losses::Loss& entry : merger.losses().entries)
		if ((entry.cause == DFR_LOSS_THROTTLE || entry.cause == DFR_LOSS_DETACHED) && entry.to)
			contents.throttled.push_back(entry);
	contents.thinned = merger.losses().stretches;
	return contents;
}

const char* policy(uint32_t policy) {
	return policy == DFR_BUFPOLICY_RING ? "ring" : policy == DFR_BUFPOLICY_FILL ? "fill" : "switch";
}

// The description that covers most of what was recorded: "syscall:::entry".
std::string widest(const trace::Catalog& catalog, const Contents& contents) {
	std::map<std::string, uint64_t> groups;
	for (const auto& [id, count] : contents.records) {
		const auto probe = catalog.probes.find(id);
		if (probe != catalog.probes.end() && id > 3)
			groups[probe->second.provider + ":::" + probe->second.name] += count;
	}
	const auto best = std::max_element(groups.begin(), groups.end(),
	                                   [](const auto& a, const auto& b) { return a.second < b.second; });
	return best == groups.end() ? std::string{} : best->first;
}

// Questions whose inputs every record has: they run whatever was captured.
std::vector<std::string> questions(const trace::Catalog& catalog, const Contents& contents,
                                   const replay::RecordingTarget& target) {
	const std::string probes = widest(catalog, contents);
	if (probes.empty())
		return {"BEGIN { printf(\"nothing was recorded\\n\"); }"};
	std::vector<std::string> asks;
	const bool names = !target.taken_out("execname");
	if (names)
		asks.push_back(probes + " { @[execname] = count(); }");
	asks.push_back(probes + " { @[probefunc] = count(); }");
	if (names && !target.taken_out("pid"))
		asks.push_back(probes + " { @last[execname, pid] = max(timestamp); }");
	return asks;
}

void print_machine(const trace::Catalog& catalog) {
	for (const char* const key : {"redacted", "kept", "confined", "host", "machineid", "bootid",
	                              "release", "machine", "clocksource", "bootprogram", "cmdline", "jit"}) {
		if (const std::string text = catalog.machine_text(key); !text.empty())
			std::printf("  %-11s %s\n", key, shown(text));
	}
}

// When firings were left out, probes detached, the state killed; what could not be armed.
void print_events(const trace::Catalog& catalog, const Contents& contents) {
	for (const trace::Losses::Loss& entry : contents.throttled) {
		const auto probe = catalog.probes.find(entry.probe);
		std::printf("  %-11s %s-%s %s firings%s left out%s\n", "governor",
		            shown(trace::time_text(catalog, entry.from)),
		            shown(trace::time_text(catalog, entry.to)), shown(trace::grouped(entry.count)),
		            probe == catalog.probes.end() ? "" : shown(" of " + probe->second.text()),
		            shown(entry.cause == DFR_LOSS_DETACHED ? " (estimated)"
		                                                   : " on CPU " + std::to_string(entry.cpu)));
	}
	constexpr size_t kShown = 20;
	for (size_t i = 0; i < std::min(contents.thinned.size(), kShown); i++) {
		const trace::Losses::Stretch& stretch = contents.thinned[i];
		std::printf("  %-11s %s-%s clauses of %s priority off on CPU %d%s\n", "thinned",
		            shown(trace::time_text(catalog, stretch.from)),
		            stretch.to        ? shown(trace::time_text(catalog, stretch.to))
		            : stretch.over_by ? shown(trace::time_text(catalog, stretch.over_by) + " at most")
		                              : "the end",
		            trace::priority_text(stretch.priority), stretch.cpu,
		            shown(trace::left_out_text(stretch)));
	}
	if (contents.thinned.size() > kShown)
		std::printf("  ... and %zu more stretches (--json has all)\n",
		            contents.thinned.size() - kShown);
	for (size_t i = 0; i < catalog.events.size(); i++) {
		const std::string text = render::event_text(catalog, i);
		if (!text.empty())
			std::printf("  %-11s %s %s\n", "event",
			            shown(trace::time_text(catalog, catalog.events[i].time)), shown(text));
	}
}

// What the records say of snapshot(): the action has no field, and its reason is in the program.
struct Fired {
	std::string reason, probe;
	EpidRecords recorded;
};

std::vector<Fired> triggers(const trace::Catalog& catalog, const Contents& contents,
                            replay::RecordingTarget& target) {
	std::vector<Fired> result;
	for (uint32_t epid = 1; epid < contents.by_epid.size(); epid++) {
		const trace::Layout* const layout = catalog.layout_of(epid);
		const trace::Probe* const probe = catalog.probe_of(epid);
		if (!contents.by_epid[epid].count || !layout || !probe)
			continue;
		const dof::Image* const image = target.image(layout->dof);
		if (!image || layout->clause >= image->ecbs.size() ||
		    image->ecbs[layout->clause].body >= image->bodies.size())
			continue;
		for (const dof::Action& action : image->body_of(image->ecbs[layout->clause]).actions)
			if (action.kind == DFR_ACT_SNAPSHOT && action.format)
				result.push_back({*action.format, probe->text(), contents.by_epid[epid]});
	}
	return result;
}

// Who was at its end is here, the rest is in the report.
void print_panic(const trace::Catalog& catalog, const std::string& arguments) {
	const std::optional<Panic> panic = panic_of(catalog);
	if (!panic)
		return;
	std::printf("  %-11s %s on CPU %lld in %s: %s\n", "panic",
	            shown(trace::time_text(catalog, panic->time)), static_cast<long long>(panic->cpu),
	            shown(panic->comm), shown(panic->reason));
	constexpr size_t kShown = 8;
	for (size_t i = 0; i < std::min(panic->stack.size(), kShown); i++)
		std::printf("  %-11s %016llx %s\n", i ? "" : "stack",
		            static_cast<unsigned long long>(panic->stack[i].address),
		            shown(panic->stack[i].name));
	if (!panic->registers.empty() || !panic->stack.empty() || !panic->log.empty())
		std::printf("  %-11s %zu frames, the registers and %zu lines of the kernel's log are in dfr "
		            "crash report %s\n",
		            "", panic->stack.size(), panic->log.size(), shown(arguments));
}

void print_triggers(const trace::Catalog& catalog, const std::vector<Fired>& all) {
	for (const Fired& one : all)
		std::printf("  %-11s %s-%s \"%s\", %s at %s\n", "trigger",
		            shown(trace::time_text(catalog, one.recorded.first)),
		            shown(trace::time_text(catalog, one.recorded.last)), shown(one.reason),
		            shown(trace::grouped(one.recorded.count)), shown(one.probe));
}

std::vector<std::string> json_triggers(const std::vector<Fired>& all) {
	std::vector<std::string> result;
	for (const Fired& one : all)
		result.push_back(lib::JsonObject()
		                     .text("reason", one.reason)
		                     .text("probe", one.probe)
		                     .raw("count", std::to_string(one.recorded.count))
		                     .raw("first", std::to_string(one.recorded.first))
		                     .raw("last", std::to_string(one.recorded.last))
		                     .str());
	return result;
}

void print_names(const trace::KnownNames& names) {
	if (names.size() != 0)
		std::printf("  %-11s %s symbols of the kernel, %s of %s files that processes had mapped\n",
		            "names", shown(trace::grouped(names.kernel_symbols())),
		            shown(trace::grouped(names.user_symbols())),
		            shown(trace::grouped(names.files())));
}

void print_kernel_events(const trace::KernelEvents& kept) {
	if (kept.empty())
		return;
	std::printf("  %-11s %s events of its own tracer", "kernel",
	            shown(trace::grouped(kept.events.size())));
	if (kept.lost)
		std::printf("; %s were lost, because its buffer was full", shown(trace::grouped(kept.lost)));
	for (const std::string& remark : kept.remarks)
		std::printf("; %s", shown(remark));
	std::printf("\n");
}

void print_types(const trace::RecordedTypes& types) {
	if (types.empty())
		return;
	size_t bytes = 0;
	std::string containers;
	for (const auto& [name, btf] : types.btf) {
		bytes += btf.size();
		containers += (containers.empty() ? "" : ", ") + name;
	}
	std::printf("  %-11s %s bytes of the kernel's types (%s), and the arguments of %s probes", "types",
	            shown(trace::grouped(bytes)), shown(containers),
	            shown(trace::grouped(types.probes.size())));
	if (types.left_out)
		std::printf("; no room for %s more", shown(trace::grouped(types.left_out)));
	std::printf("\n");
}

void print_recorded(const trace::Catalog& catalog, const Contents& contents) {
	std::vector<std::pair<uint64_t, uint32_t>> order;
	for (const auto& [id, count] : contents.records)
		order.emplace_back(count, id);
	std::sort(order.rbegin(), order.rend());
	constexpr size_t kShown = 10;
	for (size_t i = 0; i < std::min(order.size(), kShown); i++) {
		const auto probe = catalog.probes.find(order[i].second);
		std::printf("  %12s  %s\n", shown(trace::grouped(order[i].first)),
		            probe == catalog.probes.end() ? "?" : shown(probe->second.text()));
	}
	if (order.size() > kShown)
		std::printf("  ... and %zu more probes\n", order.size() - kShown);
}

// As D text.
std::set<std::string> inputs_of(const trace::Catalog& catalog, replay::RecordingTarget& target) {
	std::set<std::string> captured;
	for (uint32_t epid = 1; epid <= catalog.ecbs.size(); epid++)
		for (const auto& input : target.inputs(epid))
			captured.insert(d::readable(input.canon));
	return captured;
}

void print_inputs(const trace::Catalog& catalog, replay::RecordingTarget& target) {
	std::printf("captured: time, cpu%s%s of every record", target.taken_out("pid") ? "" : ", pid, tid",
	            target.taken_out("execname") ? "" : ", execname");
	for (const std::string& input : inputs_of(catalog, target))
		std::printf(", %s", shown(input));
	std::printf("\n");
	const auto& silent = target.unrecorded();
	for (size_t i = 0; i < std::min<size_t>(silent.size(), 3); i++)
		std::printf("  counted, not recorded: %s\n", shown(silent[i]->text()));
	if (silent.size() > 3)
		std::printf("  ... and %zu more; capture(); in their clauses would record them\n",
		            silent.size() - 3);
}

std::string hexadecimal(std::span<const uint8_t> bytes) {
	std::string text;
	for (const uint8_t byte : bytes) {
		text += "0123456789abcdef"[byte >> 4];
		text += "0123456789abcdef"[byte & 15];
	}
	return text;
}

struct FilesFacts {
	explicit FilesFacts(const trace::JoinedSource& source) {
		for (const auto& file : source.files()) {
			const trace::FileFacts facts = file->facts();
			bytes += facts.size;
			finished &= facts.finished;
		}
	}
	uint64_t bytes = 0;
	bool finished = true;
};

// Of several files, or of a part, which one each is.
void print_files(const trace::JoinedSource& source) {
	for (const auto& file : source.files()) {
		const trace::FileFacts facts = file->facts();
		if (source.files().size() < 2 && !facts.part.series)
			return;
		std::printf("  %-11s %s: %s%s bytes%s\n", "file", shown(file->name()),
		            facts.part.series ? shown("part " + std::to_string(facts.part.number) + ", ")
		                              : "",
		            shown(trace::grouped(facts.size)), facts.finished ? "" : ", was cut");
	}
}

std::vector<std::string> json_files(const trace::JoinedSource& source) {
	std::vector<std::string> files;
	for (const auto& file : source.files()) {
		const trace::FileFacts facts = file->facts();
		files.push_back(lib::JsonObject()
		                    .text("file", file->name())
		                    .raw("bytes", std::to_string(facts.size))
		                    .raw("finished", facts.finished ? "true" : "false")
		                    .raw("part", std::to_string(facts.part.number))
		                    .str());
	}
	return files;
}

// Everything that the text says, as one object.
void print_json(trace::JoinedSource& source, const Contents& contents, replay::RecordingTarget& target,
                const trace::KnownNames& names, const trace::RecordedTypes& types) {
	const trace::Catalog& catalog = source.catalog();
	const std::optional<Panic> panic = panic_of(catalog);
	lib::JsonObject machine;
	for (const auto& [key, value] : catalog.machine)
		if (!panic || std::find(std::begin(trace::kPanicKeys), std::end(trace::kPanicKeys), key) ==
		                  std::end(trace::kPanicKeys)) // these are an object of their own
			machine.text(key.c_str(), value);
	const trace::KernelEvents kernel_events = source.kernel_events();
	std::vector<std::string> probes, unrecorded, captured, asks, remarks, event_remarks, events, thinned;
	for (const auto& [id, count] : contents.records) {
		const auto probe = catalog.probes.find(id);
		probes.push_back(
		    lib::JsonObject()
		        .text("probe", probe == catalog.probes.end() ? "?" : probe->second.text())
		        .raw("records", std::to_string(count))
		        .str());
	}
	for (const trace::Probe* const probe : target.unrecorded())
		unrecorded.push_back(lib::json_text(probe->text()));
	for (const std::string& input : inputs_of(catalog, target))
		captured.push_back(lib::json_text(input));
	for (const std::string& question : questions(catalog, contents, target))
		asks.push_back(lib::json_text(question));
	for (const std::string& remark : source.remarks())
		remarks.push_back(lib::json_text(remark));
	for (const std::string& remark : kernel_events.remarks)
		event_remarks.push_back(lib::json_text(remark));
	for (size_t i = 0; i < catalog.events.size(); i++)
		if (const std::string text = render::event_text(catalog, i); !text.empty())
			events.push_back(lib::JsonObject()
			                     .raw("time", std::to_string(catalog.events[i].time))
			                     .text("event", text)
			                     .str());
	for (const trace::Losses::Stretch& stretch : contents.thinned)
		thinned.push_back(lib::JsonObject()
		                      .raw("from", std::to_string(stretch.from))
		                      .raw("to", stretch.to ? std::to_string(stretch.to) : "null")
		                      .raw("cpu", std::to_string(stretch.cpu))
		                      .text("priority", trace::priority_text(stretch.priority))
		                      .text("clauses", trace::clauses_of(catalog, stretch.priority))
		                      .raw("left_out", std::to_string(stretch.left_out))
		                      .raw("detached", stretch.detached ? "true" : "false")
		                      .str());
	const FilesFacts facts(source);
	std::printf(
	    "%s\n",
	    shown(lib::JsonObject()
	              .text("file", source.name())
	              .raw("files", lib::json_list(json_files(source)))
	              .raw("bytes", std::to_string(facts.bytes))
	              .raw("finished", facts.finished ? "true" : "false")
	              .raw("verdict", lib::verdict_text(contents.verdict, catalog, true))
	              .text("state", catalog.state_name)
	              .raw("state_number", std::to_string(static_cast<uint32_t>(catalog.state_id)))
	              .text("boot", hexadecimal(catalog.boot_id))
	              .raw("anonymous", catalog.anonymous ? "true" : "false")
	              .text("policy", policy(catalog.policy))
	              .raw("machine", machine.str())
	              .raw("panic", panic ? panic_json(*panic) : "null")
	              .raw("names", lib::JsonObject()
	                                .raw("kernel", std::to_string(names.kernel_symbols()))
	                                .raw("user", std::to_string(names.user_symbols()))
	                                .raw("files", std::to_string(names.files()))
	                                .str())
	              .raw("types", lib::JsonObject()
	                                .raw("containers", std::to_string(types.btf.size()))
	                                .raw("probes", std::to_string(types.probes.size()))
	                                .raw("left_out", std::to_string(types.left_out))
	                                .str())
	              .raw("kernel_events", lib::JsonObject()
	                                        .raw("events", std::to_string(kernel_events.events.size()))
	                                        .raw("lost", std::to_string(kernel_events.lost))
	                                        .raw("remarks", lib::json_list(event_remarks))
	                                        .str())
	              .raw("events", lib::json_list(events))
	              .raw("triggers", lib::json_list(json_triggers(triggers(catalog, contents, target))))
	              .raw("thinned", lib::json_list(thinned))
	              .raw("remarks", lib::json_list(remarks))
	              .raw("probes", lib::json_list(probes))
	              .raw("unrecorded", lib::json_list(unrecorded))
	              .raw("captured", lib::json_list(captured))
	              .raw("questions", lib::json_list(asks))
	              .str()));
}

void print_program(std::string_view source) {
	for (const char* head = "program"; !source.empty(); head = "") {
		const size_t end = std::min(source.find('\n'), source.size());
		std::printf("  %-11s %s\n", head, shown(source.substr(0, end)));
		source.remove_prefix(std::min(end + 1, source.size()));
	}
}

// A word for a shell, whatever is in it: somebody may copy the line, and the names in it are the file's.
std::string shell_word(std::string_view text) {
	std::string out = "'";
	for (const char c : text)
		out += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return out + "'";
}

std::string file_word(const std::string& name) {
	const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
		return std::isalnum(c) != 0 || std::strchr("_-+=,.:@%/", c) != nullptr;
	});
	return plain ? name : shell_word(name);
}

void print_text(const std::string& arguments, trace::JoinedSource& source, const Contents& contents,
                replay::RecordingTarget& target, const trace::KnownNames& names,
                const trace::RecordedTypes& types) {
	const trace::Catalog& catalog = source.catalog();
	const FilesFacts facts(source);
	std::printf("%s: %s\n", shown(source.name()), shown(trace::verdict_line(contents.verdict, catalog)));
	std::printf("  %-11s %s, number %u of its boot%s\n", "state",
	            catalog.state_name.empty() ? "held by its command" : shown(catalog.state_name),
	            static_cast<uint32_t>(catalog.state_id),
	            catalog.anonymous ? " (anonymous: from the boot)" : "");
	print_machine(catalog);
	std::printf("  %-11s %s of %u blocks of %u bytes on each of %u CPUs; %s %s bytes%s\n", "rings",
	            policy(catalog.policy), catalog.blocks, catalog.block_size, catalog.cpus,
	            source.files().size() > 1 ? "the files have" : "the file has",
	            shown(trace::grouped(facts.bytes)), facts.finished ? "" : " and was cut");
	print_files(source);
	print_panic(catalog, arguments);
	print_events(catalog, contents);
	print_triggers(catalog, triggers(catalog, contents, target));
	for (const std::string& remark : source.remarks())
		std::printf("  %-11s %s\n", "remark", shown(remark));
	print_names(names);
	print_types(types);
	print_kernel_events(source.kernel_events());
	if (!catalog.aggregations.empty())
		std::printf("  %-11s %zu variables, %s keys: dfr replay %s prints them\n", "aggregated",
		            catalog.aggregations.size(), shown(trace::grouped(source.aggregations().size())),
		            shown(arguments));
	for (const std::string& program : catalog.sources)
		if (!program.empty())
			print_program(program);
	std::printf("records by probe\n");
	print_recorded(catalog, contents);
	print_inputs(catalog, target);
	std::printf("ask it\n");
	for (const std::string& question : questions(catalog, contents, target))
		std::printf("  dfr replay -n %s %s\n", shown(shell_word(question)), shown(arguments));
}

int show(trace::JoinedSource& source, bool json, bool named) {
	const Contents contents = read_all(source);
	trace::KnownNames names;
	source.names(names);
	const trace::RecordedTypes types = source.types();
	replay::RecordingTarget target(source.catalog(), source.name());
	std::string arguments;
	for (const auto& file : source.files())
		arguments += (arguments.empty() ? "" : " ") + file_word(file->name());
	if (json)
		print_json(source, contents, target, names, types);
	else
		print_text(arguments, source, contents, target, names, types);
	return print_verdict(contents.verdict, source.catalog(), json, named ? source.name() : std::string{});
}

} // namespace

int run_info(int argc, char** argv) {
	std::vector<std::string> files;
	bool json = false;
	const auto app = make_app("info", "What recordings hold, and what to ask them.", kInfoExamples);
	app->add_option("file", files, "recordings (.dfr); the files of one state are one recording")
	    ->required();
	app->add_flag("--json", json, "all of it as one JSON object for each recording");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	auto groups = trace::group_by_state(files);
	int status = 0;
	for (auto& group : groups) {
		trace::JoinedSource source(std::move(group));
		trace::require_begun(*source.files().front());
		status = final_status(status, show(source, json, groups.size() > 1));
	}
	return status;
}

} // namespace dfr::cli
