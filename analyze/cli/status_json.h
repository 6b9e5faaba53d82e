// SPDX-License-Identifier: GPL-2.0
//
// What `dfr status` says of a state's cost, and of the dfrd that holds it: the sums, and both as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "formats/abi/dof.h"
#include "recorder/daemon_status.h"
#include "recorder/device_session.h"

namespace dfr::cli {

struct SnapshotCounts {
	size_t under_way = 0, waiting = 0;
};

SnapshotCounts count_snapshots(const recorder::DaemonStatus& daemon);

// The CPU on which the state's probes take most, and where its budget leaves something out now.
struct CostSummary {
	uint32_t most = 0, most_cpu = 0; // millionths of the CPU's time
	uint64_t throttled = 0, throttled_since = 0;
	std::array<uint64_t, DFR_PRIORITIES> thinned{}, thinned_since{}; // CPUs, and the first time
	uint64_t left_out = 0;
};

CostSummary sum_up(const recorder::DeviceSession::Cost& cost);

// `now`: of the records' clock, as what throttled and thinned tell.
std::string cost_json(const recorder::DeviceSession::Cost& cost, uint64_t now);
std::string daemon_json(const recorder::DaemonStatus& daemon);

} // namespace dfr::cli
