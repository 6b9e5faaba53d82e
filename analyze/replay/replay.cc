// SPDX-License-Identifier: GPL-2.0
//
// Replay: from records back to firings.
#include "analyze/replay/replay.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/engine_session.h"
#include "analyze/engine/tick.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/replay/by_columns.h"
#include "analyze/replay/gathered.h"
#include "formats/d/canon.h"
#include "formats/error.h"

namespace dfr::replay {
namespace {

constexpr uint32_t kArguments = 10;
// Probes with ids up to this one have the same id in replay; create_probes() fills the gaps.
constexpr uint32_t kIdsKept = 200'000;
constexpr uint64_t kNever = UINT64_MAX;
// Room for some ten million keys. It takes memory only as it fills.
constexpr size_t kAggregationRoom = size_t{1} << 30;

// kNever, if a clock does not go so far: only a crafted file has such times.
uint64_t after(uint64_t time, uint64_t interval) {
	return time > kNever - interval ? kNever : time + interval;
}

// One recorded firing, with copies of its inputs, because a record points into a block that the merger
// may free before the firing is complete.
class Firing {
public:
	bool empty() const { return probe == nullptr; }
	void clear();
	void begin(const trace::Record& record, const trace::Probe& of, size_t captures);
	void set_argument(uint32_t index, uint64_t value);
	void set_capture(size_t index, const trace::Value& value, const dfr_field& field);
	// Sets the frames of a stack. If the firing has several stacks, the longest is used for all.
	void set_stack(const trace::Value& value, bool of_user);
	// Fills `env` once all records of the firing were read, because the copies may have moved until then.
	void settle();

	const trace::Probe* probe = nullptr;
	dfr_probe* fires = nullptr;
	bool speaks = false;
	uint64_t time = 0;
	uint32_t cpu = 0, boot = 0;
	dfr_env env{};
	u64 arguments[kArguments] = {};
	unsigned argument_count = 0;

private:
	struct CapturedText {
		size_t capture, offset;
	};
	std::vector<dfr_captured> captured_;
	std::vector<CapturedText> texts_;
	std::vector<char> bytes_;
	std::vector<u64> stack_, ustack_;
};

void Firing::clear() {
	probe = nullptr;
	argument_count = 0;
	texts_.clear();
	bytes_.clear();
	stack_.clear();
	ustack_.clear();
}

void Firing::set_stack(const trace::Value& value, bool of_user) {
	std::vector<u64>& stack = of_user ? ustack_ : stack_;
	const size_t frames = value.bytes.size() / sizeof(u64);
	if (frames <= stack.size())
		return;
	stack.resize(frames);
	std::memcpy(stack.data(), value.bytes.data(), frames * sizeof(u64));
}

void Firing::begin(const trace::Record& record, const trace::Probe& of, size_t captures) {
	clear();
	probe = &of;
	time = record.time;
	cpu = record.cpu;
	env = {};
	env.ev_level = record.level;
	env.ev_task = record.context.task;
	env.ev_pid = record.context.pid;
	env.ev_tid = record.context.tid;
	env.ev_nspid = record.context.nspid;
	env.ev_cgroup = record.context.cgroup;
	record.context.execname.copy(env.ev_comm, sizeof env.ev_comm - 1);
	env.ev_time = record.time;
	std::memset(arguments, 0, sizeof arguments);
	dfr_captured missing{};
	missing.fault = DFR_CAPTURED_MISSING; // stays if no record of the firing has the input
	captured_.assign(captures, missing);
}

void Firing::set_argument(uint32_t index, uint64_t value) {
	if (index >= kArguments)
		return;
	arguments[index] = value;
	argument_count = std::max(argument_count, index + 1);
}

void Firing::set_capture(size_t index, const trace::Value& value, const dfr_field& field) {
	dfr_captured& captured = captured_[index];
	captured = {};
	if (value.fault != 0 && value.fault != DFR_NOTE_CUT) {
		captured.fault = value.fault + 1u;
		captured.fault_addr = value.fault_value;
		return;
	}
	if (field.kind == DFR_FIELD_INT) {
		captured.value = value.number;
		return;
	}
	captured.size = value.bytes.size() + 1;
	texts_.push_back({index, bytes_.size()});
	const auto* const from = reinterpret_cast<const char*>(value.bytes.data());
	bytes_.insert(bytes_.end(), from, from + value.bytes.size());
	bytes_.resize((bytes_.size() + 8) & ~size_t{7}); // adds at least one NUL, and aligns to 8
}

void Firing::settle() {
	for (const CapturedText& text : texts_)
		captured_[text.capture].value = reinterpret_cast<uint64_t>(bytes_.data() + text.offset);
	env.ev_stack = stack_.data();
	env.ev_nstack = static_cast<uint32_t>(stack_.size());
	env.ev_ustack = ustack_.data();
	env.ev_nustack = static_cast<uint32_t>(ustack_.size());
	env.ev_captured = captured_.data();
	env.ev_ncaptured = static_cast<uint32_t>(captured_.size());
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
	};
	struct Recorded { // how a record of an EPID becomes part of a firing
		bool known = false;
		const trace::Probe* probe = nullptr;
		const trace::Layout* layout = nullptr;
		dfr_probe* fires = nullptr; // null: the program has no clause for this probe
		bool speaks = false;
		std::vector<Use> uses;
	};

	void create_probes();
	dfr_provider* provider_of(const trace::Probe& probe);
	void create_timers();
	uint32_t id_of(const d::ProbeInfo& probe) const;
	dof::Image for_hosts(const dof::Image& image);
	void check_conditions();
	void check_unrecorded(const d::ProbePattern& pattern);
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
	void start(uint64_t time);
	bool await(uint64_t until);
	void check_late_probes();
	bool answer_by_columns();
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
	std::map<uint32_t, dfr_probe*> probes_; // by recorded id
	std::set<uint32_t> known_probes_;       // when the program was compiled
	std::vector<Recorded> recorded_;        // by EPID
	std::map<std::string, int> captures_;
	std::vector<engine::Timer> timers_;
	std::map<std::vector<std::string>, dfr_provider*>
	    providers_; // by name, and host if there are several
	Firing firing_;
	dfr_env own_env_{}; // for BEGIN, END and timers
	uint64_t last_time_ = 0;
	uint32_t begin_cpu_ = 0;
	bool started_ = false, over_ = false, exits_ = false;
	bool interrupted_ = false; // somebody has ended it before all records were read
	uint64_t seen_ = 0;        // records
	bool any_may_speak_ = false;
	std::vector<d::ProbePattern> speaking_; // of clauses with actions on aggregations
	uint64_t firings_ = 0;
	std::vector<std::string> conditions_; // why the answer is partial: reasons for the verdict
	std::map<std::pair<uint32_t, uint64_t>, uint64_t>
	    missing_; // firings without an input, by probe and input
};

Replay::Replay(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
               render::Output& output, render::Symboliser& symbols, const ReplayOptions& options)
    : all_(all), catalog_(all.catalog()), target_(target), gathered_(all, options.wanted, true),
      program_(program), output_(output), options_(options),
      session_("replay of " + all.name(), std::max(catalog_.cpus, 1u), false) {
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
	create_probes();
	create_timers();
	check_conditions();
	session_.probes_added();
	lib::Consumer::Callbacks hooks;
	hooks.message = options.message;
	hooks.kernel_types = [this] { return target_.kernel_types(""); };
	consumer_ = std::make_unique<lib::Consumer>(session_, output, symbols, std::move(hooks));
	consumer_->style() = options.style;
	consumer_->style().hosts = all.host_names();
	consumer_->set_synchronous();
	const auto dof = dof::write(for_hosts(program.image));
	session_.enable(std::as_bytes(std::span(dof)), true);
	consumer_->report_faults();
}

// Hosts have each their own, so that their probes have ids of their own.
dfr_provider* Replay::provider_of(const trace::Probe& probe) {
	std::vector<std::string> key = {probe.provider};
	key.insert(key.end(), probe.hosts.begin(), probe.hosts.end());
	dfr_provider*& provider = providers_[key];
	if (!provider)
		provider = session_.add_provider(probe.provider, nullptr, nullptr, DFR_PV_TWIN);
	return provider;
}

// Creates the recorded probes with their recorded ids. The engine gives ids without gaps, so probes of
// the provider "not recorded" take the ids in between.
void Replay::create_probes() {
	uint32_t next = 4; // the engine has made BEGIN, END and ERROR, with ids 1 to 3
	dfr_provider* holes = nullptr;
	for (const trace::Probe* const probe : target_.recorded()) {
		dfr_provider* const provider = provider_of(*probe);
		if (probe->id <= kIdsKept && next < probe->id && !holes)
			holes = session_.add_provider("not recorded", nullptr, nullptr);
		for (; probe->id <= kIdsKept && next < probe->id; next++)
			session_.add_probe(holes, "-", "-", std::to_string(next), 0, nullptr);
		const uint32_t nargs = probe->nargs.value_or(DFR_NARGS_UNKNOWN);
		dfr_probe* const made =
		    session_.add_probe(provider, probe->module, probe->function, probe->name, nargs, nullptr);
		if (!made)
			throw Error("cannot replay " + all_.name() + ": probe " + std::to_string(probe->id) +
			            " is in its catalog twice");
		next = made->pb_id + 1;
		probes_[probe->id] = made;
	}
}

// Creates the timer probes that the program names and the recording does not have.
void Replay::create_timers() {
	for (const dof::EcbDesc& ecb : program_.image.ecbs) {
		const std::string& name = ecb.probe.name;
		const auto interval = engine::timer_interval(name);
		const auto same = [&name](const engine::Timer& timer) {
			return name == timer.probe->pb_name;
		};
		if (!interval || std::any_of(timers_.begin(), timers_.end(), same))
			continue;
		const auto recorded = [&name](const trace::Probe* probe) { return probe->name == name; };
		if (std::any_of(target_.recorded().begin(), target_.recorded().end(), recorded))
			continue;
		trace::Probe timer;
		timer.provider = "profile";
		timers_.push_back(
		    {session_.add_probe(provider_of(timer), "", "", name, 3, nullptr), *interval, kNever});
	}
}

// Of a probe that the target knows, in the engine.
uint32_t Replay::id_of(const d::ProbeInfo& probe) const {
	if (const auto recorded = probes_.find(probe.id); recorded != probes_.end())
		return recorded->second->pb_id;
	for (const engine::Timer& timer : timers_)
		if (probe.name == timer.probe->pb_name)
			return timer.probe->pb_id;
	return probe.id; // BEGIN, END, ERROR
}

// In place of each clause for some hosts, one for each probe of theirs: the engine's own idea of the host is the
// machine that replays.
dof::Image Replay::for_hosts(const dof::Image& image) {
	dof::Image here = image;
	here.ecbs.clear();
	for (dof::EcbDesc ecb : image.ecbs) {
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		if (pattern.host.empty()) {
			here.ecbs.push_back(std::move(ecb));
			continue;
		}
		if (!target_.elsewhere(pattern.host).empty())
			continue;
		ecb.probe.host.clear();
		target_.match(pattern, [&](const d::ProbeInfo& probe) {
			ecb.probe.id = id_of(probe);
			here.ecbs.push_back(ecb);
			return true;
		});
	}
	return here;
}

// Whether another recording of the same boot has, of the same time, all probes that match.
bool Replay::is_covered(size_t member, const d::ProbePattern& pattern) const {
	const auto matches = [&pattern](const trace::Probe* probe) {
		return RecordingTarget::matches(pattern, *probe);
	};
	const auto recorded = [&matches](const auto& probes) {
		return std::count_if(probes.begin(), probes.end(), matches);
	};
	const auto& members = target_.members();
	for (size_t other = 0; other < members.size(); other++)
		if (gathered_.covers(other, member) &&
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
	for (const dof::EcbDesc& ecb : program_.image.ecbs) {
		if (ecb.uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		const std::string& condition = program_.image.body_of(ecb).condition;
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		if (!target_.elsewhere(pattern.host).empty())
			continue;
		check_unrecorded(pattern);
		size_t partial = 0;
		const trace::Probe* example = nullptr;
		for (const trace::Probe* const probe : target_.recorded()) {
			if (!RecordingTarget::matches(pattern, *probe) ||
			    target_.recorded_whole(probe->id, condition))
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

// Called by the engine within dfr_fire_env(): a clause did not run, because no record of this firing has
// the input.
void Replay::missing(uint64_t index) {
	missing_[{firing_.probe->id, index}]++;
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
	const auto probe = entry.probe ? probes_.find(entry.probe->id) : probes_.end();
	if (probe != probes_.end() && dfr_probe_enabled(probe->second)) {
		entry.fires = probe->second;
		entry.speaks = speaks(*entry.probe);
	}
	for (const RecordedInput& input : target_.inputs(epid)) {
		Use use{input.field};
		if (const auto capture = captures_.find(input.canon); capture != captures_.end())
			use.capture = capture->second;
		if (input.canon.size() == 4 && input.canon.compare(0, 3, "arg") == 0)
			use.argument = input.canon[3] - '0';
		const uint16_t kind = entry.layout ? entry.layout->fields[input.field].kind : 0;
		use.stack = kind == DFR_FIELD_STACK;
		use.ustack = kind == DFR_FIELD_USTACK;
		if (use.capture >= 0 || use.argument >= 0)
			entry.uses.push_back(use);
	}
	return entry;
}

void Replay::start(uint64_t time) {
	started_ = true;
	for (const trace::EventMark& mark : catalog_.events)
		if (mark.event == DFR_EVENT_GO)
			begin_cpu_ = mark.value < 0
			                 ? 0
			                 : static_cast<uint32_t>(mark.value) % std::max(catalog_.cpus, 1u);
	time = std::min(time, gathered_.start().value_or(time));
	own_env_.ev_time = time;
	own_env_.ev_wall = catalog_.walltime(time) - static_cast<int64_t>(time);
	last_time_ = time;
	for (engine::Timer& timer : timers_)
		timer.due = after(time, timer.interval);
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
	env.ev_wall = catalog_.walltime(env.ev_time) - static_cast<int64_t>(env.ev_time);
	dfr_user_cpu = cpu % std::max(catalog_.cpus, 1u);
	const uint64_t recorded = session_.recorded(dfr_user_cpu);
	dfr_fire_env(probe, arguments, count, nullptr, &env);
	last_time_ = std::max<uint64_t>(last_time_, env.ev_time);
	after_firing(speaks, recorded);
}

void Replay::fire_timers(uint64_t until) {
	static const u64 kNoArguments[3] = {0, 0, 0};
	while (!over_) {
		engine::Timer* next = nullptr;
		for (engine::Timer& timer : timers_)
			if (timer.due < until && (!next || timer.due < next->due))
				next = &timer;
		if (!next)
			return;
		own_env_.ev_time = next->due;
		next->due = after(next->due, next->interval);
		fire_at(next->probe, kNoArguments, 3, begin_cpu_, own_env_, !speaking_.empty());
	}
}

void Replay::fire() {
	if (firing_.empty() || over_)
		return;
	fire_timers(firing_.time);
	if (!over_ && firing_.fires) {
		firing_.settle();
		firing_.env.ev_cookie = this;
		firing_.env.ev_missing = [](void* self, __u64 index) {
			static_cast<Replay*>(self)->missing(index);
		};
		fire_at(firing_.fires, firing_.arguments, firing_.argument_count, firing_.cpu, firing_.env,
		        firing_.speaks);
	}
	last_time_ = std::max(last_time_, firing_.time);
	firing_.clear();
}

void Replay::take(const trace::Record& record, uint32_t boot) {
	const Recorded& entry = recorded(record.epid);
	if (!entry.probe || !entry.layout)
		return;
	if (!started_) {
		if (entry.probe->id == 1)
			keep_begin(record.context);
		start(record.time);
		recorded_.clear(); // recorded() ran before start() armed the probes, so `fires` was null
		return take(record, boot);
	}
	if (entry.probe->id <= 3) // the engine in this process fires its own BEGIN, END and ERROR
		return;
	const bool same = !firing_.empty() && firing_.time == record.time && firing_.cpu == record.cpu &&
	                  firing_.probe == entry.probe && firing_.boot == boot;
	if (!same) {
		fire();
		if (over_)
			return;
		if (!entry.fires) { // no clause for this probe: only the time advances
			last_time_ = std::max(last_time_, record.time);
			return;
		}
		firing_.begin(record, *entry.probe, program_.captured.size());
		firing_.boot = boot;
		firing_.fires = entry.fires;
		firing_.speaks = entry.speaks;
	}
	for (const Use& use : entry.uses) {
		if (use.field >= record.fields.size())
			continue;
		const trace::Value& value = record.fields[use.field];
		if (use.argument >= 0)
			firing_.set_argument(static_cast<uint32_t>(use.argument), value.number);
		if (use.stack || use.ustack)
			firing_.set_stack(value, use.ustack);
		if (use.capture >= 0)
			firing_.set_capture(static_cast<size_t>(use.capture), value,
			                    entry.layout->fields[use.field]);
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
		if (!over_)
			fire_timers(until + 1);
		consumer_->read(false);
		session_.settle();
	}
	output_.flush();
	return !over_ && options_.await();
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
	                      [this](uint32_t probe) { return probes_.at(probe)->pb_id; });
	ByColumns columns(program, catalog_);
	std::string refusal = program.refusal();
	const auto names_host = [](const dof::EcbDesc& ecb) { return !ecb.probe.host.empty(); };
	if (std::any_of(program_.image.ecbs.begin(), program_.image.ecbs.end(), names_host))
		refusal = "a clause names hosts";
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
		start(first.time);
	firings_ += columns.firings();
	last_time_ = std::max(last_time_, columns.last_time());
	session_.add_aggregations(columns.entries());
	return true;
}

Answer Replay::run() {
	const auto visit = [this](const trace::Record& record, uint32_t boot) {
		take(record, boot);
		if (++seen_ % 4096 == 0)
			look_for_interruption();
		return !over_;
	};
	const bool by_columns = !options_.followed && options_.way != Way::kRows && answer_by_columns();
	if (options_.followed)
		gathered_.follow(*options_.followed, visit, [this](uint64_t until) { return await(until); });
	else if (!by_columns)
		gathered_.run(visit);
	if (!started_)
		start(catalog_.clocks.empty() ? 1 : catalog_.clocks.front().mono);
	fire();
	// Timers fire up to the recording's stop, also after its last record; if it was cut, up to that.
	if (!over_)
		fire_timers(gathered_.stop().value_or(last_time_ == kNever ? kNever : last_time_ + 1));
	own_env_.ev_time = last_time_ + 1;
	dfr_user_cpu = begin_cpu_;
	consumer_->finish();
	dfr_user_env = nullptr;
	Answer answer;
	answer.verdict = gathered_.judge();
	answer.firings = firings_;
	answer.by_columns = by_columns;
	for (const std::string& reason : gathered_.reasons())
		conditions_.push_back(reason);
	if (options_.followed) // which ends so, and the verdict's times say where
		check_late_probes();
	else if (interrupted_)
		conditions_.emplace_back(kInterrupted);
	for (const auto& [what, firings] : missing_) {
		const auto& [probe, input] = what;
		if (target_.is_nowhere(program_.captured[input]))
			continue; // a condition says so
		conditions_.push_back(std::to_string(firings) + " firings of " +
		                      catalog_.probes.at(probe).text() + " were passed over: they lack " +
		                      d::readable(program_.captured[input]) +
		                      ", which was recorded only where " +
		                      target_.recorded_where(probe, program_.captured[input]));
	}
	for (const std::string& condition : conditions_) {
		answer.verdict.complete = false;
		answer.verdict.reasons.push_back(condition);
	}
	if (!options_.wanted.part() && gathered_.left_out()) // nothing of the window is missing for that
		answer.verdict.reasons.push_back(
		    std::to_string(gathered_.left_out()) +
		    " records from before the window are left out (--all takes them)");
	answer.exit_status = consumer_->exit_status().value_or(0);
	if (consumer_->lost() != 0) {
		answer.verdict.complete = false;
		answer.verdict.lost += consumer_->lost();
		answer.verdict.reasons.push_back("the replaying program itself lost " +
		                                 std::to_string(consumer_->lost()) +
		                                 " records: give it larger rings with -x bufsize=");
	}
	return answer;
}

} // namespace

Answer replay_program(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
                      render::Output& output, render::Symboliser& symbols, const ReplayOptions& options) {
	return Replay(all, target, program, output, symbols, options).run();
}

} // namespace dfr::replay
