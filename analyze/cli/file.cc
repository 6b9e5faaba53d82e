// SPDX-License-Identifier: GPL-2.0
//
// Whole files, read and written at once.
#include "analyze/cli/file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "analyze/cli/new_file.h"
#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/named_file.h"

namespace dfr::cli {

namespace {

[[noreturn]] void fail_to_write(const std::string& path) {
	throw Error::from_errno("cannot write " + path, "give a path that can be written with -o");
}

// Closes it.
void write_all(int fd, const std::string& path, std::string_view bytes, bool to_disk) {
	FILE* const file = fd < 0 ? nullptr : ::fdopen(fd, "w");
	if (!file)
		fail_to_write(path);
	const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
	                     std::fflush(file) == 0 && (!to_disk || ::fsync(fd) == 0);
	const int code = errno;
	if (std::fclose(file) == 0 && written)
		return;
	if (!written)
		errno = code; // what came first
	fail_to_write(path);
}

} // namespace

void write_file(const std::string& path, bool replace, mode_t mode, std::string_view bytes) {
	NewFile file(path, replace);
	const char* const temporary = file.temporary().c_str();
	::unlink(temporary); // no link that somebody has put there is followed
	write_all(::open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), path, bytes, true);
	file.keep();
}

void write_dof(const std::string& path, std::span<const uint8_t> bytes) {
	std::error_code none;
	const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
	const std::filesystem::path found = std::filesystem::canonical(path, none);
	const std::string target = found.empty() ? path : found.string(); // of a link: what it leads to
	if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
		return write_all(::open(path.c_str(), O_WRONLY | O_CLOEXEC), path, text, false);
	if (std::filesystem::exists(path, none) && std::filesystem::file_size(path, none) != 0) {
		std::string magic(std::string_view(DOF_MAGIC).size(), '\0');
		std::ifstream(path, std::ios::binary)
		    .read(magic.data(), static_cast<std::streamsize>(magic.size()));
		if (magic != DOF_MAGIC)
			throw Error("cannot write " + path + ": it is there and is no DOF",
			            "give another name with -o");
	}
	write_file(target, true, 0666, text);
}

void flush_stdout() {
	if (std::fflush(stdout) != 0 || std::ferror(stdout))
		throw Error::from_errno(
		    "cannot write the output",
		    "check that there is room, and that the reader of the pipe has not ended");
}

std::vector<uint8_t> read_file(const std::string& path, const char* what) {
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
	if (!file)
		throw Error::from_errno("cannot open " + path, std::string("give the path of ") + what);
	std::vector<uint8_t> bytes;
	if (!read_named_file(file.get(), bytes))
		throw Error("cannot read " + path + ": it has more than 64 MiB",
		            std::string("give the path of ") + what);
	if (std::ferror(file.get()))
		throw Error::from_errno("cannot read " + path, std::string("give the path of ") + what);
	return bytes;
}

} // namespace dfr::cli
