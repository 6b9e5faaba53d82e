// SPDX-License-Identifier: GPL-2.0
//
// ScratchFolder: a folder for one test's files, which goes away with all that is in it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace dfr::test {

class ScratchFolder {
public:
	ScratchFolder() : path_(std::filesystem::temp_directory_path() / "dfr-test-XXXXXX") {
		REQUIRE(mkdtemp(path_.data()));
	}
	~ScratchFolder() { std::filesystem::remove_all(path_); }
	ScratchFolder(const ScratchFolder&) = delete;
	ScratchFolder& operator=(const ScratchFolder&) = delete;

	const std::string& path() const { return path_; }
	std::string file(const std::string& name) const { return path_ + "/" + name; }
	std::string write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
		std::ofstream(file(name), std::ios::binary)
		    .write(reinterpret_cast<const char*>(bytes.data()),
		           static_cast<std::streamsize>(bytes.size()));
		return file(name);
	}

private:
	std::string path_;
};

} // namespace dfr::test
