// SPDX-License-Identifier: GPL-2.0
//
// Opening and scanning memory images. Headers are hostile: every program header
// is cut to what the file really has. The file is read with pread() in large
// pieces and not mapped, because that also works on /proc/vmcore and keeps a large
// dump out of this process's memory.
#include "recorder/physical_memory.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

#include "formats/error.h"
#include "recorder/kdump_pages.h"

namespace dfr::recorder {
namespace {

constexpr size_t kWindow = 4 << 20;
constexpr uint32_t kMaxSegments = 1u << 20;
constexpr size_t kCachedPages = 1024;

// Throws for files that are not plain memory; the error says what the file is and how to convert it.
void refuse_packed(const std::string& path, const char (&magic)[16]) {
	const auto starts = [&](const char* text) {
		return std::memcmp(magic, text, std::strlen(text)) == 0;
	};
	if (starts("DISKDUMP"))
		throw Error("cannot read " + path + ": it is a dump of diskdump",
		            "convert it: makedumpfile -E -d 0 " + path + " core.elf, then harvest core.elf");
	if (starts("\x28\xb5\x2f\xfd") || starts("\x1f\x8b") ||
	    starts("\xfd"
	           "7zXZ"))
		throw Error("cannot read " + path + ": it is compressed",
		            "uncompress it first (zstd -d, gunzip, unxz)");
	if (starts("QFI\xfb"))
		throw Error("cannot read " + path + ": it is a qcow2 disk image, not memory",
		            "dump the guest's memory: dump-guest-memory FILE in QEMU's monitor");
	if (starts("\x89"
	           "dfr"))
		throw Error("cannot harvest " + path + ": it is a recording already",
		            "ask it: dfr replay " + path);
}

} // namespace

PhysicalMemory::PhysicalMemory(const std::string& path) : file_(std::make_shared<DumpFile>(path)) {
	char magic[16] = {};
	file_->read(0, std::as_writable_bytes(std::span(magic)));
	refuse_packed(path, magic);
	if (KdumpPages::is_kdump(*file_)) {
		pages_ = std::make_unique<KdumpPages>(file_);
		remarks_ = pages_->remarks();
		cache_.resize(kCachedPages);
	} else if (std::memcmp(magic, ELFMAG, SELFMAG) == 0) {
		open_elf(file_->size());
	} else {
		raw_ = true;
		ranges_.push_back({.address = 0, .offset = 0, .size = file_->size()});
	}
}

PhysicalMemory::~PhysicalMemory() = default;

void PhysicalMemory::open_elf(uint64_t size) {
	Elf64_Ehdr head{};
	if (!file_->read(0, std::as_writable_bytes(std::span(&head, 1))))
		throw Error("cannot read " + path() + ": it is cut within its ELF header");
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		throw Error("cannot read " + path() + ": only 64-bit little-endian dumps can be read");
	if (head.e_type != ET_CORE)
		throw Error("cannot read " + path() + ": it is an ELF file, but not a core dump",
		            "give a dump of the machine's memory");
	uint32_t count = head.e_phnum;
	if (count == PN_XNUM) {
		Elf64_Shdr section{};
		if (!file_->read(head.e_shoff, std::as_writable_bytes(std::span(&section, 1))))
			throw Error("cannot read " + path() +
			            ": the header that counts its segments is missing");
		count = section.sh_info;
	}
	if (head.e_phentsize != sizeof(Elf64_Phdr) || count > kMaxSegments)
		throw Error("cannot read " + path() + ": its program headers are damaged");
	uint64_t missing = 0;
	for (uint32_t i = 0; i < count; i++) {
		Elf64_Phdr segment{};
		if (!file_->read(head.e_phoff + uint64_t{i} * sizeof(segment),
		                 std::as_writable_bytes(std::span(&segment, 1))))
			throw Error("cannot read " + path() + ": it is cut within its program headers");
		if (segment.p_type != PT_LOAD || !segment.p_filesz)
			continue;
		// fstat() gives the size of files and of /proc/vmcore, but 0 for devices, where a read
		// fails at the end.
		uint64_t here = segment.p_filesz;
		if (size)
			here = segment.p_offset < size ? std::min(here, size - segment.p_offset) : 0;
		missing += segment.p_filesz - here;
		if (here)
			ranges_.push_back(
			    {.address = segment.p_paddr, .offset = segment.p_offset, .size = here});
		// makedumpfile leaves out the zeros at a segment's end.
		if (here == segment.p_filesz && segment.p_memsz > here)
			ranges_.push_back({.address = segment.p_paddr + here,
			                   .offset = 0,
			                   .size = segment.p_memsz - here,
			                   .zeros = true});
	}
	if (missing)
		remarks_.push_back("the dump is cut: " + std::to_string(missing) +
		                   " bytes of memory are missing");
	std::sort(ranges_.begin(), ranges_.end(),
	          [](const FileRange& a, const FileRange& b) { return a.address < b.address; });
	const bool no_addresses =
	    ranges_.size() > 1 && std::all_of(ranges_.begin(), ranges_.end(),
	                                      [](const FileRange& range) { return range.address == 0; });
	if (no_addresses)
		throw Error("cannot read " + path() + ": its segments have no physical addresses",
		            "it looks like the core dump of a process; give a dump of the machine's memory");
}

uint64_t PhysicalMemory::bytes() const {
	uint64_t sum = pages_ ? pages_->pages() * kPage : 0;
	for (const FileRange& range : ranges_)
		sum += range.zeros ? 0 : range.size;
	return sum;
}

bool PhysicalMemory::read_page(uint64_t frame, uint64_t within, std::span<std::byte> into) const {
	CachedPage& cached = cache_[frame % kCachedPages];
	if (cached.frame != frame) {
		cached.frame = UINT64_MAX;
		cached.bytes.resize(kPage);
		if (!pages_->read(frame, cached.bytes))
			return false;
		cached.frame = frame;
	}
	std::copy_n(cached.bytes.begin() + static_cast<long>(within), into.size(), into.begin());
	return true;
}

bool PhysicalMemory::read(uint64_t address, std::span<std::byte> into, int64_t displacement) const {
	if (raw_)
		address -= displacement;
	while (!into.empty()) {
		if (pages_) {
			const uint64_t within = address % kPage;
			const std::span part = into.first(std::min<uint64_t>(into.size(), kPage - within));
			if (!read_page(address / kPage, within, part))
				return false;
			into = into.subspan(part.size());
			address += part.size();
			continue;
		}
		auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
		                              [](uint64_t at, const FileRange& r) { return at < r.address; });
		if (range == ranges_.begin())
			return false;
		--range;
		const uint64_t within = address - range->address;
		if (within >= range->size)
			return false;
		const std::span part = into.first(std::min<uint64_t>(into.size(), range->size - within));
		if (range->zeros)
			std::fill(part.begin(), part.end(), std::byte{0});
		else if (!file_->read(range->offset + within, part))
			return false;
		into = into.subspan(part.size());
		address += part.size();
	}
	return true;
}

void PhysicalMemory::scan(Words words, const OnPage& found) {
	uint64_t unread = pages_ ? scan_pages(words, found) : 0;
	for (const FileRange& range : ranges_)
		if (!range.zeros)
			unread += scan_range(range, words, found);
	if (unread)
		remarks_.push_back(std::to_string(unread) + " bytes of memory could not be read");
}

namespace {

void look(uint64_t address, std::span<const std::byte> pages, const PhysicalMemory::Words& words,
          const std::function<void(uint64_t, std::span<const std::byte>)>& found) {
	for (; !pages.empty(); pages = pages.subspan(kPage), address += kPage) {
		uint64_t first;
		std::memcpy(&first, pages.data(), sizeof(first));
		if (first == words.eight || static_cast<uint32_t>(first) == words.four)
			found(address, pages.first(kPage));
	}
}

} // namespace

// These two return how many bytes could not be read.
uint64_t PhysicalMemory::scan_pages(const Words& words, const OnPage& found) const {
	std::vector<std::byte> page(kPage);
	uint64_t unread = 0;
	for (uint64_t frame = 0; frame < pages_->frames(); frame++) {
		if (!pages_->has(frame))
			continue;
		if (pages_->read(frame, page))
			look(frame * kPage, page, words, found);
		else
			unread += kPage;
	}
	return unread;
}

uint64_t PhysicalMemory::scan_range(const FileRange& range, const Words& words, const OnPage& found) const {
	std::vector<std::byte> window(std::min<uint64_t>(kWindow, range.size));
	uint64_t unread = 0;
	// Pages are aligned by physical address; their offset in the file may be any.
	const uint64_t skip = (kPage - range.address % kPage) % kPage;
	for (uint64_t at = skip; at + kPage <= range.size; at += kWindow) {
		const size_t size = std::min<uint64_t>(kWindow, range.size - at) / kPage * kPage;
		const std::span<std::byte> piece = std::span(window).first(size);
		if (file_->read(range.offset + at, piece)) {
			look(range.address + at, piece, words, found);
			continue;
		}
		// Something in this piece cannot be read: what can be is read page by page.
		for (size_t page = 0; page < size; page += kPage) {
			const std::span<std::byte> one = piece.subspan(page, kPage);
			if (file_->read(range.offset + at + page, one))
				look(range.address + at + page, one, words, found);
			else
				unread += kPage;
		}
	}
	return unread;
}

} // namespace dfr::recorder
