// SPDX-License-Identifier: GPL-2.0
//
// United: recordings of several states, boots and hosts as one: one catalog, whose
// probes, EPIDs and programs have numbers of their own, and one clock. Of one boot it is
// that boot's monotonic clock; of several it is wall time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/trace/decode.h"

namespace dfr::trace {

// Where a boot's clock stands on the common one: from `own` on, `offset` is added.
struct ClockPiece {
	uint64_t own = 0;
	int64_t offset = 0;
};

// One of the recordings.
// A time by one piece of a clock, where the next one begins at `next`. Behind that stands what the clock never had,
// because the machine slept or the clock was set forward: the next piece's first moment; `ends` a span: the last one
// before.
inline uint64_t time_by_piece(uint64_t time, std::optional<uint64_t> next, bool ends) {
	return !next || time < *next ? time : *next - (ends && *next);
}

struct UnitedSource {
	BlockSource* source = nullptr;
	uint32_t host = 0;
	uint32_t boot = 0;             // from 1; 0 if all members are of one boot
	uint32_t first_epid = 1;       // of its EPIDs in the common catalog
	std::vector<ClockPiece> clock; // empty: its own clock is the common one

	uint64_t time(uint64_t own) const;
	// 0: before that clock began. `ends`: as of time_by_piece().
	uint64_t own_time(uint64_t time, bool ends) const;
	// The record with the EPID, the times and the task that it has in the answer.
	Record record(const Record& own) const;
};

class United {
public:
	struct Host {
		std::string name, release;
		std::string machine_id; // empty: not known
	};

	// At least one. They must stay; of one, catalog() is its own. Throws dfr::Error if members of several
	// boots cannot be put in order.
	explicit United(const std::vector<BlockSource*>& sources);

	const Catalog& catalog() const { return single_ ? members_.front().source->catalog() : catalog_; }
	const std::vector<UnitedSource>& members() const { return members_; }
	const std::vector<Host>& hosts() const { return hosts_; }
	size_t boots() const { return boots_; }
	// Whether a glob is one of a member's host: over its name and its kernel's release; of an empty one it is.
	bool has_host(size_t member, const std::string& glob) const;
	// Whether a probe of catalog() is of a member's host.
	bool is_of_host(size_t member, const Probe& probe) const;
	// Names of the hosts by boot, for rows that several hosts may have fired; empty: there is one host.
	std::vector<std::string> host_names() const;
	// How far the clocks of two hosts were seen to be from where they are put, in ns; 0: there is one host.
	uint64_t clock_error() const { return clock_error_; }
	// "alpha.dfr, beta.dfr"
	std::string name() const;

	// The number of a record's boot, by its task; 0: the answer's own, or there is one boot.
	static uint32_t boot_of_task(uint32_t task) { return task >> kTaskBits; }
	static constexpr uint32_t kTaskBits = 22; // Linux has no larger thread numbers
	static constexpr uint32_t kBootsMost = (1u << (32 - kTaskBits)) - 1;

private:
	struct Boot;
	std::vector<Boot> find_boots();
	void find_hosts(std::vector<Boot>& boots);
	void set_clocks(std::vector<Boot>& boots);
	void unite_catalogs();

	bool single_ = false;
	size_t boots_ = 1;
	std::vector<UnitedSource> members_;
	std::vector<Host> hosts_;
	Catalog catalog_;
	uint64_t clock_error_ = 0;
};

} // namespace dfr::trace
