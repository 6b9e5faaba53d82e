// SPDX-License-Identifier: GPL-2.0
//
// LiveSource: a BlockSource whose engine is alive. The device (recorder/) and the
// in-process engine (analyze/engine/) implement it; the live consumer and
// `dfr record` drive either through this.
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

class LiveSource : public BlockSource {
public:
	// Load a DOF; returns how many probes matched. Throws dfr::Error with the engine's reason
	// (section, offset) or its errno in code().
	virtual uint32_t enable(std::span<const std::byte> dof, bool zero_ok) = 0;
	virtual uint32_t go() = 0;   // returns the CPU on which BEGIN fired
	virtual uint32_t stop() = 0; // returns the CPU on which END fired
	virtual dfr_ioc_status status() = 0;

	// Hand over open blocks too (at the end, or for output at once): the next next() calls give them.
	virtual void flush() = 0;
	// Sleep until the state ends, a signal, the time is over, or (if `blocks`) there is something to
	// read: who reads in the end alone would not sleep at all otherwise. `mask`: of signals, while it
	// sleeps (as ppoll's).
	virtual void wait(std::chrono::nanoseconds timeout, bool blocks, const sigset_t* mask = nullptr) = 0;
	virtual void clear_aggregation(uint32_t varid, bool remove) = 0;
	// Blocks may be held in the engine's memory, where a crash's harvest finds them, until
	// stored() says that all that next() gave is safe on a disk. storing_is_due(): as many are
	// held as should be; next() gives no more before stored().
	virtual bool storing_is_due() const { return false; }
	virtual void stored() {}
	// Value of a runtime option in force after go().
	virtual int64_t option(uint32_t option) = 0;
};

} // namespace dfr::trace
