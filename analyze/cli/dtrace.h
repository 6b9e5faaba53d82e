// SPDX-License-Identifier: GPL-2.0
//
// dtrace(1): what `dfr` is under that name.
#pragma once

namespace dfr::cli {

int dtrace_main(int argc, char** argv);

} // namespace dfr::cli
