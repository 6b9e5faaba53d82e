// SPDX-License-Identifier: GPL-2.0
//
// ClauseBuilder's actions but printf: arguments checked, DIFOs generated.
#include "formats/d/clause.h"

#include <algorithm>

#include "formats/abi/block.h"
#include "formats/abi/catalog.h"
#include "formats/d/canon.h"
#include "formats/d/capture.h"
#include "formats/d/options.h"
#include "formats/d/type_text.h"

namespace dfr::d {

constexpr uint64_t kLargestValue = 256 * 1024; // what the loader takes: DFR_LOAD_VALUE_MAX

using types::TypeRef;

// Analyses an expression that must be a value.
bool ClauseBuilder::value(Node* node) {
	sema_.analyze(node);
	if (!sema_.poisoned(node))
		return true;
	failed_ = true;
	return false;
}

bool ClauseBuilder::arguments(Node* call, const ActionInfo& info) {
	const size_t given = call->list.size();
	if (given >= info.min && given <= info.max)
		return true;
	failed_ = true;
	std::string tag = "D_PROTO_LEN";
	if (info.group == ActionGroup::Stack)
		tag = "D_STACK_PROTO";
	else if (info.group == ActionGroup::UStack)
		tag = "D_USTACK_PROTO";
	else if (info.group == ActionGroup::Tracemem)
		tag = "D_TRACEMEM_ARGS";
	else if (info.group == ActionGroup::Printa)
		tag = "D_PRINTA_PROTO";
	else if (info.name == "clear" || info.name == "denormalize")
		tag = info.name == "clear" ? "D_CLEAR_PROTO" : "D_NORMALIZE_PROTO";
	else if (info.name == "normalize")
		tag = "D_NORMALIZE_PROTO";
	else if (info.name == "trunc")
		tag = "D_TRUNC_PROTO";
	compilation_.error(tag, call->place,
	                   call->text + "( ) prototype mismatch: " + std::to_string(given) + " arg" +
	                       (given == 1 ? "" : "s") + " passed, " +
	                       (info.max != info.min && given < info.min ? "at least " : "") +
	                       std::to_string(given < info.min ? info.min : info.max) + " expected");
	return false;
}

void ClauseBuilder::action(Node* call) {
	const ActionInfo& info = *find_action(call->text);
	if (!arguments(call, info))
		return;
	if (!(info.group == ActionGroup::Libact || info.group == ActionGroup::Printa))
		order(info.kind, call->place);
	else
		order(DFR_ACT_LIBACT, call->place);
	if (DFR_ACT_IS_DESTRUCTIVE(info.kind))
		compilation_.result.destructive = true;
	switch (info.group) {
	case ActionGroup::Trace:
	case ActionGroup::Print: return trace(call, info);
	case ActionGroup::Tracemem: return tracemem(call);
	case ActionGroup::Printm: return printm(call);
	case ActionGroup::Printf: return printf(call, info);
	case ActionGroup::Printa: return printa(call);
	case ActionGroup::Libact: return libact(call, info);
	case ActionGroup::Exit: return exit_action(call);
	case ActionGroup::Capture: return capture(call);
	case ActionGroup::Snapshot: return snapshot(call);
	case ActionGroup::Stack:
	case ActionGroup::UStack:
	case ActionGroup::Symbol: {
		sema_.allow_recorded(true);
		const bool good = value(call);
		sema_.allow_recorded(false);
		dof::Action out;
		if (!good || !recorded(call, out))
			return;
		out.uarg = uarg();
		return add(std::move(out));
	}
	default: return simple(call, info);
	}
}

// stack(), ustack() and the symbol actions, wherever they stand.
bool ClauseBuilder::recorded(const Node* node, dof::Action& out) {
	const ActionInfo& info = *node->action;
	out.kind = info.kind;
	if (node->list.size() < info.min || node->list.size() > info.max) {
		refuse(info.group == ActionGroup::Stack    ? "D_STACK_PROTO"
		       : info.group == ActionGroup::UStack ? "D_USTACK_PROTO"
		                                           : "D_PROTO_LEN",
		       node->place,
		       node->text + "( ) prototype mismatch: too " +
		           (node->list.size() < info.min ? "few" : "many") + " arguments",
		       "");
		return false;
	}
	return info.group == ActionGroup::Symbol ? recorded_symbol(node, out) : recorded_stack(node, out);
}

bool ClauseBuilder::recorded_symbol(const Node* node, dof::Action& out) {
	const std::string who = node->text + "( )";
	Node* const address = node->list[0];
	if (address->kind == Nk::Translated ||
	    (!types_.is_scalar(address->type) && !types_.is_function(address->type))) {
		refuse("D_PROTO_ARG", address->place,
		       who + " argument #1 is incompatible with prototype: an address is expected",
		       "this has type " + sema_.type_text(address));
		return false;
	}
	const bool of_user = out.kind != DFR_ACT_SYM && out.kind != DFR_ACT_MOD;
	if (!of_user && compilation_.kernel_missing()) {
		refuse("D_VAR_UNSUP", node->place,
		       who + " is not supported by " + compilation_.target.description(),
		       "it reads kernel state: load the module (dfr.ko) and run as root");
		return false;
	}
	out.expression = canonical(types_, address);
	out.difo = generate(compilation_, address, {dif_type{DIF_KIND_CTF, DIF_CK_POINTER, 0, 0, 8}, false});
	if (!out.expression.empty())
		out.expression = "(" + node->text + " " + out.expression + ")";
	failed_ |= !out.difo;
	return bool(out.difo);
}

bool ClauseBuilder::recorded_stack(const Node* node, dof::Action& out) {
	const ActionInfo& info = *node->action;
	const std::string who = node->text + "( )";
	const auto bad = [&](std::string_view tag, const Node* where, const std::string& text,
	                     const std::string& hint) {
		refuse(tag, where->place, text, hint);
		return false;
	};
	uint64_t frames = 0, strings = 0;
	for (size_t i = 0; i < node->list.size(); i++) {
		const Node* const argument = node->list[i];
		const bool good = argument->kind == Nk::Int && static_cast<int64_t>(argument->value) > 0 &&
		                  argument->value <= INT32_MAX;
		if (!good)
			return bad(info.group == ActionGroup::Stack ? "D_STACK_SIZE"
			           : i == 0                         ? "D_USTACK_FRAMES"
			                                            : "D_USTACK_STRSIZE",
			           argument,
			           who + " argument #" + std::to_string(i + 1) +
			               " must be a non-zero positive integer constant",
			           "");
		const uint64_t most = i == 0 ? DIF_FRAMES_MAX : DIF_STRSIZE_MAX;
		if (argument->value > most)
			return bad(info.group == ActionGroup::Stack ? "D_STACK_SIZE"
			           : i == 0                         ? "D_USTACK_FRAMES"
			                                            : "D_USTACK_STRSIZE",
			           argument, who + " argument #" + std::to_string(i + 1) + " is too large",
			           "at most " + std::to_string(most) + (i == 0 ? " frames" : " bytes"));
		(i == 0 ? frames : strings) = argument->value;
	}
	// A user stack of this process works without the kernel.
	if (info.group == ActionGroup::Stack && compilation_.kernel_missing())
		return bad("D_VAR_UNSUP", node,
		           who + " is not supported by " + compilation_.target.description(),
		           "it reads kernel state: load the module (dfr.ko) and run as root");
	out.arg = strings << 32 | frames;
	out.expression = "(" + node->text + (frames ? " " + std::to_string(frames) : "") + ")";
	if (!require_captured(compilation_, out.expression, node)) {
		failed_ = true;
		return false;
	}
	return true;
}

// A value that is recorded: any type but void.
bool ClauseBuilder::value_action(Node* node, uint32_t kind, dof::Action& out) {
	out.kind = kind;
	out.expression = canonical(types_, node);
	// A later question computes with all of it: what its type has no room for is captured, too. The text of a choice
	// does not say how wide it is.
	const bool whole =
	    kind == DFR_ACT_CAPTURE &&
	    (is_wide(types_, node) || (node->kind == Nk::Ternary && types_.is_integer(node->type)));
	out.difo =
	    generate(compilation_, node, {whole ? std::optional(int_result(8)) : std::nullopt, true, !whole});
	if (!out.difo) {
		failed_ = true;
		return false;
	}
	if (!out.expression.empty() && node->type)
		out.type = types_.text(node->type);
	return true;
}

void ClauseBuilder::trace(Node* call, const ActionInfo& info) {
	Node* const argument = call->list[0];
	const bool print = info.group == ActionGroup::Print;
	const std::string prefix = print ? "D_PRINT_" : "D_TRACE_";
	const auto bad = [&](const char* tag, const std::string& text, const std::string& hint) {
		compilation_.error(prefix + tag, argument->place, text, hint);
		failed_ = true;
	};
	if (argument->kind == Nk::AggName)
		return bad("AGG", call->text + "( ) may not be applied to an aggregation",
		           "use printa(@" + argument->text + ")");
	if (!value(argument))
		return;
	if (argument->kind == Nk::Translated)
		return bad("DYN", call->text + "( ) may not be applied to a dynamic expression",
		           "trace its members");
	if (!argument->type || types_.is_void(argument->type))
		return bad("VOID", call->text + "( ) may not be applied to a void expression",
		           "it has no value");
	if (print && types_.is_function(argument->type))
		return bad("VOID", "print( ) may not be applied to a function",
		           "it has no value; sym(&function) names it");
	if (print && !types_.size(argument->type))
		return bad("SIZE", "print( ) may not be applied to an object of size 0",
		           "there is nothing to show of " + sema_.type_text(argument));
	if (print && types_.is_pointer(argument->type)) {
		const TypeRef to = types_.complete(types_.target(argument->type));
		if (types_.is_struct(to) && types_.size(to))
			return print_object(argument);
	}
	dof::Action out;
	if (!value_action(argument, info.kind, out))
		return;
	if (print) {
		out.format = types_.text(argument->type);
		out.type = write_type_text(argument->type);
	}
	out.uarg = uarg();
	add(std::move(out));
}

// The value in a hidden clause-local, where it may not be computed twice: what makes the value is put in its place.
Node* ClauseBuilder::kept(Node* value) {
	Node* const variable = hidden_variable("%print", value->place, value->type, value->user);
	if (!variable)
		return nullptr;
	Node* const from = compilation_.arena.copy(*value);
	*value = Node{};
	value->kind = Nk::Assign;
	value->op = Tok::Assign;
	value->place = from->place;
	value->a = variable;
	value->b = from;
	sema_.analyze(value);
	return variable;
}

// The first bytes of what the pointer points to, or as many zeros for NULL: those of a literal, because scratch
// memory is the program's.
Node* ClauseBuilder::object_bytes(Node* pointer, uint64_t size) {
	const Place place = pointer->place;
	const TypeRef bytes = types_.program().array(types_.basic("char"), size);
	const auto copied_in = [&] {
		Node* const out = compilation_.arena.make(Nk::Call, place);
		out->text = "copyin";
		Node* const count = compilation_.arena.make(Nk::Int, place);
		count->value = size;
		count->type = types_.int_type();
		out->list = {pointer, count};
		sema_.analyze(out);
		return out;
	};
	Node* const zeros = compilation_.arena.make(Nk::String, place);
	zeros->text.assign(size - 1, '\0');
	zeros->type = types_.string_type();
	zeros->analyzed = true;
	const auto at = [&](Node* address) {
		Node* const out = compilation_.arena.make(Nk::Unary, place);
		out->op = Tok::Star;
		out->a = address;
		out->type = bytes;
		out->analyzed = out->lvalue = true;
		return out;
	};
	Node* const out = compilation_.arena.make(Nk::Ternary, place);
	out->a = pointer;
	out->b = at(pointer->user ? copied_in() : pointer);
	out->c = at(zeros);
	out->type = bytes;
	out->analyzed = true;
	return out;
}

// print() of a pointer to a struct: two actions of one statement, the pointer and the first bytes of the struct.
void ClauseBuilder::print_object(Node* pointer) {
	const TypeRef to = types_.target(pointer->type);
	Node* const whole = compilation_.arena.make(Nk::Unary, pointer->place);
	whole->op = Tok::Star;
	whole->a = pointer;
	sema_.analyze(whole); // the record relies on the struct's layout
	// A clause-local is this firing's alone, and so is a built-in; another variable, and memory, may change between
	// two uses. What is captured is one input, however often it is used.
	const std::string input = canonical(types_, pointer), type = types_.text(pointer->type);
	const bool captured = compilation_.deriving || compilation_.target.is_replay();
	const bool again = pointer->kind == Nk::Var
	                       ? pointer->variable->scope == DIF_VS_LOCAL
	                       : !input.empty() && (captured || input.find('(') == std::string::npos);
	// Of what is used twice a replay makes a captured input where it stands, so the second use is a copy.
	Node* const address = again ? compilation_.arena.copy(*pointer) : kept(pointer);
	if (!address)
		return;
	const uint64_t size = std::min(types_.size(types_.complete(to)), compilation_.settings.print_size);
	dof::Action out, object;
	if (!value_action(pointer, DFR_ACT_DIFEXPR, out))
		return;
	out.expression = input;
	out.format = type;
	out.type = write_type_text(types_.complete(to));
	out.uarg = uarg();
	add(std::move(out));
	object.kind = DFR_ACT_DIFEXPR;
	object.difo = generate(
	    compilation_, object_bytes(address, size),
	    {dif_type{DIF_KIND_CTF, DIF_CK_INTEGER, DIF_TF_BYREF, 0, static_cast<uint32_t>(size)}, false});
	failed_ |= !object.difo;
	object.uarg = uarg();
	add(std::move(object));
}

void ClauseBuilder::tracemem(Node* call) {
	Node* const address = call->list[0];
	const bool good_address = value(address), good_size = value(call->list[1]);
	if (!good_address || !good_size)
		return;
	Node* const size = call->list[1];
	const auto bad = [&](std::string_view tag, const Node* where, const char* text, const char* hint) {
		compilation_.error(tag, where->place, text, hint);
		failed_ = true;
	};
	if (address->kind == Nk::Translated ||
	    !(types_.is_scalar(address->type) || types_.is_array(address->type) ||
	      types_.is_string(address->type)))
		return bad("D_TRACEMEM_ADDR", address,
		           "tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or "
		           "integer",
		           "");
	if (size->kind != Nk::Int || static_cast<int64_t>(size->value) <= 0 || size->value > INT32_MAX)
		return bad("D_TRACEMEM_SIZE", size,
		           "tracemem( ) argument #2 must be a non-zero positive integral constant expression",
		           "the third argument limits it at run time");
	if (size->value > kLargestValue)
		return bad("D_TRACEMEM_SIZE", size,
		           "tracemem( ) argument #2 is above 256 KiB, the largest value that is recorded",
		           "");
	if (call->list.size() > 2 && size->value > DFR_VARBYTES_MAX)
		return bad("D_TRACEMEM_SIZE", size,
		           "tracemem( ) argument #2 is above 65535, the most that argument #3 can limit",
		           "ask for 65535 bytes at most, or leave out argument #3");
	dof::Action out;
	out.kind = DFR_ACT_TRACEMEM;
	out.arg = size->value;
	dif_type type{DIF_KIND_CTF, DIF_CK_INTEGER,
	              static_cast<uint8_t>(address->user ? DIF_TF_BYUREF : DIF_TF_BYREF), 0,
	              static_cast<uint32_t>(size->value)};
	// The bytes are the input, not their address.
	const std::string where = canonical(types_, address);
	if (!where.empty())
		out.expression = std::string(address->user ? "(uref " : "(ref ") +
		                 std::to_string(size->value) + " " + where + ")";
	if (compilation_.deriving && !where.empty()) {
		Node* const bytes = compilation_.arena.make(Nk::Unary, address->place);
		bytes->op = Tok::Star;
		bytes->a = address;
		bytes->type = types_.program().array(types_.basic("char"), size->value);
		bytes->user = address->user;
		bytes->lvalue = bytes->analyzed = true;
		collect_inputs(compilation_, bytes);
	}
	if (!captured_bytes(compilation_, out.expression, address)) {
		failed_ = true;
		return;
	}
	out.difo = generate(compilation_, address, {type, false});
	failed_ |= !out.difo;
	out.uarg = uarg();
	add(std::move(out));
	if (call->list.size() > 2)
		tracemem_limit(call->list[2]);
}

// The third argument: how many of the bytes are shown, which a firing finds out.
void ClauseBuilder::tracemem_limit(Node* limit) {
	if (!value(limit))
		return;
	if (!types_.is_integer(limit->type))
		return refuse("D_TRACEMEM_DYNSIZE", limit->place,
		              "tracemem( ) argument #3 must be a non-zero positive integral expression", "");
	dof::Action more;
	more.kind = DFR_ACT_TRACEMEM_DYNSIZE;
	more.difo = generate(compilation_, limit, {int_result(8), false});
	failed_ |= !more.difo;
	more.uarg = uarg();
	add(std::move(more));
}

void ClauseBuilder::printm(Node* call) {
	if (!value(call->list[0]) || !value(call->list[1]))
		return;
	Node *const size = call->list[0], *const address = call->list[1];
	if (size->kind != Nk::Int || static_cast<int64_t>(size->value) <= 0 || size->value > INT32_MAX) {
		compilation_.error(
		    "D_PRINTM_SIZE", size->place,
		    "printm( ) argument #1 must be a non-zero positive integral constant expression", "");
		failed_ = true;
		return;
	}
	if (size->value > DFR_VARBYTES_MAX) {
		compilation_.error("D_PRINTM_SIZE", size->place,
		                   "printm( ) argument #1 is above 65535, the most that it records",
		                   "tracemem(address, bytes) records up to 256 KiB");
		failed_ = true;
		return;
	}
	if (!types_.is_pointer(address->type)) {
		compilation_.error(
		    "D_PRINTM_ADDR", address->place,
		    "printm( ) argument #2 is incompatible with prototype:\n\tprototype: pointer",
		    "write memref(address, length)");
		failed_ = true;
		return;
	}
	dof::Action out;
	out.kind = DFR_ACT_PRINTM;
	out.arg = size->value;
	out.difo = generate(
	    compilation_, address,
	    {dif_type{DIF_KIND_CTF, DIF_CK_INTEGER, DIF_TF_BYREF, 0, static_cast<uint32_t>(size->value) + 8},
	     false});
	failed_ |= !out.difo;
	out.uarg = uarg();
	add(std::move(out));
}

AggVariable* ClauseBuilder::aggregation_argument(Node* node, const std::string& who,
                                                 std::string_view tag_argument, std::string_view tag_bad) {
	if (node->kind != Nk::AggName || node->bracketed) {
		compilation_.error(
		    tag_argument, node->place,
		    who + " argument is incompatible with prototype:\n\tprototype: aggregation",
		    node->kind == Nk::AggName ? "name the aggregation without its keys" : "write @name");
		failed_ = true;
		return nullptr;
	}
	AggVariable* const found = compilation_.definitions.find_aggregation(node->text);
	if (!found || !found->function) {
		failed_ = true;
		if (compilation_.unread_names(node->text))
			return nullptr;
		compilation_.error(tag_bad, node->place, "undefined aggregation: @" + node->text,
		                   "it has to be assigned first: @" + node->text + " = count();");
		return nullptr;
	}
	return found;
}

dof::Action ClauseBuilder::constant_action(uint32_t kind, uint64_t number) {
	dof::Action out;
	out.kind = kind;
	Node* const node = compilation_.arena.make(Nk::Int, {});
	node->value = number;
	node->type = types_.int_type();
	out.difo = generate(compilation_, node, {int_result(4), false});
	return out;
}

dof::Action ClauseBuilder::id_action(uint32_t kind, const AggVariable& aggregation) {
	return constant_action(kind, aggregation.id);
}

void ClauseBuilder::printa(Node* call) {
	size_t first = 0;
	std::optional<std::string> text;
	if (call->list[0]->kind == Nk::String) {
		text = call->list[0]->text;
		first = 1;
	}
	const auto bad = [&](std::string_view tag, Place place, const std::string& message,
	                     const std::string& hint) {
		compilation_.error(tag, place, message, hint);
		failed_ = true;
	};
	if (first && text->empty())
		return bad("D_PRINTF_FMT_EMPTY", call->list[0]->place, "printa( ) format string is empty",
		           "write what to print");
	if (first == call->list.size())
		return bad("D_PRINTA_PROTO", call->place,
		           "printa( ) prototype mismatch: an aggregation is expected",
		           "write printa(format, @name)");
	std::vector<AggVariable*> all;
	for (size_t i = first; i < call->list.size(); i++) {
		AggVariable* const one =
		    aggregation_argument(call->list[i], "printa( )", "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD");
		if (!one)
			return;
		if (!all.empty() && one->keys.size() != all[0]->keys.size())
			return bad("D_PRINTA_AGGKEY", call->list[i]->place,
			           "printa( ) @" + one->name + " key count does not match @" + all[0]->name,
			           "all aggregations of one printa() have the same keys");
		for (size_t key = 0; !all.empty() && key < one->keys.size(); key++) {
			if (one->keys[key] != all[0]->keys[key])
				return bad("D_PRINTA_AGGPROTO", call->list[i]->place,
				           "printa( ) @" + one->name + " key #" + std::to_string(key + 1) +
				               " does not match @" + all[0]->name,
				           one->keys[key] + " against " + all[0]->keys[key]);
		}
		all.push_back(one);
	}
	if (text) {
		const Format format = parse_format(*text);
		if (!format.error.empty())
			return bad("D_SYNTAX",
			           place_inside(compilation_.diagnostics.sources(), call->list[0]->place,
			                        format.error_at),
			           "printa( ) " + format.error, "");
		if (!check_conversions(call, format, *all[0])) {
			failed_ = true;
			return;
		}
	}
	for (size_t i = 0; i < all.size(); i++) {
		dof::Action out = id_action(DFR_ACT_PRINTA, *all[i]);
		if (i == 0)
			out.format = text;
		out.uarg = uarg();
		add(std::move(out));
	}
}

void ClauseBuilder::exit_action(Node* call) {
	Node* const status = call->list[0];
	if (!value(status))
		return;
	if (!types_.is_integer(status->type)) {
		compilation_.error(
		    "D_PROTO_ARG", status->place,
		    "exit( ) argument #1 is incompatible with prototype:\n\tprototype: int\n\t argument: " +
		        sema_.type_text(status),
		    "");
		failed_ = true;
		return;
	}
	dof::Action out;
	out.kind = DFR_ACT_EXIT;
	out.difo = generate(compilation_, status, {int_result(4), true});
	failed_ |= !out.difo;
	out.uarg = uarg();
	add(std::move(out));
}

void ClauseBuilder::simple(Node* call, const ActionInfo& info) {
	dof::Action out;
	out.kind = info.kind;
	if (!call->list.empty()) {
		Node* const argument = call->list[0];
		if (!value(argument))
			return;
		if (!types_.is_integer(argument->type)) {
			compilation_.error(
			    "D_PROTO_ARG", argument->place,
			    call->text +
			        "( ) argument #1 is incompatible with prototype:\n\tprototype: "
			        "int\n\t argument: " +
			        sema_.type_text(argument),
			    "");
			failed_ = true;
			return;
		}
		out.difo = generate(compilation_, argument, {int_result(8), false});
		failed_ |= !out.difo;
	}
	out.uarg = uarg();
	add(std::move(out));
}

void ClauseBuilder::libact(Node* call, const ActionInfo& info) {
	const std::string who = call->text + "( )";
	if (info.libact == DFR_LIBACT_FTRUNCATE)
		return add_libact(constant_action(DFR_ACT_LIBACT, 0), info);
	if (info.libact == DFR_LIBACT_SETOPT)
		return setopt(call, info);
	const std::string prefix = info.libact == DFR_LIBACT_CLEAR   ? "D_CLEAR_"
	                           : info.libact == DFR_LIBACT_TRUNC ? "D_TRUNC_"
	                                                             : "D_NORMALIZE_";
	AggVariable* const aggregation =
	    aggregation_argument(call->list[0], who, prefix + "AGGARG", prefix + "AGGBAD");
	if (!aggregation)
		return;
	add_libact(id_action(DFR_ACT_LIBACT, *aggregation), info);
	if (call->list.size() < 2)
		return;
	Node* const number = call->list[1];
	if (!value(number))
		return;
	if (!types_.is_integer(number->type)) {
		compilation_.error(prefix + "SCALAR", number->place,
		                   who + " argument #2 must be of scalar type",
		                   "it is a number of keys, or a divisor");
		failed_ = true;
		return;
	}
	dof::Action out;
	out.difo = generate(compilation_, number, {int_result(8), true});
	add_libact(std::move(out), info);
}

void ClauseBuilder::add_libact(dof::Action out, const ActionInfo& info) {
	out.kind = DFR_ACT_LIBACT;
	out.uarg = uarg(info.libact);
	failed_ |= !out.difo;
	add(std::move(out));
}

// setopt(name, value): both are recorded, and the consumer sets the option.
void ClauseBuilder::setopt(Node* call, const ActionInfo& info) {
	for (size_t i = 0; i < 2; i++) {
		Node* text =
		    i < call->list.size() ? call->list[i] : compilation_.arena.make(Nk::String, call->place);
		if (!value(text))
			return;
		if (!types_.is_string_like(text->type))
			return refuse(
			    "D_PROTO_ARG", text->place,
			    call->text + "( ) argument #" + std::to_string(i + 1) +
			        " is incompatible with prototype:\n\tprototype: string\n\t argument: " +
			        sema_.type_text(text),
			    "");
		sema_.to_text(text);
		if (i == 0 && text->kind == Nk::String) {
			const OptionInfo* const option = find_option(text->text);
			if (!option || option->time != OptionTime::Dynamic)
				compilation_.diagnostics.warning(
				    "D_PRAGMA_OPTSET", text->place,
				    "option " + text->text + " cannot be changed while tracing",
				    "dynamic options can: quiet, flowindent, aggsortkey, switchrate ...");
		}
		dof::Action out;
		out.difo =
		    generate(compilation_, text, {dif_type_of(types_, types_.string_type(), false), false});
		add_libact(std::move(out), info);
	}
}

// Whether the loader expects a field of it, unless it is part of a key.
static bool may_have_field(const dof::Action& action) {
	switch (action.kind) {
	case DFR_ACT_TRACEMEM_DYNSIZE:
	case DFR_ACT_RAISE:
	case DFR_ACT_CHILL:
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD: return false;
	case DFR_ACT_STACK:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK: return true;
	case DFR_ACT_DIFEXPR:
		return action.difo && (action.difo->rtype.size || action.difo->rtype.kind == DIF_KIND_STRING);
	default: return action.difo.has_value();
	}
}

// Whether a note can tell of a fault of what is captured behind these actions: the rule of check_capture() in
// kmod/engine/loading/action.c.
bool ClauseBuilder::can_note(const std::vector<dof::Action>& before) {
	size_t fields = 0;
	bool arguments = false;
	for (const dof::Action& action : before) {
		if (DFR_ACT_IS_AGG(action.kind)) {
			fields -= std::min<size_t>(fields, action.ntuple); // its key
		} else if (action.kind == DFR_ACT_CAPTURE_ARGS) {
			fields += arguments ? 0 : DFR_CAPTURE_ARGS_MAX;
			arguments = true;
		} else {
			fields += may_have_field(action);
		}
	}
	return fields < DFR_NOTE_FIELDS;
}

void ClauseBuilder::capture(Node* call) {
	if (call->list.empty()) {
		dof::Action out;
		out.kind = DFR_ACT_CAPTURE_ARGS;
		out.uarg = uarg();
		return add(std::move(out));
	}
	for (Node* const argument : call->list) {
		sema_.allow_recorded(true);
		const bool good = value(argument);
		sema_.allow_recorded(false);
		if (!good)
			continue;
		dof::Action out;
		if (argument->kind == Nk::Recorded) {
			if (!recorded(argument, out))
				continue;
		} else {
			if (argument->kind == Nk::Translated || !argument->type ||
			    types_.is_void(argument->type)) {
				compilation_.error("D_TRACE_DYN", argument->place, "capture( ) takes a value",
				                   "name a member, or another expression that has a value");
				failed_ = true;
				continue;
			}
			if (canonical(types_, argument).empty()) {
				compilation_.error(
				    "D_CAPTURE_INPUT", argument->place, "capture( ) takes firing inputs only",
				    "D variables, aggregations, rand(), speculation(), alloca() and what "
				    "changes something cannot be captured: replay computes them itself");
				failed_ = true;
				continue;
			}
			const bool first = parts_.empty() || parts_.back().predicate != condition_; // add()
			if (!first && !can_note(parts_.back().actions))
				return refuse("D_CAPTURE_MANY", argument->place,
				              "capture( ) is behind 256 values that its clause records",
				              "put it into another clause of the same probe, because a fault "
				              "can be told of the first 256 values only");
			if (!value_action(argument, DFR_ACT_CAPTURE, out))
				continue;
		}
		out.uarg = uarg(argument->kind == Nk::Recorded ? DFR_LIBACT_CAPTURED : 0);
		add(std::move(out));
	}
}

// The engine takes the reason from the program (load_reason() in kmod/engine/loading/desc.c, with the same rules).
void ClauseBuilder::snapshot(Node* call) {
	Node* const reason = call->list[0];
	if (reason->kind != Nk::String) {
		if (value(reason))
			refuse("D_PROTO_ARG", reason->place,
			       "snapshot( ) argument #1 is incompatible with prototype:\n\tprototype: string "
			       "constant\n\t argument: " +
			           sema_.type_text(reason),
			       "write the reason as a literal: snapshot(\"slow read\")");
		return;
	}
	const std::string& text = reason->text;
	const bool printable = std::none_of(text.begin(), text.end(),
	                                    [](unsigned char byte) { return byte < ' ' || byte == 0x7f; });
	if (text.empty() || text.size() >= DFR_REASON_MAX || !printable)
		return refuse("D_SNAP_REASON", reason->place,
		              "snapshot( ) reason is not 1 to " + std::to_string(DFR_REASON_MAX - 1) +
		                  " bytes of printable text",
		              "it is what dfrd and its commands are told, such as \"slow read\"");
	compilation_.reasons.insert(text);
	if (compilation_.reasons.size() > DFR_REASONS_MAX)
		return refuse("D_SNAP_MANY", reason->place,
		              "snapshot( ) has more than " + std::to_string(DFR_REASONS_MAX) +
		                  " different reasons in this program",
		              "use one reason in several clauses: the records say which of them it was");
	dof::Action out;
	out.kind = DFR_ACT_SNAPSHOT;
	out.format = text;
	out.uarg = uarg();
	add(std::move(out));
}

} // namespace dfr::d
