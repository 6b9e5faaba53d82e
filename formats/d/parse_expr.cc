// SPDX-License-Identifier: GPL-2.0
//
// The parser's expressions, by precedence climbing. The one ambiguity of D is
// the slash that ends a predicate: predicate_ends().
#include "formats/d/parser.h"

#include "formats/d/sema.h"

namespace dfr::d {

// Bounds recursion: source is hostile where others may hand programs in.
struct Nesting {
	Parser& parser;
	explicit Nesting(Parser& of) : parser(of) {
		if (++parser.nesting_ > 200) {
			parser.nesting_--;
			parser.compilation_.error("D_SYNTAX", parser.tok_.place,
			                          "expression is nested too deeply",
			                          "split it with variables");
			throw Parser::Failure{};
		}
	}
	~Nesting() { parser.nesting_--; }
	Nesting(const Nesting&) = delete;
	Nesting& operator=(const Nesting&) = delete;
};

namespace {

unsigned level_of(Tok op) {
	switch (op) {
	case Tok::LOr: return 1;
	case Tok::LXor: return 2;
	case Tok::LAnd: return 3;
	case Tok::Or: return 4;
	case Tok::Xor: return 5;
	case Tok::And: return 6;
	case Tok::Eq:
	case Tok::Ne: return 7;
	case Tok::Lt:
	case Tok::Le:
	case Tok::Gt:
	case Tok::Ge: return 8;
	case Tok::Shl:
	case Tok::Shr: return 9;
	case Tok::Plus:
	case Tok::Minus: return 10;
	case Tok::Star:
	case Tok::Slash:
	case Tok::Percent: return 11;
	default: return 0;
	}
}

bool is_assignment(Tok op) {
	return op == Tok::Assign || (op >= Tok::AddEq && op <= Tok::ShrEq);
}

} // namespace

// A slash after an operand ends the predicate when the clause's body, the next
// statement or nothing follows. A slash inside brackets never does.
bool Parser::predicate_ends() {
	if (!in_predicate_ || !at(Tok::Slash) || depth_)
		return false;
	const uint32_t back = lexer_.offset();
	const char next = lexer_.peek_char();
	lexer_.rewind(back);
	return next == '{' || next == ';' || next == '/' || next == '\0';
}

Node* Parser::expression() {
	Node* left = assignment();
	while (at(Tok::Comma)) {
		Node* const comma = node(Nk::Binary);
		comma->op = Tok::Comma;
		advance();
		comma->a = left;
		comma->b = assignment();
		left = comma;
	}
	return left;
}

Node* Parser::assignment() {
	const Nesting guard(*this);
	Node* out = ternary();
	if (!is_assignment(tok_.kind))
		return out;
	// c ? x = 1 : y = 2 assigns y: a choice is no place to assign to.
	Node** left = &out;
	while ((*left)->kind == Nk::Ternary && !(*left)->parenthesized)
		left = &(*left)->c;
	Node* const assign = node(Nk::Assign);
	assign->op = tok_.kind;
	advance();
	assign->a = *left;
	assign->b = assignment();
	*left = assign;
	return out;
}

Node* Parser::ternary() {
	Node* out = binary(1);
	// A chain of them, a table often, grows downwards: it is built in a loop, and the analysis bounds its depth.
	for (Node** last = &out; at(Tok::Question);) {
		Node* const one = node(Nk::Ternary);
		advance();
		one->a = *last;
		depth_++;
		one->b = expression();
		depth_--;
		expect(Tok::Colon, "between the two values of ?:");
		one->c = binary(1);
		*last = one;
		last = &one->c;
	}
	return out;
}

Node* Parser::binary(unsigned level) {
	Node* left = unary();
	for (;;) {
		const unsigned here = level_of(tok_.kind);
		if (!here || here < level || predicate_ends())
			return left;
		Node* const operation = node(Nk::Binary);
		operation->op = tok_.kind;
		advance();
		operation->a = left;
		operation->b = binary(here + 1);
		left = operation;
	}
}

// <errno.h> makes of errno `(*__errno_location ())`: D's own is meant.
bool Parser::c_errno() {
	if (!compilation_.options.preprocess || !at(Tok::Star) || peek().text != "__errno_location")
		return false;
	advance();
	advance();
	expect(Tok::LParen, "after __errno_location");
	expect_last(Tok::RParen, "after __errno_location(");
	tok_.kind = Tok::Ident;
	tok_.string = "errno";
	return true;
}

Node* Parser::unary() {
	const Nesting guard(*this);
	switch (tok_.kind) {
	case Tok::Not:
	case Tok::Tilde:
	case Tok::Inc:
	case Tok::Dec:
	case Tok::Plus:
	case Tok::Minus:
	case Tok::Star:
	case Tok::And: {
		if (c_errno())
			return postfix();
		Node* const operation = node(Nk::Unary);
		operation->op = tok_.kind;
		advance();
		operation->a = unary();
		return operation;
	}
	case Tok::Sizeof: {
		Node* const size = node(Nk::SizeofExpr);
		advance();
		if (at(Tok::LParen) && type_ahead(peek())) {
			size->kind = Nk::SizeofType;
			advance();
			size->cast = type_name();
			expect(Tok::RParen, "after the type");
			return size;
		}
		size->a = unary();
		return size;
	}
	case Tok::Stringof: {
		Node* const text = node(Nk::Stringof);
		advance();
		text->a = unary();
		return text;
	}
	case Tok::LParen:
		if (type_ahead(peek())) {
			Node* const cast = node(Nk::Cast);
			advance();
			cast->cast = type_name(&cast->user);
			expect(Tok::RParen, "after the type of the cast");
			cast->a = unary();
			return cast;
		}
		return postfix();
	default: return postfix();
	}
}

Node* Parser::postfix() {
	Node* left = primary();
	for (;;) {
		switch (tok_.kind) {
		case Tok::LBracket: {
			Node* const index = node(Nk::Index);
			advance();
			index->a = left;
			if (at(Tok::RBracket))
				syntax("an index or keys belong between the brackets");
			index->list = arguments(Tok::RBracket);
			left = index;
			break;
		}
		case Tok::Dot:
		case Tok::Arrow: {
			Node* const member = node(Nk::Member);
			member->arrow = at(Tok::Arrow);
			advance();
			// Keywords are names here.
			const bool keyword = tok_.kind >= Tok::Char && tok_.kind <= Tok::While;
			if (!at(Tok::Ident) && !keyword) {
				if (at(Tok::End) || at(Tok::Bad))
					syntax();
				compilation_.error("D_OP_IDENT", tok_.place,
				                   std::string("operator ") + (member->arrow ? "->" : ".") +
				                       " must be followed by an identifier",
				                   "name a member; an element of an array is written [n]");
				throw Failure{};
			}
			member->a = left;
			member->text = tok_.name();
			advance();
			left = member;
			break;
		}
		case Tok::Inc:
		case Tok::Dec: {
			Node* const operation = node(Nk::Unary);
			operation->op = tok_.kind;
			operation->postfix = true;
			operation->a = left;
			advance();
			left = operation;
			break;
		}
		case Tok::LParen:
			compilation_.error("D_FUNC_IDENT", left->place,
			                   "function designator is not an identifier",
			                   "only D's own functions are called, by their names");
			throw Failure{};
		default: return left;
		}
	}
}

std::vector<Node*> Parser::arguments(Tok close) {
	std::vector<Node*> list;
	depth_++;
	if (!at(close)) {
		list.push_back(assignment());
		while (accept(Tok::Comma))
			list.push_back(assignment());
	}
	depth_--;
	if (list.size() > 4096)
		syntax("at most 4096 arguments fit");
	expect(close, close == Tok::RParen ? "after the arguments" : "after the index");
	return list;
}

Node* Parser::parenthesis() {
	advance();
	depth_++;
	Node* const inner = expression();
	depth_--;
	expect(Tok::RParen, "to close the parenthesis");
	inner->parenthesized = true;
	return inner;
}

Node* Parser::number() {
	Node* const number = node(at(Tok::Float) ? Nk::Float : Nk::Int);
	if (at(Tok::Float)) {
		number->real =
		    tok_.real_single ? static_cast<double>(static_cast<float>(tok_.real)) : tok_.real;
		number->type = compilation_.types.basic(tok_.real_single ? "float" : "double");
	} else {
		static constexpr std::string_view kNames[] = {
		    "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"};
		number->value = tok_.value;
		number->type = compilation_.types.basic(kNames[static_cast<unsigned>(tok_.int_type)]);
	}
	advance();
	return number;
}

Node* Parser::name_or_call() {
	Node* const name = node(Nk::Name);
	name->text = tok_.name();
	advance();
	if (at(Tok::LParen) && name->text.find('`') == std::string::npos) {
		name->kind = Nk::Call;
		advance();
		name->list = arguments(Tok::RParen);
	}
	return name;
}

Node* Parser::aggregation() {
	Node* const aggregation = node(Nk::AggName);
	aggregation->text = tok_.text.size() > 1 ? tok_.text.substr(1) : std::string_view("_");
	advance();
	if (accept(Tok::LBracket)) {
		aggregation->bracketed = true;
		if (at(Tok::RBracket))
			syntax("write keys between the brackets; without keys write @" + aggregation->text);
		aggregation->list = arguments(Tok::RBracket);
		if (at(Tok::LBracket)) {
			compilation_.error("D_AGG_MDIM", tok_.place,
			                   "improper use of multidimensional aggregation",
			                   "write the keys as one list: @a[key, key]");
			throw Failure{};
		}
	}
	return aggregation;
}

Node* Parser::offset_of() {
	Node* const offset = node(Nk::Offsetof);
	advance();
	expect(Tok::LParen, "after offsetof");
	offset->cast = type_name();
	expect(Tok::Comma, "between type and member");
	if (!at(Tok::Ident))
		syntax("offsetof takes the name of a member");
	offset->text = tok_.name();
	advance();
	expect(Tok::RParen, "after the member");
	return offset;
}

Node* Parser::translation() {
	Node* const translation = node(Nk::Xlate);
	advance();
	expect(Tok::Lt, "after xlate");
	translation->cast = type_name();
	expect(Tok::Gt, "after the type of xlate");
	expect(Tok::LParen, "before the argument of xlate");
	depth_++;
	translation->a = expression();
	depth_--;
	expect(Tok::RParen, "after the argument of xlate");
	return translation;
}

Node* Parser::primary() {
	switch (tok_.kind) {
	case Tok::Int:
	case Tok::Float: return number();
	case Tok::String: {
		Node* const text = node(Nk::String);
		text->text = tok_.string;
		advance();
		return text;
	}
	case Tok::Ident: return name_or_call();
	case Tok::Self:
	case Tok::This: {
		Node* const scope = node(at(Tok::Self) ? Nk::SelfKw : Nk::ThisKw);
		advance();
		if (!at(Tok::Arrow))
			syntax("self and this are used with -> and a variable's name");
		return scope;
	}
	case Tok::Aggregation: return aggregation();
	case Tok::Offsetof: return offset_of();
	case Tok::Xlate: return translation();
	case Tok::LParen: return parenthesis();
	default: syntax();
	}
}

} // namespace dfr::d
