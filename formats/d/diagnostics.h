// SPDX-License-Identifier: GPL-2.0
//
// Places in D source, and what is wrong there. Diagnostics owns the texts that
// were compiled (program, libraries, what a macro argument holds), so that a
// message can show its line long after the compiler has gone. It collects: the
// compiler goes on after an error, up to 100, and the caller prints all of them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dfr::d {

// A byte of a source. Line and column are computed when somebody asks.
struct Place {
	uint32_t source = 0;
	uint32_t offset = 0;

	bool operator==(const Place&) const = default;
};

struct Location {
	std::string_view file;
	uint32_t line = 0;
	uint32_t column = 0; // from 1, in characters
};

class Sources {
public:
	uint32_t add(std::string name, std::string text);
	std::string_view text(uint32_t source) const { return sources_[source].text; }
	std::string_view name(uint32_t source) const { return sources_[source].name; }
	// What follows `at` is line `line` of `file` ("" keeps the name): #line.
	// `foreign`: of a header of the system's, as cpp says.
	void mark(Place at, std::string file, uint32_t line, bool foreign = false);
	bool foreign(Place place) const;

	Location locate(Place place) const;
	std::string_view line_text(Place place) const;
	size_t offset_in_line(Place place) const; // in bytes

private:
	struct Mark {
		uint32_t offset;
		std::string file;
		uint32_t line;
		bool foreign;
	};
	struct Source {
		std::string name, text;
		std::vector<Mark> marks;
		mutable std::vector<uint32_t> newlines; // offsets, once somebody asked
	};
	static const Mark* last_mark(const Source& source, uint32_t offset);
	static uint32_t newlines_before(const Source& source, uint32_t offset);
	std::deque<Source> sources_;
};

enum class Severity : uint8_t { Error, Warning };

struct Diagnostic {
	Severity severity = Severity::Error;
	std::string tag; // "D_SYNTAX"
	Place place;
	std::string message;
	std::string hint;        // what to do next; may be empty
	std::string_view region; // "predicate", "action list" or nothing
};

// Behind the hundredth error: nobody reads more, and each may cost a search for what was meant.
struct TooManyErrors {};

class Diagnostics {
public:
	Sources& sources() { return sources_; }
	const Sources& sources() const { return sources_; }

	// Throws TooManyErrors, unless limit(false) was said: what is tried may have as many as it likes.
	void limit(bool limited) { limited_ = limited; }
	void error(std::string_view tag, Place place, std::string message, std::string hint = {});
	void warning(std::string_view tag, Place place, std::string message, std::string hint = {});

	const std::vector<Diagnostic>& all() const { return all_; }
	size_t errors() const { return errors_; }
	bool failed() const { return errors_ != 0; }
	// Which part of a clause is at work, for classic(); a literal.
	void set_region(std::string_view region) { region_ = region; }

	// What was said since there were `since` goes in front of what was said since there were `to`, which stands
	// behind it in the text.
	void put_first(size_t to, size_t since);

	// What was said since there were `since` belongs to that place: it is about a name of the library's there.
	void move(size_t since, Place place, const std::string& prefix);

	// Forgets what was said since there were `count`: a trial that is not meant.
	void truncate(size_t count);

	// Every diagnostic: "file:line:column: error: text [D_TAG]", the source
	// line, a caret, and the hint.
	std::string render(bool tags) const;
	// The first error as dtrace(1) words it: "line 3: text", with errtags
	// "[D_SYNTAX] line 3: text"; in a file other than `program` (a library)
	// "\"path\", line 3: text"; on a command line, where lines say nothing,
	// "in action list: text".
	std::string classic(bool tags, uint32_t program = 0, bool command_line = false) const;

private:
	Sources sources_;
	std::vector<Diagnostic> all_;
	size_t errors_ = 0;
	bool limited_ = true;
	std::string_view region_;
};

} // namespace dfr::d
