// SPDX-License-Identifier: GPL-2.0
//
// printf(), system() and freopen(): the format against its arguments.
#include "formats/d/clause.h"

#include "formats/d/canon.h"

namespace dfr::d {

using types::TypeRef;

namespace {

std::string prototype_mismatch(const std::string& who, const std::string& what) {
	return who + "( ) prototype mismatch: " + what;
}

bool is_any(char kind, std::string_view set) {
	return set.find(kind) != std::string_view::npos;
}

} // namespace

// Empty: the argument fits. Otherwise what would have.
std::string ClauseBuilder::conversion_prototype(const Conversion& part, const Node* argument) {
	const TypeRef type = argument->type;
	const uint32_t action = argument->kind == Nk::Recorded ? argument->action->kind : 0;
	const bool plain = !action;
	const uint64_t size = plain ? types_.size(type) : 0;
	const bool integer = plain && types_.is_integer(type);
	const bool kernel_symbol = action == DFR_ACT_SYM || action == DFR_ACT_MOD;
	const bool user_symbol = action == DFR_ACT_USYM || action == DFR_ACT_UMOD || action == DFR_ACT_UADDR;
	const bool stack = action == DFR_ACT_STACK || action == DFR_ACT_USTACK || action == DFR_ACT_JSTACK;
	switch (part.kind) {
	case 'a': return (plain && types_.is_scalar(type)) || kernel_symbol ? "" : "pointer or integer";
	case 'A':
		return (plain && types_.is_scalar(type)) || user_symbol
		           ? ""
		           : "pointer or integer (or use uaddr, usym, umod)";
	case 'k': return stack ? "" : "stack or ustack";
	case 's':
	case 'S':
		return (plain && (types_.is_string(type) || types_.is_char_array(type))) || kernel_symbol ||
		               user_symbol || stack
		           ? ""
		           : "char [] or string (or use stringof)";
	case 'I':
		return plain && (types_.is_string(type) || types_.is_char_array(type))
		           ? ""
		           : "string with an address";
	case 'p': return plain && types_.is_scalar(type) ? "" : "pointer or integer";
	case 'P': return integer && size >= 2 ? "" : "uint16_t";
	case 'T':
	case 'Y': return integer && size == 8 ? "" : "int64_t";
	case 'e':
	case 'E':
	case 'f':
	case 'g':
	case 'G':
		if (!plain || !types_.is_float(type))
			return "float, double, or long double";
		return part.size == "L" && size != 16 ? "long double" : "";
	case 'c':
	case 'C': return integer && size <= 4 ? "" : "char, short, or int";
	default: break;
	}
	if (!integer)
		return is_any(part.kind, "oxXu") ? "integer"
		       : is_any(part.kind, "di") ? "char, short, int, long, or long long"
		                                 : "integer";
	if (part.size == "h" && size != 2)
		return "short";
	if (part.size == "hh" && size != 1)
		return "char";
	if ((part.size == "l" || part.size == "ll") && size != 8)
		return part.size == "l" ? "long" : "long long";
	return "";
}

bool ClauseBuilder::check_conversion(Node* call, const Conversion& part, unsigned number, Node* argument,
                                     size_t position) {
	const std::string wanted = conversion_prototype(part, argument);
	if (wanted.empty())
		return true;
	const std::string given = argument->kind == Nk::Recorded ? argument->text : sema_.type_text(argument);
	compilation_.error(
	    "D_PRINTF_ARG_TYPE", argument->place,
	    call->text + "( ) argument #" + std::to_string(position + 1) +
	        " is incompatible with conversion #" + std::to_string(number) +
	        " prototype:\n\tconversion: " + part.text() + "\n\t prototype: " + wanted +
	        "\n\t  argument: " + given,
	    is_any(part.kind, "sS") && types_.is_pointer(argument->type)
	        ? "stringof() makes a string of a kernel address, copyinstr() of a user address"
	    : is_any(part.kind, "diu") && types_.is_pointer(argument->type) ? "%p prints a pointer"
	    : is_any(part.kind, "di") && types_.is_string(argument->type)   ? "%s prints a string"
	                                                                    : "");
	return false;
}

bool ClauseBuilder::check_format(Node* call, const Format& format, size_t first) {
	size_t at = first;
	unsigned number = 0;
	bool good = true;
	const auto bad = [&](std::string_view tag, Place place, const std::string& text,
	                     const std::string& hint) {
		compilation_.error(tag, place, text, hint);
		return false;
	};
	for (const Conversion& part : format.parts) {
		if (!part.kind)
			continue;
		number++;
		const std::string shown = "conversion #" + std::to_string(number) + " (%" + part.kind + ")";
		const Place place =
		    place_inside(compilation_.diagnostics.sources(), call->list[0]->place, part.at);
		if (part.aggregation)
			return bad("D_PRINTF_AGG_CONV", place,
			           call->text + "( ) may not use %@: " + shown + " prints an aggregation",
			           "only printa() prints aggregations");
		for (int dynamic = 0; dynamic < 2; dynamic++) {
			if (!(dynamic ? part.dynamic_precision : part.dynamic_width))
				continue;
			const char* const what = dynamic ? "precision" : "width";
			if (at >= call->list.size())
				return bad("D_PRINTF_DYN_PROTO", place,
				           prototype_mismatch(call->text,
				                              shown + " is missing a corresponding \"" +
				                                  (dynamic ? ".*" : "*") + "\" argument"),
				           std::string("the ") + what + " is an argument of its own");
			Node* const argument = call->list[at++];
			if (argument->kind == Nk::Recorded || !types_.is_integer(argument->type))
				good =
				    bad("D_PRINTF_DYN_TYPE", argument->place,
				        call->text + "( ) argument #" + std::to_string(at) +
				            " is incompatible with conversion #" + std::to_string(number) +
				            " prototype:\n\tconversion: " + part.text() +
				            "\n\t prototype: int\n\t  argument: " + sema_.type_text(argument),
				        std::string("the ") + what + " must be an integer");
		}
		if (at >= call->list.size())
			return bad("D_PRINTF_ARG_PROTO", place,
			           prototype_mismatch(call->text,
			                              shown + " is missing a corresponding value argument"),
			           "");
		good &= check_conversion(call, part, number, call->list[at], at);
		at++;
	}
	if (at < call->list.size())
		return bad("D_PRINTF_ARG_EXTRA", call->list[at]->place,
		           prototype_mismatch(call->text, "only " + std::to_string(at) +
		                                              " arguments required by this format string"),
		           "the format has no conversion for this one");
	return good;
}

// printa(): keys from left to right, %@ for the value, which is an integer of 8 bytes.
bool ClauseBuilder::check_conversions(Node* call, const Format& format, const AggVariable& first) {
	Node value;
	value.kind = Nk::Int;
	value.type = types_.basic("long");
	size_t keys = 0;
	unsigned number = 0;
	Place place;
	const auto bad = [&](std::string_view tag, const std::string& text, const std::string& hint) {
		compilation_.error(tag, place, "printa( ) " + text, hint);
		return false;
	};
	for (const Conversion& part : format.parts) {
		if (!part.kind)
			continue;
		number++;
		place = place_inside(compilation_.diagnostics.sources(), call->list[0]->place, part.at);
		for (int stars = part.dynamic_width + part.dynamic_precision; stars; stars--) {
			if (keys >= first.first_keys.size())
				return bad("D_PRINTF_DYN_PROTO",
				           "prototype mismatch: conversion " + part.text() +
				               " is missing a corresponding \"*\" key",
				           "a * takes its number from the next key: @" + first.name +
				               " has " + std::to_string(first.keys.size()));
			const Node* const number_key = first.first_keys[keys++];
			if (number_key->kind == Nk::Recorded || !types_.is_integer(number_key->type))
				return bad("D_PRINTF_DYN_TYPE",
				           "@" + first.name + " key #" + std::to_string(keys) +
				               " is incompatible with conversion #" + std::to_string(number) +
				               " prototype:\n\tconversion: " + part.text() +
				               "\n\t prototype: int\n\t  argument: " +
				               (number_key->kind == Nk::Recorded
				                    ? number_key->text
				                    : sema_.type_text(number_key)),
				           "a * takes its number from the next key: it must be an integer");
		}
		if (!part.aggregation && keys >= first.first_keys.size())
			return bad("D_PRINTF_ARG_PROTO",
			           "prototype mismatch: conversion " + part.text() +
			               " is missing a corresponding key",
			           "@" + first.name + " has " + std::to_string(first.keys.size()) +
			               "; %@ stands for the value");
		const Node* const argument = part.aggregation ? &value : first.first_keys[keys++];
		const std::string wanted = conversion_prototype(part, argument);
		if (wanted.empty())
			continue;
		const std::string given = argument == &value               ? "the value of @" + first.name
		                          : argument->kind == Nk::Recorded ? argument->text
		                                                           : sema_.type_text(argument);
		return bad("D_PRINTF_ARG_TYPE",
		           "@" + first.name + " is incompatible with conversion #" + std::to_string(number) +
		               " prototype:\n\tconversion: " + part.text() + "\n\t prototype: " + wanted +
		               "\n\t  argument: " + given,
		           "");
	}
	return true;
}

bool ClauseBuilder::printf_values(Node* call) {
	bool good = true;
	for (size_t i = 1; i < call->list.size(); i++) {
		Node* const argument = call->list[i];
		if (argument->kind == Nk::AggName) {
			compilation_.error(
			    "D_PRINTF_ARG_TYPE", argument->place,
			    call->text + "( ) argument #" + std::to_string(i + 1) +
			        " is incompatible with any conversion:\n\t argument: aggregation @" +
			        argument->text,
			    "use printa(format, @" + argument->text + ")");
			good = false;
			continue;
		}
		sema_.allow_recorded(true);
		good &= value(argument);
		sema_.allow_recorded(false);
		if (!sema_.poisoned(argument) && argument->kind != Nk::Recorded &&
		    (argument->kind == Nk::Translated || !argument->type || types_.is_void(argument->type))) {
			compilation_.error(
			    "D_PRINTF_ARG_TYPE", argument->place,
			    call->text + "( ) argument #" + std::to_string(i + 1) + " has no value",
			    argument->kind == Nk::Translated ? "it is a translated value: print its members"
			                                     : "");
			good = false;
		}
	}
	return good;
}

void ClauseBuilder::add_printf(Node* call, const ActionInfo& info) {
	const Node* const text = call->list[0];
	dof::Action head;
	head.kind = info.kind;
	head.format = text->text;
	const bool merged = call->list.size() > 1 && call->list[1]->kind != Nk::Recorded;
	if (!merged) {
		head.uarg = uarg();
		add(std::move(head));
	}
	for (size_t i = 1; i < call->list.size(); i++) {
		Node* const argument = call->list[i];
		dof::Action out;
		if (argument->kind == Nk::Recorded ? !recorded(argument, out)
		                                   : !value_action(argument, info.kind, out))
			continue;
		if (merged && i == 1)
			out.format = text->text;
		out.uarg = uarg();
		add(std::move(out));
	}
}

void ClauseBuilder::printf(Node* call, const ActionInfo& info) {
	Node* const text = call->list[0];
	const bool good = printf_values(call);
	if (text->kind != Nk::String) {
		value(text);
		refuse("D_PRINTF_ARG_FMT", text->place,
		       call->text +
		           "( ) argument #1 is incompatible with prototype:\n\tprototype: string "
		           "constant\n\t argument: " +
		           sema_.type_text(text),
		       "write the format as a literal: " + call->text + "(\"%s\", ...)");
		return;
	}
	if (text->text.empty() && info.kind != DFR_ACT_FREOPEN) {
		refuse("D_PRINTF_FMT_EMPTY", text->place, call->text + "( ) format string is empty",
		       "write what to print");
		return;
	}
	if (info.kind == DFR_ACT_FREOPEN && text->text == ".") {
		refuse("D_FREOPEN_INVALID", text->place, "freopen( ) argument #1 cannot be \".\"",
		       "name a file; \"\" goes back to the original output");
		return;
	}
	const Format format = parse_format(text->text);
	if (!format.error.empty()) {
		refuse("D_SYNTAX",
		       place_inside(compilation_.diagnostics.sources(), text->place, format.error_at),
		       "failed to create format: " + format.error, "");
		return;
	}
	if (!good || !check_format(call, format, 1)) {
		failed_ = true;
		return;
	}
	add_printf(call, info);
}

} // namespace dfr::d
