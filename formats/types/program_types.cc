// SPDX-License-Identifier: GPL-2.0
//
// ProgramTypes: see program_types.h. Layout of structs, unions and bit-fields
// follows the System V ABI, which x86-64 and arm64 Linux share for C.
#include "formats/types/program_types.h"

#include <algorithm>
#include <bit>

#include "formats/error.h"

namespace dfr::types {

// One type. `members` and the like are empty for kinds that have none; the
// borrowed names in `info` and in the lists point into texts_.
struct ProgramTypes::Entry {
	TypeInfo info;
	std::vector<Member> members;
	std::vector<Parameter> parameters;
	std::vector<Enumerator> enumerators;
};

ProgramTypes::ProgramTypes(std::string_view name) : name_(name) {
	entries_.emplace_back(); // id 0: void
}

ProgramTypes::~ProgramTypes() = default;

std::string_view ProgramTypes::keep(std::string_view text) {
	return text.empty() ? std::string_view() : std::string_view(texts_.emplace_back(text));
}

TypeRef ProgramTypes::add(Entry entry) {
	entries_.push_back(std::move(entry));
	return {this, static_cast<TypeId>(entries_.size() - 1)};
}

const ProgramTypes::Entry& ProgramTypes::entry(TypeId id) const {
	if (id >= entries_.size())
		throw Error(name_ + ": there is no type " + std::to_string(id));
	return entries_[id];
}

TypeRef ProgramTypes::integer(std::string_view name, IntegerSpec spec) {
	const auto known = ordinary_.find(name);
	if (known != ordinary_.end() && types::info(known->second).kind == Kind::Integer)
		return known->second;
	if (spec.bits == 0 || spec.bits > 128)
		throw Error("integer " + std::string(name) + " of " + std::to_string(spec.bits) + " bits");
	Entry entry;
	entry.info.kind = Kind::Integer;
	entry.info.name = keep(name);
	entry.info.size = std::bit_ceil((spec.bits + 7) / 8);
	entry.info.bits = spec.bits;
	entry.info.is_signed = spec.is_signed;
	entry.info.is_char = spec.is_char;
	entry.info.is_bool = spec.is_bool;
	const std::string_view kept = entry.info.name;
	return ordinary_[kept] = add(std::move(entry));
}

TypeRef ProgramTypes::floating(std::string_view name, std::uint32_t bytes) {
	const auto known = ordinary_.find(name);
	if (known != ordinary_.end() && types::info(known->second).kind == Kind::Float)
		return known->second;
	Entry entry;
	entry.info.kind = Kind::Float;
	entry.info.name = keep(name);
	entry.info.size = bytes;
	const std::string_view kept = entry.info.name;
	return ordinary_[kept] = add(std::move(entry));
}

TypeRef ProgramTypes::derived(Kind kind, TypeRef target, std::uint64_t count) {
	if (!target)
		throw Error("a derived type of no type");
	const auto [known, fresh] = derived_.try_emplace({kind, target.container, target.id, count}, 0);
	if (fresh) {
		Entry entry;
		entry.info.kind = kind;
		entry.info.target = target;
		entry.info.count = count;
		entry.info.size = kind == Kind::Pointer ? 8 : 0;
		known->second = add(std::move(entry)).id;
	}
	return {this, known->second};
}

TypeRef ProgramTypes::pointer(TypeRef target) {
	return derived(Kind::Pointer, target, 0);
}

TypeRef ProgramTypes::array(TypeRef element, std::uint64_t count) {
	return derived(Kind::Array, element, count);
}

TypeRef ProgramTypes::qualified(Kind qualifier, TypeRef target) {
	if (qualifier != Kind::Const && qualifier != Kind::Volatile && qualifier != Kind::Restrict)
		throw Error("not a qualifier");
	return derived(qualifier, target, 0);
}

TypeRef ProgramTypes::function(TypeRef result, std::span<const Parameter> parameters, bool varargs) {
	Entry entry;
	entry.info.kind = Kind::Function;
	entry.info.target = result;
	entry.info.count = parameters.size();
	entry.info.is_varargs = varargs;
	for (const Parameter& one : parameters)
		entry.parameters.push_back({keep(one.name), one.type});
	return add(std::move(entry));
}

TypeRef ProgramTypes::typedef_name(std::string_view name, TypeRef target) {
	Entry entry;
	entry.info.kind = Kind::Typedef;
	entry.info.name = keep(name);
	entry.info.target = target;
	const std::string_view kept = entry.info.name;
	return ordinary_[kept] = add(std::move(entry));
}

TypeRef ProgramTypes::forward(Kind kind, std::string_view tag) {
	if (kind != Kind::Struct && kind != Kind::Union && kind != Kind::Enum)
		throw Error("only a struct, union or enum can be declared forward");
	TypesByName& names = kind == Kind::Struct ? structs_ : kind == Kind::Union ? unions_ : enums_;
	if (!tag.empty()) {
		const auto known = names.find(tag);
		if (known != names.end())
			return known->second;
	}
	Entry entry;
	entry.info.kind = Kind::Forward;
	entry.info.forward = kind;
	entry.info.name = keep(tag);
	const std::string_view kept = entry.info.name;
	const TypeRef made = add(std::move(entry));
	if (!kept.empty())
		names[kept] = made;
	return made;
}

ProgramTypes::Entry& ProgramTypes::own_forward(TypeRef type) {
	if (type.container != this || type.id >= entries_.size() ||
	    entries_[type.id].info.kind != Kind::Forward)
		throw Error("only a type declared forward, and only once, can be defined");
	return entries_[type.id];
}

namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
	return (value + multiple - 1) / multiple * multiple;
}

// C's layout of one struct or union, in bits.
class StructLayout {
public:
	StructLayout(bool is_union, Packing packing)
	    : is_union_(is_union), most_(packing.most), align_(packing.least) {}

	// The bit offset of the next member, or nothing for ": 0".
	std::optional<std::uint64_t> place(const MemberSpec& member) {
		const auto natural = align_of(member.type);
		const auto size = size_of(member.type);
		if (!natural || !size)
			throw Error("member " + std::string(member.name) + " has the incomplete type " +
			            to_c(member.type));
		if (*size > kMostBits / 8)
			throw Error(kTooLarge);
		const std::uint64_t most = member.packed ? 1 : most_;
		const std::uint64_t align = std::max(most && *natural > most ? most : *natural, member.align);
		if (member.bit_width < 0)
			return advance(round_up(start(), align * 8), *size * 8, align);
		const auto width = static_cast<std::uint64_t>(member.bit_width);
		const TypeInfo base = resolved_info(member.type);
		if ((base.kind != Kind::Integer && base.kind != Kind::Enum) || width > *size * 8)
			throw Error("bit-field " + std::string(member.name) + " of " + std::to_string(width) +
			            " bits does not fit " + to_c(member.type));
		if (width == 0) {
			used_ = is_union_ ? used_ : round_up(used_, *size * 8);
			return std::nullopt;
		}
		// A bit-field may not cross a boundary of its declared type, unless it is packed.
		std::uint64_t at = start();
		if (member.align)
			at = round_up(at, member.align * 8);
		if (!most && at / (*size * 8) != (at + width - 1) / (*size * 8))
			at = round_up(at, *size * 8);
		return advance(at, width, member.name.empty() ? 1 : align);
	}

	std::uint64_t size() const { return round_up(round_up(used_, 8) / 8, align_); }
	std::uint64_t align() const { return align_; }

private:
	std::uint64_t start() const { return is_union_ ? 0 : used_; }

	std::uint64_t advance(std::uint64_t at, std::uint64_t bits, std::uint64_t align) {
		if (at > kMostBits)
			throw Error(kTooLarge);
		used_ = std::max(used_, at + bits);
		align_ = std::max(align_, align);
		return at;
	}

	static constexpr std::uint64_t kMostBits = std::uint64_t(1) << 40;
	static constexpr const char* kTooLarge = "the struct or union is too large";
	bool is_union_;
	std::uint64_t most_;
	std::uint64_t used_ = 0;
	std::uint64_t align_;
};

} // namespace

void ProgramTypes::define(TypeRef forward, std::span<const MemberSpec> members, Packing packing) {
	const Kind kind = own_forward(forward).info.forward;
	if (kind == Kind::Enum)
		throw Error("an enum has no members");
	StructLayout layout(kind == Kind::Union, packing);
	std::vector<Member> placed;
	for (const MemberSpec& one : members) {
		const auto at = layout.place(one);
		// Unnamed bit-fields only leave room.
		if (!at || (one.bit_width > 0 && one.name.empty()))
			continue;
		const auto width = static_cast<std::uint32_t>(std::max(one.bit_width, 0));
		placed.push_back({one.name, one.type, *at, width});
	}
	define_at(forward, placed, layout.size(), layout.align());
}

void ProgramTypes::define_at(TypeRef forward, std::span<const Member> members, std::uint64_t size,
                             std::uint64_t align) {
	Entry& entry = own_forward(forward);
	if (entry.info.forward == Kind::Enum)
		throw Error("an enum has no members");
	for (const Member& one : members)
		entry.members.push_back({keep(one.name), one.type, one.bit_offset, one.bit_width});
	entry.info.kind = entry.info.forward;
	entry.info.forward = Kind::Void;
	entry.info.size = size;
	entry.info.align = align;
	entry.info.count = members.size();
}

void ProgramTypes::define_enum(TypeRef forward, std::span<const Enumerator> enumerators, std::uint32_t bytes,
                               bool is_signed) {
	Entry& entry = own_forward(forward);
	if (entry.info.forward != Kind::Enum)
		throw Error("a struct or union has no enumerators");
	for (const Enumerator& one : enumerators) {
		entry.enumerators.push_back({keep(one.name), one.value});
		constants_[entry.enumerators.back().name] = {one.value, forward};
	}
	entry.info.kind = Kind::Enum;
	entry.info.forward = Kind::Void;
	entry.info.size = bytes;
	entry.info.is_signed = is_signed;
	entry.info.count = enumerators.size();
}

void ProgramTypes::name_function(std::string_view name, TypeRef type) {
	functions_[keep(name)] = type;
}

void ProgramTypes::name_variable(std::string_view name, TypeRef type) {
	variables_[keep(name)] = type;
}

TypeInfo ProgramTypes::info(TypeId id) const {
	return entry(id).info;
}

namespace {

template <typename List>
const auto& element(const List& list, std::uint32_t index, TypeId id, const char* what) {
	if (index >= list.size())
		throw Error("type " + std::to_string(id) + " has no " + what + " " + std::to_string(index));
	return list[index];
}

template <typename Table>
auto lookup(const Table& names, std::string_view name) -> typename Table::mapped_type {
	const auto known = names.find(name);
	return known == names.end() ? typename Table::mapped_type{} : known->second;
}

} // namespace

Member ProgramTypes::member(TypeId id, std::uint32_t index) const {
	return element(entry(id).members, index, id, "member");
}

Parameter ProgramTypes::parameter(TypeId id, std::uint32_t index) const {
	return element(entry(id).parameters, index, id, "parameter");
}

Enumerator ProgramTypes::enumerator(TypeId id, std::uint32_t index) const {
	return element(entry(id).enumerators, index, id, "enumerator");
}

TypeRef ProgramTypes::find(NameSpace space, std::string_view name) const {
	switch (space) {
	case NameSpace::Struct: return lookup(structs_, name);
	case NameSpace::Union: return lookup(unions_, name);
	case NameSpace::Enum: return lookup(enums_, name);
	default: return lookup(ordinary_, name);
	}
}

std::optional<EnumConstant> ProgramTypes::find_enumerator(std::string_view name) const {
	const auto known = constants_.find(name);
	return known == constants_.end() ? std::nullopt : std::optional(known->second);
}

TypeRef ProgramTypes::find_function(std::string_view name) const {
	return lookup(functions_, name);
}

TypeRef ProgramTypes::find_variable(std::string_view name) const {
	return lookup(variables_, name);
}

} // namespace dfr::types
