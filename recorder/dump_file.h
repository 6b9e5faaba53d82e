// SPDX-License-Identifier: GPL-2.0
//
// DumpFile: the bytes of a dump by their offsets in it. In makedumpfile's flattened form
// (QEMU writes it too, and whatever goes through a pipe) the file is a list of
// pieces, each with the offset at which it belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dfr::recorder {

class DumpFile {
public:
	// Throws dfr::Error if the file cannot be opened.
	explicit DumpFile(const std::string& path);
	~DumpFile();
	DumpFile(const DumpFile&) = delete;
	DumpFile& operator=(const DumpFile&) = delete;

	const std::string& path() const { return path_; }
	uint64_t size() const { return size_; }                      // of the dump; 0: not known (a device)
	bool cut() const { return cut_; }                            // flattened, and its end is missing
	bool read(uint64_t offset, std::span<std::byte> into) const; // false: not all of it is there

private:
	struct FilePiece {
		uint64_t offset, size, place; // in the dump; in the file
	};
	void find_pieces(uint64_t file_size);
	bool read_raw(uint64_t place, std::span<std::byte> into) const;

	std::string path_;
	int fd_ = -1;
	uint64_t size_ = 0;
	bool flat_ = false, cut_ = false;
	std::vector<FilePiece> pieces_;        // by offset, none overlaps another
	uint64_t lost_from_ = 0, lost_to_ = 0; // of the piece in which the file is cut
};

} // namespace dfr::recorder
