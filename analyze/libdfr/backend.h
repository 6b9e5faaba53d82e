// SPDX-License-Identifier: GPL-2.0
//
// Backend: where a program runs (the kernel's engine behind /dev/dfr, or the
// engine in this process) and what it is compiled against there. Opening the
// device may load the module, as root; nothing else is changed.
#pragma once

#include <memory>
#include <string>

#include "formats/d/target.h"
#include "formats/trace/live_source.h"

namespace dfr::recorder {
class DeviceSession;
class LiveSymbols;
} // namespace dfr::recorder

namespace dfr::lib {

enum class EngineChoice { Automatic, Process, Kernel };

class Backend {
public:
	virtual ~Backend() = default;
	virtual trace::LiveSource& session() = 0;
	virtual d::Target& target() = 0;
	virtual recorder::LiveSymbols& symbols() = 0;
	virtual bool kernel() const = 0;
	virtual bool confined() const { return false; }               // to the user's own processes
	virtual recorder::DeviceSession* device() { return nullptr; } // null: not the kernel's
};

std::unique_ptr<Backend> open_process(bool destructive);
// Throws dfr::Error: no module, no permission; `load`: try to load the module first.
std::unique_ptr<Backend> open_kernel(bool load);
// Whether /dev/dfr is there and may be opened.
bool kernel_available();

// "process", "kernel", "auto"; throws dfr::Error.
EngineChoice parse_engine(const std::string& text);

} // namespace dfr::lib
