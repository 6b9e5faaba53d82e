// SPDX-License-Identifier: GPL-2.0
//
// dfr cut: a part of a recording as a recording.
#include <charconv>
#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/new_file.h"
#include "analyze/cli/progress.h"
#include "analyze/cli/signals.h"
#include "analyze/replay/recording_target.h"
#include "analyze/replay/wanted.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/cut.h"
#include "formats/trace/redact.h"
#include "formats/trace/united.h"

namespace dfr::cli {
namespace {

constexpr const char* kCutExamples = "  dfr cut --from=-10s boot.dfr -o end.dfr\n"
                                     "  dfr cut --pid 812,813 --probe 'syscall:::' boot.dfr -o two.dfr\n";

struct CutArguments {
	std::string file, output, pids;
	PartArguments part;
	std::vector<std::string> probes;
	bool replace = false, json = false;
	bool nothing() const { return part.empty() && pids.empty() && probes.empty(); }
};

// "5,7"; false: it is no list of numbers.
bool read_pids(std::string_view text, std::set<uint32_t>& pids) {
	while (true) {
		const std::string_view part = text.substr(0, text.find(','));
		uint32_t pid = 0;
		const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), pid);
		if (failed != std::errc{} || end != part.data() + part.size())
			return false;
		pids.insert(pid);
		if (part.size() == text.size())
			return true;
		text.remove_prefix(part.size() + 1);
	}
}

// A usage error's text; empty: the options make sense.
std::string read_options(const CutArguments& arguments, trace::Cut& cut) {
	if (arguments.nothing())
		return "nothing says what to cut";
	if (!arguments.pids.empty() && !read_pids(arguments.pids, cut.pids))
		return "--pid " + arguments.pids + " is no list of processes such as 812,813";
	return {};
}

// No record would say that it is of one of them.
void require_pids(const CutArguments& arguments, const trace::Catalog& catalog) {
	if (!arguments.pids.empty() && trace::taken_out_words(catalog).contains("pid"))
		throw Error("pid was taken out of " + arguments.file +
		                " (dfr redact), so --pid finds nothing",
		            "ask for a recording that keeps pid");
}

void find_probes(const CutArguments& arguments, const trace::Catalog& catalog, trace::Cut& cut) {
	for (const std::string& glob : arguments.probes) {
		const d::ProbePattern pattern = parse_pattern(glob);
		bool found = false;
		for (const trace::Ecb& ecb : catalog.ecbs) {
			const auto probe = catalog.probes.find(ecb.probe);
			if (probe == catalog.probes.end() ||
			    !replay::RecordingTarget::matches(pattern, probe->second))
				continue;
			cut.probes.insert(ecb.probe);
			found = true;
		}
		if (!found)
			throw Error("nothing that was recorded matches " + glob,
			            "dfr info " + arguments.file + " lists what it holds");
	}
}

// `pids`: of which no record is wanted.
[[noreturn]] void refuse_pids(const CutArguments& arguments, const std::set<uint32_t>& pids) {
	std::string text = pids.size() > 1 ? "processes" : "process";
	for (const uint32_t pid : pids)
		text += (pid == *pids.begin() ? " " : ", ") + std::to_string(pid);
	const bool part = !arguments.part.empty() || !arguments.probes.empty();
	throw Error("nothing was recorded of " + text + (part ? " in that part" : ""),
	            "dfr replay -qn '::: { @[pid, execname] = count(); }' " + arguments.file +
	                " shows which there are");
}

// What remains, in words.
std::string text_of(const CutArguments& arguments, const trace::Selection& span,
                    const trace::Catalog& catalog) {
	std::string text;
	const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
	if (!arguments.part.from.empty())
		add("from " + (span.from ? trace::time_text(catalog, span.from) : "the beginning"));
	if (!arguments.part.to.empty())
		text += (text.empty() ? "to " : " to ") + trace::time_text(catalog, span.to);
	if (!arguments.part.cpus.empty())
		add("CPU " + arguments.part.cpus);
	for (const std::string& probe : arguments.probes)
		add("probe " + probe);
	if (!arguments.pids.empty())
		add("pid " + arguments.pids);
	return text;
}

// Of FILE, what the clauses of these probes recorded.
trace::Asked asked(const trace::Cut& cut, const trace::Catalog& catalog) {
	if (cut.probes.empty())
		return {};
	return trace::asked_about(
	    catalog, [&cut](const trace::Probe& probe) { return cut.probes.contains(probe.id); });
}

} // namespace

int run_cut(int argc, char** argv) {
	CutArguments arguments;
	replay::Wanted wanted;
	trace::Cut cut;
	const auto app = make_app("cut", "Write a part of a recording as a recording.", kCutExamples);
	app->add_option("file", arguments.file, "a recording (.dfr)")->required();
	app->add_option("-o,--output", arguments.output, "the recording to write")->required();
	arguments.part.add_to(*app);
	app->add_option("--probe", arguments.probes,
	                "only these probes: provider:module:function:name, or globs")
	    ->allow_extra_args(false)
	    ->check(check_given);
	app->add_option("--pid", arguments.pids, "only these processes: 812,813")->check(check_given);
	app->add_flag("--replace", arguments.replace, "overwrite the output if it exists");
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (const std::string wrong = read_options(arguments, cut); !wrong.empty()) {
		print_error("dfr cut: " + wrong, "dfr cut --help shows options and examples");
		return kStatusUsage;
	}
	arguments.part.read(wanted);
	catch_signals();
	NewFile output(arguments.output, arguments.replace, arguments.file);
	const auto source = trace::open_file(arguments.file);
	trace::require_begun(*source);
	const trace::Catalog& catalog = source->catalog();
	trace::Merger merger(*source);
	merger.open();
	const trace::United united({source.get()});
	const replay::Selectable recording{merger, united.members().front()};
	const std::vector<replay::Selected> selected = replay::select(wanted, {&recording, 1}, false);
	cut.span = selected.front().records;
	require_pids(arguments, catalog);
	find_probes(arguments, catalog, cut);
	cut.text = text_of(arguments, cut.span, catalog);
	Progress progress(arguments.file);
	std::set<uint32_t> unmet = cut.pids;
	merger.run([&](const trace::Record& record) {
		if (!unmet.empty() && cut.wants(record, catalog))
			unmet.erase(record.context.pid);
		return signals_caught() == 0;
	});
	if (!unmet.empty() && signals_caught() == 0)
		refuse_pids(arguments, unmet);
	// That OUT is a part is what was asked for; what FILE lacks of that part is not.
	const bool whole =
	    selected.front().reasons.empty() && trace::judge(*source, merger, asked(cut, catalog)).complete;
	const trace::CutResult result =
	    trace::cut_file(arguments.file, output.temporary(), cut,
	                    [&progress](uint64_t done, uint64_t all) { return progress.at(done, all); });
	if (result.stopped || signals_caught() != 0)
		throw Error("ended by a signal; " + arguments.output + " was not written");
	output.keep();
	std::fprintf(stderr, "dfr: %s has %s records: only %s%s\n", shown(arguments.output),
	             shown(trace::grouped(result.records)), shown(cut.text),
	             result.aggregations_left_out
	                 ? "; aggregations were left out, because they count the whole recording"
	                 : "");
	const auto made = trace::open_file(arguments.output);
	print_verdict(trace::judge_whole(*made), made->catalog(), arguments.json);
	return whole ? 0 : kStatusPartial;
}

} // namespace dfr::cli
