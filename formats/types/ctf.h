// SPDX-License-Identifier: GPL-2.0
//
// Ctf: a container over one CTF dictionary, version 3, as gcc -gctf and the
// linker write them into an ELF file's .ctf section: alone or in an archive of
// a shared parent and children for the compilation units whose types conflict.
// CtfFile owns the dictionaries of one file. User-space types only: a kernel's
// come from btf.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/types/blob.h"
#include "formats/types/elf.h"
#include "formats/types/types.h"

namespace dfr::types {

// What CTF leaves in the ELF file around it: part of its strings, and the order
// of symbols that functions and variables are listed in. Read when needed.
class CtfContext {
public:
	CtfContext() = default; // CTF without an ELF file
	CtfContext(Blob file, std::string name);

	// `dynamic`: of .dynsym and .dynstr; otherwise of .symtab and .strtab.
	std::span<const std::uint8_t> strings(bool dynamic) const;
	// The names of the data (functions) that CTF lists, in its order.
	std::vector<std::string_view> symbols(bool dynamic, bool functions) const;
	const ElfFile* elf() const { return elf_ ? &*elf_ : nullptr; }

private:
	std::optional<ElfFile> elf_;
};

class Ctf final : public Container {
public:
	// `parent` is borrowed and outlives this; a child dictionary needs it for
	// the ids below 2^31.
	Ctf(std::string name, const Blob& dictionary, std::shared_ptr<const CtfContext> context,
	    const Ctf* parent = nullptr);
	~Ctf() override;
	Ctf(const Ctf&) = delete;
	Ctf& operator=(const Ctf&) = delete;

	bool is_child() const { return is_child_; }
	TypeId first_id() const { return is_child_ ? kChild | 1 : 1; }
	TypeId end_id() const;

	std::string_view name() const override { return name_; }
	TypeInfo info(TypeId id) const override;
	Member member(TypeId id, std::uint32_t index) const override;
	Parameter parameter(TypeId id, std::uint32_t index) const override;
	Enumerator enumerator(TypeId id, std::uint32_t index) const override;
	TypeRef find(NameSpace space, std::string_view name) const override;
	std::optional<EnumConstant> find_enumerator(std::string_view name) const override;
	TypeRef find_function(std::string_view name) const override;
	TypeRef find_variable(std::string_view name) const override;

private:
	struct Record;
	struct CtfSection { // of body_
		std::uint32_t begin = 0;
		std::uint32_t size = 0;
	};
	using IdsByName = std::unordered_map<std::string_view, TypeId>;
	static constexpr TypeId kChild = 1U << 31;

	void read_header(const Blob& dictionary);
	void unpack(const Blob& packed, std::uint64_t length);
	// What is told of an integer and of a function beside kind and name, which `result` has.
	TypeInfo integer_info(const Record& type, TypeInfo result) const;
	TypeInfo function_info(const Record& type, TypeInfo result) const;
	void index_types() const;
	void index_names() const;
	void add_name(IdsByName& names, std::string_view name, TypeId id, int rank) const;
	void index_symbols() const;
	void index_symbols_of(CtfSection types, CtfSection index, bool functions) const;
	void index_variables() const;

	Record record(TypeId id) const;
	Record record_at(std::uint64_t offset) const;
	TypeRef raw_ref(TypeId id) const;
	TypeRef ref(TypeId id) const;
	std::string_view string(std::uint32_t offset) const;
	std::uint32_t word(std::uint64_t offset) const;
	[[noreturn]] void damaged(const std::string& what, std::uint64_t offset) const;

	std::string name_;
	Blob body_; // what follows the header, decompressed
	std::shared_ptr<const CtfContext> context_;
	const Ctf* parent_;
	bool is_child_ = false;
	bool is_dynamic_ = false; // external strings and symbols are .dynsym's
	CtfSection objects_, functions_, object_names_, function_names_, variables_, types_, strings_;

	mutable bool indexed_ = false;
	mutable bool named_ = false;
	mutable bool symbols_ = false;
	mutable std::vector<std::uint32_t> offsets_; // of each type in body_
	mutable IdsByName ordinary_, structs_, unions_, enums_;
	mutable std::unordered_map<TypeId, int> ranks_; // of the named, while indexing
	mutable IdsByName function_types_, variable_types_;
	mutable std::unordered_map<std::string_view, EnumConstant> constants_;
};

class CtfFile {
public:
	// The ELF file's .ctf section; nullptr if it has none.
	static std::unique_ptr<CtfFile> open(const std::string& path);
	// A dictionary or an archive.
	static std::unique_ptr<CtfFile> from_blob(const std::string& name, const Blob& blob,
	                                          const std::shared_ptr<const CtfContext>& context = {});

	// The shared dictionary first, then those of single compilation units.
	const std::vector<std::unique_ptr<Ctf>>& dictionaries() const { return dictionaries_; }

	// In all dictionaries, the shared one first; a complete type is preferred.
	TypeRef find(NameSpace space, std::string_view name) const;
	std::optional<EnumConstant> find_enumerator(std::string_view name) const;
	TypeRef find_function(std::string_view name) const;
	TypeRef find_variable(std::string_view name) const;

private:
	CtfFile() = default;
	void read_archive(const std::string& name, const Blob& blob,
	                  const std::shared_ptr<const CtfContext>& context);
	std::vector<std::unique_ptr<Ctf>> dictionaries_;
};

} // namespace dfr::types
