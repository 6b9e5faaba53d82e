// SPDX-License-Identifier: GPL-2.0
//
// An OutputFile in a file system of this machine.
#include "formats/trace/output_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::trace {
namespace {

int result_of(int code) {
	return code == 0 ? 0 : -errno;
}

// EINVAL: a file system that cannot sync at all; nothing that a caller does would change that. A journal
// that was aborted says EROFS, so that one is an error.
int synced(int code) {
	return code == 0 || errno == EINVAL ? 0 : -errno;
}

class LocalFile final : public OutputFile {
public:
	LocalFile() = default;
	LocalFile(const LocalFile&) = delete;
	LocalFile& operator=(const LocalFile&) = delete;
	~LocalFile() override { LocalFile::close(); }

	int create(const std::string& path, bool replace) override {
		struct stat status;
		if (replace && ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
		    ::unlink(path.c_str()) != 0)
			return -errno;
		path_ = path;
		fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd_ < 0)
			return -errno;
		counts_links_ = ::fstat(fd_, &status) == 0 && status.st_nlink;
		return 0;
	}

	long write(uint64_t offset, std::span<const std::byte> bytes) override {
		const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
		if (written == 0)
			return -ENOSPC; // a file never takes nothing; without this, a caller would try for ever
		return written < 0 ? -errno : written;
	}

	int truncate(uint64_t size) override { return result_of(::ftruncate(fd_, static_cast<off_t>(size))); }

	int sync() override {
		if (const int code = synced(::fdatasync(fd_)); code != 0)
			return code;
		return name_synced_ ? 0 : sync_name();
	}

	int close() override {
		const int fd = fd_;
		fd_ = -1;
		return fd < 0 ? 0 : result_of(::close(fd));
	}

	void remove() override { ::unlink(path_.c_str()); }

	int there() override {
		struct stat status;
		return counts_links_ && ::fstat(fd_, &status) == 0 && status.st_nlink == 0 ? -ESTALE : 0;
	}

private:
	// A new file's name is in its folder, which is synced by itself.
	int sync_name() {
		const int code = sync_folder_of(path_);
		name_synced_ = code == 0;
		return code;
	}

	std::string path_;
	int fd_ = -1;
	bool name_synced_ = false;
	bool counts_links_ = false; // its file system does
};

} // namespace

std::string folder_of(const std::string& path) {
	const size_t slash = path.rfind('/');
	return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

int sync_folder_of(const std::string& path) {
	const int fd = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? 0 : -errno; // a folder that may be written but not read
	const int code = synced(::fsync(fd));
	::close(fd);
	return code;
}

std::unique_ptr<OutputFile> local_file() {
	return std::make_unique<LocalFile>();
}

void require_free(const std::string& path, bool replace) {
	struct stat status;
	if (::lstat(path.c_str(), &status) != 0)
		return; // nothing is there, or creating the file says what is wrong
	if (!S_ISREG(status.st_mode))
		throw Error("cannot write " + path + ": it exists and is no regular file",
		            "give another name; only regular files are replaced", EEXIST);
	if (!replace)
		throw Error("cannot write " + path + ": it exists",
		            "give another name, or overwrite it with --replace", EEXIST);
}

} // namespace dfr::trace
