// SPDX-License-Identifier: GPL-2.0
//
// The one model of C types that the compiler, the printers and the recorder
// use. A type lives in a Container (kernel BTF, a module's BTF split from it,
// the CTF of an ELF file, or the program's own declarations) and is named by a
// TypeRef, a cheap value that crosses containers freely: a pointer declared by
// a D program may point at a struct of vmlinux.
//
// This header is the model and its operations, not a reader: see btf.h, ctf.h,
// program_types.h (what a program declares) and kernel_types.h (all containers
// of one kernel, loaded when first needed). Read-only containers build their
// indexes on first use and are therefore meant for one thread at a time.
//
// Strings handed out are borrowed from the container and live as long as it.
// Malformed input raises dfr::Error naming the offset; "no such thing" is a
// value (an empty TypeRef or optional).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dfr::types {

class Container;
using TypeId = std::uint32_t;

struct TypeRef {
	const Container* container = nullptr;
	TypeId id = 0;

	explicit operator bool() const { return container != nullptr; }
	bool operator==(const TypeRef&) const = default;
};

// Numbered as the `ckind` byte of a DIF type (CTF's kind numbers), so a Kind
// can be stored in a DIFO as it stands. BTF's type and declaration tags are
// looked through and never appear.
enum class Kind : std::uint8_t {
	Void = 0,
	Integer = 1,
	Float = 2,
	Pointer = 3,
	Array = 4,
	Function = 5,
	Struct = 6,
	Union = 7,
	Enum = 8,
	Forward = 9,
	Typedef = 10,
	Volatile = 11,
	Const = 12,
	Restrict = 13,
};

// C's name spaces: `struct x`, `union x` and `enum x` by tag; Ordinary is a
// typedef or a basic type as the container spells it ("long unsigned int").
enum class NameSpace : std::uint8_t { Ordinary, Struct, Union, Enum };

// What a type is. Fields that a kind does not have are zero.
struct TypeInfo {
	Kind kind = Kind::Void;
	std::string_view name;     // without "struct "; empty for anonymous types
	std::uint64_t size = 0;    // bytes: Integer, Float, Struct, Union, Enum, Pointer
	std::uint32_t bits = 0;    // Integer: width of the value
	bool is_signed = false;    // Integer, Enum
	bool is_char = false;      // Integer
	bool is_bool = false;      // Integer
	bool is_varargs = false;   // Function
	Kind forward = Kind::Void; // Forward: Struct, Union or Enum
	TypeRef target;            // Pointer, Array (element), Function (result), Typedef, qualifiers
	std::uint64_t count = 0;   // elements, members, parameters (without "..."), enumerators
	std::uint64_t align = 0;   // Struct, Union: where it is known; 0: what the members' places tell
};

struct Member {
	std::string_view name; // empty: an anonymous struct or union
	TypeRef type;
	std::uint64_t bit_offset = 0; // from the start of the enclosing type
	std::uint32_t bit_width = 0;  // 0: not a bit-field
};

struct Parameter {
	std::string_view name; // may be empty
	TypeRef type;
};

struct Enumerator {
	std::string_view name;
	std::int64_t value = 0; // the bits; unsigned if the enum is not signed
};

// An enumerator found by its own name, with the enum it belongs to.
struct EnumConstant {
	std::int64_t value = 0;
	TypeRef type;
};

class Container {
public:
	virtual ~Container() = default;
	Container(const Container&) = delete;
	Container& operator=(const Container&) = delete;

	// "vmlinux", a module's name, a file's name, or "D" for the program.
	virtual std::string_view name() const = 0;

	// Identifies what was read, for "compiled against these types"; 0 where
	// there is nothing to identify. Costs a pass over the bytes.
	virtual std::uint64_t digest() const { return 0; }

	// By id. An id or index out of range raises dfr::Error.
	virtual TypeInfo info(TypeId id) const = 0;
	virtual Member member(TypeId id, std::uint32_t index) const = 0;
	virtual Parameter parameter(TypeId id, std::uint32_t index) const = 0;
	virtual Enumerator enumerator(TypeId id, std::uint32_t index) const = 0;

	// By name, in this container only (a split BTF does not search its base).
	// A complete type is preferred to a Forward of the same name.
	virtual TypeRef find(NameSpace space, std::string_view name) const = 0;
	virtual std::optional<EnumConstant> find_enumerator(std::string_view name) const = 0;
	// The type (Kind::Function, parameters named where the source names them); empty
	// if functions of that name have different ones, since a name then tells nothing.
	virtual TypeRef find_function(std::string_view name) const = 0;
	// How many different types functions of that name have.
	virtual unsigned count_functions(std::string_view name) const { return find_function(name) ? 1 : 0; }
	// The variable's type. BTF knows per-CPU variables only.
	virtual TypeRef find_variable(std::string_view name) const = 0;

protected:
	Container() = default;
};

// -- Operations. All are bounded: a chain longer than kMaxDepth (a cycle of
// typedefs in damaged input, say) raises dfr::Error.
inline constexpr unsigned kMaxDepth = 64;

inline TypeInfo info(TypeRef type) {
	return type ? type.container->info(type.id) : TypeInfo{};
}

// The type below typedefs and qualifiers.
TypeRef resolve(TypeRef type);
// The type below qualifiers only: a typedef stays.
TypeRef unqualified(TypeRef type);
inline TypeInfo resolved_info(TypeRef type) {
	return info(resolve(type));
}
inline Kind resolved_kind(TypeRef type) {
	return resolved_info(type).kind;
}

// Nothing for void, functions and incomplete types.
std::optional<std::uint64_t> size_of(TypeRef type);
std::optional<std::uint64_t> align_of(TypeRef type);

// A member by name, searching anonymous struct and union members too;
// bit_offset is counted from the start of `type`, whatever was crossed.
// Nothing if there is none or `type` is not a struct or union.
std::optional<Member> find_member(TypeRef type, std::string_view name);

// The enumerator of `type` (an enum) with this value or this name.
std::optional<Enumerator> find_enumerator(TypeRef type, std::int64_t value);
std::optional<Enumerator> find_enumerator(TypeRef type, std::string_view name);

// Same representation and meaning, across containers and through typedefs and
// qualifiers: integers by width and sign, structs, unions and enums by kind,
// tag and size (a Forward equals what it announces), pointers by what they
// point to (depth bounded), arrays by element and count, functions by result
// and parameters.
bool equivalent(TypeRef a, TypeRef b);
// The same, and structs and unions with a tag have equal members: two files of one
// kernel may each have a struct of that name.
bool same_structure(TypeRef a, TypeRef b);

// As C writes it: "struct task_struct *", "int (*)(int)", "char [16]". With a
// name: the declaration, "int (*handler)(int)".
std::string to_c(TypeRef type);
std::string declare(TypeRef type, std::string_view name);

} // namespace dfr::types

template <> struct std::hash<dfr::types::TypeRef> {
	std::size_t operator()(const dfr::types::TypeRef& type) const noexcept {
		const auto address = reinterpret_cast<std::uintptr_t>(type.container);
		return (address >> 4) * 0x9e3779b97f4a7c15ULL ^ type.id * 0xff51afd7ed558ccdULL;
	}
};
