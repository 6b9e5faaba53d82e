// SPDX-License-Identifier: GPL-2.0
//
// The kernel's own events of a boot (analyze/libdfr/boot_initcalls.h), which it keeps from its entry on if its command
// line says so, in a file beside the boot's recording: NAME.kernel beside NAME.dfr, one line with the boot's id, lines of what
// is to be known of the rest (lib::kEventsRemark), and then the kernel's text, without what others traced.
#pragma once

#include <optional>
#include <string>

#include "analyze/libdfr/boot_initcalls.h"

namespace dfr::cli {

// If this boot was asked for them: lets the kernel end to record them, and stores them beside the recording. If nobody else uses
// the kernel's tracing, its buffer is then emptied and small, and its clock the usual one. What went wrong is told, and is
// no error. True: they are stored.
bool store_kernel_events(const std::string& recording);
// The same without a store; `keep`: the buffer is left as it is, for a store to come.
void end_kernel_events(bool keep);

// Nothing: there are none beside it, or they are of another boot (`why` says so).
std::optional<lib::BootInitcalls> kernel_events(const std::string& recording, const std::string& boot,
                                                std::string& why);

} // namespace dfr::cli
