// SPDX-License-Identifier: GPL-2.0
//
// See boot_initcalls.h. What an event says is the kernel's text: "func=virtio_init+0x0/0x20 [virtio] ret=0".
#include "analyze/libdfr/boot_initcalls.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace dfr::lib {
namespace {

struct BootEvent {
	std::string_view name, text;
	uint32_t pid = 0;
	uint64_t time = 0;
};

// What stands behind "func=" or "ret=" in an event's text; empty: nothing does.
std::string value_of(std::string_view text, std::string_view key) {
	const size_t at = text.find(key);
	return std::string(at == std::string_view::npos ? std::string_view() : text.substr(at + key.size()));
}

// "virtio_init+0x0/0x20 [virtio]"
std::string function_of(const BootEvent& event) {
	const std::string text = value_of(event.text, "func=");
	return text.substr(0, text.find(" ret="));
}

// Until the kernel has found a better clock, its own stands still for a tick (at most 10 ms), and two CPUs may read it a
// little apart. The events of a process that moves to another CPU lie in two buffers, so those of one tick come in any
// order: a call's end before its beginning, or its beginning before the end of the call that ran before it.
constexpr uint64_t kTick = 10'000'000;

class InitcallReader {
public:
	void add(const BootEvent& event);
	BootInitcalls finish();

private:
	void start(const BootEvent& event);
	void finish_call(const BootEvent& event);
	void end(BootInitcall& call, const BootEvent& event);

	using CallOfProcess =
	    std::pair<uint32_t, std::string>; // process, and function as the kernel writes it
	BootInitcalls out_;
	std::map<CallOfProcess, std::vector<size_t>> running_; // in out_.calls
	std::map<CallOfProcess, std::deque<BootEvent>> early_; // ends that stand before their beginnings
	std::map<uint32_t, std::string> loaded_; // the module whose beginning a process runs next
	uint64_t last_ = 0, kernel_last_ = 0;
};

void InitcallReader::start(const BootEvent& event) {
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
	const CallOfProcess key(event.pid, text);
	std::deque<BootEvent>& early = early_[key];
	while (!early.empty() && early.front().time < event.time - std::min(kTick, event.time)) {
		early.pop_front();
		out_.unread++;
	}
	if (!early.empty()) {
		end(call, early.front());
		early.pop_front();
	} else {
		running_[key].push_back(out_.calls.size());
	}
	out_.calls.push_back(std::move(call));
}

void InitcallReader::end(BootInitcall& call, const BootEvent& event) {
	call.to = std::max(call.from, event.time);
	call.ended = true;
	const std::string result = value_of(event.text, "ret=");
	std::from_chars(result.data(), result.data() + result.size(), call.result);
	if (call.module.empty())
		kernel_last_ = std::max(kernel_last_, event.time);
}

void InitcallReader::finish_call(const BootEvent& event) {
	const CallOfProcess key(event.pid, function_of(event));
	std::vector<size_t>& running = running_[key];
	if (running.empty()) {
		early_[key].push_back(event);
		return;
	}
	end(out_.calls[running.back()], event);
	running.pop_back();
}

void InitcallReader::add(const BootEvent& event) {
	last_ = std::max(last_, event.time);
	if (event.name == "initcall_start") {
		start(event);
	} else if (event.name == "initcall_finish") {
		finish_call(event);
	} else if (event.name == "module_load") {
		loaded_[event.pid] = event.text.substr(0, event.text.find(' '));
	} else if (event.name != "initcall_level") {
		out_.unread++;
	} else {
		if (!out_.levels.empty())
			out_.levels.back().to = std::max(out_.levels.back().from, event.time);
		out_.levels.push_back({value_of(event.text, "level="), event.time, event.time});
	}
}

BootInitcalls InitcallReader::finish() {
	for (const auto& [call, events] : early_)
		out_.unread += events.size(); // their beginnings are not there
	if (!out_.levels.empty())
		out_.levels.back().to = std::max(out_.levels.back().from, kernel_last_);
	for (BootInitcall& call : out_.calls)
		if (!call.ended)
			call.to = std::max(call.from, last_);
	return std::move(out_);
}

} // namespace

BootInitcalls boot_initcalls(const trace::KernelEvents& events) {
	InitcallReader reader;
	for (const trace::KernelEvents::Event& event : events.events)
		reader.add({events.texts[event.name], events.texts[event.text], event.pid, event.time});
	BootInitcalls out = reader.finish();
	out.lost = events.lost;
	out.remarks = events.remarks;
	return out;
}

} // namespace dfr::lib
