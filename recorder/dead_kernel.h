// SPDX-License-Identifier: GPL-2.0
//
// DeadKernel: what the addresses of a dead x86-64 kernel are called, by the tables from
// which it made its own /proc/kallsyms, and its types. The tables' places stand in the
// kernel's VMCOREINFO, a page that begins with its release, which the scan of the image
// finds. What modules have (dead_modules.h) is read through the kernel's page tables.
//
// DeadKernels: those of one image. After a warm reset it may have what an earlier boot has
// left beside the kernel that died; addresses of one say nothing of the other's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "recorder/address_places.h"
#include "recorder/anchors.h"
#include "recorder/dead_modules.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

inline constexpr std::string_view kVmcoreinfoStart = "OSRELEASE=";
inline constexpr size_t kVmcoreinfoMost = 1024; // pages that begin so: of more none is believed

class DeadKernel final : public AddressPlaces {
public:
	DeadKernel(const DeadKernel&) = delete;
	DeadKernel& operator=(const DeadKernel&) = delete;
	~DeadKernel() override = default;

	std::optional<KernelPlace> kernel_place(uint64_t address, uint64_t time) override;
	// Of the kernel proper, as anybody may have forged them; null: it has none, or they are not whole in the image.
	types::KernelTypes* types();

private:
	friend class DeadKernels;
	struct Vmcoreinfo;
	class Reader;
	DeadKernel() = default;
	bool read(std::shared_ptr<const Reader> from);
	bool read_names(const Reader& reader);
	bool take_addresses(const std::vector<int32_t>& offsets, uint64_t base, bool per_cpu);
	std::optional<std::string> name(size_t& at) const; // with its letter; `at` goes on behind it
	std::string lines(size_t first, size_t last) const;
	uint64_t address(std::string_view symbol) const; // 0: there is none
	std::optional<BootId> boot() const;              // nullopt: not known
	bool is_equal(const DeadKernel& other) const;    // by its tables
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

class DeadKernels {
public:
	// `pages`: where pages begin like VMCOREINFO, in a raw image as offsets in the file; `displacements`: those that are
	// believed.
	DeadKernels(std::shared_ptr<const PhysicalMemory> memory, std::span<const uint64_t> pages,
	            std::span<const int64_t> displacements);
	DeadKernels(const DeadKernels&) = delete;
	DeadKernels& operator=(const DeadKernels&) = delete;
	~DeadKernels();
	// Of the kernels whose tables are whole and say it; one that never made an id has one of zeros.
	const std::set<BootId>& boots() const { return boots_; }
	// Null: no page tells of whole tables of this boot and release, or several do and differ, because a process may
	// write such a page. Tables that do not say of which boot they are count for the `likeliest` one alone. Valid until
	// this is asked for another one: each takes some MiB, in a crash kernel.
	DeadKernel* of(const BootId& boot, const std::string& release, bool likeliest);

private:
	struct Candidate;
	std::unique_ptr<DeadKernel> read(const Candidate& candidate) const;
	std::unique_ptr<DeadKernel> find(const BootId& boot, const std::string& release,
	                                 bool likeliest) const;

	std::shared_ptr<const PhysicalMemory> memory_;
	std::vector<Candidate> candidates_;
	std::set<BootId> boots_;
	std::optional<std::tuple<BootId, std::string, bool>> asked_;
	std::unique_ptr<DeadKernel> answer_;
};

} // namespace dfr::recorder
