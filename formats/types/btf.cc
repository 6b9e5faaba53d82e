// SPDX-License-Identifier: GPL-2.0
//
// The BTF reader: header, lazy index of type offsets, and access by id.
// Searching by name is in btf_names.cc. Reading only: nothing here writes BTF.
//
//	blob:  header (24 bytes or more) | types | strings
//	type:  name_off u32 | info u32 | size or type u32 | data that depends on kind
//	info:  bit 31 kind_flag, bits 28-24 kind, bits 15-0 vlen
//
// What may be trusted after index_types(): every record lies inside the type
// section with all its data. Ids and string offsets are checked where used.
#include "formats/types/btf.h"

#include <bit>
#include <cstring>

#include "formats/error.h"
#include "formats/types/btf_format.h"

namespace dfr::types {

static_assert(std::endian::native == std::endian::little, "BTF is read in the machine's own byte order");

namespace {

constexpr std::uint32_t kMostTypes = 1U << 26;

std::uint32_t load32(const std::uint8_t* at) {
	std::uint32_t value;
	std::memcpy(&value, at, sizeof value);
	return value;
}

// Bytes of data that follow the 12 of a type; -1 for kinds that do not exist.
std::int64_t extra_bytes(std::uint32_t kind, std::uint32_t vlen) {
	switch (kind) {
	case btf::kInt:
	case btf::kVar:
	case btf::kDeclTag:
		return 4;
	case btf::kArray:
		return 12;
	case btf::kStruct:
	case btf::kUnion:
	case btf::kDatasec:
	case btf::kEnum64:
		return std::int64_t(vlen) * 12;
	case btf::kEnum:
	case btf::kFuncProto:
		return std::int64_t(vlen) * 8;
	default:
		return kind >= btf::kPtr && kind <= btf::kTypeTag ? 0 : -1;
	}
}

} // namespace

Btf::Btf(std::string name, Blob blob, const Btf* base)
    : name_(std::move(name)), blob_(std::move(blob)), base_(base) {
	const auto bytes = blob_.bytes();
	if (bytes.size() < btf::kHeaderSize)
		damaged("shorter than a BTF header", 0);
	const std::uint32_t start = load32(bytes.data());
	if ((start & 0xffff) == btf::kMagicSwapped)
		throw Error(name_ + ": this BTF has the byte order of another architecture");
	if ((start & 0xffff) != btf::kMagic)
		throw Error(name_ + ": not BTF", "name raw BTF, an ELF file with a .BTF section or a vmlinuz");
	if (((start >> 16) & 0xff) != btf::kVersion || (start >> 24) != 0)
		throw Error(name_ + ": BTF of a version that is not known here");

	const std::uint64_t header = word(4);
	const std::uint64_t type_off = word(8), type_len = word(12);
	const std::uint64_t str_off = word(16), str_len = word(20);
	if (header < btf::kHeaderSize || header > bytes.size())
		damaged("header length " + std::to_string(header), 4);
	if (type_off % 4 != 0 || type_off + type_len > bytes.size() - header)
		damaged("types lie outside", 8);
	if (str_off + str_len > bytes.size() - header)
		damaged("strings lie outside", 16);
	types_at_ = header + type_off;
	types_ = bytes.subspan(types_at_, type_len);
	strings_ = bytes.subspan(header + str_off, str_len);
	if (!strings_.empty() && strings_.back() != 0)
		damaged("strings do not end in NUL", header + str_off + str_len - 1);
	if (!base_ && (strings_.empty() || strings_[0] != 0))
		damaged("strings do not start with the empty one", header + str_off);
	if (base_) {
		first_id_ = base_->end_id();
		first_string_ = base_->first_string_ + static_cast<std::uint32_t>(base_->strings_.size());
	}
}

Btf::~Btf() = default;

std::unique_ptr<Btf> Btf::open(const std::string& path, std::string name, const Btf* base) {
	return std::make_unique<Btf>(std::move(name), load_btf(path), base);
}

std::uint64_t Btf::digest() const {
	constexpr std::uint64_t kPrime = 0x100000001b3ULL;
	const auto bytes = blob_.bytes();
	std::uint64_t hash = 0xcbf29ce484222325ULL;
	for (std::size_t at = 0; at < bytes.size(); at += 8) {
		std::uint64_t part = 0;
		std::memcpy(&part, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
		hash = (hash ^ part) * kPrime;
	}
	return (hash ^ bytes.size()) * kPrime;
}

void Btf::damaged(const std::string& what, std::uint64_t offset) const {
	throw Error(name_ + ": damaged BTF: " + what + " (offset " + std::to_string(offset) + ")");
}

std::uint32_t Btf::word(std::uint64_t offset) const {
	const auto bytes = blob_.bytes();
	if (offset > bytes.size() || bytes.size() - offset < 4)
		damaged("a word lies outside", offset);
	return load32(bytes.data() + offset);
}

void Btf::index_types() const {
	if (indexed_)
		return;
	offsets_.reserve(types_.size() / 24);
	std::uint64_t at = 0;
	while (at < types_.size()) {
		if (types_.size() - at < btf::kTypeSize)
			damaged("a type is cut off", types_at_ + at);
		const std::uint32_t packed = load32(types_.data() + at + 4);
		const std::uint32_t kind = btf::kind_of(packed);
		const std::int64_t extra = extra_bytes(kind, btf::vlen_of(packed));
		if (extra < 0)
			damaged("type kind " + std::to_string(kind), types_at_ + at + 4);
		const std::uint64_t length = btf::kTypeSize + static_cast<std::uint64_t>(extra);
		if (length > types_.size() - at)
			damaged("a type's data is cut off", types_at_ + at);
		if (kind == btf::kEnum || kind == btf::kEnum64)
			enums_.push_back(static_cast<std::uint32_t>(offsets_.size()));
		offsets_.push_back(static_cast<std::uint32_t>(at));
		at += length;
	}
	if (offsets_.size() > kMostTypes || first_id_ > kMostTypes)
		damaged("more than " + std::to_string(kMostTypes) + " types", types_at_);
	indexed_ = true;
}

TypeId Btf::end_id() const {
	index_types();
	return first_id_ + static_cast<TypeId>(offsets_.size());
}

Btf::Record Btf::record(TypeId id) const {
	index_types();
	if (id < first_id_ || id - first_id_ >= offsets_.size())
		throw Error(name_ + ": damaged BTF: there is no type " + std::to_string(id));
	const std::uint64_t at = offsets_[id - first_id_];
	const std::uint8_t* start = types_.data() + at;
	const std::uint32_t packed = load32(start + 4);
	return {.id = id,
	        .name = load32(start),
	        .kind = btf::kind_of(packed),
	        .vlen = btf::vlen_of(packed),
	        .flag = btf::flag_of(packed),
	        .value = load32(start + 8),
	        .data = start + btf::kTypeSize,
	        .at = types_at_ + at};
}

const char* Btf::raw_string(std::uint32_t offset) const {
	if (offset < first_string_)
		return base_->raw_string(offset);
	const std::uint32_t own = offset - first_string_;
	if (own >= strings_.size()) {
		// A split blob without strings of its own still has the empty name.
		if (offset == 0)
			return "";
		damaged("string offset " + std::to_string(offset) + " lies outside", own);
	}
	return reinterpret_cast<const char*>(strings_.data()) + own;
}

std::string_view Btf::string(std::uint32_t offset) const { return raw_string(offset); }

TypeRef Btf::ref(TypeId id) const {
	for (unsigned depth = 0; depth < kMaxDepth; depth++) {
		if (id < first_id_) {
			// Void belongs to the bottom container, so that it is one type.
			return base_ ? base_->ref(id) : TypeRef{this, 0};
		}
		const Record type = record(id);
		if (type.kind != btf::kTypeTag)
			return {this, id};
		id = type.value;
	}
	damaged("a chain of type tags does not end, at type " + std::to_string(id), types_at_);
}

TypeInfo Btf::integer_info(const Record& type) const {
	const std::uint32_t packed = load32(type.data);
	const std::uint32_t encoding = packed >> 24 & 0xf;
	TypeInfo result{.kind = Kind::Integer, .name = string(type.name), .size = type.value};
	result.bits = packed & 0xff;
	if (type.value > 16 || result.bits > type.value * 8)
		damaged("integer of " + std::to_string(type.value) + " bytes and " + std::to_string(result.bits) +
		            " bits",
		        type.at);
	result.is_signed = encoding & btf::kIntSigned;
	result.is_bool = encoding & btf::kIntBool;
	// Compilers seldom set the encoding's character bit; the name tells.
	result.is_char = (encoding & btf::kIntChar) ||
	                 (type.value == 1 && result.name.find("char") != std::string_view::npos);
	return result;
}

TypeInfo Btf::info(TypeId id) const {
	if (id == 0)
		return {};
	const Record type = record(id);
	TypeInfo result;
	if (type.kind != btf::kPtr && type.kind != btf::kArray && type.kind != btf::kFuncProto)
		result.name = string(type.name);
	switch (type.kind) {
	case btf::kInt:
		return integer_info(type);
	case btf::kFloat:
		result.kind = Kind::Float;
		result.size = type.value;
		return result;
	case btf::kPtr:
		result.kind = Kind::Pointer;
		result.size = 8;
		result.target = ref(type.value);
		return result;
	case btf::kArray:
		result.kind = Kind::Array;
		result.target = ref(load32(type.data));
		result.count = load32(type.data + 8);
		return result;
	case btf::kStruct:
	case btf::kUnion:
		result.kind = type.kind == btf::kStruct ? Kind::Struct : Kind::Union;
		result.size = type.value;
		result.count = type.vlen;
		return result;
	case btf::kEnum:
	case btf::kEnum64:
		// An enum that is only announced has no enumerators.
		result.kind = type.vlen == 0 && !result.name.empty() ? Kind::Forward : Kind::Enum;
		result.forward = result.kind == Kind::Forward ? Kind::Enum : Kind::Void;
		if (type.value > 8)
			damaged("enum of " + std::to_string(type.value) + " bytes", type.at);
		result.size = result.kind == Kind::Enum ? type.value : 0;
		result.is_signed = type.flag;
		result.count = type.vlen;
		return result;
	case btf::kFwd:
		result.kind = Kind::Forward;
		result.forward = type.flag ? Kind::Union : Kind::Struct;
		return result;
	case btf::kTypedef:
	case btf::kVolatile:
	case btf::kConst:
	case btf::kRestrict:
		result.kind = type.kind == btf::kTypedef    ? Kind::Typedef
		              : type.kind == btf::kVolatile ? Kind::Volatile
		              : type.kind == btf::kConst    ? Kind::Const
		                                            : Kind::Restrict;
		result.target = ref(type.value);
		return result;
	case btf::kFuncProto:
		result.kind = Kind::Function;
		result.target = ref(type.value);
		result.count = type.vlen;
		// A last parameter without name and type is "...".
		if (type.vlen && load32(type.data + (type.vlen - 1) * 8) == 0 &&
		    load32(type.data + (type.vlen - 1) * 8 + 4) == 0) {
			result.is_varargs = true;
			result.count--;
		}
		return result;
	default:
		damaged("type " + std::to_string(id) + " is a function, variable, section or tag, not a type",
		        type.at);
	}
}

Member Btf::member(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if ((type.kind != btf::kStruct && type.kind != btf::kUnion) || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no member " + std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * 12;
	const std::uint32_t place = load32(at + 8);
	Member result{.name = string(load32(at)), .type = ref(load32(at + 4))};
	if (type.flag) {
		result.bit_width = place >> 24;
		result.bit_offset = place & 0xffffff;
		return result;
	}
	result.bit_offset = place;
	// Without kind_flag, a bit-field is a member whose integer is narrow.
	const TypeRef below = resolve(result.type);
	if (types::info(below).kind == Kind::Integer) {
		const Record integer = static_cast<const Btf*>(below.container)->record(below.id);
		const std::uint32_t packed = load32(integer.data);
		if ((packed & 0xff) != integer.value * 8) {
			result.bit_width = packed & 0xff;
			result.bit_offset += packed >> 16 & 0xff;
		}
	}
	return result;
}

Parameter Btf::parameter(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if (type.kind != btf::kFuncProto || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no parameter " + std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * 8;
	return {.name = string(load32(at)), .type = ref(load32(at + 4))};
}

Enumerator Btf::enumerator(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	const bool wide = type.kind == btf::kEnum64;
	if ((type.kind != btf::kEnum && !wide) || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no enumerator " + std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * (wide ? 12 : 8);
	const std::uint32_t low = load32(at + 4);
	if (wide) {
		const std::uint64_t high = load32(at + 8);
		return {.name = string(load32(at)), .value = static_cast<std::int64_t>(high << 32 | low)};
	}
	const std::int64_t value = type.flag ? std::int64_t(static_cast<std::int32_t>(low)) : std::int64_t(low);
	return {.name = string(load32(at)), .value = value};
}

bool Btf::is_function(TypeId id) const { return record(id).kind == btf::kFunc; }

std::string_view Btf::type_name(TypeId id) const { return string(record(id).name); }

TypeRef Btf::function_type(TypeId id) const {
	const TypeRef type = ref(record(id).value);
	if (types::info(type).kind != Kind::Function)
		damaged("function " + std::to_string(id) + " has no prototype", record(id).at);
	return type;
}

} // namespace dfr::types
