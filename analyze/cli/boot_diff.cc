// SPDX-License-Identifier: GPL-2.0
//
// dfr boot diff: two groups of recorded boots, what became slower from one to the other, and how surely.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/boot_recording.h"
#include "analyze/cli/dfr.h"
#include "analyze/libdfr/boot_compare.h"
#include "analyze/libdfr/json.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

using lib::BootComparison, lib::BootDifference, lib::BootQuestionOf;

constexpr const char* kBootDiffExamples =
    "  dfr boot diff old/*.dfr -- new/*.dfr\n"
    "  dfr boot diff --confidence 99 --least 500 old/*.dfr -- new/*.dfr\n"
    "  dfr boot diff --json old/*.dfr -- new/*.dfr | jq '.differences[0]'\n";
constexpr size_t kRows = 10; // of a question, of what was not shown

struct Group {
	std::vector<std::unique_ptr<BootRecording>> recordings;
	std::vector<lib::BootTimeline> timelines;
	std::vector<std::string> ids; // of the boots
	std::vector<lib::BootInitcalls> events;
	std::string no_events; // why not all have them
};

Group read_group(const std::vector<std::string>& files, const char* which) {
	Group group;
	for (auto& boot : trace::group_by_state(files)) {
		group.recordings.push_back(std::make_unique<BootRecording>(std::move(boot)));
		BootRecording& one = *group.recordings.back();
		group.timelines.push_back(one.timeline());
		group.ids.push_back(one.catalog().machine_text("bootid"));
		std::string why;
		auto events = one.events(why);
		if (events && events->lost)
			why = "the kernel's buffer lost " + std::to_string(events->lost) + " events";
		else if (events && !events->remarks.empty())
			why = events->remarks.front();
		else if (events)
			group.events.push_back(std::move(*events));
		if (!why.empty())
			group.no_events = one.name() + ": " + why;
	}
	if (group.recordings.size() > lib::kMostRanked)
		throw Error(std::string(which) + " has " + std::to_string(group.recordings.size()) +
		                " boots, of " + std::to_string(lib::kMostRanked) + " that can be compared",
		            "name fewer");
	return group;
}

// What a comparison of these recordings cannot be: each is a line for who reads it.
struct Doubts {
	bool partial = false;           // a recording is
	bool unlike = false;            // they are not of one program
	bool no_login = false;          // a boot has no login prompt
	std::vector<std::string> lines; // what and which
};

// What the boot's program is called; empty: the recording names none.
std::string program_of(BootRecording& one) {
	const std::string text = one.catalog().machine_text("bootprogram");
	return text.substr(0, text.find(','));
}

Doubts doubts_of(const Group& before, const Group& after) {
	Doubts out;
	BootRecording& like = *before.recordings.front();
	for (const Group* const group : {&before, &after})
		for (const auto& one : group->recordings) {
			const std::string program = program_of(*one);
			if (!one->verdict().complete) {
				out.partial = true;
				out.lines.push_back(one->name() +
				                    " is partial: only the login prompt is compared");
			}
			if (!one->timeline().login) {
				out.no_login = true;
				out.lines.push_back(
				    one->name() +
				    " has no login prompt: the boot as a whole is not compared");
			}
			if (program.empty()) {
				out.unlike = true;
				out.lines.push_back(one->name() + " names no boot program");
			} else if (program != program_of(like)) {
				out.unlike = true;
				out.lines.push_back(one->name() + " is of the program " + program + ", not " +
				                    program_of(like));
			}
			if (one->probes() != like.probes()) {
				out.unlike = true;
				out.lines.push_back(one->name() + " has " + one->probes() + ", but " +
				                    like.name() + " has " + like.probes());
			}
		}
	return out;
}

void refuse_twice(const Group& before, const Group& after) {
	std::vector<std::string> known;
	for (const Group* const group : {&before, &after})
		for (const std::string& id : group->ids) {
			if (!id.empty() && std::ranges::find(known, id) != known.end())
				throw Error("two recordings are of one boot: " + id, "name each boot once");
			known.push_back(id);
		}
}

// All different values of a key of the catalogs, such as "6.1.0-56-amd64, 6.12.95+deb12-amd64".
std::string all_of(const Group& group, const char* key) {
	std::vector<std::string> known;
	for (const auto& one : group.recordings)
		if (std::string text = one->catalog().machine_text(key);
		    std::ranges::find(known, text) == known.end())
			known.push_back(std::move(text));
	std::string out;
	for (const std::string& one : known)
		out += (out.empty() ? "" : ", ") + (one.empty() ? "not named" : one);
	return out;
}

std::string boots_text(size_t count) {
	return std::to_string(count) + (count == 1 ? " boot" : " boots");
}

void print_group(const char* which, const Group& group) {
	std::printf("%-7s %s of %s, kernel %s, the first at %s\n", which,
	            shown(boots_text(group.recordings.size())), shown(all_of(group, "host")),
	            shown(all_of(group, "release")), shown(begin_text(group.recordings[0]->catalog())));
}

std::string percent_text(double share) {
	char text[32];
	if (share >= 0.995 && share < 1) // is not 100 %
		std::snprintf(text, sizeof text, "%.4g %%", std::floor(share * 1e4 + 1e-6) / 100);
	else
		std::snprintf(text, sizeof text, share >= 0.0995 ? "%.0f %%" : "%.2g %%", share * 100);
	return text;
}

std::string times_text(const BootDifference& one) {
	if (one.times_before == one.times_after)
		return {};
	char text[64];
	std::snprintf(text, sizeof text, ", %g times, then %g", one.times_before, one.times_after);
	return text;
}

void print_row(const BootDifference& one) {
	const char* const words = one.slower ? "SLOWER" : one.faster ? "faster" : "not shown";
	const std::string what = one.kind == "login" ? one.name
	                         : one.phase.empty()
	                             ? one.kind + " " + one.name
	                             : one.kind + " " + one.name + " (" + one.phase + times_text(one) + ")";
	std::printf("%9.3f %9.3f %+9.3f %+9.3f %+9.3f %6s %7s  %-9s  %s\n", lib::median(one.before) / 1e9,
	            lib::median(one.after) / 1e9, one.test.shift / 1e9, one.test.low / 1e9,
	            one.test.high / 1e9, shown(percent_text(one.test.confidence)),
	            shown(percent_text(one.chance)), words, shown(what));
}

void print_question(const BootComparison& all, BootQuestionOf question, const char* title, bool every) {
	const size_t compared = all.compared(question);
	std::printf("\n%s: %zu compared\n", title, compared);
	if (!compared)
		return;
	std::printf("%9s %9s %9s %9s %9s %6s %7s\n", "before s", "after s", "change s", "from", "to",
	            "surely", "chance");
	size_t quiet = 0;
	for (const BootDifference& one : all.differences) {
		if (one.question != question)
			continue;
		if (one.slower || one.faster || every || quiet < kRows)
			print_row(one);
		if (!one.slower && !one.faster)
			quiet++;
	}
	if (!every && quiet > kRows)
		std::printf("%9s and %zu that changed less, none of them shown: --all\n", "", quiet - kRows);
}

void print_absences(const BootComparison& all, bool every) {
	const auto one_sided = [](const lib::BootAbsence& one) { return !one.before || !one.after; };
	const auto count = static_cast<size_t>(std::ranges::count_if(all.absences, one_sided));
	std::printf("\nonly in some boots: %zu, %zu of them in boots of one group only\n",
	            all.absences.size(), count);
	size_t told = 0;
	for (const lib::BootAbsence& one : all.absences)
		if (every || (one_sided(one) && told++ < kRows))
			std::printf("%4zu of %zu before, %zu of %zu after: %s\n", one.before, all.before,
			            one.after, all.after,
			            shown(one.kind + " " + one.name + " (" + one.phase + ")"));
	if (!every && all.absences.size() > std::min(told, kRows))
		std::printf("%9s and %zu more: --all\n", "", all.absences.size() - std::min(told, kRows));
}

// What is so only after is always shown: it may be what hangs.
void print_unended(const BootComparison& all, bool every) {
	const auto only_after = std::ranges::count_if(all.unended, &lib::BootUnended::only_after);
	std::printf(
	    "\nnot compared, because it had not ended in all boots: %zu, %zu of them only behind --\n",
	    all.unended.size(), static_cast<size_t>(only_after));
	size_t told = 0;
	for (const lib::BootUnended& one : all.unended) {
		if (!every && !one.only_after && told >= kRows)
			break;
		std::printf("%4zu of %zu before, %zu of %zu after had ended: %s\n", one.before, all.before,
		            one.after, all.after, shown(one.kind + " " + one.name + " (" + one.phase + ")"));
		told++;
	}
	if (told < all.unended.size())
		std::printf("%9s and %zu more: --all\n", "", all.unended.size() - told);
}

// What so many boots can show, and what not.
void print_power(const BootComparison& all) {
	const double least = lib::least_chance(all.before, all.after);
	std::printf(
	    "\n%zu and %zu boots: whatever they measure, chance alone sets such groups as far apart in %s of "
	    "all cases at least.\n",
	    all.before, all.after, shown(percent_text(least)));
	const struct {
		BootQuestionOf question;
		const char* what;
	} questions[] = {{BootQuestionOf::kWhole, "the boot as a whole"},
	                 {BootQuestionOf::kParts, "one part"},
	                 {BootQuestionOf::kMoments, "one moment"}};
	for (const auto& [question, what] : questions) {
		const size_t compared = all.compared(question);
		if (!compared)
			continue;
		const size_t needed = lib::boots_needed(compared, all.confidence);
		const std::string of = compared > 1 ? " of " + std::to_string(compared) : "";
		std::printf("At %s they %s show that %s%s became slower", shown(percent_text(all.confidence)),
		            all.could_show(question) ? "can" : "cannot", what, shown(of));
		if (all.could_show(question) || !needed)
			std::printf(".\n");
		else
			std::printf("; %zu of each could.\n", needed);
	}
	std::printf(
	    "\"Not shown\" is not \"equal\". What differed between the groups besides what was changed "
	    "(load, hour, a cold disk) is not seen here.\n");
}

void print_text(const BootComparison& all, const Group& before, const Group& after, const Doubts& doubts,
                bool every) {
	print_group("before", before);
	print_group("after", after);
	for (const std::string& line : doubts.lines)
		std::printf("! %s\n", shown(line));
	const std::string& without = before.no_events.empty() ? after.no_events : before.no_events;
	if (!without.empty())
		std::printf("initcalls are not compared: %s\n", shown(without));
	std::printf("not looked for: what no two boots differ in by %.3f s (--least; %zu things)\n",
	            all.least / 1e9, all.left_out);
	print_question(all, BootQuestionOf::kWhole, "the boot as a whole, until the login prompt", every);
	print_question(all, BootQuestionOf::kParts, "what takes time: phases, services, processes, initcalls",
	               every);
	print_question(all, BootQuestionOf::kMoments,
	               "what came later in its phase: services that stay, modules", every);
	print_absences(all, every);
	print_unended(all, every);
	print_power(all);
}

std::string number(double value) {
	char text[40];
	std::snprintf(text, sizeof text, "%.17g", value);
	return text;
}

std::string numbers(const std::vector<double>& values) {
	std::vector<std::string> list;
	for (const double value : values)
		list.push_back(number(value));
	return lib::json_list(list);
}

std::string json_group(const Group& group) {
	std::vector<std::string> list;
	for (const auto& one : group.recordings)
		list.push_back(lib::JsonObject()
		                   .text("file", one->name())
		                   .text("host", one->catalog().machine_text("host"))
		                   .text("release", one->catalog().machine_text("release"))
		                   .text("bootid", one->catalog().machine_text("bootid"))
		                   .text("program", one->catalog().machine_text("bootprogram"))
		                   .str());
	return lib::json_list(list);
}

std::string json_difference(const BootDifference& one) {
	const char* const questions[] = {"whole", "parts", "moments"};
	lib::JsonObject object;
	return object.text("question", questions[static_cast<int>(one.question)])
	    .text("kind", one.kind)
	    .text("phase", one.phase)
	    .text("name", one.name)
	    .raw("before_ns", numbers(one.before))
	    .raw("after_ns", numbers(one.after))
	    .raw("times_before", number(one.times_before))
	    .raw("times_after", number(one.times_after))
	    .raw("median_before_ns", number(lib::median(one.before)))
	    .raw("median_after_ns", number(lib::median(one.after)))
	    .raw("change_ns", number(one.test.shift))
	    .raw("from_ns", number(one.test.low))
	    .raw("to_ns", number(one.test.high))
	    .raw("interval_confidence", number(one.test.confidence))
	    .raw("chance_alone", number(one.test.chance))
	    .raw("chance", number(one.chance))
	    .text("verdict", one.slower   ? "slower"
	                     : one.faster ? "faster"
	                                  : "not shown")
	    .str();
}

void print_json(const BootComparison& all, const Group& before, const Group& after, const Doubts& doubts) {
	std::vector<std::string> differences, absences, unended, lines;
	for (const std::string& line : doubts.lines)
		lines.push_back(lib::json_text(line));
	for (const BootDifference& one : all.differences)
		differences.push_back(json_difference(one));
	for (const lib::BootAbsence& one : all.absences)
		absences.push_back(lib::JsonObject()
		                       .text("kind", one.kind)
		                       .text("phase", one.phase)
		                       .text("name", one.name)
		                       .raw("before", std::to_string(one.before))
		                       .raw("after", std::to_string(one.after))
		                       .str());
	for (const lib::BootUnended& one : all.unended)
		unended.push_back(lib::JsonObject()
		                      .text("kind", one.kind)
		                      .text("phase", one.phase)
		                      .text("name", one.name)
		                      .raw("ended_before", std::to_string(one.before))
		                      .raw("ended_after", std::to_string(one.after))
		                      .raw("only_after", one.only_after ? "true" : "false")
		                      .str());
	lib::JsonObject out;
	out.raw("before", json_group(before))
	    .raw("after", json_group(after))
	    .raw("confidence", number(all.confidence))
	    .raw("least_ns", number(all.least))
	    .raw("least_chance", number(lib::least_chance(all.before, all.after)))
	    .raw("doubts", lib::json_list(lines))
	    .raw("slower", all.slower() ? "true" : "false")
	    .text("no_initcalls", before.no_events.empty() ? after.no_events : before.no_events)
	    .raw("left_out", std::to_string(all.left_out))
	    .raw("differences", lib::json_list(differences))
	    .raw("absences", lib::json_list(absences))
	    .raw("unended", lib::json_list(unended));
	std::printf("%s\n", shown(out.str()));
}

void print_verdicts(const Group& group, bool json) {
	for (const auto& one : group.recordings)
		print_verdict(one->verdict(), one->catalog(), json, one->name());
}

} // namespace

int run_boot_diff(int argc, char** argv) {
	char** const end = argv + argc;
	char** const separator =
	    std::find_if(argv, end, [](const char* one) { return std::strcmp(one, "--") == 0; });
	std::vector<std::string> before, after;
	if (separator != end)
		after.assign(separator + 1, end);
	double confidence = 95, least = 0;
	bool json = false, all = false;
	const auto app = make_app(
	    "boot diff",
	    "dfr boot diff FILE... -- FILE...: compare two groups of recorded boots: what became slower\n"
	    "in those behind --, by how much, and how surely, by an exact test that is right for few\n"
	    "boots. \"from\" and \"to\" are the interval of one change, as sure as it says; \"chance\" is\n"
	    "what the difference is worth where so many things are compared to answer one of the three\n"
	    "questions. Status 4: something became slower; 3: so few boots could not have shown it, a boot\n"
	    "has no login prompt, something had not ended in boots behind -- only (but no new service or\n"
	    "process that ends in no boot), or recordings are partial or of several programs; 0: nothing\n"
	    "slower was shown.",
	    kBootDiffExamples);
	app->add_option("before", before, "recordings of the boots before; all files of each");
	app->add_option("--confidence", confidence, "how sure a difference must be, in percent (default: 95)")
	    ->option_text("PERCENT")
	    ->check(CLI::Range(50.0, 99.9999));
	app->add_option("--least", least, "milliseconds that matter (default: a hundredth of a boot)")
	    ->option_text("MS")
	    ->check(CLI::Range(0.001, 1e9));
	app->add_flag("--json", json, "everything, as one object; the verdicts, too, on stderr");
	app->add_flag("--all", all, "also what changed little, and everything that is in some boots only");
	if (const auto status = parse_arguments(*app, static_cast<int>(separator - argv), argv))
		return *status;
	if (before.empty() || after.empty()) {
		print_error("dfr boot diff: two groups of recordings are compared",
		            "dfr boot diff old/*.dfr -- new/*.dfr");
		return kStatusUsage;
	}
	const Group first = read_group(before, "the first group"),
	            second = read_group(after, "the second group");
	refuse_twice(first, second);
	const Doubts doubts = doubts_of(first, second);
	lib::CompareOptions options{
	    .confidence = confidence / 100, .least = least * 1e6, .partial = doubts.partial};
	if (first.no_events.empty() && second.no_events.empty()) {
		options.events = first.events;
		options.events.insert(options.events.end(), second.events.begin(), second.events.end());
	}
	const BootComparison found = lib::compare_boots(first.timelines, second.timelines, options);
	if (json)
		print_json(found, first, second, doubts);
	else
		print_text(found, first, second, doubts, all);
	print_verdicts(first, json);
	print_verdicts(second, json);
	if (doubts.partial || doubts.unlike)
		return kStatusPartial;
	if (found.slower())
		return kStatusSlower;
	return found.in_vain() || found.hangs() || doubts.no_login ? kStatusPartial : 0;
}

} // namespace dfr::cli
