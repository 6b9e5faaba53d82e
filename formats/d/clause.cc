// SPDX-License-Identifier: GPL-2.0
//
// ClauseBuilder's frame: probes, predicate, statements, the parts that `if`
// makes, and the rules on the order of speculative actions.
#include "formats/d/clause.h"

#include <algorithm>
#include <set>

#include "formats/d/canon.h"
#include "formats/d/capture.h"
#include "formats/d/suggest.h"

namespace dfr::d {

// The probes of processes (pid1234) are made from descriptions, which may be wrong in ways of their own. There is
// no such provider yet: a right one is told so.
static bool process_probes(Compilation& compilation, const Description& desc) {
	const std::string& provider = desc.provider;
	if (!provider.starts_with("pid") || provider.size() == 3 || provider[3] < '0' || provider[3] > '9')
		return false;
	constexpr uint64_t kMostPids = 1u << 22;
	const size_t end = std::min(provider.find_first_not_of("0123456789", 3), provider.size());
	const std::string number = provider.substr(3, end - 3);
	const uint64_t pid = number.size() > 9 ? kMostPids : std::stoull(number);
	const bool offset = desc.name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
	const bool glob = desc.name.find_first_of("*?[\\") != std::string::npos;
	if (end != provider.size())
		compilation.error("D_PROC_BADPROV", desc.place,
		                  "invalid provider " + provider + ": a number follows pid",
		                  "write pid$target with -c or -p, or pid1234");
	else if (!pid || pid >= kMostPids)
		compilation.error("D_PROC_BADPID", desc.place, "invalid process id in provider " + provider,
		                  "process ids are 1 to 4194303");
	else if (!offset && !glob && desc.name != "entry" && desc.name != "return" && desc.name != "-")
		compilation.error("D_PROC_OFF", desc.place,
		                  "invalid offset in function " + desc.function + ": " + desc.name,
		                  "the name is entry, return, or an offset in hexadecimal");
	else
		compilation.error("D_PROC_NODEV", desc.place,
		                  "there is no pid provider: no probes of " + provider,
		                  "user functions cannot be probed yet, but system calls can: "
		                  "syscall:::entry /pid == " +
		                      number + "/");
	return true;
}

// `fbt:::malloc:entry`: four fields once, with a field too many in front.
bool ClauseBuilder::stray_colon(const Description& desc) {
	if (desc.host.empty() || !desc.provider.empty())
		return false;
	bool provider = false;
	ProbePattern pattern;
	pattern.provider = desc.host;
	compilation_.target.match(pattern, [&](const ProbeInfo&) { return !(provider = true); });
	static constexpr std::string_view kProviders[] = {"dtrace", "profile", "syscall", "fbt", "sdt",
	                                                  "proc",   "sched",   "io",      "vfs", "pid"};
	for (const std::string_view one : kProviders)
		provider |= desc.host == one;
	if (!provider)
		return false;
	const std::string fixed = desc.host + ":" + desc.module + ":" + desc.function + ":" + desc.name;
	const uint32_t at = static_cast<uint32_t>(desc.host.size()) + 1;
	compilation_.error("D_PDESC_INVAL", {desc.place.source, desc.place.offset + at},
	                   "invalid probe description " + desc.text + ": one colon too many",
	                   "five fields start with a host; write " + fixed);
	return true;
}

// The same description with one field left open: is one of its values what was meant?
std::string ClauseBuilder::nearest_probe(const Description& desc) {
	const struct {
		std::string ProbePattern::*pattern;
		std::string ProbeInfo::*value;
	} fields[] = {{&ProbePattern::name, &ProbeInfo::name},
	              {&ProbePattern::function, &ProbeInfo::function},
	              {&ProbePattern::module, &ProbeInfo::module},
	              {&ProbePattern::provider, &ProbeInfo::provider}};
	for (const auto& field : fields) {
		ProbePattern pattern{{}, desc.provider, desc.module, desc.function, desc.name, 0};
		const std::string wanted = pattern.*field.pattern;
		if (wanted.empty())
			continue;
		(pattern.*field.pattern).clear();
		std::set<std::string> values;
		compilation_.target.match(
		    pattern, [&](const ProbeInfo& probe) { return values.insert(probe.*field.value), true; });
		std::string meant = suggest(wanted, {values.begin(), values.end()});
		if (!meant.empty())
			return meant;
	}
	return {};
}

std::string ClauseBuilder::instead_of(const Description& desc) {
	if (const std::string_view instead = foreign_probe(desc.provider, desc.function); !instead.empty())
		return std::string(instead);
	const ProbePattern pattern{{}, desc.provider, desc.module, desc.function, desc.name, desc.id};
	if (std::string hint = counted_from_left(compilation_.target, pattern,
	                                         compilation_.options.specifier != Specifier::Name);
	    !hint.empty())
		return hint;
	const std::string meant = desc.id ? std::string() : nearest_probe(desc);
	std::string why = compilation_.target.why_absent(pattern);
	if (why.empty())
		why = "list what there is with dtrace -l; -Z accepts probes that come later";
	return (meant.empty() ? "" : meant + " ") + why;
}

bool ClauseBuilder::match(const Clause& clause) {
	bool good = true;
	for (const Description& desc : clause.probes) {
		const Attributes attributes =
		    provider_attributes(desc.provider.empty() ? desc.name : desc.provider);
		compilation_.probes.lower(attributes);
		if (compilation_.settings.least && attributes.below(*compilation_.settings.least))
			compilation_.error("D_ATTR_MIN", desc.place,
			                   "attributes for probe description " + desc.text + " (" +
			                       attributes.text() + ") are less than predefined minimum",
			                   "-x amin=" + compilation_.settings.least->text() +
			                       " allows no less");
		if (stray_colon(desc)) {
			good = false;
			continue;
		}
		if (compilation_.settings.zdefs)
			continue;
		// Another host's probes are not known here, and nor is which host a recording or a file is for.
		if (!compilation_.target.elsewhere(desc.host).empty()) {
			if (!compilation_.elsewhere)
				compilation_.elsewhere = desc;
			continue;
		}
		compilation_.here = true;
		if (!desc.host.empty() && compilation_.target.host_names().empty())
			continue;
		bool found = false;
		ProbePattern pattern{{}, desc.provider, desc.module, desc.function, desc.name, desc.id};
		compilation_.target.match(pattern, [&](const ProbeInfo&) { return !(found = true); });
		if (found)
			continue;
		good = false;
		if (process_probes(compilation_, desc))
			continue;
		if (desc.id) {
			compilation_.error("D_PDESC_INVAL", desc.place,
			                   "invalid probe identifier " + desc.text,
			                   "dtrace -l shows the numbers that there are");
			continue;
		}
		pattern.host = desc.host;
		compilation_.error("D_PDESC_ZERO", desc.place,
		                   "probe description " + pattern.fields() + " does not match any probes",
		                   instead_of(desc));
	}
	return good;
}

// What is deeper than analysis goes is not looked at.
bool any_node(const Node* node, bool (*is)(const Node*), unsigned depth) {
	if (!node || depth > Sema::kDeepest)
		return false;
	const auto inside = [is, depth](const Node* one) { return any_node(one, is, depth + 1); };
	return is(node) || inside(node->a) || inside(node->b) || inside(node->c) ||
	       std::any_of(node->list.begin(), node->list.end(), inside);
}

bool writes(const Node* node) {
	return node->kind == Nk::Assign ||
	       (node->kind == Nk::Unary && (node->op == Tok::Inc || node->op == Tok::Dec));
}

// Comes after the actions, because it may look at variables that only they make: BEGIN /x == 0/ { x++; }. What it
// makes itself they may look at, too: that is why a copy of one that assigns is tried before them, and again when they
// have made the variables that it assigns from: BEGIN /(x = y) == 0/ { y = 1; trace(x); }.
void ClauseBuilder::try_predicate() {
	if (!trying_ || compilation_.definitions.variables() == tried_with_)
		return;
	tried_with_ = compilation_.definitions.variables();
	trying_ = !sema_.try_copy(predicate_);
}

namespace {

// How a number comes of what is none.
const char* to_scalar(const Node* node) {
	return node->kind == Nk::Translated ? "; use one of its members" : "; compare it with something";
}

} // namespace

void ClauseBuilder::predicate() {
	sema_.analyze(predicate_);
	if (sema_.poisoned(predicate_)) {
		failed_ = true;
	} else if (predicate_->kind == Nk::Translated || !types_.is_scalar(predicate_->type)) {
		compilation_.error("D_PRED_SCALAR", predicate_->place,
		                   "predicate result must be of scalar type",
		                   "it has type " + sema_.type_text(predicate_) + to_scalar(predicate_));
		failed_ = true;
	}
}

void ClauseBuilder::build(const Clause& clause) {
	compilation_.kernel_types = false;
	failed_ = !match(clause);
	sema_.set_clause(&clause);
	collect_captured(compilation_, clause);
	compilation_.inputs.clear();
	predicate_ = clause.predicate;
	trying_ = any_node(predicate_, writes);
	parts_.emplace_back();
	const size_t said = compilation_.diagnostics.all().size();
	compilation_.diagnostics.set_region("action list");
	walk(clause.statements);
	compilation_.copyout = nullptr;
	try_predicate();
	if (predicate_) {
		const size_t actions = compilation_.diagnostics.all().size();
		compilation_.diagnostics.set_region("predicate");
		predicate();
		no_copyout();
		const size_t all = compilation_.diagnostics.all().size();
		compilation_.diagnostics.put_first(said, actions);
		if (trying_ && all > actions) // what the statements miss may be what it would have made
			compilation_.diagnostics.truncate(said + all - actions);
	}
	compilation_.diagnostics.set_region({});
	sema_.set_clause(nullptr);
	if (failed_)
		return;
	if (compilation_.deriving)
		derive(clause);
	else
		emit_image(clause);
}

constexpr unsigned kMostIfs = 100; // that are nested, as the parser has it

// Whether it is a ?: with an action, looked for in so many of them that are nested.
static bool chooses_action(const Node* node, unsigned most) {
	const auto acts = [most](const Node* one) {
		return (one->kind == Nk::Assign && one->a->kind == Nk::AggName) ||
		       (Sema::is_action_call(one) && !find_subroutine(one->text)) ||
		       chooses_action(one, most - 1);
	};
	return node->kind == Nk::Ternary && most && (acts(node->b) || acts(node->c));
}

void ClauseBuilder::walk(const std::vector<Stmt>& statements) {
	for (const Stmt& one : statements) {
		index_ = 0;
		try_predicate();
		compilation_.copyout = nullptr;
		if (one.condition)
			if_statement(one);
		else if (chooses_action(one.expression, kMostIfs))
			choice(one.expression);
		else
			statement(one.expression);
		no_copyout();
		statement_++;
	}
}

// `c ? printf(...) : trace(...);` is an if with else.
void ClauseBuilder::choice(Node* node) {
	Stmt out;
	out.place = node->place;
	out.condition = node->a;
	out.then.push_back({node->b, nullptr, {}, {}, node->b->place});
	out.otherwise.push_back({node->c, nullptr, {}, {}, node->c->place});
	if_statement(out, true);
}

// copyout() is a subroutine, but acts: what is speculated may never have happened. Asked after each expression;
// order() asks what stands before speculate().
void ClauseBuilder::no_copyout() {
	if (!compilation_.copyout)
		return;
	if (done_.speculating)
		copied_out(compilation_.copyout);
	else
		done_.copyout = compilation_.copyout;
	compilation_.copyout = nullptr;
}

void ClauseBuilder::copied_out(const Node* call) {
	compilation_.error("D_ACT_SPEC", call->place,
	                   call->text + "( ) may not be in a clause that speculates",
	                   "put it into a clause of its own");
	failed_ = true;
}

// A clause-local that no program can name; null after an error: there is no room for it.
Node* ClauseBuilder::hidden_variable(const char* prefix, Place place, types::TypeRef type, bool user) {
	const std::string name = prefix + std::to_string(number_) + "." + std::to_string(hidden_++);
	sema_.declare_variable(DIF_VS_LOCAL, name, place, type, false, {}, user);
	Variable* const made = compilation_.definitions.find_variable(DIF_VS_LOCAL, name);
	if (!made) {
		failed_ = true;
		return nullptr;
	}
	Node* const variable = compilation_.arena.make(Nk::Var, place);
	variable->variable = made;
	variable->type = type;
	variable->user = user;
	variable->lvalue = variable->writable = variable->analyzed = true;
	return variable;
}

// The hidden variable that keeps what a condition was, and the statement that
// sets it.
Node* ClauseBuilder::condition_variable(Node* condition, Place place) {
	Node* const variable = hidden_variable("%if", place, types_.int_type(), false);
	if (!variable)
		return nullptr;
	Node* truth = condition;
	const bool boolean =
	    condition->kind == Nk::Binary && ((condition->op >= Tok::Lt && condition->op <= Tok::Ne) ||
	                                      (condition->op >= Tok::LAnd && condition->op <= Tok::LOr));
	for (int i = 0; i < 2 && !boolean; i++) {
		Node* const negation = compilation_.arena.make(Nk::Unary, place);
		negation->op = Tok::Not;
		negation->a = truth;
		truth = negation;
	}
	Node* const set = compilation_.arena.make(Nk::Assign, place);
	set->op = Tok::Assign;
	set->a = variable;
	set->b = truth;
	statement(set);
	return variable;
}

void ClauseBuilder::if_statement(const Stmt& one, bool choice) {
	if (ifs_ == kMostIfs) { // the parser counts if, but not ?:
		compilation_.error("D_SYNTAX", one.place, "choices are nested too deeply",
		                   "a ?: behind the colon counts as one more level: write clauses with "
		                   "predicates");
		failed_ = true;
		return;
	}
	ifs_++;
	sema_.analyze(one.condition);
	bool good = !sema_.poisoned(one.condition);
	if (good && (one.condition->kind == Nk::Translated || !types_.is_scalar(one.condition->type))) {
		compilation_.error("D_PRED_SCALAR", one.condition->place,
		                   choice ? "operator ?: expression must be of scalar type"
		                          : "the condition of if must be of scalar type",
		                   "it has type " + sema_.type_text(one.condition) +
		                       to_scalar(one.condition));
		good = false;
	}
	failed_ |= !good;
	no_copyout();
	Node* const outer = condition_;
	Node* const variable = good ? condition_variable(one.condition, one.place) : nullptr;
	const auto both = [&](Node* with) {
		if (!outer || !with)
			return with;
		Node* const out = compilation_.arena.make(Nk::Binary, one.place);
		out->op = Tok::LAnd;
		out->a = outer;
		out->b = with;
		out->type = types_.int_type();
		out->analyzed = true;
		return out;
	};
	condition_ = both(variable);
	statement_++;
	const Done before = done_;
	done_.aggregated = false; // an aggregation in front of all this is in an ECB of its own
	walk(one.then);
	const Done after = done_;
	done_ = before;
	done_.aggregated = false;
	if (!one.otherwise.empty()) {
		Node* negated = nullptr;
		if (variable) {
			negated = compilation_.arena.make(Nk::Unary, one.place);
			negated->op = Tok::Not;
			negated->a = variable;
			negated->type = types_.int_type();
			negated->analyzed = true;
		}
		condition_ = both(negated);
		walk(one.otherwise);
	}
	// One of the two has run.
	done_.recorded |= after.recorded;
	done_.aggregated |= before.aggregated | after.aggregated;
	done_.committed |= after.committed;
	done_.speculating |= after.speculating;
	if (!done_.copyout)
		done_.copyout = after.copyout;
	condition_ = outer;
	ifs_--;
}

void ClauseBuilder::add(dof::Action action) {
	if (parts_.empty() || parts_.back().predicate != condition_)
		parts_.push_back({condition_, {}});
	parts_.back().actions.push_back(std::move(action));
}

void ClauseBuilder::statement(Node* node) {
	if (node->kind == Nk::Assign && node->a->kind == Nk::AggName)
		return aggregate(node);
	if (node->kind == Nk::AggName) {
		compilation_.error("D_AGG_NULL", node->place, "expression has null effect: @" + node->text,
		                   "assign it: @" + node->text + " = count();");
		failed_ = true;
		return;
	}
	if (Sema::is_action_call(node) && !find_subroutine(node->text))
		return action(node);
	if (!value(node))
		return;
	if (node->kind == Nk::Translated) {
		compilation_.error("D_CG_DYN", node->place,
		                   "a result of dynamic type cannot be used as a value",
		                   "name one of its members: only those that are named are computed");
		failed_ = true;
		return;
	}
	dof::Action out;
	out.kind = DFR_ACT_DIFEXPR;
	out.uarg = uarg();
	out.difo = generate(compilation_, node, {void_result(), false});
	failed_ |= !out.difo;
	add(std::move(out));
}

// Which kinds may follow which: engine rules of speculation.
void ClauseBuilder::order(uint32_t kind, Place place) {
	const auto refuse = [&](std::string_view tag, const char* text) {
		compilation_.error(tag, place, text, "put it into a clause of its own");
		failed_ = true;
	};
	if (kind == DFR_ACT_COMMIT) {
		if (done_.recorded || done_.aggregated)
			refuse("D_COMM_DREC", "commit( ) may not follow data-recording action(s)");
		done_.committed = true;
	} else if (kind == DFR_ACT_SPECULATE) {
		if (done_.speculating)
			refuse("D_SPEC_SPEC", "speculate( ) may not follow speculate( )");
		else if (done_.committed)
			refuse("D_SPEC_COMM", "speculate( ) may not follow commit( )");
		else if (done_.recorded || done_.aggregated)
			refuse("D_SPEC_DREC", "speculate( ) may not follow data-recording action(s)");
		if (done_.copyout)
			copied_out(done_.copyout);
		done_.speculating = true;
	} else if (DFR_ACT_IS_AGG(kind)) {
		if (done_.committed)
			refuse("D_AGG_COMM", "aggregating actions may not follow commit( )");
		else if (done_.speculating)
			refuse("D_AGG_SPEC", "aggregating actions may not follow speculate( )");
		done_.aggregated = true;
	} else if (DFR_ACT_IS_DESTRUCTIVE(kind)) {
		if (done_.speculating)
			refuse("D_ACT_SPEC", "destructive actions may not follow speculate( )");
		// What the consumer is to do is recorded for it.
		const bool is_recorded = kind == DFR_ACT_SYSTEM || kind == DFR_ACT_FREOPEN;
		if (is_recorded && done_.committed)
			refuse("D_DREC_COMM", "data-recording actions may not follow commit( )");
		done_.recorded |= is_recorded;
	} else if (kind == DFR_ACT_EXIT) {
		if (done_.speculating)
			refuse("D_EXIT_SPEC", "exit( ) may not follow speculate( )");
		else if (done_.committed)
			refuse("D_DREC_COMM", "data-recording actions may not follow commit( )");
		done_.recorded = true;
	} else if (kind == DFR_ACT_SNAPSHOT && done_.speculating) {
		refuse("D_SNAP_SPEC", "snapshot( ) may not follow speculate( )");
	} else if (kind != DFR_ACT_DISCARD) {
		if (done_.committed)
			refuse("D_DREC_COMM", "data-recording actions may not follow commit( )");
		done_.recorded |= !done_.speculating; // what goes to the speculation may be committed
	}
}

std::optional<dif::Difo> ClauseBuilder::predicate_code(Node* node) {
	auto code = generate(compilation_, node, {});
	failed_ |= !code;
	return code;
}

void ClauseBuilder::emit_image(const Clause& clause) {
	dof::Image& image = compilation_.result.image;
	const auto first = static_cast<uint32_t>(image.bodies.size());
	for (size_t i = 0; i < parts_.size(); i++) {
		dof::Body body;
		Node* const predicate = i == 0 ? predicate_ : parts_[i].predicate;
		if (predicate) {
			// A recording has what this whole predicate holds for; a replay asks for no more than some of
			// its conjuncts hold for.
			bool changed = false;
			const Node* const holds = compilation_.target.is_replay()
			                              ? pushed_predicate(predicate, changed)
			                              : predicate;
			if (holds)
				body.condition = canonical(types_, holds);
			body.predicate = predicate_code(predicate);
		}
		require_needed(compilation_.needed, body.predicate);
		if (!compilation_.needed.empty())
			compilation_.result.needed[image.bodies.size()] = compilation_.needed;
		body.actions = std::move(parts_[i].actions);
		image.bodies.push_back(std::move(body));
	}
	const unsigned flags = (compilation_.kernel_types ? DFR_ECBUARG_KERNEL_TYPES : 0) |
	                       DFR_ECBUARG_OF_PRIORITY(clause.priority);
	for (const Description& desc : clause.probes) {
		for (uint32_t part = 0; part < parts_.size(); part++) {
			dof::EcbDesc ecb;
			ecb.probe = {desc.host,     desc.provider, desc.module,
			             desc.function, desc.name,     desc.id};
			ecb.body = first + part;
			ecb.uarg = DFR_ECBUARG(number_, (part ? DFR_ECBUARG_CONTINUATION : 0) | flags);
			image.ecbs.push_back(std::move(ecb));
		}
	}
}

} // namespace dfr::d
