// SPDX-License-Identifier: GPL-2.0
//
// Library: the index is made by looking at how lines begin, since definitions
// at the top level start in the first column.
#include "formats/d/library.h"

#include <algorithm>
#include <dirent.h>

#include "formats/d/parser.h"
#include "formats/d/sema.h"
#include "formats/error.h"
#include "formats/types/blob.h"

namespace dfr::d {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

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

void Library::index_file(size_t number) {
	const std::string_view text = files_[number].text;
	for (size_t at = 0; at < text.size();) {
		const size_t end = std::min(text.find('\n', at), text.size());
		const std::string_view line = text.substr(at, end - at);
		std::string_view name;
		if (line.starts_with("inline "))
			name = last_word(line.substr(0, line.find_first_of("=[")));
		else if (line.starts_with("typedef ") || line.starts_with("struct ") || line.starts_with("union ") || line.starts_with("enum "))
			name = last_word(line.substr(0, line.find_first_of(";{")));
		else if (line.starts_with("} "))
			name = last_word(line);
		if (!name.empty())
			entries_.push_back({name, number});
		at = end + 1;
	}
}

void Library::read_directory(const std::string& directory) {
	DIR* const handle = opendir(directory.c_str());
	if (!handle)
		throw Error::from_errno("cannot read the D library " + directory, "name a directory with *.d files, or drop -L");
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
	if (context_.settings.no_library)
		return;
	for (const std::string& directory : context_.options.libraries)
		read_directory(directory);
	if (!context_.settings.system_library.empty())
		read_directory(context_.settings.system_library);
	for (const LibraryText* one = kLibraryTexts; one->name && context_.settings.system_library.empty(); one++)
		files_.push_back({one->name, one->text});
	for (size_t i = 0; i < files_.size(); i++)
		index_file(i);
}

bool Library::has_file(std::string_view name) {
	if (!indexed_)
		index();
	return std::any_of(files_.begin(), files_.end(), [&](const File& file) { return file.name == name || file.name.ends_with("/" + std::string(name)); });
}

bool Library::provide(std::string_view name) {
	if (!indexed_)
		index();
	bool fresh = false;
	for (const Entry& entry : entries_) {
		if (entry.name != name || files_[entry.file].loaded)
			continue;
		load(files_[entry.file]);
		fresh = true;
	}
	return fresh;
}

void Library::load(File& file) {
	file.loaded = true;
	const uint32_t source = context_.diagnostics.sources().add(file.name, file.text);
	const bool before = context_.in_library;
	context_.in_library = true;
	context_.skip_file = false;
	Parser parser(context_, sema_, source);
	for (;;) {
		Clause clause;
		const Parser::Item item = parser.next(clause);
		if (item == Parser::Item::End || context_.skip_file)
			break;
		if (item == Parser::Item::Clause)
			context_.error("D_SYNTAX", clause.place, "a D library may not contain probe clauses", "only declarations, inlines and translators");
	}
	context_.skip_file = false;
	context_.in_library = before;
}

} // namespace dfr::d
