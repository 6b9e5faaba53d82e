// SPDX-License-Identifier: GPL-2.0
//
// The loop itself.
#include "recorder/recording_loop.h"

#include "formats/error.h"

namespace dfr::recorder {

void RecordingLoop::record() {
	try {
		while (sleep() && pass()) {
		}
		finish();
	} catch (const Error&) {
		try {
			salvage();
		} catch (const Error&) {
		}
		throw;
	}
}

} // namespace dfr::recorder
