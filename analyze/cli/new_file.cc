// SPDX-License-Identifier: GPL-2.0
//
// Renaming, without taking another file's name by accident.
#include "analyze/cli/new_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "analyze/cli/signals.h"
#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/output_file.h"

namespace dfr::cli {

void require_writable(const std::string& path, bool replace) {
	trace::require_free(path, replace);
	const std::string folder = trace::folder_of(path) + "/."; // which a file is not
	if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
		throw Error::from_errno("cannot write " + path, "give a path that can be written with -o");
}

NewFile::NewFile(std::string path, bool replace, const std::string& source)
    : path_(std::move(path)), temporary_(path_ + "." + std::to_string(getpid()) + ".part"),
      replace_(replace) {
	require_writable(path_, replace);
	std::error_code none; // of two that are not there
	if (!source.empty() && std::filesystem::equivalent(path_, trace::file_of(source), none))
		throw Error("cannot write " + path_ + ": it is the file that is read",
		            "give another name to the new one");
	remove_on_signal(temporary_.c_str());
}

NewFile::~NewFile() {
	if (!kept_)
		::unlink(temporary_.c_str());
	remove_on_signal(nullptr);
}

void NewFile::keep() {
	trace::require_free(path_, replace_);
	int failed = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
	                         replace_ ? 0 : RENAME_NOREPLACE);
	if (failed != 0 && errno == EEXIST)
		trace::require_free(path_, replace_);
	if (failed != 0 && errno == EINVAL) // a file system that cannot refuse to replace
		failed = ::rename(temporary_.c_str(), path_.c_str());
	if (failed != 0)
		throw Error::from_errno("cannot give the file the name " + path_);
	kept_ = true;
	if (const int code = trace::sync_folder_of(path_)) {
		errno = -code;
		throw Error::from_errno("whether " + path_ +
		                        " keeps its name after a power cut is not known");
	}
}

} // namespace dfr::cli
