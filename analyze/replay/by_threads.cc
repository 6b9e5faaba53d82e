// SPDX-License-Identifier: GPL-2.0
//
// Workers with an engine each, and the firings that wait for them.
#include "analyze/replay/by_threads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "analyze/replay/clauses.h"
#include "analyze/replay/replayed_probes.h"
#include "formats/abi/dif.h"

namespace dfr::replay {
namespace {

constexpr size_t kBatchFirings = 512;
constexpr size_t kBatchesWaiting = 4; // of a worker

struct VariablesUsed {
	bool threads = false; // thread-local ones
	bool others = false;  // what firings of several threads share, or what is another one in each engine
};

void look_at(const dif::Difo& difo, VariablesUsed& used) {
	for (const uint32_t instruction : difo.text) {
		const uint32_t wide = DIF_WIDE(instruction);
		switch (DIF_OP(instruction)) {
		case DIF_OP_LDGS: used.others |= wide >= DIF_VAR_USER_FIRST || wide == DIF_VAR_EPID; break;
		case DIF_OP_STGS:
		case DIF_OP_LDGAA:
		case DIF_OP_STGAA: used.others = true; break;
		case DIF_OP_LDTA:
		case DIF_OP_LDTS:
		case DIF_OP_STTS:
		case DIF_OP_LDTAA:
		case DIF_OP_STTAA: used.threads = true; break;
		case DIF_OP_CALL:
			used.others |=
			    wide == DIF_SUBR_RAND || wide == DIF_SUBR_RANDOM || wide == DIF_SUBR_SPECULATION;
			break;
		default: break;
		}
	}
}

VariablesUsed variables_of(const dof::Body& body) {
	VariablesUsed used;
	if (body.predicate)
		look_at(*body.predicate, used);
	for (const dof::Action& action : body.actions)
		if (action.difo)
			look_at(*action.difo, used);
	return used;
}

// Whether it only counts and sets variables.
bool only_counts(const dof::Body& body) {
	const std::vector<bool> counted = dof::aggregated(body);
	for (size_t i = 0; i < body.actions.size(); i++)
		if (!counted[i] && body.actions[i].kind != DFR_ACT_DIFEXPR)
			return false;
	return !dof::leaves_records(body);
}

// Only clauses for recorded firings, and a share of the memory for variables: where that is not enough, nor may the
// whole be for one engine.
dof::Image image_of(const d::Compiled& program, const RecordingTarget& target, int64_t dynvarsize) {
	dof::Image image = program.image;
	image.ecbs.clear();
	for (const dof::EcbDesc* const ecb : clauses_of(program, target).recorded)
		image.ecbs.push_back(*ecb);
	std::erase_if(image.options,
	              [](const dof::Option& option) { return option.option == DFR_OPT_DYNVARSIZE; });
	image.options.push_back({DFR_OPT_DYNVARSIZE, dynvarsize});
	return image;
}

} // namespace

struct ByThreads::Batch {
	std::vector<std::unique_ptr<Firing>> firings;
	size_t count = 0;

	Batch() {
		for (size_t i = 0; i < kBatchFirings; i++)
			firings.push_back(std::make_unique<Firing>());
	}
};

class ByThreads::Worker {
public:
	Worker(const trace::United& all, RecordingTarget& target, const dof::Image& image, size_t agg_room)
	    : catalog_(all.catalog()), cpus_(std::max(catalog_.cpus, 1u)),
	      session_("replay of " + all.name(), cpus_, false),
	      probes_(session_, target, image, all.name()) {
		session_.set_agg_room(agg_room);
		const auto dof = dof::write(probes_.for_hosts(image));
		session_.enable(std::as_bytes(std::span(dof)), true);
		session_.go();
		thread_ = std::thread([this] { run(); });
	}
	~Worker() { end(); }
	Worker(const Worker&) = delete;
	Worker& operator=(const Worker&) = delete;

	bool fires(uint32_t probe) const {
		dfr_probe* const known = probes_.of(probe);
		return known && dfr_probe_enabled(known);
	}
	void give(std::unique_ptr<Firing>& firing);
	void end(); // waits until everything was fired
	// Whether one engine would have done the same.
	bool alike();
	std::vector<trace::AggEntry> merged(std::vector<trace::AggEntry> others) {
		session_.add_aggregations(std::move(others));
		return session_.aggregations();
	}
	const Missing& missing() const { return missing_; }

private:
	void run();
	void fire(Firing& firing);
	void pass_on();

	const trace::Catalog& catalog_;
	const uint32_t cpus_;
	engine::EngineSession session_;
	ReplayedProbes probes_;
	std::unique_ptr<Batch> open_ = std::make_unique<Batch>(); // the reader's
	std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<std::unique_ptr<Batch>> waiting_, empty_; // under mutex_, as the next two
	size_t batches_ = 1;
	bool last_ = false, failed_ = false;
	uint32_t probe_ = 0; // that fires now
	Missing missing_;
	std::thread thread_;
};

void ByThreads::Worker::give(std::unique_ptr<Firing>& firing) {
	open_->firings[open_->count++].swap(firing);
	if (open_->count == kBatchFirings)
		pass_on();
}

// Waits for an empty batch if there are enough.
void ByThreads::Worker::pass_on() {
	std::unique_lock lock(mutex_);
	waiting_.push_back(std::move(open_));
	changed_.notify_all();
	changed_.wait(lock, [this] { return !empty_.empty() || batches_ < kBatchesWaiting; });
	if (empty_.empty()) {
		batches_++;
		open_ = std::make_unique<Batch>();
	} else {
		open_ = std::move(empty_.front());
		empty_.pop_front();
	}
}

void ByThreads::Worker::end() {
	if (!thread_.joinable())
		return;
	{
		const std::lock_guard lock(mutex_);
		waiting_.push_back(std::move(open_));
		last_ = true;
		changed_.notify_all();
	}
	thread_.join();
}

void ByThreads::Worker::run() {
	for (bool more = true; more;) {
		std::unique_ptr<Batch> batch;
		{
			std::unique_lock lock(mutex_);
			changed_.wait(lock, [this] { return !waiting_.empty() || last_; });
			more = !waiting_.empty();
			if (!more)
				return;
			batch = std::move(waiting_.front());
			waiting_.pop_front();
		}
		try {
			for (size_t i = 0; i < batch->count; i++)
				fire(*batch->firings[i]);
		} catch (const std::exception&) { // one engine says what is wrong
			const std::lock_guard lock(mutex_);
			failed_ = true;
		}
		batch->count = 0;
		const std::lock_guard lock(mutex_);
		empty_.push_back(std::move(batch));
		changed_.notify_all();
	}
}

void ByThreads::Worker::fire(Firing& firing) {
	firing.settle();
	probe_ = firing.probe->id;
	firing.env.ev_cookie = this;
	firing.env.ev_missing = [](void* self, __u64 index) {
		auto* const worker = static_cast<Worker*>(self);
		worker->missing_[{worker->probe_, index}]++;
	};
	firing.env.ev_wall = catalog_.wall_offset(firing.env.ev_time);
	dfr_user_cpu = firing.cpu % cpus_;
	dfr_fire_env(probes_.of(probe_), firing.arguments, firing.argument_count, nullptr, &firing.env);
	if (session_.due(dfr_user_cpu))
		session_.settle();
}

bool ByThreads::Worker::alike() {
	const dfr_ioc_status status = session_.status();
	return !failed_ && !status.errors && !status.records &&
	       std::all_of(std::begin(status.loss), std::end(status.loss),
	                   [](uint64_t lost) { return lost == 0; });
}

bool ByThreads::can_answer(const d::Compiled& program, const RecordingTarget& target) {
	const Clauses clauses = clauses_of(program, target);
	const auto body = [&program](const dof::EcbDesc* ecb) -> const dof::Body& {
		return program.image.body_of(*ecb);
	};
	const auto parallel = [&](const dof::EcbDesc* ecb) {
		return only_counts(body(ecb)) && !variables_of(body(ecb)).others;
	};
	return clauses.refusal.empty() && !clauses.recorded.empty() &&
	       std::all_of(clauses.recorded.begin(), clauses.recorded.end(), parallel) &&
	       std::none_of(clauses.own.begin(), clauses.own.end(),
	                    [&](const dof::EcbDesc* ecb) { return variables_of(body(ecb)).threads; });
}

ByThreads::ByThreads(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
                     const ThreadLimits& limits) {
	const unsigned workers = limits.threads - 1;
	const dof::Image image = image_of(program, target, limits.dynvarsize / workers);
	for (unsigned i = 0; i < workers; i++)
		workers_.push_back(std::make_unique<Worker>(all, target, image, limits.agg_room / workers));
}

ByThreads::~ByThreads() = default;

bool ByThreads::fires(uint32_t probe) const {
	return workers_.front()->fires(probe);
}

// An engine moves the later of two firings of one time on, so they must meet in one.
bool ByThreads::fire(std::unique_ptr<Firing>& firing) {
	if (firing->cpu >= last_times_.size())
		last_times_.resize(firing->cpu + 1);
	uint64_t& last = last_times_[firing->cpu];
	in_vain_ = in_vain_ || firing->time <= last;
	last = firing->time;
	workers_[(firing->env.ev_task * 2654435761u >> 16) % workers_.size()]->give(firing);
	return !in_vain_;
}

bool ByThreads::finish() {
	for (const auto& worker : workers_)
		worker->end();
	return !in_vain_ && std::all_of(workers_.begin(), workers_.end(),
	                                [](const auto& worker) { return worker->alike(); });
}

std::vector<trace::AggEntry> ByThreads::entries() const {
	std::vector<trace::AggEntry> all;
	for (const auto& worker : workers_)
		all = worker->merged(std::move(all));
	return all;
}

ByThreads::Missing ByThreads::missing() const {
	Missing all;
	for (const auto& worker : workers_)
		for (const auto& [what, firings] : worker->missing())
			all[what] += firings;
	return all;
}

} // namespace dfr::replay
