// SPDX-License-Identifier: GPL-2.0
//
// Searching BTF by name. Types, functions and variables share one hash table
// of chains, built at the first search; it is told apart by kind while a chain
// is walked. Enumerators are many and searched for seldom: their name is looked
// for in the string section, then its offset in the enums.
//
// The table costs about 35 instructions a type, so the hash takes eight bytes
// at a time and finds the end of the string as it goes.
#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/types/btf_format.h"

namespace dfr::types {
namespace {

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

std::uint64_t mix(std::uint64_t hash, std::uint64_t part) {
	hash = (hash ^ part) * kMix;
	return hash ^ hash >> 29;
}

// The last word may be empty: a string of eight bytes has two words.
std::uint64_t hash_name(std::string_view name) {
	std::uint64_t hash = 0;
	while (name.size() >= 8) {
		std::uint64_t part;
		std::memcpy(&part, name.data(), 8);
		hash = mix(hash, part);
		name.remove_prefix(8);
	}
	std::uint64_t part = 0;
	std::memcpy(&part, name.data(), name.size());
	return mix(hash, part);
}

// The same for a NUL-terminated string of which `end` is the end of the
// section; the word loop stays eight bytes away from it.
std::uint64_t hash_string(const char* text, const char* end) {
	std::uint64_t hash = 0;
	while (end - text >= 8) {
		std::uint64_t part;
		std::memcpy(&part, text, 8);
		const std::uint64_t zeros = (part - kOnes) & ~part & kHighs;
		if (zeros) {
			const unsigned bits = static_cast<unsigned>(__builtin_ctzll(zeros)) & ~7U;
			return mix(hash, part & ((std::uint64_t(1) << bits) - 1));
		}
		hash = mix(hash, part);
		text += 8;
	}
	std::uint64_t part = 0;
	for (unsigned i = 0; text + i < end && text[i]; i++)
		part |= std::uint64_t(static_cast<std::uint8_t>(text[i])) << i * 8;
	return mix(hash, part);
}

bool is_named(std::uint32_t kind) {
	switch (kind) {
	case btf::kInt:
	case btf::kStruct:
	case btf::kUnion:
	case btf::kEnum:
	case btf::kFwd:
	case btf::kTypedef:
	case btf::kFunc:
	case btf::kVar:
	case btf::kFloat:
	case btf::kEnum64:
		return true;
	default:
		return false;
	}
}

// How well a type answers a search: 2 complete, 1 announced only, 0 not at all.
int rank(const TypeInfo& type, NameSpace space) {
	const Kind wanted = space == NameSpace::Struct  ? Kind::Struct
	                    : space == NameSpace::Union ? Kind::Union
	                                                : Kind::Enum;
	if (space == NameSpace::Ordinary)
		return type.kind == Kind::Typedef || type.kind == Kind::Integer || type.kind == Kind::Float ? 2 : 0;
	if (type.kind == Kind::Forward)
		return type.forward == wanted ? 1 : 0;
	return type.kind == wanted ? 2 : 0;
}

} // namespace

void Btf::index_names() const {
	if (named_)
		return;
	index_types();
	std::size_t buckets = 16;
	while (buckets < offsets_.size())
		buckets *= 2;
	buckets_.assign(buckets, 0);
	chain_.assign(offsets_.size(), 0);
	// From the end, so that a chain starts with the lowest id.
	for (std::size_t i = offsets_.size(); i-- > 0;) {
		std::uint32_t header[2];
		std::memcpy(header, types_.data() + offsets_[i], sizeof header);
		if (header[0] == 0 || !is_named(btf::kind_of(header[1])))
			continue;
		const char* text = raw_string(header[0]);
		const Btf* owner = this;
		while (header[0] < owner->first_string_)
			owner = owner->base_;
		const auto* end = reinterpret_cast<const char*>(owner->strings_.data() + owner->strings_.size());
		std::uint32_t& bucket = buckets_[hash_string(text, end) & (buckets - 1)];
		chain_[i] = bucket;
		bucket = static_cast<std::uint32_t>(i) + 1;
	}
	named_ = true;
}

// Calls match(id) for every type of that name until it returns true.
template <typename Match> void Btf::each_named(std::string_view name, Match match) const {
	if (name.empty())
		return;
	index_names();
	std::uint32_t next = buckets_[hash_name(name) & (buckets_.size() - 1)];
	for (; next != 0; next = chain_[next - 1]) {
		const TypeId id = first_id_ + next - 1;
		if (type_name(id) == name && match(id))
			return;
	}
}

TypeRef Btf::find(NameSpace space, std::string_view name) const {
	TypeRef best;
	int best_rank = 0;
	each_named(name, [&](TypeId id) {
		const std::uint32_t kind = record(id).kind;
		if (kind == btf::kFunc || kind == btf::kVar)
			return false;
		const int here = rank(info(id), space);
		if (here > best_rank) {
			best = {this, id};
			best_rank = here;
		}
		return best_rank == 2;
	});
	return best;
}

TypeRef Btf::find_function(std::string_view name) const {
	TypeRef found;
	each_named(name, [&](TypeId id) {
		if (!is_function(id))
			return false;
		found = function_type(id);
		return true;
	});
	return found;
}

TypeRef Btf::find_variable(std::string_view name) const {
	TypeRef found;
	each_named(name, [&](TypeId id) {
		const Record type = record(id);
		if (type.kind != btf::kVar)
			return false;
		found = ref(type.value);
		return true;
	});
	return found;
}

// The offsets at which `name` stands in the strings, the base's included: as a
// whole string or as the end of one.
void Btf::find_string(std::string_view name, std::vector<std::uint32_t>& offsets) const {
	if (base_)
		base_->find_string(name, offsets);
	const std::string key(name);
	const auto* start = reinterpret_cast<const char*>(strings_.data());
	const char* at = start;
	const char* end = start + strings_.size();
	while (at < end) {
		const void* hit = ::memmem(at, static_cast<std::size_t>(end - at), key.c_str(), key.size() + 1);
		if (!hit)
			return;
		at = static_cast<const char*>(hit) + 1;
		offsets.push_back(first_string_ + static_cast<std::uint32_t>(at - 1 - start));
	}
}

std::optional<EnumConstant> Btf::find_enumerator(std::string_view name) const {
	if (name.empty() || name.find('\0') != std::string_view::npos)
		return std::nullopt;
	const auto [known, fresh] = constants_.try_emplace(std::string(name));
	if (!fresh)
		return known->second;
	std::vector<std::uint32_t> offsets;
	find_string(name, offsets);
	if (offsets.empty())
		return std::nullopt;
	index_types();
	for (const std::uint32_t index : enums_) {
		const TypeId id = first_id_ + index;
		const Record type = record(id);
		const std::size_t step = type.kind == btf::kEnum64 ? 12 : 8;
		for (std::uint32_t i = 0; i < type.vlen; i++) {
			std::uint32_t offset;
			std::memcpy(&offset, type.data + i * step, sizeof offset);
			if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end())
				continue;
			known->second = EnumConstant{enumerator(id, i).value, {this, id}};
			return known->second;
		}
	}
	return std::nullopt;
}

} // namespace dfr::types
