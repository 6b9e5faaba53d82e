// SPDX-License-Identifier: GPL-2.0
//
// The CTF reader: one dictionary, its header and access by id. Searching by
// name is in ctf_names.cc, the ELF file around it and archives in ctf_file.cc.
// The layout is drawn in ctf_format.h.
#include "formats/types/ctf.h"

#include <bit>
#include <cstring>
#include <zlib.h>

#include "formats/error.h"
#include "formats/types/ctf_format.h"

namespace dfr::types {

static_assert(std::endian::native == std::endian::little, "CTF is read in the machine's own byte order");

namespace {

constexpr std::uint32_t kFixed = 12;

// zlib packs no tighter than about 1:1032; a length beyond is a lie.
constexpr std::uint64_t kMostRatio = 1100;

// Bytes of data after a type's header; -1 for kinds that do not exist.
std::int64_t extra_bytes(std::uint32_t kind, std::uint32_t vlen, std::uint64_t size) {
	switch (kind) {
	case ctf::kInteger:
	case ctf::kFloat: return 4;
	case ctf::kArray: return 12;
	case ctf::kFunction: return std::int64_t(vlen + (vlen & 1)) * 4;
	case ctf::kStruct:
	case ctf::kUnion: return std::int64_t(vlen) * (size < ctf::kLargeStruct ? 12 : 16);
	case ctf::kEnum:
	case ctf::kSlice: return kind == ctf::kSlice ? 8 : std::int64_t(vlen) * 8;
	default: return kind <= ctf::kSlice ? 0 : -1;
	}
}

} // namespace

Ctf::Ctf(std::string name, const Blob& dictionary, std::shared_ptr<const CtfContext> context,
         const Ctf* parent)
    : name_(std::move(name)), context_(std::move(context)), parent_(parent) {
	read_header(dictionary);
}

Ctf::~Ctf() = default;

void Ctf::damaged(const std::string& what, std::uint64_t offset) const {
	throw Error(name_ + ": damaged CTF: " + what + " (offset " + std::to_string(offset) + ")");
}

std::uint32_t Ctf::word(std::uint64_t offset) const {
	const auto bytes = body_.bytes();
	if (offset > bytes.size() || bytes.size() - offset < 4)
		damaged("a word lies outside", offset);
	std::uint32_t value;
	std::memcpy(&value, bytes.data() + offset, sizeof value);
	return value;
}

void Ctf::read_header(const Blob& dictionary) {
	const auto bytes = dictionary.bytes();
	std::uint32_t header[ctf::kHeaderSize / 4];
	if (bytes.size() < sizeof header)
		damaged("shorter than a CTF header", 0);
	std::memcpy(header, bytes.data(), sizeof header);
	if ((header[0] & 0xffff) == ctf::kMagicSwapped)
		throw Error(name_ + ": this CTF has the byte order of another architecture");
	if ((header[0] & 0xffff) != ctf::kMagic)
		throw Error(name_ + ": not CTF", "compile with gcc -gctf");
	const std::uint32_t version = header[0] >> 16 & 0xff;
	if (version != ctf::kVersion3)
		throw Error(name_ + ": CTF of format " + std::to_string(version) + "; only version 3 (" +
		                std::to_string(ctf::kVersion3) + ") is read",
		            "compile with gcc 12 or later and -gctf");
	const std::uint32_t flags = header[0] >> 24;
	is_dynamic_ = flags & ctf::kDynamic;
	is_child_ = header[2] != 0;

	const std::uint64_t length = std::uint64_t(header[11]) + header[12];
	body_ = dictionary.part(sizeof header, bytes.size() - sizeof header);
	if (flags & ctf::kCompressed)
		unpack(body_, length);
	if (length > body_.size())
		damaged("strings lie outside", 44);
	// Sections follow each other; each ends where the next begins.
	CtfSection* const sections[] = {&objects_,   &functions_, &object_names_, &function_names_,
	                                &variables_, &types_,     &strings_};
	for (unsigned i = 0; i < 7; i++) {
		const std::uint32_t begin = header[5 + i];
		const std::uint64_t end = i == 6 ? length : header[6 + i];
		if (begin > end || end > length || (i < 6 && begin % 4 != 0))
			damaged("section offsets out of order", 20 + i * 4);
		*sections[i] = {begin, static_cast<std::uint32_t>(end - begin)};
	}
	if (strings_.size != 0 && body_.bytes()[strings_.begin + strings_.size - 1] != 0)
		damaged("strings do not end in NUL", strings_.begin);
}

void Ctf::unpack(const Blob& packed, std::uint64_t length) {
	if (length > packed.size() * kMostRatio)
		damaged("more bytes than its compressed data can hold", 44);
	std::vector<std::uint8_t> out(length);
	uLongf got = length;
	const auto bytes = packed.bytes();
	if (uncompress(out.data(), &got, bytes.data(), bytes.size()) != Z_OK || got != length)
		damaged("its compressed data is wrong", ctf::kHeaderSize);
	body_ = Blob::from_bytes(std::move(out));
}

std::string_view Ctf::string(std::uint32_t offset) const {
	std::span<const std::uint8_t> table = body_.bytes().subspan(strings_.begin, strings_.size);
	std::uint32_t at = offset;
	if (offset & ctf::kExternalString) {
		at = offset & ~ctf::kExternalString;
		table = context_ ? context_->strings(is_dynamic_) : std::span<const std::uint8_t>();
		// A dictionary on its own has lost these names, not its types.
		if (table.empty())
			return {};
	}
	if (at == 0 && table.empty())
		return {};
	const void* end = at < table.size() ? std::memchr(table.data() + at, 0, table.size() - at) : nullptr;
	if (!end)
		damaged("string offset " + std::to_string(offset) + " lies outside", at);
	const auto* start = table.data() + at;
	return {reinterpret_cast<const char*>(start),
	        static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - start)};
}

Ctf::Record Ctf::record_at(std::uint64_t offset) const {
	const std::uint64_t end = types_.begin + std::uint64_t(types_.size);
	if (end - offset < kFixed)
		damaged("a type is cut off", offset);
	const std::uint32_t packed = word(offset + 4);
	Record type{.name = word(offset),
	            .kind = packed >> 26,
	            .visible = (packed >> 25 & 1) != 0,
	            .vlen = packed & 0xffffff,
	            .type = word(offset + 8),
	            .size = word(offset + 8),
	            .at = offset,
	            .data = offset + kFixed,
	            .end = 0};
	if (type.size == ctf::kLargeSize) {
		if (end - offset < kFixed + 8)
			damaged("a type is cut off", offset);
		type.size = std::uint64_t(word(offset + 12)) << 32 | word(offset + 16);
		type.data += 8;
	}
	const std::int64_t extra = extra_bytes(type.kind, type.vlen, type.size);
	if (extra < 0)
		damaged("type kind " + std::to_string(type.kind), offset + 4);
	type.end = type.data + static_cast<std::uint64_t>(extra);
	if (type.end > end)
		damaged("a type's data is cut off", offset);
	return type;
}

void Ctf::index_types() const {
	if (indexed_)
		return;
	std::vector<std::uint32_t> offsets;
	const std::uint64_t end = types_.begin + std::uint64_t(types_.size);
	for (std::uint64_t at = types_.begin; at < end; at = record_at(at).end)
		offsets.push_back(static_cast<std::uint32_t>(at));
	offsets_ = std::move(offsets);
	indexed_ = true;
}

TypeId Ctf::end_id() const {
	index_types();
	return first_id() + static_cast<TypeId>(offsets_.size());
}

Ctf::Record Ctf::record(TypeId id) const {
	index_types();
	const TypeId index = id - first_id();
	if (id < first_id() || index >= offsets_.size())
		throw Error(name_ + ": damaged CTF: there is no type " + std::to_string(id));
	return record_at(offsets_[index]);
}

// A reference as it stands: slices are not looked through.
TypeRef Ctf::raw_ref(TypeId id) const {
	if (!is_child_ || (id & kChild))
		return {this, id};
	if (!parent_ && id != 0)
		throw Error(name_ + ": its types refer to a parent dictionary that is not there",
		            "name the file that was linked, not a part of it");
	return parent_ ? TypeRef{parent_, id} : TypeRef{this, 0};
}

TypeRef Ctf::ref(TypeId id) const {
	TypeRef type = raw_ref(id);
	for (unsigned depth = 0; depth < kMaxDepth; depth++) {
		if (type.id == 0)
			return type;
		const auto* owner = static_cast<const Ctf*>(type.container);
		const Record here = owner->record(type.id);
		if (here.kind != ctf::kSlice)
			return type;
		type = owner->raw_ref(owner->word(here.data));
	}
	damaged("a chain of slices does not end, at type " + std::to_string(id), types_.begin);
}

TypeInfo Ctf::integer_info(const Record& type, TypeInfo result) const {
	const std::uint32_t packed = word(type.data);
	result.size = type.size;
	result.bits = packed & 0xffff;
	if (result.bits == 0 && type.size == 0) {
		result.kind = Kind::Void; // gcc's void is an integer of no bits
		return result;
	}
	if (type.size > 16 || result.bits > type.size * 8)
		damaged("integer of " + std::to_string(type.size) + " bytes and " +
		            std::to_string(result.bits) + " bits",
		        type.at);
	result.is_signed = packed >> 24 & ctf::kIntSigned;
	result.is_char = packed >> 24 & ctf::kIntChar;
	result.is_bool = packed >> 24 & ctf::kIntBool;
	return result;
}

TypeInfo Ctf::function_info(const Record& type, TypeInfo result) const {
	result.target = ref(type.type);
	result.count = type.vlen;
	// A last argument of no type is "...".
	if (type.vlen != 0 && word(type.data + (type.vlen - 1) * 4) == 0) {
		result.is_varargs = true;
		result.count--;
	}
	return result;
}

TypeInfo Ctf::info(TypeId id) const {
	if (id == 0)
		return {};
	const Record type = record(id);
	TypeInfo result;
	result.kind = static_cast<Kind>(type.kind);
	result.name = string(type.name);
	switch (type.kind) {
	case ctf::kInteger: return integer_info(type, result);
	case ctf::kFloat: result.size = type.size; return result;
	case ctf::kPointer:
		result.size = 8;
		result.target = ref(type.type);
		return result;
	case ctf::kArray:
		result.target = ref(word(type.data));
		result.count = word(type.data + 8);
		return result;
	case ctf::kFunction: return function_info(type, result);
	case ctf::kStruct:
	case ctf::kUnion:
		result.size = type.size;
		result.count = type.vlen;
		return result;
	case ctf::kEnum:
		result.size = type.size;
		result.is_signed = true; // values are written as signed
		result.count = type.vlen;
		if (type.size > 8)
			damaged("enum of " + std::to_string(type.size) + " bytes", type.at);
		return result;
	case ctf::kForward:
		result.forward = type.type == ctf::kUnion  ? Kind::Union
		                 : type.type == ctf::kEnum ? Kind::Enum
		                                           : Kind::Struct;
		return result;
	case ctf::kTypedef:
	case ctf::kVolatile:
	case ctf::kConst:
	case ctf::kRestrict: result.target = ref(type.type); return result;
	case ctf::kSlice:
		// Only members have bit-fields; elsewhere the type below counts.
		return types::info(ref(id));
	default:
		result.kind = Kind::Void; // a type that CTF cannot express
		return result;
	}
}

Member Ctf::member(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if ((type.kind != ctf::kStruct && type.kind != ctf::kUnion) || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no member " +
		            std::to_string(index));
	const bool large = type.size >= ctf::kLargeStruct;
	const std::uint64_t at = type.data + std::uint64_t(index) * (large ? 16 : 12);
	Member result{.name = string(word(at))};
	result.bit_offset = word(at + 4);
	if (large)
		result.bit_offset = result.bit_offset << 32 | word(at + 12);

	result.type = raw_ref(word(at + 8));
	if (result.type.id == 0)
		return result;
	const auto* owner = static_cast<const Ctf*>(result.type.container);
	const Record here = owner->record(result.type.id);
	if (here.kind == ctf::kSlice) {
		const std::uint32_t packed = owner->word(here.data + 4);
		result.bit_offset += packed & 0xffff;
		result.bit_width = packed >> 16;
	} else if (here.kind == ctf::kInteger) {
		const std::uint32_t packed = owner->word(here.data);
		if ((packed & 0xffff) != here.size * 8 && (packed & 0xffff) != 0) {
			result.bit_offset += packed >> 16 & 0xff;
			result.bit_width = packed & 0xffff;
		}
	}
	result.type = owner->ref(result.type.id);
	if (result.bit_width && result.bit_width > 8 * size_of(result.type).value_or(0))
		damaged("bit-field of " + std::to_string(result.bit_width) + " bits in a smaller type", at);
	return result;
}

Parameter Ctf::parameter(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if (type.kind != ctf::kFunction || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no parameter " +
		            std::to_string(index));
	return {.name = {}, .type = ref(word(type.data + std::uint64_t(index) * 4))};
}

Enumerator Ctf::enumerator(TypeId id, std::uint32_t index) const {
	const Record type = record(id);
	if (type.kind != ctf::kEnum || index >= type.vlen)
		throw Error(name_ + ": type " + std::to_string(id) + " has no enumerator " +
		            std::to_string(index));
	const std::uint64_t at = type.data + std::uint64_t(index) * 8;
	return {.name = string(word(at)), .value = static_cast<std::int32_t>(word(at + 4))};
}

} // namespace dfr::types
