// SPDX-License-Identifier: GPL-2.0
//
// Builds the memory of a dead machine page by page: anchors as the module writes
// them, catalogs, rings and tables on scattered page frames, and around that the
// files in which such memory arrives (ELF core, raw). Shares no code with the
// harvester.
#pragma once

#include <array>
#include <elf.h>
#include <map>
#include <optional>
#include <vector>

#include "formats/abi/anchor.h"
#include "tests/unit/trace_builder.h"

namespace dfr::test {

class Memory {
public:
	static constexpr size_t kPageSize = 4096;
	static constexpr uint64_t kLoad = 0x10ad;
	using Page = std::vector<std::byte>;

	Page& page(uint64_t pfn) {
		Page& found = pages[pfn];
		found.resize(kPageSize);
		return found;
	}
	// `bytes` on the given frames, in order.
	void put(const std::vector<uint64_t>& frames, std::span<const std::byte> bytes) {
		for (const uint64_t pfn : frames) {
			Page& to = page(pfn);
			const size_t size = std::min(bytes.size(), kPageSize);
			std::copy_n(bytes.begin(), size, to.begin());
			bytes = bytes.subspan(size);
		}
	}

	struct Anchor {
		uint64_t pfn = 0;
		uint32_t kind = 0, cpu = 0, half = 0, part = 0;
		uint64_t state_id = 7, generation = 1;
		uint32_t unit = 0;
		std::vector<uint64_t> frames;
		uint8_t boot = 0xb0;
		uint64_t stands_at = 0; // 0: where it says; else a stray copy on this frame
		std::optional<std::array<uint8_t, 16>> exact_boot = {}; // in place of `boot`
		uint64_t load = kLoad;
	};
	void anchor(const Anchor& a) {
		Bytes bytes;
		magic(bytes);
		bytes.u64(a.pfn);
		if (a.exact_boot)
			for (const uint8_t byte : *a.exact_boot)
				bytes.u8(byte);
		else
			boot_id(bytes, a.boot);
		bytes.u64(a.state_id).u32(a.kind).u32(a.cpu).u32(a.half).u32(a.part).u64(a.generation);
		bytes.u32(static_cast<uint32_t>(a.frames.size())).u32(0).u64(a.load).u64(0);
		for (const uint64_t pfn : a.frames)
			bytes.u64(pfn).u32(1).u32(a.unit);
		finish(bytes, a.stands_at ? a.stands_at : a.pfn);
	}
	// Each run of the anchor on this frame has so many pages.
	void set_run_pages(uint64_t pfn, uint32_t count) {
		Bytes bytes;
		bytes.bytes = page(pfn);
		uint32_t runs = 0;
		std::memcpy(&runs, bytes.bytes.data() + offsetof(dfr_anchor, runs), sizeof(runs));
		for (uint32_t i = 0; i < runs; i++)
			bytes.patch<uint32_t>(sizeof(dfr_anchor) + i * sizeof(dfr_anchor_run) +
			                          offsetof(dfr_anchor_run, pages),
			                      count);
		bytes.patch<uint32_t>(offsetof(dfr_anchor, checksum), 0);
		finish(bytes, pfn);
	}
	// The texts stand one behind the other, each from a multiple of 1,024 bytes on.
	struct PanicTexts {
		uint64_t pfn = 0, generation = 99;
		std::array<std::string, DFR_PANIC_TEXTS> texts = {}; // registers, stack, log
		uint32_t beyond = 0;                                 // added to the place of each
		uint64_t says = 0;   // the frame that the record gives; 0: the right one
		uint64_t broken = 0; // since when an oops inside a firing may have cost records
		uint64_t load = kLoad;
	};
	void panic(uint64_t pfn, uint64_t time, std::string_view comm, std::string_view reason,
	           uint8_t boot = 0xb0) {
		panic(pfn, time, comm, reason, boot, PanicTexts());
	}
	void panic(uint64_t pfn, uint64_t time, std::string_view comm, std::string_view reason, uint8_t boot,
	           const PanicTexts& more) {
		Bytes bytes;
		magic(bytes);
		bytes.u64(pfn);
		boot_id(bytes, boot);
		bytes.u64(0).u32(DFR_ANCHOR_PANIC).u32(1).u32(0).u32(0).u64(more.generation);
		bytes.u32(0).u32(0).u64(more.load).u64(0);
		bytes.u64(time).u32(1).u32(4242);
		text(bytes, comm, 16);
		text(bytes, reason, 1024);
		bytes.u64(more.says ? more.says : more.pfn);
		Bytes places, sizes, sums, all;
		for (const std::string& one : more.texts) {
			Bytes content;
			text(content, one, one.size());
			all.pad(1024);
			places.u32(static_cast<uint32_t>(all.bytes.size()) + more.beyond);
			sizes.u32(static_cast<uint32_t>(one.size()));
			sums.u32(slow_crc32c(content.bytes));
			all.bytes.insert(all.bytes.end(), content.bytes.begin(), content.bytes.end());
		}
		for (const Bytes* const part : {&places, &sizes, &sums})
			bytes.bytes.insert(bytes.bytes.end(), part->bytes.begin(), part->bytes.end());
		bytes.u32(0).u64(more.broken);
		for (size_t i = 0; more.pfn && i * kPageSize < all.bytes.size(); i++)
			put({more.pfn + i}, std::span(all.bytes).subspan(i * kPageSize));
		finish(bytes, pfn);
	}

	// One PT_LOAD for each run of frames.
	std::vector<std::byte> elf() const {
		std::vector<std::pair<uint64_t, uint64_t>> runs; // first frame, frames
		for (const auto& [pfn, page] : pages) {
			if (runs.empty() || runs.back().first + runs.back().second != pfn)
				runs.emplace_back(pfn, 0);
			runs.back().second++;
		}
		Elf64_Ehdr head{};
		std::memcpy(head.e_ident, ELFMAG, SELFMAG);
		head.e_ident[EI_CLASS] = ELFCLASS64;
		head.e_ident[EI_DATA] = ELFDATA2LSB;
		head.e_type = ET_CORE;
		head.e_phoff = sizeof(head);
		head.e_phentsize = sizeof(Elf64_Phdr);
		head.e_phnum = static_cast<uint16_t>(runs.size());
		Bytes file;
		file.bytes.reserve(sizeof(head) + runs.size() * sizeof(Elf64_Phdr) +
		                   pages.size() * kPageSize);
		file.put(head);
		uint64_t offset = sizeof(head) + runs.size() * sizeof(Elf64_Phdr);
		for (const auto& [pfn, count] : runs) {
			file.put(Elf64_Phdr{.p_type = PT_LOAD,
			                    .p_flags = 0,
			                    .p_offset = offset,
			                    .p_vaddr = 0,
			                    .p_paddr = pfn * kPageSize,
			                    .p_filesz = count * kPageSize,
			                    .p_memsz = count * kPageSize,
			                    .p_align = 0});
			offset += count * kPageSize;
		}
		for (const auto& [pfn, page] : pages)
			file.bytes.insert(file.bytes.end(), page.begin(), page.end());
		return std::move(file.bytes);
	}
	// As makedumpfile and QEMU write it; pages of zeros are left out. `pack`: one page, as `codec` has it.
	using Pack = std::vector<std::byte> (*)(const Page& page);
	std::vector<std::byte> kdump(uint32_t codec, Pack pack) const {
		const uint64_t frames = pages.empty() ? 0 : pages.rbegin()->first + 1;
		const uint64_t map = (frames / 8 + kPageSize) / kPageSize * kPageSize; // bytes of one bitmap
		std::vector<std::byte> memory(map), dumped(map), packed;
		Bytes descriptors;
		uint64_t count = 0;
		for (const auto& [pfn, page] : pages)
			count += page != Page(kPageSize);
		const uint64_t at = 2 * kPageSize + 2 * map + count * 24;
		for (const auto& [pfn, page] : pages) {
			memory[pfn / 8] |= std::byte(1u << pfn % 8);
			if (page == Page(kPageSize))
				continue;
			dumped[pfn / 8] |= std::byte(1u << pfn % 8);
			std::vector<std::byte> bytes = pack(page);
			const bool plain = bytes.size() >= kPageSize;
			if (plain)
				bytes = page;
			descriptors.u64(at + packed.size()).u32(static_cast<uint32_t>(bytes.size()));
			descriptors.u32(plain ? 0 : codec).u64(0);
			packed.insert(packed.end(), bytes.begin(), bytes.end());
		}
		Bytes file;
		text(file, "KDUMP   ", 8);
		file.u32(6);
		file.bytes.resize(424);
		file.u32(codec).u32(kPageSize).u32(1).u32(static_cast<uint32_t>(2 * map / kPageSize));
		file.u32(static_cast<uint32_t>(frames));
		file.bytes.resize(kPageSize);
		file.u64(0).u32(1).u32(0); // -d 1: without pages of zeros
		file.bytes.resize(2 * kPageSize);
		for (const auto* part : {&memory, &dumped, &descriptors.bytes, &packed})
			file.bytes.insert(file.bytes.end(), part->begin(), part->end());
		return std::move(file.bytes);
	}
	// A file in the flattened form, in pieces of `size` bytes, the last one first. The zeros at a piece's end are left
	// out, as makedumpfile leaves them out behind its maps.
	static std::vector<std::byte> flattened(std::span<const std::byte> file, size_t size) {
		Bytes flat;
		text(flat, "makedumpfile", 16);
		flat.bytes.resize(kPageSize);
		const auto head = [&flat](uint64_t offset, uint64_t bytes) {
			flat.u64(__builtin_bswap64(offset)).u64(__builtin_bswap64(bytes));
		};
		for (size_t at = (file.size() - 1) / size * size + size; at;) {
			at -= size;
			auto piece = file.subspan(at, std::min(size, file.size() - at));
			while (piece.size() > 1 && at + size < file.size() && piece.back() == std::byte{0})
				piece = piece.first(piece.size() - 1);
			head(at, piece.size());
			flat.bytes.insert(flat.bytes.end(), piece.begin(), piece.end());
		}
		head(UINT64_MAX, UINT64_MAX);
		return std::move(flat.bytes);
	}
	// Frames from `first` on, without addresses.
	std::vector<std::byte> raw(uint64_t first = 0) const {
		std::vector<std::byte> file;
		if (!pages.empty())
			file.reserve((pages.rbegin()->first - first + 1) * kPageSize);
		for (const auto& [pfn, page] : pages) {
			file.resize((pfn - first) * kPageSize);
			file.insert(file.end(), page.begin(), page.end());
		}
		return file;
	}
	std::map<uint64_t, Page> pages;

private:
	static void magic(Bytes& to) {
		to.u64(DFR_ANCHOR_WORD0 ^ DFR_ANCHOR_KEY).u64(DFR_ANCHOR_WORD1 ^ DFR_ANCHOR_KEY);
		to.u64(DFR_ANCHOR_WORD2 ^ DFR_ANCHOR_KEY).u64(DFR_ANCHOR_WORD3 ^ DFR_ANCHOR_KEY);
	}
	static void boot_id(Bytes& to, uint8_t boot) {
		for (int i = 0; i < 16; i++)
			to.u8(static_cast<uint8_t>(boot + i));
	}
	static void text(Bytes& to, std::string_view value, size_t room) {
		for (size_t i = 0; i < room; i++)
			to.u8(i < value.size() ? static_cast<uint8_t>(value[i]) : 0);
	}
	void finish(Bytes& bytes, uint64_t pfn) {
		bytes.bytes.resize(kPageSize);
		bytes.patch<uint32_t>(92, slow_crc32c(bytes.bytes));
		put({pfn}, bytes.bytes);
	}
};

} // namespace dfr::test
