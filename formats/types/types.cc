// SPDX-License-Identifier: GPL-2.0
//
// The operations on types that need no knowledge of the container: resolving,
// sizes, member search and equivalence. Names and declarations are in
// declare.cc.
//
// Work is bounded everywhere: the containers check that ids and lengths are
// inside, but not that the graph of types makes sense. A walk down members is
// bounded in depth and in steps, since forty structs that hold each other twice
// are a short file and an endless walk.
#include "formats/types/types.h"

#include <set>
#include <tuple>

#include "formats/error.h"

namespace dfr::types {
namespace {

bool is_qualifier(Kind kind) {
	return kind == Kind::Const || kind == Kind::Volatile || kind == Kind::Restrict;
}

bool is_tagged(Kind kind) {
	return kind == Kind::Struct || kind == Kind::Union || kind == Kind::Enum;
}

[[noreturn]] void too_deep(TypeRef type) {
	throw Error("type " + std::to_string(type.id) + " of " + std::string(type.container->name()) +
	                " refers to itself, or is nested too deeply",
	            "the type information is damaged; check the file it comes from");
}

// Steps of one walk; the largest struct of Debian's kernels takes 3,000.
class TypeWalk {
public:
	explicit TypeWalk(TypeRef start) : start_(start) {}

	void step(unsigned depth) {
		if (depth >= kMaxDepth || steps_++ >= kMostSteps)
			too_deep(start_);
	}

private:
	static constexpr std::uint32_t kMostSteps = 1 << 16;
	TypeRef start_;
	std::uint32_t steps_ = 0;
};

template <typename Skip> TypeRef strip(TypeRef type, Skip skip) {
	const TypeRef start = type;
	for (unsigned depth = 0; depth < kMaxDepth; depth++) {
		const TypeInfo here = info(type);
		if (!skip(here.kind))
			return type;
		type = here.target;
	}
	too_deep(start);
}

} // namespace

TypeRef resolve(TypeRef type) {
	return strip(type, [](Kind kind) { return kind == Kind::Typedef || is_qualifier(kind); });
}

TypeRef unqualified(TypeRef type) {
	return strip(type, is_qualifier);
}

std::optional<std::uint64_t> size_of(TypeRef type) {
	const TypeRef start = type;
	std::uint64_t factor = 1;
	for (unsigned depth = 0; depth < kMaxDepth; depth++) {
		const TypeInfo here = resolved_info(type);
		std::uint64_t size = here.size;
		switch (here.kind) {
		case Kind::Integer:
		case Kind::Float:
		case Kind::Pointer:
		case Kind::Struct:
		case Kind::Union:
		case Kind::Enum:
			if (__builtin_mul_overflow(size, factor, &size))
				throw Error("type " + to_c(start) + " is larger than 64 bits can count");
			return size;
		case Kind::Array:
			if (__builtin_mul_overflow(factor, here.count, &factor))
				throw Error("type " + to_c(start) + " is larger than 64 bits can count");
			type = here.target;
			break;
		default: return std::nullopt;
		}
	}
	too_deep(start);
}

namespace {

std::optional<std::uint64_t> align_at(TypeRef type, TypeWalk& walk, unsigned depth) {
	walk.step(depth);
	const TypeRef below = resolve(type);
	const TypeInfo here = info(below);
	switch (here.kind) {
	case Kind::Integer:
	case Kind::Float:
	case Kind::Pointer:
	case Kind::Enum:
		// x86-64 and arm64 align scalars to their size, long double to 16.
		return here.size > 16 || here.size == 0 ? 1 : here.size;
	case Kind::Array: return align_at(here.target, walk, depth + 1);
	case Kind::Struct:
	case Kind::Union: break;
	default: return std::nullopt;
	}
	if (here.align)
		return here.align;
	std::uint64_t most = 1;
	for (std::uint32_t i = 0; i < here.count; i++) {
		const Member member = below.container->member(below.id, i);
		// A member that lies off its natural boundary is packed.
		const auto align = align_at(member.type, walk, depth + 1);
		const bool packed = align && !member.bit_width && member.bit_offset % (*align * 8) != 0;
		if (align && *align > most && !packed)
			most = *align;
	}
	// Nor can a packed struct's size tell otherwise.
	while (most > 1 && here.size % most != 0)
		most /= 2;
	return most;
}

std::optional<Member> find_member_at(TypeRef type, std::string_view name, TypeWalk& walk, unsigned depth) {
	walk.step(depth);
	const TypeRef below = resolve(type);
	const TypeInfo here = info(below);
	if (here.kind != Kind::Struct && here.kind != Kind::Union)
		return std::nullopt;
	for (std::uint32_t i = 0; i < here.count; i++) {
		Member member = below.container->member(below.id, i);
		if (!member.name.empty()) {
			if (member.name == name)
				return member;
			continue;
		}
		if (member.bit_width)
			continue; // padding
		if (auto inner = find_member_at(member.type, name, walk, depth + 1)) {
			inner->bit_offset += member.bit_offset;
			return inner;
		}
	}
	return std::nullopt;
}

template <typename Match> std::optional<Enumerator> first_enumerator(TypeRef type, Match match) {
	const TypeRef below = resolve(type);
	const TypeInfo here = info(below);
	if (here.kind != Kind::Enum)
		return std::nullopt;
	for (std::uint32_t i = 0; i < here.count; i++) {
		const Enumerator one = below.container->enumerator(below.id, i);
		if (match(one))
			return one;
	}
	return std::nullopt;
}

} // namespace

std::optional<std::uint64_t> align_of(TypeRef type) {
	TypeWalk walk(type);
	return align_at(type, walk, 0);
}

std::optional<Member> find_member(TypeRef type, std::string_view name) {
	// The empty name is that of anonymous members, which C cannot name.
	if (name.empty())
		return std::nullopt;
	TypeWalk walk(type);
	return find_member_at(type, name, walk, 0);
}

std::optional<Enumerator> find_enumerator(TypeRef type, std::int64_t value) {
	return first_enumerator(type, [&](const Enumerator& one) { return one.value == value; });
}

std::optional<Enumerator> find_enumerator(TypeRef type, std::string_view name) {
	return first_enumerator(type, [&](const Enumerator& one) { return one.name == name; });
}

namespace {

// Pointers to pointers to ... are compared this deep, then taken as equal: a
// difference below is no reason to refuse an assignment.
constexpr unsigned kCompareDepth = 8;

// One comparison. What holds several types is compared once with each other: the
// first difference anywhere ends it all, and functions that take functions that
// take functions are a short file and an endless comparison.
struct Comparison {
	TypeWalk walk;
	bool members; // of what has a tag, too
	std::set<std::tuple<const Container*, TypeId, const Container*, TypeId>> begun;

	bool begin(TypeRef a, TypeRef b) {
		return begun.emplace(a.container, a.id, b.container, b.id).second;
	}
};

bool equivalent_at(TypeRef a, TypeRef b, Comparison& all, unsigned depth);

bool same_members(TypeRef a, TypeRef b, std::uint64_t count, Comparison& all, unsigned depth) {
	if (!all.begin(a, b))
		return true;
	for (std::uint32_t i = 0; i < count; i++) {
		const Member one = a.container->member(a.id, i);
		const Member two = b.container->member(b.id, i);
		if (one.name != two.name || one.bit_offset != two.bit_offset ||
		    one.bit_width != two.bit_width || !equivalent_at(one.type, two.type, all, depth + 1))
			return false;
	}
	return true;
}

bool same_functions(TypeRef a, TypeRef b, const TypeInfo& one, const TypeInfo& two, Comparison& all,
                    unsigned depth) {
	if (!all.begin(a, b))
		return true;
	if (one.count != two.count || one.is_varargs != two.is_varargs ||
	    !equivalent_at(one.target, two.target, all, depth + 1))
		return false;
	for (std::uint32_t i = 0; i < one.count; i++) {
		if (!equivalent_at(a.container->parameter(a.id, i).type, b.container->parameter(b.id, i).type,
		                   all, depth + 1))
			return false;
	}
	return true;
}

bool same_tagged(TypeRef a, TypeRef b, const TypeInfo& one, const TypeInfo& two, Comparison& all,
                 unsigned depth) {
	const Kind kind_a = one.kind == Kind::Forward ? one.forward : one.kind;
	const Kind kind_b = two.kind == Kind::Forward ? two.forward : two.kind;
	if (kind_a != kind_b || one.name != two.name)
		return false;
	if (one.kind == Kind::Forward || two.kind == Kind::Forward)
		return !one.name.empty();
	if (one.size != two.size || one.count != two.count)
		return false;
	if (one.kind == Kind::Enum || (!one.name.empty() && !all.members))
		return true;
	return same_members(a, b, one.count, all, depth);
}

bool equivalent_at(TypeRef a, TypeRef b, Comparison& all, unsigned depth) {
	a = resolve(a);
	b = resolve(b);
	if (a == b || depth >= kCompareDepth)
		return true;
	all.walk.step(depth);
	const TypeInfo one = info(a);
	const TypeInfo two = info(b);
	const bool tagged_a = is_tagged(one.kind) || one.kind == Kind::Forward;
	const bool tagged_b = is_tagged(two.kind) || two.kind == Kind::Forward;
	if (tagged_a && tagged_b)
		return same_tagged(a, b, one, two, all, depth);
	if (one.kind != two.kind)
		return false;
	switch (one.kind) {
	case Kind::Integer:
		return one.bits == two.bits && one.size == two.size && one.is_signed == two.is_signed &&
		       one.is_bool == two.is_bool;
	case Kind::Float: return one.size == two.size;
	case Kind::Pointer: return equivalent_at(one.target, two.target, all, depth + 1);
	case Kind::Array:
		return one.count == two.count && equivalent_at(one.target, two.target, all, depth + 1);
	case Kind::Function: return same_functions(a, b, one, two, all, depth);
	default: return true; // void
	}
}

} // namespace

bool equivalent(TypeRef a, TypeRef b) {
	Comparison all{TypeWalk(a), false, {}};
	return equivalent_at(a, b, all, 0);
}

bool same_structure(TypeRef a, TypeRef b) {
	Comparison all{TypeWalk(a), true, {}};
	return equivalent_at(a, b, all, 0);
}

} // namespace dfr::types
