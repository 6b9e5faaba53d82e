// SPDX-License-Identifier: GPL-2.0
//
// Whole files, read and written at once.
#include "analyze/cli/file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "formats/abi/dof.h"
#include "formats/error.h"

namespace dfr::cli {

void write_file(const std::string& path, std::span<const uint8_t> bytes) {
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "we"), std::fclose);
	if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
	    std::fflush(file.get()) != 0)
		throw Error::from_errno("cannot write " + path, "give a path that can be written with -o");
}

void write_dof(const std::string& path, std::span<const uint8_t> bytes) {
	std::error_code none;
	if (std::filesystem::is_regular_file(path, none) && std::filesystem::file_size(path, none) != 0) {
		std::string magic(std::string_view(DOF_MAGIC).size(), '\0');
		std::ifstream(path, std::ios::binary)
		    .read(magic.data(), static_cast<std::streamsize>(magic.size()));
		if (magic != DOF_MAGIC)
			throw Error("cannot write " + path + ": it is there and is no DOF",
			            "give another name with -o");
	}
	write_file(path, bytes);
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
	uint8_t buffer[16384];
	while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
		bytes.insert(bytes.end(), buffer, buffer + got);
	if (std::ferror(file.get()))
		throw Error::from_errno("cannot read " + path, std::string("give the path of ") + what);
	return bytes;
}

} // namespace dfr::cli
