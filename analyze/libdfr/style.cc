// SPDX-License-Identifier: GPL-2.0
//
// Options that reached the DOF, as style.
#include "analyze/libdfr/style.h"

#include <string>
#include <utility>

#include "formats/abi/dof.h"

namespace dfr::lib {
namespace {

struct Name {
	uint32_t option;
	const char* name;
};
constexpr Name kNames[] = {{DFR_OPT_QUIET, "quiet"},           {DFR_OPT_FLOWINDENT, "flowindent"},
                           {DFR_OPT_RAWBYTES, "rawbytes"},     {DFR_OPT_STACKINDENT, "stackindent"},
                           {DFR_OPT_AGGSORTKEY, "aggsortkey"}, {DFR_OPT_AGGSORTREV, "aggsortrev"},
                           {DFR_OPT_AGGSORTPOS, "aggsortpos"}, {DFR_OPT_AGGSORTKEYPOS, "aggsortkeypos"},
                           {DFR_OPT_AGGHIST, "agghist"},       {DFR_OPT_AGGPACK, "aggpack"},
                           {DFR_OPT_AGGZOOM, "aggzoom"},       {DFR_OPT_ENCODING, "encoding"},
                           {DFR_OPT_NORESOLVE, "noresolve"},   {DFR_OPT_DROPTAGS, "droptags"}};

// As set_style() takes it.
std::string text_of(const dof::Option& option) {
	if (option.option == DFR_OPT_ENCODING)
		return option.value == DFR_ENCODING_UTF8 ? "utf8" : "ascii";
	return std::to_string(option.value);
}

} // namespace

void apply_options(const dof::Image& image, render::Style& style) {
	bool known = false;
	for (const dof::Option& option : image.options)
		for (const Name& name : kNames)
			if (name.option == option.option && option.value != DFR_OPT_UNSET)
				render::Renderer::set_style(style, name.name, text_of(option), known);
}

void apply_options(const d::Compiled& compiled, render::Style& style) {
	apply_options(compiled.image, style);
	bool known = false;
	for (const auto& [name, value] : compiled.settings)
		render::Renderer::set_style(style, name, value, known);
}

std::vector<std::string> without_effect(const d::Compiled& compiled) {
	static constexpr std::pair<const char*, const char*> kWhy[] = {
	    {"ctypes", "this compiler writes no types"},
	    {"dtypes", "this compiler writes no types"},
	    {"evaltime", "tracing begins before the command does, with its exec"},
	    {"kdefs", "symbols are those of the kernel that the program is compiled for"},
	    {"knodefs", "symbols are those of the kernel that the program is compiled for"},
	    {"linkmode", "it belongs to -G, which is another command's (dtrace.systemtap)"},
	    {"linktype", "it belongs to -G, which is another command's (dtrace.systemtap)"},
	    {"udefs", "symbols of processes are not known to programs"},
	    {"unodefs", "symbols of processes are not known to programs"}};
	std::vector<std::string> all;
	for (const dof::Option& option : compiled.image.options)
		if (option.option == DFR_OPT_AGGEVICT)
			all.emplace_back("option aggevict has no effect: a table that is full loses keys, "
			                 "and counts them; "
			                 "give it room with -x aggsize");
	for (const auto& [name, value] : compiled.settings)
		for (const auto& [option, why] : kWhy)
			if (name == option && !(name == "evaltime" && value == "exec"))
				all.push_back("option " + name + " has no effect: " + why);
	return all;
}

std::string go_reason(const Error& error) {
	switch (error.code()) {
	case EACCES: return "Destructive actions not allowed";
	case EALREADY: return "Can't claim anonymous state and enable probes";
	case ENOENT: return "No anonymous tracing state";
	case E2BIG: return "END enablings exceed size of principal buffer";
	case ENOSPC: return "Enabling exceeds size of buffer";
	case EBUSY: return "DTrace cannot be used when kernel debugger is active";
	default: return error.what();
	}
}

} // namespace dfr::lib
