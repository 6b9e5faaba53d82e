// SPDX-License-Identifier: GPL-2.0
//
// RecordingLoop: the loop that `dfr record` and dfrd share: sleep until there may
// be new blocks, move them into the file (a pass), and so on, until a signal or
// until the recorded state ends; then end the file. The two derived classes define
// what a pass does and which signals count.
#pragma once

#include "formats/error.h"

namespace dfr::recorder {

class RecordingLoop {
public:
	virtual ~RecordingLoop() = default;
	// An error in sleep(), pass() or finish() is thrown on after salvage(); so is having no memory, as an error.
	void record();

protected:
	// Waits until there may be something to record. False: a signal asks for the end.
	virtual bool sleep() = 0;
	// Moves what was recorded into the file. False: the state has ended, nothing more will come.
	virtual bool pass() = 0;
	// Moves what is left, and ends the file.
	virtual void finish() = 0;
	// Called after an error, to keep as much of the file as possible. An error in it is dropped,
	// because the user needs to see the first one.
	virtual void salvage(const Error&) {}

private:
	void keep_what_there_is(const Error& why);
};

} // namespace dfr::recorder
