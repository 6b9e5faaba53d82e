// SPDX-License-Identifier: GPL-2.0
//
// The front end's own options.
#include "analyze/libdfr/front_options.h"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <unistd.h>

#include "analyze/libdfr/style.h"
#include "formats/abi/dof.h"
#include "formats/d/options.h"
#include "formats/error.h"

namespace dfr::lib {

bool FrontOptions::set_flag(const std::string& name, const std::optional<std::string>& value) {
	const struct {
		const char* name;
		bool* flag;
	} flags[] = {{"errtags", &errtags}, {"droptags", &style.droptags}, {"verbose", &listing_},
	             {"zdefs", &zdefs},     {"cpp", &preprocess_},         {"cpphdrs", &list_headers_},
	             {"grabanon", &claim}};
	for (const auto& one : flags) {
		if (name != one.name)
			continue;
		const auto number = d::parse_option(*d::find_option(name), value);
		if (!number)
			throw Error("failed to set -x " + name + ": Invalid value for specified option",
			            "a number, on or off");
		*one.flag = *number != DFR_OPT_UNSET;
		return true;
	}
	return false;
}

bool FrontOptions::set_preprocessor(const std::string& name, const std::string& value) {
	static constexpr std::pair<const char*, const char*> kLetters[] = {
	    {"define", "-D"}, {"undef", "-U"}, {"incdir", "-I"}, {"cpppath", "--cpp="}};
	for (const auto& [option, letters] : kLetters) {
		if (name == option) {
			cpp_.push_back(letters + value);
			return true;
		}
	}
	if (name != "cppargs")
		return false;
	std::istringstream words(value);
	for (std::string word; words >> word;)
		cpp_.push_back(word);
	return true;
}

bool FrontOptions::set_own(const std::string& name, const std::string& value) {
	const size_t equals = value.find('=');
	if (name == "engine")
		engine = parse_engine(value);
	else if (name == "libdir")
		libraries_.push_back(value);
	else if (name == "setenv")
		::setenv(value.substr(0, equals).c_str(),
		         equals == std::string::npos ? "" : value.substr(equals + 1).c_str(), 1);
	else if (name == "unsetenv")
		::unsetenv(value.c_str());
	else
		return false;
	return true;
}

void FrontOptions::set(const std::string& name, const std::optional<std::string>& value) {
	const std::string text = value.value_or("");
	if (set_flag(name, value) || set_preprocessor(name, text) || set_own(name, text))
		return;
	bool known = false;
	const std::string why = render::Renderer::set_style(style, name, value, known);
	if (!why.empty())
		throw Error("failed to set -x " + name + ": " + why);
	if (name == "stdc")
		stdc_ = text;
	if (name == "destructive") // a value that is none is the compiler's to refuse
		destructive_ = d::parse_option(*d::find_option(name), value).value_or(0) != DFR_OPT_UNSET;
	compiler_.push_back(value ? name + "=" + text : name);
}

void FrontOptions::take_environment() {
	static constexpr char kPrefix[] = "DTRACE_OPT_";
	std::vector<std::string> given; // all before the first is set: setenv is an option, too
	for (char** at = environ; at && *at; at++)
		if (std::strncmp(*at, kPrefix, sizeof kPrefix - 1) == 0)
			given.emplace_back(*at + sizeof kPrefix - 1);
	for (const std::string& text : given) {
		const size_t equals = text.find('=');
		std::string name = text.substr(0, equals);
		for (char& c : name)
			c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
		if (!d::find_option(name)) // it may be meant for another DTrace
			continue;
		set(name,
		    equals == std::string::npos ? std::nullopt : std::optional(text.substr(equals + 1)));
	}
	style.testing = std::getenv("_DTRACE_TESTING") != nullptr;
}

void FrontOptions::apply(const d::Compiled& compiled) {
	apply_options(compiled, style);
	for (const auto& [option, value] : compiled.settings)
		zdefs |= option == "zdefs";
}

void FrontOptions::add_to(d::CompileOptions& options) const {
	options.options = compiler_;
	options.zdefs = zdefs;
	options.preprocess = preprocess_;
	options.cpp_arguments = cpp_;
	if (list_headers_)
		options.cpp_arguments.emplace_back("-H");
	if (stdc_ == "s" || stdc_ == "t")
		options.cpp_arguments.emplace_back("-traditional-cpp");
	options.cpp_arguments.emplace_back("-U__STDC__");
	if (stdc_ != "s")
		options.cpp_arguments.emplace_back(stdc_ == "c" ? "-D__STDC__=1" : "-D__STDC__=0");
	options.libraries = libraries_;
}

bool FrontOptions::is_set(const std::string& name) const {
	const std::pair<const char*, bool> flags[] = {{"destructive", destructive_}, {"errtags", errtags},
	                                              {"grabanon", claim},           {"quiet", style.quiet},
	                                              {"verbose", listing_},         {"zdefs", zdefs}};
	for (const auto& [flag, value] : flags)
		if (name == flag)
			return value;
	return false;
}

} // namespace dfr::lib
