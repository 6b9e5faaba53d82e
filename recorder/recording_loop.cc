// SPDX-License-Identifier: GPL-2.0
//
// The loop itself.
#include "recorder/recording_loop.h"

#include <cerrno>
#include <exception>
#include <new>

namespace dfr::recorder {

void RecordingLoop::keep_what_there_is(const Error& why) {
	try {
		salvage(why);
	} catch (const std::exception&) {
	}
}

void RecordingLoop::record() {
	try {
		while (sleep() && pass()) {
		}
		finish();
	} catch (const Error& error) {
		keep_what_there_is(error);
		throw;
	} catch (const std::bad_alloc&) {
		const Error error("there is not enough memory", "free some, or raise the limit (ulimit -v)",
		                  ENOMEM);
		keep_what_there_is(error);
		throw error;
	} catch (const std::exception& other) {
		const Error error(other.what());
		keep_what_there_is(error);
		throw error;
	}
}

} // namespace dfr::recorder
