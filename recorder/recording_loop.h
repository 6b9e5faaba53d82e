// SPDX-License-Identifier: GPL-2.0
//
// RecordingLoop: the loop of a recording, the same in `dfr record` and in dfrd:
// sleep until there may be something, a pass that takes it into the file, again;
// until a signal or the end of what is recorded; then the file is ended. What a
// pass does, and which signals count, is said by the two that derive from it.
#pragma once

namespace dfr::recorder {

class RecordingLoop {
public:
	virtual ~RecordingLoop() = default;
	// Throws what a pass throws, after salvage().
	void record();

protected:
	// Until there may be something to record. False: somebody asks for the end.
	virtual bool sleep() = 0;
	// Takes what has come into the file. False: nothing more will come.
	virtual bool pass() = 0;
	// What is left, and the end of the file.
	virtual void finish() = 0;
	// After an error: makes of the file what can still be made. An error of its own is not told,
	// because the first one is the one to tell.
	virtual void salvage() {}
};

} // namespace dfr::recorder
