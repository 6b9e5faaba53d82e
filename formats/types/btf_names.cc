// SPDX-License-Identifier: GPL-2.0
//
// Searching BTF by name. Types, functions and variables share one hash table
// of chains, built at the first search; it is told apart by kind while a chain
// is walked. Enumerators are many and searched for seldom: their name is looked
// for in the string section, then its offset in the enums.
//
// The table costs about 35 instructions a name, so only the first sixteen bytes
// of a name are hashed, eight at a time, and no length is taken: names that
// agree in those (trace_event_raw_event_*) share a chain.
#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/types/btf_format.h"

namespace dfr::types {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;
constexpr std::size_t kHashed = 16;

// Eight bytes of a string, those after its end cleared; `ended` if it ends here.
inline std::uint64_t string_part(const char* text, bool& ended) {
	std::uint64_t part;
	std::memcpy(&part, text, 8);
	const std::uint64_t zeros = (part - kOnes) & ~part & kHighs;
	ended = zeros != 0;
	return ended ? part & (((zeros & -zeros) >> 7) - 1) : part;
}

// `text` must have kHashed readable bytes.
inline std::uint64_t hash_string(const char* text) {
	bool ended;
	std::uint64_t hash = string_part(text, ended) * 0x9e3779b97f4a7c15ULL;
	if (!ended)
		hash ^= string_part(text + 8, ended) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

// Of a name that may end less than kHashed bytes before unreadable memory.
std::uint64_t hash_short(std::string_view name) {
	char text[kHashed] = {};
	std::memcpy(text, name.data(), std::min(name.size(), kHashed));
	return hash_string(text);
}

constexpr std::uint32_t kNamedKinds =
    1U << btf::kInt | 1U << btf::kStruct | 1U << btf::kUnion | 1U << btf::kEnum | 1U << btf::kFwd |
    1U << btf::kTypedef | 1U << btf::kFunc | 1U << btf::kVar | 1U << btf::kFloat | 1U << btf::kEnum64;

// How well a type answers a search: 2 complete, 1 announced only, 0 not at all.
int rank(const TypeInfo& type, NameSpace space) {
	const Kind wanted = space == NameSpace::Struct  ? Kind::Struct
	                    : space == NameSpace::Union ? Kind::Union
	                                                : Kind::Enum;
	if (space == NameSpace::Ordinary)
		return type.kind == Kind::Typedef || type.kind == Kind::Integer || type.kind == Kind::Float
		           ? 2
		           : 0;
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
	while (buckets < count_)
		buckets *= 2;
	std::vector<std::uint32_t> table(buckets);
	auto chain = std::make_unique_for_overwrite<std::uint32_t[]>(count_);
	const auto* own = reinterpret_cast<const char*>(strings_.data());
	// Own strings from here on end too near to the section's end to be hashed
	// where they are; what is below first_string_ wraps around to beyond it.
	const std::uint32_t near_end =
	    strings_.size() > kHashed ? static_cast<std::uint32_t>(strings_.size() - kHashed) : 0;
	// From the end, so that a chain starts with the lowest id.
	for (std::uint32_t i = count_; i-- > 0;) {
		std::uint32_t header[2];
		std::memcpy(header, types_.data() + offsets_[i], sizeof header);
		if (header[0] == 0 || !(kNamedKinds >> btf::kind_of(header[1]) & 1))
			continue;
		const std::uint32_t at = header[0] - first_string_;
		const std::uint64_t hash =
		    at < near_end ? hash_string(own + at) : hash_short(string(header[0]));
		std::uint32_t& bucket = table[hash & (buckets - 1)];
		chain[i] = bucket;
		bucket = i + 1;
	}
	buckets_ = std::move(table);
	chain_ = std::move(chain);
	named_ = true;
}

// Calls match(id) for every type of that name until it returns true.
template <typename Match> void Btf::each_named(std::string_view name, Match match) const {
	if (name.empty())
		return;
	index_names();
	std::uint32_t next = buckets_[hash_short(name) & (buckets_.size() - 1)];
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

// The different types of all functions of that name, up to a bound: each is held against
// all others. Static functions of different files may share one; the kernel's own BTF
// does not say which address has which type.
std::vector<TypeRef> Btf::functions_named(std::string_view name) const {
	constexpr std::size_t kMostTypes = 64;
	std::vector<TypeRef> found;
	each_named(name, [&](TypeId id) {
		if (!is_function(id))
			return false;
		const TypeRef type = function_type(id);
		if (std::none_of(found.begin(), found.end(),
		                 [&](TypeRef other) { return same_structure(other, type); }))
			found.push_back(type);
		return found.size() == kMostTypes;
	});
	return found;
}

TypeRef Btf::find_function(std::string_view name) const {
	const std::vector<TypeRef> found = functions_named(name);
	return found.size() == 1 ? found[0] : TypeRef{};
}

unsigned Btf::count_functions(std::string_view name) const {
	return static_cast<unsigned>(functions_named(name).size());
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

// The offsets at which `name` stands in the strings, the base's included and in
// front, in ascending order: as a whole string or as the end of one.
void Btf::find_string(std::string_view name, std::vector<std::uint32_t>& offsets) const {
	if (base_)
		base_->find_string(name, offsets);
	const std::string key(name);
	const auto* start = reinterpret_cast<const char*>(strings_.data());
	const char* at = start;
	const char* end = start + strings_.size();
	while (at < end) {
		const void* hit =
		    ::memmem(at, static_cast<std::size_t>(end - at), key.c_str(), key.size() + 1);
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
			if (!std::binary_search(offsets.begin(), offsets.end(), offset))
				continue;
			known->second = EnumConstant{enumerator(id, i).value, {this, id}};
			return known->second;
		}
	}
	return std::nullopt;
}

} // namespace dfr::types
