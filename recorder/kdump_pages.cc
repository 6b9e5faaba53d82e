// SPDX-License-Identifier: GPL-2.0
//
// The layout, in blocks (of a page):
//
//   [ head ][ sub-head ... ][ bitmap: memory | bitmap: dumped ][ descriptors ][ pages ]
//
// For each set bit of the second bitmap there is one descriptor, in order: where the
// page is, its size there, and how it is compressed. Lengths are hostile: a bitmap is
// kept only as far as the file has it, and pages count only as far as it has their descriptors.
#include "recorder/kdump_pages.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "formats/error.h"
#include "recorder/page_codec.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {
namespace {

struct DumpHead {
	char signature[8];
	int32_t version;
	char utsname[6][65];
	char pad[6];
	int64_t time[2];
	uint32_t status;
	int32_t block_size;
	int32_t sub_blocks;
	uint32_t bitmap_blocks;
	uint32_t frames;
};
static_assert(offsetof(DumpHead, status) == 424 && offsetof(DumpHead, frames) == 440);
constexpr uint32_t kIncomplete = 0x8;

struct SubHead {
	uint64_t physical_base;
	int32_t level; // of makedumpfile -d: 1: zero pages are left out
	int32_t split; // the dump is in several files
};

struct PageDescriptor {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;
	uint64_t page_flags;
};
static_assert(sizeof(PageDescriptor) == 24);

constexpr uint64_t kRankBytes = 64;

template <typename T> bool read_into(const DumpFile& file, uint64_t offset, T& value) {
	return file.read(offset, std::as_writable_bytes(std::span(&value, 1)));
}

} // namespace

bool KdumpPages::is_kdump(const DumpFile& file) {
	char magic[8] = {};
	return file.read(0, std::as_writable_bytes(std::span(magic))) &&
	       std::memcmp(magic, "KDUMP   ", 8) == 0;
}

KdumpPages::KdumpPages(std::shared_ptr<const DumpFile> file) : file_(std::move(file)) {
	const std::string cannot = "cannot read " + file_->path() + ": ";
	DumpHead head{};
	SubHead sub{};
	if (!read_into(*file_, 0, head) || !read_into(*file_, kPage, sub))
		throw Error(cannot + "it is cut within its head");
	if (head.block_size != kPage)
		throw Error(cannot + "its pages have " + std::to_string(head.block_size) + " bytes",
		            "only dumps of machines with pages of 4096 bytes can be read");
	if (head.sub_blocks < 1 || head.sub_blocks > 1 << 20)
		throw Error(cannot + "its head is damaged");
	if (sub.split)
		throw Error(cannot + "it is one part of a dump in several files",
		            "put the parts together: makedumpfile --reassemble PART... core");
	zeros_left_out_ = sub.level & 1;
	read_bitmaps((1 + uint64_t(head.sub_blocks)) * kPage, uint64_t{head.bitmap_blocks} * kPage);
	descriptors_ = (1 + uint64_t(head.sub_blocks) + head.bitmap_blocks) * kPage;
	// What a page of ones claims to hold is not to be looked for thirty thousand times.
	if (const uint64_t size = file_->size()) // of a device it is not known
		described_ = (size - std::min(size, descriptors_)) / sizeof(PageDescriptor);
	if (head.status & kIncomplete)
		remarks_.push_back("the dump was not ended: whoever wrote it had no room");
	if (file_->cut())
		remarks_.push_back("the dump is cut");
}

// As much of a map as the file has.
std::vector<uint8_t> KdumpPages::read_map(uint64_t offset, uint64_t bytes) const {
	std::vector<uint8_t> map;
	uint64_t step = kPage;
	for (uint64_t at = 0; at < bytes;) {
		const uint64_t size = std::min(step, bytes - at);
		map.resize(at + size);
		if (file_->read(offset + at, std::as_writable_bytes(std::span(map).subspan(at)))) {
			at += size;
			continue;
		}
		map.resize(at);
		if (step == kRankBytes)
			break;
		step = kRankBytes;
	}
	return map;
}

void KdumpPages::read_bitmaps(uint64_t offset, uint64_t bytes) {
	memory_ = read_map(offset, bytes / 2);
	dumped_ = read_map(offset + bytes / 2, bytes / 2);
	if (std::min(memory_.size(), dumped_.size()) < bytes / 2)
		remarks_.push_back("the dump is cut within the map of its pages");
	for (size_t i = 0; i < dumped_.size(); i++) {
		if (i % kRankBytes == 0)
			before_.push_back(stored_);
		stored_ += std::popcount(dumped_[i]);
	}
}

bool KdumpPages::read(uint64_t frame, std::span<std::byte> page) const {
	if (!has(frame)) {
		// A page of memory that is left out is one of zeros, if such are; pages of a module are never left out
		// for another reason.
		std::fill(page.begin(), page.end(), std::byte{0});
		// Where the map of what is dumped has been lost, nobody knows.
		return zeros_left_out_ && frame < frames() && bit(memory_, frame);
	}
	uint64_t rank = before_[frame / 8 / kRankBytes];
	if (rank >= described_)
		return false;
	for (uint64_t i = frame / 8 / kRankBytes * kRankBytes; i < frame / 8; i++)
		rank += std::popcount(dumped_[i]);
	rank += std::popcount(static_cast<uint8_t>(dumped_[frame / 8] & ((1u << (frame % 8)) - 1)));
	PageDescriptor descriptor{};
	if (!read_into(*file_, descriptors_ + rank * sizeof(descriptor), descriptor) ||
	    descriptor.size > kPage)
		return false;
	std::byte packed[kPage];
	const std::span bytes = std::span(packed).first(descriptor.size);
	return file_->read(descriptor.offset, bytes) &&
	       unpack_page(descriptor.flags & (kZlib | kLzo | kSnappy | kZstd), bytes, page);
}

} // namespace dfr::recorder
