// SPDX-License-Identifier: GPL-2.0
//
// See atomic_file.h. DFR_BOOT_STOP_AFTER=N in the environment ends the process after its Nth change of a file: that is
// how tests look at what an interrupted command leaves.
#include "bootloader-hooks/boot/atomic_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "formats/error.h"
#include "formats/trace/output_file.h"

namespace dfr::boot {
namespace {

using trace::folder_of;

void count_change() {
	static unsigned long changes = 0;
	const char* const last = std::getenv("DFR_BOOT_STOP_AFTER");
	if (last && ++changes == std::strtoul(last, nullptr, 10))
		::_exit(99);
}

void sync_folder(const std::string& path) {
	const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		::fsync(folder);
		::close(folder);
	}
}

// 0, or an errno value. `like`: whose owner it gets.
int write_all(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode,
              const struct stat* like) {
	// What is left of one that was interrupted goes; nobody's link there is followed.
	if (::unlink(path.c_str()) != 0 && errno != ENOENT)
		return errno;
	const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (file < 0)
		return errno;
	struct stat now = {};
	int error = 0;
	if (like && (::fstat(file, &now) != 0 || now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
	    ::fchown(file, like->st_uid, like->st_gid) != 0)
		error = errno;
	if (!error && ::fchmod(file, mode) != 0)
		error = errno;
	for (size_t at = 0; !error && at < bytes.size();) {
		const ssize_t n = ::write(file, bytes.data() + at, bytes.size() - at);
		if (n < 0 && errno != EINTR)
			error = errno;
		else if (n > 0)
			at += static_cast<size_t>(n);
	}
	if (!error && ::fsync(file) != 0)
		error = errno;
	if (::close(file) != 0 && !error)
		error = errno;
	return error;
}

void write_beside(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode,
                  const struct stat* like) {
	std::error_code made;
	std::filesystem::create_directories(folder_of(path), made);
	const std::string beside = path + ".dfr-new";
	int error = made ? made.value() : write_all(beside, bytes, mode, like);
	if (!error && ::rename(beside.c_str(), path.c_str()) != 0)
		error = errno;
	if (error) {
		::unlink(beside.c_str());
		throw Error("cannot write " + path + ": " + std::strerror(error),
		            error == ENOSPC   ? "make room in " + folder_of(path)
		            : error == EACCES ? "run this as root"
		                              : "",
		            error);
	}
	sync_folder(path);
	count_change();
}

std::span<const uint8_t> bytes_of(const std::string& text) {
	return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

} // namespace

void write_atomically(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode) {
	write_beside(path, bytes, mode, nullptr);
}

void write_atomically(const std::string& path, const std::string& text, uint32_t mode) {
	write_atomically(path, bytes_of(text), mode);
}

void rewrite_atomically(const std::string& path, const std::string& text) {
	struct stat old = {};
	if (::stat(path.c_str(), &old) == 0)
		write_beside(path, bytes_of(text), old.st_mode & 07777, &old);
	else
		write_beside(path, bytes_of(text), 0644, nullptr);
}

bool overwrite(const std::string& path, const std::string& text) {
	const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
	struct stat about = {};
	if (file < 0)
		return false;
	const auto size = static_cast<ssize_t>(text.size());
	const bool done = ::fstat(file, &about) == 0 && about.st_size == size &&
	                  ::pwrite(file, text.data(), text.size(), 0) == size && ::fsync(file) == 0;
	::close(file);
	if (done)
		count_change();
	return done;
}

std::string resolve_links(const std::string& root, const std::string& path) {
	std::filesystem::path found = "/";
	std::vector<std::filesystem::path> left; // the next one is the last
	const auto go = [&left](const std::filesystem::path& way) {
		const std::vector<std::filesystem::path> steps(way.begin(), way.end());
		left.insert(left.end(), steps.rbegin(), steps.rend());
	};
	go(path.substr(root.size()));
	for (int links = 0; !left.empty();) {
		const std::filesystem::path next = left.back();
		left.pop_back();
		if (next == "..")
			found = found.parent_path(); // of "/" it is "/"
		else if (next == "/")
			found = next;
		else if (!next.empty() && next != ".")
			found /= next;
		std::error_code error;
		const auto target = std::filesystem::read_symlink(root + found.string(), error);
		if (error)
			continue; // no link
		if (++links > 40) // as many as the kernel follows, which would begin to count where this ends
			throw Error("cannot find " + path + ": too many symbolic links",
			            "make one of them anew", ELOOP);
		found = found.parent_path();
		go(target);
	}
	return root + found.string();
}

std::string resolve_folder(const std::string& root, const std::string& path) {
	const size_t slash = path.rfind('/');
	return resolve_links(root, path.substr(0, slash)) + path.substr(slash);
}

void link_atomically(const std::string& target, const std::string& path) {
	std::error_code made;
	std::filesystem::create_directories(folder_of(path), made);
	if (::symlink(target.c_str(), path.c_str()) != 0) {
		if (errno == EEXIST)
			return;
		throw Error::from_errno("cannot make the link " + path, "run this as root");
	}
	sync_folder(path);
	count_change();
}

void rename_durably(const std::string& from, const std::string& to) {
	if (::rename(from.c_str(), to.c_str()) != 0)
		throw Error::from_errno("cannot write " + to, "run this as root");
	sync_folder(to);
	count_change();
}

void remove_durably(const std::string& path) {
	if (::unlink(path.c_str()) != 0) {
		const int error = errno;
		struct stat about = {};
		// Where nothing may be written that is the answer, whether or not there is something.
		if (error == ENOENT ||
		    (error == EROFS && ::lstat(path.c_str(), &about) != 0 && errno == ENOENT))
			return;
		errno = error;
		throw Error::from_errno("cannot remove " + path, "run this as root");
	}
	sync_folder(path);
	count_change();
}

std::optional<std::string> read_text(const std::string& path) {
	const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return std::nullopt;
		throw Error::from_errno("cannot open " + path);
	}
	std::string text;
	char buffer[16384];
	ssize_t n;
	while ((n = ::read(file, buffer, sizeof buffer)) > 0)
		text.append(buffer, static_cast<size_t>(n));
	const int error = n < 0 ? errno : 0;
	::close(file);
	if (error)
		throw Error("cannot read " + path + ": " + std::strerror(error), {}, error);
	return text;
}

} // namespace dfr::boot
