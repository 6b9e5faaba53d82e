// SPDX-License-Identifier: GPL-2.0
//
// What the doctors say, a line each (boot_status.cc, crash_setup.cc).
#pragma once

#include <cstdio>
#include <string>

#include "formats/shown.h"

namespace dfr::cli {

inline void say(const char* what, const std::string& text) {
	std::printf("%-10s %s\n", what, shown(text));
}

struct Findings {
	unsigned wrong = 0;

	void good(const char* what, const std::string& text) { say(what, "ok: " + text); }
	void note(const char* what, const std::string& text) { say(what, text); }
	// `next`: the command that mends it, or empty.
	void bad(const char* what, const std::string& text, const std::string& next) {
		wrong++;
		say(what, "WRONG: " + text);
		if (!next.empty())
			say("", "next: " + next);
	}
};

} // namespace dfr::cli
