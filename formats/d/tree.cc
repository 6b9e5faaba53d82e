// SPDX-License-Identifier: GPL-2.0
//
// The tree as text.
#include "formats/d/tree.h"

#include "formats/d/builtins.h"
#include "formats/d/definitions.h"
#include "formats/d/sema.h"

namespace dfr::d {
namespace {

const char* name_of(Nk kind) {
	switch (kind) {
	case Nk::Error: return "error";
	case Nk::Int: return "integer";
	case Nk::Float: return "float";
	case Nk::String: return "string";
	case Nk::Name: return "name";
	case Nk::SelfKw: return "self";
	case Nk::ThisKw: return "this";
	case Nk::AggName:
	case Nk::AggRef: return "aggregation";
	case Nk::Call: return "call";
	case Nk::Unary: return "unary";
	case Nk::Binary: return "binary";
	case Nk::Assign: return "assign";
	case Nk::Ternary: return "?:";
	case Nk::Index: return "index";
	case Nk::Member: return "member";
	case Nk::Cast: return "cast";
	case Nk::SizeofType:
	case Nk::SizeofExpr: return "sizeof";
	case Nk::Offsetof: return "offsetof";
	case Nk::Stringof: return "stringof";
	case Nk::Xlate: return "xlate";
	case Nk::Var: return "variable";
	case Nk::BuiltinVar: return "built-in";
	case Nk::Subr: return "subroutine";
	case Nk::Symbol: return "symbol";
	case Nk::Translated: return "translated";
	case Nk::Recorded: return "recorded";
	case Nk::Captured: return "captured";
	}
	return "?";
}

class TreeWriter {
public:
	explicit TreeWriter(TypeTable& types) : types_(types) {}

	void line(unsigned depth, const std::string& text) {
		out_.append(2 * depth, ' ').append(text) += '\n';
	}

	void node(unsigned depth, const Node* node) {
		if (!node)
			return;
		// Deeper than this the analysis refuses it; as parsed it may be any.
		if (depth > Sema::kDeepest)
			return line(depth, "...");
		line(depth, described(*node));
		for (const Node* const part : {node->a, node->b, node->c})
			this->node(depth + 1, part);
		for (const Node* const part : node->list)
			this->node(depth + 1, part);
	}

	void statements(unsigned depth, const std::vector<Stmt>& list) {
		for (const Stmt& one : list) {
			if (one.expression) {
				node(depth, one.expression);
				continue;
			}
			line(depth, "if");
			node(depth + 1, one.condition);
			statements(depth + 1, one.then);
			if (one.otherwise.empty())
				continue;
			line(depth, "else");
			statements(depth + 1, one.otherwise);
		}
	}

	std::string take() { return std::move(out_); }

private:
	std::string described(const Node& node) {
		std::string text = name_of(node.kind);
		if (node.kind == Nk::Unary || node.kind == Nk::Binary || node.kind == Nk::Assign)
			text.append(" ").append(operator_text(node.op)).append(node.postfix ? " behind" : "");
		if (node.kind == Nk::Int || node.kind == Nk::Captured)
			text += " " + std::to_string(static_cast<int64_t>(node.value));
		else if (node.kind == Nk::Float)
			text += " " + std::to_string(node.real);
		else if (node.kind == Nk::String)
			text += " \"" + node.text + "\"";
		else if (node.kind == Nk::Var)
			text += " " + node.variable->name;
		else if (!node.text.empty())
			text += " " + node.text;
		if (node.cast)
			text += " (" + types_.text(node.cast) + ")";
		if (node.analyzed && node.type)
			text += ": " + types_.text(node.type);
		return text;
	}

	TypeTable& types_;
	std::string out_;
};

} // namespace

std::string tree_text(TypeTable& types, const Clause& clause, const char* stage) {
	TreeWriter writer(types);
	std::string probes;
	for (const Description& probe : clause.probes)
		probes += (probes.empty() ? " " : ", ") + probe.text;
	writer.line(0, std::string("clause, ") + stage + ":" + probes);
	if (clause.predicate) {
		writer.line(1, "predicate");
		writer.node(2, clause.predicate);
	}
	writer.statements(1, clause.statements);
	return writer.take();
}

} // namespace dfr::d
