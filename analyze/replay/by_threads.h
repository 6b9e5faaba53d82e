// SPDX-License-Identifier: GPL-2.0
//
// Answers a program by several threads: the firings of each recorded thread go, in their
// order, to one of several engines, each with a thread of this process; the tables that
// these counted are put together. That is for programs whose firings know of other
// threads' only through aggregations: no variables but thread-local and clause-local ones.
//
// It is all or nothing: where one engine could have done something else than several
// (a fault, a full table, two firings of one time), it was in vain, and one engine
// answers everything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyze/replay/firing.h"
#include "analyze/replay/recording_target.h"
#include "formats/d/compile.h"
#include "formats/trace/united.h"

namespace dfr::replay {

// For all threads together, as one engine would have it.
struct ThreadLimits {
	unsigned threads = 2; // at least; one of them is the caller's, who reads the records
	int64_t dynvarsize = 0;
	size_t agg_room = 0;
};

class ByThreads {
public:
	// Whether the program is one of those.
	static bool can_answer(const d::Compiled& program, const RecordingTarget& target);

	ByThreads(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
	          const ThreadLimits& limits);
	~ByThreads();
	ByThreads(const ByThreads&) = delete;
	ByThreads& operator=(const ByThreads&) = delete;

	// Whether the program has a clause for a recorded probe.
	bool fires(uint32_t probe) const;
	// Takes the firing, in order of time, and leaves another one's room in its place. False: it is in vain.
	bool fire(std::unique_ptr<Firing>& firing);
	// After the last one. False: it was in vain.
	bool finish();

	// After finish(). As the engine's tables would have them.
	std::vector<trace::AggEntry> entries() const;
	// Firings that lack an input, by probe and input.
	using Missing = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;
	Missing missing() const;

private:
	struct Batch;
	class Worker;

	std::vector<std::unique_ptr<Worker>> workers_;
	std::vector<uint64_t> last_times_; // by CPU
	bool in_vain_ = false;
};

} // namespace dfr::replay
