// SPDX-License-Identifier: GPL-2.0
//
// One line on the terminal, written over again and again.
#include "analyze/cli/progress.h"

#include <cstdio>
#include <unistd.h>

#include "analyze/cli/signals.h"
#include "formats/shown.h"

namespace dfr::cli {

bool Progress::at(uint64_t done, uint64_t all) {
	if (const auto now = std::chrono::steady_clock::now(); now >= next_ && isatty(STDERR_FILENO) != 0) {
		next_ = now + std::chrono::milliseconds(500);
		shown_ = true;
		std::fprintf(stderr, "\r%s: %3u %%\x1b[K", shown(what_),
		             static_cast<unsigned>(all != 0 ? done * 100 / all : 100));
	}
	return signals_caught() == 0;
}

Progress::~Progress() {
	if (shown_)
		std::fputs("\r\x1b[K", stderr);
}

} // namespace dfr::cli
