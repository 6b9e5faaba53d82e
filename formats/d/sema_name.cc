// SPDX-License-Identifier: GPL-2.0
//
// Analysis of names: built-ins, inlines, variables of the three scopes, kernel
// symbols, enumerators, args[]. A variable comes to be with its first
// assignment in the text, which gives it its type. One file, because a name is
// looked for among all of these in one order; it is long for the kinds of names.
#include "formats/d/sema.h"

#include "formats/d/attributes.h"
#include "formats/d/codegen.h"
#include "formats/d/parser.h"
#include "formats/d/suggest.h"

namespace dfr::d {

using types::Kind;
using types::TypeRef;

namespace {

// A recording's text may be anything: what is not the name of a type must not define types, assign variables, set
// options or use arguments of the program.
TypeRef parse_type(Compilation& compilation, Sema& sema, std::string_view text) {
	if (text == "string")
		return compilation.types.string_type();
	if (text.find_first_of("{=#$") != text.npos)
		return {};
	const size_t before = compilation.diagnostics.all().size();
	const uint32_t source = compilation.diagnostics.sources().add("<type>", std::string(text));
	const TypeRef type = Parser(compilation, sema, source).type_name_only();
	compilation.diagnostics.truncate(before);
	return type;
}

// BTF has no types of ordinary variables; these are asked for often, and 6.1 and 6.12 agree on them.
std::string_view usual_symbol(std::string_view name) {
	static constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
	    {"jiffies", "unsigned long"},
	    {"jiffies_64", "unsigned long"},
	    {"max_pfn", "unsigned long"},
	    {"max_low_pfn", "unsigned long"},
	    {"min_low_pfn", "unsigned long"},
	    {"loops_per_jiffy", "unsigned long"},
	    {"total_forks", "unsigned long"},
	    {"tainted_mask", "unsigned long"},
	    {"avenrun", "unsigned long[3]"},
	    {"nr_threads", "int"},
	    {"pid_max", "int"},
	    {"panic_timeout", "int"},
	    {"nr_cpu_ids", "unsigned int"},
	    {"tsc_khz", "unsigned int"},
	    {"cpu_khz", "unsigned int"},
	    {"system_state", "enum system_states"},
	    {"_totalram_pages", "atomic_long_t"},
	    {"nr_swap_pages", "atomic_long_t"},
	    {"saved_command_line", "char *"},
	    {"high_memory", "void *"},
	    {"cad_pid", "struct pid *"},
	    {"init_task", "struct task_struct"},
	    {"init_mm", "struct mm_struct"},
	    {"init_cred", "struct cred"},
	    {"init_files", "struct files_struct"},
	    {"init_fs", "struct fs_struct"},
	    {"init_net", "struct net"},
	    {"init_nsproxy", "struct nsproxy"},
	    {"init_pid_ns", "struct pid_namespace"},
	    {"init_user_ns", "struct user_namespace"},
	    {"init_uts_ns", "struct uts_namespace"},
	    {"root_task_group", "struct task_group"},
	    {"super_blocks", "struct list_head"},
	    {"modules", "struct list_head"},
	    {"boot_cpu_data", "struct cpuinfo_x86"}};
	for (const auto& [symbol, type] : kUsual) {
		if (symbol == name)
			return type;
	}
	return {};
}

} // namespace

bool Sema::bound(std::string_view name) const {
	for (const auto& one : bound_) {
		if (one.first == name)
			return true;
	}
	return false;
}

// Compiles the library file that defines the name, apart from what is being
// analysed now.
bool Sema::from_library(std::string_view name) {
	if (!compilation_.provide)
		return false;
	std::vector<std::pair<std::string, Node*>> saved;
	saved.swap(bound_);
	const bool fresh = compilation_.provide(name);
	saved.swap(bound_);
	return fresh;
}

std::string Sema::suggestion(std::string_view name, const std::vector<std::string_view>& candidates) {
	return suggest(name, candidates);
}

void Sema::set_clause(const Clause* clause) {
	clause_ = clause;
	args_known_ = args_conflict_ = args_any_ = false;
	args_.clear();
	args_untyped_.clear();
}

void Sema::undefined_name(Node* node, uint8_t scope) {
	if (compilation_.unread_names(node->text)) {
		node->kind = Nk::Error;
		return;
	}
	std::vector<std::string_view> names = compilation_.definitions.variable_names(scope);
	if (scope != DIF_VS_GLOBAL) {
		std::string hint =
		    assigned_below(compilation_.diagnostics.sources(), node->place, scope, node->text);
		if (hint.empty())
			hint = suggest(node->text, names);
		if (hint.empty())
			hint = "assign it first, or declare it: " +
			       std::string(scope == DIF_VS_THREAD ? "self" : "this") + " int " + node->text +
			       ";";
		return poison(node, "D_VAR_UNDEF", node->text + " has not yet been declared or assigned",
		              hint);
	}
	const auto builtins = builtin_names();
	names.insert(names.end(), builtins.begin(), builtins.end());
	for (const auto& def : compilation_.definitions.inlines)
		names.push_back(def.first);
	std::string hint = assigned_below(compilation_.diagnostics.sources(), node->place, scope, node->text);
	if (hint.empty())
		hint = suggest(node->text, names);
	if (hint.empty() && find_subroutine(node->text))
		hint = node->text + " is a function: call it with ()";
	if (hint.empty())
		hint = "a variable is assigned or declared before it is read; a kernel symbol is written `" +
		       node->text;
	poison(node, "D_IDENT_UNDEF", "failed to resolve " + node->text + ": Unknown variable name", hint);
}

void Sema::name(Node* node) {
	if (node->text.find('`') != std::string::npos)
		return symbol(node);
	for (auto one = bound_.rbegin(); one != bound_.rend(); ++one) {
		if (one->first == node->text)
			return poison(node, "D_IDENT_BADREF",
			              node->text +
			                  " has a value only where the inline or translator is used");
	}
	if (compilation_.hidden(node->text))
		return undefined_name(node, DIF_VS_GLOBAL);
	if (const Builtin* const known = find_builtin(node->text))
		return builtin(node, known);
	// A constant of an enum of the program's is meant before an inline of the library's.
	const bool constant = bool(types_.program().find_enumerator(node->text));
	if (const auto def = compilation_.definitions.inlines.find(node->text);
	    def != compilation_.definitions.inlines.end() && !(constant && def->second.library)) {
		if (def->second.array)
			return poison(node, "D_ARR_BADREF",
			              "improper reference to array " + node->text + " as a scalar",
			              "it takes arguments: " + node->text + "[...]");
		return expand(node, def->second, {});
	}
	if (Variable* const found = compilation_.definitions.find_variable(DIF_VS_GLOBAL, node->text)) {
		if (constant)
			return poison(node, "D_IDENT_AMBIG",
			              "ambiguous reference to " + node->text +
			                  ": both a variable and a constant of an enum",
			              "rename one of the two");
		return variable(node, found);
	}
	if (compilation_.definitions.externs.contains(node->text)) {
		node->text.insert(0, "`");
		return symbol(node);
	}
	if (node->text == "NULL") {
		node->kind = Nk::Int;
		node->type = types_.int_type();
		return;
	}
	if (!constant && from_library(node->text) && compilation_.definitions.inlines.contains(node->text))
		return name(node);
	if (const auto found = types_.find_enumerator(node->text)) {
		node->kind = Nk::Int;
		rely_on(found->type);
		node->value = found->value;
		node->type = found->type;
		return;
	}
	undefined_name(node, DIF_VS_GLOBAL);
}

// The engine has no such variable: it is what the D library says. Without a kernel to ask it is this process's.
void Sema::zonename(Node* node) {
	compilation_.rely(builtin_attributes(node->text), node->text, node->place);
	if (compilation_.kernel_missing()) {
		node->kind = Nk::String;
		node->text = compilation_.target.zone();
		node->type = types_.string_type();
		return;
	}
	static constexpr const char* kName = "uts_zone_name";
	if (!compilation_.definitions.inlines.contains(kName))
		from_library(kName);
	const auto def = compilation_.definitions.inlines.find(kName);
	if (def == compilation_.definitions.inlines.end())
		return poison(node, "D_VAR_UNSUP",
		              "built-in variable zonename is not available without the D library",
		              "compile without -x nolibs");
	expand(node, def->second, {});
}

void Sema::builtin(Node* node, const Builtin* known) {
	if (known->array)
		return poison(node, "D_ARR_BADREF",
		              "improper reference to array " + node->text + " as a scalar",
		              "name an element: " + node->text + "[0]");
	if (known->id == DIF_VAR_ZONENAME)
		return zonename(node);
	if (known->kernel && compilation_.kernel_missing())
		return poison(node, "D_VAR_UNSUP",
		              "built-in variable " + node->text + " is not supported by " +
		                  compilation_.target.description(),
		              "it reads kernel state: load the module (dfr.ko) and run as root");
	compilation_.rely(builtin_attributes(node->text), node->text, node->place);
	node->kind = Nk::BuiltinVar;
	node->builtin = known;
	if (known->type == "struct task_struct *") {
		const TypeRef task = types_.find_tag(Kind::Struct, "task_struct");
		node->type =
		    types_.pointer_to(task ? task : types_.program().forward(Kind::Struct, "task_struct"));
	} else if (known->type == "string") {
		node->type = types_.string_type();
	} else {
		const TypeRef type = types_.named(known->type);
		node->type = type ? type : types_.basic(known->type);
	}
	node->lvalue = true;
}

Node* Sema::clone(const Node* node, const std::map<std::string, Node*, std::less<>>& values, unsigned depth) {
	if (!node)
		return nullptr;
	// Inlines of inlines double quickly.
	if (++cloned_ == kClonedMost)
		compilation_.error("D_SYNTAX", node->place,
		                   "inlines and translators come to more than " +
		                       std::to_string(kClonedMost) + " operators and names",
		                   "keep what is used often in a variable");
	// Analysis goes no deeper: what is below would not be looked at.
	if (cloned_ >= kClonedMost || depth > kDeepest)
		return compilation_.arena.make(Nk::Error, node->place);
	if (node->kind == Nk::Name) {
		if (const auto value = values.find(node->text); value != values.end())
			return clone(value->second, {}, depth);
	}
	Node* const out = compilation_.arena.copy(*node);
	out->a = clone(node->a, values, depth + 1);
	out->b = clone(node->b, values, depth + 1);
	out->c = clone(node->c, values, depth + 1);
	for (Node*& one : out->list)
		one = clone(one, values, depth + 1);
	return out;
}

bool Sema::try_copy(const Node* node) {
	if (tried_ >= kClonedMost)
		return true; // a large one again and again: its text has to be right as it stands
	const size_t said = compilation_.diagnostics.all().size();
	const unsigned before = std::exchange(cloned_, 0);
	trying_ = true;
	compilation_.diagnostics.limit(false);
	Node* const copy = clone(node, {});
	analyze(copy);
	compilation_.diagnostics.limit(true);
	trying_ = false;
	tried_ += std::exchange(cloned_, before);
	compilation_.diagnostics.truncate(said);
	return !poisoned(copy);
}

void Sema::expand(Node* node, InlineDef& def, const std::vector<Node*>& arguments) {
	if (arguments.size() != def.parameters.size())
		return poison(node, "D_PROTO_LEN",
		              def.name + "[ ] prototype mismatch: " + std::to_string(arguments.size()) +
		                  " arg" + (arguments.size() == 1 ? "" : "s") + " passed, " +
		                  std::to_string(def.parameters.size()) + " expected",
		              "see the inline's definition");
	if (def.expanding)
		return poison(node, "D_IDENT_BADREF", "inline " + def.name + " refers to itself",
		              "an inline cannot be recursive");
	std::map<std::string, Node*, std::less<>> values;
	for (size_t i = 0; i < arguments.size(); i++) {
		analyze(arguments[i]);
		if (poisoned(arguments[i])) {
			node->kind = Nk::Error;
			return;
		}
		const TypeRef wanted = def.parameters[i].type;
		if (!convertible(wanted, arguments[i]))
			return poison_at(node, arguments[i]->place, "D_PROTO_ARG",
			                 def.name + "[ ] argument #" + std::to_string(i + 1) +
			                     " is incompatible with prototype",
			                 "expected " + types_.text(wanted) + ", got " +
			                     type_text(arguments[i]));
		const bool cast = types_.is_arithmetic(wanted) && !types_.same(wanted, arguments[i]->type);
		values[def.parameters[i].name] = cast ? converted(wanted, arguments[i]) : arguments[i];
	}
	if (const auto facts = compilation_.names.find(def.name);
	    facts != compilation_.names.end() && facts->second.attributes)
		compilation_.rely(*facts->second.attributes, def.name, node->place);
	Node* const body = clone(def.body, values);
	def.expanding = true;
	// The body was written elsewhere: this clause's bindings do not reach it.
	std::vector<std::pair<std::string, Node*>> saved;
	const size_t said = compilation_.diagnostics.all().size();
	saved.swap(bound_);
	analyze(body);
	saved.swap(bound_);
	def.expanding = false;
	if (def.library && !compilation_.in_library)
		compilation_.diagnostics.move(said, node->place, def.name + ": ");
	if (poisoned(body)) {
		node->kind = Nk::Error;
		return;
	}
	inline_value(node, def, body);
}

// Makes the node the analysed body, converted to the type that the definition names.
void Sema::inline_value(Node* node, const InlineDef& def, Node* body) {
	const Place place = node->place;
	if (body->kind == Nk::Translated || types_.is_struct(def.type) || types_.is_array(def.type) ||
	    types_.is_void(def.type) || types_.same(def.type, body->type)) {
		*node = *body;
		if (body->kind != Nk::Translated && types_.same(def.type, body->type) &&
		    body->kind == Nk::Int)
			node->type = def.type;
		node->place = place;
		return;
	}
	if (!convertible(def.type, body) && !(types_.is_scalar(def.type) && types_.is_scalar(body->type)))
		return poison(node, "D_OP_INCOMPAT",
		              "inline " + def.name + " definition uses incompatible types: \"" +
		                  types_.text(def.type) + "\" = \"" + type_text(body) + "\"",
		              "see its definition");
	node->list.clear();
	node->kind = Nk::Cast;
	node->a = body;
	node->cast = def.type;
	node->b = node->c = nullptr;
	cast(node);
	node->place = place;
}

void Sema::variable(Node* node, Variable* found) {
	if (found->assoc)
		return poison(node, "D_ARR_BADREF",
		              "improper reference to associative array " +
		                  std::string(kScopePrefix[found->scope]) + found->name + " as a scalar",
		              "give its keys in [ ]");
	if (types_.is_struct(found->type))
		rely_on(found->type);
	node->kind = Nk::Var;
	node->variable = found;
	node->a = nullptr;
	node->type = found->type;
	node->user = found->user;
	node->lvalue = node->writable = true;
}

void Sema::scoped_variable(Node* node, uint8_t scope) {
	if (Variable* const found = compilation_.definitions.find_variable(scope, node->text))
		return variable(node, found);
	undefined_name(node, scope);
}

// A struct in user memory, in scratch memory: keys are compared where the kernel can read them.
Node* Sema::copied_in(Node* object) {
	Node* const address = compilation_.arena.make(Nk::Unary, object->place);
	address->op = Tok::And;
	address->a = object;
	address->type = types_.pointer_to(object->type);
	address->analyzed = true;
	Node* const size = compilation_.arena.make(Nk::Int, object->place);
	size->value = types_.size(object->type);
	size->type = types_.named("size_t");
	size->analyzed = true;
	Node* const out = compilation_.arena.make(Nk::Unary, object->place);
	out->op = Tok::Star;
	out->a = hidden_call(DIF_SUBR_COPYIN, {address, size}, address->type, object->place);
	out->type = object->type;
	out->analyzed = out->lvalue = true;
	return out;
}

void Sema::assoc(Node* node, Variable* found) {
	const std::string shown = kScopePrefix[found->scope] + found->name;
	if (node->list.size() != found->keys.size())
		return poison(node, "D_PROTO_LEN",
		              shown + "[ ] prototype mismatch: " + std::to_string(node->list.size()) +
		                  " arg" + (node->list.size() == 1 ? "" : "s") + " passed, " +
		                  std::to_string(found->keys.size()) + " expected",
		              "an associative array keeps the keys of its first use");
	for (size_t i = 0; i < node->list.size(); i++) {
		Node*& key = node->list[i];
		analyze(key);
		if (poisoned(key)) {
			node->kind = Nk::Error;
			return;
		}
		if (types_.is_float(key->type) ||
		    (types_.is_array(key->type) &&
		     (!types_.is_char_array(key->type) || types_.is_pointer(found->keys[i]))))
			return poison_at(node, key->place, "D_KEY_TYPE",
			                 "type " + type_text(key) + " cannot be a key", key_hint(key->type));
		const bool strings = types_.is_string(found->keys[i]) && types_.is_string_like(key->type);
		if (!strings && !convertible(found->keys[i], key))
			return poison_at(node, key->place, "D_PROTO_ARG",
			                 shown + "[ ] argument #" + std::to_string(i + 1) +
			                     " is incompatible with prototype: \"" +
			                     types_.text(found->keys[i]) + "\", not \"" + type_text(key) +
			                     "\"",
			                 "an associative array keeps the keys of its first use");
		if (types_.is_struct(key->type) && key->user)
			key = copied_in(key);
		if (strings && key->user)
			to_text(key);
		// Keys are compared in 64 bits: a wider one is another key, not this one's low half. What is computed is cut to
		// a type that the array was declared with; elsewhere all of it counts, as in a[cpu << 32 | pid].
		const bool cut =
		    !types_.same(found->keys[i], key->type) || (found->declared && is_wide(types_, key));
		if (cut && types_.is_integer(found->keys[i]) &&
		    types_.size(key->type) <= types_.size(found->keys[i]))
			key = cast_to(found->keys[i], key);
	}
	node->kind = Nk::Var;
	node->a = nullptr;
	node->variable = found;
	node->type = found->type;
	node->user = found->user;
	node->lvalue = node->writable = true;
}

// -- creation

bool Sema::creatable(const Node* node) {
	const Node* base = node->kind == Nk::Index ? node->a : node;
	if (base->kind == Nk::Member && base->arrow && base->a->kind == Nk::SelfKw)
		return !compilation_.definitions.find_variable(DIF_VS_THREAD, base->text);
	if (base->kind == Nk::Member && base->arrow && base->a->kind == Nk::ThisKw)
		return !compilation_.definitions.find_variable(DIF_VS_LOCAL, base->text);
	if (base->kind != Nk::Name || base->text.find('`') != std::string::npos || find_builtin(base->text) ||
	    compilation_.definitions.find_variable(DIF_VS_GLOBAL, base->text) ||
	    compilation_.definitions.externs.contains(base->text) || bound(base->text) ||
	    base->text == "NULL")
		return false;
	// A constant of the library is no name for a variable either.
	if (!compilation_.definitions.inlines.contains(base->text))
		from_library(base->text);
	return !compilation_.definitions.inlines.contains(base->text);
}

// Whether the name is none for a variable or an inline: it is an inline's, the library's among them.
bool Sema::is_taken(const std::string& name) {
	if (find_builtin(name) || name == "NULL")
		return true;
	if (!compilation_.in_library && !compilation_.definitions.inlines.contains(name))
		from_library(name);
	return compilation_.definitions.inlines.contains(name);
}

void Sema::redeclared(Place place, const std::string& name) {
	const auto def = compilation_.definitions.inlines.find(name);
	const bool library = def != compilation_.definitions.inlines.end() && def->second.library;
	compilation_.error(
	    "D_DECL_IDRED", place, "identifier redeclared: " + name,
	    library ? "it is an inline of the D library (" +
	                  std::string(compilation_.diagnostics.sources().locate(def->second.place).file) +
	                  "); choose another"
	    : name == "NULL" ? "NULL is the integer 0; choose another name"
	                     : "the name is taken; choose another");
}

Variable* Sema::new_variable(Node* node, uint8_t scope, const std::string& name) {
	Variable* const made = compilation_.definitions.add_variable(scope, name);
	if (!made)
		poison(node, "D_ID_OFLOW",
		       "cannot create " + name + ": limit of variables in this scope exceeded",
		       "use fewer variables");
	return made;
}

// A string's size is strsize, which has a limit of its own.
bool Sema::too_big(TypeRef type) {
	return !types_.is_string(type) && types_.is_by_ref(type) && types_.size(type) > DIF_STATIC_MAX;
}

std::string Sema::size_hint(TypeRef type) {
	return "it has " + std::to_string(types_.size(type)) + " bytes, and a variable or a key at most " +
	       std::to_string(DIF_STATIC_MAX) + ": use the members or elements that matter";
}

// What an associative array's key may be: its bytes are stored with each element.
bool Sema::is_key(TypeRef type) {
	return types_.is_string(type) || types_.is_char_array(type) ||
	       (types_.is_scalar(type) && !types_.is_float(type)) ||
	       (types_.is_struct(type) && types_.size(type) && !too_big(type));
}

std::string Sema::key_hint(TypeRef type) {
	if (types_.is_struct(type) && too_big(type))
		return size_hint(type);
	if (types_.is_array(type))
		return types_.is_char_array(type)
		           ? "the key is declared as a pointer, and a char array is a text"
		           : "an array cannot be a key: use its elements, or a pointer to them";
	return "keys are integers, pointers, strings and structs";
}

void Sema::create(Node* left, TypeRef type, bool user) {
	Node* const base = left->kind == Nk::Index ? left->a : left;
	const uint8_t scope = base->kind == Nk::Name        ? DIF_VS_GLOBAL
	                      : base->a->kind == Nk::SelfKw ? DIF_VS_THREAD
	                                                    : DIF_VS_LOCAL;
	if (types_.is_function(type))
		type = types_.pointer_to(type);
	if (types_.is_float(type))
		type = types_.basic("double");
	if (left->kind == Nk::Index && scope == DIF_VS_LOCAL)
		return poison(left, "D_ARR_LOCAL",
		              "array declaration invalid for clause-local variable " + base->text,
		              "use a global or self-> array");
	std::vector<TypeRef> keys;
	if (left->kind == Nk::Index) {
		for (Node*& key : left->list) {
			analyze(key);
			if (poisoned(key)) {
				left->kind = Nk::Error;
				return;
			}
			if (key->kind == Nk::Translated || !is_key(key->type))
				return poison_at(left, key->place, "D_KEY_TYPE",
				                 "type " + type_text(key) + " cannot be a key",
				                 key->kind == Nk::Translated ? "use one of its members"
				                                             : key_hint(key->type));
			const bool text = types_.is_char_array(key->type);
			keys.push_back(text ? types_.string_type() : key->type);
		}
		if (keys.empty())
			return poison(left, "D_ARR_BADREF", "an associative array needs at least one key");
	}
	// A key's own assignment may have made it: x[x = 1] = 2. What `left` then is
	// will be judged by its analysis.
	if (compilation_.definitions.find_variable(scope, base->text))
		return;
	if (too_big(type))
		return poison(left, "D_DECL_ARRBIG", kScopePrefix[scope] + base->text + " is too big",
		              size_hint(type));
	Variable* const made = new_variable(left, scope, base->text);
	if (!made)
		return;
	made->type = type;
	made->user = user && types_.is_pointer(type);
	made->assoc = left->kind == Nk::Index;
	made->keys = std::move(keys);
	made->place = left->place;
}

void Sema::declare_variable(uint8_t scope, const std::string& name, Place place, TypeRef type,
                            bool assoc_array, const std::vector<TypeRef>& keys, bool user) {
	const std::string shown = kScopePrefix[scope] + name;
	if (scope == DIF_VS_GLOBAL && is_taken(name))
		return redeclared(place, name);
	if (too_big(type))
		return compilation_.error("D_DECL_ARRBIG", place, shown + " is too big", size_hint(type));
	if (types_.is_function(type)) {
		compilation_.definitions.externs[name] = {type, user};
		return;
	}
	if (assoc_array && scope == DIF_VS_LOCAL)
		return compilation_.error(
		    "D_DECL_LOCASSC", place,
		    "associative array declaration invalid for clause-local variable: " + shown,
		    "use a global or self-> array");
	if (types_.is_void(type))
		return compilation_.error("D_DECL_VOIDOBJ", place,
		                          "cannot declare object of void type: " + shown,
		                          "void has no values");
	if (types_.is_array(type) && !types_.info(type).count)
		return compilation_.error("D_DECL_ARRNULL", place,
		                          "array declaration requires array dimension or tuple signature: " +
		                              shown,
		                          "write the number of elements, or key types");
	if (!types_.is_string(type) && !types_.size(type))
		return compilation_.error("D_DECL_INCOMPLETE", place,
		                          "incomplete type \"" + types_.text(type) + "\" for " + shown,
		                          "define the type first, or use a pointer");
	if (Variable* const known = compilation_.definitions.find_variable(scope, name)) {
		bool same = types_.same(known->type, type) && known->assoc == assoc_array &&
		            known->keys.size() == keys.size();
		for (size_t i = 0; same && i < keys.size(); i++)
			same = types_.same(known->keys[i], keys[i]);
		if (!same)
			compilation_.error("D_DECL_IDRED", place, "identifier redeclared: " + shown,
			                   "it was declared or assigned before with another type");
		return;
	}
	Variable* const made = compilation_.definitions.add_variable(scope, name);
	if (!made)
		return compilation_.error("D_ID_OFLOW", place,
		                          "cannot create " + shown +
		                              ": limit of variables in this scope exceeded",
		                          "use fewer variables");
	made->type = type;
	made->declared = true;
	made->assoc = assoc_array;
	made->keys = keys;
	made->user = user;
	made->place = place;
}

void Sema::define_inline(InlineDef def) {
	if (is_taken(def.name) || compilation_.definitions.find_variable(DIF_VS_GLOBAL, def.name) ||
	    (!compilation_.in_library && types_.program().find_enumerator(def.name)))
		return redeclared(def.place, def.name);
	const std::string name = def.name;
	InlineDef& made = compilation_.definitions.inlines.emplace(name, std::move(def)).first->second;
	if (!compilation_.in_library)
		check_inline(made);
}

// -- kernel symbols

void Sema::symbol(Node* node) {
	const size_t tick = node->text.rfind('`');
	std::string module = node->text.substr(0, tick);
	const std::string name = node->text.substr(tick + 1);
	if (module.find('`') != std::string::npos)
		return poison(node, "D_SYM_BADREF",
		              "symbol " + node->text + " of a process cannot be used yet",
		              "name a kernel symbol: module`name");
	if (compilation_.kernel_missing())
		return poison(node, "D_SYM_BADREF",
		              "kernel symbol " + node->text + " is not supported by " +
		                  compilation_.target.description(),
		              "it reads kernel state: load the module (dfr.ko) and run as root");
	bool function = false;
	TypeRef type;
	const auto declared = compilation_.definitions.externs.find(name);
	if (declared != compilation_.definitions.externs.end())
		type = declared->second.type;
	else
		type = types_.find_kernel_symbol(module, name, &function);
	if (!type && name == "linux_banner")
		type = types_.program().array(types_.basic("char"), types_.string_size());
	if (const auto text = type ? std::string_view() : usual_symbol(name); !text.empty())
		type = parse_type(compilation_, *this, text);

	compilation_.rely(kPrivate, node->text, node->place);
	const auto known = compilation_.target.symbol(module, name);
	if (!known && compilation_.target.has_addresses())
		return poison(node, "D_IDENT_UNDEF",
		              "failed to resolve " + node->text + ": Unknown symbol name",
		              "see /proc/kallsyms for the names there are");
	if (!type && !address_only_)
		return poison(node, "D_SYM_NOTYPES",
		              "no symbolic type information is available for " + node->text,
		              "declare it: extern TYPE " + name + "; or take its address: &" + node->text);
	node->kind = Nk::Symbol;
	if (known)
		node->text = known->module.empty() ? known->name : known->module + "`" + known->name;
	else if (module.empty())
		node->text = name;
	node->known = known && compilation_.target.has_addresses();
	node->value = known ? known->address : 0;
	node->lvalue = true;
	node->type = type ? type : types_.void_type();
	rely_on(node->type);
}

// -- args[] and uregs[]

// The arguments of the clause's probes, which must all have the same.
void Sema::find_args() {
	if (args_known_)
		return;
	args_known_ = true;
	for (const Description& desc : clause_->probes) {
		const ProbePattern pattern{desc.host,     desc.provider, desc.module,
		                           desc.function, desc.name,     desc.id};
		compilation_.target.match(pattern, [&](const ProbeInfo& probe) {
			std::vector<ProbeArg> here = compilation_.target.args(probe);
			bool same = here.size() == args_.size();
			for (size_t i = 0; same && i < here.size(); i++)
				same = here[i].native == args_[i].native &&
				       here[i].translated == args_[i].translated &&
				       here[i].mapping == args_[i].mapping && here[i].user == args_[i].user;
			if (args_any_ && !same)
				args_conflict_ = true;
			if (here.empty() && args_untyped_.empty())
				args_untyped_ = compilation_.target.why_untyped(probe);
			if (!args_any_)
				args_ = std::move(here);
			args_any_ = true;
			return !args_conflict_;
		});
	}
}

// Poisons what names no argument.
void Sema::check_argument(Node* node, int64_t number) {
	const std::string& text = clause_->probes[0].text;
	const std::string untyped = args_untyped_.empty() ? "" : args_untyped_ + ": ";
	if (args_conflict_)
		return poison(node, "D_ARGS_MULTI",
		              "args[ ] may not be referenced because probe description " + text +
		                  " matches an unstable set of probes",
		              untyped + "describe probes with the same arguments, or use arg0 to arg9");
	if (args_.empty())
		return poison(node, "D_ARGS_NONE",
		              "args[ ] may not be referenced because probe description " + text +
		                  (args_any_ ? " matches a probe whose argument types are not known"
		                             : " does not match any probes"),
		              untyped + "use arg0 to arg9 and casts");
	if (number < 0 || static_cast<uint64_t>(number) >= args_.size())
		return poison_at(node, node->list[0]->place, "D_ARGS_IDX",
		                 "index " + std::to_string(number) + " is out of range for " + text +
		                     " args[ ]",
		                 "it has " + std::to_string(args_.size()) +
		                     (args_.size() == 1 ? " element" : " elements"));
}

void Sema::translate_argument(Node* node, int64_t number, TypeRef native) {
	const ProbeArg& arg = args_[number];
	const TypeRef wanted = parse_type(compilation_, *this, arg.translated);
	if (!wanted)
		return poison(node, "D_ARGS_TYPE",
		              "failed to resolve translated type for args[" + std::to_string(number) +
		                  "]: " + arg.translated,
		              "the D library that defines it was not read");
	if (types_.same(native, wanted))
		return;
	Node* const input = compilation_.arena.copy(*node);
	Translator* const translator =
	    find_translator(types_.is_pointer(wanted) ? types_.target(wanted) : wanted, native);
	if (!translator)
		return poison(node, "D_ARGS_XLATOR",
		              "no translator for args[" + std::to_string(number) + "] from " + arg.native +
		                  " to " + arg.translated,
		              "the D library that defines it was not read");
	node->kind = Nk::Translated;
	node->list.clear();
	node->a = input;
	node->type = wanted;
	node->translator = translator;
	node->lvalue = false;
}

void Sema::args_element(Node* node) {
	if (node->list.size() != 1)
		return poison(node, "D_PROTO_LEN",
		              "args[ ] prototype mismatch: " + std::to_string(node->list.size()) +
		                  " args passed, 1 expected");
	Node* const index = node->list[0];
	const auto number = constant(index);
	if (poisoned(index)) {
		node->kind = Nk::Error;
		return;
	}
	if (!number)
		return poison_at(node, index->place, "D_ARGS_TYPE",
		                 "args[ ] index must be an integer constant",
		                 "each element has a type of its own");
	if (!clause_)
		return poison(node, "D_ARGS_NONE", "args[ ] may not be referenced outside a probe clause");
	find_args();
	check_argument(node, *number);
	if (poisoned(node))
		return;
	// Which argument of such a function is which is the kernel's to say.
	compilation_.kernel_types |= provider_attributes(clause_->probes[0].provider).name <= kPrivate.name;
	const ProbeArg& arg = args_[*number];
	const TypeRef native = parse_type(compilation_, *this, arg.native);
	if (!native)
		return poison(node, "D_ARGS_TYPE",
		              "failed to resolve native type for args[" + std::to_string(*number) +
		                  "]: " + arg.native,
		              "use arg" + std::to_string(*number) + " and a cast");
	node->kind = Nk::BuiltinVar;
	node->builtin = find_builtin("args");
	node->a = nullptr;
	index->value = arg.mapping;
	node->type = native;
	node->lvalue = types_.is_struct(native);
	node->user = arg.user;
	if (!arg.translated.empty() && arg.translated != arg.native)
		translate_argument(node, *number, native);
}

void Sema::uregs_element(Node* node) {
	if (node->list.size() != 1)
		return poison(node, "D_PROTO_LEN",
		              "uregs[ ] prototype mismatch: " + std::to_string(node->list.size()) +
		                  " args passed, 1 expected");
	Node* const index = node->list[0];
	analyze(index);
	if (poisoned(index)) {
		node->kind = Nk::Error;
		return;
	}
	if (!types_.is_integer(index->type))
		return poison_at(node, index->place, "D_REGS_IDX", "uregs[ ] index must be an integer",
		                 "use a constant such as R_RIP");
	if (compilation_.kernel_missing())
		return poison(node, "D_VAR_UNSUP",
		              "built-in variable uregs is not supported by " +
		                  compilation_.target.description(),
		              "load the module (dfr.ko) and run as root");
	node->kind = Nk::BuiltinVar;
	node->a = nullptr;
	node->type = types_.named("uint64_t");
}

} // namespace dfr::d
