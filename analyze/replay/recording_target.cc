// SPDX-License-Identifier: GPL-2.0
//
// A recording as a compilation target.
#include "analyze/replay/recording_target.h"

#include <algorithm>
#include <set>
#include <sys/utsname.h>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/tick.h"
#include "analyze/render/programs.h"
#include "analyze/replay/united_types.h"
#include "formats/d/canon.h"
#include "formats/d/compile.h"
#include "formats/error.h"
#include "formats/trace/redact.h"
#include "recorder/probe_args.h"

namespace dfr::replay {
namespace {

// The id of a timer that was not recorded; no recording has a probe with this id.
constexpr uint32_t kTimerId = 0x40000000;

bool glob(const std::string& pattern, const std::string& text) {
	return pattern.empty() || dfr_glob(pattern.c_str(), text.c_str());
}

// Whether every firing for which `asking` holds was recorded by a clause with predicate `recorded`:
// true if each conjunct of `recorded` is also a conjunct of `asking`.
bool implies(const std::vector<std::string_view>& asking, const std::vector<std::string_view>& recorded) {
	return !asking.empty() && !recorded.empty() &&
	       std::includes(asking.begin(), asking.end(), recorded.begin(), recorded.end());
}

// The only CPU that was recorded; -1: all.
int64_t recorded_cpu(const trace::Catalog& catalog) {
	int64_t cpu = -1;
	for (const std::vector<std::byte>& bytes : catalog.dofs) {
		try {
			const int64_t own = only_cpu(dof::read(bytes));
			cpu = own < 0 ? cpu : own;
		} catch (const Error&) { // its clauses have no records that could be read
		}
	}
	return cpu;
}

d::ProbeInfo info_of(const trace::Probe& probe) {
	d::ProbeInfo info;
	info.id = probe.id;
	info.provider = probe.provider;
	info.module = probe.module;
	info.function = probe.function;
	info.name = probe.name;
	if (probe.nargs)
		info.nargs = *probe.nargs;
	return info;
}

trace::Probe own_probe(uint32_t id, const char* provider, std::string name) {
	trace::Probe probe;
	probe.id = id;
	probe.provider = provider;
	probe.name = std::move(name);
	return probe;
}

} // namespace

RecordingTarget::RecordingTarget(const trace::Catalog& catalog, std::string name)
    : catalog_(catalog), name_(std::move(name)) {
	members_.push_back({.name = name_,
	                    .end_epid = static_cast<uint32_t>(catalog.ecbs.size()) + 1,
	                    .strsize = catalog.strsize,
	                    .cpu = recorded_cpu(catalog)});
	if (!catalog_.machine_text("host").empty())
		host_names_ = {catalog_.machine_text("host"), catalog_.machine_text("release")};
	read_taken_out(catalog);
	read_members();
}

RecordingTarget::RecordingTarget(const trace::United& all) : catalog_(all.catalog()), name_(all.name()) {
	read_types(all);
	for (const trace::United::Host& host : all.hosts())
		if (!host.name.empty())
			host_names_.insert(host_names_.end(), {host.name, host.release});
	for (const trace::UnitedSource& member : all.members()) {
		const auto count = static_cast<uint32_t>(member.source->catalog().ecbs.size());
		read_taken_out(member.source->catalog());
		members_.push_back({.name = member.source->name(),
		                    .first_epid = member.first_epid,
		                    .end_epid = member.first_epid + count,
		                    .strsize = member.source->catalog().strsize,
		                    .cpu = recorded_cpu(member.source->catalog())});
	}
	read_members();
}

// Those of one kernel, that of the first recording that has any; and who was recorded on another one.
void RecordingTarget::read_types(const trace::United& all) {
	std::string of, release;
	std::vector<const trace::UnitedSource*> without;
	for (const trace::UnitedSource& member : all.members()) {
		trace::RecordedTypes own = member.source->types();
		if (own.empty()) {
			without.push_back(&member);
			continue;
		}
		if (recorded_types_.empty()) {
			of = member.source->name();
			release = member.source->catalog().machine_text("release");
		}
		if (recorded_types_.empty() || own.digest == recorded_types_.front().digest)
			recorded_types_.push_back(std::move(own));
		else
			other_types_.push_back(member.source->name() +
			                       " was recorded with other types of the "
			                       "kernel than " +
			                       of + ", whose types were used for both");
	}
	for (const trace::UnitedSource* const member : without) {
		const trace::Catalog& catalog = member->source->catalog();
		if (!of.empty() && catalog.machine_text("engine") != "process" &&
		    catalog.machine_text("release") != release)
			other_types_.push_back(member->source->name() +
			                       " has no types of its kernel, and those of " + of +
			                       " were used for both");
	}
}

void RecordingTarget::read_taken_out(const trace::Catalog& catalog) {
	taken_out_.merge(trace::taken_out_words(catalog));
}

// The numbers of processes and threads go together.
bool RecordingTarget::taken_out(const std::string& canon) const {
	if (canon == "tid" || canon == "nspid" || canon == "pid")
		return taken_out_.contains("pid");
	if (canon == "walltimestamp")
		return taken_out_.contains("walltime");
	static const std::set<std::string, std::less<>> always = {
	    "timestamp", "epid", "id", "cpu", "probeprov", "probemod", "probefunc", "probename"};
	if (canon == "execname" || canon == "cgroup")
		return taken_out_.contains(canon);
	return !taken_out_.empty() && !always.contains(canon);
}

bool RecordingTarget::is_nowhere(const std::string& canon) {
	if (!taken_out(canon))
		return false;
	for (uint32_t epid = 1; epid <= catalog_.ecbs.size(); epid++)
		for (const RecordedInput& input : inputs(epid))
			if (input.canon == canon)
				return false;
	return true;
}

std::vector<std::string> RecordingTarget::why_lacking(const std::vector<std::string>& inputs) {
	std::vector<std::string> reasons;
	for (const std::string& input : inputs)
		if (is_nowhere(input))
			reasons.push_back(
			    d::readable(input) +
			    " was taken out of the recording (dfr redact), so clauses that need "
			    "it ran in no firing");
	return reasons;
}

void RecordingTarget::read_members() {
	std::map<uint32_t, bool> all;
	const auto list = [this](const std::map<uint32_t, bool>& ids, auto& recorded, auto& unrecorded) {
		for (const auto& [id, leaves_records] : ids)
			if (const auto probe = catalog_.probes.find(id); probe != catalog_.probes.end())
				(leaves_records ? recorded : unrecorded).push_back(&probe->second);
	};
	for (RecordedMember& member : members_) {
		std::map<uint32_t, bool> ids; // whether some clause leaves records
		std::set<const dof::EcbDesc*> clauses;
		for (uint32_t epid = member.first_epid; epid < member.end_epid; epid++) {
			const uint32_t probe = catalog_.ecbs[epid - 1].probe;
			epids_[probe].push_back(epid);
			member.tells_faults |= tells_faults(epid);
			if (probe <= kError)
				continue;
			const dof::Body* const body = body_of(epid);
			const bool leaves = body && dof::leaves_records(*body);
			ids[probe] |= leaves;
			if (leaves && clauses.insert(clause_of(epid)).second)
				member.patterns.push_back(d::pattern_of(clause_of(epid)->probe));
		}
		list(ids, member.recorded, member.unrecorded);
		for (const auto& [id, leaves_records] : ids)
			all[id] |= leaves_records;
	}
	list(all, recorded_, unrecorded_);
}

RecordingTarget::~RecordingTarget() = default;

const dof::Image* RecordingTarget::image(uint32_t dof) {
	if (dof >= catalog_.dofs.size())
		return nullptr;
	if (images_.size() < catalog_.dofs.size())
		images_.resize(catalog_.dofs.size());
	if (!images_[dof]) {
		try {
			images_[dof] = std::make_unique<dof::Image>(dof::read(catalog_.dofs[dof]));
		} catch (const Error&) {
			images_[dof] = std::make_unique<dof::Image>(); // damaged: treat it as without clauses
		}
	}
	return images_[dof].get();
}

const dof::EcbDesc* RecordingTarget::clause_of(uint32_t epid) {
	const trace::Layout* const layout = catalog_.layout_of(epid);
	const dof::Image* const program = layout ? image(layout->dof) : nullptr;
	return program && layout->clause < program->ecbs.size() ? &program->ecbs[layout->clause] : nullptr;
}

const dof::Body* RecordingTarget::body_of(uint32_t epid, bool* continuation) {
	const dof::EcbDesc* const ecb = clause_of(epid);
	if (!ecb || DFR_ECBUARG_CLAUSE(ecb->uarg) == render::kErrorClause)
		return nullptr;
	const dof::Image& program = *image(catalog_.layout_of(epid)->dof);
	if (ecb->body >= program.bodies.size())
		return nullptr;
	if (continuation)
		*continuation = ecb->uarg & DFR_ECBUARG_CONTINUATION;
	return &program.bodies[ecb->body];
}

// Its first field is the EPID of the clause that faulted (render::error_program()).
bool RecordingTarget::tells_faults(uint32_t epid) {
	const dof::EcbDesc* const ecb = clause_of(epid);
	if (!ecb || DFR_ECBUARG_CLAUSE(ecb->uarg) != render::kErrorClause ||
	    catalog_.ecbs[epid - 1].probe != kError)
		return false;
	const std::vector<dfr_field>& fields = catalog_.layout_of(epid)->fields;
	return !fields.empty() && fields[0].kind == DFR_FIELD_INT;
}

uint32_t RecordingTarget::faulted(uint32_t epid, uint64_t own_epid) {
	const RecordedMember& member = member_of(epid);
	if (own_epid == 0 || own_epid > member.end_epid - member.first_epid)
		return 0;
	const auto of = static_cast<uint32_t>(member.first_epid + own_epid - 1);
	return records(of) ? of : 0;
}

bool RecordingTarget::may_be_cut(uint32_t epid, const dfr_field& field, int64_t strsize) const {
	return field.kind == DFR_FIELD_STRING && field.size < strsize &&
	       field.size == member_of(epid).strsize;
}

const RecordedMember& RecordingTarget::member_of(uint32_t epid) const {
	for (const RecordedMember& member : members_)
		if (epid < member.end_epid)
			return member;
	return members_.back();
}

const RecordingTarget::ClauseFacts& RecordingTarget::facts_of(uint32_t epid, const dof::Body& body) {
	const auto [at, fresh] = facts_.try_emplace(&body);
	if (fresh)
		at->second = {.speculates = speculates(body),
		              .may_fault = may_fault(*clause_of(epid), body),
		              .conjuncts = body.condition.empty() ? std::vector<std::string_view>{}
		                                                  : conjuncts(body.condition)};
	return at->second;
}

bool RecordingTarget::leaves_each(const RecordedMember& member, uint32_t epid, const dof::Body& body) {
	const ClauseFacts& facts = facts_of(epid, body);
	return !facts.speculates && (member.tells_faults || !facts.may_fault);
}

const std::vector<RecordedInput>& RecordingTarget::inputs(uint32_t epid) {
	const auto [at, fresh] = inputs_.try_emplace(epid);
	const trace::Layout* const layout = catalog_.layout_of(epid);
	if (!fresh || !layout)
		return at->second;
	const dof::Body* const body = body_of(epid);
	if (!body)
		return at->second;
	for (size_t i = 0; i < layout->fields.size(); i++) {
		const dfr_field& field = layout->fields[i];
		RecordedInput input;
		input.field = i;
		if (field.argument >= 0)
			input.canon = "arg" + std::to_string(field.argument);
		else if (field.action < body->actions.size())
			input.canon = body->actions[field.action].expression;
		if (field.kind == DFR_FIELD_INT && field.argument < 0)
			input.canon =
			    d::recorded_text(input.canon, field.size, field.flags & DFR_FIELD_SIGNED);
		if (!input.canon.empty())
			at->second.push_back(std::move(input));
	}
	return at->second;
}

bool RecordingTarget::matches(const d::ProbePattern& pattern, const trace::Probe& probe) {
	if (pattern.id != 0)
		return pattern.id == probe.id;
	const auto here = [&pattern](const std::string& host) { return glob(pattern.host, host); };
	if (!probe.hosts.empty() && std::none_of(probe.hosts.begin(), probe.hosts.end(), here))
		return false;
	return glob(pattern.provider, probe.provider) && glob(pattern.module, probe.module) &&
	       glob(pattern.function, probe.function) && glob(pattern.name, probe.name);
}

void RecordingTarget::match(const d::ProbePattern& pattern,
                            const std::function<bool(const d::ProbeInfo&)>& visit) {
	const trace::Probe own[] = {own_probe(kBegin, "dtrace", "BEGIN"), own_probe(kEnd, "dtrace", "END"),
	                            own_probe(kError, "dtrace", "ERROR")};
	for (const trace::Probe& probe : own)
		if (matches(pattern, probe) && !visit(info_of(probe)))
			return;
	bool timer_recorded = false;
	for (const trace::Probe* const probe : recorded_) {
		if (!matches(pattern, *probe))
			continue;
		timer_recorded |= probe->name == pattern.name;
		if (!visit(info_of(*probe)))
			return;
	}
	if (timer_recorded || pattern.id != 0 || !engine::timer_interval(pattern.name))
		return;
	const trace::Probe timer = own_probe(kTimerId, "profile", pattern.name);
	if (matches(pattern, timer))
		visit(info_of(timer));
}

bool RecordingTarget::fires_itself(const d::ProbePattern& pattern) const {
	const trace::Probe own[] = {own_probe(kBegin, "dtrace", "BEGIN"), own_probe(kEnd, "dtrace", "END"),
	                            own_probe(kError, "dtrace", "ERROR"),
	                            own_probe(kTimerId, "profile", pattern.name)};
	const bool timer =
	    engine::timer_interval(pattern.name) &&
	    std::none_of(recorded_.begin(), recorded_.end(),
	                 [&pattern](const trace::Probe* probe) { return probe->name == pattern.name; });
	return std::any_of(own, own + (timer ? 4 : 3),
	                   [&pattern](const trace::Probe& probe) { return matches(pattern, probe); });
}

std::vector<d::ProbeArg> RecordingTarget::args(const d::ProbeInfo& probe) {
	types::KernelTypes* const known = types();
	if (!known || !types_recorded_)
		return known ? recorder::probe_args(probe, *known) : std::vector<d::ProbeArg>{};
	std::vector<d::ProbeArg> args;
	if (const auto* const recorded = recorded_args(probe))
		for (const trace::RecordedTypes::TypedArgument& arg : recorded->args)
			args.push_back({arg.native, arg.translated, arg.mapping, arg.name, arg.user});
	return args;
}

std::string RecordingTarget::why_untyped(const d::ProbeInfo& probe) {
	types::KernelTypes* const known = types();
	if (!known)
		return has_kernel() ? "they were those of kernel " + kernel_release() +
		                          ", whose types are neither in the recording nor here"
		                    : std::string{};
	if (!types_recorded_)
		return recorder::why_untyped(probe, *known);
	const auto* const recorded = recorded_args(probe);
	return recorded ? recorded->why_untyped : std::string{};
}

const std::vector<d::CapturedInput>* RecordingTarget::captured(const d::ProbeInfo& probe) {
	const auto [at, fresh] = captured_.try_emplace(probe.id);
	if (!fresh)
		return &at->second;
	// The inputs of all clauses that recorded the probe together, because the records of one firing are
	// replayed as one firing. An input is in every firing (`always`) if in each recording that has the probe a
	// clause without a predicate recorded it before its first `if`, and no firing has a record of another clause
	// alone; other inputs may be missing in some firings.
	std::map<std::string, size_t> known, held; // held: in how many recordings always
	size_t recordings = 0;
	const bool alone = recording_clauses(probe.id) == 1;
	const auto sure = [this](uint32_t epid, const dof::Body& body) {
		const ClauseFacts& facts = facts_of(epid, body);
		return !facts.speculates && !facts.may_fault;
	};
	for (const RecordedMember& member : members_) {
		std::set<std::string> always;
		bool has = false;
		for (const uint32_t epid : epids_[probe.id]) {
			if (epid < member.first_epid || epid >= member.end_epid)
				continue;
			bool continuation = false;
			const dof::Body* const body = body_of(epid, &continuation);
			has |= body && dof::leaves_records(*body);
			for (const RecordedInput& input : inputs(epid)) {
				if (known.emplace(input.canon, at->second.size()).second)
					at->second.push_back({input.canon, false});
				if (body && !body->predicate && !continuation && (alone || sure(epid, *body)))
					always.insert(input.canon);
			}
		}
		recordings += has;
		for (const std::string& canon : always)
			held[canon]++;
	}
	for (d::CapturedInput& input : at->second)
		input.always = held.count(input.canon) && held[input.canon] >= recordings;
	return &at->second;
}

AskedCondition::AskedCondition(std::string_view canonical) {
	if (!canonical.empty())
		conjuncts = replay::conjuncts(canonical);
}

bool RecordingTarget::recorded_whole(uint32_t probe, AskedCondition& asking, const std::string& input) {
	// A fault is not told where another clause has recorded the firing, which then lacks the input.
	const auto leaves = [&](const RecordedMember& member, uint32_t epid, const dof::Body& body) {
		if (input.empty())
			return leaves_each(member, epid, body);
		const ClauseFacts& facts = facts_of(epid, body);
		const auto& held = inputs(epid);
		return !facts.speculates && !facts.may_fault &&
		       std::any_of(held.begin(), held.end(),
		                   [&input](const RecordedInput& one) { return one.canon == input; });
	};
	const auto implied = [&](uint32_t epid, const dof::Body& body) {
		const auto [at, fresh] = asking.implies.try_emplace(&body);
		if (fresh)
			at->second = implies(asking.conjuncts, facts_of(epid, body).conjuncts);
		return at->second;
	};
	bool any = false;
	for (const RecordedMember& member : members_) {
		bool has = false, whole = false;
		for (const uint32_t epid : epids_[probe]) {
			bool continuation = false;
			const bool own = epid >= member.first_epid && epid < member.end_epid;
			const dof::Body* const body = own ? body_of(epid, &continuation) : nullptr;
			if (!body || continuation || !dof::leaves_records(*body))
				continue;
			has = true;
			whole |= leaves(member, epid, *body) && (!body->predicate || implied(epid, *body));
		}
		if (has && !whole)
			return false;
		any |= whole;
	}
	return any;
}

bool RecordingTarget::records(uint32_t epid) {
	const dof::Body* const body = body_of(epid);
	return body && dof::leaves_records(*body);
}

bool RecordingTarget::records_each(uint32_t epid) {
	bool continuation = false;
	const dof::Body* const body = body_of(epid, &continuation);
	return body && !continuation && !body->predicate && dof::leaves_records(*body) && !speculates(*body);
}

size_t RecordingTarget::recording_clauses(uint32_t probe) {
	const std::vector<uint32_t>& epids = epids_[probe];
	return static_cast<size_t>(
	    std::count_if(epids.begin(), epids.end(), [this](uint32_t epid) { return records(epid); }));
}

std::string RecordingTarget::recorded_where(uint32_t probe, const std::string& input) {
	std::set<std::string> conditions;
	for (const uint32_t epid : epids_[probe]) {
		const dof::Body* const body = body_of(epid);
		if (!body || !dof::leaves_records(*body))
			continue;
		const auto& held = inputs(epid);
		const auto same = [&input](const RecordedInput& one) { return one.canon == input; };
		if (!input.empty() && std::none_of(held.begin(), held.end(), same))
			continue;
		const ClauseFacts& facts = facts_of(epid, *body);
		const bool told = member_of(epid).tells_faults;
		std::string where;
		const auto and_where = [&where](const std::string& more) {
			where += (where.empty() ? "" : ", and ") + more;
		};
		if (!body->condition.empty())
			and_where(d::readable(body->condition));
		else if (body->predicate)
			and_where("the recording's own predicate held");
		if (facts.speculates)
			and_where("the speculation was committed");
		if (facts.may_fault && (!told || where.empty()))
			and_where("its clause did not fault");
		// Without any condition: another clause, or another recording, has the firing and this one has not.
		conditions.insert(where.empty()
		                      ? (members_.size() > 1 ? member_of(epid).name + " has the firing"
		                                             : "its clause left a record")
		                      : where);
	}
	std::string text;
	for (const std::string& condition : conditions)
		text += (text.empty() ? "" : ", or ") + condition;
	return text;
}

std::string RecordingTarget::why_absent(const d::ProbePattern& pattern) {
	for (const trace::Probe* const probe : unrecorded_)
		if (matches(pattern, *probe))
			return "the recording enabled it and kept no record of its firings (its clauses only "
			       "count, or set variables): "
			       "add capture(); to the recording program's clause";
	return "dfr info " + name_ + " lists what it holds";
}

bool RecordingTarget::has_kernel() const {
	return catalog_.machine_text("engine") != "process";
}

std::string RecordingTarget::kernel_release() const {
	return catalog_.machine_text("release");
}

// The types of the recording's kernel: those of this machine, if they are the same, because a recording has not all
// of them; else those that it has. Of a recording without any: this machine's, if it runs the same release.
types::KernelTypes* RecordingTarget::types() {
	if (!types_tried_) {
		types_tried_ = true;
		utsname names{};
		if (::uname(&names) == 0 && kernel_release() == names.release)
			types_ = types::KernelTypes::from_directory("/sys/kernel/btf");
		const bool here = types_ && types_->available();
		if (!recorded_types_.empty() &&
		    (!here || types_->vmlinux().digest() != recorded_types_.front().digest)) {
			types_ = types::KernelTypes::from_bytes(united_btf(recorded_types_, name_), name_);
			types_recorded_ = true;
		}
	}
	return types_ && types_->available() ? types_.get() : nullptr;
}

const trace::RecordedTypes::ProbeArguments* RecordingTarget::recorded_args(const d::ProbeInfo& probe) const {
	const std::string name =
	    probe.provider + ":" + probe.module + ":" + probe.function + ":" + probe.name;
	for (const trace::RecordedTypes& types : recorded_types_)
		if (const auto known = types.probes.find(name); known != types.probes.end())
			return &known->second;
	return nullptr;
}

const types::Container* RecordingTarget::kernel_types(std::string_view module) {
	types::KernelTypes* const known = types();
	return known ? known->container(module.empty() ? "vmlinux" : module) : nullptr;
}

std::vector<std::string> RecordingTarget::type_modules() {
	types::KernelTypes* const known = types();
	auto names = known ? known->names() : std::vector<std::string>{};
	std::erase(names, "vmlinux");
	return names;
}

} // namespace dfr::replay
