// SPDX-License-Identifier: GPL-2.0
//
// Btf: a container over one BTF blob, whole (vmlinux) or split from a base (a
// module's). Where blobs come from (raw files, ELF, vmlinuz) is blob.h's part.
//
// Opening checks the header only. The first access by id walks the type
// headers once (about two million instructions for vmlinux); the first search
// by name hashes names. A program that uses no kernel type pays for neither.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/types/blob.h"
#include "formats/types/types.h"

namespace dfr::types {

class Btf final : public Container {
public:
	// `base` is borrowed and must outlive the result; it decides where this
	// blob's type ids and string offsets start.
	Btf(std::string name, Blob blob, const Btf* base = nullptr);
	~Btf() override;
	Btf(const Btf&) = delete;
	Btf& operator=(const Btf&) = delete;

	// Raw BTF, an ELF file with a .BTF section, or a compressed vmlinuz.
	static std::unique_ptr<Btf> open(const std::string& path, std::string name,
	                                 const Btf* base = nullptr);

	// FNV-1a, 64 bits, over the whole blob taken as little-endian 64-bit
	// words (the last one zero-filled), then over its length.
	std::uint64_t digest() const override;

	// Ids below are the base's (0 is void everywhere).
	TypeId first_id() const { return first_id_; }
	TypeId end_id() const;

	// Calls see(name, function type) for every function, in id order, until it
	// returns false.
	template <typename See> void each_function(See see) const {
		for (TypeId id = first_id(); id < end_id(); id++) {
			if (is_function(id) && !see(type_name(id), function_type(id)))
				return;
		}
	}

	std::string_view name() const override { return name_; }
	TypeInfo info(TypeId id) const override;
	Member member(TypeId id, std::uint32_t index) const override;
	Parameter parameter(TypeId id, std::uint32_t index) const override;
	Enumerator enumerator(TypeId id, std::uint32_t index) const override;
	TypeRef find(NameSpace space, std::string_view name) const override;
	std::optional<EnumConstant> find_enumerator(std::string_view name) const override;
	TypeRef find_function(std::string_view name) const override;
	unsigned count_functions(std::string_view name) const override;
	TypeRef find_variable(std::string_view name) const override;

private:
	struct Record;

	bool is_function(TypeId id) const;
	std::string_view type_name(TypeId id) const;
	TypeRef function_type(TypeId id) const;

	void index_types() const;
	void index_names() const;
	template <typename Match> void each_named(std::string_view name, Match match) const;
	std::vector<TypeRef> functions_named(std::string_view name) const;
	void find_string(std::string_view name, std::vector<std::uint32_t>& offsets) const;
	Record record(TypeId id) const;
	TypeRef ref(TypeId id) const;
	std::string_view string(std::uint32_t offset) const;
	const char* raw_string(std::uint32_t offset) const;
	std::uint32_t word(std::uint64_t offset) const;
	[[noreturn]] void damaged(const std::string& what, std::uint64_t offset) const;
	TypeInfo integer_info(const Record& type) const;
	TypeInfo enum_info(const Record& type) const;
	TypeInfo function_info(const Record& type) const;

	std::string name_;
	Blob blob_;
	const Btf* base_;
	std::span<const std::uint8_t> types_;
	std::span<const std::uint8_t> strings_;
	std::uint64_t types_at_ = 0; // of types_ in the blob, for messages
	TypeId first_id_ = 1;
	std::uint32_t first_string_ = 0;

	// Built on first use; see the top comment.
	mutable bool indexed_ = false;
	mutable bool named_ = false;
	mutable std::uint32_t count_ = 0;
	mutable std::unique_ptr<std::uint32_t[]> offsets_; // of each type in types_
	mutable std::vector<std::uint32_t> enums_;         // ids - first_id_
	mutable std::vector<std::uint32_t> buckets_;       // id - first_id_ + 1, or 0
	mutable std::unique_ptr<std::uint32_t[]> chain_;   // the same, of the next in the bucket
	mutable std::unordered_map<std::string, std::optional<EnumConstant>> constants_;
};

} // namespace dfr::types
