// SPDX-License-Identifier: GPL-2.0
//
// The assembler reads line by line and acts on each line's keyword. It parses an
// instruction's mnemonic and operands and ignores the printed word beside them, so
// that an edited listing assembles to what it says.
#include "formats/dof/text.h"

#include <cerrno>
#include <cstdlib>

#include "formats/dif/opcodes.h"
#include "formats/error.h"

namespace dfr::dof {
namespace {

class Assembler {
public:
	explicit Assembler(std::string_view text) : text_(text) {}

	Image run() {
		while (next_line())
			statement();
		if (difo_)
			fail("the last DIFO has no end");
		return std::move(image_);
	}

private:
	[[noreturn]] void fail(const std::string& why) const {
		throw Error("cannot assemble line " + std::to_string(line_number_) + ": " + why,
		            "compare with what dfr disasm prints", EINVAL);
	}

	bool next_line() {
		while (at_ < text_.size()) {
			const size_t end = std::min(text_.find('\n', at_), text_.size());
			line_ = text_.substr(at_, end - at_);
			at_ = end + 1;
			line_number_++;
			skip_blanks();
			if (!line_.empty() && line_[0] != '!')
				return true;
		}
		return false;
	}

	void skip_blanks() {
		while (!line_.empty() && (line_[0] == ' ' || line_[0] == '\t'))
			line_.remove_prefix(1);
	}

	std::string_view word() {
		skip_blanks();
		const size_t end = std::min(line_.find_first_of(" \t"), line_.size());
		const std::string_view out = line_.substr(0, end);
		line_.remove_prefix(end);
		if (out.empty() || out[0] == '!')
			fail("something is missing at its end");
		return out;
	}

	uint64_t number(uint64_t most = UINT64_MAX) {
		const std::string text(word());
		char* end = nullptr;
		errno = 0;
		const bool negative = text[0] == '-'; // for 64 bits
		const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
		if (*end || errno || value > most || (negative && most != UINT64_MAX))
			fail("\"" + text + "\" is not a number that fits here");
		return value;
	}

	std::string quoted() {
		skip_blanks();
		if (line_.empty() || line_[0] != '"')
			fail("a string in quotes is expected");
		std::string out;
		size_t i = 1;
		for (; i < line_.size() && line_[i] != '"'; i++) {
			if (line_[i] != '\\') {
				out += line_[i];
				continue;
			}
			if (++i >= line_.size())
				break;
			if (line_[i] >= '0' && line_[i] <= '7' && i + 2 < line_.size()) {
				out += static_cast<char>((line_[i] - '0') * 64 + (line_[i + 1] - '0') * 8 +
				                         (line_[i + 2] - '0'));
				i += 2;
			} else {
				out += line_[i] == 'n' ? '\n' : line_[i];
			}
		}
		if (i >= line_.size())
			fail("the string does not end");
		line_.remove_prefix(i + 1);
		return out;
	}

	dif_type type() {
		dif_type out{};
		out.kind = number(UINT8_MAX);
		out.ckind = number(UINT8_MAX);
		out.flags = number(UINT8_MAX);
		out.size = number(UINT32_MAX);
		return out;
	}

	Action& action() {
		if (image_.bodies.empty() || image_.bodies.back().actions.empty())
			fail("an action must come first");
		return image_.bodies.back().actions.back();
	}

	Body& body() {
		if (image_.bodies.empty())
			fail("a body must come first");
		return image_.bodies.back();
	}

	void statement() {
		const std::string_view keyword = word();
		if (difo_)
			return difo_line(keyword);
		if (keyword == "dof") {
			number(1);
		} else if (keyword == "body") {
			image_.bodies.emplace_back();
			in_predicate_ = false;
		} else if (keyword == "predicate") {
			body();
			in_predicate_ = true;
		} else if (keyword == "condition") {
			body().condition = quoted();
		} else if (keyword == "action") {
			in_predicate_ = false;
			Action one;
			one.kind = number(UINT32_MAX);
			one.ntuple = number(UINT32_MAX);
			one.arg = number();
			one.uarg = number();
			body().actions.push_back(std::move(one));
		} else if (keyword == "format") {
			action().format = quoted();
		} else if (keyword == "expression") {
			action().expression = quoted();
		} else if (keyword == "type") {
			action().type = quoted();
		} else if (keyword == "difo") {
			difo_ = in_predicate_ ? &body().predicate.emplace() : &action().difo.emplace();
			in_predicate_ = false;
			difo_->rtype = type();
		} else {
			image_line(keyword);
		}
	}

	void image_line(std::string_view keyword) {
		if (keyword == "ecb") {
			EcbDesc ecb;
			ecb.body = number(image_.bodies.empty() ? 0 : image_.bodies.size() - 1);
			body();
			ecb.uarg = number();
			ecb.probe.id = number(UINT32_MAX);
			ecb.probe.host = quoted();
			ecb.probe.provider = quoted();
			ecb.probe.module = quoted();
			ecb.probe.function = quoted();
			ecb.probe.name = quoted();
			image_.ecbs.push_back(std::move(ecb));
		} else if (keyword == "option") {
			const auto option = static_cast<uint32_t>(number(UINT32_MAX));
			image_.options.push_back({option, static_cast<int64_t>(number())});
		} else if (keyword == "aggregation") {
			const auto id = static_cast<uint32_t>(number(UINT32_MAX));
			image_.aggregations.push_back({id, quoted()});
		} else if (keyword == "btf") {
			image_.btf_digest = number();
			image_.btf_name = quoted();
		} else if (keyword == "comments") {
			image_.comments = quoted();
		} else if (keyword == "source") {
			image_.source = quoted();
		} else {
			fail("unknown keyword \"" + std::string(keyword) + "\"");
		}
	}

	void difo_line(std::string_view keyword) {
		if (keyword == "end") {
			if (difo_->text.empty())
				fail("a DIFO without instructions");
			difo_ = nullptr;
		} else if (keyword == "integer") {
			difo_->integers.push_back(number());
		} else if (keyword == "strings") {
			difo_->strings = quoted();
		} else if (keyword == "variable") {
			dif_var one{};
			one.name = number(UINT32_MAX);
			one.id = number(UINT32_MAX);
			one.kind = number(UINT8_MAX);
			one.scope = number(UINT8_MAX);
			one.flags = number(UINT16_MAX);
			one.type = type();
			difo_->variables.push_back(one);
		} else if (keyword == "relocation") {
			dif::Relocation one;
			one.symbol = quoted();
			one.index = number(UINT32_MAX);
			one.addend = number();
			difo_->relocations.push_back(std::move(one));
		} else if (keyword == "line") {
			dif::SourceLine one;
			one.pc = number(UINT32_MAX);
			one.file = quoted();
			one.line = number(UINT32_MAX);
			one.column = number(UINT32_MAX);
			difo_->lines.push_back(std::move(one));
		} else if (keyword.back() == ':') {
			const std::string printed(word());
			difo_->text.push_back(instruction(printed));
		} else {
			fail("unknown keyword \"" + std::string(keyword) + "\" in a DIFO");
		}
	}

	// The next operand's number, after `prefix` and before `suffix`.
	uint32_t operand(std::string_view prefix, std::string_view suffix, uint32_t most) {
		std::string_view text = word();
		if (text.ends_with(','))
			text.remove_suffix(1);
		if (!text.starts_with(prefix) || !text.ends_with(suffix) ||
		    text.size() <= prefix.size() + suffix.size())
			fail("operand \"" + std::string(text) + "\": expected " + std::string(prefix) + "N" +
			     std::string(suffix));
		text.remove_prefix(prefix.size());
		text.remove_suffix(suffix.size());
		uint64_t value = 0;
		for (const char c : text) {
			if (c < '0' || c > '9' || (value = value * 10 + (c - '0')) > most)
				fail("operand \"" + std::string(text) + "\" is not a number up to " +
				     std::to_string(most));
		}
		return static_cast<uint32_t>(value);
	}
	uint32_t reg() { return operand("%r", "", 255); }

	uint32_t instruction(const std::string& printed) {
		const std::string name(word());
		// A word without a mnemonic: take the printed hexadecimal word.
		if (name == "(illegal")
			return static_cast<uint32_t>(std::strtoul(printed.c_str(), nullptr, 16));
		const unsigned op = dif::find_opcode(name);
		if (!op)
			fail("unknown instruction \"" + name + "\"");
		uint32_t a = 0, b = 0, c = 0;
		switch (dif::find_opcode(op)->format) {
		case dif::OpcodeFormat::None: break;
		case dif::OpcodeFormat::Three:
			a = reg();
			b = reg();
			c = reg();
			break;
		case dif::OpcodeFormat::Two:
			a = reg();
			c = reg();
			break;
		case dif::OpcodeFormat::Compare:
			a = reg();
			b = reg();
			break;
		case dif::OpcodeFormat::Test: a = reg(); break;
		case dif::OpcodeFormat::Return: c = reg(); break;
		case dif::OpcodeFormat::Branch: return DIF_INSTR_BRANCH(op, operand("", "", 0xffffff));
		case dif::OpcodeFormat::Load:
			a = operand("[%r", "]", 255);
			c = reg();
			break;
		case dif::OpcodeFormat::Store:
			a = reg();
			c = operand("[%r", "]", 255);
			break;
		case dif::OpcodeFormat::SetInteger: return wide(op, "DT_INTEGER[", "]");
		case dif::OpcodeFormat::SetString: return wide(op, "DT_STRING[", "]");
		case dif::OpcodeFormat::Translate: return wide(op, "DT_XLREF[", "]");
		case dif::OpcodeFormat::LoadVariable: return wide(op, "DT_VAR(", ")");
		case dif::OpcodeFormat::Call: return wide(op, "DIF_SUBR(", ")");
		case dif::OpcodeFormat::StoreVariable: {
			c = reg();
			return DIF_INSTR_WIDE(op, operand("DT_VAR(", ")", UINT16_MAX), c);
		}
		case dif::OpcodeFormat::LoadArray:
			a = operand("DT_VAR(", ")", 255);
			b = reg();
			c = reg();
			break;
		case dif::OpcodeFormat::PushReference:
			a = operand("DT_TYPE(", ")", 255);
			b = reg();
			c = reg();
			break;
		case dif::OpcodeFormat::PushValue:
			a = operand("DT_TYPE(", ")", 255);
			c = reg();
			break;
		}
		return DIF_INSTR_R(op, a, b, c);
	}

	uint32_t wide(unsigned op, std::string_view prefix, std::string_view suffix) {
		const uint32_t index = operand(prefix, suffix, UINT16_MAX);
		return DIF_INSTR_WIDE(op, index, reg());
	}

	std::string_view text_, line_;
	size_t at_ = 0;
	size_t line_number_ = 0;
	Image image_;
	dif::Difo* difo_ = nullptr;
	bool in_predicate_ = false;
};

} // namespace

Image assemble(std::string_view text) {
	return Assembler(text).run();
}

} // namespace dfr::dof
