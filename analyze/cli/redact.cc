// SPDX-License-Identifier: GPL-2.0
//
// dfr redact: a recording that holds only what was allowed, and the proof of it.
#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/new_file.h"
#include "analyze/cli/progress.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/json.h"
#include "analyze/replay/redaction.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr const char* kRedactExamples =
    "  dfr redact --list web.dfr\n"
    "  dfr redact --keep execname,arg0 web.dfr -o for-vendor.dfr\n"
    "  dfr redact --keep pid,'stack()',names --keep 'syscall::open*:entry/arg1' web.dfr -o for-vendor.dfr\n"
    "\nWith pid and names, the paths of all files that the processes had mapped are kept, whether an address "
    "that\n"
    "is kept lies in them or not.\n"
    "Always kept: each record's time since the boot, CPU, level and probe; probes' names; counts of "
    "losses.\n"
    "Never kept: aggregations, what a program printed, computed or exited with, addresses at which inputs\n"
    "faulted, remarks, what this dfr does not know.\n";

void print_list(const std::string& file, const std::vector<replay::Keepable>& all) {
	std::printf("%s: what --keep can name\n", shown(file));
	bool inputs = false;
	for (const replay::Keepable& one : all) {
		if (one.input && !inputs)
			std::printf("inputs of records ([PROBE/]INPUT, both may be globs)\n");
		inputs = one.input;
		if (one.input)
			std::printf("  %-24s of %s (%s%s)\n", shown(one.word),
			            one.probes == 1 ? "1 probe"
			                            : shown(trace::grouped(one.probes) + " probes"),
			            shown(one.example), one.probes > 1 ? " ..." : "");
		else
			std::printf("  %-24s %s\n", shown(one.word), shown(one.what));
	}
	if (!inputs)
		std::printf("no record has an input that could be asked for\n");
}

void print_list_json(const std::string& file, const std::vector<replay::Keepable>& all) {
	std::string items;
	for (const replay::Keepable& one : all) {
		lib::JsonObject item;
		item.text("keep", one.word).raw("input", one.input ? "true" : "false");
		if (one.input)
			item.raw("probes", std::to_string(one.probes)).text("example", one.example);
		else
			item.text("what", one.what);
		items += (items.empty() ? "" : ", ") + item.str();
	}
	std::printf("%s\n", shown(lib::JsonObject().text("file", file).raw("keep", "[" + items + "]").str()));
}

Error ended(const std::string& output) {
	return Error("ended by a signal; " + output + " was not written");
}

// Throws if the file at `written` has more than was allowed.
uint64_t prove(const std::string& file, const std::string& written, const std::string& output,
               const trace::Redaction& redaction) {
	Progress progress("checking " + output);
	const trace::RedactProof proof =
	    trace::prove_redacted(file, written, redaction, [&progress](uint64_t done, uint64_t all) {
		    return progress.at(done, all);
	    });
	if (proof.stopped || signals_caught() != 0)
		throw ended(output);
	if (!proof.wrong.empty())
		throw Error(
		    output +
		        " was not written: read again, it has more than was allowed: " + proof.wrong.front() +
		        (proof.wrong.size() > 1 ? " (and " + std::to_string(proof.wrong.size() - 1) + " more)"
		                                : ""),
		    "allow that with --keep, or keep less");
	if (proof.more_texts)
		std::fprintf(stderr,
		             "dfr: only the first %s of the texts that were taken out were searched for\n",
		             shown(trace::grouped(proof.texts)));
	return proof.texts;
}

} // namespace

int run_redact(int argc, char** argv) {
	std::string file, output;
	std::vector<std::string> keep;
	bool list = false, replace = false, json = false;
	const auto app =
	    make_app("redact", "Write a recording that holds only what is allowed, for somebody else.",
	             kRedactExamples);
	app->add_option("file", file, "a recording (.dfr)")->required();
	app->add_option(
	       "--keep", keep,
	       "what stays, with commas between: pid, execname, cgroup, walltime, host, kernel, names, "
	       "events, program, or inputs [PROBE/]INPUT such as arg0 or 'syscall:::entry/arg*'")
	    ->allow_extra_args(false)
	    ->check(check_given);
	app->add_option("-o,--output", output, "the recording to write");
	app->add_flag("--list", list, "print what the recording has that --keep can name");
	app->add_flag("--replace", replace, "overwrite the output if it exists");
	app->add_flag("--json", json, "the list, or the verdict, as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (list == !output.empty() || (list && !keep.empty())) {
		print_error(list ? "dfr redact: --list writes nothing, so -o and --keep make no sense with it"
		                 : "dfr redact: nothing says where to write",
		            "dfr redact --help shows options and examples");
		return kStatusUsage;
	}
	catch_signals();
	const auto source = trace::open_file(file);
	trace::require_begun(*source);
	replay::RecordingTarget target(source->catalog(), file);
	if (list) {
		(json ? print_list_json : print_list)(file, replay::keepable(*source, target));
		return 0;
	}
	std::vector<std::string> words;
	for (const std::string& text : keep)
		for (std::string& word : replay::split_words(text))
			words.push_back(std::move(word));
	const trace::Redaction redaction = replay::make_redaction(*source, target, words);
	NewFile written(output, replace, file);
	trace::RedactResult result;
	{
		Progress progress(file);
		result = trace::redact_file(
		    file, written.temporary(), redaction,
		    [&progress](uint64_t done, uint64_t all) { return progress.at(done, all); });
	}
	if (result.stopped)
		throw ended(output);
	const uint64_t texts = prove(file, written.temporary(), output, redaction);
	written.keep();
	std::fprintf(
	    stderr,
	    "dfr: %s has %s records: only %s; read again, nothing else is in it (%s texts that were taken "
	    "out are in none of its bytes)\n",
	    shown(output), shown(trace::grouped(result.records)), shown(redaction.text),
	    shown(trace::grouped(texts)));
	if (result.remarks_left_out != 0 || result.segments_left_out != 0)
		std::fprintf(stderr,
		             "dfr: left out whole: %s remarks, %s segments (aggregations, names, events)\n",
		             shown(trace::grouped(result.remarks_left_out)),
		             shown(trace::grouped(result.segments_left_out)));
	const auto made = trace::open_file(output);
	return print_verdict(trace::judge_whole(*made), made->catalog(), json);
}

} // namespace dfr::cli
