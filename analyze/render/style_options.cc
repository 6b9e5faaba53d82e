// SPDX-License-Identifier: GPL-2.0
//
// The options that change what is printed, by name: -x, #pragma D option and
// setopt() all end here.
#include <cerrno>
#include <cstdlib>
#include <string>

#include "analyze/render/renderer.h"

namespace dfr::render {
namespace {

constexpr const char* kBad = "Invalid value for specified option";

struct Word {
	const char* text;
	bool on;
};
constexpr Word kWords[] = {{"yes", true},     {"no", false},       {"enable", true}, {"disable", false},
                           {"enabled", true}, {"disabled", false}, {"true", true},   {"false", false},
                           {"on", true},      {"off", false},      {"set", true},    {"unset", false}};

// A word, a number in C notation (which sets it, 0 too), or no value, which also sets it; an empty one unsets it.
std::string parse_flag(std::optional<std::string_view> value, bool& flag) {
	for (const Word& word : kWords) {
		if (value == word.text) {
			flag = word.on;
			return {};
		}
	}
	const std::string text(value.value_or("0"));
	char* end = nullptr;
	(void)std::strtoll(text.c_str(), &end, 0);
	if (*end != '\0')
		return kBad;
	flag = !text.empty();
	return {};
}

std::string parse_number(std::string_view value, unsigned& number) {
	const std::string text(value);
	char* end = nullptr;
	errno = 0;
	const long long parsed = std::strtoll(text.c_str(), &end, 0);
	if (text.empty() || *end != '\0' || errno != 0 || parsed < 0 || parsed > 0xffff)
		return kBad;
	number = static_cast<unsigned>(parsed);
	return {};
}

} // namespace

std::string Renderer::set_style(Style& style, std::string_view name, std::optional<std::string_view> value,
                                bool& known) {
	AggStyle& aggregations = style.aggregations;
	const struct {
		const char* name;
		bool* flag;
	} flags[] = {{"quiet", &style.quiet},
	             {"flowindent", &style.flowindent},
	             {"rawbytes", &style.rawbytes},
	             {"droptags", &style.droptags},
	             {"noresolve", &style.noresolve},
	             {"aggsortkey", &aggregations.sort.by_key},
	             {"aggsortrev", &aggregations.sort.reverse},
	             {"agghist", &aggregations.as_bars},
	             {"aggpack", &aggregations.packed},
	             {"aggzoom", &aggregations.histogram.zoom}};
	const struct {
		const char* name;
		unsigned* number;
	} numbers[] = {{"stackindent", &style.stackindent},
	               {"aggsortpos", &aggregations.sort.position},
	               {"aggsortkeypos", &aggregations.sort.key_position}};
	known = true;
	for (const auto& flag : flags)
		if (name == flag.name)
			return parse_flag(value, *flag.flag);
	for (const auto& number : numbers)
		if (name == number.name)
			return parse_number(value.value_or(""), *number.number);
	if (name == "encoding") {
		aggregations.histogram.cells = value == "utf8" ? CellText::kUtf8 : CellText::kAscii;
		return value == "utf8" || value == "ascii" ? "" : kBad;
	}
	known = false;
	return {};
}

} // namespace dfr::render
