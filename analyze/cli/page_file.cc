// SPDX-License-Identifier: GPL-2.0
#include "analyze/cli/page_file.h"

#include <CLI/CLI.hpp>

#include "analyze/cli/file.h"
#include "analyze/cli/new_file.h"

namespace dfr::cli {

void PageFile::add(CLI::App& app) {
	auto* const output =
	    app.add_option("-o,--output", path_,
	                   "write it as a page of HTML that needs nothing else, with the same JSON in it");
	app.add_flag("--replace", replace_, "the page's file may exist")->needs(output);
}

void PageFile::require_writable() const {
	if (named())
		cli::require_writable(path_, replace_);
}

void PageFile::write(const std::string& page) const {
	write_file(path_, replace_, 0600, page); // as private as a recording is
}

} // namespace dfr::cli
