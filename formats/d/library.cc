// SPDX-License-Identifier: GPL-2.0
//
// Library: the index is made by looking at what stands outside of braces, which
// is cheaper than to compile what may not be needed.
#include "formats/d/library.h"

#include <algorithm>
#include <dirent.h>
#include <utility>

#include "formats/d/parser.h"
#include "formats/d/sema.h"
#include "formats/error.h"
#include "formats/types/blob.h"

namespace dfr::d {
namespace {

// The last identifier of `text`.
std::string_view last_word(std::string_view text) {
	size_t end = text.size();
	while (end && !is_word(text[end - 1]))
		end--;
	size_t begin = end;
	while (begin && is_word(text[begin - 1]))
		begin--;
	return text.substr(begin, end - begin);
}

} // namespace

// What stands in front of a ; or { at the top level may define a name; so does what stands between } and ;.
void Library::index_head(std::string_view head, bool after_body, size_t file) {
	std::string_view name;
	if (head.starts_with("inline "))
		name = last_word(head.substr(0, head.find_first_of("=[")));
	else if (after_body || head.starts_with("typedef ") || head.starts_with("struct ") ||
	         head.starts_with("union ") || head.starts_with("enum "))
		name = last_word(head);
	if (!name.empty())
		entries_.push_back({name, file});
}

void Library::index_file(size_t number) {
	const std::string_view text = files_[number].text;
	unsigned depth = 0;
	size_t head = 0;
	bool after_body = false;
	const auto behind = [&](size_t from, std::string_view end) {
		return std::min(text.find(end, from), text.size()) + end.size();
	};
	for (size_t at = 0; at < text.size();) {
		const char c = text[at];
		const bool blank = head == at;
		if (text.substr(at, 2) == "/*")
			at = behind(at + 2, "*/");
		else if (c == '"')
			at = behind(at + 1, "\"");
		else if (c == '#' && (!at || text[at - 1] == '\n'))
			at = behind(at, "\n");
		else
			at++;
		if (c == '{' && depth++ == 0)
			index_head(text.substr(head, at - 1 - head), after_body, number);
		else if (c == '}' && depth)
			after_body = --depth == 0;
		else if (c == ';' && !depth)
			index_head(text.substr(head, at - 1 - head), std::exchange(after_body, false),
			           number);
		// A head starts behind what ends another, and behind blanks and comments.
		if (!depth && (c == '}' || c == ';' ||
		               (blank && std::string_view(" \t\n\r/#").find(c) != std::string_view::npos)))
			head = at;
	}
}

void Library::read_directory(const std::string& directory) {
	DIR* const handle = opendir(directory.c_str());
	if (!handle)
		throw Error::from_errno("cannot read the D library " + directory,
		                        "name a directory with *.d files, or drop -L");
	std::vector<std::string> names;
	while (const dirent* const entry = readdir(handle)) {
		const std::string_view name = entry->d_name;
		if (name.size() > 2 && name.ends_with(".d"))
			names.emplace_back(name);
	}
	closedir(handle);
	std::sort(names.begin(), names.end());
	for (const std::string& name : names) {
		const std::string path = directory + "/" + name;
		files_.push_back({path, std::string(types::Blob::from_file(path).text())});
	}
}

void Library::index() {
	indexed_ = true;
	if (compilation_.settings.no_library)
		return;
	for (const std::string& directory : compilation_.options.libraries)
		read_directory(directory);
	if (!compilation_.settings.system_library.empty())
		read_directory(compilation_.settings.system_library);
	for (const LibraryText* one = kLibraryTexts;
	     one->name && compilation_.settings.system_library.empty(); one++)
		files_.push_back({one->name, one->text});
	for (size_t i = 0; i < files_.size(); i++)
		index_file(i);
}

bool Library::has_file(std::string_view name) {
	if (!indexed_)
		index();
	return std::any_of(files_.begin(), files_.end(), [&](const LibraryFile& file) {
		return file.name == name || file.name.ends_with("/" + std::string(name));
	});
}

bool Library::provide(std::string_view name) {
	if (!indexed_)
		index();
	bool fresh = false;
	for (const LibraryEntry& entry : entries_) {
		if (entry.name != name || files_[entry.file].loaded)
			continue;
		load(files_[entry.file]);
		fresh = true;
	}
	return fresh;
}

void Library::load(LibraryFile& file) {
	file.loaded = true;
	const uint32_t source = compilation_.diagnostics.sources().add(file.name, file.text);
	const bool before = compilation_.in_library;
	compilation_.in_library = true;
	compilation_.skip_file = false;
	Parser parser(compilation_, sema_, source);
	for (;;) {
		Clause clause;
		const Parser::Item item = parser.next(clause);
		if (item == Parser::Item::End || compilation_.skip_file)
			break;
		if (item == Parser::Item::Clause)
			compilation_.error("D_SYNTAX", clause.place,
			                   "a D library may not contain probe clauses",
			                   "only declarations, inlines and translators");
	}
	compilation_.skip_file = false;
	compilation_.in_library = before;
}

} // namespace dfr::d
