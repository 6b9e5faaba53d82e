// SPDX-License-Identifier: GPL-2.0
//
// SIGINT and SIGTERM as flags: the first one ends tracing in order (END, what is
// left, aggregations), the second one at once. SIGPIPE is left as it is: a reader
// that has seen enough (head) ends whoever writes to it, and nobody complains.
#pragma once

namespace dfr::cli {

void catch_signals();
unsigned signals_caught();

} // namespace dfr::cli
