// SPDX-License-Identifier: GPL-2.0
//
// The analysis of expressions: names to things, types to every node, constants
// folded, inlines and translators expanded. In place: afterwards the tree holds
// only nodes that the code generator knows. An error is reported once and
// poisons its expression (Nk::Error), so that one fault is one message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/d/builtins.h"
#include "formats/d/compilation.h"

namespace dfr::d {

class Sema {
public:
	static constexpr unsigned kDeepest = 400; // expressions that are nested deeper are refused
	explicit Sema(Compilation& compilation) : compilation_(compilation), types_(compilation.types) {}

	// A value. Every node below is typed afterwards.
	void analyze(Node* node);
	// Analyses a copy, silently: the variables whose assignment is good are there afterwards. False: the rest is
	// worth another try when there are more variables.
	bool try_copy(const Node* node);
	// The value of an integer constant expression, or nothing (not reported).
	std::optional<int64_t> constant(Node* node);

	void declare_variable(uint8_t scope, const std::string& name, Place place, types::TypeRef type,
	                      bool assoc, const std::vector<types::TypeRef>& keys, bool user);
	void define_inline(InlineDef def);
	void define_translator(std::unique_ptr<Translator> translator);
	// Whether some translator makes `out` (or what it points to) from `in`.
	bool translatable(types::TypeRef out, types::TypeRef in) {
		return find_translator(types_.is_pointer(out) ? types_.target(out) : out, in);
	}

	// Reports what is wrong in the text of an inline or a translator of the program, used or not.
	void check_inline(const InlineDef& def);
	void check_translator(Translator& translator);

	// Names bound while an inline's or translator's own text is read.
	void bind(const std::string& name, Node* value) { bound_.emplace_back(name, value); }
	void unbind(const std::string&) { bound_.pop_back(); }
	bool bound(std::string_view name) const;

	// The probes that the current clause is for: the types of args[].
	void set_clause(const Clause* clause);
	// Of an associative array.
	bool is_key(types::TypeRef type);
	std::string key_hint(types::TypeRef type);
	// An action as a key or an argument: only inside this guard.
	void allow_recorded(bool allow) { recorded_ok_ = allow; }

	bool poisoned(const Node* node) const { return node->kind == Nk::Error; }
	// Whether the node is an action's name with arguments: stack(), printf().
	static bool is_action_call(const Node* node);
	bool convertible(types::TypeRef to, const Node* from);
	void to_text(Node*& node);
	bool is_null(const Node* node) const;
	Node* cast_to(types::TypeRef type, Node* value);
	// As a cast that is written, which computes between integers and floating point, too.
	Node* converted(types::TypeRef type, Node* value);
	std::string type_text(const Node* node);
	void poison(Node* node, std::string_view tag, std::string message, std::string hint = {});
	void poison_at(Node* node, Place place, std::string_view tag, std::string message,
	               std::string hint = {});

private:
	void rely_on(types::TypeRef type);
	Node* any_value(types::TypeRef type, Place place);
	bool checked(Node* node, const Node* body);

	// -- sema_expr.cc: operators
	void unary(Node* node);
	void negate(Node* node);
	void dereference(Node* node);
	void address(Node* node);
	void binary(Node* node);
	void arithmetic(Node* node);
	void additive(Node* node);
	void comparison(Node* node);
	void logical(Node* node);
	types::TypeRef choice_type(Node*& b, Node*& c);
	void ternary(Node* node);
	bool need_scalar(Node* node, Node* operand);
	bool need_integer(Node* node, Node* operand);
	bool need_arithmetic(Node* node, Node* operand);
	bool operands(Node* node);
	void decay(Node* node);
	unsigned memory_of(const Node* node);
	Node* hidden_call(uint32_t number, std::vector<Node*> arguments, types::TypeRef type, Place place);

	// -- sema_assign.cc: what writes
	void assign(Node* node);
	void no_array(Node* node, const Node* array);
	Node* text_of(Node* value);
	void assign_plain(Node* node);
	void assign_value(Node* node);
	void increment(Node* node);
	void check_lvalue(Node* node, Node* left);
	Node* keep(Node*& node, types::TypeRef type);
	Node* write_side(Node* left, bool always);

	// -- sema_access.cc: what leads from one object or type to another
	void index(Node* node);
	bool list_index(Node* node);
	void check_index(Node* node);
	void element_of(Node* node, Node* base, Node* at);
	void member(Node* node);
	void cast(Node* node);
	void cast_to_float(Node* node);
	void cast_from_float(Node* node);
	void size(Node* node);
	void offset(Node* node);
	void stringof(Node* node);
	Node* stringof_value(Node* value);

	// -- sema_number.cc: floating point and constants
	void to_double(Node*& node);
	void float_operation(Node* node);
	Node* not_zero(Node* value);
	void float_comparison(Node* node);
	void fold(Node* node);

	// -- sema_name.cc
	void name(Node* node);
	void symbol(Node* node);
	void builtin(Node* node, const Builtin* known);
	void zonename(Node* node);
	void expand(Node* node, InlineDef& def, const std::vector<Node*>& arguments);
	void inline_value(Node* node, const InlineDef& def, Node* body);
	void variable(Node* node, Variable* found);
	void scoped_variable(Node* node, uint8_t scope);
	void assoc(Node* node, Variable* found);
	Node* copied_in(Node* object);
	void create(Node* left, types::TypeRef type, bool user);
	bool creatable(const Node* node);
	bool is_taken(const std::string& name);
	void redeclared(Place place, const std::string& name);
	bool too_big(types::TypeRef type);
	std::string size_hint(types::TypeRef type);
	Variable* new_variable(Node* node, uint8_t scope, const std::string& name);
	void args_element(Node* node);
	void find_args();
	void check_argument(Node* node, int64_t number);
	void translate_argument(Node* node, int64_t number, types::TypeRef native);
	void uregs_element(Node* node);
	void undefined_name(Node* node, uint8_t scope);
	Node* clone(const Node* node, const std::map<std::string, Node*, std::less<>>& values,
	            unsigned depth = 0);
	bool from_library(std::string_view name);
	std::string suggestion(std::string_view name, const std::vector<std::string_view>& candidates);

	// -- sema_call.cc
	void call(Node* node);
	void subroutine(Node* node, const Subroutine& known);
	void check_count(Node* node, const Subroutine& known);
	void fit_arguments(Node* node, const Subroutine& known);
	types::TypeRef result_of(const Subroutine& known);
	bool argument_fits(char code, Node* argument);
	void check_size(Node* node, const Subroutine& known);
	void recorded(Node* node, const ActionInfo& action);
	void translate(Node* node);
	void translated_member(Node* node);
	Translator* find_translator(types::TypeRef out, types::TypeRef in);

	Compilation& compilation_;
	TypeTable& types_;
	const Clause* clause_ = nullptr;
	std::vector<std::pair<std::string, Node*>> bound_;
	bool recorded_ok_ = false;
	bool address_only_ = false; // a symbol is named for its address: it needs no type
	unsigned kept_ = 0;         // hidden clause-locals made by keep()
	static constexpr unsigned kClonedMost = 250000;
	unsigned depth_ = 0;
	unsigned cloned_ = 0; // nodes that inlines and translators have come to
	unsigned tried_ = 0;  // nodes that try_copy() has analysed
	bool trying_ = false;
	// args[] of the clause, found when first used.
	bool args_known_ = false;
	bool args_conflict_ = false;
	bool args_any_ = false;
	std::vector<ProbeArg> args_;
	std::string args_untyped_; // why a probe has none
};

std::string_view operator_text(Tok op);

} // namespace dfr::d
