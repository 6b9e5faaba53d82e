// SPDX-License-Identifier: GPL-2.0
//
// The table of options and the readers of their units.
#include "formats/d/options.h"

#include <cerrno>
#include <cstdlib>

#include "formats/abi/dof.h"

namespace dfr::d {
namespace {

using enum OptionUnit;
constexpr auto kCompile = OptionTime::Compile;
constexpr auto kRuntime = OptionTime::Runtime;
constexpr auto kDynamic = OptionTime::Dynamic;

constexpr OptionInfo kOptions[] = {
    {"bufsize", kRuntime, Size, DFR_OPT_BUFSIZE},
    {"bufpolicy", kRuntime, Policy, DFR_OPT_BUFPOLICY},
    {"dynvarsize", kRuntime, Size, DFR_OPT_DYNVARSIZE},
    {"aggsize", kRuntime, Size, DFR_OPT_AGGSIZE},
    {"specsize", kRuntime, Size, DFR_OPT_SPECSIZE},
    {"nspec", kRuntime, Flag, DFR_OPT_NSPEC},
    {"strsize", kRuntime, Size, DFR_OPT_STRSIZE},
    {"cleanrate", kRuntime, Rate, DFR_OPT_CLEANRATE},
    {"cpu", kRuntime, Cpu, DFR_OPT_CPU},
    {"bufresize", kRuntime, Resize, DFR_OPT_BUFRESIZE},
    {"grabanon", kRuntime, Flag, DFR_OPT_GRABANON},
    {"flowindent", kDynamic, Flag, DFR_OPT_FLOWINDENT},
    {"quiet", kDynamic, Flag, DFR_OPT_QUIET},
    {"stackframes", kRuntime, Flag, DFR_OPT_STACKFRAMES},
    {"ustackframes", kRuntime, Flag, DFR_OPT_USTACKFRAMES},
    {"aggrate", kDynamic, Rate, DFR_OPT_AGGRATE},
    {"switchrate", kDynamic, Rate, DFR_OPT_SWITCHRATE},
    {"statusrate", kRuntime, Rate, DFR_OPT_STATUSRATE},
    {"destructive", kRuntime, Flag, DFR_OPT_DESTRUCTIVE},
    {"stackindent", kDynamic, Flag, DFR_OPT_STACKINDENT},
    {"rawbytes", kDynamic, Flag, DFR_OPT_RAWBYTES},
    {"jstackframes", kRuntime, Flag, DFR_OPT_JSTACKFRAMES},
    {"jstackstrsize", kRuntime, Size, DFR_OPT_JSTACKSTRSIZE},
    {"aggsortkey", kDynamic, Flag, DFR_OPT_AGGSORTKEY},
    {"aggsortrev", kDynamic, Flag, DFR_OPT_AGGSORTREV},
    {"aggsortpos", kDynamic, Flag, DFR_OPT_AGGSORTPOS},
    {"aggsortkeypos", kDynamic, Flag, DFR_OPT_AGGSORTKEYPOS},
    {"temporal", kRuntime, Flag, DFR_OPT_TEMPORAL},
    {"agghist", kDynamic, Flag, DFR_OPT_AGGHIST},
    {"aggpack", kDynamic, Flag, DFR_OPT_AGGPACK},
    {"aggzoom", kDynamic, Flag, DFR_OPT_AGGZOOM},
    {"zone", kRuntime, Text, kNoOptionNumber},
    {"specpool", kRuntime, Size, DFR_OPT_SPECPOOL},
    {"scratchsize", kRuntime, Size, DFR_OPT_SCRATCHSIZE},
    {"cpubudget", kRuntime, Flag, DFR_OPT_CPUBUDGET},
    {"aggevict", kRuntime, Flag, DFR_OPT_AGGEVICT},
    {"blocksize", kRuntime, Size, DFR_OPT_BLOCKSIZE},
    {"jit", kRuntime, Flag, DFR_OPT_JIT},
    {"syscallhook", kRuntime, Hook, DFR_OPT_SYSCALLHOOK},
    {"memory", kRuntime, Memory, DFR_OPT_MEMORY},
    // The compiler's own, and the front end's.
    {"aggpercpu", kCompile, Flag, kNoOptionNumber},
    {"bpflog", kRuntime, Flag, kNoOptionNumber},
    {"bpflogsize", kRuntime, Size, kNoOptionNumber},
    {"dofstashpath", kCompile, Text, kNoOptionNumber},
    {"linknommap", kCompile, Flag, kNoOptionNumber},
    {"lockmem", kRuntime, Size, kNoOptionNumber},
    {"preallocate", kCompile, Size, kNoOptionNumber},
    {"sysslice", kCompile, Text, kNoOptionNumber},
    {"useruid", kCompile, Flag, kNoOptionNumber},
    {"amin", kCompile, Text, kNoOptionNumber},
    {"argref", kCompile, Flag, kNoOptionNumber},
    {"core", kCompile, Flag, kNoOptionNumber},
    {"cpp", kCompile, Flag, kNoOptionNumber},
    {"cppargs", kCompile, Text, kNoOptionNumber},
    {"cpphdrs", kCompile, Flag, kNoOptionNumber},
    {"cpppath", kCompile, Text, kNoOptionNumber},
    {"ctfpath", kCompile, Text, kNoOptionNumber},
    {"ctypes", kCompile, Text, kNoOptionNumber},
    {"debug", kCompile, Flag, kNoOptionNumber},
    {"defaultargs", kCompile, Flag, kNoOptionNumber},
    {"define", kCompile, Text, kNoOptionNumber},
    {"disasm", kCompile, Flag, kNoOptionNumber},
    {"droptags", kCompile, Flag, DFR_OPT_DROPTAGS},
    {"dtypes", kCompile, Text, kNoOptionNumber},
    {"empty", kCompile, Flag, kNoOptionNumber},
    {"encoding", kCompile, Encoding, DFR_OPT_ENCODING},
    {"engine", kCompile, Text, kNoOptionNumber},
    {"errtags", kCompile, Flag, kNoOptionNumber},
    {"evaltime", kCompile, Text, kNoOptionNumber},
    {"incdir", kCompile, Text, kNoOptionNumber},
    {"iregs", kCompile, Flag, kNoOptionNumber},
    {"kdefs", kCompile, Flag, kNoOptionNumber},
    {"knodefs", kCompile, Flag, kNoOptionNumber},
    {"late", kCompile, Text, kNoOptionNumber},
    {"lazyload", kCompile, Flag, kNoOptionNumber},
    {"ldpath", kCompile, Text, kNoOptionNumber},
    {"libdir", kCompile, Text, kNoOptionNumber},
    {"linkmode", kCompile, Text, kNoOptionNumber},
    {"linktype", kCompile, Text, kNoOptionNumber},
    {"maxframes", kRuntime, Flag, kNoOptionNumber},
    {"modpath", kCompile, Text, kNoOptionNumber},
    {"nolibs", kCompile, Flag, kNoOptionNumber},
    {"noresolve", kDynamic, Flag, DFR_OPT_NORESOLVE},
    {"pcapsize", kRuntime, Size, kNoOptionNumber},
    {"pgmax", kCompile, Flag, kNoOptionNumber},
    {"printsize", kRuntime, Size, kNoOptionNumber},
    {"procfspath", kCompile, Text, kNoOptionNumber},
    {"pspec", kCompile, Flag, kNoOptionNumber},
    {"quietresize", kDynamic, Flag, kNoOptionNumber},
    {"setenv", kCompile, Text, kNoOptionNumber},
    {"stdc", kCompile, Text, kNoOptionNumber},
    {"strip", kCompile, Flag, kNoOptionNumber},
    {"syslibdir", kCompile, Text, kNoOptionNumber},
    {"tree", kCompile, Flag, kNoOptionNumber},
    {"tregs", kCompile, Flag, kNoOptionNumber},
    {"udefs", kCompile, Flag, kNoOptionNumber},
    {"undef", kCompile, Text, kNoOptionNumber},
    {"unodefs", kCompile, Flag, kNoOptionNumber},
    {"unsetenv", kCompile, Text, kNoOptionNumber},
    {"verbose", kCompile, Flag, kNoOptionNumber},
    {"version", kCompile, Text, kNoOptionNumber},
    {"zdefs", kCompile, Flag, kNoOptionNumber},
};

std::string lower(std::string_view text) {
	std::string out(text);
	for (char& c : out) {
		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
	}
	return out;
}

// The number in front; `rest` is what follows it.
std::optional<uint64_t> leading_number(const std::string& text, std::string* rest) {
	if (text.empty() || text[0] < '0' || text[0] > '9')
		return std::nullopt;
	char* end = nullptr;
	errno = 0;
	const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
	if (errno)
		return std::nullopt;
	*rest = end;
	return value;
}

std::optional<int64_t> scaled(uint64_t value, uint64_t unit) {
	if (unit && value > static_cast<uint64_t>(INT64_MAX) / unit)
		return std::nullopt;
	return static_cast<int64_t>(value * unit);
}

std::optional<int64_t> size_value(const std::string& text) {
	std::string rest;
	const auto number = leading_number(text, &rest);
	if (!number)
		return std::nullopt;
	if (rest.empty())
		return scaled(*number, 1);
	if (rest.size() != 1)
		return std::nullopt;
	switch (rest[0]) {
	case 'k': return scaled(*number, 1ULL << 10);
	case 'm': return scaled(*number, 1ULL << 20);
	case 'g': return scaled(*number, 1ULL << 30);
	case 't': return scaled(*number, 1ULL << 40);
	default: return std::nullopt;
	}
}

struct RateUnit {
	std::string_view name;
	uint64_t nanoseconds;
};

constexpr RateUnit kRates[] = {
    {"ns", 1},
    {"nsec", 1},
    {"us", 1000},
    {"usec", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"m", 60000000000},
    {"min", 60000000000},
    {"h", 3600000000000},
    {"hour", 3600000000000},
    {"d", 86400000000000},
    {"day", 86400000000000},
    {"", 1},
};

std::optional<int64_t> rate_value(const std::string& text) {
	std::string rest;
	const auto number = leading_number(text, &rest);
	if (!number)
		return std::nullopt;
	if (rest == "hz")
		return *number ? static_cast<int64_t>(1000000000 / *number) : 0;
	for (const RateUnit& unit : kRates) {
		if (unit.name == rest)
			return scaled(*number, unit.nanoseconds);
	}
	return std::nullopt;
}

std::optional<int64_t> flag_value(const std::string& text) {
	for (const std::string_view yes : {"yes", "enable", "enabled", "true", "on", "set"}) {
		if (text == yes)
			return 0;
	}
	for (const std::string_view no : {"", "no", "disable", "disabled", "false", "off", "unset"}) {
		if (text == no)
			return DFR_OPT_UNSET;
	}
	std::string rest;
	const bool negative = text[0] == '-';
	const auto number = leading_number(negative ? text.substr(1) : text, &rest);
	if (!number || !rest.empty() || *number > INT64_MAX)
		return std::nullopt;
	return negative ? -static_cast<int64_t>(*number) : static_cast<int64_t>(*number);
}

} // namespace

const OptionInfo* find_option(std::string_view name) {
	for (const OptionInfo& one : kOptions) {
		if (one.name == name)
			return &one;
	}
	return nullptr;
}

std::vector<std::string_view> option_names() {
	std::vector<std::string_view> names;
	for (const OptionInfo& one : kOptions)
		names.push_back(one.name);
	return names;
}

std::vector<std::string_view> option_words(std::string_view name) {
	if (name == "evaltime")
		return {"exec", "preinit", "postinit", "main"};
	if (name == "linkmode")
		return {"kernel", "primary", "dynamic", "static"};
	if (name == "linktype")
		return {"elf", "dof"};
	if (name == "stdc")
		return {"a", "c", "s", "t"};
	return {};
}

std::optional<int64_t> parse_option(const OptionInfo& option, std::optional<std::string_view> value) {
	const std::string text = value ? lower(*value) : std::string();
	switch (option.unit) {
	case Flag:
		// The engine's numbers have no sign; what looks like DFR_OPT_UNSET is not meant so.
		if (option.number != kNoOptionNumber && text.starts_with('-'))
			return std::nullopt;
		return value ? flag_value(text) : std::optional<int64_t>(0);
	case Size: return size_value(text);
	case Rate: return rate_value(text);
	case Cpu: return text == "all" ? std::optional<int64_t>(DFR_OPT_UNSET) : size_value(text);
	case Policy:
		if (text == "ring")
			return DFR_BUFPOLICY_RING;
		if (text == "fill")
			return DFR_BUFPOLICY_FILL;
		if (text == "switch")
			return DFR_BUFPOLICY_SWITCH;
		return std::nullopt;
	case Resize:
		if (text == "auto" || text == "manual")
			return text == "manual";
		return std::nullopt;
	case Hook: // a call's own functions where possible, or what every call passes
		if (text == "function" || text == "tracepoint")
			return text == "tracepoint";
		return std::nullopt;
	case Memory: // that a warm reset leaves as it is
		if (text == "reserved")
			return DFR_MEMORY_RESERVED;
		return std::nullopt;
	case Encoding:
		if (text == "ascii" || text == "utf8")
			return text == "utf8" ? DFR_ENCODING_UTF8 : DFR_ENCODING_ASCII;
		return std::nullopt;
	default: return 0;
	}
}

} // namespace dfr::d
