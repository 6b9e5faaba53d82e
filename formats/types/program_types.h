// SPDX-License-Identifier: GPL-2.0
//
// ProgramTypes: the container of the types that a program declares or that the
// compiler makes on its way (a pointer to a kernel struct, an array of it).
// Not a parser: the D compiler parses declarations and builds here.
//
// Derived types are interned: pointer(t) twice is the same TypeRef. Names are
// copied. Ids are stable; a struct that was declared forward keeps its id when
// it is defined, so pointers made before see it complete.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/types/types.h"

namespace dfr::types {

struct IntegerSpec {
	std::uint32_t bits = 32;
	bool is_signed = true;
	bool is_char = false;
	bool is_bool = false;
};

// A member before layout. bit_width -1: not a bit-field (0 is C's ": 0").
struct MemberSpec {
	std::string_view name;
	TypeRef type;
	std::int32_t bit_width = -1;
	bool packed = false;     // __attribute__((packed))
	std::uint64_t align = 0; // __attribute__((aligned(N))): at least
};

// What a struct's attributes and #pragma pack change of C's layout.
struct Packing {
	std::uint64_t most = 0;  // a member's alignment is no greater; 0: as its type has it
	std::uint64_t least = 1; // of the whole
};

class ProgramTypes final : public Container {
public:
	explicit ProgramTypes(std::string_view name = "D");
	~ProgramTypes() override;
	ProgramTypes(const ProgramTypes&) = delete;
	ProgramTypes& operator=(const ProgramTypes&) = delete;

	// -- Making types. Violations of C's rules that the compiler reports
	// itself (a member of incomplete type, a bit-field too wide) raise
	// dfr::Error here.
	TypeRef void_type() const { return {this, 0}; }
	TypeRef integer(std::string_view name, IntegerSpec spec);     // interned by name
	TypeRef floating(std::string_view name, std::uint32_t bytes); // interned by name
	TypeRef pointer(TypeRef target);
	TypeRef array(TypeRef element, std::uint64_t count);
	TypeRef qualified(Kind qualifier, TypeRef target); // Const, Volatile, Restrict
	TypeRef function(TypeRef result, std::span<const Parameter> parameters, bool varargs);
	// Makes or replaces the name; the compiler decides whether that is legal.
	TypeRef typedef_name(std::string_view name, TypeRef target);

	// `struct tag;`: the type of that tag if there is one, else a Forward.
	// An empty tag makes a new anonymous Forward to be defined at once.
	TypeRef forward(Kind kind, std::string_view tag);
	// Defines what forward() made, laying the members out as C does on LP64.
	void define(TypeRef forward, std::span<const MemberSpec> members, Packing packing = {});
	// Defines at given offsets, for types that come from a file.
	void define_at(TypeRef forward, std::span<const Member> members, std::uint64_t size,
	               std::uint64_t align = 0);
	void define_enum(TypeRef forward, std::span<const Enumerator> enumerators, std::uint32_t bytes = 4,
	                 bool is_signed = true);

	// Names of functions and variables, for find_function and find_variable.
	void name_function(std::string_view name, TypeRef type);
	void name_variable(std::string_view name, TypeRef type);

	// -- Container.
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
	struct Entry;
	using TypesByName = std::unordered_map<std::string_view, TypeRef>;

	std::string_view keep(std::string_view text);
	TypeRef add(Entry entry);
	const Entry& entry(TypeId id) const;
	TypeRef derived(Kind kind, TypeRef target, std::uint64_t count);
	Entry& own_forward(TypeRef type);

	std::string name_;
	std::deque<std::string> texts_;
	std::deque<Entry> entries_;
	std::map<std::tuple<Kind, const Container*, TypeId, std::uint64_t>, TypeId> derived_;
	TypesByName ordinary_, structs_, unions_, enums_, functions_, variables_;
	std::unordered_map<std::string_view, EnumConstant> constants_;
};

} // namespace dfr::types
