// SPDX-License-Identifier: GPL-2.0
//
// See boot_initcalls.h. A line is "   insmod-98   [000] .....     5.846945: initcall_start: func=virtio_init+0x0/0x20
// [virtio]". What a task calls itself (15 bytes) may have blanks, brackets and hyphens in it, so a line is read
// from its event backwards; that event's name with both colons is longer than a task's.
#include "analyze/libdfr/boot_initcalls.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

namespace dfr::lib {
namespace {

struct Event {
	std::string name, text;
	uint32_t pid = 0;
	uint64_t time = 0;
};

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

std::optional<Event> read_event(std::string_view line) {
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
		const std::string_view task = last_word(head);
		const auto pid = number<uint32_t>(task.substr(task.rfind('-') + 1));
		if (!time || !pid || word.empty())
			return std::nullopt;
		return Event{name, std::string(line.substr(at + mark.size())), *pid, *time};
	}
	return std::nullopt;
}

// What stands behind "func=" or "ret=" in an event's text; empty: nothing does.
std::string value_of(const std::string& text, const std::string& key) {
	const size_t at = text.find(key);
	return at == std::string::npos ? std::string() : text.substr(at + key.size());
}

// "virtio_init+0x0/0x20 [virtio]"
std::string function_of(const Event& event) {
	const std::string text = value_of(event.text, "func=");
	return text.substr(0, text.find(" ret="));
}

// Until the kernel has found a better clock, its own stands still for a tick (at most 10 ms), and two CPUs may read it a
// little apart. The events of a process that moves to another CPU lie in two buffers, so those of one tick come in any
// order: a call's end before its beginning, or its beginning before the end of the call that ran before it.
constexpr uint64_t kTick = 10'000'000;

class InitcallReader {
public:
	void line(const std::string& text);
	BootInitcalls finish();

private:
	void start(const Event& event);
	void finish_call(const Event& event);
	void end(BootInitcall& call, const Event& event);

	struct Running {
		std::string function; // as the kernel writes it
		size_t index = 0;
	};
	BootInitcalls out_;
	std::map<uint32_t, std::vector<Running>> running_; // of each process
	std::map<uint32_t, std::vector<Event>>
	    early_;                              // ends of each process that stand before their beginnings
	std::map<uint32_t, std::string> loaded_; // the module whose beginning a process runs next
	uint64_t last_ = 0, kernel_last_ = 0;
};

void InitcallReader::start(const Event& event) {
	const std::string text = function_of(event);
	BootInitcall call{
	    .name = text.substr(0, text.find_first_of("+ ")), .pid = event.pid, .from = event.time};
	const size_t bracket = text.find('[');
	if (bracket != std::string::npos)
		call.module = text.substr(bracket + 1, text.find(']', bracket) - bracket - 1);
	// The kernel drops a module's beginning when it has run, so its address has no name, or that of another module
	// which has the memory since. Who has loaded a module runs its beginning next.
	const auto loaded = loaded_.find(event.pid);
	if (loaded != loaded_.end() && loaded->second != call.module) {
		call.name = "init";
		call.module = loaded->second;
	}
	loaded_.erase(event.pid);
	if (call.module.empty() && !out_.levels.empty())
		call.level = out_.levels.back().name;
	std::vector<Event>& early = early_[event.pid];
	const auto ended = std::ranges::find_if(early, [&](const Event& one) {
		return event.time - std::min(one.time, event.time) <= kTick && function_of(one) == text;
	});
	if (ended != early.end()) {
		end(call, *ended);
		early.erase(ended);
	} else {
		running_[event.pid].push_back({text, out_.calls.size()});
	}
	out_.calls.push_back(std::move(call));
}

void InitcallReader::end(BootInitcall& call, const Event& event) {
	call.to = std::max(call.from, event.time);
	call.ended = true;
	call.result = number<int64_t>(value_of(event.text, "ret=")).value_or(0);
	if (call.module.empty())
		kernel_last_ = std::max(kernel_last_, event.time);
}

void InitcallReader::finish_call(const Event& event) {
	std::vector<Running>& running = running_[event.pid];
	const auto call = std::find_if(running.rbegin(), running.rend(), [&](const Running& one) {
		return one.function == function_of(event);
	});
	if (call == running.rend()) {
		early_[event.pid].push_back(event);
		return;
	}
	end(out_.calls[call->index], event);
	running.erase(std::prev(call.base())); // not those after it: their ends may stand further down
}

void InitcallReader::line(const std::string& text) {
	if (text.starts_with(kEventsRemark)) {
		out_.remarks.push_back(text.substr(std::string(kEventsRemark).size()));
		return;
	}
	if (text.starts_with('#')) {
		const std::string counts = value_of(text, "entries-in-buffer/entries-written: ");
		const size_t slash = counts.find('/');
		if (slash != std::string::npos) {
			const auto has = number<uint64_t>(counts.substr(0, slash));
			const auto written = number<uint64_t>(
			    std::string_view(counts).substr(slash + 1, counts.find(' ', slash) - slash - 1));
			if (has && written && *written > *has)
				out_.lost = *written - *has;
		}
		return;
	}
	const std::optional<Event> event = read_event(text);
	if (!event) {
		out_.unread += text.empty() ? 0 : 1;
		return;
	}
	last_ = std::max(last_, event->time);
	if (event->name == "initcall_start") {
		start(*event);
	} else if (event->name == "initcall_finish") {
		finish_call(*event);
	} else if (event->name == "module_load") {
		loaded_[event->pid] = event->text.substr(0, event->text.find(' '));
	} else {
		if (!out_.levels.empty())
			out_.levels.back().to = std::max(out_.levels.back().from, event->time);
		out_.levels.push_back({value_of(event->text, "level="), event->time, event->time});
	}
}

BootInitcalls InitcallReader::finish() {
	for (const auto& [pid, events] : early_)
		out_.unread += events.size(); // their beginnings are not there
	if (!out_.levels.empty())
		out_.levels.back().to = std::max(out_.levels.back().from, kernel_last_);
	for (BootInitcall& call : out_.calls)
		if (!call.ended)
			call.to = std::max(call.from, last_);
	return std::move(out_);
}

} // namespace

bool is_boot_event(const std::string& line) {
	return read_event(line).has_value();
}

BootInitcalls boot_initcalls(const std::string& text) {
	InitcallReader reader;
	std::istringstream stream(text);
	for (std::string line; std::getline(stream, line);)
		reader.line(line);
	return reader.finish();
}

} // namespace dfr::lib
