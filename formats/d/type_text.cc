// SPDX-License-Identifier: GPL-2.0
//
// type_text: a writer that numbers types as it meets them, and a reader that
// makes each line's type once, by recursion over line numbers.
#include "formats/d/type_text.h"

#include <charconv>
#include <deque>
#include <unordered_map>
#include <vector>

#include "formats/error.h"

namespace dfr::d {

using types::Kind;
using types::TypeInfo;
using types::TypeRef;

namespace {

constexpr size_t kLinesMax = 8192;

class TypeTextWriter {
public:
	std::string run(TypeRef type) {
		number(type, 0);
		std::string out;
		// Lines are written as they are numbered: the list grows meanwhile.
		for (size_t i = 0; i < queue_.size() && i < kLinesMax; i++)
			out += line(queue_[i].type, queue_[i].named) + '\n';
		return out;
	}

private:
	struct Pending {
		TypeRef type;
		bool named; // only its name: behind a pointer
	};

	size_t number(TypeRef type, bool named) {
		while (type) {
			const TypeInfo info = types::info(type);
			if (info.kind != Kind::Const && info.kind != Kind::Volatile &&
			    info.kind != Kind::Restrict)
				break;
			type = info.target;
		}
		auto& known = numbers_[named];
		const auto at = known.find(type);
		if (at != known.end())
			return at->second;
		queue_.push_back({type, named});
		return known[type] = queue_.size() - 1;
	}

	static std::string name(std::string_view text) { return text.empty() ? "-" : std::string(text); }

	std::string line(TypeRef type, bool named) {
		const TypeInfo info = types::info(type);
		switch (info.kind) {
		case Kind::Integer: {
			// A basic type's name has spaces: it stands last.
			const char* const sign = info.is_bool      ? "b"
			                         : !info.is_signed ? "u"
			                         : info.is_char    ? "c"
			                                           : "s";
			return "I " + std::to_string(info.bits) + ' ' + sign + ' ' + name(info.name);
		}
		case Kind::Float: return "F " + std::to_string(info.size) + ' ' + name(info.name);
		case Kind::Pointer: return "P " + std::to_string(number(info.target, true));
		case Kind::Array:
			return "A " + std::to_string(info.count) + ' ' +
			       std::to_string(number(info.target, named));
		case Kind::Typedef:
			return "T " + std::to_string(number(info.target, named)) + ' ' + name(info.name);
		case Kind::Struct:
		case Kind::Union: return named ? forward(info.kind, info) : members(type, info);
		case Kind::Enum: return named ? forward(info.kind, info) : constants(type, info);
		case Kind::Forward: return forward(info.forward, info);
		default: return "V";
		}
	}

	static std::string forward(Kind kind, const TypeInfo& info) {
		return std::string("N ") +
		       (kind == Kind::Struct  ? "s "
		        : kind == Kind::Union ? "u "
		                              : "e ") +
		       name(info.name);
	}

	std::string members(TypeRef type, const TypeInfo& info) {
		std::string out = (info.kind == Kind::Struct ? "S " : "U ") + std::to_string(info.size) +
		                  ' ' + name(info.name);
		for (uint64_t i = 0; i < info.count; i++) {
			const types::Member one = type.container->member(type.id, static_cast<uint32_t>(i));
			out += ' ' + name(one.name) + ':' + std::to_string(one.bit_offset) + ':' +
			       std::to_string(one.bit_width) + ':' + std::to_string(number(one.type, false));
		}
		return out;
	}

	static std::string constants(TypeRef type, const TypeInfo& info) {
		std::string out =
		    "E " + std::to_string(info.size) + (info.is_signed ? " s " : " u ") + name(info.name);
		for (uint64_t i = 0; i < info.count; i++) {
			const types::Enumerator one =
			    type.container->enumerator(type.id, static_cast<uint32_t>(i));
			out += ' ' + std::string(one.name) + '=' + std::to_string(one.value);
		}
		return out;
	}

	std::deque<Pending> queue_;
	std::unordered_map<TypeRef, size_t> numbers_[2];
};

class TypeTextReader {
public:
	TypeTextReader(std::string_view text, types::ProgramTypes& into) : into_(into) {
		while (!text.empty()) {
			const size_t end = std::min(text.find('\n'), text.size());
			if (lines_.size() >= kLinesMax)
				fail("too many types");
			lines_.push_back(text.substr(0, end));
			text.remove_prefix(std::min(end + 1, text.size()));
		}
		made_.resize(lines_.size());
		busy_.resize(lines_.size());
	}

	TypeRef type(uint64_t index) {
		if (index >= lines_.size())
			fail("type " + std::to_string(index) + " does not exist");
		if (made_[index])
			return made_[index];
		if (busy_[index] || depth_ > types::kMaxDepth)
			fail("type " + std::to_string(index) + " contains itself or is nested too deeply");
		busy_[index] = true;
		depth_++;
		std::string_view rest = lines_[index];
		made_[index] = make(rest);
		depth_--;
		return made_[index];
	}

private:
	[[noreturn]] static void fail(const std::string& why) {
		throw Error("bad description of a type: " + why, "the program's DOF is damaged", EINVAL);
	}

	static std::string_view word(std::string_view& rest) {
		const size_t end = std::min(rest.find(' '), rest.size());
		const std::string_view out = rest.substr(0, end);
		rest.remove_prefix(std::min(end + 1, rest.size()));
		if (out.empty())
			fail("a line ends early");
		return out;
	}

	template <typename T> static T parse(std::string_view text) {
		T value{};
		const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
		if (error != std::errc() || end != text.data() + text.size())
			fail("\"" + std::string(text) + "\" is no number");
		return value;
	}
	template <typename T = uint64_t> static T number(std::string_view& rest) {
		return parse<T>(word(rest));
	}
	static std::string_view name(std::string_view text) {
		return text == "-" ? std::string_view() : text;
	}

	TypeRef make(std::string_view rest) {
		const std::string_view kind = word(rest);
		if (kind == "I")
			return integer(rest);
		if (kind == "F") {
			const auto bytes = number<uint32_t>(rest);
			return into_.floating(rest, bytes);
		}
		if (kind == "P")
			return into_.pointer(type(number(rest)));
		if (kind == "A") {
			const uint64_t count = number(rest);
			return into_.array(type(number(rest)), count);
		}
		if (kind == "T") {
			const TypeRef target = type(number(rest));
			return into_.typedef_name(word(rest), target);
		}
		if (kind == "S" || kind == "U")
			return members(kind == "S" ? Kind::Struct : Kind::Union, rest);
		if (kind == "E")
			return constants(rest);
		if (kind == "N") {
			const std::string_view what = word(rest);
			return into_.forward(what == "s"   ? Kind::Struct
			                     : what == "u" ? Kind::Union
			                                   : Kind::Enum,
			                     name(word(rest)));
		}
		if (kind == "V")
			return into_.void_type();
		fail("unknown kind \"" + std::string(kind) + "\"");
	}

	TypeRef integer(std::string_view rest) {
		types::IntegerSpec spec;
		spec.bits = number<uint32_t>(rest);
		if (!spec.bits || spec.bits > 128)
			fail("an integer of " + std::to_string(spec.bits) + " bits");
		const std::string_view sign = word(rest);
		spec.is_bool = sign == "b";
		spec.is_char = sign == "c";
		spec.is_signed = sign == "s" || sign == "c";
		if (rest.empty())
			fail("an integer without a name");
		return into_.integer(rest, spec);
	}

	TypeRef members(Kind kind, std::string_view rest) {
		const uint64_t size = number(rest);
		// A tag may be declared before by a pointer to it; each is defined once.
		const std::string_view tag = name(word(rest));
		TypeRef made = into_.forward(kind, tag);
		if (types::info(made).kind != Kind::Forward)
			made = into_.forward(kind, {});
		std::vector<types::Member> list;
		while (!rest.empty()) {
			const std::string_view text = word(rest);
			const size_t first = text.find(':'), second = text.find(':', first + 1),
			             third = text.find(':', second + 1);
			if (first == std::string_view::npos || second == std::string_view::npos ||
			    third == std::string_view::npos)
				fail("member \"" + std::string(text) + "\"");
			types::Member one;
			one.name = name(text.substr(0, first));
			one.bit_offset = parse<uint64_t>(text.substr(first + 1, second - first - 1));
			one.bit_width = parse<uint32_t>(text.substr(second + 1, third - second - 1));
			one.type = type(parse<uint64_t>(text.substr(third + 1)));
			if (one.bit_width > 64 || one.bit_offset / 8 > size)
				fail("member \"" + std::string(text) + "\" lies outside its struct");
			list.push_back(one);
		}
		into_.define_at(made, list, size);
		return made;
	}

	TypeRef constants(std::string_view rest) {
		const auto bytes = number<uint32_t>(rest);
		const bool is_signed = word(rest) == "s";
		TypeRef made = into_.forward(Kind::Enum, name(word(rest)));
		if (types::info(made).kind != Kind::Forward)
			made = into_.forward(Kind::Enum, {});
		std::vector<types::Enumerator> list;
		while (!rest.empty()) {
			const std::string_view text = word(rest);
			const size_t equals = text.find('=');
			if (equals == std::string_view::npos)
				fail("constant \"" + std::string(text) + "\"");
			list.push_back({text.substr(0, equals), parse<int64_t>(text.substr(equals + 1))});
		}
		into_.define_enum(made, list, bytes, is_signed);
		return made;
	}

	types::ProgramTypes& into_;
	std::vector<std::string_view> lines_;
	std::vector<TypeRef> made_;
	std::vector<bool> busy_;
	unsigned depth_ = 0;
};

} // namespace

std::string write_type_text(TypeRef type) {
	return TypeTextWriter().run(type);
}

TypeRef read_type_text(std::string_view text, types::ProgramTypes& into) {
	return TypeTextReader(text, into).type(0);
}

} // namespace dfr::d
