// SPDX-License-Identifier: GPL-2.0
//
// See boot_events.h.
#include "analyze/cli/boot_events.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

#include "analyze/libdfr/kernel_text.h"
#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/counted.h"

namespace dfr::cli {
namespace {

constexpr const char* kTracing = "/sys/kernel/tracing/";
constexpr size_t kMostText = 16 << 20; // a boot's events have some 200 KB

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

// Throws dfr::Error: there is none.
lib::KernelText read_trace() {
	std::ifstream stream(std::string(kTracing) + "trace");
	if (!stream)
		throw Error(std::string("there is no ") + kTracing + "trace");
	return lib::read_kernel_text(stream, kMostText);
}

// Of all CPUs; nothing: one does not say it.
std::optional<uint64_t> lost() {
	std::error_code error;
	uint64_t all = 0;
	for (std::filesystem::directory_iterator cpu(std::string(kTracing) + "per_cpu", error), end;
	     !error && cpu != end; cpu.increment(error)) {
		const auto count =
		    lib::lost_kernel_events(boot::read_text(cpu->path() / "stats").value_or(""));
		if (!count)
			return std::nullopt;
		all += *count;
	}
	return error ? std::nullopt : std::optional(all);
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

bool asked_for_kernel_events() {
	const std::string words = boot::kKernelEvents; // the first of them
	return command_line_has(words.substr(0, words.find(' ')), true);
}

bool end_kernel_events() {
	if (!asked_for_kernel_events())
		return false;
	bool were_on = false, failed = false;
	for (const char* const file : {"events/initcall/enable", "events/module/module_load/enable"}) {
		were_on = were_on || read_tracing(file) != "0";
		failed = !write_tracing(file, "0") || failed;
	}
	if (failed)
		std::fprintf(stderr, "dfr: the kernel's own events could not be ended in %s\n", kTracing);
	return were_on;
}

void release_kernel_events() {
	if (!asked_for_kernel_events())
		return;
	try {
		give_back(read_trace().foreign);
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr: %s\n", shown(error.what()));
	}
}

trace::KernelEvents import_kernel_events() {
	trace::KernelEvents events;
	if (!asked_for_kernel_events()) {
		std::fprintf(stderr, "dfr: this boot was not asked for the kernel's own events\n");
		return events;
	}
	try {
		lib::KernelText kept = read_trace();
		events = std::move(kept.events);
		std::vector<std::string>& remarks = events.remarks;
		if (read_tracing("trace_clock").find("[mono]") == std::string::npos)
			remarks.emplace_back("the kernel's clock of its events was not mono: their times are "
			                     "not the recording's");
		if (kept.foreign)
			remarks.push_back(std::to_string(kept.foreign) +
			                  " lines that somebody else traced were left out");
		if (kept.cut)
			remarks.push_back("events behind " + std::to_string(kMostText >> 20) +
			                  " MiB of text were left out");
		const auto count = lost();
		events.lost = count.value_or(0);
		if (!count)
			remarks.emplace_back("the kernel does not say whether it lost events");
		std::fprintf(stderr, "dfr: %s of the kernel's own events are recorded, too\n",
		             shown(trace::grouped(events.events.size())));
	} catch (const Error& error) {
		events.remarks = {std::string("they could not be imported: ") + error.what()};
		std::fprintf(stderr, "dfr: the kernel's own events of this boot are not recorded: %s\n",
		             shown(error.what()));
	}
	return events;
}

} // namespace dfr::cli
