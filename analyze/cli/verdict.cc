// SPDX-License-Identifier: GPL-2.0
//
// The verdict on stderr, and the numbers of messages.
#include "analyze/libdfr/verdict.h"

#include <cstdio>

#include "analyze/cli/dfr.h"
#include "formats/shown.h"

namespace dfr::cli {

int print_verdict(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json,
                  const std::string& of) {
	std::fflush(stdout);
	std::fprintf(stderr, "%s\n", shown(lib::verdict_text(verdict, catalog, json, of)));
	return verdict.complete ? 0 : kStatusPartial;
}

} // namespace dfr::cli
