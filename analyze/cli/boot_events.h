// SPDX-License-Identifier: GPL-2.0
//
// The kernel's own events of this boot, which it keeps from its entry on if its command line says so (kernel_text.h): they
// are ended, put into the boot's recording, and the kernel gets back what was asked of it.
#pragma once

#include "formats/trace/kernel_events.h"

namespace dfr::cli {

// By its command line, in our words.
bool asked_for_kernel_events();
// If it was: the kernel records no more of them, and keeps what it has. True: until now it did.
bool end_kernel_events();
// If it was, and nobody else uses the kernel's tracing: its buffer is emptied and small, and its clock the usual one. What
// went wrong is told, and is no error.
void release_kernel_events();
// What it has of them; where they cannot be read, a remark that says so. How many, or why none, is told.
trace::KernelEvents import_kernel_events();

} // namespace dfr::cli
