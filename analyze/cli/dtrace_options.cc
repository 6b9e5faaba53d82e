// SPDX-License-Identifier: GPL-2.0
//
// Parsing dtrace(1)'s command line.
#include "analyze/cli/dtrace_options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "formats/shown.h"

namespace dfr::cli {
namespace {

// Letters with an argument, as getopt(3) spells them.
constexpr const char* kLetters = "aAb:Bc:CD:ef:FGhHi:I:lL:m:n:o:p:P:qs:SU:vVwx:X:Z";

bool takes_argument(char letter) {
	const char* const at = std::strchr(kLetters, letter);
	return at && at[1] == ':';
}

class OptionParser {
public:
	OptionParser(int argc, char** argv, const std::string& name)
	    : argc_(argc), argv_(argv), name_(name) {}
	std::optional<DtraceOptions> run();

private:
	bool letters(const char* word);
	bool option(char letter, const std::string& argument);
	bool mode(DtraceOptions::Mode wanted, char letter);
	bool pid(const std::string& argument);
	bool usage(const std::string& why);
	bool program(dfr_specifier specifier, const std::string& text);
	bool set(const std::string& option);

	int argc_;
	char** argv_;
	std::string name_;
	int at_ = 1;
	char mode_letter_ = 0;
	DtraceOptions parsed_;
};

bool OptionParser::usage(const std::string& why) {
	std::fprintf(stderr, "%s: %s\n", shown(name_), shown(why));
	dtrace_usage(name_);
	return false;
}

bool OptionParser::mode(DtraceOptions::Mode wanted, char letter) {
	if (mode_letter_ != 0 && mode_letter_ != letter)
		return usage(std::string("only one of the [-AGhlV] options can be specified: -") +
		             mode_letter_ + " and -" + letter);
	mode_letter_ = letter;
	parsed_.mode = wanted;
	return true;
}

bool OptionParser::pid(const std::string& argument) {
	char* end = nullptr;
	const long value = std::strtol(argument.c_str(), &end, 10);
	if (argument.empty() || *end != '\0' || value <= 0 || value > 0x7fffffff)
		return usage("invalid process id -- " + argument);
	parsed_.pids.push_back(static_cast<int>(value));
	return true;
}

bool OptionParser::program(dfr_specifier specifier, const std::string& text) {
	parsed_.programs.push_back({false, specifier, text});
	return true;
}

bool OptionParser::set(const std::string& option) {
	parsed_.options.push_back(option);
	return true;
}

bool OptionParser::option(char letter, const std::string& argument) {
	using enum DtraceOptions::Mode;
	switch (letter) {
	case 'A': return mode(Anonymous, letter);
	case 'G': return mode(Link, letter);
	case 'h': return mode(Header, letter);
	case 'l': return mode(List, letter);
	case 'V': return mode(Version, letter);
	case 'a': return set("grabanon");
	case 'b': return set("bufsize=" + argument);
	case 'B': return true; // how a consumer of another libdtrace takes its output; this one has one way
	case 'c': parsed_.commands.push_back(argument); return true;
	case 'C': return set("cpp");
	case 'D': return set("define=" + argument);
	case 'e': parsed_.compile_only = true; return true;
	case 'f': return program(DFR_BY_FUNCTION, argument);
	case 'F': return set("flowindent");
	case 'H': return set("cpphdrs");
	case 'i': return program(DFR_BY_ID, argument);
	case 'I': return set("incdir=" + argument);
	case 'L': return set("libdir=" + argument);
	case 'm': return program(DFR_BY_MODULE, argument);
	case 'n': return program(DFR_BY_NAME, argument);
	case 'o': parsed_.output = argument; return true;
	case 'p': return pid(argument);
	case 'P': return program(DFR_BY_PROVIDER, argument);
	case 'q': return set("quiet");
	case 's': parsed_.programs.push_back({true, DFR_BY_NAME, argument}); return true;
	case 'S': return set("verbose");
	case 'U': return set("undef=" + argument);
	case 'v': parsed_.verbose = true; return true;
	case 'w': return set("destructive");
	case 'x': return set(argument);
	case 'X': return set("stdc=" + argument);
	case 'Z': return set("zdefs");
	default: return usage(std::string("illegal option -- ") + letter);
	}
}

// One word of letters: "-qn", "-xerrtags", "-s".
bool OptionParser::letters(const char* word) {
	for (const char* at = word + 1; *at != '\0'; at++) {
		if (!std::strchr(kLetters, *at) || *at == ':')
			return usage(std::string("illegal option -- ") + *at);
		if (!takes_argument(*at)) {
			if (!option(*at, {}))
				return false;
			if (parsed_.for_static_probes())
				return true;
			continue;
		}
		if (at[1] != '\0')
			return option(*at, at + 1);
		if (at_ >= argc_)
			return usage(std::string("option requires an argument -- ") + *at);
		return option(*at, argv_[at_++]);
	}
	return true;
}

std::optional<DtraceOptions> OptionParser::run() {
	bool only_operands = false;
	// Of what makes static probes the rest is not ours: another dtrace knows its options.
	while (at_ < argc_ && !parsed_.for_static_probes()) {
		const char* const word = argv_[at_++];
		if (only_operands || word[0] != '-' || word[1] == '\0') {
			parsed_.operands.emplace_back(word);
		} else if (std::strcmp(word, "--") == 0) {
			only_operands = true;
		} else if (std::strcmp(word, "-32") == 0 || std::strcmp(word, "-64") == 0) {
			if (word[1] == '3') {
				usage("the 32-bit data model is not supported: this kernel is a 64-bit one");
				return std::nullopt;
			}
		} else if (!letters(word)) {
			return std::nullopt;
		}
	}
	return std::move(parsed_);
}

} // namespace

std::optional<DtraceOptions> parse_dtrace(int argc, char** argv, const std::string& name) {
	return OptionParser(argc, argv, name).run();
}

void dtrace_usage(const std::string& name) {
	std::fprintf(stderr,
	             "Usage: %s [options] [operands: $1 $2 ...]\n\n"
	             "programs (any number; each may go on with /predicate/ and {actions}):\n"
	             "  -n [[[PROV:]MOD:]FUNC:]NAME   -f [[PROV:]MOD:]FUNC   -m [PROV:]MOD   -P PROV\n"
	             "  -i ID     by probe id           -s FILE   a script; -s - reads it from stdin\n\n"
	             "what to do (one of these; none: trace)\n"
	             "  -l        list probes           -e        compile only\n"
	             "  -a        claim the anonymous state of this boot\n"
	             "  -A        save the programs for the boot, in the file that -o names\n"
	             "  -G, -h    static user probes, by the dtrace of systemtap-sdt-dev\n"
	             "  -V        version\n\n"
	             "how\n"
	             "  -c CMD    run CMD, end with it  -p PID    end with process PID\n"
	             "  -o FILE   append output to FILE -q        only what the program prints\n"
	             "  -F        indent by call depth  -w        allow destructive actions\n"
	             "  -Z        allow descriptions that match nothing\n"
	             "  -b SIZE   buffer per CPU        -x OPT[=VALUE]      set an option\n"
	             "  -S        show compiled code    -v        show stability and argument types\n"
	             "  -C        preprocess with cpp; -D NAME[=X] -U NAME -I DIR -H -X a|c|s|t go to it\n"
	             "  -L DIR    more D libraries (several are searched in order)\n"
	             "  -64       data model of the kernel (-32: there is none)\n"
	             "  -B        taken and ignored\n\n"
	             "examples\n"
	             "  %s -n 'BEGIN { printf(\"hello\\n\"); exit(0); }'\n"
	             "  %s -n 'syscall:::entry { @[execname] = count(); }'\n"
	             "  %s -l -n 'syscall::read:'\n",
	             shown(name), shown(name), shown(name), shown(name));
}

} // namespace dfr::cli
