// SPDX-License-Identifier: GPL-2.0
//
// What a compilation is given besides source and target, and what comes of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/dof/image.h"
#include "formats/types/types.h"

namespace dfr::d {

// How a description with fewer colons is read: -n, -f, -m, -P, -i.
enum class Specifier : uint8_t { Name, Function, Module, Provider, Id };

struct CompileOptions {
	std::string name; // of the source: a file, or what the command line says
	Specifier specifier = Specifier::Name;
	bool braces_optional = false; // on the command line a description alone is a clause
	bool zdefs = false;           // -Z
	bool empty_ok = false;        // -x empty
	bool default_args = false;    // -x defaultargs
	bool arg_ref = false;         // -x argref: unused arguments are fine
	// "bufsize=1m", "quiet": as -x gives them, in order.
	std::vector<std::string> options;
	std::string program;                                      // $0
	std::vector<std::string> arguments;                       // $1...
	std::vector<std::pair<std::string, std::string>> session; // {"pid", "12"}, {"target", "13"}
	// The C preprocessor (-C); its arguments besides the input, and what it is ("--cpp=PATH").
	bool preprocess = false;
	std::vector<std::string> cpp_arguments;
	std::vector<std::string> libraries; // -L: directories of *.d files, besides the built-in library
	bool line_table = true;
};

struct Compiled {
	dof::Image image;
	// Replay: canonical texts of the inputs that DIF_VAR_CAPTURED[i] stands for.
	std::vector<std::string> captured;
	// By the image's body: which of them, that not every firing has, it does not run without.
	std::map<size_t, std::set<uint64_t>> needed;
	bool destructive = false; // uses what needs -w
	// Options that are not in the DOF (compile-time, or text), as name and value.
	std::vector<std::pair<std::string, std::optional<std::string>>> settings;
	std::string tree; // -x tree
	// Lowest stability of what the program names: for -v.
	std::string attributes;
	// Types of the kernel whose size or layout the program depends on.
	std::unordered_set<types::TypeRef> kernel_types;
};

} // namespace dfr::d
