// SPDX-License-Identifier: GPL-2.0
//
// The loop itself.
#include "recorder/recording_loop.h"

namespace dfr::recorder {

void RecordingLoop::record() {
	try {
		while (sleep() && pass()) {
		}
		finish();
	} catch (const Error& error) {
		try {
			salvage(error);
		} catch (const Error&) {
		}
		throw;
	}
}

} // namespace dfr::recorder
