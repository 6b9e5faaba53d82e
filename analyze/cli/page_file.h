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
	// Throws dfr::Error if there is such a file and it is not to be replaced.
	void write(const std::string& page) const;

private:
	std::string path_;
	bool replace_ = false;
};

} // namespace dfr::cli
