// SPDX-License-Identifier: GPL-2.0
//
// Ctf: a container over one CTF dictionary, version 3, as gcc -gctf and the
// linker write them into an ELF file's .ctf section: alone or in an archive of
// a shared parent and children for the compilation units whose types conflict.
// CtfFile owns the dictionaries of one file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/types/blob.h"
#include "formats/types/types.h"

namespace dfr::types {

// The ELF tables that CTF refers to; all may be empty.
struct CtfContext {
	Blob strings; // the ELF string table that external names point into
	std::vector<std::string_view> objects; // data symbols in symbol-table order
	std::vector<std::string_view> functions;
};

class Ctf final : public Container {
public:
	// `parent` is borrowed; a child dictionary needs it for ids below 2^31.
	Ctf(std::string name, Blob dictionary, std::shared_ptr<const CtfContext> context,
	    const Ctf* parent = nullptr);
	~Ctf() override;

	bool is_child() const { return !parent_name_.empty(); }
	std::uint32_t type_count() const;

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
	struct Section {
		std::uint32_t begin = 0;
		std::uint32_t end = 0;
	};
	struct Header;

	void read_header(Blob dictionary);
	void index_types() const;
	void index_names() const;
	void add_names(const Record& type, TypeId id) const;
	void index_symbols() const;
	void index_symbols_of(Section types, Section index, const std::vector<std::string_view>& in_order,
	                      std::unordered_map<std::string_view, TypeId>& names) const;
	Record record(TypeId id) const;
	Record record_at(std::uint64_t offset) const;
	TypeRef ref(TypeId id) const;
	TypeRef skip_slices(TypeRef type) const;
	std::string_view string(std::uint32_t offset) const;
	std::uint32_t word(std::uint64_t offset) const;
	[[noreturn]] void damaged(const std::string& what, std::uint64_t offset) const;

	std::string name_;
	Blob body_; // what follows the header, decompressed
	std::shared_ptr<const CtfContext> context_;
	const Ctf* parent_;
	std::string parent_name_;
	std::uint8_t flags_ = 0;
	Section objects_, functions_, object_names_, function_names_, variables_, types_, strings_;

	mutable bool indexed_ = false;
	mutable bool named_ = false;
	mutable bool symbols_ = false;
	mutable std::vector<std::uint32_t> offsets_;
	mutable std::unordered_map<std::string_view, TypeId> ordinary_, structs_, unions_, enums_;
	mutable std::unordered_map<std::string_view, TypeId> function_types_, variable_types_;
	mutable std::unordered_map<std::string_view, EnumConstant> constants_;
};

class CtfFile {
public:
	// The ELF file's .ctf section. An empty result if it has none.
	static std::unique_ptr<CtfFile> open(const std::string& path);
	// A dictionary or an archive, without an ELF file around it.
	static std::unique_ptr<CtfFile> from_blob(std::string name, Blob blob,
	                                          std::shared_ptr<const CtfContext> context = {});

	// The shared dictionary first, then those of single compilation units.
	const std::vector<std::unique_ptr<Ctf>>& dictionaries() const { return dictionaries_; }

	// In all dictionaries, the shared one first.
	TypeRef find(NameSpace space, std::string_view name) const;
	std::optional<EnumConstant> find_enumerator(std::string_view name) const;
	TypeRef find_function(std::string_view name) const;
	TypeRef find_variable(std::string_view name) const;

private:
	CtfFile() = default;
	std::vector<std::unique_ptr<Ctf>> dictionaries_;
};

} // namespace dfr::types
