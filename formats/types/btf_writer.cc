// SPDX-License-Identifier: GPL-2.0
//
// Writing BTF: first which structs and unions are whole, then each type once. A
// type has its number from when it is first named, and its record comes when those
// before it have theirs, so nothing here calls itself and cycles of pointers end.
#include "formats/types/btf_writer.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "formats/error.h"
#include "formats/types/btf_format.h"

namespace dfr::types {
namespace {

constexpr std::uint64_t kOffsetBits = 24; // of a member, where there are bit-fields
constexpr std::uint32_t kMostParts = 0xffff;

void put32(std::vector<std::uint8_t>& out, std::uint64_t value) {
	for (unsigned i = 0; i < 4; i++)
		out.push_back(static_cast<std::uint8_t>(value >> i * 8));
}

bool has_members(Kind kind) {
	return kind == Kind::Struct || kind == Kind::Union;
}

// Which structs and unions are whole.
class Choice {
public:
	explicit Choice(std::size_t most) : most_(most) {}

	// False: there is no room for it; nothing of it was added.
	bool add_root(TypeRef root) {
		const TypeRef below = resolve(root);
		const TypeInfo info = types::info(below);
		return add(info.kind == Kind::Pointer ? info.target : below);
	}
	// What the pointers in all that is whole so far point to, as far as there is room.
	void follow_pointers() {
		for (const TypeRef target : std::exchange(targets_, {}))
			add(target);
	}
	bool has(TypeRef type) const { return chosen_.contains(type); }
	std::uint32_t structs() const {
		return static_cast<std::uint32_t>(std::ranges::count_if(
		    chosen_, [](TypeRef type) { return has_members(types::info(type).kind); }));
	}

private:
	static constexpr std::size_t kMemberBytes = 12;

	bool add(TypeRef start) {
		std::vector<TypeRef> pending{start}, added, targets;
		std::size_t bytes = 0;
		while (!pending.empty() && bytes <= most_) {
			const TypeRef type = resolve(pending.back());
			pending.pop_back();
			const TypeInfo info = types::info(type);
			const bool leads_on =
			    has_members(info.kind) || info.kind == Kind::Array || info.kind == Kind::Pointer;
			if (!leads_on || !chosen_.insert(type).second)
				continue;
			added.push_back(type);
			bytes += btf::kTypeSize + info.name.size() + 1;
			if (info.kind == Kind::Array)
				pending.push_back(info.target);
			// What has no name cannot be announced.
			if (info.kind == Kind::Pointer) {
				const TypeRef target = resolve(info.target);
				const TypeInfo to = types::info(target);
				(has_members(to.kind) && !to.name.empty() ? targets : pending)
				    .push_back(target);
			}
			for (std::uint32_t i = 0; has_members(info.kind) && i < info.count; i++) {
				const Member member = type.container->member(type.id, i);
				bytes += kMemberBytes + member.name.size() + 1;
				pending.push_back(member.type);
			}
		}
		if (bytes > most_) {
			for (const TypeRef type : added)
				chosen_.erase(type);
			return false;
		}
		most_ -= bytes;
		targets_.insert(targets_.end(), targets.begin(), targets.end());
		return true;
	}

	std::size_t most_;
	std::unordered_set<TypeRef>
	    chosen_;                   // structs and unions, and the arrays and pointers that lead to them
	std::vector<TypeRef> targets_; // of these pointers
};

class Writer {
public:
	explicit Writer(const Choice& choice) : choice_(choice) {}

	std::uint32_t id(TypeRef type) {
		if (!type || info(type).kind == Kind::Void)
			return 0;
		const auto [at, fresh] =
		    ids_.try_emplace(type, static_cast<std::uint32_t>(pending_.size() + 1));
		if (fresh)
			pending_.push_back(type);
		return at->second;
	}

	std::vector<std::uint8_t> write() {
		for (; written_ < pending_.size(); written_++)
			record(pending_[written_]);
		std::vector<std::uint8_t> out;
		put32(out, btf::kMagic | btf::kVersion << 16);
		put32(out, btf::kHeaderSize);
		put32(out, 0);
		put32(out, types_.size());
		put32(out, types_.size());
		put32(out, strings_.size());
		out.insert(out.end(), types_.begin(), types_.end());
		out.insert(out.end(), strings_.begin(), strings_.end());
		return out;
	}

private:
	std::uint32_t text(std::string_view name) {
		if (name.empty())
			return 0;
		const auto [at, fresh] =
		    texts_.try_emplace(std::string(name), static_cast<std::uint32_t>(strings_.size()));
		if (fresh) {
			strings_.insert(strings_.end(), name.begin(), name.end());
			strings_.push_back(0);
		}
		return at->second;
	}

	void head(std::string_view name, std::uint32_t kind, std::uint64_t parts, std::uint64_t value,
	          bool flag = false) {
		if (parts > kMostParts)
			throw Error("type " + std::string(name) + " has more parts than BTF can count");
		put32(types_, text(name));
		put32(types_, (flag ? 1U << 31 : 0) | kind << 24 | static_cast<std::uint32_t>(parts));
		put32(types_, value);
	}

	void record(TypeRef type) {
		const TypeInfo info = types::info(type);
		switch (info.kind) {
		case Kind::Integer:
			head(info.name, btf::kInt, 0, info.size);
			return put32(types_,
			             ((info.is_signed ? btf::kIntSigned : 0) |
			              (info.is_char ? btf::kIntChar : 0) | (info.is_bool ? btf::kIntBool : 0))
			                     << 24 |
			                 info.bits);
		case Kind::Float: return head(info.name, btf::kFloat, 0, info.size);
		case Kind::Pointer: return head({}, btf::kPtr, 0, id(info.target));
		case Kind::Array: return array(info);
		case Kind::Function: return function(type, info);
		case Kind::Struct:
		case Kind::Union: return members(type, info);
		case Kind::Enum: return enumerators(type, info);
		case Kind::Forward: return announce(info.name, info.forward);
		case Kind::Typedef: return head(info.name, btf::kTypedef, 0, id(info.target));
		case Kind::Volatile: return head({}, btf::kVolatile, 0, id(info.target));
		case Kind::Const: return head({}, btf::kConst, 0, id(info.target));
		case Kind::Restrict: return head({}, btf::kRestrict, 0, id(info.target));
		case Kind::Void: return; // has no record: id()
		}
	}

	// An enum that is announced is one without enumerators.
	void announce(std::string_view name, Kind kind) {
		if (kind == Kind::Enum)
			return head(name, btf::kEnum, 0, 4);
		head(name, btf::kFwd, 0, 0, kind == Kind::Union);
	}

	// BTF names the type of an array's index; readers need none.
	void array(const TypeInfo& info) {
		head({}, btf::kArray, 0, 0);
		put32(types_, id(info.target));
		put32(types_, id(info.target));
		put32(types_, info.count);
	}

	void function(TypeRef type, const TypeInfo& info) {
		head({}, btf::kFuncProto, info.count + info.is_varargs, id(info.target));
		for (std::uint32_t i = 0; i < info.count; i++) {
			const Parameter parameter = type.container->parameter(type.id, i);
			put32(types_, text(parameter.name));
			put32(types_, id(parameter.type));
		}
		if (info.is_varargs) {
			put32(types_, 0);
			put32(types_, 0);
		}
	}

	void members(TypeRef type, const TypeInfo& info) {
		if (!choice_.has(type) && !info.name.empty())
			return announce(info.name, info.kind);
		// One without a name that is not whole (of a function's parameter, say) keeps its size.
		const std::uint64_t count = choice_.has(type) ? info.count : 0;
		bool bits = false;
		for (std::uint32_t i = 0; i < count; i++)
			bits |= type.container->member(type.id, i).bit_width != 0;
		head(info.name, info.kind == Kind::Struct ? btf::kStruct : btf::kUnion, count, info.size,
		     bits);
		for (std::uint32_t i = 0; i < count; i++) {
			const Member member = type.container->member(type.id, i);
			if (member.bit_offset >> (bits ? kOffsetBits : 32))
				throw Error("type " + std::string(info.name) + " is larger than BTF can say");
			put32(types_, text(member.name));
			put32(types_, id(member.type));
			put32(types_, std::uint64_t{member.bit_width} << kOffsetBits | member.bit_offset);
		}
	}

	void enumerators(TypeRef type, const TypeInfo& info) {
		const bool wide = info.size == 8;
		head(info.name, wide ? btf::kEnum64 : btf::kEnum, info.count, info.size, info.is_signed);
		for (std::uint32_t i = 0; i < info.count; i++) {
			const Enumerator one = type.container->enumerator(type.id, i);
			put32(types_, text(one.name));
			put32(types_, static_cast<std::uint32_t>(one.value));
			if (wide)
				put32(types_, static_cast<std::uint64_t>(one.value) >> 32);
		}
	}

	const Choice& choice_;
	std::unordered_map<TypeRef, std::uint32_t> ids_;
	std::vector<TypeRef> pending_; // by number - 1
	std::size_t written_ = 0;
	std::vector<std::uint8_t> types_, strings_{0};
	std::unordered_map<std::string, std::uint32_t> texts_;
};

} // namespace

WrittenBtf write_btf(std::span<const TypeRef> roots, unsigned pointers, std::size_t most) {
	WrittenBtf result;
	Choice choice(most);
	for (const TypeRef root : roots)
		result.left_out += !choice.add_root(root);
	for (unsigned followed = 0; followed < pointers; followed++)
		choice.follow_pointers();
	Writer writer(choice);
	for (const TypeRef root : roots)
		writer.id(root);
	result.bytes = writer.write();
	result.structs = choice.structs();
	return result;
}

} // namespace dfr::types
