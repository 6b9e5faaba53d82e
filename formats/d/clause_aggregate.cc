// SPDX-License-Identifier: GPL-2.0
//
// @name[keys] = function(arguments): the keys' actions, the weight, the
// aggregating action; and that all uses of one name agree.
#include "formats/d/clause.h"

#include <algorithm>
#include <map>

#include "formats/d/canon.h"

namespace dfr::d {

bool ClauseBuilder::keys(Node* name, std::vector<dof::Action>& out, std::vector<std::string>& signature) {
	bool good = true;
	for (Node* const key : name->list) {
		if (key->kind == Nk::AggName) {
			compilation_.error("D_KEY_TYPE", key->place, "an aggregation cannot be a key",
			                   "keys are values");
			good = false;
			continue;
		}
		sema_.allow_recorded(true);
		const bool fine = value(key);
		sema_.allow_recorded(false);
		if (!fine) {
			good = false;
			continue;
		}
		dof::Action action;
		if (key->kind == Nk::Recorded) {
			if (!recorded(key, action)) {
				good = false;
				continue;
			}
			signature.push_back(key->text + "()");
		} else {
			if (key->kind == Nk::Translated || !key->type || types_.is_void(key->type) ||
			    types_.is_float(key->type)) {
				compilation_.error(
				    "D_KEY_TYPE", key->place,
				    "type " + sema_.type_text(key) + " cannot be a key",
				    key->kind == Nk::Translated
				        ? "use one of its members"
				        : "keys are scalars, strings, stacks, symbols and structs");
				good = false;
				continue;
			}
			if (!value_action(key, DFR_ACT_DIFEXPR, action)) {
				good = false;
				continue;
			}
			const bool integer = types_.is_integer(key->type);
			signature.push_back(types_.is_string(key->type)    ? "string"
			                    : integer                      ? "int"
			                    : types_.is_pointer(key->type) ? "pointer"
			                                                   : types_.text(key->type));
		}
		action.uarg = uarg();
		out.push_back(std::move(action));
	}
	return good;
}

// aggpercpu: the CPU becomes a key that readers take away again.
bool ClauseBuilder::cpu_key(Place place, std::vector<dof::Action>& out) {
	Node* const cpu = compilation_.arena.make(Nk::Name, place);
	cpu->text = "cpu";
	dof::Action action;
	if (!value(cpu) || !value_action(cpu, DFR_ACT_DIFEXPR, action))
		return false;
	action.uarg = DFR_UARG_CPU;
	out.push_back(std::move(action));
	return true;
}

bool ClauseBuilder::integer_parameter(Node* call, size_t index, const char* name, const std::string& tag,
                                      int64_t low, int64_t high, int64_t* out) {
	Node* const node = call->list[index];
	if (!value(node))
		return false;
	const std::string who = call->text + "( ) argument #" + std::to_string(index + 1) + " (" + name + ")";
	if (node->kind != Nk::Int) {
		compilation_.error(tag + "TYPE", node->place, who + " must be an integer constant",
		                   "it must be known when the program is compiled");
		return false;
	}
	*out = static_cast<int64_t>(node->value);
	if (*out < low || *out > high) {
		compilation_.error(tag + "VAL", node->place,
		                   who + " must be a " +
		                       (low == INT32_MIN ? "32-bit quantity" : "positive 16-bit quantity"),
		                   "it is " + std::to_string(*out));
		return false;
	}
	return true;
}

// An entry of a table counts the words of its value in 16 bits (formats/abi/aggtab.h).
constexpr int64_t kWordsMax = UINT16_MAX;

bool ClauseBuilder::lquantize(Node* call, uint64_t* arg) {
	int64_t base = 0, limit = 0, step = 1;
	bool good = integer_parameter(call, 1, "base", "D_LQUANT_BASE", INT32_MIN, INT32_MAX, &base);
	good &= integer_parameter(call, 2, "limit", "D_LQUANT_LIM", INT32_MIN, INT32_MAX, &limit);
	if (call->list.size() > 3)
		good &= integer_parameter(call, 3, "step", "D_LQUANT_STEP", 1, UINT16_MAX, &step);
	if (!good)
		return false;
	if (base >= limit) {
		compilation_.error("D_LQUANT_MISMATCH", call->list[1]->place,
		                   "lquantize( ) base (argument #2) must be less than limit (argument #3)",
		                   "");
		return false;
	}
	const int64_t levels = (limit - base) / step;
	if (levels < 1) {
		compilation_.error(
		    "D_LQUANT_STEPLARGE", call->list[3]->place,
		    "lquantize( ) step (argument #4) too large: must have at least one quantization level",
		    "");
		return false;
	}
	if (levels + 3 > kWordsMax) { // parameters, below and above besides
		compilation_.error("D_LQUANT_STEPSMALL",
		                   call->list.size() > 3 ? call->list[3]->place : call->place,
		                   "lquantize( ) step (argument #4) too small: number of quantization levels "
		                   "must be less than or equal to 65532",
		                   "make the step larger");
		return false;
	}
	*arg = static_cast<uint64_t>(step) << 48 | static_cast<uint64_t>(levels) << 32 |
	       static_cast<uint32_t>(base);
	return true;
}

// How many words an aggregation's value has: the steps of each order but those of the orders below it.
static int64_t llquantize_words(int64_t factor, int64_t low, int64_t high, int64_t steps) {
	int64_t words = 3; // parameters, below and above
	for (int64_t i = 0, next = factor; i <= high; i++, next = i <= high ? next * factor : next)
		if (i >= low)
			words += std::min(next, steps) - std::min(next, steps) / factor;
	return words;
}

bool ClauseBuilder::llquantize(Node* call, uint64_t* arg) {
	int64_t factor = 0, low = 0, high = 0, steps = 0;
	bool good = integer_parameter(call, 1, "factor", "D_LLQUANT_FACTOR", 0, UINT16_MAX, &factor);
	good &= integer_parameter(call, 2, "low magnitude", "D_LLQUANT_LOW", 0, UINT16_MAX, &low);
	good &= integer_parameter(call, 3, "high magnitude", "D_LLQUANT_HIGH", 0, UINT16_MAX, &high);
	good &= integer_parameter(call, 4, "number of steps", "D_LLQUANT_NSTEP", 0, UINT16_MAX, &steps);
	if (!good)
		return false;
	const auto bad = [&](std::string_view tag, size_t index, const std::string& text,
	                     const std::string& hint) {
		compilation_.error(tag, call->list[index]->place, text, hint);
		return false;
	};
	if (factor < 2)
		return bad("D_LLQUANT_FACTORSMALL", 1,
		           "llquantize( ) factor (argument #2) must be two or more", "");
	if (low >= high)
		return bad("D_LLQUANT_MAGRANGE", 2,
		           "llquantize( ) high magnitude (argument #4) must be greater than low magnitude "
		           "(argument #3)",
		           "");
	const bool fewer = steps && factor % steps == 0; // each of them is several of the factor's
	if (steps < factor && !fewer)
		return bad("D_LLQUANT_FACTORNSTEPS", 4,
		           "llquantize( ) factor (argument #2) must be at most the number of linear steps "
		           "per magnitude (argument #5), or a multiple of it",
		           "");
	if (steps % factor && !fewer)
		return bad("D_LLQUANT_FACTOREVEN", 4,
		           "llquantize( ) factor (argument #2) must evenly divide number of linear steps per "
		           "magnitude (argument #5)",
		           "");
	// factor^(high + 1) in 64 bits, signed.
	int64_t power = 1;
	for (int64_t i = 0; i <= high; i++) {
		if (power > INT64_MAX / factor)
			return bad("D_LLQUANT_MAGTOOBIG", 3,
			           "llquantize( ) high magnitude (argument #4) is too large: the greatest "
			           "value would not fit in a signed integer of 64 bits",
			           "");
		power *= factor;
	}
	// Above the order where they fit, the steps divide each order evenly.
	int64_t order = factor;
	while (order < steps)
		order *= factor;
	if (order % steps)
		return bad("D_LLQUANT_FACTOREVEN", 4,
		           "llquantize( ) number of linear steps per magnitude (argument #5) must evenly "
		           "divide a power of factor (argument #2)",
		           "");
	const int64_t words = llquantize_words(factor, low, high, steps);
	if (words > kWordsMax) // one of them holds the parameters
		return bad("D_LLQUANT_NSTEPVAL", 4,
		           "llquantize( ) has " + std::to_string(words - 1) + " buckets, and " +
		               std::to_string(kWordsMax - 1) + " is the most",
		           "take fewer steps (argument #5) or fewer magnitudes");
	*arg = static_cast<uint64_t>(factor) << 48 | static_cast<uint64_t>(low) << 32 |
	       static_cast<uint64_t>(high) << 16 | static_cast<uint64_t>(steps);
	return true;
}

bool ClauseBuilder::parameters(Node* call, const AggFunction& function, uint64_t* arg) {
	if (function.kind == DFR_ACT_LQUANTIZE)
		return lquantize(call, arg);
	if (function.kind == DFR_ACT_LLQUANTIZE)
		return llquantize(call, arg);
	return true;
}

// A variable keeps the keys of its first use; integers of any size meet (widen_keys).
bool ClauseBuilder::same_keys(Node* name, const AggVariable& known,
                              const std::vector<std::string>& signature) {
	const auto list = [](size_t keys) { return std::to_string(keys) + (keys == 1 ? " key" : " keys"); };
	if (known.keys.size() != signature.size()) {
		compilation_.error("D_PROTO_LEN", name->place,
		                   "@" + name->text + "[ ] prototype mismatch: " + list(signature.size()) +
		                       " passed, " + std::to_string(known.keys.size()) + " expected",
		                   "an aggregation keeps the keys of its first use");
		return false;
	}
	for (size_t i = 0; i < signature.size(); i++) {
		if (known.keys[i] == signature[i])
			continue;
		compilation_.error("D_PROTO_ARG", name->list[i]->place,
		                   "@" + name->text + "[ ] argument #" + std::to_string(i + 1) +
		                       " is incompatible with prototype: \"" + known.keys[i] + "\", not \"" +
		                       signature[i] + "\"",
		                   "an aggregation keeps the keys of its first use");
		return false;
	}
	return true;
}

bool ClauseBuilder::same_parameters(Node* call, const AggVariable& known, uint64_t arg) {
	if (known.arg == arg)
		return true;
	std::string tag;
	if (known.function == DFR_ACT_LQUANTIZE)
		tag = static_cast<uint32_t>(known.arg) != static_cast<uint32_t>(arg) ? "D_LQUANT_MATCHBASE"
		      : known.arg >> 48 != arg >> 48                                 ? "D_LQUANT_MATCHSTEP"
		                                                                     : "D_LQUANT_MATCHLIM";
	else
		tag = known.arg >> 48 != arg >> 48                         ? "D_LLQUANT_FACTORMATCH"
		      : (known.arg >> 32 & 0xffff) != (arg >> 32 & 0xffff) ? "D_LLQUANT_LOWMATCH"
		      : (known.arg >> 16 & 0xffff) != (arg >> 16 & 0xffff) ? "D_LLQUANT_HIGHMATCH"
		                                                           : "D_LLQUANT_NSTEPMATCH";
	const Location first = compilation_.diagnostics.sources().locate(known.place);
	compilation_.error(tag, call->place,
	                   call->text + "( ) parameters do not match those of @" + known.name + " at line " +
	                       std::to_string(first.line),
	                   "an aggregation keeps its parameters in the whole program");
	return false;
}

void ClauseBuilder::refuse(std::string_view tag, Place place, const std::string& text,
                           const std::string& hint) {
	compilation_.error(tag, place, text, hint);
	failed_ = true;
}

// The function that is assigned; null: it is none, or is called wrongly, which has been said.
const AggFunction* ClauseBuilder::assigned_function(Node* assign) {
	Node *const name = assign->a, *const call = assign->b;
	const auto refused = [this](std::string_view tag, Place place, const std::string& text,
	                            const std::string& hint) -> const AggFunction* {
		refuse(tag, place, text, hint);
		return nullptr;
	};
	if (assign->op != Tok::Assign)
		return refused("D_AGG_FUNC", assign->place,
		               "an aggregation is assigned with =, not " +
		                   std::string(operator_text(assign->op)),
		               "write: @" + name->text + " = sum(value);");
	const AggFunction* const function = call->kind == Nk::Call ? find_agg_function(call->text) : nullptr;
	if (!function)
		return refused(
		    call->kind == Nk::Call && !find_subroutine(call->text) && !find_action(call->text)
		        ? "D_FUNC_UNDEF"
		        : "D_AGG_FUNC",
		    call->place,
		    call->kind == Nk::Call
		        ? (find_subroutine(call->text) || find_action(call->text)
		               ? call->text + "( ) is not an aggregating function"
		               : "undefined function name: " + call->text)
		        : "@" + name->text + " must be assigned the result of an aggregating function",
		    "count sum avg min max stddev quantize lquantize llquantize");
	order(function->kind, assign->place);
	const size_t given = call->list.size();
	if (given < function->min || given > function->max)
		return refused(
		    function->kind == DFR_ACT_QUANTIZE ? "D_QUANT_PROTO" : "D_PROTO_LEN", call->place,
		    call->text + "( ) prototype mismatch: " + std::to_string(given) + " arg" +
		        (given == 1 ? "" : "s") + " passed, " +
		        (function->min != function->max && given < function->min ? "at least " : "") +
		        std::to_string(given < function->min ? function->min : function->max) + " expected",
		    "");
	return function;
}

// The aggregation as its first use defines it; null: this use is another, which has been said.
const AggVariable* ClauseBuilder::defined(Node* name, Node* call, const AggFunction& function, uint64_t arg,
                                          const std::vector<std::string>& signature) {
	AggVariable* const aggregation = compilation_.definitions.aggregation(name->text);
	if (!aggregation->function) {
		aggregation->function = function.kind;
		aggregation->arg = arg;
		aggregation->keys = signature;
		aggregation->first_keys.assign(name->list.begin(), name->list.end());
		aggregation->keyed = name->bracketed;
		aggregation->by_cpu = compilation_.settings.agg_by_cpu;
		aggregation->place = name->place;
		compilation_.result.image.aggregations.push_back({aggregation->id, aggregation->name});
	} else if (aggregation->function != function.kind) {
		const Location first = compilation_.diagnostics.sources().locate(aggregation->place);
		const Location here = compilation_.diagnostics.sources().locate(name->place);
		refuse("D_AGG_REDEF", name->place,
		       "aggregation redefined: @" + name->text + "\n\t current: @" + name->text + " = " +
		           call->text + "( ) : line " + std::to_string(here.line) + "\n\tprevious: @" +
		           name->text + " = " + std::string(find_agg_function(aggregation->function)->name) +
		           "( ) : line " + std::to_string(first.line),
		       "give this one another name");
		return nullptr;
	} else if (!same_keys(name, *aggregation, signature) || !same_parameters(call, *aggregation, arg)) {
		failed_ = true;
		return nullptr;
	}
	return aggregation;
}

bool ClauseBuilder::aggregated_value(Node* call, dof::Action& out) {
	Node* const operand = call->list[0];
	if (!value(operand))
		return false;
	if (operand->kind == Nk::Translated || !types_.is_scalar(operand->type)) {
		refuse("D_AGG_SCALAR", operand->place, call->text + "( ) argument #1 must be of scalar type",
		       "it has type " + sema_.type_text(operand));
		return false;
	}
	out.expression = canonical(types_, operand);
	// What is computed is aggregated in 64 bits, too.
	const bool wide = is_wide(types_, operand);
	out.difo = generate(compilation_, operand,
	                    {wide ? std::optional(int_result(8)) : std::nullopt, true, !wide});
	if (wide && out.difo)
		out.difo->rtype.flags |= DIF_TF_SIGNED;
	failed_ |= !out.difo;
	return true;
}

// The weight, where there is one. False: it cannot be one, which has been said.
bool ClauseBuilder::add_weight(Node* call, const AggFunction* function, std::vector<dof::Action>& tuple) {
	// The weight comes behind the value and the constant parameters.
	const size_t weight = 1 + function->constants;
	if (!function->min || call->list.size() <= weight || function->max <= weight)
		return true;
	Node* const by = call->list[weight];
	if (!value(by))
		return false;
	if (!types_.is_integer(by->type)) {
		refuse("D_PROTO_ARG", by->place,
		       call->text + "( ) argument #" + std::to_string(weight + 1) +
		           " (increment value) must be of scalar type",
		       "");
		return false;
	}
	dof::Action extra;
	extra.kind = DFR_ACT_DIFEXPR;
	extra.uarg = DFR_UARG_WEIGHT;
	extra.expression = canonical(types_, by);
	extra.difo = generate(compilation_, by, {std::nullopt, true});
	failed_ |= !extra.difo;
	tuple.push_back(std::move(extra));
	return true;
}

void ClauseBuilder::aggregate(Node* assign) {
	Node *const name = assign->a, *const call = assign->b;
	const AggFunction* const function = assigned_function(assign);
	if (!function)
		return;
	uint64_t arg = 0;
	if (!parameters(call, *function, &arg)) {
		failed_ = true;
		return;
	}
	std::vector<dof::Action> tuple;
	std::vector<std::string> signature;
	if (!keys(name, tuple, signature)) {
		failed_ = true;
		return;
	}

	const AggVariable* const aggregation = defined(name, call, *function, arg, signature);
	if (!aggregation || (aggregation->by_cpu && !cpu_key(name->place, tuple)))
		return;

	dof::Action out;
	out.kind = function->kind;
	out.arg = arg;
	out.uarg = aggregation->id;
	if ((function->min && !aggregated_value(call, out)) || !add_weight(call, function, tuple))
		return;
	out.ntuple = tuple.size();
	for (dof::Action& one : tuple)
		add(std::move(one));
	add(std::move(out));
}

namespace {

bool is_integer(const dof::Action& key) {
	return key.kind == DFR_ACT_DIFEXPR && key.uarg != DFR_UARG_CPU && key.uarg != DFR_UARG_WEIGHT &&
	       key.difo && key.difo->rtype.kind == DIF_KIND_CTF &&
	       !(key.difo->rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF));
}

// The result as an integer of 8 bytes.
void widen(dif::Difo& difo) {
	const uint32_t reg = DIF_RD(difo.text.back()), shift = reg == 1 ? 2 : 1;
	const unsigned bits = 64 - 8 * difo.rtype.size;
	difo.text.pop_back();
	if (reg) {
		difo.text.push_back(DIF_INSTR_WIDE(DIF_OP_SETX, difo.integers.size(), shift));
		difo.integers.push_back(bits);
		difo.text.push_back(DIF_INSTR_R(DIF_OP_SLL, reg, shift, reg));
		difo.text.push_back(
		    DIF_INSTR_R(difo.rtype.flags & DIF_TF_SIGNED ? DIF_OP_SRA : DIF_OP_SRL, reg, shift, reg));
	}
	difo.text.push_back(DIF_INSTR_R(DIF_OP_RET, 0, 0, reg));
	difo.rtype.size = 8;
}

} // namespace

void widen_keys(dof::Image& image) {
	std::map<uint64_t, std::vector<std::vector<dof::Action*>>> variables; // by id, by key: its uses
	for (dof::Body& body : image.bodies) {
		for (size_t i = 0; i < body.actions.size(); i++) {
			const dof::Action& value = body.actions[i];
			auto& keys = variables[value.uarg];
			for (size_t k = 0; DFR_ACT_IS_AGG(value.kind) && k < value.ntuple; k++) {
				dof::Action& key = body.actions[i - value.ntuple + k];
				keys.resize(std::max(keys.size(), k + 1));
				if (is_integer(key))
					keys[k].push_back(&key);
			}
		}
	}
	for (auto& [id, keys] : variables) {
		for (auto& uses : keys) {
			uint32_t least = 8, most = 0;
			for (const dof::Action* use : uses) {
				least = std::min(least, use->difo->rtype.size);
				most = std::max(most, use->difo->rtype.size);
			}
			// Of one size they are one key by their bytes, which are shown as the first use says.
			for (dof::Action* use : uses) {
				dif_type& type = use->difo->rtype;
				if (least != most && type.size < 8)
					widen(*use->difo);
				else if (most < 8)
					type.flags = (type.flags & ~DIF_TF_SIGNED) |
					             (uses[0]->difo->rtype.flags & DIF_TF_SIGNED);
			}
		}
	}
}

} // namespace dfr::d
