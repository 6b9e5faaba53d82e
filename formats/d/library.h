// SPDX-License-Identifier: GPL-2.0
//
// The D library: constants, types and translators that programs find defined.
// Its texts (formats/d/lib/*.d, built in, and a directory's *.d) are only
// indexed by name; a file is compiled when the program first uses a name of
// it. So a program pays for what it uses, and order needs no depends_on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/d/compilation.h"

namespace dfr::d {

class Sema;

class Library {
public:
	Library(Compilation& compilation, Sema& sema) : compilation_(compilation), sema_(sema) {
		compilation.has_library_file = [this](std::string_view name) { return has_file(name); };
		compilation.provide = [this](std::string_view name) { return provide(name); };
		compilation.types.set_provider(compilation.provide);
	}

private:
	bool provide(std::string_view name);
	bool has_file(std::string_view name);
	struct LibraryFile {
		std::string name;
		std::string text;
		bool loaded = false;
	};
	struct LibraryEntry {
		std::string_view name; // in a File's text
		size_t file;
	};
	void index();
	void index_file(size_t number);
	void index_head(std::string_view head, bool after_body, size_t file);
	void read_directory(const std::string& directory);
	void load(LibraryFile& file);

	Compilation& compilation_;
	Sema& sema_;
	bool indexed_ = false;
	std::deque<LibraryFile> files_;
	std::vector<LibraryEntry> entries_;
};

struct LibraryText {
	const char* name;
	const char* text;
};
// The built-in files; ends with a null name. Generated from formats/d/lib.
extern const LibraryText kLibraryTexts[];
// The programs of profiles, by the profile's name; the same. They are no part of the library.
extern const LibraryText kProfileTexts[];
// The boot programs that come with dfr, by name; the same.
extern const LibraryText kBootTexts[];

} // namespace dfr::d
