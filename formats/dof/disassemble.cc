// SPDX-License-Identifier: GPL-2.0
//
// A DOF to text: text.h says what the forms are for.
#include "formats/dof/text.h"

#include <cstdio>

#include "formats/dif/disasm.h"

namespace dfr::dof {
namespace {

std::string in_quotes(std::string_view text) {
	std::string out = "\"";
	for (const char c : text) {
		char octal[8];
		if (c == '"' || c == '\\') {
			out += '\\';
			out += c;
		} else if (c == '\n') {
			out += "\\n";
		} else if (c < ' ' || c > '~') {
			std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
			out += octal;
		} else {
			out += c;
		}
	}
	return out + '"';
}

std::string number(uint64_t value) {
	return std::to_string(value);
}

std::string hex(uint64_t value) {
	char text[24];
	std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
	return text;
}

std::string type_words(const dif_type& type) {
	return number(type.kind) + ' ' + number(type.ckind) + ' ' + number(type.flags) + ' ' +
	       number(type.size);
}

void put_difo(std::string& out, const dif::Difo& difo, const std::string& indent) {
	out += indent + "difo " + type_words(difo.rtype) + "\t! " + dif::type_text(difo.rtype) + '\n';
	for (size_t i = 0; i < difo.text.size(); i++) {
		char head[40];
		std::snprintf(head, sizeof head, "%02zu: %08x    ", i, difo.text[i]);
		out += indent + "  " + head + dif::instruction_text(difo.text[i]) + '\n';
	}
	for (size_t i = 0; i < difo.integers.size(); i++)
		out += indent + "  integer " + hex(difo.integers[i]) + "\t! DT_INTEGER[" + number(i) + "]\n";
	if (!difo.strings.empty())
		out += indent + "  strings " + in_quotes(difo.strings) + '\n';
	for (const dif_var& one : difo.variables)
		out += indent + "  variable " + number(one.name) + ' ' + hex(one.id) + ' ' +
		       number(one.kind) + ' ' + number(one.scope) + ' ' + number(one.flags) + ' ' +
		       type_words(one.type) + "\t! " + dif::escaped(difo.string_at(one.name)) + '\n';
	for (const dif::Relocation& one : difo.relocations)
		out += indent + "  relocation " + in_quotes(one.symbol) + ' ' + number(one.index) + ' ' +
		       hex(one.addend) + '\n';
	for (const dif::SourceLine& one : difo.lines)
		out += indent + "  line " + number(one.pc) + ' ' + in_quotes(one.file) + ' ' +
		       number(one.line) + ' ' + number(one.column) + '\n';
	out += indent + "end\n";
}

void put_action(std::string& out, const Action& action) {
	out += "  action " + hex(action.kind) + ' ' + number(action.ntuple) + ' ' + hex(action.arg) + ' ' +
	       hex(action.uarg) + '\n';
	if (action.format)
		out += "    format " + in_quotes(*action.format) + '\n';
	if (!action.expression.empty())
		out += "    expression " + in_quotes(action.expression) + '\n';
	if (!action.type.empty())
		out += "    type " + in_quotes(action.type) + '\n';
	if (action.difo)
		put_difo(out, *action.difo, "    ");
}

} // namespace

std::string disassemble_file(const Image& image) {
	std::string out = "dof 1\n";
	for (const Body& body : image.bodies) {
		out += "body\n";
		if (body.predicate) {
			out += "  predicate\n";
			put_difo(out, *body.predicate, "    ");
		}
		if (!body.condition.empty())
			out += "  condition " + in_quotes(body.condition) + '\n';
		for (const Action& action : body.actions)
			put_action(out, action);
	}
	for (const EcbDesc& ecb : image.ecbs)
		out += "ecb " + number(ecb.body) + ' ' + hex(ecb.uarg) + ' ' + number(ecb.probe.id) + ' ' +
		       in_quotes(ecb.probe.host) + ' ' + in_quotes(ecb.probe.provider) + ' ' +
		       in_quotes(ecb.probe.module) + ' ' + in_quotes(ecb.probe.function) + ' ' +
		       in_quotes(ecb.probe.name) + '\n';
	for (const Option& option : image.options)
		out += "option " + hex(option.option) + ' ' + std::to_string(option.value) + '\n';
	for (const AggName& name : image.aggregations)
		out += "aggregation " + number(name.id) + ' ' + in_quotes(name.name) + '\n';
	if (image.btf_digest)
		out += "btf " + hex(*image.btf_digest) + ' ' + in_quotes(image.btf_name) + '\n';
	if (!image.comments.empty())
		out += "comments " + in_quotes(image.comments) + '\n';
	if (!image.source.empty())
		out += "source " + in_quotes(image.source) + '\n';
	return out;
}

std::string disassemble_listing(const Image& image) {
	std::string out;
	for (const Body& body : image.bodies) {
		if (body.predicate)
			out += dif::disassemble(*body.predicate);
		for (const Action& action : body.actions) {
			if (action.difo)
				out += dif::disassemble(*action.difo);
		}
	}
	return out;
}

} // namespace dfr::dof
