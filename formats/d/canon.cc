// SPDX-License-Identifier: GPL-2.0
//
// canonical(): a walk that gives up with an empty text at the first node that
// is no firing input.
#include "formats/d/canon.h"

#include <algorithm>
#include <cstdlib>

#include "formats/d/builtins.h"
#include "formats/d/codegen.h"

namespace dfr::d {

using types::TypeRef;

namespace {

class Walker {
public:
	explicit Walker(TypeTable& types) : types_(types) {}

	std::string value(const Node* node) {
		switch (node->kind) {
		case Nk::Int: return std::to_string(static_cast<int64_t>(node->value));
		case Nk::Float: return real(node);
		case Nk::String: return quoted(node->text);
		case Nk::BuiltinVar: return builtin(node);
		case Nk::Symbol: return types_.is_function(node->type) ? symbol(node) : load(node);
		case Nk::Subr: return call(node);
		case Nk::Unary: return unary(node);
		case Nk::Binary: return binary(node);
		case Nk::Ternary: return list("?:", {value(node->a), value(node->b), value(node->c)});
		case Nk::Member: return load(node);
		case Nk::Cast: return cast(node);
		case Nk::Stringof: return list("str", {operand(node->a)});
		default: return {};
		}
	}

private:
	static std::string list(const std::string& head, std::initializer_list<std::string> parts) {
		std::string out = "(" + head;
		for (const std::string& part : parts) {
			if (part.empty())
				return {};
			out += ' ' + part;
		}
		return out + ')';
	}

	// The kernel proper goes without saying: a target may not know the module.
	static std::string symbol(const Node* node) {
		const std::string_view text = node->text;
		return "`" + std::string(text.starts_with("vmlinux`") ? text.substr(8) : text);
	}

	static std::string real(const Node* node) {
		char text[40];
		std::snprintf(text, sizeof text, "%a", node->real);
		return text;
	}

	static std::string quoted(const std::string& text) {
		std::string out = "\"";
		for (const char c : text) {
			char hex[8];
			if (c == '"' || c == '\\' || c < ' ' || c > '~') {
				std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
				out += hex;
			} else {
				out += c;
			}
		}
		return out + '"';
	}

	std::string builtin(const Node* node) {
		if (!node->builtin->input)
			return {};
		std::string name(node->builtin->name);
		if (!node->builtin->array)
			return name;
		const std::string index = value(node->list[0]);
		return index.empty() ? index : name + '[' + index + ']';
	}

	std::string call(const Node* node) {
		if (!(node->subroutine->flags & kPure))
			return {};
		std::string out = "(" + std::string(node->subroutine->name());
		for (const Node* const argument : node->list) {
			const std::string text = operand(argument);
			if (text.empty())
				return {};
			out += ' ' + text;
		}
		return out + ')';
	}

	std::string sign(TypeRef type) { return types_.is_signed(type) ? "s" : "u"; }

	// What a cast to bool makes of 2 is not what a cast to another byte makes of it.
	std::string cast_name(TypeRef type) {
		return (types_.info(type).is_bool ? "b" : sign(type)) + std::to_string(types_.size(type));
	}

	std::string operand(const Node* node) {
		return types_.is_array(node->type) ? address(node) : value(node);
	}

	std::string address(const Node* node) {
		switch (node->kind) {
		case Nk::Unary: return value(node->a);
		case Nk::Symbol: return symbol(node);
		case Nk::Cast: return address(node->a);
		case Nk::Member: {
			// a.b.c is one offset, however the structs are nested.
			uint64_t offset = node->bit_width ? 0 : node->bit_offset / 8;
			const Node* at = node;
			while (!at->arrow && at->a->kind == Nk::Member && !at->a->bit_width) {
				at = at->a;
				offset += at->bit_offset / 8;
			}
			const std::string base = at->arrow ? value(at->a) : address(at->a);
			return offset && !base.empty() ? list("+", {base, std::to_string(offset)}) : base;
		}
		default: return value(node);
		}
	}

	std::string load(const Node* node) {
		const std::string user = node->user ? "u" : "";
		const std::string where = address(node);
		if (node->kind == Nk::Member && node->bit_width)
			return list("bits", {sign(node->type), std::to_string(node->bit_offset),
			                     std::to_string(node->bit_width), where});
		const uint64_t size = types_.size(node->type);
		if (types_.is_by_ref(node->type))
			return list(user + "ref", {std::to_string(size), where});
		return list(user + "load", {sign(node->type) + std::to_string(size), where});
	}

	std::string cast(const Node* node) {
		if (types_.is_array(node->a->type))
			return address(node->a);
		std::string inner = value(node->a);
		if (!types_.is_integer(node->type) || types_.size(node->type) >= 8)
			return inner;
		if (types_.is_integer(node->a->type) && cast_name(node->a->type) == cast_name(node->type) &&
		    exact(types_, node->a))
			return inner;
		return list("cast", {cast_name(node->type), inner});
	}

	std::string unary(const Node* node) {
		switch (node->op) {
		case Tok::Star: return load(node);
		case Tok::And: return address(node->a);
		case Tok::Plus: return value(node->a);
		case Tok::Minus: return list("neg", {value(node->a)});
		case Tok::Tilde: return list("not", {value(node->a)});
		case Tok::Not: return list("!", {operand(node->a)});
		default: return {};
		}
	}

	std::string binary(const Node* node) {
		const bool pointers = types_.is_pointer(node->a->type) || types_.is_array(node->a->type);
		if (types_.is_pointer(node->type) && (node->op == Tok::Plus || node->op == Tok::Minus))
			return pointer_sum(node, pointers);
		std::string name(token_name(node->op));
		const bool strings = types_.is_string(node->a->type) || types_.is_string(node->b->type);
		if (node->op >= Tok::Lt && node->op <= Tok::Ne) {
			if (strings)
				name += "$";
			else if (node->op <= Tok::Ge &&
			         !types_.is_signed(types_.promote(node->a->type, node->b->type)))
				name += "u";
		}
		if (node->op == Tok::Slash || node->op == Tok::Percent || node->op == Tok::Shr)
			name = sign(node->type) + name;
		if (node->op == Tok::Minus && pointers)
			name += std::to_string(types_.size(types_.target(node->a->type)));
		if (node->op == Tok::Comma)
			return list(name, {operand(node->a), value(node->b)});
		return list(name, {operand(node->a), operand(node->b)});
	}

	std::string pointer_sum(const Node* node, bool left_pointer) {
		const TypeRef to = types_.target(node->type);
		const uint64_t step = types_.is_void(to) ? 1 : types_.size(to);
		const Node* const base = left_pointer ? node->a : node->b;
		const Node* const index = left_pointer ? node->b : node->a;
		const char* const name = node->op == Tok::Plus ? "+" : "-";
		if (index->kind == Nk::Int) {
			const auto offset = static_cast<int64_t>(index->value * step);
			return offset ? list(name, {operand(base), std::to_string(offset)}) : operand(base);
		}
		return list(name,
		            {operand(base),
		             step == 1 ? value(index) : list("*", {value(index), std::to_string(step)})});
	}

	TypeTable& types_;
};

} // namespace

std::string source_text(TypeTable& types, const Node* node) {
	if (!node)
		return "?";
	const auto list = [&](const std::vector<Node*>& nodes) {
		std::string out;
		for (const Node* const one : nodes)
			out += (out.empty() ? "" : ", ") + source_text(types, one);
		return out;
	};
	switch (node->kind) {
	case Nk::Int: return std::to_string(static_cast<int64_t>(node->value));
	case Nk::String: return '"' + node->text + '"';
	case Nk::BuiltinVar:
		return std::string(node->builtin->name) +
		       (node->builtin->array ? "[" + list(node->list) + "]" : "");
	case Nk::Var: return kScopePrefix[node->variable->scope] + node->variable->name;
	case Nk::Symbol: return (node->text.find('`') == std::string::npos ? "`" : "") + node->text;
	case Nk::Subr: return std::string(node->subroutine->name()) + "(" + list(node->list) + ")";
	case Nk::Member: return source_text(types, node->a) + (node->arrow ? "->" : ".") + node->text;
	case Nk::Unary: return std::string(token_name(node->op)) + source_text(types, node->a);
	case Nk::Binary:
		return "(" + source_text(types, node->a) + " " + std::string(token_name(node->op)) + " " +
		       source_text(types, node->b) + ")";
	case Nk::Cast: return "(" + types.text(node->type) + ")" + source_text(types, node->a);
	case Nk::Ternary:
		return "(" + source_text(types, node->a) + " ? " + source_text(types, node->b) + " : " +
		       source_text(types, node->c) + ")";
	case Nk::Stringof: return "stringof(" + source_text(types, node->a) + ")";
	case Nk::Recorded: return node->text + "(" + list(node->list) + ")";
	default: return "...";
	}
}

namespace {

// Reads canonical text back into the notation that people write, operators between their operands.
class CanonReader {
public:
	explicit CanonReader(std::string_view text) : text_(text) {}

	// No program that was compiled is so deep, but a recording may say anything.
	static constexpr unsigned kDeepest = 1000;

	std::string expression(unsigned depth = 0) {
		if (depth > kDeepest)
			at_ = text_.size();
		if (at_ >= text_.size() || text_[at_] != '(')
			return number(word());
		at_++;
		std::string head = word();
		std::vector<std::string> parts;
		while (at_ < text_.size() && text_[at_] == ' ') {
			at_++;
			parts.push_back(expression(depth + 1));
		}
		at_++; // the closing parenthesis
		return put(head, parts);
	}

private:
	std::string word() {
		const size_t from = at_;
		bool quoted = false;
		for (; at_ < text_.size(); at_++) {
			const char c = text_[at_];
			if (c == '"')
				quoted = !quoted;
			else if (!quoted && (c == ' ' || c == ')'))
				break;
		}
		return std::string(text_.substr(from, at_ - from));
	}

	// A floating-point one, which Walker::real() has written, as people write it; else as it is.
	static std::string number(std::string text) {
		if (!text.starts_with("0x") && !text.starts_with("-0x"))
			return text;
		const double value = std::strtod(text.c_str(), nullptr);
		char decimal[32];
		std::snprintf(decimal, sizeof decimal, "%g", value);
		if (std::strtod(decimal, nullptr) != value)
			std::snprintf(decimal, sizeof decimal, "%.17g", value);
		text = decimal;
		return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
	}

	// Subroutines of floating point, as operators and casts; empty: it is none.
	static std::string put_real(const std::string& head, const std::vector<std::string>& parts) {
		static constexpr std::pair<std::string_view, std::string_view> kHeads[] = {
		    {"f_add", " + "},          {"f_sub", " - "},           {"f_mul", " * "},
		    {"f_div", " / "},          {"f_cmp", kOrder},          {"f_neg", "-"},
		    {"f_from_i64", ""},        {"f_from_u64", ""},         {"f_from_f32", ""},
		    {"f_to_i64", "(int64_t)"}, {"f_to_u64", "(uint64_t)"}, {"f_to_f32", "(float)"}};
		for (const auto& [name, sign] : kHeads) {
			if (name != head || parts.empty() || parts.size() > 2)
				continue;
			if (parts.size() == 2)
				return alone(parts[0]).append(sign).append(alone(parts[1]));
			return sign.empty() ? parts[0] : std::string(sign) + alone(parts[0]);
		}
		return {};
	}

	static std::string alone(const std::string& part) {
		return part.find(' ') == std::string::npos ? part : "(" + part + ")";
	}

	// A comparison of what f_cmp gives, as Sema::float_comparison() makes it; empty: it is none.
	static std::string put_order(const std::string& head, const std::vector<std::string>& parts) {
		static constexpr std::string_view kComparisons[][3] = {
		    {"==", "0", " == "}, {"!=", "0", " != "}, {"==", "-1", " < "},
		    {"==", "1", " > "},  {"<=", "0", " <= "}, {"<u", "2", " >= "}};
		const size_t at = parts.size() == 2 ? parts[0].find(kOrder) : std::string::npos;
		for (const auto& [sign, value, means] : kComparisons)
			if (at != std::string::npos && head == sign && parts[1] == value)
				return std::string(parts[0]).replace(at, kOrder.size(), means);
		return {};
	}

	static std::string put(const std::string& head, const std::vector<std::string>& parts) {
		for (const auto& real : {put_order(head, parts), put_real(head, parts)})
			if (!real.empty())
				return real;
		if (parts.size() == 2 && head.find_first_of("=<>&|^+-*/%") != std::string::npos) {
			// Marks of type: s/ and u/ of divisions and shifts, $ of strings, u of unsigned comparisons.
			const size_t first = head.find_first_of("=<>!&|^+-*/%"),
			             last = head.find_last_of("=<>!&|^+-*/%");
			const std::string sign = head.substr(first, last - first + 1);
			return inner(parts[0], sign) + " " + sign + " " + inner(parts[1], sign);
		}
		if (head == "," && parts.size() == 2)
			return "(" + parts[0] + ", " + parts[1] + ")";
		if (head == "!" && parts.size() == 1)
			return "!(" + parts[0] + ")";
		if ((head == "cast" || head == "load" || head == "uload" || head == "ref" ||
		     head == "uref") &&
		    parts.size() == 2)
			return head == "cast" ? parts[1] : "*(" + parts[1] + ")";
		std::string out = head + "(";
		for (const std::string& part : parts)
			out += (&part == &parts.front() ? "" : ", ") + part;
		return out + ")";
	}

	// && and || within the other one, or within anything else, are in parentheses.
	static std::string inner(const std::string& part, const std::string& sign) {
		const bool and_ = part.find(" && ") != std::string::npos,
		           or_ = part.find(" || ") != std::string::npos;
		return (and_ && sign != "&&") || (or_ && sign != "||") ? "(" + part + ")" : part;
	}

	// Between the two that f_cmp compares, until the comparison around it says how.
	static constexpr std::string_view kOrder = " <=> ";

	std::string_view text_;
	size_t at_ = 0;
};

} // namespace

std::string readable(const std::string& canonical) {
	return CanonReader(canonical).expression();
}

std::string canonical(TypeTable& types, const Node* node) {
	return Walker(types).value(node);
}

std::string recorded_text(const std::string& canonical, uint64_t size, bool is_signed) {
	static constexpr std::string_view kComputed[] = {"+",  "-",   "*",   "s/",  "u/", "s%",
	                                                 "u%", "<<",  "s>>", "u>>", "&",  "|",
	                                                 "^",  "neg", "not", "?:",  ","};
	const std::string_view text = canonical;
	const std::string_view head = text.starts_with('(') ? text.substr(1, text.find(' ') - 1) : "";
	if (size >= 8 || std::find(std::begin(kComputed), std::end(kComputed), head) == std::end(kComputed))
		return canonical;
	return std::string("(cast ") + (is_signed ? "s" : "u") + std::to_string(size) + " " + canonical + ")";
}

} // namespace dfr::d
