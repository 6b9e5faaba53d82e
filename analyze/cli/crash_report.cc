// SPDX-License-Identifier: GPL-2.0
//
// One pass over the records keeps the last few of each CPU and the last one of each
// thread. A call is open if its entry has no return behind it on the same thread, of
// functions whose returns are recorded at all.
#include "analyze/cli/crash_report.h"

#include <algorithm>
#include <cstdio>

#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kLast = 12, kLastOfPanic = 30; // records shown of a CPU
constexpr size_t kThreads = 30, kDeepest = 64;

std::string function_of(const trace::Probe& probe) {
	return probe.provider + ":" + probe.module + ":" + probe.function;
}

std::string values_of(const trace::Record& record) {
	std::string text;
	for (size_t i = 0; i < std::min<size_t>(record.fields.size(), 6); i++) {
		const trace::Value& value = record.fields[i];
		text += text.empty() ? "" : " ";
		text += value.bytes.empty() ? std::to_string(static_cast<int64_t>(value.number))
		                            : "(" + std::to_string(value.bytes.size()) + " bytes)";
	}
	return text;
}

} // namespace

CrashReport::CrashReport(trace::BlockSource& source) : source_(source), catalog_(source.catalog()) {
	find_end();
	for (const trace::Ecb& ecb : catalog_.ecbs)
		if (const trace::Probe* const probe = catalog_.probe_of(ecb.epid);
		    probe && probe->name == "return")
			returns_[function_of(*probe)] = true;
	trace::Merger merger(source_);
	merger.run([this](const trace::Record& record) {
		read(record);
		return true;
	});
	verdict_ = trace::judge(source_, merger);
}

// The panic's time, or that of the last record by the headers.
void CrashReport::find_end() {
	for (const trace::EventMark& mark : catalog_.events)
		if (mark.event == DFR_EVENT_PANIC) {
			end_ = mark.time;
			panic_cpu_ = mark.value;
		}
	if (const auto reason = catalog_.machine.find("panic"); reason != catalog_.machine.end())
		reason_ = reason->second;
	if (const auto comm = catalog_.machine.find("panic_comm"); comm != catalog_.machine.end())
		comm_ = comm->second;
	if (end_)
		return;
	trace::Merger merger(source_);
	merger.run([this](const trace::Record& record) {
		end_ = std::max(end_, record.time);
		return true;
	});
}

void CrashReport::read(const trace::Record& record) {
	const trace::Probe* const probe = catalog_.probe_of(record.epid);
	LastRecord one{.time = record.time,
	               .cpu = record.cpu,
	               .pid = record.context.pid,
	               .tid = record.context.tid,
	               .execname = std::string(record.context.execname),
	               .probe = probe ? probe->text() : "EPID " + std::to_string(record.epid),
	               .values = values_of(record)};
	Cpu& cpu = cpus_[record.cpu];
	if (record.time <= end_ && end_ - record.time < kSecond)
		cpu.slices[kSlices - 1 - (end_ - record.time) / (kSecond / kSlices)]++;
	cpu.last.push_back(one);
	if (cpu.last.size() > (static_cast<int64_t>(record.cpu) == panic_cpu_ ? kLastOfPanic : kLast))
		cpu.last.pop_front();
	if (probe && record.level == DFR_LEVEL_TASK)
		follow_call(one, *probe);
	const uint64_t thread = record.context.tid ? record.context.tid : uint64_t{record.cpu} << 32;
	if (record.level == DFR_LEVEL_TASK)
		threads_[thread] = std::move(one);
}

void CrashReport::follow_call(const LastRecord& one, const trace::Probe& probe) {
	const std::string function = function_of(probe);
	if (!returns_.contains(function))
		return;
	std::vector<OpenCall>& calls = open_[one.tid ? one.tid : uint64_t{one.cpu} << 32];
	if (probe.name == "entry" && probe.provider == "syscall") {
		// A thread makes one system call at a time, and some never return.
		const auto before = std::find_if(calls.begin(), calls.end(), [](const OpenCall& open) {
			return open.function.starts_with("syscall:");
		});
		calls.erase(before, calls.end());
		if (probe.function == "exit" || probe.function == "exit_group")
			calls.clear();
		else
			calls.push_back({function, one});
	} else if (probe.name == "entry") {
		if (calls.size() < kDeepest)
			calls.push_back({function, one});
	} else if (probe.name == "return") {
		// Calls in it that had no return of their own (a task that ended) went with it.
		const auto call = std::find_if(calls.rbegin(), calls.rend(), [&](const OpenCall& open) {
			return open.function == function;
		});
		if (call != calls.rend())
			calls.erase(std::prev(call.base()), calls.end());
	}
}

// "-0.001234 s": before the end.
std::string CrashReport::moment(uint64_t time) const {
	char text[32];
	const double seconds = (static_cast<double>(time) - static_cast<double>(end_)) / 1e9;
	std::snprintf(text, sizeof(text), "%+.6f s", seconds);
	return text;
}

void CrashReport::print() const {
	if (panic_cpu_ >= 0)
		std::printf("panic at %s on CPU %lld in %s: %s\n", shown(trace::time_text(catalog_, end_)),
		            static_cast<long long>(panic_cpu_), shown(comm_), shown(reason_));
	else
		std::printf("no panic is known; times are before the last record, %s\n",
		            shown(trace::time_text(catalog_, end_)));
	std::printf("\nthe last second, records in 20 ms: '.' 1 or more, ':' 10, '|' 100, '#' 1,000\n");
	for (const auto& [number, cpu] : cpus_) {
		std::string line;
		for (const uint64_t count : cpu.slices)
			line += !count         ? ' '
			        : count < 10   ? '.'
			        : count < 100  ? ':'
			        : count < 1000 ? '|'
			                       : '#';
		std::printf("  CPU %-4u [%s]\n", number, shown(line));
	}
	const auto line_of = [this](const LastRecord& one) {
		std::printf("  %14s  %-16s %7u  %s  %s\n", shown(moment(one.time)), shown(one.execname),
		            one.tid, shown(one.probe), shown(one.values));
	};
	for (const auto& [number, cpu] : cpus_) {
		std::printf("\nCPU %u%s, its last records\n", number,
		            static_cast<int64_t>(number) == panic_cpu_ ? " (the panic's)" : "");
		for (const LastRecord& one : cpu.last)
			line_of(one);
	}
	std::vector<const LastRecord*> threads;
	for (const auto& [thread, one] : threads_)
		threads.push_back(&one);
	std::sort(threads.begin(), threads.end(),
	          [](const LastRecord* a, const LastRecord* b) { return a->time > b->time; });
	std::printf("\nthreads, the last record of each\n");
	for (size_t i = 0; i < std::min(threads.size(), kThreads); i++)
		line_of(*threads[i]);
	if (threads.size() > kThreads)
		std::printf("  and %zu more\n", threads.size() - kThreads);
	std::printf("\nbegun and not ended\n");
	size_t count = 0;
	for (const auto& [thread, calls] : open_)
		for (const OpenCall& call : calls) {
			line_of(call.entry);
			count++;
		}
	if (!count)
		std::printf("  %s\n", returns_.empty() ? "no returns were recorded" : "nothing");
}

std::string CrashReport::json() const {
	const auto one_of = [this](const LastRecord& one) {
		return lib::JsonObject()
		    .raw("before_ns", std::to_string(static_cast<int64_t>(end_ - one.time)))
		    .raw("cpu", std::to_string(one.cpu))
		    .raw("pid", std::to_string(one.pid))
		    .raw("tid", std::to_string(one.tid))
		    .text("execname", one.execname)
		    .text("probe", one.probe)
		    .text("values", one.values)
		    .str();
	};
	std::string cpus, threads, open;
	const auto add = [](std::string& to, const std::string& item) {
		to += (to.empty() ? "" : ", ") + item;
	};
	for (const auto& [number, cpu] : cpus_) {
		std::string last;
		for (const LastRecord& one : cpu.last)
			add(last, one_of(one));
		add(cpus,
		    lib::JsonObject().raw("cpu", std::to_string(number)).raw("last", "[" + last + "]").str());
	}
	for (const auto& [thread, one] : threads_)
		add(threads, one_of(one));
	for (const auto& [thread, calls] : open_)
		for (const OpenCall& call : calls)
			add(open, one_of(call.entry));
	return lib::JsonObject()
	    .raw("panic", panic_cpu_ < 0 ? "null"
	                                 : lib::JsonObject()
	                                       .raw("cpu", std::to_string(panic_cpu_))
	                                       .text("comm", comm_)
	                                       .text("reason", reason_)
	                                       .str())
	    .raw("end", std::to_string(end_))
	    .raw("cpus", "[" + cpus + "]")
	    .raw("threads", "[" + threads + "]")
	    .raw("open", "[" + open + "]")
	    .raw("verdict", lib::verdict_text(verdict_, catalog_, true))
	    .str();
}

} // namespace dfr::cli
