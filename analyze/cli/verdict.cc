// SPDX-License-Identifier: GPL-2.0
//
// The verdict on stderr, and the numbers of messages.
#include "analyze/libdfr/verdict.h"

#include <cstdio>

#include "analyze/cli/dfr.h"
#include "formats/shown.h"

namespace dfr::cli {

std::string with_commas(uint64_t number) {
	std::string digits = std::to_string(number);
	for (size_t at = digits.size(); at > 3;) {
		at -= 3;
		digits.insert(at, ",");
	}
	return digits;
}

int print_verdict(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json,
                  const std::string& of) {
	std::fflush(stdout);
	std::fprintf(stderr, "%s\n", shown(lib::verdict_text(verdict, catalog, json, of)));
	return verdict.complete ? 0 : kStatusPartial;
}

} // namespace dfr::cli
