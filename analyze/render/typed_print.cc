// SPDX-License-Identifier: GPL-2.0
//
// print(): structs member by member, each with its type first; numbers as C's
// %#x, so that 0 is 0, characters in quotes, enumerators by name. Depth and text
// are bounded, for type information may be damaged.
#include "analyze/render/typed_print.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "analyze/render/text.h"
#include "formats/d/type_text.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/types/program_types.h"
#include "formats/types/types.h"

namespace dfr::render {
namespace {

using types::Kind;
using types::TypeRef;

constexpr unsigned kDepthMax = 16;
constexpr uint64_t kElementsMax = 1024;
constexpr size_t kTextMax = 1 << 20;

uint64_t load(std::span<const std::byte> bytes, uint64_t at, uint64_t size) {
	uint64_t value = 0;
	if (at <= bytes.size() && size <= bytes.size() - at && size <= sizeof value)
		std::memcpy(&value, bytes.data() + at, size);
	return value;
}

void put_number(std::string& out, uint64_t bits) {
	out += bits ? "0x" : "";
	put_hex(out, bits);
}

void put_float(std::string& out, uint64_t bits, uint64_t size) {
	double value = 0;
	float narrow = 0;
	if (size == sizeof value) {
		std::memcpy(&value, &bits, sizeof value);
	} else {
		std::memcpy(&narrow, &bits, sizeof narrow);
		value = static_cast<double>(narrow);
	}
	char text[400]; // the largest double has 309 digits before the point
	std::snprintf(text, sizeof text, "%f", value);
	out += text;
}

void put_character(std::string& out, uint64_t bits) {
	const char c = static_cast<char>(bits);
	out += '\'';
	if (c == 0)
		out += "\\0";
	else
		put_escaped(out, {&c, 1});
	out += '\'';
}

class Printer {
public:
	Printer(std::string& out, std::span<const std::byte> bytes, bool pointed = false)
	    : out_(out), most_(out.size() + kTextMax), bytes_(bytes), pointed_(pointed) {}

	void value(TypeRef type, uint64_t bit_offset, unsigned bit_width, unsigned depth);

private:
	void number(TypeRef type, const types::TypeInfo& info, uint64_t bit_offset, unsigned bit_width);
	void aggregate(TypeRef type, const types::TypeInfo& info, uint64_t bit_offset, unsigned depth);
	void array(const types::TypeInfo& info, uint64_t bit_offset, unsigned depth);
	bool has(uint64_t byte, uint64_t size) const {
		return byte <= bytes_.size() && size <= bytes_.size() - byte;
	}
	bool is_cut(const types::Member& member, uint64_t bit_offset) const;
	bool is_whole(const types::Member& member, uint64_t bit_offset) const;
	bool is_zero(const types::Member& member, uint64_t bit_offset) const;

	std::string& out_;
	size_t most_; // where it stops
	std::span<const std::byte> bytes_;
	bool pointed_; // members that are zero are left out, and what is not there is cut
};

// The bytes without which nothing of it can be shown: a struct shows the members that are there, an array the elements.
uint64_t least(TypeRef type, unsigned depth = 0) {
	const auto info = types::resolved_info(type);
	if (info.kind == Kind::Array && depth < kDepthMax)
		return least(info.target, depth + 1);
	return info.kind == Kind::Struct || info.kind == Kind::Union ? 1 : types::size_of(type).value_or(0);
}

uint64_t bytes_of(const types::Member& member, uint64_t bit_offset, uint64_t size) {
	return member.bit_width ? (bit_offset % 8 + member.bit_width + 7) / 8 : size;
}

// Nothing of it can be shown, or there may be something behind the zeros that are there. What has no size, such as an
// array [] at a struct's end, has nothing that could be missing.
bool Printer::is_cut(const types::Member& member, uint64_t bit_offset) const {
	if (!bytes_of(member, bit_offset, types::size_of(member.type).value_or(0)))
		return false;
	return !has(bit_offset / 8, bytes_of(member, bit_offset, least(member.type))) ||
	       (!is_whole(member, bit_offset) && is_zero(member, bit_offset));
}

bool Printer::is_whole(const types::Member& member, uint64_t bit_offset) const {
	return has(bit_offset / 8, bytes_of(member, bit_offset, types::size_of(member.type).value_or(0)));
}

bool Printer::is_zero(const types::Member& member, uint64_t bit_offset) const {
	const uint64_t at = std::min<uint64_t>(bit_offset / 8, bytes_.size());
	if (member.bit_width && member.bit_width < 64)
		return !(
		    (load(bytes_, at, std::min<uint64_t>((bit_offset % 8 + member.bit_width + 7) / 8, 8)) >>
		     bit_offset % 8) &
		    ((uint64_t{1} << member.bit_width) - 1));
	const auto bytes = bytes_.subspan(
	    at, std::min<uint64_t>(types::size_of(member.type).value_or(0), bytes_.size() - at));
	return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; });
}

void Printer::number(TypeRef type, const types::TypeInfo& info, uint64_t bit_offset, unsigned bit_width) {
	const uint64_t size = info.kind == Kind::Pointer ? 8 : std::min<uint64_t>(info.size, 8);
	uint64_t bits = load(bytes_, bit_offset / 8, size);
	if (bit_width != 0 && bit_width < 64) {
		bits = (load(bytes_, bit_offset / 8,
		             std::min<uint64_t>((bit_offset % 8 + bit_width + 7) / 8, 8)) >>
		        bit_offset % 8) &
		       ((uint64_t{1} << bit_width) - 1);
	}
	if (info.kind == Kind::Enum) {
		// A constant is written with or without a sign.
		const auto bytes = static_cast<unsigned>(size);
		auto named = types::find_enumerator(type, cut_signed(bits, bytes));
		if (!named)
			named = types::find_enumerator(type, static_cast<int64_t>(cut_unsigned(bits, bytes)));
		if (named) {
			out_ += harmless(named->name);
			return;
		}
	}
	if (info.kind == Kind::Float && (size == 4 || size == 8))
		return put_float(out_, bits, size);
	if (info.kind == Kind::Integer && info.is_char && info.is_signed && bit_width == 0)
		return put_character(out_, bits);
	put_number(out_, cut_unsigned(bits, static_cast<unsigned>(size)));
}

void Printer::array(const types::TypeInfo& info, uint64_t bit_offset, unsigned depth) {
	const auto element = types::resolved_info(info.target);
	const auto size = types::size_of(info.target).value_or(0);
	if (element.kind == Kind::Integer && size == 1 && (element.is_char || element.is_signed)) {
		const uint64_t at = bit_offset / 8;
		const uint64_t room = at > bytes_.size() ? 0 : std::min(info.count, bytes_.size() - at);
		const auto text = bytes_.subspan(std::min<uint64_t>(at, bytes_.size()), room);
		const auto end = std::find(text.begin(), text.end(), std::byte{0});
		out_ += "[ \"";
		put_escaped(out_, {reinterpret_cast<const char*>(text.data()),
		                   static_cast<size_t>(end - text.begin())});
		out_ += pointed_ && end == text.end() && room < info.count ? "\", ... ]" : "\" ]";
		return;
	}
	const uint64_t needed = least(info.target);
	bool all = info.count <= kElementsMax;
	out_ += "[ ";
	for (uint64_t i = 0; i < std::min(info.count, kElementsMax) && out_.size() < most_; i++) {
		if (pointed_ && !has(bit_offset / 8 + i * size, needed)) {
			all = false;
			break;
		}
		out_ += i == 0 ? "" : ", ";
		value(info.target, bit_offset + i * size * 8, 0, depth + 1);
	}
	out_ += all ? " ]" : ", ... ]";
}

void Printer::aggregate(TypeRef type, const types::TypeInfo& info, uint64_t bit_offset, unsigned depth) {
	out_ += "{\n";
	for (uint32_t i = 0; i < info.count && out_.size() < most_; i++) {
		const types::Member member = type.container->member(type.id, i);
		const bool cut = pointed_ && is_cut(member, bit_offset + member.bit_offset);
		if (pointed_ && !cut && is_zero(member, bit_offset + member.bit_offset))
			continue;
		out_.append((depth + 1) * 4, ' ');
		if (cut) {
			out_ += "...\n";
			break;
		}
		out_.append(harmless(types::to_c(member.type)))
		    .append(out_.back() == '*' ? "" : " ")
		    .append(harmless(member.name));
		if (member.bit_width != 0)
			out_.append(" :").append(std::to_string(member.bit_width));
		out_ += " = ";
		value(member.type, bit_offset + member.bit_offset, member.bit_width, depth + 1);
		out_ += '\n';
	}
	out_.append(depth * 4, ' ');
	out_ += '}';
}

void Printer::value(TypeRef type, uint64_t bit_offset, unsigned bit_width, unsigned depth) {
	if (depth > kDepthMax || out_.size() >= most_) {
		out_ += "...";
		return;
	}
	const TypeRef base = types::resolve(type);
	const auto info = types::info(base);
	switch (info.kind) {
	case Kind::Struct:
	case Kind::Union: return aggregate(base, info, bit_offset, depth);
	case Kind::Array: return array(info, bit_offset, depth);
	default: return number(base, info, bit_offset, bit_width);
	}
}

// "struct x", "union x", "enum x" or a name, in the kernel's types.
TypeRef find_type(const std::string& text, const types::Container* kernel) {
	if (!kernel)
		return {};
	const std::pair<const char*, types::NameSpace> spaces[] = {{"struct ", types::NameSpace::Struct},
	                                                           {"union ", types::NameSpace::Union},
	                                                           {"enum ", types::NameSpace::Enum}};
	for (const auto& [word, space] : spaces)
		if (text.compare(0, std::strlen(word), word) == 0)
			return kernel->find(space, text.substr(std::strlen(word)));
	return kernel->find(types::NameSpace::Ordinary, text);
}

} // namespace

void put_pointed(std::string& out, const std::string& type, const Datum& pointer, const Datum& bytes,
                 const std::string& description) {
	out += harmless(type) + " ";
	put_number(out, pointer.number);
	if (pointer.number == 0)
		return;
	out += " = *\n";
	types::ProgramTypes described;
	const size_t before = out.size();
	try {
		const TypeRef found = d::read_type_text(description, described);
		out += harmless(types::to_c(found)) + " ";
		Printer(out, bytes.bytes, true).value(found, 0, 0, 0);
	} catch (const Error&) { // a damaged description: the bytes are still worth showing
		out.resize(before);
		put_hex_dump(out, bytes.bytes);
	}
}

void put_typed(std::string& out, const std::string& type, const Datum& datum, const types::Container* kernel,
               const std::string& description) {
	out += type.empty() ? "" : harmless(type) + " ";
	if (datum.kind == DatumKind::String) {
		out += '"';
		put_escaped(out, datum.text());
		out += '"';
		return;
	}
	const bool integer = datum.kind == DatumKind::Integer;
	types::ProgramTypes described;
	const size_t before = out.size();
	try {
		const TypeRef found =
		    description.empty() ? find_type(type, kernel) : d::read_type_text(description, described);
		if (found && integer && types::resolved_info(found).kind == Kind::Enum)
			return Printer(out, std::as_bytes(std::span(&datum.number, 1))).value(found, 0, 0, 0);
		if (found && !integer && datum.kind != DatumKind::Float)
			return Printer(out, datum.bytes).value(found, 0, 0, 0);
	} catch (const Error&) { // as above
		out.resize(before);
	}
	if (datum.kind == DatumKind::Float)
		return put_float(out, datum.number, datum.size);
	if (integer && type == "char")
		return put_character(out, datum.number);
	if (integer)
		return put_number(out, cut_unsigned(datum.number, datum.size));
	put_hex_dump(out, datum.bytes);
}

} // namespace dfr::render
