// SPDX-License-Identifier: GPL-2.0
//
// main: `dtrace` by name, else `dfr` and its subcommands. Exceptions end here.
#include <cstring>
#include <malloc.h>

#include "analyze/cli/dfr.h"
#include "analyze/cli/dtrace.h"

int main(int argc, char** argv) {
	// Chunks of recordings are unpacked and dropped one after another: memory that went back to the kernel
	// each time would have to be cleared by it again.
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	const char* const slash = argc > 0 ? std::strrchr(argv[0], '/') : nullptr;
	const char* const name = argc > 0 ? (slash ? slash + 1 : argv[0]) : "dfr";
	if (std::strcmp(name, "dtrace") == 0)
		return dfr::cli::dtrace_main(argc, argv);
	return dfr::cli::dfr_main(argc, argv);
}
