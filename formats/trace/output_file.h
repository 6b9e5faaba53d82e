// SPDX-License-Identifier: GPL-2.0
//
// OutputFile: the calls that the writer of a .dfr makes to the file system, for one
// file. They are an interface so that a test can let each call fail, or end in the
// middle, and can lose what was not synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace dfr::trace {

// Every call returns 0 (write(): how many bytes, at least 1), or an errno value, negated.
class OutputFile {
public:
	virtual ~OutputFile() = default;
	// -EEXIST: there is such a file, and it is not to be replaced.
	virtual int create(const std::string& path, bool replace) = 0;
	virtual long write(uint64_t offset, std::span<const std::byte> bytes) = 0;
	virtual int truncate(uint64_t size) = 0;
	// What was written, the file's size and its name survive a power cut.
	virtual int sync() = 0;
	virtual int close() = 0;
	virtual void remove() = 0;
	// -ESTALE: somebody has removed the file, so that what is written goes with it.
	virtual int there() { return 0; }
};

std::unique_ptr<OutputFile> local_file();

// Of a file, which need not be there.
std::string folder_of(const std::string& path);
// The names in its folder survive a power cut; 0 or -errno.
int sync_folder_of(const std::string& path);

// What keeps a new file from getting this name: dfr::Error. Only a regular file is replaced, because
// whoever wrote "--replace" did not mean a device, a link to elsewhere or a folder.
void require_free(const std::string& path, bool replace);

} // namespace dfr::trace
