// SPDX-License-Identifier: GPL-2.0
//
// BootLog: what the kernel's log has of dfr's, and what follows from it for this boot. The log is a ring: where its
// beginning has gone, nothing follows from what is not in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dfr::lib {

struct BootLog {
	std::vector<std::string> lines; // dfr's
	bool whole = false;             // from the boot's first line on
	int error = 0;                  // errno, if it cannot be read

	void add(std::string_view record); // as /dev/kmsg gives it
	void lost() { whole = false; }     // records went while it was read

private:
	bool begun_ = false;
};

struct BootVerdict {
	bool asked = false; // this boot was started for a trace
	bool known = true;
	std::string text;
};

// `asked`: the command line asks for a trace. `inside`: the initrd may.
BootVerdict judge_boot(const BootLog& log, bool asked, bool inside);

} // namespace dfr::lib
