// SPDX-License-Identifier: GPL-2.0
//
// SIGINT and SIGTERM as flags: the first one ends tracing in order (END, what is
// left, aggregations), the second one at once. SIGPIPE is left as it is: a reader that has
// seen enough (head) ends whoever writes to it, and nobody complains.
#pragma once

#include <csignal>
#include <functional>

namespace dfr::cli {

void catch_signals();
// A file that is not whole and goes when a second signal ends the command; null: there is none. The name must stay
// in memory.
void remove_on_signal(const char* path);
unsigned signals_caught();
// Sleeps unless a signal has come; false: it has. None is missed in between: they are held back until `sleep`
// lets them in with the mask that it is given.
bool slept(const std::function<void(const sigset_t*)>& sleep);

} // namespace dfr::cli
