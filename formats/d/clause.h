// SPDX-License-Identifier: GPL-2.0
//
// ClauseBuilder: one probe clause to bodies and ECBs of the image. Statements
// become actions (dof/image.h says which); `if` splits the clause into parts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/d/builtins.h"
#include "formats/d/codegen.h"
#include "formats/d/compilation.h"
#include "formats/d/format.h"
#include "formats/d/sema.h"

namespace dfr::d {

// Whether a node of an expression is of that kind, and whether a node assigns something.
bool any_node(const Node* node, bool (*is)(const Node*), unsigned depth = 0);
bool writes(const Node* node);

class ClauseBuilder {
public:
	ClauseBuilder(Compilation& compilation, Sema& sema, uint64_t number)
	    : compilation_(compilation), sema_(sema), types_(compilation.types), number_(number) {}

	void build(const Clause& clause);

private:
	struct Part {
		Node* predicate = nullptr;
		std::vector<dof::Action> actions;
	};

	// -- clause.cc
	bool match(const Clause& clause);
	std::string nearest_probe(const Description& desc);
	std::string instead_of(const Description& desc);
	bool stray_colon(const Description& desc);
	void try_predicate();
	void predicate();
	void walk(const std::vector<Stmt>& statements);
	void choice(Node* node);
	void no_copyout();
	void copied_out(const Node* call);
	void if_statement(const Stmt& one, bool choice = false); // `choice`: it was ?:
	Node* hidden_variable(const char* prefix, Place place, types::TypeRef type, bool user);
	Node* condition_variable(Node* condition, Place place);
	void statement(Node* node);
	void add(dof::Action action);
	void emit_image(const Clause& clause);
	std::optional<dif::Difo> predicate_code(Node* node);
	void order(uint32_t kind, Place place);

	// -- clause_derive.cc
	void derive(const Clause& clause);
	Node* pushed_predicate(Node* predicate, bool& changed);

	// -- clause_actions.cc
	void action(Node* call);
	void trace(Node* call, const ActionInfo& info);
	void print_object(Node* pointer);
	Node* kept(Node* value);
	Node* object_bytes(Node* pointer, uint64_t size);
	void tracemem(Node* call);
	void tracemem_limit(Node* limit);
	void printm(Node* call);
	void printa(Node* call);
	void exit_action(Node* call);
	void simple(Node* call, const ActionInfo& info);
	void libact(Node* call, const ActionInfo& info);
	void add_libact(dof::Action out, const ActionInfo& info);
	void setopt(Node* call, const ActionInfo& info);
	void capture(Node* call);
	static bool can_note(const std::vector<dof::Action>& before);
	void snapshot(Node* call);
	bool stack_action(const Node* node, dof::Action& out);
	bool recorded(const Node* node, dof::Action& out);
	bool recorded_symbol(const Node* node, dof::Action& out);
	bool recorded_stack(const Node* node, dof::Action& out);
	bool value_action(Node* node, uint32_t kind, dof::Action& out);
	dof::Action id_action(uint32_t kind, const AggVariable& aggregation);
	bool value(Node* node);
	bool arguments(Node* call, const ActionInfo& info);
	AggVariable* aggregation_argument(Node* node, const std::string& who, std::string_view tag_argument,
	                                  std::string_view tag_bad);
	uint64_t uarg(uint32_t libact = 0) { return DFR_UARG(statement_, index_++, libact); }
	dof::Action constant_action(uint32_t kind, uint64_t number);

	// -- clause_printf.cc
	void printf(Node* call, const ActionInfo& info);
	bool printf_values(Node* call);
	void add_printf(Node* call, const ActionInfo& info);
	bool check_format(Node* call, const Format& format, size_t first);
	bool check_conversion(Node* call, const Conversion& part, unsigned number, Node* argument,
	                      size_t position);
	std::string conversion_prototype(const Conversion& part, const Node* argument);
	bool check_conversions(Node* call, const Format& format, const AggVariable& first);

	// -- clause_aggregate.cc
	void aggregate(Node* assign);
	const AggFunction* assigned_function(Node* assign);
	const AggVariable* defined(Node* name, Node* call, const AggFunction& function, uint64_t arg,
	                           const std::vector<std::string>& signature);
	bool aggregated_value(Node* call, dof::Action& out);
	bool add_weight(Node* call, const AggFunction* function, std::vector<dof::Action>& tuple);
	void refuse(std::string_view tag, Place place, const std::string& text, const std::string& hint);
	bool cpu_key(Place place, std::vector<dof::Action>& out);
	bool keys(Node* name, std::vector<dof::Action>& out, std::vector<std::string>& signature);
	bool parameters(Node* call, const AggFunction& function, uint64_t* arg);
	bool lquantize(Node* call, uint64_t* arg);
	bool llquantize(Node* call, uint64_t* arg);
	bool same_keys(Node* name, const AggVariable& known, const std::vector<std::string>& signature);
	bool same_parameters(Node* call, const AggVariable& known, uint64_t arg);
	bool integer_parameter(Node* call, size_t index, const char* name, const std::string& tag,
	                       int64_t low, int64_t high, int64_t* out);

	Compilation& compilation_;
	Sema& sema_;
	TypeTable& types_;
	uint64_t number_;
	std::vector<Part> parts_;
	Node* condition_ = nullptr;    // under which the current statement runs
	Node* predicate_ = nullptr;    // the user's
	bool trying_ = false;          // it assigns, and has not been good yet
	size_t tried_with_ = SIZE_MAX; // so many variables there were then
	uint32_t statement_ = 0;
	uint32_t index_ = 0;  // of the action in its statement
	unsigned hidden_ = 0; // variables
	unsigned ifs_ = 0;    // that are open
	bool failed_ = false;
	// What the statements so far have done that forbids others behind them.
	struct Done {
		bool recorded = false, aggregated = false, committed = false, speculating = false;
		const Node* copyout = nullptr; // or copyoutstr()
	} done_;
};

// At the end of a program: where uses of an aggregation have integers of several sizes as one key, all get 8 bytes.
void widen_keys(dof::Image& image);

} // namespace dfr::d
