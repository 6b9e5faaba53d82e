// SPDX-License-Identifier: GPL-2.0
#include "analyze/cli/panic.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "analyze/libdfr/json.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr size_t kLogLines = 60; // shown; JSON has all
constexpr size_t kRegistersOfLine = 4;
constexpr size_t kFramesMost = 1024; // the kernel's are 64; each is looked for in all modules

std::vector<std::string> split(std::string_view text, char between) {
	std::vector<std::string> parts;
	while (!text.empty()) {
		const size_t end = std::min(text.find(between), text.size());
		if (end)
			parts.emplace_back(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return parts;
}

PanicFrame frame_of(const trace::Catalog& catalog, const std::string& line) {
	PanicFrame frame{.address = std::strtoull(line.c_str(), nullptr, 16), .name = {}};
	if (const size_t blank = line.find(' '); blank != std::string::npos)
		frame.name = line.substr(blank + 1);
	// The kernel writes a number where it has no name.
	if (frame.name.empty() || frame.name.starts_with("0x"))
		frame.name = name_by_module(catalog, frame.address);
	return frame;
}

} // namespace

std::string name_by_module(const trace::Catalog& catalog, uint64_t address) {
	for (const trace::Module& module : catalog.modules)
		if (module.has(address)) {
			char offset[24];
			std::snprintf(offset, sizeof(offset), "+0x%" PRIx64, address - module.base);
			return module.name + offset;
		}
	return {};
}

std::optional<Panic> panic_of(const trace::Catalog& catalog) {
	const auto event =
	    std::find_if(catalog.events.begin(), catalog.events.end(),
	                 [](const trace::EventMark& mark) { return mark.event == DFR_EVENT_PANIC; });
	if (event == catalog.events.end())
		return std::nullopt;
	Panic panic{.time = event->time,
	            .cpu = event->value,
	            .comm = catalog.machine_text("panic_comm"),
	            .reason = catalog.machine_text("panic"),
	            .mode = {},
	            .registers = {},
	            .stack = {},
	            .log = split(catalog.machine_text("panic_log"), '\n')};
	for (const std::string& word : split(catalog.machine_text("panic_registers"), ' ')) {
		const size_t equals = std::min(word.find('='), word.size());
		const std::string value = word.substr(std::min(equals + 1, word.size()));
		if (word.starts_with("mode="))
			panic.mode = value;
		else if (equals && std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equals),
		                               [](unsigned char c) { return std::isalnum(c) || c == '_'; }))
			panic.registers.emplace_back(word.substr(0, equals), value);
	}
	for (const std::string& line : split(catalog.machine_text("panic_stack"), '\n')) {
		if (panic.stack.size() == kFramesMost)
			break;
		panic.stack.push_back(frame_of(catalog, line));
	}
	return panic;
}

void print_panic_texts(const Panic& panic) {
	if (!panic.registers.empty())
		std::printf("\nregisters at the last trap before it (%s mode)", shown(panic.mode));
	for (size_t i = 0; i < panic.registers.size(); i++)
		std::printf("%s  %7s %-16s", i % kRegistersOfLine ? "" : "\n",
		            shown(panic.registers[i].first), shown(panic.registers[i].second));
	if (!panic.registers.empty())
		std::printf("\n");
	if (!panic.stack.empty())
		std::printf("\nstack of CPU %lld\n", static_cast<long long>(panic.cpu));
	for (const PanicFrame& frame : panic.stack)
		std::printf("  %016" PRIx64 "  %s\n", frame.address, shown(frame.name));
	if (panic.log.empty())
		return;
	const size_t first = panic.log.size() - std::min(panic.log.size(), kLogLines);
	std::printf("\nthe end of the kernel's log%s\n", first ? " (--json has more)" : "");
	for (size_t i = first; i < panic.log.size(); i++)
		std::printf("  %s\n", shown(panic.log[i]));
}

std::string panic_json(const Panic& panic) {
	lib::JsonObject registers;
	for (const auto& [name, value] : panic.registers)
		registers.text(name.c_str(), value);
	std::vector<std::string> stack, log;
	for (const PanicFrame& frame : panic.stack) {
		char address[24];
		std::snprintf(address, sizeof(address), "0x%016" PRIx64, frame.address);
		stack.push_back(lib::JsonObject().text("address", address).text("name", frame.name).str());
	}
	for (const std::string& line : panic.log)
		log.push_back(lib::json_text(line));
	return lib::JsonObject()
	    .raw("cpu", std::to_string(panic.cpu))
	    .text("comm", panic.comm)
	    .text("reason", panic.reason)
	    .text("mode", panic.mode)
	    .raw("registers", registers.str())
	    .raw("stack", lib::json_list(stack))
	    .raw("log", lib::json_list(log))
	    .str();
}

} // namespace dfr::cli
