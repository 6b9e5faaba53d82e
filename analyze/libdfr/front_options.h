// SPDX-License-Identifier: GPL-2.0
//
// What the options of a session (-x of the command) mean to the front end. Those
// that are the compiler's or the engine's are passed on as they are; they are
// told apart here and nowhere else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/libdfr/backend.h"
#include "analyze/render/renderer.h"
#include "formats/d/compile.h"

namespace dfr::lib {

class FrontOptions {
public:
	// Throws dfr::Error for a value that the option does not take.
	void set(const std::string& name, const std::optional<std::string>& value);
	// DTRACE_OPT_STRSIZE=512 is strsize=512; _DTRACE_TESTING takes the columns away.
	void take_environment();
	// Options of the program itself, once it is compiled.
	void apply(const d::Compiled& compiled);
	void add_to(d::CompileOptions& options) const;
	// A flag, as it stands now; false for a name that is none.
	bool is_set(const std::string& name) const;

	EngineChoice engine = EngineChoice::Automatic;
	render::Style style;
	bool claim = false; // grabanon
	bool errtags = false;
	bool zdefs = false;

private:
	bool set_flag(const std::string& name, const std::optional<std::string>& value);
	bool set_preprocessor(const std::string& name, const std::string& value);
	bool set_own(const std::string& name, const std::string& value);

	bool listing_ = false; // verbose
	bool destructive_ = false;
	bool preprocess_ = false, list_headers_ = false;
	std::string stdc_ = "a";
	std::vector<std::string> cpp_, libraries_, compiler_;
};

} // namespace dfr::lib
