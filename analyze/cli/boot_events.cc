// SPDX-License-Identifier: GPL-2.0
//
// See boot_events.h.
#include "analyze/cli/boot_events.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr const char* kTracing = "/sys/kernel/tracing/";
constexpr const char* kHead = "# boot ";
constexpr size_t kMostText = 16 << 20; // a boot's events have some 200 KB

std::string beside(const std::string& recording) {
	const std::string stem =
	    recording.ends_with(".dfr") ? recording.substr(0, recording.size() - 4) : recording;
	return stem + ".kernel";
}

bool write_tracing(const std::string& file, const char* text, int flags = 0) {
	const int fd = ::open((kTracing + file).c_str(), O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return false;
	const bool done = ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
	::close(fd);
	return done;
}

std::string read_tracing(const char* file) {
	std::string text = boot::read_text(std::string(kTracing) + file).value_or("");
	while (text.ends_with('\n'))
		text.pop_back();
	return text;
}

bool command_line_has(const std::string& wanted, bool whole) {
	std::istringstream line(boot::read_text("/proc/cmdline").value_or(""));
	for (std::string word; line >> word;)
		if (whole ? word == wanted : word.starts_with(wanted))
			return true;
	return false;
}

// Whether this boot was asked for our events, which is the first word of these.
bool asked() {
	const std::string words = boot::kKernelEvents;
	return command_line_has(words.substr(0, words.find(' ')), true);
}

// Our events, ended. Whether any was on until now.
bool end_events() {
	bool were_on = false, failed = false;
	for (const char* const file : {"events/initcall/enable", "events/module/module_load/enable"}) {
		were_on = were_on || read_tracing(file) != "0";
		failed = !write_tracing(file, "0") || failed;
	}
	if (failed)
		std::fprintf(stderr, "dfr: the kernel's own events could not be ended in %s\n", kTracing);
	return were_on;
}

struct Kept {
	std::string text;     // its head, and our events
	uint64_t foreign = 0; // lines of others, which are left out
	bool cut = false;     // there was more than kMostText
};

// Throws dfr::Error: there is none.
Kept read_trace() {
	std::ifstream stream(std::string(kTracing) + "trace");
	if (!stream)
		throw Error(std::string("there is no ") + kTracing + "trace");
	Kept out;
	for (std::string line; std::getline(stream, line);) {
		const bool head = line.starts_with('#') || line.starts_with("CPU:");
		if (!head && !line.empty() && !lib::is_boot_event(line))
			out.foreign++;
		else if (out.text.size() + line.size() < kMostText)
			out.text += line + '\n';
		else
			out.cut = true;
	}
	return out;
}

// What the command line asked for is what it was without it, if nobody else traces.
void give_back(uint64_t foreign) {
	if (foreign || !read_tracing("set_event").empty() || read_tracing("current_tracer") != "nop") {
		std::fprintf(stderr,
		             "dfr: somebody else uses %s: its buffer and its clock are left as they are\n",
		             kTracing);
		return;
	}
	write_tracing("trace", "", O_TRUNC);
	if (read_tracing("trace_clock").find("[mono]") != std::string::npos)
		write_tracing("trace_clock", "local");
	if (!command_line_has("trace_buf_size=", false))
		write_tracing("buffer_size_kb", "1");
}

} // namespace

bool store_kernel_events(const std::string& recording) {
	if (!asked())
		return false;
	end_events();
	try {
		const Kept kept = read_trace();
		const auto id = boot::read_text("/proc/sys/kernel/random/boot_id");
		if (!id)
			throw Error("this boot has no id");
		std::string text = kHead + *id;
		if (read_tracing("trace_clock").find("[mono]") == std::string::npos)
			text += std::string(lib::kEventsRemark) +
			        "the kernel's clock of its events was not mono: their times are not the "
			        "recording's\n";
		if (kept.foreign)
			text += lib::kEventsRemark + std::to_string(kept.foreign) +
			        " lines that somebody else traced were left out\n";
		if (kept.cut)
			text += lib::kEventsRemark + std::string("events behind ") +
			        std::to_string(kMostText >> 20) + " MiB of text were left out\n";
		boot::write_atomically(beside(recording), text + kept.text, 0600);
		give_back(kept.foreign);
		return true;
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr: the kernel's own events of this boot were not stored: %s\n",
		             shown(error.what()));
		return false;
	}
}

void end_kernel_events(bool keep) {
	if (!asked() || !end_events() || keep)
		return;
	try {
		give_back(read_trace().foreign);
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr: %s\n", shown(error.what()));
	}
}

std::optional<lib::BootInitcalls> kernel_events(const std::string& recording, const std::string& boot,
                                                std::string& why) {
	const std::string path = beside(recording);
	const auto text = boot::read_text(path);
	if (!text) {
		why = "the kernel's own events were not kept";
		return std::nullopt;
	}
	const std::string id = text->substr(0, text->find('\n'));
	if (id != kHead + boot) {
		why = path + " is of another boot";
		return std::nullopt;
	}
	return lib::boot_initcalls(*text);
}

} // namespace dfr::cli
