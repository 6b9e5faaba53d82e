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
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "formats/error.h"
#include "recorder/kdump_pages.h"

namespace dfr::recorder {
namespace {

constexpr size_t kWindow = 1 << 20; // of each thread
constexpr size_t kThreadsMost = 8;
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
	} else if (!file_->size()) {
		throw Error("cannot read " + path + ": it is empty, or a device, whose size is not known",
		            "copy what a device holds into a file (dd), and harvest that");
	} else {
		raw_ = true;
		ranges_.push_back({.address = 0, .offset = 0, .size = file_->size()});
	}
	bytes_ = pages_ ? pages_->pages() * kPage : 0;
	for (const FileRange& range : ranges_)
		bytes_ += range.size;
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
	uint64_t missing = 0, named = 0;
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
		named += here;
		if (here)
			ranges_.push_back(
			    {.address = segment.p_paddr, .offset = segment.p_offset, .size = here});
		// makedumpfile leaves out the zeros at a segment's end.
		if (here == segment.p_filesz && segment.p_memsz > here)
			zeros_.push_back(
			    {.address = segment.p_paddr + here, .offset = 0, .size = segment.p_memsz - here});
	}
	// In /proc/vmcore the kernel's own image stands twice. What a file of one page claims to hold is not to be read
	// a million times.
	if (size && named / 2 > size)
		throw Error("cannot read " + path() + ": its segments name more bytes than the file has",
		            "give a dump of the machine's memory");
	if (missing)
		remarks_.push_back("the dump is cut: " + std::to_string(missing) +
		                   " bytes of memory are missing");
	const bool no_addresses =
	    ranges_.size() > 1 && std::all_of(ranges_.begin(), ranges_.end(),
	                                      [](const FileRange& range) { return range.address == 0; });
	if (no_addresses)
		throw Error("cannot read " + path() + ": its segments have no physical addresses",
		            "it looks like the core dump of a process; give a dump of the machine's memory");
	make_disjoint(ranges_);
	make_disjoint(zeros_);
}

// Segments may lie within each other: /proc/vmcore has the kernel's own image once more, beside the memory that it is in.
void PhysicalMemory::make_disjoint(std::vector<FileRange>& ranges) {
	std::sort(ranges.begin(), ranges.end(),
	          [](const FileRange& a, const FileRange& b) { return a.address < b.address; });
	uint64_t end = 0; // of those before
	for (FileRange& range : ranges) {
		range.size = std::min(range.size, UINT64_MAX - range.address);
		const uint64_t covered = std::min(end - std::min(end, range.address), range.size);
		range.address += covered;
		range.offset += covered;
		range.size -= covered;
		end = std::max(end, range.address + range.size);
	}
	std::erase_if(ranges, [](const FileRange& range) { return !range.size; });
}

// The range that has this address and those behind it; only those if none has it.
std::span<const PhysicalMemory::FileRange> PhysicalMemory::from(const std::vector<FileRange>& ranges,
                                                                uint64_t address) {
	auto at = std::upper_bound(ranges.begin(), ranges.end(), address,
	                           [](uint64_t a, const FileRange& range) { return a < range.address; });
	if (at != ranges.begin() && address - std::prev(at)->address < std::prev(at)->size)
		--at;
	return {at, ranges.end()};
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
		uint64_t size = into.size();
		const std::span<const FileRange> there = from(ranges_, address),
		                                 zeros = from(zeros_, address);
		if (!there.empty() && there[0].address <= address) {
			const uint64_t within = address - there[0].address;
			size = std::min(size, there[0].size - within);
			if (!file_->read(there[0].offset + within, into.first(size)))
				return false;
		} else if (!zeros.empty() && zeros[0].address <= address) {
			size = std::min(size, zeros[0].size - (address - zeros[0].address));
			if (!there.empty())
				size = std::min(size, there[0].address - address);
			std::fill_n(into.begin(), size, std::byte{0});
		} else {
			return false;
		}
		into = into.subspan(size);
		address += size;
	}
	return true;
}

namespace {

void look(uint64_t address, std::span<const std::byte> pages, const PhysicalMemory::Words& words,
          const std::function<void(uint64_t, std::span<const std::byte>)>& found) {
	for (; !pages.empty(); pages = pages.subspan(kPage), address += kPage) {
		uint64_t first;
		std::memcpy(&first, pages.data(), sizeof(first));
		if (first == words.eight[0] || first == words.eight[1] ||
		    static_cast<uint32_t>(first) == words.four)
			found(address, pages.first(kPage));
	}
}

} // namespace

// The piece at the cursor, which goes on behind it: `at` in the range of this number.
std::optional<PhysicalMemory::ScanPiece> PhysicalMemory::next_piece(size_t& range, uint64_t& at) const {
	if (pages_) {
		const uint64_t end = pages_->frames() * kPage, begin = at;
		if (begin >= end)
			return std::nullopt;
		at += kWindow;
		return ScanPiece{
		    .address = begin, .size = std::min<uint64_t>(kWindow, end - begin), .offset = 0};
	}
	for (; range < ranges_.size(); range++, at = 0) {
		const FileRange& one = ranges_[range];
		// Pages are aligned by physical address; their offset in the file may be any.
		const uint64_t begin = at ? at : (kPage - one.address % kPage) % kPage;
		if (one.size < kPage || begin > one.size - kPage)
			continue;
		at = begin + kWindow;
		return ScanPiece{.address = one.address + begin,
		                 .size = std::min<uint64_t>(kWindow, one.size - begin) / kPage * kPage,
		                 .offset = one.offset + begin};
	}
	return std::nullopt;
}

// How many bytes could not be read.
uint64_t PhysicalMemory::scan_piece(const ScanPiece& piece, std::span<std::byte> window, const Words& words,
                                    const OnPage& found) const {
	const std::span<std::byte> all = window.first(piece.size);
	if (!pages_ && file_->read(piece.offset, all)) {
		look(piece.address, all, words, found);
		return 0;
	}
	// A dump of pages; or something in this piece cannot be read: what can be is read page by page.
	uint64_t unread = 0;
	for (uint64_t at = 0; at < piece.size; at += kPage) {
		const std::span<std::byte> page = all.subspan(at, kPage);
		if (pages_ && !pages_->has((piece.address + at) / kPage))
			continue;
		if (pages_ ? pages_->read((piece.address + at) / kPage, page)
		           : file_->read(piece.offset + at, page))
			look(piece.address + at, page, words, found);
		else
			unread += kPage;
	}
	return unread;
}

// Pages that begin in one range of the file and go on in another one.
void PhysicalMemory::scan_seams(const Words& words, const OnPage& found) const {
	std::vector<std::byte> page(kPage);
	for (const FileRange& range : ranges_)
		if (const uint64_t end = range.address + range.size, first = end - end % kPage;
		    end % kPage && range.address <= first && read(first, page))
			look(first, page, words, found);
}

void PhysicalMemory::scan(Words words, const OnPage& found, const OnProgress& progress) {
	std::mutex found_lock, cursor_lock;
	size_t range = 0;
	uint64_t at = 0, done = 0, unread = 0;
	std::exception_ptr failure; // these under cursor_lock
	const OnPage guarded = [&](uint64_t address, std::span<const std::byte> page) {
		const std::lock_guard lock(found_lock);
		found(address, page);
	};
	const auto work = [&](bool tells) {
		std::vector<std::byte> window;
		uint64_t missed = 0, so_far = 0;
		try {
			window.resize(kWindow);
			for (;;) {
				std::optional<ScanPiece> piece;
				{
					const std::lock_guard lock(cursor_lock);
					piece = failure ? std::nullopt : next_piece(range, at);
					so_far = done += piece ? piece->size : 0;
				}
				if (!piece)
					break;
				missed += scan_piece(*piece, window, words, guarded);
				if (tells && progress)
					progress(so_far, std::max(so_far, bytes()));
			}
		} catch (...) {
			const std::lock_guard lock(cursor_lock);
			failure = std::current_exception();
		}
		const std::lock_guard lock(cursor_lock);
		unread += missed;
	};
	std::vector<std::thread> helpers;
	const size_t wanted =
	    std::min<size_t>({kThreadsMost, std::thread::hardware_concurrency(), bytes() / kWindow + 1});
	while (helpers.size() + 1 < wanted) {
		try {
			helpers.emplace_back(work, false);
		} catch (...) { // no more threads can be made: those that are there do it
			break;
		}
	}
	work(true);
	for (std::thread& helper : helpers)
		helper.join();
	if (failure)
		std::rethrow_exception(failure);
	scan_seams(words, found);
	if (progress) // whichever thread took the last piece
		progress(done, std::max(done, bytes()));
	if (unread)
		remarks_.push_back(std::to_string(unread) + " bytes of memory could not be read");
}

} // namespace dfr::recorder
