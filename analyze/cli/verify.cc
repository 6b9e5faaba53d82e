// SPDX-License-Identifier: GPL-2.0
//
// dfr verify: whether all of a recording is there and sound.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/progress.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/joined.h"
#include "formats/trace/verify.h"

namespace dfr::cli {
namespace {

constexpr const char* kVerifyExamples = "  dfr verify boot.dfr\n"
                                        "  dfr verify --json *.dfr\n";
constexpr size_t kShown = 50;

std::string span_text(const trace::TimeSpan& span, const trace::Catalog& catalog) {
	return trace::time_text(catalog, span.from) + " to " + trace::time_text(catalog, span.to) +
	       " (--from @" + std::to_string(span.from) + " --to @" + std::to_string(span.to) + ")";
}

void print_sums(const trace::Inspection& found) {
	for (const trace::CpuSum& sum : found.cpus) {
		std::printf("  CPU %-3u %s committed = %s in the file", sum.cpu,
		            shown(trace::grouped(sum.committed)), shown(trace::grouped(sum.in_file)));
		const std::pair<uint64_t, const char*> others[] = {
		    {sum.earlier, "before this file"},
		    {sum.overwritten, "overwritten or taken earlier"},
		    {sum.lost, "lost"},
		    {sum.cut, "cut"},
		    {sum.missing, "missing"}};
		for (const auto& [count, what] : others)
			if (count != 0)
				std::printf(" + %s %s", shown(trace::grouped(count)), what);
		std::printf("\n");
	}
}

void print_text(const std::string& file, const trace::Inspection& found) {
	std::printf("%s: %s: %s bytes, %s segments, %s chunks, %s blocks, %s intervals, %s records\n",
	            shown(file), found.sound() ? "sound" : "damaged", shown(trace::grouped(found.bytes)),
	            shown(trace::grouped(found.segments)), shown(trace::grouped(found.chunks)),
	            shown(trace::grouped(found.blocks)), shown(trace::grouped(found.intervals)),
	            shown(trace::grouped(found.records)));
	for (size_t i = 0; i < std::min(found.findings.size(), kShown); i++)
		std::printf("  %s\n", shown(found.findings[i].text()));
	const uint64_t all = found.findings.size() + found.more;
	if (all > kShown)
		std::printf("  ... and %s more\n", shown(trace::grouped(all - kShown)));
	print_sums(found);
	if (found.unsealed != 0)
		std::printf("  %s blocks have no checksums: they were open when they were read\n",
		            shown(trace::grouped(found.unsealed)));
	if (found.unknown != 0)
		std::printf("  %s segments are of a newer dfr and were passed over\n",
		            shown(trace::grouped(found.unknown)));
	if (found.sound())
		return;
	std::printf("  every CPU is whole%s\n", found.whole.empty() ? " at no time" : ":");
	for (size_t i = 0; i < std::min(found.whole.size(), kShown); i++)
		std::printf("    %s\n", shown(span_text(found.whole[i], found.catalog)));
}

std::string joined(const std::vector<std::string>& items) {
	std::string out = "[";
	for (const std::string& item : items)
		out += (out.size() > 1 ? ", " : "") + item;
	return out + "]";
}

void print_json(const std::string& file, const trace::Inspection& found) {
	std::vector<std::string> findings, cpus, whole;
	for (const trace::Finding& finding : found.findings)
		findings.push_back(lib::JsonObject()
		                       .raw("from", std::to_string(finding.from))
		                       .raw("to", std::to_string(finding.to))
		                       .raw("cpu", std::to_string(finding.cpu))
		                       .raw("block", std::to_string(finding.block))
		                       .text("what", finding.what)
		                       .str());
	for (const trace::CpuSum& sum : found.cpus)
		cpus.push_back(lib::JsonObject()
		                   .raw("cpu", std::to_string(sum.cpu))
		                   .raw("committed", std::to_string(sum.committed))
		                   .raw("in_file", std::to_string(sum.in_file))
		                   .raw("earlier", std::to_string(sum.earlier))
		                   .raw("overwritten", std::to_string(sum.overwritten))
		                   .raw("lost", std::to_string(sum.lost))
		                   .raw("cut", std::to_string(sum.cut))
		                   .raw("missing", std::to_string(sum.missing))
		                   .str());
	for (const trace::TimeSpan& span : found.whole)
		whole.push_back(lib::JsonObject()
		                    .raw("from", std::to_string(span.from))
		                    .raw("to", std::to_string(span.to))
		                    .str());
	std::printf("%s\n", shown(lib::JsonObject()
	                              .text("file", file)
	                              .raw("sound", found.sound() ? "true" : "false")
	                              .raw("bytes", std::to_string(found.bytes))
	                              .raw("segments", std::to_string(found.segments))
	                              .raw("chunks", std::to_string(found.chunks))
	                              .raw("blocks", std::to_string(found.blocks))
	                              .raw("intervals", std::to_string(found.intervals))
	                              .raw("records", std::to_string(found.records))
	                              .raw("unsealed", std::to_string(found.unsealed))
	                              .raw("unknown", std::to_string(found.unknown))
	                              .raw("findings", joined(findings))
	                              .raw("more", std::to_string(found.more))
	                              .raw("cpus", joined(cpus))
	                              .raw("whole", joined(whole))
	                              .raw("verdict", lib::verdict_text(found.verdict, found.catalog, true))
	                              .str()));
}

int verify_one(const std::string& file, bool json, bool named) {
	const trace::Inspection found = [&file] {
		Progress progress(file);
		return trace::verify_file(
		    file, [&progress](uint64_t done, uint64_t all) { return progress.at(done, all); });
	}();
	if (json)
		print_json(file, found);
	else
		print_text(file, found);
	const int partial = print_verdict(found.verdict, found.catalog, json, named ? file : std::string{});
	return found.sound() ? partial : kStatusPartial;
}

// What only several files of a state tell together: whether one between them is missing.
int verify_together(const std::vector<std::string>& files, bool json) {
	int status = 0;
	for (auto& group : trace::group_by_state(files)) {
		trace::JoinedSource source(std::move(group));
		if (source.files().size() < 2)
			continue;
		trace::Merger merger(source);
		trace::Verdict verdict = trace::judge_whole(
		    source, merger, [](const trace::Record&) { return signals_caught() == 0; });
		if (signals_caught() != 0)
			throw Error("ended by a signal before the files were read together");
		for (std::string& note : source.notes())
			verdict.reasons.push_back(std::move(note));
		status = std::max(status, print_verdict(verdict, source.catalog(), json, source.name()));
	}
	return status;
}

} // namespace

int run_verify(int argc, char** argv) {
	std::vector<std::string> files;
	bool json = false;
	const auto app =
	    make_app("verify", "Whether all of a recording is there and sound: checksums, columns, counts.",
	             kVerifyExamples);
	app->add_option("file", files, "recordings (.dfr); those of one state also together")->required();
	app->add_flag("--json", json, "one JSON object for each file, and the verdict as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	catch_signals();
	int status = 0;
	const auto go_on = [&status](const std::function<void()>& read) {
		try {
			read();
		} catch (const Error& error) { // the other files are still read
			print_error(error.what(), error.hint());
			status = kStatusError;
		}
	};
	std::vector<std::string> recordings;
	for (const std::string& file : files)
		go_on([&] { std::ranges::move(trace::recordings_of(file), std::back_inserter(recordings)); });
	const bool several = files.size() > 1 || recordings.size() > 1;
	for (const std::string& recording : recordings) {
		if (signals_caught() != 0)
			throw Error("ended by a signal before " + recording + " was read");
		go_on([&] { status = final_status(status, verify_one(recording, json, several)); });
	}
	if (several && status != kStatusError)
		status = final_status(status, verify_together(recordings, json));
	return status;
}

} // namespace dfr::cli
