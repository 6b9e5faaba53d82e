// SPDX-License-Identifier: GPL-2.0
//
// PhysicalMemory: a machine's memory in a file, read by physical address. An ELF
// core (QEMU's dump-guest-memory, /proc/vmcore, makedumpfile -E) says which bytes
// were at which address, a kdump-compressed dump (kdump_pages.h) which pages; in a raw
// image the file offset is the address, or differs from it by constants (displacements)
// that scan_anchors() finds. memory_image.h interprets the contents. One thread reads; scan() has several of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recorder/dump_file.h"

namespace dfr::recorder {

inline constexpr uint64_t kPage = 4096;

class KdumpPages;

class PhysicalMemory {
public:
	// Throws dfr::Error if the file cannot be opened, or is a kind of dump that must be converted first.
	explicit PhysicalMemory(const std::string& path);
	~PhysicalMemory();
	PhysicalMemory(const PhysicalMemory&) = delete;
	PhysicalMemory& operator=(const PhysicalMemory&) = delete;

	const std::string& path() const { return file_->path(); }
	bool raw() const { return raw_; }         // addresses are file offsets until displacements are known
	uint64_t bytes() const { return bytes_; } // how much memory the file holds
	uint64_t begin() const { return ranges_.empty() ? 0 : ranges_[0].address; }
	const std::vector<std::string>& remarks() const { return remarks_; }

	// Calls `found` for every page that starts with one of these words, of which the last has 4 bytes: from several
	// threads, one call at a time, in no order. Adds a remark if pages could not be read. `progress` is called by the
	// caller's thread now and then.
	struct Words {
		std::array<uint64_t, 2> eight = {};
		uint32_t four = 0;
	};
	using OnPage = std::function<void(uint64_t address, std::span<const std::byte> page)>;
	using OnProgress = std::function<void(uint64_t done, uint64_t all)>; // bytes
	void scan(Words words, const OnPage& found, const OnProgress& progress = {});

	// What a raw image's offsets may differ by from addresses; its holes leave several.
	void believe(std::vector<int64_t> displacements) { displacements_ = std::move(displacements); }
	const std::vector<int64_t>& displacements() const { return displacements_; }

	// Fills `into`; false: the file does not have all of it. `displacement`: address minus file offset,
	// for raw images.
	bool read(uint64_t address, std::span<std::byte> into, int64_t displacement = 0) const;

private:
	struct FileRange {
		uint64_t address, offset, size;
	};
	struct CachedPage {
		uint64_t frame = UINT64_MAX;
		std::vector<std::byte> bytes;
	};
	struct ScanPiece {
		uint64_t address, size; // whole pages
		uint64_t offset;        // in the file; of no meaning in a kdump-compressed dump
	};
	void open_elf(uint64_t size);
	static void make_disjoint(std::vector<FileRange>& ranges);
	static std::span<const FileRange> from(const std::vector<FileRange>& ranges, uint64_t address);
	bool read_page(uint64_t frame, uint64_t within, std::span<std::byte> into) const;
	std::optional<ScanPiece> next_piece(size_t& range, uint64_t& at) const;
	void scan_seams(const Words& words, const OnPage& found) const;
	uint64_t scan_piece(const ScanPiece& piece, std::span<std::byte> window, const Words& words,
	                    const OnPage& found) const;

	std::shared_ptr<const DumpFile> file_;
	std::unique_ptr<const KdumpPages> pages_;
	mutable std::vector<CachedPage> cache_; // of pages_, each at a place by its frame
	bool raw_ = false;
	std::vector<int64_t> displacements_;
	uint64_t bytes_ = 0;
	std::vector<FileRange> ranges_; // by address, none over another
	std::vector<FileRange> zeros_;  // the same, of what holds nothing else; what ranges_ has of it counts
	std::vector<std::string> remarks_;
};

} // namespace dfr::recorder
