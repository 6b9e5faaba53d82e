// SPDX-License-Identifier: GPL-2.0
//
// LiveMerge: the records of all CPUs of a running state, in order of time, as
// far as that order is known. Each pass hands in the blocks that have come and a
// time up to which every CPU has delivered; what is younger waits for the next
// pass. A committed speculation counts at its commit, as dtrace prints it
// (replay, which knows everything, sorts it back: formats/trace/decode.h). It
// accounts for what it reads, so that a live answer is judged as a recorded one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "formats/trace/decode.h"

namespace dfr::lib {

class LiveMerge {
public:
	explicit LiveMerge(const trace::Catalog& catalog) : shapes_(catalog) {}

	void add(trace::Block block);
	// Visits what is not younger than `until`.
	void run(uint64_t until, const std::function<void(const trace::Record&)>& visit);

	// Of the LOSS records of blocks that were read to their end, whatever the window.
	const trace::Losses& losses() const { return losses_; }
	// What was read until now. The records are those of the window.
	trace::Merger::Account account() const;

private:
	struct CpuQueue {
		explicit CpuQueue(trace::RecordShapes& shapes) : cursor(shapes) {}
		std::deque<trace::Block> blocks; // the first one is being read
		trace::RecordCursor cursor;
		bool opened = false;  // cursor is on blocks.front()
		trace::Losses losses; // which that block tells
		bool ready = false;   // cursor.current() waits to be visited
		trace::Merger::CpuSpan span;
	};
	void follow(trace::Merger::CpuSpan& span, const dfr_block& head);
	void count(trace::Merger::CpuSpan& span, uint64_t time) const;
	void keep_losses(trace::Losses& losses);
	bool advance(CpuQueue& cpu);
	static uint64_t key(const trace::Record& record) {
		return record.speculation ? record.commit_time : record.time;
	}

	trace::RecordShapes shapes_;
	std::map<uint32_t, std::unique_ptr<CpuQueue>> cpus_;
	trace::Losses losses_;
	trace::Losses in_window_, before_; // their entries
	trace::DecodeDamage damage_;
	uint64_t horizon_ = 0; // from when on every CPU is whole; 0: nothing is missing at the start
};

} // namespace dfr::lib
