// SPDX-License-Identifier: GPL-2.0
//
// See follower_waits.h.
#include "analyze/cli/follower_waits.h"

namespace dfr::cli {

std::string FollowerWaits::look(const trace::FollowedSource& source) {
	const bool same = source.written() == written_ && !source.waits();
	written_ = source.written();
	for_next_ = source.waits() ? for_next_ + 1 : 0;
	quiet_ = same ? quiet_ + 1 : 0;
	if (for_next_ == kNextFileMost)
		return "the recorder of " + written_.first +
		       " has ended, and its state records on: waiting for the next one's file (Ctrl-C ends)";
	if (quiet_ == kQuietMost)
		return "nothing was written to " + written_.first +
		       " for half a minute: waiting for its recorder, which may have been killed, or for the "
		       "next one's "
		       "file (Ctrl-C ends)";
	return {};
}

} // namespace dfr::cli
