// SPDX-License-Identifier: GPL-2.0
//
// Renaming, without taking another file's name by accident.
#include "analyze/cli/new_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::cli {
namespace {

Error exists(const std::string& path) {
	return Error("cannot write " + path + ": it exists",
	             "give another name, or overwrite it with --replace", EEXIST);
}

} // namespace

NewFile::NewFile(std::string path, bool replace)
    : path_(std::move(path)), temporary_(path_ + "." + std::to_string(getpid()) + ".part"),
      replace_(replace) {
	if (!replace && ::access(path_.c_str(), F_OK) == 0)
		throw exists(path_);
}

NewFile::~NewFile() {
	if (!kept_)
		::unlink(temporary_.c_str());
}

void NewFile::keep() {
	int failed = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
	                         replace_ ? 0 : RENAME_NOREPLACE);
	if (failed != 0 && errno == EEXIST)
		throw exists(path_);
	if (failed != 0 && errno == EINVAL) // a file system that cannot refuse to replace
		failed = ::rename(temporary_.c_str(), path_.c_str());
	if (failed != 0)
		throw Error::from_errno("cannot give the file the name " + path_);
	kept_ = true;
}

} // namespace dfr::cli
