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
#include "formats/abi/dof.h"

#include <algorithm>
#include <array>
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

// Bytes of one type by kind: fixed ones, and those for each of vlen. A table,
// because every type of the kernel passes here when the first is used.
struct TypeSize {
	std::uint8_t fixed = 0; // 0: there is no such kind
	std::uint8_t each = 0;
};

constexpr std::array<TypeSize, 32> make_shapes() {
	std::array<TypeSize, 32> shapes{};
	for (std::uint32_t kind = btf::kInt; kind <= btf::kEnum64; kind++)
		shapes[kind] = {btf::kTypeSize, 0};
	shapes[btf::kInt] = shapes[btf::kVar] = shapes[btf::kDeclTag] = {btf::kTypeSize + 4, 0};
	shapes[btf::kArray] = {btf::kTypeSize + 12, 0};
	shapes[btf::kStruct] = shapes[btf::kUnion] = shapes[btf::kDatasec] = {btf::kTypeSize, 12};
	shapes[btf::kEnum] = shapes[btf::kFuncProto] = {btf::kTypeSize, 8};
	shapes[btf::kEnum64] = {btf::kTypeSize, 12};
	return shapes;
}

constexpr std::array<TypeSize, 32> kShapes = make_shapes();

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
		throw Error(name_ + ": not BTF",
		            "name raw BTF, an ELF file with a .BTF section or a vmlinuz");
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
	constexpr std::uint64_t kPrime = DOF_BTF_DIGEST_PRIME;
	const auto bytes = blob_.bytes();
	std::uint64_t hash = DOF_BTF_DIGEST_START;
	const std::size_t whole = bytes.size() & ~std::size_t{7};
	std::uint64_t part = 0;
	for (const auto *at = bytes.data(), *end = at + whole; at != end; at += 8) {
		std::memcpy(&part, at, 8);
		hash = (hash ^ part) * kPrime;
	}
	if (whole != bytes.size()) {
		part = 0;
		std::memcpy(&part, bytes.data() + whole, bytes.size() - whole);
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
	const std::size_t room = types_.size() / btf::kTypeSize;
	if (room > kMostTypes || first_id_ > kMostTypes)
		damaged("room for more than " + std::to_string(kMostTypes) + " types", types_at_);
	auto offsets = std::make_unique_for_overwrite<std::uint32_t[]>(room);
	std::uint32_t* next = offsets.get();
	const std::uint8_t* const start = types_.data();
	const std::size_t end = types_.size();
	std::size_t at = 0;
	while (end - at >= btf::kTypeSize) {
		const std::uint32_t packed = load32(start + at + 4);
		const std::uint32_t kind = btf::kind_of(packed);
		const TypeSize shape = kShapes[kind];
		const std::size_t length = shape.fixed + std::size_t(shape.each) * btf::vlen_of(packed);
		if (length == 0 || length > end - at)
			break;
		if (kind == btf::kEnum || kind == btf::kEnum64)
			enums_.push_back(static_cast<std::uint32_t>(next - offsets.get()));
		*next++ = static_cast<std::uint32_t>(at);
		at += length;
	}
	const auto count = static_cast<std::uint32_t>(next - offsets.get());
	if (at != end) {
		enums_.clear();
		damaged("type " + std::to_string(first_id_ + count) + " is of no known kind or is cut off",
		        types_at_ + at);
	}
	offsets_ = std::move(offsets);
	count_ = count;
	indexed_ = true;
}

TypeId Btf::end_id() const {
	index_types();
	return first_id_ + count_;
}

Btf::Record Btf::record(TypeId id) const {
	index_types();
	if (id < first_id_ || id - first_id_ >= count_)
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

std::string_view Btf::string(std::uint32_t offset) const {
	return raw_string(offset);
}

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
		damaged("integer of " + std::to_string(type.value) + " bytes and " +
		            std::to_string(result.bits) + " bits",
		        type.at);
	// D's char is signed, and so is the kernel's to D, which says "unsigned" from 6.2 on because it is built so.
	result.is_signed = encoding & btf::kIntSigned || (type.value == 1 && result.name == "char");
	result.is_bool = encoding & btf::kIntBool;
	// Compilers seldom set the encoding's character bit; the name tells.
	result.is_char = (encoding & btf::kIntChar) ||
	                 (type.value == 1 && result.name.find("char") != std::string_view::npos);
	return result;
}

TypeInfo Btf::enum_info(const Record& type) const {
	TypeInfo result;
	result.name = string(type.name);
	// An enum that is only announced has no enumerators.
	result.kind = type.vlen == 0 && !result.name.empty() ? Kind::Forward : Kind::Enum;
	result.forward = result.kind == Kind::Forward ? Kind::Enum : Kind::Void;
	if (type.value > 8)
		damaged("enum of " + std::to_string(type.value) + " bytes", type.at);
	result.size = result.kind == Kind::Enum ? type.value : 0;
	result.is_signed = type.flag;
	result.count = type.vlen;
	return result;
}

TypeInfo Btf::function_info(const Record& type) const {
	TypeInfo result;
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
}

TypeInfo Btf::info(TypeId id) const {
	if (id == 0)
		return {};
	const Record type = record(id);
	TypeInfo result;
	if (type.kind != btf::kPtr && type.kind != btf::kArray && type.kind != btf::kFuncProto)
		result.name = string(type.name);
	switch (type.kind) {
	case btf::kInt: return integer_info(type);
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
	case btf::kEnum64: return enum_info(type);
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
	case btf::kFuncProto: return function_info(type);
	default:
		damaged("type " + std::to_string(id) + " is a function, variable, section or tag, not a type",
		        type.at);
	}
}

Member Btf::member(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if ((type.kind != btf::kStruct && type.kind != btf::kUnion) || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no member " +
		            std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * 12;
	const std::uint32_t place = load32(at + 8);
	Member result{.name = string(load32(at)), .type = ref(load32(at + 4))};
	if (type.flag) {
		result.bit_width = place >> 24;
		result.bit_offset = place & 0xffffff;
		if (result.bit_width && result.bit_width > 8 * size_of(result.type).value_or(0))
			damaged("bit-field of " + std::to_string(result.bit_width) +
			            " bits in a smaller type",
			        type.at);
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
		throw Error(name_ + ": type " + std::to_string(id) + " has no parameter " +
		            std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * 8;
	return {.name = string(load32(at)), .type = ref(load32(at + 4))};
}

Enumerator Btf::enumerator(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	const bool wide = type.kind == btf::kEnum64;
	if ((type.kind != btf::kEnum && !wide) || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no enumerator " +
		            std::to_string(index));
	const std::uint8_t* at = type.data + std::size_t(index) * (wide ? 12 : 8);
	const std::uint32_t low = load32(at + 4);
	if (wide) {
		const std::uint64_t high = load32(at + 8);
		return {.name = string(load32(at)), .value = static_cast<std::int64_t>(high << 32 | low)};
	}
	const std::int64_t value =
	    type.flag ? std::int64_t(static_cast<std::int32_t>(low)) : std::int64_t(low);
	return {.name = string(load32(at)), .value = value};
}

bool Btf::is_function(TypeId id) const {
	return record(id).kind == btf::kFunc;
}

std::string_view Btf::type_name(TypeId id) const {
	return string(record(id).name);
}

TypeRef Btf::function_type(TypeId id) const {
	const TypeRef type = ref(record(id).value);
	if (types::info(type).kind != Kind::Function)
		damaged("function " + std::to_string(id) + " has no prototype", record(id).at);
	return type;
}

} // namespace dfr::types
