// SPDX-License-Identifier: GPL-2.0
//
// A file that gets its name when it is whole: until then it stands beside it under another one, which goes away
// with an error or a signal, also with a second one, which ends the command at once. A process has one at a time.
#pragma once

#include <string>

namespace dfr::cli {

// Throws dfr::Error where `path` cannot become a file's name: what will be written takes time.
void require_writable(const std::string& path, bool replace);

class NewFile {
public:
	// Throws dfr::Error as require_writable() does, and if it is `source`, of which it is made.
	NewFile(std::string path, bool replace, const std::string& source = {});
	~NewFile();
	NewFile(const NewFile&) = delete;
	NewFile& operator=(const NewFile&) = delete;
	const std::string& temporary() const { return temporary_; }
	void keep();

private:
	std::string path_, temporary_;
	bool replace_, kept_ = false;
};

} // namespace dfr::cli
