// SPDX-License-Identifier: GPL-2.0
//
// The compiler's frame: options and macros, the library, then the program item
// by item, then what can only be said at its end.
#include "formats/d/compile.h"

#include <optional>

#include "formats/d/clause.h"
#include "formats/d/compilation.h"
#include "formats/d/library.h"
#include "formats/d/parser.h"
#include "formats/d/preprocess.h"
#include "formats/d/sema.h"
#include "formats/d/tree.h"
#include "formats/error.h"

namespace dfr::d {

bool Compilation::unread_names(std::string_view name) const {
	const auto in_word = [](std::string_view text, size_t at) {
		return at < text.size() && is_word(text[at]);
	};
	for (const std::string_view text : unread) {
		for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
			if (!in_word(text, at - 1) && !in_word(text, at + name.size()))
				return true;
		}
	}
	return false;
}

namespace {

void set_up(Compilation& compilation, const CompileOptions& options) {
	compilation.settings.zdefs = options.zdefs;
	compilation.settings.empty_ok = options.empty_ok;
	compilation.settings.default_args = options.default_args;
	compilation.settings.arg_ref = options.arg_ref;
	compilation.macros.set_arguments(options.program.empty() ? options.name : options.program,
	                                 options.arguments);
	compilation.macros.allow_undefined(options.default_args);
	for (const auto& [name, value] : options.session)
		compilation.macros.set(name, value);
	for (const std::string& text : options.options) {
		std::string reason, hint;
		if (!set_option(compilation, text, &reason, &hint))
			throw Error("failed to set -x " + text.substr(0, text.find('=')) + ": " + reason,
			            hint);
	}
}

struct Items {
	uint64_t clauses = 0;
	std::optional<Place> first; // a declaration or a clause
};

// A program without a clause has no probes and would wait for ever.
void check_empty(Compilation& compilation, Place start, const Items& items) {
	if (items.clauses || compilation.settings.empty_ok || compilation.diagnostics.failed())
		return;
	compilation.error("D_EMPTY", items.first.value_or(start),
	                  items.first ? "empty D program: there are declarations, but no clause"
	                              : "empty D program translation unit",
	                  "a program has at least one clause: probe { actions }; -x empty accepts none");
}

// A program for other hosts alone would wait for ever, too.
void check_host(Compilation& compilation) {
	if (!compilation.elsewhere || compilation.here || compilation.settings.empty_ok ||
	    compilation.diagnostics.failed())
		return;
	compilation.error("D_PDESC_ZERO", compilation.elsewhere->place,
	                  "probe description " + compilation.elsewhere->text + " does not match any probes",
	                  compilation.target.elsewhere(compilation.elsewhere->host) +
	                      "; -Z accepts a program for other hosts alone");
}

void check_end(Compilation& compilation, uint32_t source, const Items& items) {
	const Place start{source, 0};
	check_empty(compilation, start, items);
	check_host(compilation);
	for (const auto& [name, facts] : compilation.names) {
		if (facts.pragma && !compilation.defined(name))
			compilation.error("D_PRAGMA_UNUSED", *facts.pragma,
			                  "unused #pragma: nothing defines " + name,
			                  "correct the name, or drop the line");
	}
	if (const unsigned unused = compilation.macros.first_unused();
	    unused && !compilation.settings.arg_ref && !compilation.settings.default_args)
		compilation.error("D_MACRO_UNUSED", start,
		                  "extraneous argument '" + compilation.options.arguments[unused - 1] +
		                      "' ($" + std::to_string(unused) + " is not referenced)",
		                  "drop it, or use -x argref");
}

Items run(Compilation& compilation, Sema& sema, uint32_t source) {
	Parser parser(compilation, sema, source);
	Items items;
	for (;;) {
		Clause clause;
		const Parser::Item item = parser.next(clause);
		if (item != Parser::Item::End && !items.first)
			items.first = parser.item_place();
		switch (item) {
		case Parser::Item::End: return items;
		case Parser::Item::Declaration: break;
		case Parser::Item::Clause:
			if (compilation.settings.tree & kTreeParsed && !compilation.in_library)
				compilation.result.tree += tree_text(compilation.types, clause, "as parsed");
			ClauseBuilder(compilation, sema, items.clauses++).build(clause);
			if (compilation.settings.tree & kTreeAnalyzed && !compilation.in_library)
				compilation.result.tree += tree_text(compilation.types, clause, "with types");
			break;
		}
	}
}

void compile_all(Compilation& compilation, std::string_view source) {
	const CompileOptions& options = compilation.options;
	Diagnostics& diagnostics = compilation.diagnostics;
	set_up(compilation, options);
	std::string text(source);
	if (text.starts_with("\xef\xbb\xbf")) // an editor's mark of UTF-8
		text.erase(0, 3);
	if (options.preprocess)
		text = preprocess(text, options);
	const uint32_t program = diagnostics.sources().add(options.name, std::move(text));
	Sema sema(compilation);
	Library library(compilation, sema);
	const Items items = run(compilation, sema, program);
	check_end(compilation, program, items);
	widen_keys(compilation.result.image);
	compilation.statements.lower(kStable);
	compilation.probes.lower(kStable);
	compilation.result.attributes = "\tMinimum Probe Description Attributes\n" +
	                                compilation.probes.report() + "\tMinimum Statement Attributes\n" +
	                                compilation.statements.report();
	if (!compilation.settings.strip)
		compilation.result.image.source = std::string(source);
	compilation.result.image.comments = "dfr D compiler";
}

void compile_in(Compilation& compilation, std::string_view source) {
	try {
		compile_all(compilation, source);
	} catch (const TooManyErrors&) { // told as the last one
	}
}

} // namespace

Compiled compile(std::string_view source, const CompileOptions& options, Target& target,
                 Diagnostics& diagnostics) {
	Compilation compilation(options, target, diagnostics);
	compile_in(compilation, source);
	return std::move(compilation.result);
}

Derived derive(std::string_view source, const CompileOptions& options, Target& target,
               Diagnostics& diagnostics) {
	Compilation compilation(options, target, diagnostics);
	compilation.deriving = true;
	compile_in(compilation, source);
	compilation.result.image.aggregations.clear();
	compilation.result.image.source = compilation.derived_text;
	return {std::move(compilation.result), std::move(compilation.derived_text)};
}

} // namespace dfr::d
