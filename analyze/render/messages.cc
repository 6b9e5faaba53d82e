// SPDX-License-Identifier: GPL-2.0
//
// Texts of faults and drops.
#include "analyze/render/messages.h"

#include <cerrno>
#include <cstring>

#include "analyze/render/text.h"
#include "formats/trace/counted.h"
#include "formats/trace/decode.h"

namespace dfr::render {
namespace {

const char* reason(uint32_t code) {
	switch (code) {
	case DIF_FAULT_BADADDR: return "invalid address";
	case DIF_FAULT_BADALIGN: return "invalid alignment";
	case DIF_FAULT_ILLOP: return "illegal operation";
	case DIF_FAULT_DIVZERO: return "divide-by-zero";
	case DIF_FAULT_NOSCRATCH: return "out of scratch space";
	case DIF_FAULT_KPRIV: return "invalid kernel access";
	case DIF_FAULT_UPRIV: return "invalid user access";
	case DIF_FAULT_TUPOFLOW: return "tuple stack overflow";
	case DIF_FAULT_BADSTACK: return "bad stack";
	case DIF_FAULT_LIBRARY: return "library-level fault";
	default: return "unknown fault";
	}
}

bool shows_address(uint32_t code) {
	return code == DIF_FAULT_BADADDR || code == DIF_FAULT_BADALIGN || code == DIF_FAULT_BADSTACK;
}

struct DropKind {
	uint32_t cause;
	const char* tag;
	const char* one; // what there is one of
	const char* many;
	bool on_cpu;
};

constexpr DropKind kDrops[] = {
    {DFR_LOSS_PRINCIPAL, "PRINCIPAL", "drop", "drops", true},
    {DFR_LOSS_AGGREGATION, "AGGREGATION", "aggregation drop", "aggregation drops", true},
    {DFR_LOSS_DYNVAR, "DYNAMIC", "dynamic variable drop", "dynamic variable drops", false},
    {DFR_LOSS_DYNVAR_RINSING, "DYNRINSE", "dynamic variable drop with non-empty rinsing list",
     "dynamic variable drops with non-empty rinsing list", false},
    {DFR_LOSS_DYNVAR_DIRTY, "DYNDIRTY", "dynamic variable drop with non-empty dirty list",
     "dynamic variable drops with non-empty dirty list", false},
    {DFR_LOSS_SPEC, "SPEC", "speculative drop", "speculative drops", false},
    {DFR_LOSS_SPEC_BUSY, "SPECBUSY", "failed speculation (available buffer still busy)",
     "failed speculations (available buffers still busy)", false},
    {DFR_LOSS_SPEC_UNAVAILABLE, "SPECUNAVAIL", "failed speculation (no speculative buffer available)",
     "failed speculations (no speculative buffer available)", false},
    {DFR_LOSS_STKSTR, "STKSTROVERFLOW", "jstack()/ustack() string table overflow",
     "jstack()/ustack() string table overflows", false},
    {DFR_LOSS_DOUBLE_ERROR, "DBLERROR", "error in ERROR probe enabling", "errors in ERROR probe enabling",
     false},
    // Ours: DTrace has no such causes, or does not count them.
    {DFR_LOSS_NMI, "NMI", "firing lost in an NMI", "firings lost in NMIs", true},
    {DFR_LOSS_RETURN_POOL, "RETURNPOOL", "return probe without a free node",
     "return probes without a free node", true},
    {DFR_LOSS_THROTTLE, "THROTTLE", "firing throttled by the governor", "firings throttled by the governor",
     true},
    {DFR_LOSS_HOTPLUG, "HOTPLUG", "firing on a CPU without a ring", "firings on a CPU without a ring", true},
    {DFR_LOSS_OVERWRITTEN, "OVERWRITTEN", "record overwritten while it was read",
     "records overwritten while they were read", true},
    {DFR_LOSS_RCU_IDLE, "RCUIDLE", "firing where the kernel cannot be traced",
     "firings where the kernel cannot be traced", true},
    {DFR_LOSS_MISSED, "MISSED", "hit that its provider missed", "hits that their providers missed", false},
    {DFR_LOSS_DETACHED, "DETACHED", "firing estimated, of a detached probe",
     "firings estimated, of detached probes", false},
};

std::string text_of(const trace::EventMark& mark, const trace::Catalog& catalog) {
	const auto probe = catalog.probes.find(static_cast<uint32_t>(mark.value));
	const std::string name = mark.value < 0
	                             ? trace::plural(static_cast<uint64_t>(-int64_t{mark.value}), "probe")
	                         : probe != catalog.probes.end() ? "probe " + probe->second.text()
	                         : mark.text.empty()             ? std::string("some of the probes")
	                                                         : "some of the probes " + mark.text;
	switch (mark.event) {
	case DFR_EVENT_UNARMED:
		return name + " cannot be armed: " +
		       (mark.error == EPERM
		            ? "the clause reads arguments of the kernel's, which are hidden here "
		              "(lockdown, or an unprivileged user)"
		        : mark.error == ECANCELED ? "kprobes are off (/sys/kernel/debug/kprobes/enabled)"
		                                  : std::strerror(mark.error));
	case DFR_EVENT_DETACHED:
		return name + (mark.value < -1 ? " are" : " is") +
		       " detached for a while: the state's probes take more than its budget even "
		       "when they do nothing; what fires meanwhile can only be estimated";
	case DFR_EVENT_ATTACHED:
		return name + (mark.value < -1 ? " are" : " is") + " attached again, or gone";
	case DFR_EVENT_KILLED:
		return mark.value == DFR_KILLED_OOPS ? "killed: the kernel oopsed inside a probe's firing"
		       : mark.value == DFR_KILLED_CONSUMER
		           ? "killed: its consumer was not seen for too long"
		           : "killed: probes took more than nine tenths of a CPU for a second";
	case DFR_EVENT_FULL:
		return "the ring of CPU " + std::to_string(mark.value) +
		       " is full: it records nothing more (bufpolicy=fill)";
	case DFR_EVENT_MARK: return "mark: " + mark.text;
	case DFR_EVENT_SNAPSHOT: return "snapshot: " + mark.text;
	default: return {};
	}
}

} // namespace

std::string event_text(const trace::Catalog& catalog, size_t index) {
	const trace::EventMark& mark = catalog.events[index];
	std::string text = text_of(mark, catalog);
	if (mark.event == DFR_EVENT_MARK ||
	    (mark.event == DFR_EVENT_DETACHED && mark.value < 0)) // each counts
		return text;
	return index > 0 && text == text_of(catalog.events[index - 1], catalog) ? std::string{} : text;
}

std::string fault_text(const Fault& fault, const trace::Catalog& catalog) {
	std::string text = "error on enabled probe ID ";
	put_unsigned(text, fault.epid);
	text += " (ID ";
	if (const trace::Probe* const probe = catalog.probe_of(fault.epid)) {
		put_unsigned(text, probe->id);
		text.append(": ").append(probe->text());
	} else {
		text += "not known";
	}
	text.append("): ").append(reason(fault.code));
	if (shows_address(fault.code)) {
		text += " (0x";
		put_hex(text, fault.address);
		text += ')';
	}
	text += " in ";
	if (fault.action == 0) {
		text += "predicate";
	} else {
		text += "action #";
		put_unsigned(text, fault.action);
	}
	if (fault.offset >= 0) {
		text += " at DIF offset ";
		put_signed(text, fault.offset);
	}
	return text;
}

std::string fault_place(const Fault& fault, Programs& programs) {
	const Rendering* const rendering = programs.rendering_of(fault.epid);
	if (!rendering || fault.offset < 0 || fault.action > rendering->body->actions.size())
		return {};
	const auto& difo =
	    fault.action == 0 ? rendering->body->predicate : rendering->body->actions[fault.action - 1].difo;
	if (!difo)
		return {};
	const dif::SourceLine* best = nullptr;
	for (const dif::SourceLine& line : difo->lines)
		if (line.pc <= static_cast<uint64_t>(fault.offset) / 4)
			best = &line;
	if (!best || best->line == 0)
		return {};
	return best->file + ":" + std::to_string(best->line) + ":" + std::to_string(best->column);
}

std::string thinned_text(const trace::Catalog& catalog, const trace::Losses::Stretch& stretch) {
	return "clauses of " + std::string(trace::priority_text(stretch.priority)) + " priority (" +
	       trace::clauses_of(catalog, stretch.priority) + ") were thinned " +
	       trace::time_text(catalog, stretch.from) + "-" +
	       (stretch.to ? trace::time_text(catalog, stretch.to) : "the end") + " on CPU " +
	       std::to_string(stretch.cpu) + " (budget" + trace::left_out_text(stretch) + ")";
}

std::string drop_text(uint32_t cause, uint64_t count, int cpu, bool tags) {
	for (const DropKind& kind : kDrops) {
		if (kind.cause != cause || count == 0)
			continue;
		std::string text;
		if (tags)
			text.append("[DTRACEDROP_").append(kind.tag).append("] ");
		put_unsigned(text, count);
		text += ' ';
		text += count == 1 ? kind.one : kind.many;
		if (kind.on_cpu && cpu >= 0) {
			text += " on CPU ";
			put_signed(text, cpu);
		}
		return text;
	}
	return {};
}

} // namespace dfr::render
