// SPDX-License-Identifier: GPL-2.0
//
// Options as the program sets them, and control lines: #pragma, #line, #error.
#include "formats/d/compilation.h"

#include <algorithm>

#include "formats/abi/block.h"
#include "formats/d/builtins.h"
#include "formats/d/options.h"
#include "formats/d/suggest.h"
#include "formats/d/tree.h"

namespace dfr::d {
namespace {

// The words of a control line, and where each stands; a quoted word keeps its quotes, a comment parts words.
struct ControlLine {
	Place place; // of the '#'
	std::vector<std::string> parts;
	std::vector<uint32_t> offsets;

	// An error about a word that is missing stands at the line's beginning.
	Place at(size_t word) const {
		return word < offsets.size() ? Place{place.source, offsets[word]} : place;
	}
};

ControlLine read_line(Place place, std::string_view text) {
	ControlLine line{place, {}, {}};
	size_t i = 0;
	while (i < text.size()) {
		if (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n' ||
		    text[i] == '\\') {
			i++;
			continue;
		}
		if (text.substr(i, 2) == "/*") {
			i = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
			continue;
		}
		const size_t begin = i;
		if (text[i] == '"') {
			i = std::min(text.find('"', i + 1), text.size() - 1) + 1;
		} else {
			while (i < text.size() && text[i] != ' ' && text[i] != '\t' && text[i] != '\n' &&
			       text[i] != '\r' && text.substr(i, 2) != "/*")
				i++;
		}
		line.parts.emplace_back(text.substr(begin, i - begin));
		line.offsets.push_back(place.offset + 1 + static_cast<uint32_t>(begin));
	}
	return line;
}

bool is_number(const std::string& text) {
	for (const char c : text) {
		if (c < '0' || c > '9')
			return false;
	}
	return !text.empty();
}

std::string unquoted(const std::string& text) {
	return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

// What these are for has happened when the program's text is read: preprocessing it, finding types and libraries, and
// what a front end decides by its own arguments.
bool only_before(std::string_view name) {
	static constexpr std::string_view kEarly[] = {
	    "cpp",    "cppargs", "cpphdrs",   "cpppath", "ctfpath", "ctypes",  "define",   "dtypes",
	    "engine", "incdir",  "kdefs",     "knodefs", "ldpath",  "libdir",  "modpath",  "procfspath",
	    "setenv", "stdc",    "syslibdir", "udefs",   "undef",   "unodefs", "unsetenv", "verbose"};
	return std::find(std::begin(kEarly), std::end(kEarly), name) != std::end(kEarly);
}

void pragma_option(Compilation& compilation, const ControlLine& line) {
	if (line.parts.size() != 4)
		return compilation.error("D_PRAGMA_MALFORM", line.at(4),
		                         "superfluous or missing arguments specified for #pragma option",
		                         "write: #pragma D option name[=value]");
	const std::string& text = line.parts[3];
	const std::string name = text.substr(0, text.find('='));
	if (only_before(name))
		return compilation.error(
		    "D_PRAGMA_OPTSET", line.at(3), "option " + name + " cannot be set by a pragma",
		    "it acts before the program is read: give it on the command line, -x " + text);
	std::string reason, hint;
	if (!set_option(compilation, text, &reason, &hint))
		compilation.error("D_PRAGMA_OPTSET", line.at(3),
		                  "failed to set option '" + text.substr(0, text.find('=')) + "'" +
		                      (text.find('=') == std::string::npos
		                           ? ""
		                           : " to '" + text.substr(text.find('=') + 1) + "'") +
		                      ": " + reason,
		                  hint);
}

// The name that a pragma of the program is about: one that the program defines.
NameFacts* pragma_name(Compilation& compilation, Place place, const std::string& pragma,
                       const std::string& name) {
	const auto known = compilation.definitions.inlines.find(name);
	const bool foreign = known != compilation.definitions.inlines.end() && known->second.library;
	if (!compilation.in_library &&
	    (foreign || find_builtin(name) || find_subroutine(name) || find_action(name) ||
	     find_agg_function(name) || name.find_first_of("`>") != std::string::npos)) {
		compilation.error("D_PRAGMA_SCOPE", place,
		                  "#pragma " + pragma + " cannot modify " + name +
		                      ": it is defined outside of the program",
		                  "name what the program itself defines");
		return nullptr;
	}
	NameFacts& facts = compilation.names[name];
	if (!compilation.in_library)
		facts.pragma = place;
	return &facts;
}

void pragma_attributes(Compilation& compilation, const ControlLine& line) {
	const auto attributes = line.parts.size() > 3 ? parse_attributes(line.parts[3]) : std::nullopt;
	if (line.parts.size() == 5 && attributes) {
		if (NameFacts* const facts =
		        pragma_name(compilation, line.at(4), line.parts[2], line.parts[4]))
			facts->attributes = attributes;
	} else if (line.parts.size() != 7 || !attributes) {
		compilation.error("D_PRAGMA_MALFORM", line.at(3),
		                  "malformed #pragma attributes: invalid or missing attribute specification",
		                  "write: #pragma D attributes Stable/Stable/Common name");
	}
}

void pragma_binding(Compilation& compilation, const ControlLine& line) {
	if (line.parts.size() != 5)
		return compilation.error("D_PRAGMA_MALFORM", line.at(5),
		                         "malformed #pragma binding: version or name missing",
		                         "write: #pragma D binding \"1.0\" name");
	const auto version = parse_version(unquoted(line.parts[3]));
	if (!version)
		return compilation.error("D_PRAGMA_INVAL", line.at(3),
		                         "invalid version specified by #pragma binding: " + line.parts[3],
		                         "write: #pragma D binding \"1.0\" name");
	if (NameFacts* const facts = pragma_name(compilation, line.at(4), line.parts[2], line.parts[4]))
		facts->version = *version;
}

void pragma_depends_on(Compilation& compilation, const ControlLine& line) {
	if (line.parts.size() < 5)
		return compilation.error("D_PRAGMA_MALFORM", line.place,
		                         "malformed #pragma depends_on directive",
		                         "write: #pragma D depends_on library FILE");
	const std::string &kind = line.parts[3], &name = line.parts[4];
	const bool library = kind == "library", module = kind == "module", provider = kind == "provider";
	if (library && !compilation.in_library)
		return compilation.error("D_PRAGMA_DEPEND", line.at(3),
		                         "a main program cannot depend on library " + name,
		                         "drop the line: a library is read when one of its names is "
		                         "used; -L names more folders of them");
	if (!library && !module && !provider)
		return compilation.error("D_PRAGMA_INVAL", line.at(3),
		                         "invalid class " + kind + " specified by #pragma depends_on",
		                         "known: library, module, provider");
	ProbePattern pattern;
	(provider ? pattern.provider : pattern.module) = name;
	// A library file is compiled when a name of it is used: being there is enough.
	bool found =
	    library ? compilation.has_library_file(name) : module && compilation.target.kernel_types(name);
	if (!found && !library)
		compilation.target.match(pattern, [&](const ProbeInfo&) { return !(found = true); });
	if (!found && compilation.in_library)
		compilation.skip_file = true;
	else if (!found)
		compilation.error("D_PRAGMA_DEPEND", line.at(4), "program requires " + kind + " " + name,
		                  "it is not there: load it first");
}

void pragma_priority(Compilation& compilation, const ControlLine& line) {
	static constexpr std::pair<std::string_view, dfr_priority> kWords[] = {
	    {"low", DFR_PRIORITY_LOW}, {"normal", DFR_PRIORITY_NORMAL}, {"high", DFR_PRIORITY_HIGH}};
	const auto* const word =
	    line.parts.size() == 4
	        ? std::find_if(std::begin(kWords), std::end(kWords),
	                       [&line](const auto& known) { return known.first == line.parts[3]; })
	        : std::end(kWords);
	if (word == std::end(kWords))
		return compilation.error("D_PRAGMA_MALFORM", line.at(3),
		                         "malformed #pragma priority: one of three words is expected",
		                         "write: #pragma D priority low, normal or high");
	compilation.settings.priority = word->second;
}

void pragma_d(Compilation& compilation, const ControlLine& line) {
	if (line.parts.size() < 3)
		return compilation.error(
		    "D_PRAGMA_MALFORM", line.place, "malformed #pragma D: what is missing",
		    "write option, priority, attributes, binding or depends_on after it");
	const std::string& what = line.parts[2];
	if (what == "option")
		return pragma_option(compilation, line);
	if (what == "priority")
		return pragma_priority(compilation, line);
	if (what == "attributes")
		return pragma_attributes(compilation, line);
	if (what == "binding")
		return pragma_binding(compilation, line);
	if (what == "depends_on")
		return pragma_depends_on(compilation, line);
	if (what == "error")
		return compilation.error("D_PRAGERR", line.place, "#error: program raised an error", "");
	compilation.error("D_PRAGMA_INVAL", line.at(2), "invalid #pragma D: " + what,
	                  "known: option, priority, attributes, binding, depends_on");
}

// pack(push, 1), pack(pop), pack(4), pack(): C's, for the structs of a header.
void pragma_pack(Compilation& compilation, std::string_view text) {
	std::vector<uint64_t>& pack = compilation.pack;
	if (text.find("push") != std::string_view::npos)
		pack.push_back(pack.empty() ? 0 : pack.back());
	else if (text.find("pop") != std::string_view::npos) {
		if (!pack.empty())
			pack.pop_back();
		return;
	}
	// The last argument: a name may stand in front of it.
	size_t digit = text.find_last_of("(,");
	digit = digit == std::string_view::npos ? digit : text.find_first_not_of(" \t", digit + 1);
	if (digit != std::string_view::npos && (text[digit] < '0' || text[digit] > '9'))
		digit = std::string_view::npos;
	if (digit == std::string_view::npos && text.find("push") != std::string_view::npos)
		return;
	if (pack.empty())
		pack.push_back(0);
	pack.back() = digit == std::string_view::npos
	                  ? 0
	                  : std::strtoul(std::string(text.substr(digit)).c_str(), nullptr, 10);
}

} // namespace

std::optional<uint64_t> parse_version(std::string_view text) {
	uint64_t parts[3] = {0, 0, 0};
	size_t count = 0;
	bool digit = false;
	for (const char c : text) {
		if (c >= '0' && c <= '9' && parts[count] < 4096) {
			parts[count] = parts[count] * 10 + (c - '0');
			digit = true;
		} else if (c == '.' && digit && count < 2) {
			count++;
			digit = false;
		} else {
			return std::nullopt;
		}
	}
	if (!digit)
		return std::nullopt;
	return parts[0] << 32 | parts[1] << 16 | parts[2];
}

namespace {

// An option as it was given, and what is said of one that cannot be.
struct GivenOption {
	const OptionInfo& info;
	std::string_view name;
	std::optional<std::string_view> value;
	int64_t number = 0;
	bool on = false;
};
struct Refusal {
	std::string hint;
	std::string reason = "Invalid value for specified option";
};
using Refused = std::optional<Refusal>;

std::string values_of(OptionUnit unit) {
	switch (unit) {
	case OptionUnit::Size: return "a number of bytes, with k, m, g or t";
	case OptionUnit::Rate: return "a number with ns, us, ms, s, m, h, d or hz";
	case OptionUnit::Policy: return "switch, fill or ring";
	case OptionUnit::Resize: return "auto or manual";
	case OptionUnit::Hook: return "function or tracepoint";
	case OptionUnit::Memory: return "reserved";
	case OptionUnit::Encoding: return "ascii or utf8";
	default: return "a number, on or off";
	}
}

// Options of the engine: they are part of the program.
Refused set_of_engine(Compilation& compilation, const GivenOption& given) {
	const uint32_t number = given.info.number;
	const bool buffer =
	    number == DFR_OPT_BUFSIZE || number == DFR_OPT_AGGSIZE || number == DFR_OPT_SPECSIZE;
	if (buffer && given.number < DFR_BLOCK_MIN)
		return Refusal{std::string(given.name) + " is at least one block, " +
		               std::to_string(DFR_BLOCK_MIN) + " bytes"};
	if (number == DFR_OPT_STRSIZE) {
		if (given.number < 1 || given.number > DIF_STRSIZE_MAX)
			return Refusal{"strsize is 1 to 65536"};
		compilation.settings.strsize = static_cast<uint64_t>(given.number);
	}
	if (number == DFR_OPT_SCRATCHSIZE && given.number > DIF_SCRATCH_MAX)
		return Refusal{"scratchsize is at most 4m"};
	std::erase_if(compilation.result.image.options,
	              [&](const dof::Option& one) { return one.option == number; });
	if (given.on)
		compilation.result.image.options.push_back({number, given.number});
	return {};
}

Refused set_least(Compilation& compilation, const GivenOption& given) {
	const auto attributes = given.value ? parse_attributes(*given.value) : std::nullopt;
	if (!attributes)
		return Refusal{"write -x amin=Evolving/Evolving/Common"};
	compilation.settings.least = attributes;
	return {};
}

Refused set_version(Compilation& compilation, const GivenOption& given) {
	const auto version = given.value ? parse_version(*given.value) : std::nullopt;
	if (!version)
		return Refusal{"write -x version=1.6"};
	if (*version > *parse_version(kVersion))
		return Refusal{"this is D " + std::string(kVersion), "Requested version is not supported"};
	compilation.settings.version = *version;
	return {};
}

Refused set_tree(Compilation& compilation, const GivenOption& given) {
	if (given.on && given.number < 0)
		return Refusal{"1: as parsed, 2: with types, 3: both"};
	compilation.settings.tree = !given.value ? kTreeParsed | kTreeAnalyzed
	                            : given.on   ? static_cast<uint64_t>(given.number)
	                                         : 0;
	return {};
}

// Options with a value of their own.
Refused set_value(Compilation& compilation, const GivenOption& given) {
	Settings& settings = compilation.settings;
	const int64_t number = given.number;
	if (given.name == "amin")
		return set_least(compilation, given);
	if (given.name == "version")
		return set_version(compilation, given);
	if (given.name == "tree")
		return set_tree(compilation, given);
	if (given.name == "iregs") {
		if (number < 2 || number > DIF_NREGS)
			return Refusal{"2 to 8 registers, including %r0"};
		settings.registers = static_cast<unsigned>(number);
	} else if (given.name == "tregs") {
		if (given.on && number < 0)
			return Refusal{"a number of tuple registers"};
		if (given.value && given.on)
			settings.tuple_registers =
			    static_cast<unsigned>(std::min<int64_t>(number, UINT32_MAX));
	} else if (given.name == "syslibdir") {
		if (!given.value || given.value->empty())
			return Refusal{"a directory of *.d files"};
		settings.system_library = *given.value;
	} else if (given.name == "printsize") {
		if (number < 1 || number > DIF_PRINT_MAX)
			return Refusal{"printsize is 1 to " + std::to_string(DIF_PRINT_MAX) + " bytes"};
		settings.print_size = static_cast<uint64_t>(number);
	}
	return {};
}

// Options whose values are words.
Refused check_word(const GivenOption& given) {
	const auto words = option_words(given.name);
	if (words.empty() ||
	    (given.value && std::find(words.begin(), words.end(), *given.value) != words.end()))
		return {};
	Refusal refusal;
	for (const std::string_view word : words)
		refusal.hint += (refusal.hint.empty() ? "" : ", ") + std::string(word);
	return refusal;
}

void set_switch(Compilation& compilation, const GivenOption& given) {
	Settings& settings = compilation.settings;
	if (given.name == "nolibs")
		settings.no_library = given.on;
	else if (given.name == "strip")
		settings.strip = given.on;
	else if (given.name == "aggpercpu")
		settings.agg_by_cpu = given.on;
	else if (given.name == "zdefs")
		settings.zdefs = given.on;
	else if (given.name == "defaultargs")
		compilation.macros.allow_undefined(settings.default_args = given.on);
	else if (given.name == "argref")
		settings.arg_ref = given.on;
	else if (given.name == "empty")
		settings.empty_ok = given.on;
}

Refused set_named(Compilation& compilation, std::string_view name, std::optional<std::string_view> value) {
	const OptionInfo* const option = find_option(name);
	if (!option)
		return Refusal{suggest(name, option_names()), "Invalid option name"};
	const auto number = parse_option(*option, value);
	if (!number)
		return Refusal{values_of(option->unit)};
	const GivenOption given{*option, name, value, *number, *number != DFR_OPT_UNSET};
	if (option->number != kNoOptionNumber)
		return set_of_engine(compilation, given);
	if (Refused refused = set_value(compilation, given))
		return refused;
	if (Refused refused = check_word(given))
		return refused;
	set_switch(compilation, given);
	compilation.result.settings.emplace_back(name, value);
	return {};
}

} // namespace

bool set_option(Compilation& compilation, std::string_view text, std::string* reason, std::string* hint) {
	const size_t equals = text.find('=');
	std::optional<std::string_view> value;
	if (equals != std::string_view::npos)
		value = text.substr(equals + 1);
	const Refused refused = set_named(compilation, text.substr(0, equals), value);
	if (!refused)
		return true;
	*reason = refused->reason;
	*hint = refused->hint;
	return false;
}

void control_line(Compilation& compilation, Place place, std::string_view text) {
	const ControlLine control = read_line(place, text);
	const std::vector<std::string>& parts = control.parts;
	if (parts.empty())
		return;
	// On a command line the argument's end ends the line, too.
	if (parts[0] == "pragma" && !compilation.options.braces_optional &&
	    place.offset + 1 + text.size() >= compilation.diagnostics.sources().text(place.source).size())
		return compilation.error("D_SYNTAX", place,
		                         "end-of-file encountered before the end of a #pragma line",
		                         "end the line: a pragma applies to the lines after it");
	const bool line = parts[0] == "line";
	if (line || is_number(parts[0])) {
		const size_t at = line ? 1 : 0;
		if (parts.size() <= at || !is_number(parts[at]) || parts[at].size() > 9)
			return compilation.error("D_PRAGCTL_INVAL", place,
			                         "invalid #line: a number is expected",
			                         "write: #line 12 \"file.d\"");
		// The mark holds from the next line on.
		const std::string_view source = compilation.diagnostics.sources().text(place.source);
		const size_t newline = source.find('\n', place.offset);
		std::string file = parts.size() > at + 1 ? unquoted(parts[at + 1]) : std::string();
		if (compilation.options.preprocess && file == "<stdin>") // what cpp was given
			file = compilation.options.name;
		if (newline != std::string_view::npos)
			compilation.diagnostics.sources().mark(
			    {place.source, static_cast<uint32_t>(newline + 1)}, std::move(file),
			    std::stoul(parts[at]),
			    compilation.options.preprocess && !line &&
			        std::find(parts.begin() + 1, parts.end(), "3") != parts.end());
		return;
	}
	if (parts[0] == "error")
		return compilation.error("D_PRAGERR", place, "#" + std::string(text), "");
	if (parts[0] != "pragma")
		return compilation.error("D_PRAGCTL_INVAL", place, "invalid control directive: #" + parts[0],
		                         "the C preprocessor is run with -C");
	if (parts.size() < 2)
		return;
	if (parts[1] == "ident")
		return;
	if (parts[1] == "error")
		return compilation.error("D_PRAGERR", place, "#" + std::string(text), "");
	if (parts[1] == "D")
		return pragma_d(compilation, control);
	if (compilation.options.preprocess && parts[1].starts_with("pack"))
		return pragma_pack(compilation, text);
	// Pragmas of other languages are none of ours.
}

} // namespace dfr::d
