// SPDX-License-Identifier: GPL-2.0
//
// Snapshot: a copy of what a kept state has in memory of the last seconds, and of what it
// records for some seconds more, into a file. The state records on, and whoever holds it
// loses nothing: blocks are copied where they stand (DFR_IOC_VIEW), the oldest first, because
// those are overwritten next. Up to 32 MiB are copied before they are looked at and written, so that
// small rings, which are overwritten soonest, are copied in one go.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "formats/trace/file.h"
#include "recorder/device_session.h"
#include "recorder/name_collector.h"
#include "recorder/type_collector.h"

namespace dfr::recorder {

struct SnapshotSpan {
	std::chrono::nanoseconds last{}; // 0: all that the rings have
	std::chrono::nanoseconds after{0};
	uint64_t trigger = 0; // its time; 0: now
};

class Snapshot {
public:
	// A session that looks at its state (DeviceSession::view()).
	Snapshot(DeviceSession& session, trace::FileWriter& writer, NameCollector& names,
	         TypeCollector& types)
	    : session_(session), writer_(writer), names_(names), types_(types) {}

	// Ends the file: it is on the disk when this returns. `going` is asked now and then: false ends the wait for
	// what comes after, and everything up to then is in the file.
	void take(const SnapshotSpan& span, const std::function<bool()>& going);

	uint64_t trigger() const { return trigger_; } // its time
	uint64_t blocks() const { return blocks_; }
	uint64_t records() const { return records_; }
	// Blocks that were overwritten between their neighbours' copies: the verdict counts their records.
	uint64_t overtaken() const { return overtaken_; }

private:
	using Lists = std::vector<DeviceSession::RingList>; // by CPU
	Lists copy_all(uint64_t from, bool open_too);
	void write_ends(const Lists& lists);
	void copy(uint32_t cpu, const dfr_ioc_seen& seen);
	void write(size_t bytes);

	DeviceSession& session_;
	trace::FileWriter& writer_;
	NameCollector& names_;
	TypeCollector& types_;
	std::map<uint32_t, uint64_t> copied_; // by CPU: number of the last block that was copied
	std::deque<trace::Block> unwritten_;
	size_t unwritten_bytes_ = 0;
	uint64_t trigger_ = 0, blocks_ = 0, records_ = 0, overtaken_ = 0;
};

} // namespace dfr::recorder
