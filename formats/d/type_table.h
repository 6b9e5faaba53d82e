// SPDX-License-Identifier: GPL-2.0
//
// TypeTable: D's view of types: the built-in ones, those of the program, then
// those of the target's kernel, looked up when first named; and the questions
// the analysis asks about a type. `string` is a typedef of char[strsize] that
// is recognised by identity, and so are its own typedefs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "formats/d/target.h"
#include "formats/types/program_types.h"
#include "formats/types/types.h"

namespace dfr::d {

class TypeTable {
public:
	// The constants of the enum whose body is being read: the later ones may be made of the earlier ones.
	class OpenEnum {
	public:
		explicit OpenEnum(TypeTable& table) : table_(table), outer_(table.open_enum_) {
			table_.open_enum_ = &constants_;
		}
		~OpenEnum() { table_.open_enum_ = outer_; }
		OpenEnum(const OpenEnum&) = delete;
		OpenEnum& operator=(const OpenEnum&) = delete;
		void add(std::string name, int64_t value) {
			constants_.push_back({names_.emplace_back(std::move(name)), value});
		}
		const std::vector<types::Enumerator>& constants() const { return constants_; }

	private:
		TypeTable& table_;
		const std::vector<types::Enumerator>* outer_; // an enum in a constant of another
		std::deque<std::string> names_;
		std::vector<types::Enumerator> constants_;
	};
	TypeTable(Target& target, const uint64_t& strsize);

	types::ProgramTypes& program() { return program_; }

	// -- Built-in types.
	types::TypeRef void_type() { return program_.void_type(); }
	types::TypeRef basic(std::string_view name); // "int", "unsigned long", ...
	types::TypeRef int_type() { return basic("int"); }
	types::TypeRef string_type();
	// What a member or an element that is a string has: an array of as many chars as strings have now.
	types::TypeRef stored_string();
	// The alignment that a typedef's attributes ask for, whatever its type's is; 0: none.
	void set_alignment(types::TypeRef name, uint64_t bytes) { alignments_[name.id] = bytes; }
	uint64_t alignment_of(types::TypeRef type);
	types::TypeRef named(std::string_view name); // a predefined typedef: "int64_t"

	// -- Lookup. Names may be scoped: module`name. Empty: no such type.
	types::TypeRef find_typedef(std::string_view name);
	types::TypeRef find_tag(types::Kind kind, std::string_view name);
	std::optional<types::EnumConstant> find_enumerator(std::string_view name);
	// The type of a kernel function or variable.
	types::TypeRef find_kernel_symbol(std::string_view scope, std::string_view name, bool* is_function);
	// What a forward declaration announces, if anybody defines it.
	types::TypeRef complete(types::TypeRef type);
	// Who may define a name that is not known yet; true if something is new.
	void set_provider(std::function<bool(std::string_view)> provider) { provider_ = std::move(provider); }

	// -- Questions; all look through typedefs and qualifiers.
	types::TypeInfo info(types::TypeRef type);
	bool is_string(types::TypeRef type);
	bool is_stored_string(types::TypeRef type); // a char array, too
	bool is_integer(types::TypeRef type);       // enums too
	bool is_float(types::TypeRef type);
	bool is_pointer(types::TypeRef type);
	bool is_scalar(types::TypeRef type) { return is_integer(type) || is_pointer(type); }
	bool is_arithmetic(types::TypeRef type) { return is_integer(type) || is_float(type); }
	bool is_array(types::TypeRef type);  // not string
	bool is_struct(types::TypeRef type); // struct or union
	bool is_function(types::TypeRef type);
	bool is_void(types::TypeRef type);
	bool is_char_pointer(types::TypeRef type);
	bool is_char_array(types::TypeRef type);
	bool is_string_like(types::TypeRef type) {
		return is_string(type) || is_char_pointer(type) || is_char_array(type);
	}
	bool is_by_ref(types::TypeRef type) { return is_string(type) || is_array(type) || is_struct(type); }
	bool is_signed(types::TypeRef type);
	uint64_t size(types::TypeRef type); // 0: void or incomplete
	uint64_t string_size() const { return strsize_; }
	types::TypeRef target(types::TypeRef type); // of a pointer or array
	bool same(types::TypeRef a, types::TypeRef b);
	// The type of a binary arithmetic operation.
	types::TypeRef promote(types::TypeRef a, types::TypeRef b);
	std::string text(types::TypeRef type);

	types::TypeRef pointer_to(types::TypeRef type) { return program_.pointer(type); }

private:
	types::TypeRef find_kernel(types::NameSpace space, std::string_view name);
	const types::Container* module(std::string_view name);

	Target& target_;
	const uint64_t& strsize_;
	types::ProgramTypes program_;
	const std::vector<types::Enumerator>* open_enum_ = nullptr;
	types::TypeRef string_;
	std::map<uint64_t, types::TypeRef> stored_strings_; // by their size
	std::map<types::TypeId, uint64_t> alignments_;      // of the program's typedefs
	std::function<bool(std::string_view)> provider_;
};

} // namespace dfr::d
