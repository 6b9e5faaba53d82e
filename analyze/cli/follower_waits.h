// SPDX-License-Identifier: GPL-2.0
//
// What somebody who follows a recording (dfr replay --follow) is told where nothing comes: what is waited for. Nothing
// tells a recorder that was killed from one that is slow, so only time does.
#pragma once

#include <string>
#include <utility>

#include "formats/trace/followed.h"

namespace dfr::cli {

class FollowerWaits {
public:
	// To be called ten times a second, after grow() has found nothing. What is to be said, once for each wait; else empty.
	std::string look(const trace::FollowedSource& source);

	// So many looks: a recorder that rotates begins its next file at once; dfr record writes each second and dfrd, if it
	// is not told otherwise, every ten.
	static constexpr unsigned kNextFileMost = 20, kQuietMost = 300;

private:
	unsigned for_next_ = 0, quiet_ = 0;
	std::pair<std::string, uint64_t> written_;
};

} // namespace dfr::cli
