// SPDX-License-Identifier: GPL-2.0
//
// Reading them.
#include "recorder/daemon_options.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "formats/error.h"

namespace dfr::recorder {
namespace {

constexpr size_t kConfigurationMost = 1 << 20;

// Where the options that are being read stand.
enum class Origin { kForAll, kSection, kCommandLine };

struct DaemonOption;

struct Reading {
	DaemonOptions options;
	Origin origin = Origin::kForAll;
	std::vector<std::pair<const DaemonOption*, std::string>> of_section; // and where each stands
	Origin retained =
	    Origin::kForAll; // where the bounds of `retain` come from, which add up in one place
	std::string bounded; // where the last `retain` or `free` stands
};

using Reader = bool (*)(Reading&, const std::string&); // false: the value makes no sense

bool read_seconds(const std::string& text, std::chrono::seconds& into, bool none = false) {
	uint64_t number = 0;
	const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (failed == std::errc{} && end == text.data() + text.size() && number <= 86400 &&
	    (number || none)) {
		into = std::chrono::seconds(number);
		return true;
	}
	const auto time = trace::parse_time(text);
	if (time)
		into = *time;
	return time.has_value();
}

bool read_size(const std::string& text, uint64_t& into) {
	const auto size = trace::parse_size(text);
	if (size)
		into = *size;
	return size.has_value();
}

template <std::string DaemonOptions::*member> bool read_text(Reading& reading, const std::string& text) {
	reading.options.*member = text;
	return !text.empty();
}

template <bool DaemonOptions::*member> bool read_flag(Reading& reading, const std::string&) {
	reading.options.*member = true;
	return true;
}

// Of `retain`, the bounds of one place add up; those of a later place replace them.
bool read_retain(Reading& reading, const std::string& text) {
	Retention& retain = reading.options.retain;
	if (reading.retained != reading.origin)
		retain = {.free = retain.free};
	reading.retained = reading.origin;
	return parse_retention(text, retain);
}

bool read_name(Reading& reading, const std::string& text) {
	reading.options.name = text;
	return !text.empty() && text.size() + kNextSuffix.size() < DFR_NAME_MAX &&
	       text.find('/') == std::string::npos && !text.ends_with(kNextSuffix);
}

bool read_mode(Reading& reading, const std::string& text) {
	reading.options.mode = text == "flight" ? DaemonMode::kFlight : DaemonMode::kStream;
	return text == "flight" || text == "stream";
}

bool read_rotate(Reading& reading, const std::string& text) {
	const std::optional<trace::Rotation> rotate = trace::parse_rotation(text);
	if (rotate)
		reading.options.rotate = *rotate;
	return rotate.has_value();
}

bool read_last(Reading& reading, const std::string& text) {
	std::chrono::seconds last{};
	const bool read = text == "all" || read_seconds(text, last);
	reading.options.span.last = last;
	return read;
}

bool read_after(Reading& reading, const std::string& text) {
	std::chrono::seconds after{};
	const bool read = read_seconds(text, after, true);
	reading.options.span.after = after;
	return read;
}

constexpr const char* kTimes = "a time (30s, 10min, 1h, or a number of seconds)";
constexpr const char* kSizes = "a size (256k or more, 64m, 1g)";

struct DaemonOption {
	const char* name;
	const char* takes; // nullptr: no value
	Reader read;
	bool command_line = false;           // and not in the file
	std::optional<DaemonMode> mode = {}; // has a meaning only there
};

const DaemonOption kOptions[] = {
    {"name", "a name of up to 58 bytes without /, which does not end in .next", read_name, true},
    {"program", "a file", read_text<&DaemonOptions::program>, true},
    {"output", "a file", read_text<&DaemonOptions::output>, true},
    {"help", nullptr, read_flag<&DaemonOptions::help>, true},
    {"check", nullptr, read_flag<&DaemonOptions::check>, true},
    {"stop", nullptr, read_flag<&DaemonOptions::stop>, true},
    {"config", "a file", read_text<&DaemonOptions::config>, true},
    {"mode", "stream or flight", read_mode},
    {"rotate", trace::kRotationText, read_rotate, false, DaemonMode::kStream},
    {"checkpoint", kTimes,
     [](Reading& r, const std::string& t) { return read_seconds(t, r.options.checkpoint); }, false,
     DaemonMode::kStream},
    {"retain", kRetentionText, read_retain},
    {"free", kSizes, [](Reading& r, const std::string& t) { return read_size(t, r.options.retain.free); }},
    {"last", "a time (30s, 10min, 1h), or all", read_last, false, DaemonMode::kFlight},
    {"after", kTimes, read_after, false, DaemonMode::kFlight},
    {"every", kTimes, [](Reading& r, const std::string& t) { return read_seconds(t, r.options.every, true); },
     false, DaemonMode::kFlight},
    {"low-disk", kSizes, [](Reading& r, const std::string& t) { return read_size(t, r.options.low_disk); },
     false, DaemonMode::kFlight},
    {"run", "a command",
     [](Reading& r, const std::string& t) {
	     r.options.run = t;
	     return true;
     },
     false, DaemonMode::kFlight},
};

const DaemonOption* find(std::string_view name) {
	for (const DaemonOption& option : kOptions)
		if (name == option.name)
			return &option;
	return nullptr;
}

[[noreturn]] void refuse(const std::string& where, const std::string& why,
                         const std::string& hint = "dfrd --help shows the options") {
	throw Error(where.empty() ? why : where + ": " + why, hint);
}

void read_one(Reading& reading, const DaemonOption& option, const std::string& value,
              const std::string& where) {
	if (!option.read(reading, value))
		refuse(where, std::string(where.empty() ? "--" : "") + option.name + " takes " +
		                  option.takes + ", not '" + value + "'");
	if (const std::string_view name = option.name; name == "retain" || name == "free")
		reading.bounded = where;
}

std::string_view trimmed(std::string_view text) {
	const size_t begin = text.find_first_not_of(" \t\r");
	if (begin == std::string_view::npos)
		return {};
	return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// One line of the file: "option value" or "option = value".
void read_line(Reading& reading, std::string_view line, const std::string& where) {
	const size_t end = std::min(line.find_first_of(" \t="), line.size());
	const std::string name(line.substr(0, end));
	std::string_view value = trimmed(line.substr(end));
	if (value.starts_with('='))
		value = trimmed(value.substr(1));
	const DaemonOption* const option = find(name);
	if (!option)
		refuse(where, "there is no option '" + name + "'");
	if (option->command_line)
		refuse(where, name + " stands on dfrd's command line, not in this file");
	read_one(reading, *option, std::string(value), where);
	if (reading.origin == Origin::kSection)
		reading.of_section.emplace_back(option, where);
}

// Lines of other states are looked at, too, so that what is wrong is told when it is written; but it takes down no state
// that is healthy. --check refuses it.
void read_line_of(bool ours, Reading& reading, std::string_view line, const std::string& where) {
	Reading other;
	try {
		read_line(ours ? reading : other, line, where);
	} catch (const Error& error) {
		if (ours || reading.options.check)
			throw;
		reading.options.remarks.emplace_back(error.what());
	}
}

void read_file(Reading& reading, const std::string& path, const std::string& state) {
	std::ifstream in(path);
	if (!in)
		throw Error::from_errno("cannot read the options in " + path);
	std::string content(kConfigurationMost + 1, '\0'); // there may be no end, as of /dev/zero
	in.read(content.data(), static_cast<std::streamsize>(content.size()));
	if (in.bad())
		throw Error::from_errno("cannot read " + path);
	content.resize(static_cast<size_t>(in.gcount()));
	if (content.size() > kConfigurationMost)
		refuse(path, "it has more than 1 MiB, which is too long for a configuration");
	std::istringstream lines(content);
	bool ours = true;
	std::string line;
	size_t number = 0;
	while (std::getline(lines, line)) {
		const std::string where = path + ":" + std::to_string(++number);
		const std::string_view text = trimmed(line);
		if (text.empty() || text.front() == '#')
			continue;
		if (text.front() != '[') {
			read_line_of(ours, reading, text, where);
			continue;
		}
		if (text.back() != ']')
			refuse(where, "a section is [NAME]");
		ours = trimmed(text.substr(1, text.size() - 2)) == state;
		reading.origin = Origin::kSection;
	}
}

struct Given {
	const DaemonOption* option;
	std::string value;
};

// "--name x", "--name=x"; the short ones of before stay.
std::vector<Given> split(const std::vector<std::string>& arguments) {
	static const std::pair<char, const char*> kShort[] = {
	    {'n', "name"},   {'p', "program"}, {'o', "output"}, {'c', "checkpoint"}, {'r', "rotate"},
	    {'k', "retain"}, {'f', "free"},    {'s', "stop"},   {'h', "help"}};
	std::vector<Given> given;
	for (size_t i = 0; i < arguments.size(); i++) {
		const std::string& argument = arguments[i];
		std::string name;
		std::optional<std::string> value;
		if (argument.starts_with("--")) {
			const size_t equals = argument.find('=');
			name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
			if (equals != std::string::npos)
				value = argument.substr(equals + 1);
		} else if (argument.size() > 1 && argument[0] == '-') {
			for (const auto& [letter, full] : kShort)
				if (letter == argument[1])
					name = full;
			if (argument.size() > 2)
				value = argument.substr(2);
		}
		const DaemonOption* const option = find(name);
		if (!option)
			refuse("", "'" + argument + "' is not an option");
		if (!option->takes && value)
			refuse("", "--" + name + " takes no value");
		if (option->takes && !value) {
			if (++i == arguments.size())
				refuse("", "--" + name + " takes " + option->takes);
			value = arguments[i];
		}
		given.push_back({option, value.value_or("")});
	}
	return given;
}

} // namespace

DaemonOptions read_daemon_options(const std::vector<std::string>& arguments) {
	const std::vector<Given> given = split(arguments);
	Reading reading;
	for (const Given& one : given) // the file's section is the state's
		if (one.option->command_line)
			read_one(reading, *one.option, one.value, "");
	if (reading.options.help)
		return reading.options;
	if (!reading.options.config.empty())
		read_file(reading, reading.options.config, reading.options.name);
	reading.origin = Origin::kCommandLine;
	for (const Given& one : given)
		if (!one.option->command_line)
			read_one(reading, *one.option, one.value, "");
	const DaemonOptions& options = reading.options;
	const auto check = [&options](const DaemonOption& option, const std::string& where) {
		if (option.mode && *option.mode != options.mode)
			refuse(where, std::string(where.empty() ? "--" : "") + option.name +
			                  " means nothing in mode " +
			                  (options.mode == DaemonMode::kFlight ? "flight" : "stream"));
	};
	for (const auto& [option, where] : reading.of_section)
		check(*option, where);
	for (const Given& one : given)
		check(*one.option, "");
	if (options.check && options.program.empty())
		refuse("", "--check tries a program", "say which: --program FILE.dof");
	if (options.mode == DaemonMode::kStream && options.retain && !options.rotate) {
		const std::string dashes = reading.bounded.empty() ? "--" : "";
		refuse(reading.bounded,
		       dashes + "retain and " + dashes + "free remove parts, which " + dashes +
		           "rotate makes",
		       "add " + dashes + "rotate 64m");
	}
	return options;
}

} // namespace dfr::recorder
