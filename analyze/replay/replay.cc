// SPDX-License-Identifier: GPL-2.0
//
// Replay: from records back to firings.
#include "analyze/replay/replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/engine_session.h"
#include "analyze/engine/tick.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/replay/by_columns.h"
#include "analyze/replay/by_threads.h"
#include "analyze/replay/conditions.h"
#include "analyze/replay/firing.h"
#include "analyze/replay/gathered.h"
#include "analyze/replay/replayed_probes.h"
#include "formats/d/canon.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/counted.h"
#include "formats/trace/redact.h"

namespace dfr::replay {
namespace {

using engine::kNever;
// With less for its variables, a thread's engine has no room to speak of.
constexpr int64_t kDynvarsLeast = 64 * 1024;
// Room for some ten million keys. It takes memory only as it fills.
constexpr size_t kAggregationRoom = size_t{1} << 30;

// kNever, if a clock does not go so far: only a crafted file has such times.
uint64_t after(uint64_t time, uint64_t interval) {
	return time > kNever - interval ? kNever : time + interval;
}

class Replay {
public:
	Replay(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
	       render::Output& output, render::Symboliser& symbols, const ReplayOptions& options);
	Answer run();

private:
	struct Use { // a field of a record, and which inputs of the firing it gives
		size_t field;
		int capture = -1;
		int argument = -1;
		bool stack = false, ustack = false;
		size_t cut =
		    0; // of a text that long, the recorder may have cut the rest, which the program would have
	};
	struct Recorded { // how a record of an EPID becomes part of a firing
		bool known = false;
		const trace::Probe* probe = nullptr;
		const trace::Layout* layout = nullptr;
		dfr_probe* fires = nullptr; // null: the program has no clause for this probe
		bool speaks = false;
		bool tells_faults = false;
		std::vector<Use> uses;
	};
	// The last fault of a recording clause, until it is known whether the firing has a record of another clause.
	struct FaultedFiring {
		uint64_t time = 0;
		uint32_t cpu = 0, boot = 0, probe = 0; // 0: none
		bool is_of(const trace::Record& record, uint32_t of_boot) const {
			return probe && time == record.time && cpu == record.cpu && boot == of_boot;
		}
	};
	// Firings or inputs, by probe and size.
	using Short = std::map<std::pair<uint32_t, size_t>, uint64_t>;

	void check_conditions();
	void check_unrecorded(const d::ProbePattern& pattern);
	void check_cpus();
	void check_users();
	void check_boots();
	// To whose tasks a recording is confined, because he has no privilege; empty: it is not.
	std::string confined_to(size_t member) const {
		return all_.members()[member].source->catalog().machine_text("confined");
	}
	void note_wider(const d::ProbePattern& pattern);
	void take_fault(const trace::Record& record, uint32_t boot);
	void settle_fault();
	void count_short_stacks();
	void tell_short();
	bool unwanted_without(uint32_t probe, uint64_t index);
	void tell_passed_over();
	uint32_t frames_wanted(uint32_t kind, uint32_t option);
	bool is_covered(size_t member, const d::ProbePattern& pattern) const;
	void missing(uint64_t index);
	const Recorded& recorded(uint32_t epid);
	void take(const trace::Record& record, uint32_t boot);
	void fire();
	void fire_timers(uint64_t until);
	void look_for_interruption();
	void fire_at(dfr_probe* probe, const u64* arguments, unsigned count, uint32_t cpu, dfr_env& env,
	             bool speaks);
	void after_firing(bool speaks, uint64_t recorded);
	void start(uint64_t from, uint64_t begin = UINT64_MAX);
	void start_before(uint64_t first, bool of_begin);
	bool await(uint64_t until);
	void check_late_probes();
	trace::Asked asked(const trace::Catalog& catalog) const;
	bool answer_by_columns();
	bool answer_by_threads(const Gathered::Visit& visit);
	void keep_begin(const trace::Context& context);
	bool speaks(const trace::Probe& probe) const;

	const trace::United& all_;
	const trace::Catalog& catalog_;
	RecordingTarget& target_;
	Gathered gathered_;
	const d::Compiled& program_;
	render::Output& output_;
	const ReplayOptions& options_;
	engine::EngineSession session_;
	std::unique_ptr<lib::Consumer> consumer_;
	ReplayedProbes probes_;
	std::set<uint32_t> known_probes_; // when the program was compiled
	std::vector<Recorded> recorded_;  // by EPID
	std::map<std::string, int> captures_;
	std::unique_ptr<ByThreads> threads_; // while they answer
	bool in_vain_ = false;               // that they do
	bool first_is_begin_ = false;
	std::optional<uint64_t> first_time_;                          // of the records that they got
	std::unique_ptr<Firing> firing_ = std::make_unique<Firing>(); // threads exchange it
	dfr_env own_env_{};                                           // for BEGIN, END and timers
	uint64_t last_time_ = 0;
	uint32_t begin_cpu_ = 0;
	bool started_ = false, over_ = false, exits_ = false;
	bool interrupted_ = false; // somebody has ended it before all records were read
	uint64_t seen_ = 0;        // records
	bool any_may_speak_ = false;
	std::vector<d::ProbePattern> speaking_; // of clauses with actions on aggregations
	uint64_t firings_ = 0;
	std::vector<std::string> conditions_; // why the answer is partial: reasons for the verdict
	std::set<std::string> notes_;         // for the verdict; they do not make it partial
	ByThreads::Missing missing_;
	FaultedFiring fault_;
	std::map<uint32_t, uint64_t> faulted_; // firings without any record, by probe
	Short cut_texts_, short_stacks_;
	uint32_t frames_ = 0, user_frames_ = 0; // the most that the program asks for
};

Replay::Replay(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
               render::Output& output, render::Symboliser& symbols, const ReplayOptions& options)
    : all_(all), catalog_(all.catalog()), target_(target), gathered_(all, options.wanted, true),
      program_(program), output_(output), options_(options),
      session_("replay of " + all.name(), std::max(catalog_.cpus, 1u), false),
      probes_(session_, target, program.image, all.name()) {
	for (size_t i = 0; i < program.captured.size(); i++)
		captures_.emplace(program.captured[i], static_cast<int>(i));
	for (const dof::Body& body : program.image.bodies) {
		for (const dof::Action& action : body.actions)
			exits_ |= action.kind == DFR_ACT_EXIT;
	}
	for (const dof::EcbDesc& ecb : program.image.ecbs) {
		const auto& actions = program.image.body_of(ecb).actions;
		if (std::any_of(actions.begin(), actions.end(), [](const dof::Action& action) {
			    return action.kind == DFR_ACT_PRINTA || action.kind == DFR_ACT_LIBACT;
		    }))
			speaking_.push_back(d::pattern_of(ecb.probe));
	}
	trace::Probe error;
	error.id = 3;
	error.provider = "dtrace";
	error.name = "ERROR";
	any_may_speak_ = speaks(error); // a fault in any firing fires it
	session_.set_agg_room(kAggregationRoom);
	for (const auto& [id, probe] : catalog_.probes)
		known_probes_.insert(id);
	check_conditions();
	lib::Consumer::Callbacks hooks;
	hooks.message = options.message;
	hooks.kernel_types = [this] { return target_.kernel_types(""); };
	consumer_ = std::make_unique<lib::Consumer>(session_, output, symbols, std::move(hooks));
	consumer_->style() = options.style;
	for (const std::string& host : all.host_names())
		consumer_->style().hosts.push_back(harmless(host));
	consumer_->set_synchronous();
	const auto dof = dof::write(probes_.for_hosts(program.image));
	session_.enable(std::as_bytes(std::span(dof)), true);
	consumer_->report_faults();
	frames_ = frames_wanted(DFR_ACT_STACK, DFR_OPT_STACKFRAMES);
	user_frames_ = std::max(frames_wanted(DFR_ACT_USTACK, DFR_OPT_USTACKFRAMES),
	                        frames_wanted(DFR_ACT_JSTACK, DFR_OPT_JSTACKFRAMES));
}

// The most frames that an action of this kind in the program takes; 0: there is none.
uint32_t Replay::frames_wanted(uint32_t kind, uint32_t option) {
	int64_t most = 0;
	for (const dof::Body& body : program_.image.bodies)
		for (const dof::Action& action : body.actions)
			if (action.kind == kind) {
				const auto own = static_cast<uint32_t>(action.arg);
				most = std::max(most, own ? int64_t{own} : session_.option(option));
			}
	return static_cast<uint32_t>(most);
}

// Adds a condition for each recording that has firings of one CPU only, unless no other one is asked about.
void Replay::check_cpus() {
	const std::vector<bool>& asked = options_.wanted.cpus;
	const int64_t own = only_cpu(program_.image); // live it would look at this one only
	for (const RecordedMember& member : target_.members()) {
		bool others = own != member.cpu;
		if (others && !asked.empty()) {
			others = false;
			for (size_t cpu = 0; cpu < asked.size(); cpu++)
				others |= asked[cpu] && static_cast<int64_t>(cpu) != member.cpu;
		}
		if (member.cpu >= 0 && others && catalog_.cpus > 1)
			conditions_.push_back(
			    (target_.members().size() > 1 ? member.name + ": " : std::string{}) +
			    "only CPU " + std::to_string(member.cpu) + " was recorded (-x cpu=)");
	}
}

// Adds a condition for each recording of a user without privilege, which has firings of his own tasks only.
void Replay::check_users() {
	for (size_t i = 0; i < all_.members().size(); i++)
		if (const std::string user = confined_to(i); !user.empty())
			conditions_.push_back(
			    (all_.members().size() > 1 ? all_.members()[i].source->name() + ": " : "") +
			    "only tasks of user " + user + " were recorded (without privilege)");
}

// Adds a condition for recordings that may be of one boot, without saying so, because dfr redact took out which boot it was.
void Replay::check_boots() {
	// What a boot's clock lacks to wall time is alike for two boots only if they began in the same second.
	constexpr uint64_t kAlike = 1'000'000'000;
	const auto& members = all_.members();
	const auto hides_boot = [&members](size_t i) {
		const auto& machine = members[i].source->catalog().machine;
		return machine.contains(trace::kKeptKey) && !machine.contains("bootid");
	};
	const auto zero_of = [&members](size_t i) {
		const trace::Clock& clock = members[i].source->catalog().clocks.back();
		return clock.real - (clock.boot ? clock.boot : clock.mono);
	};
	const auto has_clock = [&members](size_t i) { return !members[i].source->catalog().clocks.empty(); };
	for (size_t i = 0; i < members.size(); i++)
		for (size_t j = i + 1; j < members.size(); j++) {
			if (members[i].boot == members[j].boot || !(hides_boot(i) || hides_boot(j)) ||
			    !has_clock(i) || !has_clock(j) || !gathered_.overlap(i, j))
				continue;
			const uint64_t a = zero_of(i), b = zero_of(j);
			if ((a < b ? b - a : a - b) < kAlike)
				conditions_.push_back(
				    members[i].source->name() + " and " + members[j].source->name() +
				    " may be of one boot, which dfr redact has taken out: what "
				    "both have recorded counts twice");
		}
}

// Notes that a pattern names more than the recorders enabled, because nobody knows what else there was.
void Replay::note_wider(const d::ProbePattern& pattern) {
	const auto wider = [&pattern](const RecordedMember& member) {
		return std::none_of(
		    member.patterns.begin(), member.patterns.end(),
		    [&pattern](const d::ProbePattern& enabled) { return within(pattern, enabled); });
	};
	const auto& members = target_.members();
	const auto found = static_cast<size_t>(std::count_if(
	    target_.recorded().begin(), target_.recorded().end(),
	    [&pattern](const trace::Probe* probe) { return RecordingTarget::matches(pattern, *probe); }));
	if (found && std::any_of(members.begin(), members.end(), wider))
		notes_.insert(trace::plural(found, "probe") +
		              (found == 1 ? " that matches " : " that match ") + pattern.text() +
		              (found == 1 ? " was" : " were") +
		              " recorded; others, if there are any, were not");
}

// Whether another recording of the same boot has, of the same time, all firings of the probes that match.
bool Replay::is_covered(size_t member, const d::ProbePattern& pattern) const {
	const auto matches = [&pattern](const trace::Probe* probe) {
		return RecordingTarget::matches(pattern, *probe);
	};
	const auto recorded = [&matches](const auto& probes) {
		return std::count_if(probes.begin(), probes.end(), matches);
	};
	const auto& members = target_.members();
	for (size_t other = 0; other < members.size(); other++)
		if (gathered_.covers(other, member) && confined_to(other).empty() &&
		    recorded(members[other].recorded) == recorded(target_.recorded()))
			return true;
	return false;
}

// Adds a condition if, in a recording, the pattern matches probes that were enabled but left no records, or no
// probe at all, or fewer than were recorded elsewhere on that host.
void Replay::check_unrecorded(const d::ProbePattern& pattern) {
	const bool several = target_.members().size() > 1;
	for (size_t i = 0; i < target_.members().size(); i++) {
		const RecordedMember& member = target_.members()[i];
		const std::string name = several ? member.name + ": " : std::string{};
		const auto of_host = [&](const trace::Probe* probe) {
			return RecordingTarget::matches(pattern, *probe) && all_.is_of_host(i, *probe);
		};
		const auto matching = [&of_host](const std::vector<const trace::Probe*>& probes) {
			return static_cast<size_t>(std::count_if(probes.begin(), probes.end(), of_host));
		};
		const size_t silent = matching(member.unrecorded), found = matching(member.recorded);
		const size_t elsewhere = several ? matching(target_.recorded()) : found;
		if (!all_.has_host(i, pattern.host) || is_covered(i, pattern))
			continue;
		if (silent) {
			const auto example =
			    std::find_if(member.unrecorded.begin(), member.unrecorded.end(), of_host);
			conditions_.push_back(
			    name + (*example)->text() +
			    (silent > 1 ? " and " + std::to_string(silent - 1) + " more probes were"
			                : " was") +
			    " enabled but left no records: add capture(); to the recording program's clause");
		} else if (!found && !target_.fires_itself(pattern)) {
			conditions_.push_back(name + "nothing that was recorded matches " + pattern.text());
		} else if (found < elsewhere) {
			conditions_.push_back(name + "only " + std::to_string(found) + " of " +
			                      std::to_string(elsewhere) + " probes that match " +
			                      pattern.text() + " were recorded");
		}
	}
}

// If a probe was recorded only where a predicate held, the verdict says so, because the recording does
// not have all of its firings; unless the program's clause has the same predicate.
void Replay::check_conditions() {
	conditions_ = target_.why_lacking(program_.captured);
	if (!program_.kernel_types.empty())
		conditions_.insert(conditions_.end(), target_.other_types().begin(),
		                   target_.other_types().end());
	check_cpus();
	check_users();
	check_boots();
	for (const dof::EcbDesc& ecb : program_.image.ecbs) {
		if (ecb.uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		look_for_interruption();
		if (over_)
			break; // the answer is in part anyway
		AskedCondition asking(program_.image.body_of(ecb).condition);
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		if (!target_.elsewhere(pattern.host).empty())
			continue;
		check_unrecorded(pattern);
		note_wider(pattern);
		size_t partial = 0;
		const trace::Probe* example = nullptr;
		for (const trace::Probe* const probe : target_.recorded()) {
			if (!RecordingTarget::matches(pattern, *probe) ||
			    target_.recorded_whole(probe->id, asking))
				continue;
			partial++;
			example = probe;
		}
		if (partial == 0)
			continue;
		conditions_.push_back(
		    example->text() +
		    (partial > 1 ? " and " + std::to_string(partial - 1) + " more probes were" : " was") +
		    " recorded only where " + target_.recorded_where(example->id, {}));
	}
	std::sort(conditions_.begin(), conditions_.end());
	conditions_.erase(std::unique(conditions_.begin(), conditions_.end()), conditions_.end());
	if (options_.strict && !conditions_.empty())
		throw Error("the recording answers this only in part: " + conditions_.front(),
		            "leave out --strict, or give the clause the predicate that it was recorded with");
}

// Whether no clause that did not run without this input in some firings of the probe can have wanted these: each one's
// predicate is that of a clause that recorded the input, or narrower. If none asks for it before it reads it, every firing
// should have had it.
bool Replay::unwanted_without(uint32_t probe, uint64_t index) {
	bool asked = false;
	for (const dof::EcbDesc& ecb : program_.image.ecbs) {
		const auto needed = program_.needed.find(ecb.body);
		// Of a clause with `if`, the part that has the clause's own predicate speaks for all.
		if ((ecb.uarg & DFR_ECBUARG_CONTINUATION) || needed == program_.needed.end() ||
		    !needed->second.contains(index) ||
		    !RecordingTarget::matches(d::pattern_of(ecb.probe), catalog_.probes.at(probe)))
			continue;
		asked = true;
		AskedCondition asking(program_.image.body_of(ecb).condition);
		if (!target_.recorded_whole(probe, asking, program_.captured[index]))
			return false;
	}
	return asked;
}

// Called by the engine within dfr_fire_env(): a clause did not run, or has faulted, because no record of this firing
// has the input.
void Replay::missing(uint64_t index) {
	missing_[{firing_->probe->id, index}]++;
}

const Replay::Recorded& Replay::recorded(uint32_t epid) {
	if (epid >= recorded_.size())
		recorded_.resize(std::max<size_t>(epid, catalog_.ecbs.size()) + 1);
	Recorded& entry = recorded_[epid];
	if (entry.known)
		return entry;
	entry.known = true;
	entry.layout = catalog_.layout_of(epid);
	entry.probe = catalog_.probe_of(epid);
	entry.tells_faults = target_.tells_faults(epid);
	dfr_probe* const probe = entry.probe ? probes_.of(entry.probe->id) : nullptr;
	if (probe && (threads_ ? threads_->fires(entry.probe->id) : dfr_probe_enabled(probe))) {
		entry.fires = probe;
		entry.speaks = speaks(*entry.probe);
	}
	for (const RecordedInput& input : target_.inputs(epid)) {
		Use use{input.field};
		if (const auto capture = captures_.find(input.canon); capture != captures_.end())
			use.capture = capture->second;
		if (input.canon.size() == 4 && input.canon.compare(0, 3, "arg") == 0)
			use.argument = input.canon[3] - '0';
		const dfr_field field = entry.layout ? entry.layout->fields[input.field] : dfr_field{};
		use.stack = field.kind == DFR_FIELD_STACK;
		use.ustack = field.kind == DFR_FIELD_USTACK;
		if (target_.may_be_cut(epid, field, session_.option(DFR_OPT_STRSIZE)))
			use.cut = field.size - 1;
		if (use.capture >= 0 || use.argument >= 0)
			entry.uses.push_back(use);
	}
	return entry;
}

// At the first record if that is BEGIN's own. Else in front of it: an engine moves a second firing of one time on, and records
// keep theirs.
void Replay::start_before(uint64_t first, bool of_begin) {
	start(std::min(gathered_.start().value_or(first), first), first - (first > 0 && !of_begin));
}

// Timers count from `from`; BEGIN fires then, at `begin` at the latest.
void Replay::start(uint64_t from, uint64_t begin) {
	started_ = true;
	begin = std::min(from, begin);
	for (const trace::EventMark& mark : catalog_.events)
		if (mark.event == DFR_EVENT_GO)
			begin_cpu_ = mark.value < 0
			                 ? 0
			                 : static_cast<uint32_t>(mark.value) % std::max(catalog_.cpus, 1u);
	own_env_.ev_time = begin;
	own_env_.ev_wall = catalog_.wall_offset(begin);
	last_time_ = begin;
	for (engine::Timer& timer : probes_.timers())
		timer.due = after(from, timer.interval);
	dfr_user_env = &own_env_;
	dfr_user_cpu = begin_cpu_;
	consumer_->go();
	after_firing(!speaking_.empty(), UINT64_MAX);
}

// Whether the program has a clause for this probe with printa(), clear() or another action that the consumer
// carries out on the aggregations of that moment.
bool Replay::speaks(const trace::Probe& probe) const {
	return any_may_speak_ ||
	       std::any_of(speaking_.begin(), speaking_.end(), [&probe](const d::ProbePattern& pattern) {
		       return RecordingTarget::matches(pattern, probe);
	       });
}

// `speaks`: the consumer must read now what the firing has recorded, if it has (`recorded` is what
// session_.recorded() said before it).
void Replay::after_firing(bool speaks, uint64_t recorded) {
	firings_++;
	speaks = speaks && session_.recorded(dfr_user_cpu) != recorded;
	if (speaks || session_.due(dfr_user_cpu)) {
		consumer_->read(speaks);
		if (!speaks) // else read() has merged them
			session_.settle();
	}
	if (exits_ && session_.exited())
		over_ = true;
	if (firings_ % 4096 == 0) // timers may fire for long where there are no records
		look_for_interruption();
}

void Replay::look_for_interruption() {
	if (options_.interrupted && options_.interrupted())
		over_ = interrupted_ = true;
}

void Replay::fire_at(dfr_probe* probe, const u64* arguments, unsigned count, uint32_t cpu, dfr_env& env,
                     bool speaks) {
	env.ev_wall = catalog_.wall_offset(env.ev_time);
	dfr_user_cpu = cpu % std::max(catalog_.cpus, 1u);
	const uint64_t recorded = session_.recorded(dfr_user_cpu);
	dfr_fire_env(probe, arguments, count, nullptr, &env);
	last_time_ = std::max<uint64_t>(last_time_, env.ev_time);
	after_firing(speaks, recorded);
}

// Those that are due at `until` or before.
void Replay::fire_timers(uint64_t until) {
	static const u64 kNoArguments[3] = {0, 0, 0};
	while (!over_) {
		engine::Timer* next = nullptr;
		for (engine::Timer& timer : probes_.timers())
			if (timer.due <= until && timer.due != kNever && (!next || timer.due < next->due))
				next = &timer;
		if (!next)
			return;
		own_env_.ev_time = next->due;
		next->due = after(next->due, next->interval);
		fire_at(next->probe, kNoArguments, 3, begin_cpu_, own_env_, !speaking_.empty());
	}
}

void Replay::fire() {
	if (firing_->empty() || over_)
		return;
	const uint64_t time = firing_->time;
	if (firing_->fires)
		count_short_stacks();
	if (!threads_)
		fire_timers(time - (time > 0));
	if (threads_ && firing_->fires) {
		firings_++;
		in_vain_ = !threads_->fire(firing_);
	} else if (!over_ && firing_->fires) {
		firing_->settle();
		firing_->env.ev_cookie = this;
		firing_->env.ev_missing = [](void* self, __u64 index) {
			static_cast<Replay*>(self)->missing(index);
		};
		fire_at(firing_->fires, firing_->arguments, firing_->argument_count, firing_->cpu,
		        firing_->env, firing_->speaks);
	}
	last_time_ = std::max(last_time_, time);
	firing_->clear();
}

void Replay::take(const trace::Record& record, uint32_t boot) {
	const Recorded& entry = recorded(record.epid);
	if (!entry.probe || !entry.layout)
		return;
	if (!started_) {
		if (entry.probe->id == 1)
			keep_begin(record.context);
		if (threads_) {
			first_time_ = record.time; // BEGIN fires when they have answered
			first_is_begin_ = entry.probe->id == 1;
			started_ = true;
		} else {
			start_before(record.time, entry.probe->id == 1);
			recorded_
			    .clear(); // recorded() ran before start() armed the probes, so `fires` was null
		}
		return take(record, boot);
	}
	if (entry.probe->id <= 3) { // the engine in this process fires its own BEGIN, END and ERROR
		if (entry.tells_faults)
			take_fault(record, boot);
		return;
	}
	if (fault_.is_of(record, boot))
		fault_ = {};
	const bool same = !firing_->empty() && firing_->time == record.time && firing_->cpu == record.cpu &&
	                  firing_->probe == entry.probe && firing_->boot == boot;
	if (!same) {
		fire();
		if (over_)
			return;
		if (!entry.fires) { // no clause for this probe: only the time advances
			last_time_ = std::max(last_time_, record.time);
			return;
		}
		firing_->begin(record, *entry.probe, program_.captured.size());
		firing_->boot = boot;
		firing_->fires = entry.fires;
		firing_->speaks = entry.speaks;
	}
	for (const Use& use : entry.uses) {
		if (use.field >= record.fields.size())
			continue;
		const trace::Value& value = record.fields[use.field];
		if (use.argument >= 0)
			firing_->set_argument(static_cast<uint32_t>(use.argument), value.number);
		if (use.stack || use.ustack)
			firing_->set_stack(value, entry.layout->fields[use.field].size, use.ustack);
		if (use.capture >= 0)
			firing_->set_capture(static_cast<size_t>(use.capture), value,
			                     entry.layout->fields[use.field]);
		if (use.cut && value.bytes.size() >= use.cut)
			cut_texts_[{entry.probe->id, use.cut}]++;
	}
}

// A fault of a clause that would have recorded a firing which the program runs for.
void Replay::take_fault(const trace::Record& record, uint32_t boot) {
	const uint32_t epid =
	    record.fields.empty() ? 0 : target_.faulted(record.epid, record.fields[0].number);
	const Recorded* const clause = epid ? &recorded(epid) : nullptr;
	if (!clause || !clause->fires || fault_.is_of(record, boot))
		return;
	settle_fault();
	const bool there = !firing_->empty() && firing_->time == record.time && firing_->cpu == record.cpu &&
	                   firing_->boot == boot;
	if (!there)
		fault_ = {.time = record.time, .cpu = record.cpu, .boot = boot, .probe = clause->probe->id};
}

// All records of the time of the last fault have come.
void Replay::settle_fault() {
	if (fault_.probe)
		faulted_[fault_.probe]++;
	fault_ = {};
}

// A stack that is as deep as the recorder was told to go may go on where the program would have gone further.
void Replay::count_short_stacks() {
	for (const bool of_user : {false, true}) {
		const size_t limit = firing_->short_of(of_user ? user_frames_ : frames_, of_user);
		if (limit)
			short_stacks_[{firing_->probe->id, limit}]++;
	}
}

// What the recording has less of than the program would have seen live.
void Replay::tell_short() {
	settle_fault();
	for (const auto& [probe, firings] : faulted_)
		conditions_.push_back(trace::plural(firings, "firing") + " of " +
		                      catalog_.probes.at(probe).text() +
		                      " left no record, because a clause faulted there");
	for (const auto& [what, texts] : cut_texts_)
		conditions_.push_back(trace::plural(texts, "text") + " of " +
		                      catalog_.probes.at(what.first).text() + " may have been cut to " +
		                      trace::plural(what.second, "byte") + " when recorded (-x strsize=)");
	for (const auto& [what, stacks] : short_stacks_)
		conditions_.push_back(trace::plural(stacks, "stack") + " of " +
		                      catalog_.probes.at(what.first).text() + " may go on after the " +
		                      trace::plural(what.second, "frame") +
		                      " that were recorded (-x stackframes=, ustackframes=)");
}

// Firings that lack an input; probes that lack the same one for the same reason are told together.
void Replay::tell_passed_over() {
	struct PassedOver {
		uint64_t firings = 0;
		size_t probes = 0;
		const trace::Probe* example = nullptr;
		bool taken_out = false;
	};
	std::map<std::pair<std::string, std::string>, PassedOver> told; // by input and where it was recorded
	for (const auto& [what, firings] : missing_) {
		const auto& [probe, index] = what;
		const std::string& input = program_.captured[index];
		if (target_.is_nowhere(input))
			continue; // a condition says so
		if (unwanted_without(probe, index))
			continue;
		PassedOver& over = told[{d::readable(input), target_.recorded_where(probe, input)}];
		over.firings += firings;
		over.taken_out |= target_.taken_out(input);
		if (over.probes++ == 0)
			over.example = &catalog_.probes.at(probe);
	}
	for (const auto& [why, over] : told) {
		const auto& [input, where] = why;
		conditions_.push_back(
		    trace::plural(over.firings, "firing") + " of " + over.example->text() +
		    (over.probes > 1 ? " and " + trace::plural(over.probes - 1, "more probe") : "") +
		    (over.firings == 1 ? " was passed over: it lacks " : " were passed over: they lack ") +
		    input +
		    (!where.empty()   ? ", which was recorded only where " + where
		     : over.taken_out ? ", which was taken out there (dfr redact), or not recorded"
		                      : ", which was not recorded there: add capture(" + input +
		                            "); to the recording program's clause"));
	}
}

// BEGIN's record has the process that started the recording.
void Replay::keep_begin(const trace::Context& context) {
	own_env_.ev_pid = context.pid;
	own_env_.ev_tid = context.tid;
	own_env_.ev_task = context.task;
	own_env_.ev_nspid = context.nspid;
	own_env_.ev_cgroup = context.cgroup;
	context.execname.copy(own_env_.ev_comm, sizeof own_env_.ev_comm - 1);
}

// All firings up to this time have come, so what the program says of them can be printed.
bool Replay::await(uint64_t until) {
	fire();
	if (started_) {
		if (!over_ && until != kNever)
			fire_timers(until);
		consumer_->read(false);
		session_.settle();
	}
	output_.flush();
	return !over_ && options_.await();
}

// Whether the program asks for a probe at which the recording program had a clause of this priority.
trace::Asked Replay::asked(const trace::Catalog& catalog) const {
	std::vector<d::ProbePattern> patterns;
	for (const dof::EcbDesc& ecb : program_.image.ecbs)
		patterns.push_back(d::pattern_of(ecb.probe));
	return trace::asked_about(catalog, [patterns](const trace::Probe& probe) {
		return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
			return pattern.id != 0 || RecordingTarget::matches(pattern, probe);
		});
	});
}

// A recording that grows may get probes that the program was not compiled for.
void Replay::check_late_probes() {
	for (const auto& [id, probe] : catalog_.probes) {
		const auto matches = [&probe = probe](const dof::EcbDesc& ecb) {
			return RecordingTarget::matches(d::pattern_of(ecb.probe), probe);
		};
		if (!known_probes_.contains(id) &&
		    std::any_of(program_.image.ecbs.begin(), program_.image.ecbs.end(), matches))
			conditions_.push_back(probe.text() +
			                      " was recorded later than this replay began, and is not in it");
	}
}

// Counts first, and fires BEGIN then, so that nothing has been printed if the engine must answer after all.
// False: it must.
bool Replay::answer_by_columns() {
	ColumnProgram program(catalog_, target_, program_,
	                      [this](uint32_t probe) { return probes_.of(probe)->pb_id; });
	ByColumns columns(program, catalog_);
	std::string refusal = program.refusal();
	if (refusal.empty() && !gathered_.can_scan())
		refusal = "several recordings are put in order, or one is not in order of time";
	if (refusal.empty()) {
		const bool in_order = gathered_.scan([&](trace::RecordBatch& batch, uint32_t cpu) {
			look_for_interruption();
			return !over_ && columns.take(batch, cpu);
		});
		refusal = in_order ? columns.refusal() : "records of a CPU are not in order of time";
		if (!refusal.empty())
			gathered_.start_over();
	}
	if (!refusal.empty()) {
		if (options_.way == Way::kColumns)
			throw Error("this cannot be answered by columns: " + refusal,
			            "let dfr choose the way");
		return false;
	}
	const ByColumns::First& first = columns.first();
	if (first.known && first.begin)
		keep_begin({.task = first.task.task,
		            .pid = first.task.pid,
		            .tid = first.task.tid,
		            .nspid = first.task.nspid,
		            .cgroup = first.task.cgroup,
		            .execname = first.execname});
	if (first.known)
		start_before(first.time, first.begin);
	firings_ += columns.firings();
	last_time_ = std::max(last_time_, columns.last_time());
	session_.add_aggregations(columns.entries());
	return true;
}

// The same of several threads. False: one engine must answer.
bool Replay::answer_by_threads(const Gathered::Visit& visit) {
	if (options_.threads < 2 || !gathered_.can_scan() || !ByThreads::can_answer(program_, target_))
		return false;
	const ThreadLimits limits{.threads = options_.threads,
	                          .dynvarsize = session_.option(DFR_OPT_DYNVARSIZE),
	                          .agg_room = kAggregationRoom};
	if (limits.dynvarsize / (limits.threads - 1) < kDynvarsLeast)
		return false;
	threads_ = std::make_unique<ByThreads>(all_, target_, program_, limits);
	recorded_.clear();
	gathered_.run(visit);
	fire();
	const bool alike = threads_->finish() && !in_vain_;
	const std::unique_ptr<ByThreads> threads = std::move(threads_);
	recorded_.clear();
	started_ = false;
	const uint64_t last = std::exchange(last_time_, 0);
	if (!alike) {
		firings_ = 0;
		fault_ = {};
		faulted_.clear();
		cut_texts_.clear();
		short_stacks_.clear();
		gathered_.start_over();
		return false;
	}
	if (first_time_)
		start_before(*first_time_, first_is_begin_);
	last_time_ = std::max(last_time_, last);
	missing_ = threads->missing();
	session_.add_aggregations(threads->entries());
	return true;
}

Answer Replay::run() {
	const auto visit = [this](const trace::Record& record, uint32_t boot) {
		take(record, boot);
		if (++seen_ % 4096 == 0)
			look_for_interruption();
		return !over_ && !(threads_ && in_vain_);
	};
	bool by_threads = false;
	const bool by_columns = !options_.followed && options_.way != Way::kRows && answer_by_columns();
	if (options_.followed)
		gathered_.follow(*options_.followed, visit, [this](uint64_t until) { return await(until); });
	else if (!by_columns && !(by_threads = answer_by_threads(visit)))
		gathered_.run(visit);
	// Where nothing tells when the recording began, as of a damaged catalog, it is no longer than its end.
	if (!started_)
		start(gathered_.start().value_or(catalog_.clocks.empty() ? gathered_.stop().value_or(1)
		                                                         : catalog_.clocks.front().mono));
	fire();
	// Timers fire up to the recording's stop, also after its last record; if it was cut, up to that.
	if (!over_)
		fire_timers(gathered_.stop().value_or(last_time_));
	own_env_.ev_time = last_time_ + 1;
	dfr_user_cpu = begin_cpu_;
	consumer_->finish();
	dfr_user_env = nullptr;
	Answer answer;
	answer.verdict = gathered_.judge([this](const trace::Catalog& catalog) { return asked(catalog); });
	answer.firings = firings_;
	answer.by_columns = by_columns;
	answer.by_threads = by_threads;
	for (const std::string& reason : gathered_.reasons())
		conditions_.push_back(reason);
	if (options_.followed) // which ends so, and the verdict's times say where
		check_late_probes();
	else if (interrupted_)
		conditions_.emplace_back(kInterrupted);
	tell_passed_over();
	tell_short();
	for (const std::string& condition : conditions_) {
		answer.verdict.complete = false;
		answer.verdict.reasons.push_back(condition);
	}
	answer.verdict.notes.insert(answer.verdict.notes.end(), notes_.begin(), notes_.end());
	// Nothing of the window is missing for that. What was followed and not to its end has a window that grows.
	if (!options_.wanted.part() && gathered_.left_out() &&
	    (!options_.followed || options_.followed->ended()))
		answer.verdict.reasons.push_back(trace::plural(gathered_.left_out(), "record") +
		                                 " from outside of the window left out (--all takes them)");
	answer.exit_status = consumer_->exit_status().value_or(0);
	if (consumer_->lost() != 0) {
		answer.verdict.complete = false;
		answer.verdict.lost += consumer_->lost();
		answer.verdict.reasons.push_back(
		    "the replaying program itself lost " + std::to_string(consumer_->lost()) +
		    " records, as the messages above say: give it more room with -x "
		    "bufsize=, dynvarsize=, specsize= or nspec=");
	}
	if (session_.status().filled != 0) {
		answer.verdict.complete = false;
		answer.verdict.reasons.emplace_back(
		    "the replaying program stopped before the end, because its ring "
		    "was full (bufpolicy=fill): leave that option out, or give it "
		    "larger rings with -x bufsize=");
	}
	return answer;
}

} // namespace

Answer replay_program(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
                      render::Output& output, render::Symboliser& symbols, const ReplayOptions& options) {
	return Replay(all, target, program, output, symbols, options).run();
}

} // namespace dfr::replay
