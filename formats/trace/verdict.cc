// SPDX-License-Identifier: GPL-2.0
//
// The verdict: how complete an answer is. The window is the time in which every
// CPU's records are complete. If a ring has overwritten blocks, the window begins
// at that CPU's oldest complete time (the horizon); records that are missing before
// it are not loss. Up to three sources report the same loss (the engine's counters,
// LOSS records in the blocks, gaps between blocks); each cause is counted once.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "formats/trace/counted.h"
#include "formats/trace/decode.h"

namespace dfr::trace {
namespace {

// What is lost as a firing counts once, whatever its clauses would have recorded, and before any predicate.
struct Cause {
	const char* unit;
	const char* text;
	bool by_cpu = true; // false: whichever CPU is at hand tells of it
};
constexpr Cause kCauses[] = {
    {"record", "ring full"},                          // PRINCIPAL
    {"record", "aggregation table full"},             // AGGREGATION
    {"record", "speculation full"},                   // SPEC
    {"record", "speculations still busy"},            // SPEC_BUSY
    {"record", "no speculation free"},                // SPEC_UNAVAILABLE
    {"record", "no room for dynamic variables"},      // DYNVAR
    {"record", "dynamic variables not yet clean"},    // DYNVAR_DIRTY
    {"record", "dynamic variables being cleaned"},    // DYNVAR_RINSING
    {"firing", "nested in an NMI"},                   // NMI
    {"firing", "no node for a return probe"},         // RETURN_POOL
    {"firing", "held back by the governor"},          // THROTTLE
    {"firing", "no ring for a CPU that came", false}, // HOTPLUG
    {"record", "fault inside an ERROR clause"},       // DOUBLE_ERROR
    {"record", "stack strings full"},                 // STKSTR
    {"record", "overwritten while they were read"},   // OVERWRITTEN
    {"firing", "fired where RCU does not watch"},     // RCU_IDLE
    {"firing", "missed by their provider", false},    // MISSED
    {"firing", "estimated: probes detached", false},  // DETACHED
};
static_assert(std::size(kCauses) == DFR_LOSS_MAX, "each cause");
constexpr Cause kUnknownCause = {"record", "by what a newer dfr knows"};

// " on CPU 2" if all entries name the same CPU; else empty.
std::string where(const std::vector<Losses::Loss>& entries) {
	if (entries.empty() || entries[0].cpu < 0)
		return "";
	for (const Losses::Loss& entry : entries)
		if (entry.cpu != entries[0].cpu)
			return "";
	return " on CPU " + std::to_string(entries[0].cpu);
}

struct Window {
	uint64_t from = UINT64_MAX, to = 0;
	bool horizon = false;
};

Window find_window(const Catalog& catalog, const Merger& merger,
                   const std::optional<BlockSource::SourceCut>& cut) {
	Window window;
	for (const Merger::CpuSpan& span : merger.cpus()) {
		if (!span.blocks || !span.records)
			continue;
		window.from = std::min(window.from, span.first);
		window.to = std::max(window.to, span.last);
	}
	for (const EventMark& mark : catalog.events) {
		// Records of before go are not of all CPUs.
		if (mark.event == DFR_EVENT_GO)
			window.from = mark.time;
		// These two come whether or not anything is recorded.
		if (mark.event != DFR_EVENT_MARK && mark.event != DFR_EVENT_SNAPSHOT)
			window.to = std::max(window.to, mark.time);
	}
	if (const uint64_t horizon = merger.horizon()) {
		window.from = horizon;
		window.horizon = horizon >= merger.selection().from; // else it is not what bounds the answer
	}
	if (cut) // up to there nothing was recorded that is not here
		window.to = std::max(window.to, cut->whole_until - 1);
	window.to = std::min({window.to, catalog.recording_end(), merger.selection().to});
	window.from = std::min(std::max(window.from, merger.selection().from), window.to);
	return window;
}

// The losses of one cause.
struct Lost {
	std::vector<Losses::Loss> entries;
	uint64_t count = 0;
	void add(const Losses::Loss& entry) {
		entries.push_back(entry);
		count = added(count, entry.count);
	}
};

// Records that were certainly lost outside of the window, by CPU (-1: not known): of each CPU what its LOSS records
// tell, or its block headers and the LOSS records of what came behind them, whichever is more, because both tell of the
// same losses.
class LostOutside {
public:
	explicit LostOutside(const Merger& merger) {
		for (const Losses::Loss& entry : merger.losses_outside().entries)
			by_cpu_[entry.cpu] += entry.count;
		for (size_t cpu = 0; cpu < merger.cpus().size(); cpu++) {
			uint64_t& lost = by_cpu_[static_cast<int32_t>(cpu)];
			const Merger::CpuSpan& span = merger.cpus()[cpu];
			lost = std::max(lost, added(span.lost_outside, span.lost_since));
		}
	}
	// Of `count` records that a counter of this CPU (-1: of all) tells, how many these may be; they are used up, and
	// what is empty goes, because a ledger may have very many entries.
	uint64_t take(int32_t cpu, uint64_t count) {
		uint64_t left = count;
		auto of = cpu < 0 ? by_cpu_.begin() : by_cpu_.find(cpu);
		while (left && of != by_cpu_.end()) {
			const uint64_t part = std::min(of->second, left);
			left -= part;
			of->second -= part;
			if (!of->second)
				of = by_cpu_.erase(of);
			if (cpu >= 0)
				break;
		}
		return count - left;
	}

private:
	std::map<int32_t, uint64_t> by_cpu_;
};

// Two accounts tell of the same losses: LOSS records in the blocks, which have times, and the engine's
// counters since go, which have none. What the counters tell beyond the records counts too, except for as
// many as were certainly lost outside of the window.
void judge_losses(Verdict& verdict, const Losses& counters, const Merger& merger) {
	const uint64_t from = std::max(merger.selection().from, merger.horizon()), to = merger.selection().to;
	LostOutside outside(merger);
	std::array<Lost, DFR_LOSS_MAX + 1> told{}, counted{}; // the last one: of causes that are not known
	for (const Losses::Loss& entry : merger.losses().entries)
		told[std::min<uint32_t>(entry.cause, DFR_LOSS_MAX)].add(entry);
	for (const Losses::Loss& entry : counters.entries) {
		const bool elsewhen = entry.to && (entry.to < from || entry.from > to);
		if (!elsewhen)
			counted[std::min<uint32_t>(entry.cause, DFR_LOSS_MAX)].add(entry);
	}
	for (uint32_t cause = 0; cause <= DFR_LOSS_MAX; cause++) {
		uint64_t beyond = counted[cause].count - std::min(counted[cause].count, told[cause].count);
		for (const Losses::Loss& entry : counted[cause].entries)
			beyond -= outside.take(entry.cpu, std::min(beyond, entry.count));
		const uint64_t lost = told[cause].count + beyond;
		if (!lost)
			continue;
		verdict.lost = added(verdict.lost, lost);
		if (cause == DFR_LOSS_DETACHED)
			verdict.estimated = lost;
		const std::vector<Losses::Loss>& entries = (beyond ? counted : told)[cause].entries;
		const Cause& of = cause < DFR_LOSS_MAX ? kCauses[cause] : kUnknownCause;
		verdict.reasons.push_back(plural(lost, of.unit) + " lost" +
		                          (of.by_cpu ? where(entries) : "") + " (" + of.text + ")");
	}
}

// What a clause's probes have in common: the description that it most likely had.
std::string description(const std::vector<const Probe*>& probes) {
	std::string text;
	for (const auto field : {&Probe::provider, &Probe::module, &Probe::function, &Probe::name}) {
		const std::string& first = probes.front()->*field;
		const bool common = std::all_of(probes.begin(), probes.end(),
		                                [&](const Probe* probe) { return probe->*field == first; });
		text += (field == &Probe::provider ? "" : ":") + (common ? first : "");
	}
	return text;
}

// One stretch for each priority that the question needs, which stands for all of them.
struct Thinned {
	Losses::Stretch whole;
	uint64_t time = 0; // of all CPUs
	unsigned stretches = 0;
	bool one_cpu = true;
	void add(Losses::Stretch stretch) {
		time += stretch.to - stretch.from;
		if (!stretches++) {
			whole = stretch;
			return;
		}
		one_cpu &= whole.cpu == stretch.cpu;
		whole.from = std::min(whole.from, stretch.from);
		whole.to = std::max(whole.to, stretch.to);
		whole.left_out += stretch.left_out;
		whole.detached |= stretch.detached;
	}
};

std::string seconds(uint64_t ns) {
	std::array<char, 32> text;
	std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ns) / 1e9);
	return text.data();
}

// A clause that was off says nothing of its probes meanwhile, so an answer that needs it is partial.
void judge_thinned(Verdict& verdict, const Catalog& catalog, const Merger& merger,
                   const std::function<bool(uint32_t)>& needs) {
	const uint64_t from = std::max(merger.selection().from, merger.horizon()), to = merger.selection().to;
	std::map<uint32_t, Thinned> by_priority;
	std::map<uint32_t, bool> needed; // each is asked once: it looks through all of the question's clauses
	for (Losses::Stretch stretch : merger.losses().stretches) {
		const auto [answer, fresh] = needed.try_emplace(stretch.priority);
		if (fresh)
			answer->second = !needs || needs(stretch.priority);
		if (!answer->second)
			continue;
		stretch.from = std::max(stretch.from, from);
		const uint64_t end = stretch.end_at_most() == UINT64_MAX ? verdict.to : stretch.end_at_most();
		stretch.to = std::max(stretch.from, std::min(end, to));
		by_priority[stretch.priority].add(stretch);
	}
	for (const auto& [priority, thinned] : by_priority) {
		const Losses::Stretch& whole = thinned.whole;
		verdict.reasons.push_back(
		    "clauses of " + std::string(priority_text(priority)) + " priority (" +
		    clauses_of(catalog, priority) + ") were thinned" +
		    (thinned.stretches > 1
		         ? " " + plural(thinned.stretches, "time") + ", " + seconds(thinned.time) + " in all,"
		         : "") +
		    " " + time_text(catalog, whole.from) + "-" + time_text(catalog, whole.to) +
		    (thinned.one_cpu && whole.cpu >= 0 ? " on CPU " + std::to_string(whole.cpu) : "") +
		    " (budget" + left_out_text(whole) + ")");
	}
}

// Adds what only the blocks tell: gaps, losses that neither counters nor LOSS records report, and damage.
void judge_blocks(Verdict& verdict, BlockSource& source, const Merger& merger) {
	uint64_t by_headers = 0;
	// Records of blocks that were overwritten while a consumer lacked spares. They are lost by that cause, and no second
	// time because the blocks are not there.
	std::map<int32_t, uint64_t> overwritten = merger.losses().by_cpu(DFR_LOSS_OVERWRITTEN);
	for (size_t cpu = 0; cpu < merger.cpus().size(); cpu++) {
		const Merger::CpuSpan& span = merger.cpus()[cpu];
		by_headers += span.lost + span.lost_across;
		if (!span.gaps && !span.missing)
			continue;
		const uint64_t told = std::min(span.missing, overwritten[static_cast<int32_t>(cpu)]);
		const uint64_t missing = span.missing - told;
		if (told && !missing)
			continue;
		verdict.reasons.push_back(plural(missing, "record") + " missing on CPU " +
		                          std::to_string(cpu) + " (" +
		                          (span.gaps ? plural(span.gaps, "block") + " not there)"
		                                     : "a block has fewer than its next one says)"));
		verdict.lost = added(verdict.lost, missing);
	}
	for (const auto& [cpu, reach] : source.reaches()) {
		const Merger::CpuSpan span = merger.span_of(cpu);
		if (!merger.selection().has(cpu) || !span.falls_short_of(reach))
			continue;
		const uint64_t missing = reach.records - std::min(reach.records, span.reached);
		verdict.reasons.push_back(plural(missing, "record") + " missing on CPU " +
		                          std::to_string(cpu) +
		                          (span.last_seq == reach.seq ? " (its last block had more later)"
		                                                      : " (its last blocks are not there)"));
		verdict.lost = added(verdict.lost, missing);
	}
	if (by_headers > verdict.lost) {
		verdict.reasons.push_back(plural(by_headers - verdict.lost, "record") +
		                          " lost (cause not known)");
		verdict.lost = by_headers;
	}
	const DecodeDamage& damage = merger.damage();
	if (damage.blocks)
		verdict.reasons.push_back(plural(damage.blocks, "damaged block"));
	if (damage.regions)
		verdict.reasons.push_back(
		    plural(damage.bytes, "damaged byte") + " in " + plural(damage.regions, "place") +
		    (damage.records ? ", " + plural(damage.records, "record") + " missing there" : ""));
	verdict.lost = added(verdict.lost, damage.records);
}

// Names the first ring of policy fill that was full: its CPU recorded nothing from then on.
// An answer about a time before the first one lacks nothing.
void judge_full(Verdict& verdict, const Catalog& catalog, const Merger& merger) {
	const EventMark* first = nullptr;
	size_t full = 0;
	for (const EventMark& mark : catalog.events) {
		if (mark.event != DFR_EVENT_FULL || mark.time > merger.selection().to)
			continue;
		full++;
		if (!first || mark.time < first->time)
			first = &mark;
	}
	if (first)
		verdict.reasons.push_back(
		    "stopped, full, at " + time_text(catalog, first->time) + " (the ring of CPU " +
		    std::to_string(first->value) +
		    (full > 1 ? " first, " + std::to_string(full) + " CPUs in all" : "") +
		    "; bufpolicy=fill)");
}

// What fires at a probe while the governor has it detached is counted when it is attached again, or at stop.
void judge_detached(Verdict& verdict, const Catalog& catalog, uint64_t end) {
	if (const std::string text = detached_text(catalog, end); !text.empty())
		verdict.reasons.push_back(text + " (budget): what fired there is not counted");
}

// Probes that a clause is on and that never fire for it. Some have no name here: a provider may not know which it left out.
void judge_unarmed(Verdict& verdict, const Catalog& catalog, const Merger& merger,
                   const std::function<bool(const Probe&)>& needs) {
	const EventMark* first = nullptr;
	std::string name;
	size_t more = 0;
	for (const EventMark& mark : catalog.events) {
		if (mark.event != DFR_EVENT_UNARMED || mark.time > merger.selection().to)
			continue;
		const auto probe = catalog.probes.find(static_cast<uint32_t>(mark.value));
		const bool known = mark.value > 0 && probe != catalog.probes.end();
		if (known && needs && !needs(probe->second))
			continue;
		const size_t count =
		    mark.value < 0 ? static_cast<size_t>(-static_cast<int64_t>(mark.value)) : 1;
		if (first) {
			more += count;
			continue;
		}
		first = &mark;
		name = known               ? probe->second.text()
		       : mark.value < 0    ? plural(count, "probe")
		       : mark.text.empty() ? "some of the probes"
		                           : "some of the probes " + mark.text;
	}
	if (first)
		verdict.reasons.push_back(name + (more ? " and " + plural(more, "other probe") : "") +
		                          " could not be armed (" +
		                          (first->error == EPERM ? "arguments of the kernel's are hidden"
		                           : first->error == ECANCELED ? "kprobes were off"
		                                                       : std::strerror(first->error)) +
		                          "): what fired there is not recorded");
}

// What fires when the kernel has ended a state is in no record and no counter; after an oops, on its CPU, from the mark's
// time on, and elsewhere when all CPUs had stopped.
void judge_killed(Verdict& verdict, const Catalog& catalog, const Merger& merger) {
	for (const EventMark& mark : catalog.events) {
		if (mark.event != DFR_EVENT_KILLED || mark.time > merger.selection().to)
			continue;
		const std::string when = time_text(catalog, mark.time);
		verdict.reasons.push_back(
		    mark.value == DFR_KILLED_OOPS
		        ? "ended by an oops of the kernel inside a probe's firing (from " + when +
		              " on, what fired on its CPU is not known)"
		        : "ended by the kernel at " + when + ", because " +
		              (mark.value == DFR_KILLED_CONSUMER
		                   ? "its consumer was not seen for too long"
		                   : "probes took more than nine tenths of a CPU for a second"));
	}
}

struct Moment {
	int64_t seconds;
	int milliseconds;
	std::tm local;
};

Moment moment(const Catalog& catalog, uint64_t mono) {
	const int64_t wall = catalog.walltime(mono);
	Moment result{.seconds = wall / 1'000'000'000,
	              .milliseconds = static_cast<int>(wall / 1'000'000 % 1000),
	              .local = {}};
	const std::time_t seconds = result.seconds;
	localtime_r(&seconds, &result.local);
	return result;
}

std::string format_moment(const Moment& when, const char* format) {
	std::array<char, 64> text;
	const size_t length = std::strftime(text.data(), text.size(), format, &when.local);
	std::array<char, 8> fraction;
	std::snprintf(fraction.data(), fraction.size(), ".%03d", when.milliseconds);
	return std::string(text.data(), length) + fraction.data();
}

// Of a recording that has no clock entry, as --from and --to take it.
std::string own_time_text(uint64_t mono) {
	return mono ? "@" + std::to_string(mono) : "a time not known";
}

} // namespace

const char* priority_text(uint32_t priority) {
	return priority == DFR_PRIORITY_LOW ? "low" : priority == DFR_PRIORITY_HIGH ? "high" : "normal";
}

Verdict judge_whole(BlockSource& source) {
	Merger merger(source);
	return judge_whole(source, merger, [](const Record&) { return true; });
}

Verdict judge_whole(BlockSource& source, Merger& merger, const std::function<bool(const Record&)>& visit) {
	merger.open();
	const auto cut = source.cut();
	const uint64_t from = merger.horizon(), to = cut && cut->goes_on ? cut->whole_until - 1 : UINT64_MAX;
	uint64_t outside = 0;
	merger.run([&](const Record& record) {
		outside += record.time < from || record.time > to;
		return visit(record);
	});
	Verdict verdict = judge(source, merger);
	if (cut && RecordShapes(source.catalog()).may_commit())
		verdict.notes.push_back(later_commits_text(source.catalog(), cut->whole_until));
	verdict.records -= outside;
	return verdict;
}

// These have the times of before their commit, so a mark says nothing of them.
std::string later_commits_text(const Catalog& catalog, uint64_t mark) {
	return "records of speculations that were committed after " + time_text(catalog, mark) +
	       " may be missing";
}

bool may_be_thinned(const Catalog& catalog) {
	return std::any_of(catalog.ecbs.begin(), catalog.ecbs.end(),
	                   [](const Ecb& ecb) { return ecb.priority != DFR_PRIORITY_NORMAL; });
}

std::string clauses_of(const Catalog& catalog, uint32_t priority) {
	std::map<std::pair<uint32_t, uint32_t>, std::vector<const Probe*>> clauses; // by DOF and clause
	for (const Ecb& ecb : catalog.ecbs) {
		const auto layout = catalog.layouts.find(ecb.layout);
		const auto probe = catalog.probes.find(ecb.probe);
		if (ecb.epid && ecb.priority == priority && layout != catalog.layouts.end() &&
		    probe != catalog.probes.end() && probe->first > 3)
			clauses[{layout->second.dof, layout->second.clause}].push_back(&probe->second);
	}
	constexpr size_t kShown = 6;
	std::set<std::string> texts;
	std::string all;
	for (const auto& [clause, probes] : clauses) {
		const auto [text, fresh] = texts.insert(description(probes));
		if (fresh && texts.size() <= kShown)
			all += (texts.size() > 1 ? ", " : "") + *text;
	}
	if (texts.size() > kShown)
		all += " and " + std::to_string(texts.size() - kShown) + " more";
	return all.empty() ? "of no probes that are known" : all;
}

std::string left_out_text(const Losses::Stretch& stretch) {
	return (stretch.left_out ? ", " + plural(stretch.left_out, "firing") + " left out" : "") +
	       (!stretch.detached  ? ""
	        : stretch.left_out ? ", and more while its probes were detached"
	                           : ", probes detached");
}

std::string detached_text(const Catalog& catalog, uint64_t end) {
	const uint64_t to = std::min(end, catalog.recording_end());
	std::map<int32_t, uint64_t> since; // by probe; what was only counted as -1
	uint64_t counted = 0;
	for (const EventMark& mark : catalog.events) {
		// The end counts what was detached until then, also where exit() had ended the recording before.
		const bool ends = mark.event == DFR_EVENT_STOP || mark.event == DFR_EVENT_KILLED;
		if (mark.time > (ends ? end : to))
			continue;
		const int32_t probe = std::max(mark.value, -1);
		if (mark.event == DFR_EVENT_DETACHED) {
			since.emplace(probe, mark.time);
			counted += probe < 0 ? static_cast<uint64_t>(-int64_t{mark.value}) : 0;
		} else if (mark.event == DFR_EVENT_ATTACHED) {
			since.erase(probe);
			counted = probe < 0 ? 0 : counted;
		} else if (ends) {
			since.clear();
			counted = 0;
		}
	}
	if (since.empty())
		return {};
	const auto first = std::min_element(since.begin(), since.end(),
	                                    [](const auto& a, const auto& b) { return a.second < b.second; });
	const auto probe = catalog.probes.find(static_cast<uint32_t>(first->first));
	return (first->first < 0                ? plural(counted, "probe")
	        : probe == catalog.probes.end() ? "a probe"
	                                        : probe->second.text()) +
	       (since.size() > 1 ? " and " + plural(since.size() - 1, "other probe") : "") +
	       " detached by the governor from " + time_text(catalog, first->second) + " on";
}

std::string time_text(const Catalog& catalog, uint64_t mono) {
	return catalog.clocks.empty() || !mono ? own_time_text(mono)
	                                       : format_moment(moment(catalog, mono), "%H:%M:%S");
}

std::string span_text(const Catalog& catalog, uint64_t from, uint64_t to) {
	if (!to)
		return "times not known";
	if (catalog.clocks.empty())
		return own_time_text(from) + " - " + own_time_text(to);
	const Moment first = moment(catalog, from), last = moment(catalog, to);
	const bool same_day =
	    first.local.tm_yday == last.local.tm_yday && first.local.tm_year == last.local.tm_year;
	const char* const format = same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S";
	return format_moment(first, format) + (same_day ? "-" : " - ") + format_moment(last, format);
}

Asked asked_about(const Catalog& catalog, const std::function<bool(const Probe& probe)>& probe) {
	const auto priority = [&catalog, probe](uint32_t wanted) {
		return std::any_of(catalog.ecbs.begin(), catalog.ecbs.end(), [&](const Ecb& ecb) {
			const Probe* const of =
			    ecb.epid && ecb.priority == wanted ? catalog.probe_of(ecb.epid) : nullptr;
			return of && probe(*of);
		});
	};
	return {.priority = priority, .probe = probe};
}

Verdict judge(BlockSource& source, const Merger& merger, const Asked& asked) {
	Verdict verdict;
	const auto cut = source.cut();
	const Window window = find_window(source.catalog(), merger, cut);
	verdict.from = window.from;
	verdict.to = window.to;
	verdict.windowed = window.horizon;
	for (const Merger::CpuSpan& span : merger.cpus()) {
		verdict.records += span.records;
		verdict.cpus += span.blocks != 0;
	}
	judge_losses(verdict, source.losses(), merger);
	judge_thinned(verdict, source.catalog(), merger, asked.priority);
	judge_blocks(verdict, source, merger);
	judge_full(verdict, source.catalog(), merger);
	// What the catalog tells of after the cut, the ledger does not have.
	judge_detached(
	    verdict, source.catalog(),
	    std::min(merger.selection().to, cut && cut->goes_on ? cut->whole_until - 1 : UINT64_MAX));
	judge_unarmed(verdict, source.catalog(), merger, asked.probe);
	judge_killed(verdict, source.catalog(), merger);
	if (cut) {
		const uint64_t to = merger.selection().to;
		verdict.goes_on = cut->goes_on && to >= cut->whole_until - 1;
		if (verdict.goes_on)
			verdict.to = std::min(verdict.to, cut->whole_until - 1);
		else if (to >= cut->whole_until - 1 && !source.partial()) // else it is among the remarks
			verdict.reasons.push_back(cut->why);
	}
	if (source.partial())
		for (std::string& remark : source.remarks())
			verdict.reasons.push_back(std::move(remark));
	verdict.complete = verdict.reasons.empty() && !source.partial();
	return verdict;
}

namespace {

std::string milliseconds(uint64_t ns) {
	std::array<char, 32> text;
	std::snprintf(text.data(), text.size(), "%.3f ms", static_cast<double>(ns) / 1e6);
	return text.data();
}

} // namespace

std::string verdict_line(const Verdict& verdict, const Catalog& catalog) {
	const bool window = verdict.windowed || verdict.goes_on;
	std::string line = !verdict.complete ? "partial: " : window ? "window: " : "complete: ";
	line += span_text(catalog, verdict.from, verdict.to);
	line += ", " + plural(verdict.cpus, "CPU");
	if (verdict.hosts > 1)
		line += " of " + plural(verdict.hosts, "host") +
		        " (in the order of their clocks, seen to be wrong by up to " +
		        milliseconds(verdict.clock_error) + ")";
	line += ", " + plural(verdict.records, "record");
	if (verdict.windowed)
		line += "; earlier records are missing (overwritten, or taken earlier)";
	if (verdict.goes_on)
		line += "; the recording went on after it";
	for (const auto* const texts : {&verdict.notes, &verdict.reasons})
		for (const std::string& text : *texts)
			line += "; " + text;
	return line;
}

} // namespace dfr::trace
