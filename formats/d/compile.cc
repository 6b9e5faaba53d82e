// SPDX-License-Identifier: GPL-2.0
//
// The compiler's frame: options and macros, the library, then the program item
// by item, then what can only be said at its end.
#include "formats/d/compile.h"

#include "formats/d/clause.h"
#include "formats/d/context.h"
#include "formats/d/derive.h"
#include "formats/d/library.h"
#include "formats/d/parser.h"
#include "formats/d/preprocess.h"
#include "formats/d/sema.h"
#include "formats/d/tree.h"
#include "formats/error.h"

namespace dfr::d {
namespace {

void set_up(Context& context, const CompileOptions& options) {
	context.settings.zdefs = options.zdefs;
	context.settings.empty_ok = options.empty_ok;
	context.settings.default_args = options.default_args;
	context.settings.arg_ref = options.arg_ref;
	context.macros.set_arguments(options.program.empty() ? options.name : options.program,
	                             options.arguments);
	context.macros.allow_undefined(options.default_args);
	for (const auto& [name, value] : options.session)
		context.macros.set(name, value);
	for (const std::string& text : options.options) {
		std::string reason, hint;
		if (!set_option(context, text, &reason, &hint))
			throw Error("failed to set -x " + text.substr(0, text.find('=')) + ": " + reason,
			            hint);
	}
}

void check_end(Context& context, uint32_t source, size_t items) {
	const Place start{source, 0};
	if (!items && !context.settings.empty_ok && !context.diagnostics.failed())
		context.error("D_EMPTY", start, "empty D program translation unit",
		              "a program has at least one clause or declaration; -x empty accepts none");
	for (const auto& [name, facts] : context.names) {
		if (facts.pragma && !context.defined(name))
			context.error("D_PRAGMA_UNUSED", *facts.pragma,
			              "unused #pragma: nothing defines " + name,
			              "correct the name, or drop the line");
	}
	if (const unsigned unused = context.macros.first_unused();
	    unused && !context.settings.arg_ref && !context.settings.default_args)
		context.error("D_MACRO_UNUSED", start,
		              "extraneous argument '" + context.options.arguments[unused - 1] + "' ($" +
		                  std::to_string(unused) + " is not referenced)",
		              "drop it, or use -x argref");
}

size_t run(Context& context, Sema& sema, uint32_t source) {
	Parser parser(context, sema, source);
	size_t items = 0;
	uint64_t clauses = 0;
	for (;;) {
		Clause clause;
		switch (parser.next(clause)) {
		case Parser::Item::End: return items;
		case Parser::Item::Declaration: items++; break;
		case Parser::Item::Clause:
			items++;
			if (context.settings.tree & kTreeParsed && !context.in_library)
				context.result.tree += tree_text(context.types, clause, "as parsed");
			ClauseBuilder(context, sema, clauses++).build(clause);
			if (context.settings.tree & kTreeAnalyzed && !context.in_library)
				context.result.tree += tree_text(context.types, clause, "with types");
			break;
		}
	}
}

void compile_in(Context& context, std::string_view source) {
	const CompileOptions& options = context.options;
	Diagnostics& diagnostics = context.diagnostics;
	set_up(context, options);
	std::string text(source);
	if (text.starts_with("\xef\xbb\xbf")) // an editor's mark of UTF-8
		text.erase(0, 3);
	if (options.preprocess)
		text = preprocess(text, options);
	const uint32_t program = diagnostics.sources().add(options.name, std::move(text));
	Sema sema(context);
	Library library(context, sema);
	sema.set_library(&library);
	const size_t items = run(context, sema, program);
	check_end(context, program, items);
	widen_keys(context.result.image);
	context.statements.lower(kStable);
	context.probes.lower(kStable);
	context.result.attributes = "\tMinimum Probe Description Attributes\n" + context.probes.report() +
	                            "\tMinimum Statement Attributes\n" + context.statements.report();
	if (!context.settings.strip)
		context.result.image.source = std::string(source);
	context.result.image.comments = "dfr D compiler";
}

} // namespace

Compiled compile(std::string_view source, const CompileOptions& options, Target& target,
                 Diagnostics& diagnostics) {
	Context context(options, target, diagnostics);
	compile_in(context, source);
	return std::move(context.result);
}

Derived derive(std::string_view source, const CompileOptions& options, Target& target,
               Diagnostics& diagnostics) {
	Context context(options, target, diagnostics);
	context.deriving = true;
	compile_in(context, source);
	context.result.image.aggregations.clear();
	context.result.image.source = context.derived_text;
	return {std::move(context.result), std::move(context.derived_text)};
}

} // namespace dfr::d
