// SPDX-License-Identifier: GPL-2.0
//
// The parser's top level: probe clauses, inlines, translators, providers; and
// the token helpers.
#include "formats/d/parser.h"

#include <utility>

#include "formats/d/sema.h"

namespace dfr::d {

using types::TypeRef;

// DOF counts a probe's arguments in one byte.
constexpr uint32_t kMostArguments = 255;

constexpr const char* kDeepIfs = "an else if counts as one more level: write clauses with predicates";

Parser::Parser(Compilation& compilation, Sema& sema, uint32_t source)
    : compilation_(compilation), sema_(sema),
      lexer_(compilation.diagnostics, source, compilation.macros,
             [&compilation](Place place, std::string_view text) { control_line(compilation, place, text); }) {
	if (compilation.options.preprocess && !compilation.in_library)
		lexer_.allow_c();
}

bool Parser::accept(Tok kind) {
	if (!at(kind))
		return false;
	advance();
	return true;
}

void Parser::expect_last(Tok kind, const char* where) {
	if (!at(kind))
		syntax("expected " + std::string(token_name(kind)) + " " + where);
}

void Parser::expect(Tok kind, const char* where) {
	expect_last(kind, where);
	advance();
}

Token Parser::peek() {
	const uint32_t back = lexer_.offset();
	Token next = lexer_.next();
	lexer_.rewind(back);
	return next;
}

void Parser::syntax(std::string hint) {
	// A bad token was reported by the lexer.
	if (lexer_.cut_off())
		throw Failure{};
	const std::string_view text = compilation_.diagnostics.sources().text(tok_.place.source);
	if (at(Tok::Slash) && text.substr(tok_.place.offset, 2) == "//")
		hint = "// is no comment in D: write /* ... */";
	if (at(Tok::End))
		compilation_.error("D_SYNTAX", tok_.place, "syntax error near end of input", std::move(hint));
	else if (!at(Tok::Bad))
		compilation_.error("D_SYNTAX", tok_.place,
		                   "syntax error near \"" + std::string(tok_.text) + "\"", std::move(hint));
	throw Failure{};
}

// Bounds recursion, as Nesting does in expressions.
void Parser::too_deep(std::string message, std::string hint) {
	compilation_.error("D_SYNTAX", tok_.place, std::move(message), std::move(hint));
	throw Failure{};
}

// From there to here nothing has been made.
void Parser::unread(uint32_t from) {
	const std::string_view text = compilation_.diagnostics.sources().text(lexer_.source());
	compilation_.unread.push_back(text.substr(from, lexer_.offset() - from));
}

// To the semicolon, or in front of the brace that ends the block.
void Parser::skip_statement() {
	unsigned braces = std::exchange(bodies_, 0);
	for (; !at(Tok::End); advance()) {
		if (at(Tok::LBrace))
			braces++;
		if (at(Tok::RBrace) && braces-- == 0)
			return;
		if (at(Tok::Semicolon) && !braces) {
			advance();
			return;
		}
	}
}

// Behind the brace or semicolon that ends a top-level item; the token after it
// is not read, since a probe description may start there.
void Parser::skip_item() {
	unsigned braces = std::exchange(bodies_, 0);
	bool body = braces; // of a struct: its declaration goes on behind it
	in_predicate_ = false;
	nesting_ = 0;
	depth_ = 0;
	for (; !at(Tok::End); advance()) {
		if (at(Tok::LBrace))
			braces++;
		if (at(Tok::RBrace) && (braces == 0 || --braces == 0)) {
			if (std::exchange(body, false))
				continue;
			const uint32_t back = lexer_.offset();
			if (lexer_.peek_char() != ';')
				lexer_.rewind(back);
			else
				advance();
			return;
		}
		if (at(Tok::Semicolon) && !braces)
			return;
	}
}

bool Parser::declaration_ahead() {
	const uint32_t back = lexer_.offset();
	const Token first = lexer_.next();
	const char next = first.end < compilation_.diagnostics.sources().text(first.place.source).size()
	                      ? compilation_.diagnostics.sources().text(first.place.source)[first.end]
	                      : '\0';
	bool yes = false;
	if (next != ':') {
		switch (first.kind) {
		case Tok::Extern:
		case Tok::Typedef:
		case Tok::Self:
		case Tok::This:
		case Tok::Static:
		case Tok::Auto:
		case Tok::Register: yes = true; break;
		case Tok::Ident:
			lexer_.rewind(back);
			yes = !lexer_.probe_ahead() && type_ahead(first);
			break;
		default: yes = type_ahead(first);
		}
	}
	lexer_.rewind(back);
	return yes;
}

Parser::Item Parser::next(Clause& out) {
	for (;;) {
		const char first = lexer_.peek_char();
		if (compilation_.skip_file) // a control line said so
			return Item::End;
		if (first == '\0' || first == ';') {
			advance();
			if (at(Tok::End))
				return Item::End;
			continue;
		}
		const size_t before = compilation_.diagnostics.all().size();
		item_place_ = lexer_.here();
		// What D has not (__int128, statements) is left out of a system's header, silently: D programs cannot use it.
		const bool foreign = compilation_.diagnostics.sources().foreign(item_place_);
		try {
			const uint32_t back = lexer_.offset();
			if (foreign) {
				declaration();
				compilation_.diagnostics.truncate(before);
				return Item::Declaration;
			}
			const Token token = lexer_.next();
			const bool probe_char = lexer_.peek_char() == ':';
			lexer_.rewind(back);
			if (token.kind == Tok::Inline && !probe_char) {
				inline_definition();
				return Item::Declaration;
			}
			if (token.kind == Tok::Translator && !probe_char) {
				translator_definition();
				return Item::Declaration;
			}
			if (token.kind == Tok::Provider && !probe_char) {
				provider_definition();
				return Item::Declaration;
			}
			if (declaration_ahead()) {
				declaration();
				return Item::Declaration;
			}
			// What looked wrong as a token may be right in a description.
			compilation_.diagnostics.truncate(before);
			return clause(out);
		} catch (const Failure&) {
			skip_item();
			if (foreign)
				compilation_.diagnostics.truncate(before);
			else
				unread(item_place_.offset);
		}
	}
}

// What stands between the colons; one behind a backslash is no colon.
static std::vector<std::string> colon_parts(const std::string& text) {
	std::vector<std::string> parts(1);
	for (size_t i = 0; i < text.size(); i++) {
		const char c = text[i];
		if (c == '\\' && i + 1 < text.size()) {
			parts.back() += c;
			parts.back() += text[++i];
		} else if (c == ':') {
			parts.emplace_back();
		} else {
			parts.back() += c;
		}
	}
	return parts;
}

void Parser::split_description(Description& desc) {
	std::vector<std::string> parts = colon_parts(desc.text);
	bool digits = !desc.text.empty();
	for (const char c : desc.text)
		digits &= c >= '0' && c <= '9';
	if (digits) {
		const uint64_t id = std::strtoull(desc.text.c_str(), nullptr, 10);
		if (id && id <= UINT32_MAX) {
			desc.id = static_cast<uint32_t>(id);
			return;
		}
		compilation_.error("D_PDESC_INVAL", desc.place, "invalid probe identifier " + desc.text,
		                   "dtrace -l shows the numbers that there are");
		advance();
		throw Failure{};
	}
	if (parts.size() > 5) {
		compilation_.error("D_PDESC_INVAL", desc.place,
		                   "invalid probe description " + desc.text + ": too many colons",
		                   "at most host:provider:module:function:name");
		advance();
		throw Failure{};
	}
	unsigned last = 4; // right-aligned: the last part is the name
	if (parts.size() < 4) {
		switch (compilation_.options.specifier) {
		case Specifier::Provider: last = 1; break;
		case Specifier::Module: last = 2; break;
		case Specifier::Function: last = 3; break;
		default: break;
		}
	}
	std::string* const fields[] = {&desc.host, &desc.provider, &desc.module, &desc.function, &desc.name};
	const size_t room = last + 1;
	if (parts.size() > room) {
		compilation_.error("D_PDESC_INVAL", desc.place,
		                   "invalid probe description " + desc.text + ": too many colons",
		                   "this option takes fewer fields");
		advance();
		throw Failure{};
	}
	for (size_t i = 0; i < parts.size(); i++)
		*fields[room - parts.size() + i] = std::move(parts[i]);
	static constexpr size_t kLimits[] = {63, 63, 63, 127, 63};
	static constexpr const char* kNames[] = {"host", "provider", "module", "function", "name"};
	for (unsigned i = 0; i < 5; i++) {
		if (fields[i]->size() > kLimits[i])
			compilation_.error("D_PDESC_INVAL", desc.place,
			                   "invalid probe description " + desc.text + ": " + kNames[i] +
			                       " is too long",
			                   "at most " + std::to_string(kLimits[i]) + " characters");
	}
}

Description Parser::probe_description() {
	lexer_.peek_char();
	Description desc;
	desc.place = lexer_.here();
	desc.text = lexer_.probe_text();
	if (desc.text.empty()) {
		advance();
		syntax("a probe description is expected: provider:module:function:name");
	}
	split_description(desc);
	return desc;
}

Parser::Item Parser::clause(Clause& out) {
	out = Clause{};
	lexer_.peek_char();
	out.place = lexer_.here();
	out.priority = compilation_.settings.priority; // what is behind the first word is for later clauses
	out.probes.push_back(probe_description());
	while (lexer_.peek_char() == ',') {
		advance();
		out.probes.push_back(probe_description());
	}
	const char next = lexer_.peek_char();
	if (next == '/') {
		advance();
		const Place opened = tok_.place;
		advance();
		if (at(Tok::Slash)) {
			compilation_.error(
			    "D_SYNTAX", opened, "the predicate is empty",
			    "write a condition between the slashes, or none of them; comments are "
			    "/* ... */");
			throw Failure{};
		}
		in_predicate_ = true;
		out.predicate = expression();
		if (!at(Tok::Slash))
			syntax("a predicate ends with /");
		in_predicate_ = false;
	}
	if (lexer_.peek_char() != '{') {
		const bool alone = compilation_.options.braces_optional || out.predicate;
		if (lexer_.peek_char() == '\0' && (compilation_.options.braces_optional))
			return Item::Clause;
		advance();
		if (alone && at(Tok::Semicolon))
			return Item::Clause;
		compilation_.error("D_SYNTAX", at(Tok::End) ? out.place : tok_.place,
		                   "expected predicate and/or actions following probe description",
		                   "write { } after it");
		throw Failure{};
	}
	advance();
	advance();
	statements(out.statements);
	expect_last(Tok::RBrace, "to close the clause");
	return Item::Clause;
}

void Parser::statements(std::vector<Stmt>& out) {
	while (!at(Tok::RBrace)) {
		if (at(Tok::End))
			syntax("the closing brace } is missing");
		const unsigned nesting = nesting_, depth = depth_;
		const uint32_t from =
		    tok_.place.source == lexer_.source() ? tok_.place.offset : lexer_.offset();
		try {
			statement(out);
		} catch (const Failure&) {
			nesting_ = nesting; // of the blocks that are still open
			depth_ = depth;
			skip_statement();
			unread(from);
		}
	}
}

// for, while or do: refused.
void Parser::loop() {
	constexpr const char* kHint = "D has no loops, because a probe's work must be bounded; what repeats "
	                              "is a probe, such as tick-1s";
	if (peek().kind != Tok::LParen)
		syntax(kHint);
	// The header's semicolons end no statement.
	const std::string word(tok_.text);
	compilation_.error("D_SYNTAX", tok_.place, "syntax error near \"" + word + "\"", kHint);
	advance();
	for (unsigned open = 0; !at(Tok::End); advance()) {
		open += at(Tok::LParen);
		if (at(Tok::RParen) && --open == 0)
			break;
	}
	throw Failure{};
}

void Parser::statement(std::vector<Stmt>& out) {
	if (accept(Tok::Semicolon))
		return;
	if (at(Tok::If))
		return if_statement(out);
	if (at(Tok::LBrace)) {
		if (++nesting_ > 100)
			too_deep("blocks are nested too deeply", kDeepIfs);
		advance();
		statements(out);
		nesting_--;
		expect(Tok::RBrace, "to close the block");
		return;
	}
	switch (tok_.kind) {
	case Tok::For:
	case Tok::While:
	case Tok::Do: loop();
	case Tok::Switch:
	case Tok::Case:
	case Tok::Break:
	case Tok::Continue:
	case Tok::Goto:
	case Tok::Return: syntax("D has no " + std::string(tok_.text) + "; use if, ?: or several clauses");
	case Tok::Else: syntax("else without an if");
	case Tok::IntKw:
	case Tok::Long:
	case Tok::Short:
	case Tok::Char:
	case Tok::Unsigned:
	case Tok::Signed:
	case Tok::Struct:
	case Tok::StringKw:
		syntax("variables are declared outside of clauses (this int x;), or come to be with their "
		       "first assignment");
	default: break;
	}
	Stmt one;
	one.place = tok_.place;
	one.expression = expression();
	// What follows it decides whether it was one.
	if (!at(Tok::RBrace)) {
		if (!at(Tok::Semicolon) && one.expression->kind == Nk::Name &&
		    one.expression->text == "delete")
			syntax("D has no delete: assign 0 to the variable");
		expect(Tok::Semicolon, "after the statement");
	}
	out.push_back(std::move(one));
}

void Parser::if_statement(std::vector<Stmt>& out) {
	Stmt one;
	one.place = tok_.place;
	if (++nesting_ > 100)
		too_deep("ifs are nested too deeply", kDeepIfs);
	advance();
	expect(Tok::LParen, "after if");
	depth_++;
	one.condition = expression();
	depth_--;
	expect(Tok::RParen, "after the condition");
	statement(one.then);
	if (at(Tok::Semicolon) && peek().kind == Tok::Else)
		advance();
	if (accept(Tok::Else))
		statement(one.otherwise);
	nesting_--;
	out.push_back(std::move(one));
}

void Parser::inline_definition() {
	advance(); // inline
	advance();
	const Specifiers base = specifiers();
	if (base.storage != Storage::None)
		compilation_.error("D_DECL_CLASS", base.place, "storage class in an inline definition",
		                   "drop it");
	InlineDef def;
	types::TypeRef type = base.type;
	while (accept(Tok::Star))
		type = compilation_.types.program().pointer(type);
	if (!at(Tok::Ident))
		syntax("an inline needs a name");
	def.name = tok_.name();
	def.place = tok_.place;
	def.library = compilation_.in_library;
	advance();
	if (accept(Tok::LBracket)) {
		def.array = true;
		while (!at(Tok::RBracket)) {
			const Specifiers given = specifiers();
			Declarator one = declarator(given.type, false);
			if (one.name.empty())
				compilation_.error("D_DECL_PROTO_FORM", one.place,
				                   "inline " + def.name +
				                       "[ ] declares a parameter without a name",
				                   "its value refers to parameters by name");
			hides_null(one.name, one.place);
			if (compilation_.types.is_void(one.type) ||
			    compilation_.types.is_function(one.type)) {
				compilation_.error("D_DECL_PROTO_TYPE", given.place,
				                   "inline " + def.name + "[ ] parameter may not have type " +
				                       compilation_.types.text(one.type),
				                   "a parameter stands for a value");
				one.type = compilation_.types.int_type();
			}
			def.parameters.push_back({one.name, one.type});
			if (!accept(Tok::Comma))
				break;
		}
		expect(Tok::RBracket, "after the parameters");
	}
	def.type = type;
	expect(Tok::Assign, "before the inline's value");
	for (const auto& parameter : def.parameters)
		sema_.bind(parameter.name, nullptr);
	def.body = expression();
	for (const auto& parameter : def.parameters)
		sema_.unbind(parameter.name);
	expect_last(Tok::Semicolon, "after the inline's value");
	sema_.define_inline(std::move(def));
}

void Parser::translator_definition() {
	advance(); // translator
	const Place place = tok_.place;
	advance();
	auto translator = std::make_unique<Translator>();
	translator->place = place;
	translator->out = type_name();
	expect(Tok::Lt, "before the translator's input");
	const Place at_input = tok_.place;
	if (at(Tok::Ident) && !compilation_.types.find_typedef(tok_.name())) {
		compilation_.error("D_TYPE_ERR", at_input,
		                   "failed to resolve type " + std::string(tok_.name()) + ": no such type",
		                   "a translator's input is a type and a name: < struct task_struct *T >");
		throw Failure{};
	}
	const Specifiers given = specifiers();
	const Declarator input = declarator(given.type, true);
	hides_null(input.name, input.place);
	if (compilation_.types.is_void(input.type) || compilation_.types.is_function(input.type) ||
	    (!compilation_.types.is_string(input.type) &&
	     !compilation_.types.size(compilation_.types.complete(input.type)))) {
		compilation_.error("D_XLATE_INCOMPAT", at_input,
		                   "translator input cannot be of type " +
		                       compilation_.types.text(input.type),
		                   "it has no values: name a complete type, or a pointer");
		throw Failure{};
	}
	translator->in = input.type;
	translator->parameter = input.name;
	expect(Tok::Gt, "after the translator's input");
	expect(Tok::LBrace, "to open the members");
	sema_.bind(input.name, nullptr);
	while (!at(Tok::RBrace)) {
		if (!at(Tok::Ident))
			syntax("a member's name is expected");
		const std::string member(tok_.name());
		const Place at_member = tok_.place;
		advance();
		expect(Tok::Assign, "after the member's name");
		Node* const value = assignment();
		expect(Tok::Semicolon, "after the member's value");
		if (!translator->members.emplace(member, value).second)
			compilation_.error("D_XLATE_MEMB", at_member,
			                   "translator member " + member + " is defined twice",
			                   "keep one of the two");
		else if (compilation_.types.is_struct(translator->out) &&
		         !types::find_member(translator->out, member))
			compilation_.error("D_XLATE_MEMB", at_member,
			                   "translator member " + member +
			                       " definition uses undefined member name",
			                   compilation_.types.text(translator->out) + " has no such member");
	}
	sema_.unbind(input.name);
	advance();
	expect_last(Tok::Semicolon, "after the translator");
	sema_.define_translator(std::move(translator));
}

// USDT provider definitions: checked and kept out of the program; dfr -G and -h
// read them.
void Parser::provider_definition() {
	advance(); // provider
	advance();
	if (!at(Tok::Ident))
		syntax("a provider's name is expected");
	const std::string name(tok_.name());
	if (name.back() >= '0' && name.back() <= '9')
		compilation_.error("D_PROV_BADNAME", tok_.place,
		                   "provider name may not end with a digit: " + name,
		                   "the process id is appended to it");
	else if (name.size() > 63 - 10)
		compilation_.error("D_PROV_BADNAME", tok_.place, "provider name is too long: " + name,
		                   "at most 53 characters fit");
	const Place place = tok_.place;
	advance();
	expect(Tok::LBrace, "to open the provider");
	ProviderDef def;
	while (!at(Tok::RBrace)) {
		try {
			expect(Tok::Probe, "in a provider");
			provider_probe(def);
		} catch (const Failure&) {
			nesting_ = 0;
			depth_ = 0;
			skip_statement();
			if (at(Tok::End))
				throw;
		}
	}
	advance();
	expect_last(Tok::Semicolon, "after the provider");
	const auto [known, fresh] = compilation_.definitions.providers.emplace(name, def);
	if (!fresh && known->second != def)
		compilation_.error("D_PROV_INCOMPAT", place,
		                   "provider " + name + " is defined again with other probes",
		                   "write all of its probes in one definition");
}

void Parser::provider_probe(ProviderDef& def) {
	if (!at(Tok::Ident))
		syntax("a probe's name is expected");
	const Place place = tok_.place;
	const std::string name(tok_.name());
	advance();
	const TypeRef native = function_suffix(compilation_.types.void_type());
	const TypeRef translated =
	    accept(Tok::Colon) ? function_suffix(compilation_.types.void_type()) : native;
	if (types::info(native).count > kMostArguments || types::info(translated).count > kMostArguments)
		compilation_.error("D_PROV_PRARGLEN", place, "probe " + name + " has too many arguments",
		                   std::to_string(kMostArguments) + " fit");
	for (uint32_t i = 0; i < types::info(translated).count; i++)
		check_translation(name, place, native, translated.container->parameter(translated.id, i), i);
	if (!def.emplace(name, compilation_.types.text(native) + " : " + compilation_.types.text(translated))
	         .second)
		compilation_.error("D_PROV_PRDUP", place, "probe redeclared: " + name, "drop one");
	expect(Tok::Semicolon, "after the probe");
}

// What a probe's argument is shown as comes from the argument of that name, or else of that position.
void Parser::check_translation(const std::string& probe, Place place, TypeRef native,
                               const types::Parameter& wanted, uint32_t position) {
	const uint32_t count = types::info(native).count;
	uint32_t from = position;
	for (uint32_t i = 0; i < count && !wanted.name.empty(); i++) {
		if (native.container->parameter(native.id, i).name == wanted.name)
			from = i;
	}
	const std::string shown = "probe " + probe + " args[" + std::to_string(position) + "]";
	if (from >= count)
		return compilation_.error("D_PROV_PRXLATOR", place,
		                          shown + " is not translated from any argument",
		                          "give it the name of the argument that it is made from");
	const TypeRef given = native.container->parameter(native.id, from).type;
	if (!compilation_.types.same(given, wanted.type) && !sema_.translatable(wanted.type, given))
		compilation_.error("D_PROV_PRXLATOR", place,
		                   "no translator for " + shown + " from " + compilation_.types.text(given) +
		                       " to " + compilation_.types.text(wanted.type),
		                   "define the translator first");
}

} // namespace dfr::d
