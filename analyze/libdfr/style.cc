// SPDX-License-Identifier: GPL-2.0
//
// Options that reached the DOF, as style.
#include "analyze/libdfr/style.h"

#include "formats/abi/dof.h"

namespace dfr::lib {
namespace {

struct Name {
	uint32_t option;
	const char* name;
};
constexpr Name kNames[] = {{DFR_OPT_QUIET, "quiet"},	       {DFR_OPT_FLOWINDENT, "flowindent"},
			   {DFR_OPT_RAWBYTES, "rawbytes"},     {DFR_OPT_STACKINDENT, "stackindent"},
			   {DFR_OPT_AGGSORTKEY, "aggsortkey"}, {DFR_OPT_AGGSORTREV, "aggsortrev"},
			   {DFR_OPT_AGGSORTPOS, "aggsortpos"}, {DFR_OPT_AGGSORTKEYPOS, "aggsortkeypos"},
			   {DFR_OPT_AGGHIST, "agghist"},       {DFR_OPT_AGGPACK, "aggpack"},
			   {DFR_OPT_AGGZOOM, "aggzoom"}};

} // namespace

void apply_options(const dof::Image& image, render::Style& style) {
	bool known = false;
	for (const dof::Option& option : image.options)
		for (const Name& name : kNames)
			if (name.option == option.option && option.value != DFR_OPT_UNSET)
				render::Renderer::set_style(style, name.name, std::to_string(option.value), known);
}

void apply_options(const d::Compiled& compiled, render::Style& style) {
	apply_options(compiled.image, style);
	bool known = false;
	for (const auto& [name, value] : compiled.settings)
		render::Renderer::set_style(style, name, value, known);
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
