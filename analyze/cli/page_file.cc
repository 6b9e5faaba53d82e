// SPDX-License-Identifier: GPL-2.0
#include "analyze/cli/page_file.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include "analyze/cli/new_file.h"
#include "formats/error.h"

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
	NewFile file(path_, replace_);
	// As private as a recording is, and no link that somebody has put there.
	::unlink(file.temporary().c_str());
	const int fd = ::open(file.temporary().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		throw Error::from_errno("cannot write " + path_, "give a path that can be written with -o");
	const std::unique_ptr<FILE, int (*)(FILE*)> to(::fdopen(fd, "w"), std::fclose);
	if (!to || std::fwrite(page.data(), 1, page.size(), to.get()) != page.size() ||
	    std::fflush(to.get()) != 0)
		throw Error::from_errno("cannot write " + path_, "give a path that can be written with -o");
	file.keep();
}

} // namespace dfr::cli
