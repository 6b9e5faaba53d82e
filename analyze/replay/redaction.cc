// SPDX-License-Identifier: GPL-2.0
//
// From words to the catalog of a redacted recording.
#include "analyze/replay/redaction.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sys/random.h>

#include "analyze/engine/engine_c.h"
#include "analyze/replay/conditions.h"
#include "formats/d/canon.h"
#include "formats/error.h"
#include "formats/trace/session_words.h"

namespace dfr::replay {
namespace {

struct KeepWord {
	const char* word;
	const char* what;
	std::vector<const char*> machine; // keys of the catalog's machine
};

const std::vector<KeepWord>& words() {
	static const std::vector<KeepWord> all = {
	    {"pid",
	     "numbers of processes, threads and users",
	     {"confined", trace::kSessionPidKey, trace::kSessionTargetKey}},
	    {"execname", "names of processes", {}},
	    {"cgroup", "numbers of cgroups", {}},
	    {"walltime", "the time of day; without it, times are those since the boot", {}},
	    {"host",
	     "host name, machine id, boot id, the kernel's command line, the state's name",
	     {"host", "machineid", "bootid", "cmdline"}},
	    {"kernel",
	     "the kernel's release, the machine's kind and clock, the modules",
	     {"release", "machine", "clocksource", "jit"}},
	    {"names",
	     "what addresses are called; with pid also the paths of all files that processes had mapped",
	     {}},
	    {"events",
	     "the kernel's own events of a boot (functions and modules as they began), and the processes "
	     "that ran them",
	     {}},
	    {"program", "the text of the programs that recorded", {"bootprogram"}},
	};
	return all;
}

bool is_word(const std::string& text) {
	return std::any_of(words().begin(), words().end(),
	                   [&text](const KeepWord& word) { return text == word.word; });
}

// What an input of a record is called: as one writes it in D.
std::string name_of(const RecordedInput& input) {
	return d::readable(input.canon);
}

bool holds_process(uint16_t kind) {
	return kind == DFR_FIELD_USTACK || kind == DFR_FIELD_USYM;
}

// A DIFO that returns 1.
dif::Difo one() {
	dif::Difo code;
	code.rtype = {DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 4};
	code.integers = {1};
	code.text = {DIF_INSTR_WIDE(DIF_OP_SETX, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return code;
}

// One that may fault, and has no value.
dif::Difo fault() {
	dif::Difo code = one();
	code.rtype.size = 0;
	code.text.insert(code.text.begin() + 1, DIF_INSTR_R(DIF_OP_SDIV, 1, 0, 1)); // by 0
	return code;
}

d::ProbePattern pattern_of(const std::string& text) {
	const std::vector<std::string> fields = d::probe_fields(text);
	if (fields.size() > 4)
		throw Error(text + " has too many colons", "a probe is provider:module:function:name");
	d::ProbePattern pattern;
	std::string* const places[] = {&pattern.name, &pattern.function, &pattern.module, &pattern.provider};
	for (size_t i = 0; i < fields.size(); i++)
		*places[i] = fields[fields.size() - 1 - i];
	return pattern;
}

// "[PROBE/]INPUT".
struct Wish {
	std::string text;
	d::ProbePattern probe;
	std::string input;
	bool found = false;
	bool wants(const trace::Probe& of, const std::string& name) const {
		return RecordingTarget::matches(probe, of) &&
		       (input == name || dfr_glob(input.c_str(), name.c_str()));
	}
};

class Maker {
public:
	Maker(trace::FileSource& source, RecordingTarget& target, const std::vector<std::string>& keep);
	trace::Redaction make();

private:
	bool keeps(const char* word) const { return words_.contains(word); }
	void machine();
	void events();
	void epid(const trace::Ecb& ecb);
	uint32_t body(const dof::EcbDesc* clause, const dof::Body* old, const std::vector<std::string>& kept,
	              trace::Layout& made);
	void program();

	const trace::Catalog& old_;
	const uint64_t series_; // of parts; 0: it is none
	RecordingTarget& target_;
	std::set<std::string> words_;
	std::vector<Wish> wishes_;
	trace::Redaction made_;
	dof::Image image_;
};

Maker::Maker(trace::FileSource& source, RecordingTarget& target, const std::vector<std::string>& keep)
    : old_(source.catalog()), series_(source.facts().part.series), target_(target) {
	for (const std::string& text : keep) {
		made_.text += (made_.text.empty() ? "" : ", ") + text;
		if (is_word(text)) {
			words_.insert(text);
			continue;
		}
		const size_t slash = text.rfind('/', text.find('('));
		const bool probe = slash != std::string::npos && text.find(':') < slash;
		wishes_.push_back({.text = text,
		                   .probe = probe ? pattern_of(text.substr(0, slash)) : d::ProbePattern{},
		                   .input = probe ? text.substr(slash + 1) : text});
	}
	if (made_.text.empty())
		made_.text = "nothing but time, CPU and probe";
}

void Maker::machine() {
	trace::Catalog& to = made_.catalog;
	to.cpus = old_.cpus;
	to.block_size = old_.block_size;
	to.blocks = old_.blocks;
	to.policy = old_.policy;
	to.strsize = old_.strsize;
	to.anonymous = old_.anonymous;
	events();
	for (const KeepWord& word : words())
		for (const char* const key : word.machine)
			if (const auto at = old_.machine.find(key);
			    keeps(word.word) && at != old_.machine.end())
				to.machine.insert(*at);
	if (old_.machine_text("engine") == "process")
		to.machine["engine"] = "process";
	if (old_.machine.contains("confined")) // that it is so stays, whoever it was
		to.machine.emplace("confined", "unknown");
	if (keeps("host")) {
		to.boot_id = old_.boot_id;
		to.state_name = old_.state_name;
	} else if (series_ != 0) { // a number made at random too, by which parts find each other
		std::memcpy(to.boot_id.data(), &series_, sizeof series_);
	} else if (getrandom(to.boot_id.data(), to.boot_id.size(), 0) < 0) {
		// Else it would be taken for another part of a recording whose boot is not known either.
		throw Error::from_errno("cannot make a number for the boot");
	}
	// As the engine makes it, of the state's number in its boot.
	uint32_t boot;
	std::memcpy(&boot, to.boot_id.data(), sizeof boot);
	to.state_id =
	    keeps("host") ? old_.state_id : uint64_t{boot} << 32 | static_cast<uint32_t>(old_.state_id);
	// Member by member: a new one does not compile until somebody has said whether it may stay.
	if (keeps("walltime"))
		for (const auto& [mono, real, since_boot] : old_.clocks)
			to.clocks.push_back({mono, real, since_boot});
	if (keeps("kernel"))
		for (const auto& [name, time, base, bytes, gone] : old_.modules)
			to.modules.push_back({name, time, base, bytes, gone});
	if (keeps("program"))
		to.sources = old_.sources;
	// What replay must not take for an answer, because it is 0 or empty here.
	const auto before = old_.machine.find(trace::kRedactedKey);
	std::string& out = to.machine[trace::kRedactedKey];
	out = "inputs";
	for (const char* const word : {"pid", "execname", "cgroup", "walltime"})
		if (!keeps(word) ||
		    (before != old_.machine.end() && before->second.find(word) != std::string::npos))
			out += std::string(" ") + word;
	to.machine[trace::kKeptKey] = made_.text;
}

// What happened, and when. The value of an exit() is the program's, which may have had it from an input; what a newer
// engine tells may be anything.
void Maker::events() {
	for (const auto& [event, value, time, error, text] : old_.events) {
		trace::EventMark mark{.event = event, .value = 0, .time = time, .error = 0, .text = {}};
		switch (event) {
		case DFR_EVENT_UNARMED: mark.error = error; [[fallthrough]];
		case DFR_EVENT_GO: // numbers of CPUs and probes, causes
		case DFR_EVENT_STOP:
		case DFR_EVENT_DETACHED:
		case DFR_EVENT_ATTACHED:
		case DFR_EVENT_KILLED:
		case DFR_EVENT_FULL: mark.value = value; [[fallthrough]];
		case DFR_EVENT_EXIT:
		case DFR_EVENT_PANIC:
			if (text.empty() || event == DFR_EVENT_UNARMED)
				made_.catalog.events.push_back(std::move(mark));
			break;
		default: break; // a person's words
		}
	}
}

// The body of the new program for records with these fields; `made` gets their layout. What kept firings out of the
// recording (conditions.h) it says as the old one does, because they are not in the new one either.
uint32_t Maker::body(const dof::EcbDesc* clause, const dof::Body* old, const std::vector<std::string>& kept,
                     trace::Layout& made) {
	dof::Body body;
	if (old && old->predicate)
		body.predicate = one();
	dof::Action action;
	if (old && dof::leaves_records(*old)) {
		action.kind = DFR_ACT_CAPTURE_ARGS;
	} else { // an assignment, which leaves nothing
		action.kind = DFR_ACT_DIFEXPR;
		action.difo = one();
		action.difo->rtype.size = 0;
	}
	body.actions.push_back(action);
	if (old && speculates(*old)) {
		dof::Action& speculate = body.actions.emplace_back();
		speculate.kind = DFR_ACT_SPECULATE;
		speculate.difo = one();
	} else if (old && may_fault(*clause, *old)) {
		dof::Action& may = body.actions.emplace_back();
		may.kind = DFR_ACT_DIFEXPR;
		may.difo = fault();
	}
	for (size_t i = 0; i < kept.size(); i++) {
		dfr_field& field = made.fields[i];
		field.action = 0;
		if (field.argument >= 0)
			continue;
		field.action = static_cast<uint16_t>(body.actions.size());
		dof::Action& capture = body.actions.emplace_back();
		capture.kind = DFR_ACT_CAPTURE;
		capture.difo = one();
		capture.expression = kept[i];
	}
	image_.bodies.push_back(std::move(body));
	return static_cast<uint32_t>(image_.bodies.size() - 1);
}

void Maker::epid(const trace::Ecb& ecb) {
	const trace::Layout* const layout = old_.layout_of(ecb.epid);
	const trace::Probe* const probe = old_.probe_of(ecb.epid);
	if (!ecb.epid || !layout || !probe)
		return;
	trace::Layout made{.id = ecb.epid, .dof = 0, .clause = static_cast<uint32_t>(image_.ecbs.size())};
	std::vector<std::string> kept;
	for (const RecordedInput& input : target_.inputs(ecb.epid)) {
		bool wanted = false;
		for (Wish& wish : wishes_)
			if (wish.wants(*probe, name_of(input)))
				wish.found = wanted = true;
		if (!wanted)
			continue;
		const dfr_field& field = layout->fields[input.field];
		if (holds_process(field.kind) && !keeps("pid"))
			throw Error("cannot keep " + name_of(input) + " alone: it holds the process's number",
			            "keep pid, too");
		made_.fields[ecb.epid].push_back(static_cast<uint16_t>(input.field));
		made.fields.push_back(field);
		kept.push_back(input.canon);
	}
	if (target_.tells_faults(ecb.epid)) { // it is the EPID of the clause that faulted
		made_.fields[ecb.epid].push_back(0);
		made.fields.push_back(layout->fields[0]);
		kept.emplace_back();
	}
	made.integers = trace::count_integers(made.fields);
	const dof::Image* const image = target_.image(layout->dof);
	const dof::EcbDesc* const clause =
	    image && layout->clause < image->ecbs.size() ? &image->ecbs[layout->clause] : nullptr;
	const dof::Body* const old =
	    clause && clause->body < image->bodies.size() ? &image->bodies[clause->body] : nullptr;
	dof::EcbDesc desc;
	desc.probe = {.host = {},
	              .provider = probe->provider,
	              .module = probe->module,
	              .function = probe->function,
	              .name = probe->name};
	desc.uarg = clause ? clause->uarg : 0;
	desc.body = body(clause, old, kept, made);
	image_.ecbs.push_back(std::move(desc));
	const auto& [id, nargs, provider, module, function, name, hosts] = *probe; // no file has the hosts
	made_.catalog.probes.emplace(id, trace::Probe{id, nargs, provider, module, function, name});
	made_.catalog.layouts.emplace(made.id, std::move(made));
	made_.catalog.add_ecb(
	    {.epid = ecb.epid, .probe = ecb.probe, .layout = ecb.epid, .priority = ecb.priority});
}

void Maker::program() {
	trace::RecordShapes shapes(old_);
	if (shapes
	        .may_commit()) { // readers ask for it, because records of committed speculations are out of order
		dof::Body body;
		dof::Action& commit = body.actions.emplace_back();
		commit.kind = DFR_ACT_COMMIT;
		commit.difo = one();
		image_.bodies.push_back(std::move(body));
		dof::EcbDesc desc;
		desc.probe = {
		    .host = {}, .provider = "dtrace", .module = {}, .function = {}, .name = "ERROR"};
		desc.body = static_cast<uint32_t>(image_.bodies.size() - 1);
		image_.ecbs.push_back(std::move(desc));
	}
	if (const int64_t cpu = target_.members().front().cpu; cpu >= 0)
		image_.options.push_back({.option = DFR_OPT_CPU, .value = cpu});
	const std::vector<uint8_t> bytes = dof::write(image_);
	const auto all = std::as_bytes(std::span(bytes));
	made_.catalog.dofs.insert(made_.catalog.dofs.begin(), {all.begin(), all.end()});
	if (!made_.catalog.sources.empty()) { // all of them in the one program's place
		std::string together;
		for (const std::string& text : made_.catalog.sources)
			together += (together.empty() ? "" : "\n") + text;
		made_.catalog.sources = {together};
	}
}

trace::Redaction Maker::make() {
	machine();
	for (const trace::Ecb& ecb : old_.ecbs)
		epid(ecb);
	for (const Wish& wish : wishes_)
		if (!wish.found)
			throw Error("nothing in the recording is " + wish.text,
			            "dfr redact --list FILE names what can be kept");
	program();
	made_.pid = keeps("pid");
	made_.execname = keeps("execname");
	made_.cgroup = keeps("cgroup");
	made_.names = keeps("names");
	made_.events = keeps("events");
	if (made_.events && !made_.pid)
		throw Error("cannot keep events alone: they hold the processes' numbers", "keep pid, too");
	return std::move(made_);
}

} // namespace

std::vector<Keepable> keepable(trace::FileSource& source, RecordingTarget& target) {
	const trace::Catalog& catalog = source.catalog();
	std::vector<Keepable> all;
	for (const KeepWord& word : words())
		all.push_back({.word = word.word, .what = word.what, .example = {}});
	std::map<std::string, Keepable> inputs;
	for (const trace::Ecb& ecb : catalog.ecbs) {
		const trace::Probe* const probe = ecb.epid ? catalog.probe_of(ecb.epid) : nullptr;
		if (!probe)
			continue;
		std::set<std::string> seen;
		for (const RecordedInput& input : target.inputs(ecb.epid)) {
			Keepable& one = inputs[name_of(input)];
			one.word = name_of(input);
			one.input = true;
			one.probes += seen.insert(one.word).second;
			if (one.example.empty())
				one.example = probe->text();
		}
	}
	for (auto& [name, one] : inputs)
		all.push_back(std::move(one));
	return all;
}

trace::Redaction make_redaction(trace::FileSource& source, RecordingTarget& target,
                                const std::vector<std::string>& keep) {
	return Maker(source, target, keep).make();
}

std::vector<std::string> split_words(const std::string& text) {
	std::vector<std::string> all(1);
	int depth = 0;
	bool quoted = false;
	for (const char c : text) {
		quoted ^= c == '"';
		if (!quoted)
			depth += (c == '(' || c == '[') - (c == ')' || c == ']');
		if (c == ',' && depth == 0 && !quoted)
			all.emplace_back();
		else if (c != ' ' || !all.back().empty())
			all.back() += c;
	}
	std::erase(all, std::string{});
	return all;
}

} // namespace dfr::replay
