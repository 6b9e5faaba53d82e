// SPDX-License-Identifier: GPL-2.0
//
// main: `dtrace` by name, else `dfr` and its subcommands. Exceptions end here.
#include <cstring>

#include "analyze/cli/dfr.h"
#include "analyze/cli/dtrace.h"

int main(int argc, char** argv) {
	const char* const slash = argc > 0 ? std::strrchr(argv[0], '/') : nullptr;
	const char* const name = argc > 0 ? (slash ? slash + 1 : argv[0]) : "dfr";
	if (std::strcmp(name, "dtrace") == 0)
		return dfr::cli::dtrace_main(argc, argv);
	return dfr::cli::dfr_main(argc, argv);
}
