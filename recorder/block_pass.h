// SPDX-License-Identifier: GPL-2.0
//
// BlockPass: which blocks a device session asks for next. Outside of a pass it
// asks all CPUs for closed blocks. A pass, which flush() begins, gives everything
// that is older than its beginning:
//
//	Idle ─begin()─▶ OpenOfAll ─▶ RestOfAll ──nothing older came──▶ Idle
//	                    │ a full batch │
//	                    ▼              ▼
//	                OpenOfOne ─▶ RestOfOne ──nothing older came──▶ OpenOfOne of the
//	                                                     next CPU, or Idle after the last
//
// All CPUs are asked at once, if that is not much; else one after the other. Each
// gives until nothing comes that is older than the beginning: what is younger
// waits for the next pass, because a pass would not end while CPUs are faster than
// the reader. An open block is asked for once (Open...), because each flush may
// have something to tell.
#pragma once

#include <cstdint>

namespace dfr::recorder {

class BlockPass {
public:
	static constexpr uint32_t kAllCpus = 0xffffffff;
	struct Question {
		uint32_t cpu = kAllCpus;
		bool open_too = false; // open blocks are closed for it
	};

	void begin(uint64_t now);
	bool under_way() const { return stage_ != Stage::Idle; }
	// Whether to ask once more; false: the pass is over. `cpus`: how many there are.
	bool goes_on(uint32_t cpus);
	Question question() const;
	// The answer: whether it was as many blocks as fit, and then what is in each.
	void answered(bool full_batch);
	void saw(uint64_t last_time) { older_came_ |= last_time <= began_; }
	void saw_unreadable() { older_came_ = true; } // it may have been older

private:
	enum class Stage { Idle, OpenOfAll, RestOfAll, OpenOfOne, RestOfOne };
	void ask_one(uint32_t cpu);

	Stage stage_ = Stage::Idle;
	uint64_t began_ = 0;
	uint32_t cpu_ = 0; // that is asked, one after the other
	bool older_came_ = false;
};

} // namespace dfr::recorder
