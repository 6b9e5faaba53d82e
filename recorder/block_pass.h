// SPDX-License-Identifier: GPL-2.0
//
// BlockPass: which blocks a device session asks for next. Outside of a pass it
// asks all CPUs for closed blocks. DeviceSession::flush() begins a pass, which
// delivers everything that was recorded before the pass began:
//
//	Idle ─begin()─▶ OpenOfAll ─▶ RestOfAll ──nothing older came──▶ Idle
//	                    │ a full batch │
//	                    ▼              ▼
//	                OpenOfOne ─▶ RestOfOne ──nothing older came──▶ OpenOfOne of the
//	                                                     next CPU, or Idle after the last
//
// The pass asks all CPUs at once; when an answer fills the batch, it goes on CPU by
// CPU. It asks until an answer has no block older than the beginning: younger blocks
// wait for the next pass, because a pass would never end while CPUs write faster
// than the reader reads. It closes each CPU's open block only once (Open...),
// because a block that has been opened since may hold new records at every flush.
//
// An answer may leave a CPU's blocks there, because too many of it are held
// (wants_room()). Then the pass asks that CPU again until all came, or a block that is
// younger than the beginning: what a CPU hands out is in order.
#pragma once

#include <cstdint>

namespace dfr::recorder {

class BlockPass {
public:
	static constexpr uint32_t kAllCpus = 0xffffffff;
	struct Question {
		uint32_t cpu = kAllCpus;
		bool open_too = false; // TAKE closes the open blocks first and hands them out too
	};

	void begin(uint64_t now);
	bool under_way() const { return stage_ != Stage::Idle; }
	// Whether to ask once more; false: the pass is over. `cpus`: how many there are.
	bool goes_on(uint32_t cpus);
	Question question() const;
	// The answer: answered() once (full_batch: as many blocks as had room; left: some stayed there until
	// others are released), then saw() or saw_unreadable() for each block of it.
	void answered(bool full_batch, bool left = false);
	bool wants_room() const { return left_; }
	// Nothing can be released: goes on without the blocks that were left.
	void leave();
	void saw(uint64_t last_time) {
		older_came_ |= last_time <= began_;
		younger_came_ |= of_one_ && last_time > began_;
	}
	void saw_unreadable() { older_came_ = true; } // its time is not known: it may have been older

private:
	enum class Stage { Idle, OpenOfAll, RestOfAll, OpenOfOne, RestOfOne };
	void ask_one(uint32_t cpu);

	Stage stage_ = Stage::Idle;
	uint64_t began_ = 0;
	uint32_t cpu_ = 0; // the CPU that is asked, in OpenOfOne and RestOfOne
	bool older_came_ = false;
	bool left_ = false;         // of the last answer,
	bool of_one_ = false;       // which was one CPU's,
	bool younger_came_ = false; // and that CPU's blocks reach beyond the beginning
};

} // namespace dfr::recorder
