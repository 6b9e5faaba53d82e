// SPDX-License-Identifier: GPL-2.0
#include "analyze/cli/page_file.h"

#include <CLI/CLI.hpp>

#include "analyze/cli/file.h"
#include "analyze/cli/new_file.h"

namespace dfr::cli {

void PageFile::add(CLI::App& app) {
	app.add_option("-o,--output", path_,
	               "write it as a page of HTML that needs nothing else, with the same JSON in it");
	app.add_flag("--replace", replace_, "the page's file may exist");
}

void PageFile::write(const std::string& page) const {
	NewFile file(path_, replace_);
	write_file(file.temporary(), {reinterpret_cast<const uint8_t*>(page.data()), page.size()});
	file.keep();
}

} // namespace dfr::cli
