// SPDX-License-Identifier: GPL-2.0
//
// LiveSource: a BlockSource whose engine is running. The device (recorder/) and the
// in-process engine (analyze/engine/) implement it; the live consumer and
// `dfr record` use both through this interface.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/abi/control.h"
#include "formats/trace/source.h"

namespace dfr::trace {

// A state whose END is still to come: it records, or its program has called exit().
inline bool end_is_to_come(const dfr_ioc_status& status) {
	return status.activity == DFR_ACTIVE || status.activity == DFR_DRAINING;
}

class LiveSource : public BlockSource {
public:
	// Loads a DOF; returns how many probes matched. If the engine refuses it, throws dfr::Error with the
	// engine's reason (section, offset) as text and the errno in code().
	virtual uint32_t enable(std::span<const std::byte> dof, bool zero_ok) = 0;
	virtual uint32_t go() = 0;   // returns the CPU on which BEGIN fired
	virtual uint32_t stop() = 0; // returns the CPU on which END fired
	virtual dfr_ioc_status status() = 0;

	// The next calls of next() give open blocks too; for the end, or for output without delay. Returns the
	// time of this call: what is committed by then has been given once flushing() is false.
	virtual uint64_t flush() = 0;
	virtual bool flushing() const = 0;
	// Sleeps until the state ends, a signal comes, `timeout` is over, or (if `blocks`) there is a block
	// to read. A consumer that reads only at the end passes false, because blocks that it leaves there
	// would end every sleep at once. `mask`: the signal mask during the sleep, as ppoll()'s.
	virtual void wait(std::chrono::nanoseconds timeout, bool blocks, const sigset_t* mask = nullptr) = 0;
	virtual void clear_aggregation(uint32_t varid, bool remove) = 0;
	// A session may keep the blocks that next() gave in the engine's memory, where the harvest of a crash
	// dump finds them, until the caller calls stored() because they are on the disk. storing_is_due():
	// no more should be kept; next() gives none before stored().
	virtual bool holds() const { return false; }
	virtual bool storing_is_due() const { return false; }
	virtual void stored() {}
	// Of a state that has ended: an empty block behind all that the CPU has recorded, for a file that has none of its
	// blocks. Else nobody could tell whether it recorded anything behind those of an earlier file. nullopt: it has never
	// recorded (reaches() names it), or that is not known.
	virtual std::optional<Block> end_of_cpu(uint32_t) { return std::nullopt; }
	// The value of a runtime option that is in force after go().
	virtual int64_t option(uint32_t option) = 0;
};

} // namespace dfr::trace
