// SPDX-License-Identifier: GPL-2.0
//
// Joining and compiling what a command line gives.
#include "analyze/libdfr/program.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/named_file.h"
#include "formats/types/types.h"

namespace dfr::lib {
namespace {

// The first of these characters that is in no comment, string or character constant; the text's size without one.
size_t find_code(const std::string& text, const std::string& wanted) {
	for (size_t at = 0; at < text.size(); at++) {
		const char c = text[at];
		if (text.compare(at, 2, "/*") == 0)
			at = std::min(text.find("*/", at + 2), text.size() - 1) + 1;
		else if (wanted.find(c) != std::string::npos)
			return at;
		else if (c == '"' || c == '\'')
			for (at++; at < text.size() && text[at] != c; at++)
				at += text[at] == '\\';
	}
	return text.size();
}

// The first character of a predicate or of actions.
size_t description_end(const std::string& text) {
	return find_code(text, "{/;");
}

std::string trimmed(const std::string& text) {
	const size_t from = text.find_first_not_of(" \t\r\n");
	if (from == std::string::npos)
		return {};
	return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

// A description as a program writes it, whatever option it came by.
std::string full_description(d::Specifier specifier, const std::string& description) {
	switch (specifier) {
	case d::Specifier::Function: return description + ":";
	case d::Specifier::Module: return description + "::";
	case d::Specifier::Provider: return description + ":::";
	default: return description;
	}
}

std::string without_comments(std::string text) {
	for (size_t at; (at = text.find("/*")) != std::string::npos;) {
		const size_t end = text.find("*/", at + 2);
		text.replace(at, end == std::string::npos ? end : end + 2 - at, " ");
	}
	return text;
}

// Descriptions in full; what follows them as it is.
std::string full_descriptions(const ProgramPart& part) {
	const size_t end = description_end(part.text);
	const std::string list = without_comments(part.text.substr(0, end));
	std::string text;
	for (size_t at = 0; at <= list.size();) {
		const size_t comma = std::min(list.find(',', at), list.size());
		text += (at == 0 ? "" : ", ") +
		        full_description(part.specifier, trimmed(list.substr(at, comma - at)));
		at = comma + 1;
	}
	return text + " " + part.text.substr(end);
}

// An editor's mark of UTF-8, and a first line that is the kernel's; in the middle of a text nobody would know them.
std::string without_interpreter(std::string text) {
	if (text.starts_with("\xef\xbb\xbf"))
		text.erase(0, 3);
	if (text.starts_with("#!"))
		text.erase(0, text.find('\n'));
	return text;
}

// Whether it is descriptions and perhaps a predicate, and no declaration and no control lines alone.
bool lacks_braces(const std::string& text) {
	std::string rest = trimmed(text);
	bool control = false;
	for (bool comment; (comment = rest.starts_with("/*")) || rest.starts_with('#');) {
		control |= !comment;
		const size_t end = comment ? rest.find("*/", 2) : rest.find('\n');
		rest =
		    end == std::string::npos ? std::string() : trimmed(rest.substr(end + (comment ? 2 : 1)));
	}
	return find_code(rest, "{;") == rest.size() && !(control && rest.empty());
}

// A description that is empty: most likely a shell's variable that is not set.
bool is_empty(const ProgramPart& part) {
	return !part.script && trimmed(without_comments(part.text)).empty();
}

// A part as text that may stand between others: full descriptions, braces where they are needed.
std::string standalone(const ProgramPart& part) {
	if (part.script)
		return without_interpreter(part.text);
	if (is_empty(part))
		return part.text;
	const std::string text = part.specifier == d::Specifier::Name ? part.text : full_descriptions(part);
	return lacks_braces(text) ? text + " {}" : text;
}

std::string joined(const std::vector<ProgramPart>& parts, size_t count) {
	std::string text;
	for (size_t i = 0; i < count; i++) {
		text += "# 1 \"" + parts[i].name + "\"\n";
		text += standalone(parts[i]);
		text += '\n';
	}
	return text;
}

d::Compiled compile_alone(const ProgramPart& part, d::CompileOptions options, d::Target& target,
                          d::Diagnostics& diagnostics) {
	options.name = part.name;
	options.specifier = part.specifier;
	options.braces_optional = !part.script;
	return d::compile(part.text, options, target, diagnostics);
}

// One of several; -x empty accepts it.
bool refused_as_empty(const ProgramPart& part, d::CompileOptions options, d::Target& target,
                      d::Diagnostics& found) {
	if (!is_empty(part))
		return false;
	options.arg_ref = true; // the others may name what it does not
	compile_alone(part, std::move(options), target, found);
	return found.failed();
}

uint64_t clauses_of(const dof::Image& image) {
	uint64_t count = 0;
	for (const dof::EcbDesc& ecb : image.ecbs)
		count = std::max(count, DFR_ECBUARG_CLAUSE(ecb.uarg) + 1);
	return count;
}

uint32_t matches_of(const dof::Image& image, uint64_t from, uint64_t to, d::Target& target) {
	uint32_t matched = 0;
	for (const dof::EcbDesc& ecb : image.ecbs) {
		const uint64_t clause = DFR_ECBUARG_CLAUSE(ecb.uarg);
		if (clause < from || clause >= to || (ecb.uarg & DFR_ECBUARG_CONTINUATION))
			continue;
		target.match(d::pattern_of(ecb.probe), [&matched](const d::ProbeInfo&) {
			matched++;
			return true;
		});
	}
	return matched;
}

} // namespace

std::string ProgramPart::title() const {
	return script ? name : text.substr(0, description_end(text));
}

ProgramPart read_script(const std::string& path) {
	ProgramPart part;
	part.script = true;
	part.name = path;
	const bool standard = path == "-";
	const std::unique_ptr<FILE, int (*)(FILE*)> file(standard ? stdin : std::fopen(path.c_str(), "re"),
	                                                 standard ? [](FILE*) { return 0; } : std::fclose);
	if (!file)
		throw Error::from_errno("failed to open script '" + path + "'",
		                        "give the path of a D script");
	if (!read_named_file(file.get(), part.text))
		throw Error("failed to read script '" + path + "': it has more than 64 MiB",
		            "give the path of a D script");
	if (std::ferror(file.get()))
		throw Error::from_errno("failed to read script '" + path + "'");
	return part;
}

d::Compiled compile_parts(std::vector<ProgramPart>& parts, d::CompileOptions options, d::Target& target,
                          d::Diagnostics& diagnostics) {
	if (parts.size() == 1)
		return compile_alone(parts[0], std::move(options), target, diagnostics);
	options.name = parts.empty() ? "" : parts[0].name;
	for (const ProgramPart& part : parts) {
		d::Diagnostics found;
		if (refused_as_empty(part, options, target, found)) {
			diagnostics = std::move(found);
			return {};
		}
	}
	return d::compile(joined(parts, parts.size()), options, target, diagnostics);
}

size_t failing_part(const std::vector<ProgramPart>& parts, const d::CompileOptions& options,
                    d::Target& target) {
	d::CompileOptions trial = options;
	trial.name = parts[0].name;
	trial.arg_ref = true;  // later parts may name what the first ones do not
	trial.empty_ok = true; // and have the clauses
	for (size_t i = 0; i + 1 < parts.size(); i++) {
		d::Diagnostics found;
		if (refused_as_empty(parts[i], options, target, found))
			return i;
		d::compile(joined(parts, i + 1), trial, target, found);
		if (found.failed())
			return i;
	}
	return parts.size() - 1;
}

void identify_types(dof::Image& image, d::Target& target) {
	const bool depends = std::any_of(image.ecbs.begin(), image.ecbs.end(), [](const dof::EcbDesc& ecb) {
		return ecb.uarg & DFR_ECBUARG_KERNEL_TYPES;
	});
	const types::Container* const kernel = depends ? target.kernel_types("vmlinux") : nullptr;
	if (!kernel)
		return;
	image.btf_digest = kernel->digest();
	image.btf_name = kernel->name();
}

bool records_user_code(const dof::Image& image) {
	constexpr uint32_t kinds[] = {DFR_ACT_USTACK, DFR_ACT_JSTACK, DFR_ACT_USYM, DFR_ACT_UMOD,
	                              DFR_ACT_UADDR};
	for (const dof::Body& body : image.bodies)
		for (const dof::Action& action : body.actions)
			if (std::ranges::find(kinds, action.kind) != std::end(kinds))
				return true;
	return false;
}

void count_matches(std::vector<ProgramPart>& parts, const d::CompileOptions& options,
                   const d::Compiled& whole, d::Target& target) {
	uint64_t from = 0;
	for (size_t i = 0; i < parts.size(); i++) {
		uint64_t to = clauses_of(whole.image);
		if (i + 1 < parts.size()) {
			d::Diagnostics ignored;
			d::CompileOptions trial = options;
			trial.name = parts[0].name;
			trial.arg_ref = true;
			to = clauses_of(d::compile(joined(parts, i + 1), trial, target, ignored).image);
		}
		parts[i].matched = matches_of(whole.image, from, to, target);
		from = to;
	}
}

std::vector<std::pair<std::string, std::string>> session_macros(uint32_t target) {
	std::vector<std::pair<std::string, std::string>> macros{
	    {"pid", std::to_string(getpid())},   {"ppid", std::to_string(getppid())},
	    {"pgid", std::to_string(getpgrp())}, {"sid", std::to_string(getsid(0))},
	    {"uid", std::to_string(getuid())},   {"euid", std::to_string(geteuid())},
	    {"gid", std::to_string(getgid())},   {"egid", std::to_string(getegid())}};
	macros.emplace_back("target", std::to_string(target));
	return macros;
}

} // namespace dfr::lib
