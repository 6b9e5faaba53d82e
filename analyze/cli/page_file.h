// SPDX-License-Identifier: GPL-2.0
//
// -o and --replace of a report: the file that its page (page.h) goes to.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace dfr::cli {

class PageFile {
public:
	void add(CLI::App& app);
	bool named() const { return !path_.empty(); }
	// Throws dfr::Error where write() would: before the report is made, which may take minutes.
	void require_writable() const;
	void write(const std::string& page) const;

private:
	std::string path_;
	bool replace_ = false;
};

} // namespace dfr::cli
