// SPDX-License-Identifier: GPL-2.0
//
// One pass over the records keeps the last few of each CPU and the last one of each
// thread. A call is open if its entry has no return behind it on the same thread, of
// functions whose every return is recorded; I/O and waits for locks likewise, by their
// first argument. Where an end may be missing (it was overwritten, lost, thinned), what
// began before that is told apart: nobody knows whether it has ended.
#include "analyze/cli/crash_report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <tuple>

#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "analyze/replay/recording_target.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kLast = 12, kLastOfPanic = 30; // records shown of a CPU
constexpr size_t kThreads = 30, kDeepest = 64;
constexpr size_t kFrames = 16;                             // shown of a stack
constexpr size_t kOutstanding = 4096, kInFlightMost = 200; // kept
constexpr size_t kUnknownShown = 30;
constexpr size_t kProbeMost = 4096; // characters of its name; each of a thousand turns has it in the JSON
constexpr size_t kTurns = 1000;     // kept of a CPU
constexpr uint64_t kTogether = 1'000'000;
constexpr uint64_t kNever = UINT64_MAX;

// Probes that begin and end something, which both pass as arg0.
struct Pair {
	const char *provider, *begin, *end;
	bool of_thread; // many threads, or CPUs, may have begun with the same argument
};
constexpr Pair kPairs[] = {{"io", "start", "done", false},
                           {"sdt", "contention_begin", "contention_end", true}};

std::string function_of(const trace::Probe& probe) {
	return probe.provider + ":" + probe.module + ":" + probe.function;
}

// Losses of these causes are firings without their records; the others are of aggregations, variables, speculations.
bool takes_records(uint32_t cause) {
	switch (cause) {
	case DFR_LOSS_AGGREGATION:
	case DFR_LOSS_SPEC:
	case DFR_LOSS_SPEC_BUSY:
	case DFR_LOSS_SPEC_UNAVAILABLE:
	case DFR_LOSS_DYNVAR:
	case DFR_LOSS_DYNVAR_DIRTY:
	case DFR_LOSS_DYNVAR_RINSING:
	case DFR_LOSS_STKSTR: return false;
	default: return true;
	}
}

uint64_t count_taken(const trace::Losses& losses) {
	uint64_t count = 0;
	for (const trace::Losses::Loss& loss : losses.entries)
		count += takes_records(loss.cause) ? loss.count : 0;
	return count;
}

// Where the last gap between the blocks of a CPU ends; kNever: the source does not say.
uint64_t last_gap(trace::BlockSource& source) {
	std::vector<trace::BlockRef> refs = source.index();
	std::sort(refs.begin(), refs.end(), [](const trace::BlockRef& a, const trace::BlockRef& b) {
		return std::tuple(a.head.cpu, a.head.seq) < std::tuple(b.head.cpu, b.head.seq);
	});
	uint64_t until = 0;
	for (size_t i = 1; i < refs.size(); i++) {
		const dfr_block &before = refs[i - 1].head, &head = refs[i].head;
		if (before.cpu == head.cpu &&
		    (head.seq > before.seq + 1 || head.record_base > before.record_base + before.records))
			until = std::max<uint64_t>(until, head.first_time);
	}
	return until ? until : kNever;
}

// Of the losses that take records, how many at least have a time, or lie before a CPU's first block, whose header has them.
uint64_t count_dated(trace::BlockSource& source, const trace::Merger& merger) {
	std::map<int32_t, dfr_block> fronts;
	for (const trace::BlockRef& ref : source.index()) {
		const auto [front, fresh] = fronts.try_emplace(ref.head.cpu, ref.head);
		if (!fresh && ref.head.seq < front->second.seq)
			front->second = ref.head;
	}
	uint64_t dated = 0;
	for (const trace::Losses* losses : {&merger.losses(), &merger.losses_outside()})
		for (const trace::Losses::Loss& loss : losses->entries) {
			if (!takes_records(loss.cause))
				continue;
			dated = trace::added(dated, loss.count);
			// What was lost before a block was opened is told in it, and its header has it, too.
			if (const auto front = fronts.find(loss.cpu);
			    front != fronts.end() && loss.from <= front->second.open_time)
				front->second.lost -= std::min<uint64_t>(front->second.lost, loss.count);
		}
	// A header does not know causes.
	const trace::Losses all = source.losses();
	const uint64_t others = all.total() - count_taken(all);
	for (const auto& [cpu, front] : fronts)
		if (trace::counts_at_opening(front))
			dated = trace::added(dated, front.lost - std::min<uint64_t>(front.lost, others));
	return dated;
}

// A record's thread; an idle CPU, and what interrupts a task, go by CPU.
uint64_t thread_of(const trace::Record& record) {
	const bool of_task = record.level == DFR_LEVEL_TASK && record.context.tid;
	return of_task ? record.context.tid : (uint64_t{record.cpu} + 1) << 32 | record.level;
}

// At most six, without stacks.
std::string values_of(const trace::Record& record, const trace::Layout* layout) {
	std::string text;
	for (size_t i = 0; i < std::min<size_t>(record.fields.size(), 6); i++) {
		const trace::Value& value = record.fields[i];
		if (layout && i < layout->fields.size() && layout->fields[i].kind == DFR_FIELD_STACK)
			continue; // shown by itself
		text += text.empty() ? "" : " ";
		text += value.bytes.empty() ? std::to_string(static_cast<int64_t>(value.number))
		                            : "(" + std::to_string(value.bytes.size()) + " bytes)";
	}
	return text;
}

} // namespace

CrashReport::CrashReport(trace::BlockSource& source, trace::BlockSource* in_flight)
    : source_(source), catalog_(source.catalog()) {
	find_end();
	find_ends();
	find_unarmed();
	source_.names(names_);
	trace::Merger merger(source_);
	merger.run([this](const trace::Record& record) {
		read(record);
		return true;
	});
	verdict_ = trace::judge(source_, merger);
	find_stop();
	const uint64_t from = whole_from(merger);
	for (auto& [pair, end] : ends_)
		end.known_from = known_from(end, merger.losses(), from);
	for (auto& [function, end] : returns_)
		end.known_from = known_from(end, merger.losses(), from);
	if (!in_flight)
		return;
	trace::Merger speculative(*in_flight);
	speculative.run([this](const trace::Record& record) {
		if (in_flight_.size() < kInFlightMost)
			in_flight_.push_back(last_record(record));
		else
			in_flight_more_++;
		return true;
	});
}

// An end counts only if each of its firings has a record: one that is missing for a predicate looks like none.
void CrashReport::find_ends() {
	replay::RecordingTarget target(catalog_, source_.name());
	std::set<std::pair<size_t, uint32_t>> partly; // of a pair: a probe with a clause that does not
	for (const trace::Ecb& ecb : catalog_.ecbs) {
		const trace::Probe* const probe = catalog_.probe_of(ecb.epid);
		const bool whole = target.records_each(ecb.epid);
		if (probe && probe->name == "return" && whole)
			returns_[function_of(*probe)].add(ecb);
		for (size_t pair = 0; probe && pair < std::size(kPairs); pair++) {
			const bool begins = probe->name == kPairs[pair].begin;
			if (probe->provider != kPairs[pair].provider ||
			    (!begins && probe->name != kPairs[pair].end))
				continue;
			for (const replay::RecordedInput& input : target.inputs(ecb.epid))
				if (input.canon == "arg0")
					first_argument_[ecb.epid] = input.field;
			if (begins)
				continue;
			if (first_argument_.contains(ecb.epid) && whole)
				ends_[pair].add(ecb);
			else
				partly.insert({pair, ecb.probe});
		}
	}
	for (const auto& [pair, probe] : partly)
		if (const auto end = ends_.find(pair);
		    end != ends_.end() && !end->second.probes.contains(probe))
			ends_.erase(end);
	find_exits(target);
}

// One in END tells of nothing that STOP does not.
void CrashReport::find_exits(replay::RecordingTarget& target) {
	bool of_end = false;
	for (const trace::Ecb& ecb : catalog_.ecbs) {
		const trace::Layout* const layout = catalog_.layout_of(ecb.epid);
		const dof::Image* const image = layout ? target.image(layout->dof) : nullptr;
		if (!image || layout->clause >= image->ecbs.size())
			continue;
		const auto& actions = image->body_of(image->ecbs[layout->clause]).actions;
		if (std::any_of(layout->fields.begin(), layout->fields.end(), [&](const dfr_field& field) {
			    return field.action < actions.size() &&
			           actions[field.action].kind == DFR_ACT_EXIT;
		    })) {
			const trace::Probe* const probe = catalog_.probe_of(ecb.epid);
			if (probe && probe->provider == "dtrace" && probe->name == "END")
				of_end = true;
			else
				exits_.insert(ecb.epid);
		}
	}
	only_end_exits_ = of_end && exits_.empty();
}

// By its id, or as one of those that a provider could not name. Clauses that were withheld (EPERM) have no ECB; other
// clauses of such a probe record.
bool CrashReport::may_be_unarmed(const End& end) const {
	return std::any_of(catalog_.events.begin(), catalog_.events.end(), [&](const trace::EventMark& mark) {
		return mark.event == DFR_EVENT_UNARMED && mark.error != EPERM &&
		       (!mark.value || end.probes.contains(static_cast<uint32_t>(mark.value)));
	});
}

void CrashReport::find_unarmed() {
	for (auto& [function, end] : returns_)
		unarmed_ += end.unarmed = may_be_unarmed(end);
	for (auto& [pair, end] : ends_)
		unarmed_ += end.unarmed = may_be_unarmed(end);
}

// The time from which on each record that was made is there, but for losses and thinning that have a time.
uint64_t CrashReport::whole_from(const trace::Merger& merger) {
	const bool full =
	    std::any_of(catalog_.events.begin(), catalog_.events.end(),
	                [](const trace::EventMark& mark) { return mark.event == DFR_EVENT_FULL; });
	const trace::DecodeDamage& damage = merger.damage();
	if (full || stopped_ || source_.partial() || damage.blocks || damage.regions)
		return kNever;
	bool gaps = false;
	for (const trace::Merger::CpuSpan& span : merger.cpus())
		gaps |= span.gaps || span.missing;
	for (const auto& [cpu, reach] : source_.reaches())
		if (merger.span_of(cpu).falls_short_of(reach))
			return kNever;
	if (count_taken(source_.losses()) >
	    count_dated(source_, merger)) // the engine has counted what no block tells
		return kNever;
	return gaps ? std::max(merger.horizon(), last_gap(source_)) : merger.horizon();
}

// The time from which on each of these ends has its record, if it came.
uint64_t CrashReport::known_from(const End& end, const trace::Losses& losses, uint64_t from) {
	if (end.unarmed)
		return kNever;
	for (const trace::Losses::Loss& loss : losses.entries)
		if (takes_records(loss.cause) && (!loss.probe || end.probes.contains(loss.probe)))
			from = std::max(from, loss.to ? loss.to + 1 : kNever);
	for (const trace::Losses::Stretch& stretch : losses.stretches)
		if (end.priorities.contains(stretch.priority))
			from = std::max(from, stretch.to ? stretch.to + 1 : kNever);
	return from;
}

// The panic's time, or that of the last record.
void CrashReport::find_end() {
	panic_ = panic_of(catalog_);
	if (panic_ && panic_->time) {
		end_ = panic_->time;
		return;
	}
	trace::Merger merger(source_);
	merger.run([this](const trace::Record& record) {
		end_ = std::max(end_, record.time);
		return true;
	});
}

// A state that was stopped, or killed, or whose program called exit(), lacks what ended from then on. The record of an
// exit() may have found no room, and the machine may have died before the catalog was told of it.
void CrashReport::find_stop() {
	const auto stop = [this](uint64_t time, const char* by) {
		if (time < end_ && (!stopped_ || time < stopped_->time))
			stopped_ = Stop{time, by};
	};
	for (const trace::EventMark& mark : catalog_.events) {
		if (mark.event == DFR_EVENT_STOP)
			stop(mark.time, "stop");
		else if (mark.event == DFR_EVENT_KILLED)
			stop(mark.time, mark.value == DFR_KILLED_OOPS ? "oops" : "kernel");
		else if (mark.event == DFR_EVENT_EXIT && !only_end_exits_)
			stop(mark.time, "exit");
	}
	if (exit_)
		stop(*exit_, "exit");
}

// An oops has a time from which on nothing is sure, and the state may have ended later.
std::string CrashReport::stop_text() const {
	char text[32];
	std::snprintf(text, sizeof(text), "%.6f s", static_cast<double>(end_ - stopped_->time) / kSecond);
	const std::string before =
	                      text + std::string(panic_ ? " before the panic" : " before the last record"),
	                  by = stopped_->by;
	if (by == "oops")
		return "an oops of the kernel inside a probe's firing had ended the state: what ended from " +
		       before + " on may have no record";
	return (by == "exit" ? "the program had called exit() " : "the state had ended ") + before +
	       ": what ended since may have no record";
}

CrashReport::LastRecord CrashReport::last_record(const trace::Record& record) {
	const trace::Layout* const layout = catalog_.layout_of(record.epid);
	LastRecord one{.time = record.time,
	               .cpu = record.cpu,
	               .pid = record.context.pid,
	               .tid = record.context.tid,
	               .epid = record.epid,
	               .execname = std::string(record.context.execname),
	               .values = values_of(record, layout),
	               .stack = {},
	               .speculation = record.speculation};
	for (size_t i = 0; layout && i < std::min(layout->fields.size(), record.fields.size()); i++)
		if (layout->fields[i].kind == DFR_FIELD_STACK && one.stack.empty()) {
			const std::span<const std::byte> bytes = record.fields[i].bytes;
			one.stack.resize(bytes.size() / sizeof(uint64_t));
			if (!one.stack.empty())
				std::memcpy(one.stack.data(), bytes.data(),
				            one.stack.size() * sizeof(uint64_t));
		}
	return one;
}

void CrashReport::extend(Cpu& cpu, const trace::Record& record, const LastRecord& one) const {
	if (record.time < end_ && end_ - record.time >= kSecond)
		return;
	const uint64_t thread = thread_of(record);
	if (cpu.turns.empty() || cpu.turns.back().thread != thread ||
	    record.time >= cpu.turns.back().last.time + kTogether)
		cpu.turns.push_back(
		    {.thread = thread, .from = record.time, .records = 0, .level = record.level, .last = {}});
	cpu.turns.back().records++;
	cpu.turns.back().last = one;
	if (cpu.turns.size() > kTurns) {
		cpu.turns.pop_front();
		cpu.earlier_turns++;
	}
}

void CrashReport::read(const trace::Record& record) {
	const trace::Probe* const probe = catalog_.probe_of(record.epid);
	LastRecord one = last_record(record);
	if (exits_.contains(record.epid))
		exit_ = std::min(exit_.value_or(kNever), record.time);
	if (probe)
		follow_operation(record, one, *probe);
	Cpu& cpu = cpus_[record.cpu];
	if (record.time > end_)
		cpu.after++;
	else if (end_ - record.time < kSecond)
		cpu.slices[kSlices - 1 - (end_ - record.time) / (kSecond / kSlices)]++;
	extend(cpu, record, one);
	cpu.last.push_back(one);
	if (cpu.last.size() > (is_panics(record.cpu) ? kLastOfPanic : kLast))
		cpu.last.pop_front();
	if (record.level != DFR_LEVEL_TASK)
		return;
	const uint64_t thread = thread_of(record);
	if (probe)
		follow_call(open_[thread], one, *probe);
	threads_[thread] = std::move(one);
}

void CrashReport::follow_operation(const trace::Record& record, const LastRecord& one,
                                   const trace::Probe& probe) {
	const auto argument = first_argument_.find(record.epid);
	if (argument == first_argument_.end() || argument->second >= record.fields.size())
		return;
	for (const auto& [pair, end] : ends_) {
		if (probe.provider != kPairs[pair].provider)
			continue;
		const Outstanding which{pair, record.fields[argument->second].number,
		                        kPairs[pair].of_thread ? thread_of(record) : 0};
		if (const auto before = places_.find(which); before != places_.end()) {
			outstanding_.erase(before->second);
			places_.erase(before);
		}
		if (probe.name != kPairs[pair].begin)
			continue;
		places_[which] = outstanding_.insert(outstanding_.end(), {which, one});
		if (outstanding_.size() > kOutstanding) {
			places_.erase(outstanding_.front().first);
			outstanding_.pop_front();
			left_out_++;
		}
	}
}

void CrashReport::follow_call(std::vector<OpenCall>& calls, const LastRecord& one,
                              const trace::Probe& probe) {
	const auto returns = returns_.find(function_of(probe));
	if (returns == returns_.end())
		return;
	const std::string* const function = &returns->first;
	if (probe.name == "entry" && probe.provider == "syscall") {
		// A thread makes one system call at a time, and some never return.
		const auto before = std::find_if(calls.begin(), calls.end(), [](const OpenCall& open) {
			return open.function->starts_with("syscall:");
		});
		calls.erase(before, calls.end());
		if (probe.function == "exit" || probe.function == "exit_group")
			calls.clear();
		else
			calls.push_back({function, one});
	} else if (probe.name == "entry") {
		calls.push_back({function, one});
		if (calls.size() > kDeepest) {
			calls.erase(calls.begin());
			left_out_++;
		}
	} else if (probe.name == "return") {
		// Calls in it that had no return of their own (a task that ended) went with it.
		const auto call = std::find_if(calls.rbegin(), calls.rend(), [&](const OpenCall& open) {
			return open.function == function;
		});
		if (call != calls.rend())
			calls.erase(std::prev(call.base()), calls.end());
	}
}

// What has begun and has no end: that which has not ended, and that of which nobody knows.
CrashReport::Unended CrashReport::unended() const {
	Unended all;
	const auto sort = [&](std::vector<const LastRecord*>& known, const LastRecord& begin,
	                      const End& end) {
		(begin.time >= end.known_from ? known : all.not_known).push_back(&begin);
	};
	for (const auto& [thread, calls] : open_)
		for (const OpenCall& call : calls)
			sort(all.calls, call.entry, returns_.at(*call.function));
	for (const auto& [which, begin] : outstanding_)
		sort(all.operations, begin, ends_.at(std::get<0>(which)));
	std::sort(all.not_known.begin(), all.not_known.end(),
	          [](const LastRecord* a, const LastRecord* b) { return a->time > b->time; });
	return all;
}

std::string CrashReport::probe_text(const LastRecord& one) const {
	const trace::Probe* const probe = catalog_.probe_of(one.epid);
	return probe ? probe->text().substr(0, kProbeMost) : "EPID " + std::to_string(one.epid);
}

// "-0.001234 s": before the end.
std::string CrashReport::moment(uint64_t time) const {
	char text[32];
	const double seconds = (static_cast<double>(time) - static_cast<double>(end_)) / 1e9;
	std::snprintf(text, sizeof(text), "%+.6f s", seconds);
	return text;
}

// By the recording, by the stack that the dying kernel has named itself, by a module; else the number.
std::string CrashReport::name_of(uint64_t address, uint64_t time) const {
	char text[32];
	if (const auto known = names_.kernel(address, time)) {
		std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(known->offset));
		return (known->module.empty() ? "" : known->module + "`") + known->name + text;
	}
	if (panic_)
		for (const PanicFrame& frame : panic_->stack)
			if (frame.address == address)
				return frame.name;
	if (std::string name = name_by_module(catalog_, address); !name.empty())
		return name;
	std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
	return text;
}

void CrashReport::print_records(const std::vector<const LastRecord*>& records) const {
	for (const LastRecord* const one : records) {
		std::printf("  %14s  %-16s %7u  %s  %s\n", shown(moment(one->time)), shown(one->execname),
		            one->tid, shown(probe_text(*one)), shown(one->values));
		for (size_t i = 0; i < std::min(one->stack.size(), kFrames); i++)
			std::printf("  %14s    %s\n", "", shown(name_of(one->stack[i], one->time)));
		if (one->stack.size() > kFrames)
			std::printf("  %14s    and %zu more\n", "", one->stack.size() - kFrames);
	}
}

void CrashReport::print_unended() const {
	Unended all = unended();
	std::printf("\nbegun and not ended\n");
	print_records(all.calls);
	print_records(all.operations);
	if (all.calls.empty() && all.operations.empty())
		std::printf("  %s\n", returns_.empty() && ends_.empty()
		                          ? "no ends were recorded, or only under a predicate"
		                          : "nothing that is known");
	const size_t unknown = all.not_known.size() + left_out_;
	if (!unknown)
		return;
	std::printf("\nbegun, end not known: it may be among what was overwritten, lost or thinned%s%s\n",
	            stopped_ ? ", or have come when the state had ended" : "",
	            unarmed_ ? ", or be of a probe that could not be armed (dfr info names it)" : "");
	all.not_known.resize(std::min(all.not_known.size(), kUnknownShown));
	print_records(all.not_known);
	if (unknown > all.not_known.size())
		std::printf("  and %zu more%s\n", unknown - all.not_known.size(),
		            left_out_ ? ", more than this report can follow" : "");
}

void CrashReport::print() const {
	if (panic_)
		std::printf("panic at %s on CPU %lld in %s: %s\n", shown(trace::time_text(catalog_, end_)),
		            static_cast<long long>(panic_->cpu), shown(panic_->comm), shown(panic_->reason));
	else
		std::printf("no panic is known; times are before the last record, %s\n",
		            shown(trace::time_text(catalog_, end_)));
	if (stopped_)
		std::printf("%s\n", shown(stop_text()));
	std::printf("\nthe last second, records in 20 ms: '.' 1 or more, ':' 10, '|' 100, '#' 1,000\n");
	for (const auto& [number, cpu] : cpus_) {
		std::string line;
		for (const uint64_t count : cpu.slices)
			line += !count         ? ' '
			        : count < 10   ? '.'
			        : count < 100  ? ':'
			        : count < 1000 ? '|'
			                       : '#';
		std::printf("  CPU %-4u [%s]", number, shown(line));
		if (cpu.after)
			std::printf("  %llu after the panic", static_cast<unsigned long long>(cpu.after));
		std::printf("\n");
	}
	std::vector<const LastRecord*> some;
	for (const auto& [number, cpu] : cpus_) {
		std::printf("\nCPU %u%s, its last records\n", number,
		            is_panics(number) ? " (the panic's)" : "");
		some.clear();
		for (const LastRecord& one : cpu.last)
			some.push_back(&one);
		print_records(some);
	}
	some.clear();
	for (const auto& [thread, one] : threads_)
		some.push_back(&one);
	std::sort(some.begin(), some.end(),
	          [](const LastRecord* a, const LastRecord* b) { return a->time > b->time; });
	const size_t more = some.size() - std::min(some.size(), kThreads);
	some.resize(some.size() - more);
	std::printf("\nthreads, the last record of each\n");
	print_records(some);
	if (more)
		std::printf("  and %zu more\n", more);
	print_unended();
	for (size_t i = 0; i < in_flight_.size(); i++) {
		if (!i)
			std::printf("\nspeculations that were not committed (of several CPUs perhaps "
			            "discarded), by time\n");
		std::printf("  %u:", in_flight_[i].speculation);
		print_records({&in_flight_[i]});
	}
	if (in_flight_more_)
		std::printf("  and %zu more records: dfr harvest --speculations stores all\n",
		            in_flight_more_);
	if (panic_)
		print_panic_texts(*panic_);
}

// Nanoseconds to the end; negative: behind it.
std::string CrashReport::before(uint64_t time) const {
	return std::to_string(static_cast<int64_t>(end_ - time));
}

std::string CrashReport::json_of(const LastRecord& one) const {
	std::vector<std::string> stack;
	for (const uint64_t address : one.stack)
		stack.push_back(lib::json_text(name_of(address, one.time)));
	lib::JsonObject object;
	object.raw("before_ns", before(one.time))
	    .raw("cpu", std::to_string(one.cpu))
	    .raw("pid", std::to_string(one.pid))
	    .raw("tid", std::to_string(one.tid))
	    .text("execname", one.execname)
	    .text("probe", probe_text(one))
	    .text("values", one.values);
	if (!stack.empty())
		object.raw("stack", lib::json_list(stack));
	if (one.speculation)
		object.raw("speculation", std::to_string(one.speculation));
	return object.str();
}

std::string CrashReport::json_of(const Turn& one) const {
	constexpr const char* kLevels[] = {"task", "softirq", "irq", "nmi"};
	return lib::JsonObject()
	    .raw("from_before_ns", before(one.from))
	    .raw("to_before_ns", before(one.last.time))
	    .raw("records", std::to_string(one.records))
	    .text("level", one.level < std::size(kLevels) ? kLevels[one.level] : "")
	    .raw("pid", std::to_string(one.last.pid))
	    .raw("tid", std::to_string(one.last.tid))
	    .text("execname", one.last.execname)
	    .text("last", probe_text(one.last))
	    .str();
}

std::string CrashReport::json_of(uint32_t number, const Cpu& cpu) const {
	std::vector<std::string> slices, turns, last;
	for (const uint64_t count : cpu.slices)
		slices.push_back(std::to_string(count));
	for (const Turn& one : cpu.turns)
		turns.push_back(json_of(one));
	for (const LastRecord& one : cpu.last)
		last.push_back(json_of(one));
	return lib::JsonObject()
	    .raw("cpu", std::to_string(number))
	    .raw("slices", lib::json_list(slices))
	    .raw("after", std::to_string(cpu.after))
	    .raw("turns", lib::json_list(turns))
	    .raw("earlier_turns", std::to_string(cpu.earlier_turns))
	    .raw("last", lib::json_list(last))
	    .str();
}

std::string CrashReport::json() const {
	std::vector<std::string> cpus, threads, open, outstanding, not_known, in_flight;
	for (const auto& [number, cpu] : cpus_)
		cpus.push_back(json_of(number, cpu));
	for (const auto& [thread, one] : threads_)
		threads.push_back(json_of(one));
	const Unended all = unended();
	for (const LastRecord* const begin : all.calls)
		open.push_back(json_of(*begin));
	for (const LastRecord* const begin : all.operations)
		outstanding.push_back(json_of(*begin));
	for (const LastRecord* const begin : all.not_known)
		not_known.push_back(json_of(*begin));
	for (const LastRecord& one : in_flight_)
		in_flight.push_back(json_of(one));
	return lib::JsonObject()
	    .text("host", catalog_.machine_text("host"))
	    .text("release", catalog_.machine_text("release"))
	    .text("state", catalog_.state_name)
	    .raw("panic", panic_ ? panic_json(*panic_) : "null")
	    .raw("end", std::to_string(end_))
	    .text("end_text", trace::time_text(catalog_, end_))
	    .raw("ended_before_ns", stopped_ ? before(stopped_->time) : "null")
	    .raw("ended_by", stopped_ ? lib::json_text(stopped_->by) : "null")
	    .raw("slice_ns", std::to_string(kSecond / kSlices))
	    .raw("cpus", lib::json_list(cpus))
	    .raw("threads", lib::json_list(threads))
	    .raw("ends_recorded", returns_.empty() && ends_.empty() ? "false" : "true")
	    .raw("ends_not_armed", std::to_string(unarmed_))
	    .raw("open", lib::json_list(open))
	    .raw("outstanding", lib::json_list(outstanding))
	    .raw("end_not_known", lib::json_list(not_known))
	    .raw("not_followed", std::to_string(left_out_))
	    .raw("in_flight", lib::json_list(in_flight))
	    .raw("in_flight_more", std::to_string(in_flight_more_))
	    .raw("verdict", lib::verdict_text(verdict_, catalog_, true))
	    .str();
}

} // namespace dfr::cli
