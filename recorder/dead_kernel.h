// SPDX-License-Identifier: GPL-2.0
//
// DeadKernel: what the addresses of a dead x86-64 kernel are called, by the tables from
// which it made its own /proc/kallsyms, and its types. The tables' places stand in the
// kernel's VMCOREINFO, a page that begins with its release, which the scan of the image
// finds. What modules have (dead_modules.h) is read through the kernel's page tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/address_places.h"
#include "recorder/dead_modules.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

inline constexpr std::string_view kVmcoreinfoStart = "OSRELEASE=";
inline constexpr size_t kVmcoreinfoMost = 1024; // pages that begin so: of more none is believed

class DeadKernel final : public AddressPlaces {
public:
	// `pages`: where pages begin like VMCOREINFO, in a raw image as offsets in the file; `displacements`: those that are
	// believed. Null: no page tells of tables of this release that are whole, or several do and differ, because a process
	// may write such a page.
	static std::unique_ptr<DeadKernel> find(const PhysicalMemory& memory, std::span<const uint64_t> pages,
	                                        std::span<const int64_t> displacements,
	                                        const std::string& release);

	std::optional<KernelPlace> kernel_place(uint64_t address, uint64_t time) override;
	// Of the kernel proper, as anybody may have forged them; null: it has none, or they are not whole in the image.
	types::KernelTypes* types();

private:
	struct Vmcoreinfo;
	class Reader;
	DeadKernel() = default;
	bool read(std::shared_ptr<const Reader> from);
	bool read_names(const Reader& reader);
	bool take_addresses(const std::vector<int32_t>& offsets, uint64_t base, bool per_cpu);
	std::optional<std::string> name(size_t& at) const; // with its letter; `at` goes on behind it
	std::string lines(size_t first, size_t last) const;
	uint64_t address(std::string_view symbol) const; // 0: there is none
	std::optional<KernelPlace> module_place(uint64_t where);
	std::vector<std::byte> read_types() const; // BTF
	DeadModules find_modules();

	std::shared_ptr<const Reader> reader_;
	std::vector<uint64_t> addresses_; // by address
	std::vector<std::byte> names_;
	std::vector<size_t> marks_;           // where the name of each kMarked'th symbol begins in names_
	std::vector<std::string> tokens_;     // what a byte of a name stands for
	mutable uint64_t decoded_ = 0;        // characters of names so far
	std::optional<types::Symbols> asked_; // has the texts of the last answer
	uint64_t asked_start_ = 0;            // where the last answer's symbol begins
	// Once they were asked for.
	std::optional<std::unique_ptr<types::KernelTypes>> types_;
	std::optional<DeadModules> modules_;
};

} // namespace dfr::recorder
