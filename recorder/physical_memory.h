// SPDX-License-Identifier: GPL-2.0
//
// PhysicalMemory: a machine's memory in a file, read by physical address. An ELF
// core (QEMU's dump-guest-memory, /proc/vmcore, makedumpfile -E) says which bytes
// were at which address; in a raw image the file offset is the address, or differs
// from it by constants (displacements) that scan_anchors() finds. memory_image.h
// interprets the contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dfr::recorder {

inline constexpr uint64_t kPage = 4096;

class PhysicalMemory {
public:
	// Throws dfr::Error if the file cannot be opened, or is a kind of dump that must be converted first.
	explicit PhysicalMemory(const std::string& path);
	~PhysicalMemory();
	PhysicalMemory(const PhysicalMemory&) = delete;
	PhysicalMemory& operator=(const PhysicalMemory&) = delete;

	const std::string& path() const { return path_; }
	bool raw() const { return raw_; } // addresses are file offsets until displacements are known
	uint64_t bytes() const;           // how much memory the file holds
	const std::vector<std::string>& remarks() const { return remarks_; }

	// Calls `found` for every page that starts with one of these words, of which the second has 4 bytes.
	// Adds a remark if pages could not be read.
	struct Words {
		uint64_t eight = 0;
		uint32_t four = 0;
	};
	void scan(Words words,
	          const std::function<void(uint64_t address, std::span<const std::byte> page)>& found);

	// Fills `into`; false: the file does not have all of it. `displacement`: address minus file offset,
	// for raw images.
	bool read(uint64_t address, std::span<std::byte> into, int64_t displacement = 0) const;

private:
	struct FileRange {
		uint64_t address, offset, size;
	};
	void open_elf(uint64_t size);
	bool read_file(uint64_t offset, std::span<std::byte> into) const;
	std::string path_;
	int fd_ = -1;
	bool raw_ = false;
	std::vector<FileRange> ranges_; // by address
	std::vector<std::string> remarks_;
};

} // namespace dfr::recorder
