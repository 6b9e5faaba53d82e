// SPDX-License-Identifier: GPL-2.0
//
// See kernel_text.h. A line is "   insmod-98   [000] .....     5.846945: initcall_start: func=virtio_init+0x0/0x20
// [virtio]". What a task calls itself (15 bytes) may have blanks, brackets and hyphens in it, so a line is read
// from its event backwards; that event's name with both colons is longer than a task's.
#include "analyze/libdfr/kernel_text.h"

#include <charconv>
#include <sstream>
#include <string_view>

namespace dfr::lib {
namespace {

template <typename Number> std::optional<Number> number(std::string_view text) {
	Number value{};
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

// The last word of `text`, which is cut off.
std::string_view last_word(std::string_view& text) {
	while (text.ends_with(' '))
		text.remove_suffix(1);
	const size_t blank = text.rfind(' ');
	const std::string_view word = text.substr(blank == std::string_view::npos ? 0 : blank + 1);
	text.remove_suffix(word.size());
	return word;
}

std::optional<uint64_t> nanoseconds(std::string_view text) { // "5.846945"
	const size_t point = text.find('.');
	if (point == std::string_view::npos || text.size() - point != 7)
		return std::nullopt;
	const auto whole = number<uint64_t>(text.substr(0, point));
	const auto rest = number<uint64_t>(text.substr(point + 1));
	if (!whole || !rest || *whole > 1'000'000'000)
		return std::nullopt;
	return *whole * 1'000'000'000 + *rest * 1000;
}

// False: it is no event of these.
bool add_event(std::string_view line, trace::KernelEventsBuilder& into) {
	for (const char* const name :
	     {"initcall_level", "initcall_start", "initcall_finish", "module_load"}) {
		const std::string mark = std::string(": ") + name + ": ";
		const size_t at = line.find(mark);
		if (at == std::string_view::npos)
			continue;
		std::string_view head = line.substr(0, at);
		const auto time = nanoseconds(last_word(head));
		std::string_view word;
		do // flags
			word = last_word(head);
		while (!word.empty() && !word.starts_with('['));
		const auto cpu =
		    word.ends_with(']') ? number<uint32_t>(word.substr(1, word.size() - 2)) : std::nullopt;
		const std::string_view task = last_word(head);
		const auto pid = number<uint32_t>(task.substr(task.rfind('-') + 1));
		if (!time || !cpu || !pid)
			return false;
		into.add(*time, *cpu, *pid, name, line.substr(at + mark.size()));
		return true;
	}
	return false;
}

} // namespace

KernelText read_kernel_text(std::istream& text, size_t most) {
	KernelText out;
	trace::KernelEventsBuilder events;
	size_t bytes = 0;
	for (std::string line; std::getline(text, line);) {
		if (line.empty() || line.starts_with('#') || line.starts_with("CPU:"))
			continue;
		bytes += line.size();
		if (bytes > most)
			out.cut = true;
		else if (!add_event(line, events))
			out.foreign++;
	}
	out.events = std::move(events.events);
	return out;
}

// Overwritten, or written while a page was moved away, or left out because nothing may be overwritten.
std::optional<uint64_t> lost_kernel_events(const std::string& stats) {
	std::istringstream stream(stats);
	std::optional<uint64_t> lost;
	for (std::string line; std::getline(stream, line);)
		for (const std::string_view key : {"overrun: ", "commit overrun: ", "dropped events: "})
			if (const auto count =
			        line.starts_with(key)
			            ? number<uint64_t>(std::string_view(line).substr(key.size()))
			            : std::nullopt)
				lost = lost.value_or(0) + *count;
	return lost;
}

} // namespace dfr::lib
