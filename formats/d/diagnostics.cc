// SPDX-License-Identifier: GPL-2.0
//
// Diagnostics: finding line and column, and the two ways to print a message.
#include "formats/d/diagnostics.h"

#include <algorithm>

#include "formats/shown.h"

namespace dfr::d {

constexpr size_t kLineShown = 300;
constexpr size_t kMostErrors = 100;

// The source is UTF-8: the bytes that continue a character are no column of their own.
static bool starts_character(char byte) {
	return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// How many cells a terminal gives to the character that the text begins with.
static unsigned cells(std::string_view text) {
	struct Range {
		uint32_t first, last;
	};
	static constexpr Range kNone[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}};
	static constexpr Range kTwo[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
	                                 {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff01, 0xff60},
	                                 {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
	const auto lead = static_cast<unsigned char>(text[0]);
	uint32_t code = lead < 0xc0 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0xf : lead & 7;
	for (size_t i = 1; i < text.size() && !starts_character(text[i]); i++)
		code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
	const auto in = [code](Range range) { return code >= range.first && code <= range.last; };
	return std::any_of(std::begin(kNone), std::end(kNone), in) ? 0
	       : std::any_of(std::begin(kTwo), std::end(kTwo), in) ? 2
	                                                           : 1;
}

uint32_t Sources::add(std::string name, std::string text) {
	sources_.push_back({std::move(name), std::move(text), {}});
	return sources_.size() - 1;
}

void Sources::mark(Place at, std::string file, uint32_t line, bool foreign) {
	Source& source = sources_[at.source];
	// Backtracking parsers read a line more than once.
	if (!source.marks.empty() && source.marks.back().offset >= at.offset)
		return;
	if (file.empty() && !source.marks.empty())
		file = source.marks.back().file;
	source.marks.push_back({at.offset, std::move(file), line, foreign});
}

const Sources::Mark* Sources::last_mark(const Source& source, uint32_t offset) {
	const auto after = std::upper_bound(source.marks.begin(), source.marks.end(), offset,
	                                    [](uint32_t at, const Mark& mark) { return at < mark.offset; });
	return after == source.marks.begin() ? nullptr : &*(after - 1);
}

bool Sources::foreign(Place place) const {
	const Mark* const mark = last_mark(sources_[place.source], place.offset);
	return mark && mark->foreign;
}

uint32_t Sources::newlines_before(const Source& source, uint32_t offset) {
	if (source.newlines.empty()) {
		for (size_t at = source.text.find('\n'); at != std::string::npos;
		     at = source.text.find('\n', at + 1))
			source.newlines.push_back(at);
	}
	return std::lower_bound(source.newlines.begin(), source.newlines.end(), offset) -
	       source.newlines.begin();
}

Location Sources::locate(Place place) const {
	if (place.source >= sources_.size())
		return {};
	const Source& source = sources_[place.source];
	const std::string_view text = source.text;
	const uint32_t offset = std::min<uint32_t>(place.offset, text.size());

	Location where{source.name, 1, 1};
	uint32_t from = 0;
	if (const Mark* const mark = last_mark(source, offset)) {
		from = mark->offset;
		where.line = mark->line;
		if (!mark->file.empty())
			where.file = mark->file;
	}
	where.line += newlines_before(source, offset) - newlines_before(source, from);
	for (size_t i = offset - offset_in_line(place); i < offset; i++)
		where.column += starts_character(text[i]);
	return where;
}

size_t Sources::offset_in_line(Place place) const {
	if (place.source >= sources_.size())
		return 0;
	const std::string_view text = sources_[place.source].text;
	const size_t offset = std::min<size_t>(place.offset, text.size());
	const size_t newline = offset ? text.rfind('\n', offset - 1) : std::string_view::npos;
	return newline == std::string_view::npos ? offset : offset - newline - 1;
}

std::string_view Sources::line_text(Place place) const {
	if (place.source >= sources_.size())
		return {};
	const std::string_view text = sources_[place.source].text;
	const size_t begin = std::min<size_t>(place.offset, text.size()) - offset_in_line(place);
	return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

void Diagnostics::error(std::string_view tag, Place place, std::string message, std::string hint) {
	// One fault seen twice (a token read again, an inline expanded again) is one.
	const size_t recent = all_.size() > 64 ? all_.size() - 64 : 0;
	for (size_t i = recent; i < all_.size(); i++) {
		if (all_[i].place == place && all_[i].message == message)
			return;
	}
	// What D has not in a header of the system's is no error in the end.
	const bool many = errors_ >= kMostErrors && limited_ && !sources_.foreign(place);
	if (many) {
		tag = "D_ERR_MANY";
		message = "too many errors";
		hint = "mend the first ones, which may have made the others";
	}
	all_.push_back(
	    {Severity::Error, std::string(tag), place, std::move(message), std::move(hint), region_});
	errors_++;
	if (many)
		throw TooManyErrors{};
}

void Diagnostics::warning(std::string_view tag, Place place, std::string message, std::string hint) {
	all_.push_back(
	    {Severity::Warning, std::string(tag), place, std::move(message), std::move(hint), region_});
}

void Diagnostics::put_first(size_t to, size_t since) {
	const auto begin = all_.begin();
	std::rotate(begin + static_cast<long>(to), begin + static_cast<long>(since), all_.end());
}

void Diagnostics::move(size_t since, Place place, const std::string& prefix) {
	for (size_t i = since; i < all_.size(); i++) {
		all_[i].place = place;
		all_[i].message.insert(0, prefix);
		all_[i].region = region_;
	}
}

void Diagnostics::truncate(size_t count) {
	while (all_.size() > count) {
		errors_ -= all_.back().severity == Severity::Error;
		all_.pop_back();
	}
}

// What dtrace prints in several lines.
static std::string in_one_line(std::string message) {
	for (size_t at = 0; (at = message.find('\n', at)) != std::string::npos;) {
		const size_t next = std::min(message.find_first_not_of("\t ", at + 1), message.size());
		message.replace(at, next - at, "; ");
	}
	return message;
}

std::string Diagnostics::render(bool tags) const {
	std::string out;
	for (const Diagnostic& one : all_) {
		const Location at = sources_.locate(one.place);
		out.append(harmless(at.file)).append(":").append(std::to_string(at.line));
		out.append(":").append(std::to_string(at.column));
		out.append(one.severity == Severity::Error ? ": error: " : ": warning: ")
		    .append(harmless(in_one_line(one.message)));
		if (tags && !one.tag.empty())
			out.append(" [").append(one.tag).append("]");
		const std::string_view whole = sources_.line_text(one.place);
		const size_t caret = sources_.offset_in_line(one.place);
		// Of a long line the part around the caret: a line of errors would be shown as often as it has some.
		size_t from =
		    whole.size() > kLineShown && caret >= kLineShown / 2 ? caret + 1 - kLineShown / 2 : 0;
		while (from < caret && !starts_character(whole[from]))
			from++;
		size_t to = std::min(whole.size(), from + kLineShown);
		while (to < whole.size() && to > from && !starts_character(whole[to]))
			to--;
		const std::string_view line = whole.substr(from, to - from);
		// Tabs stay tabs, so the caret stands where the line puts the column.
		std::string before;
		out.append("\n    ");
		for (size_t i = 0; i < line.size();) {
			const Utf8Step step = utf8_step(line.substr(i));
			const std::string_view one_character = line.substr(i, step.bytes);
			const std::string text =
			    line[i] == '\t' ? std::string("\t") : harmless(one_character);
			if (from + i < caret)
				before.append(step.printed || line[i] == '\t' ? cells(one_character)
				                                              : text.size(),
				              line[i] == '\t' ? '\t' : ' ');
			out.append(text);
			i += step.bytes;
		}
		out.append("\n    ").append(before).append("^\n");
		if (!one.hint.empty())
			out.append("    ").append(harmless(one.hint)).append("\n");
	}
	return out;
}

std::string Diagnostics::classic(bool tags, uint32_t program, bool command_line) const {
	for (const Diagnostic& one : all_) {
		if (one.severity != Severity::Error)
			continue;
		const Location at = sources_.locate(one.place);
		std::string out;
		if (tags && !one.tag.empty())
			out.append("[").append(one.tag).append("] ");
		if (command_line && one.place.source == program)
			return out.append(one.region.empty() ? "" : "in ")
			    .append(one.region)
			    .append(one.region.empty() ? "" : ": ")
			    .append(one.message);
		if (one.place.source != program || at.file != sources_.name(program))
			out.append("\"").append(at.file).append("\", ");
		return out.append("line ").append(std::to_string(at.line)).append(": ").append(one.message);
	}
	return {};
}

} // namespace dfr::d
