// SPDX-License-Identifier: GPL-2.0
//
// Arguments by provider. args[i] of a probe is always made from arg<i> of the
// firing: where two translated types describe one kernel object, the provider
// passes the object twice.
#include "recorder/probe_args.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "formats/error.h"
#include "formats/types/kernel_types.h"

namespace dfr::recorder {
namespace {

struct Typed {
	const char* native;
	const char* translated; // "": no translation
	bool user = false;      // a pointer into user memory
};

struct StableProbe {
	const char* provider;
	const char* name;
	std::array<Typed, 4> args;
};

constexpr Typed kThread{"struct task_struct *", "lwpsinfo_t *"};
constexpr Typed kProcess{"struct task_struct *", "psinfo_t *"};
constexpr Typed kCpu{"struct task_struct *", "cpuinfo_t *"};
constexpr Typed kInt{"int", ""};
constexpr Typed kBuffer{"struct bio *", "bufinfo_t *"};
constexpr Typed kDevice{"struct bio *", "devinfo_t *"};
constexpr Typed kFile{"struct file *", "fileinfo_t *"};

// proc, sched and io, as kmod/providers/PROVIDERS.md describes them.
constexpr StableProbe kStable[] = {
    {"proc", "create", {kProcess}},
    {"proc", "exec", {Typed{"char *", "", true}}},
    {"proc", "exec-failure", {kInt}},
    {"proc", "exit", {kInt}},
    {"proc", "lwp-create", {kThread, kProcess}},
    {"proc", "signal-send", {kThread, kProcess, kInt}},
    {"proc", "signal-discard", {kThread, kProcess, kInt}},
    {"proc", "signal-clear", {kInt}},
    {"proc", "signal-handle", {kInt, Typed{"struct kernel_siginfo *", ""}, Typed{"void *", ""}}},
    {"sched", "change-pri", {kThread, kProcess, kInt}},
    {"sched", "enqueue", {kThread, kProcess, kCpu, kInt}},
    {"sched", "dequeue", {kThread, kProcess, kCpu, kInt}},
    {"sched", "off-cpu", {kThread, kProcess}},
    {"sched", "surrender", {kThread, kProcess}},
    {"sched", "tick", {kThread, kProcess}},
    {"sched", "wakeup", {kThread, kProcess}},
    {"io", "start", {kBuffer, kDevice, kFile}},
    {"io", "done", {kBuffer, kDevice, kFile}},
    {"io", "wait-start", {kBuffer, kDevice, kFile}},
    {"io", "wait-done", {kBuffer, kDevice, kFile}},
};

// The kernel function that the vfs provider probes for an operation: vfs_<name>, with exceptions.
std::string vfs_function(const std::string& operation) {
	if (operation == "fsync")
		return "vfs_fsync_range";
	if (operation == "setattr")
		return "notify_change";
	if (operation == "iterate")
		return "iterate_dir";
	if (operation == "lookup")
		return "filename_lookup";
	// The compiler inlines vfs_getattr(), vfs_statfs() and vfs_llseek() into callers that matter.
	if (operation == "getattr")
		return "vfs_getattr_nosec";
	if (operation == "statfs")
		return "statfs_by_dentry";
	if (operation == "llseek")
		return "ksys_lseek";
	return "vfs_" + operation;
}

void add(std::vector<d::ProbeArg>& args, std::string native, std::string translated = {}) {
	args.push_back({.native = std::move(native),
	                .translated = std::move(translated),
	                .mapping = static_cast<unsigned>(args.size())});
}

std::vector<d::ProbeArg> stable_args(const d::ProbeInfo& probe) {
	std::vector<d::ProbeArg> args;
	for (const StableProbe& entry : kStable) {
		if (probe.provider != entry.provider || probe.name != entry.name)
			continue;
		for (const Typed& typed : entry.args)
			if (typed.native) {
				add(args, typed.native, typed.translated);
				args.back().user = typed.user;
			}
	}
	return args;
}

// A function type's parameters from number `first` up.
std::vector<d::ProbeArg> parameters(types::TypeRef function, uint32_t first) {
	std::vector<d::ProbeArg> args;
	const uint64_t count = function ? types::info(function).count : 0;
	for (uint64_t i = first; i < count; i++) {
		const types::Parameter parameter =
		    function.container->parameter(function.id, static_cast<uint32_t>(i));
		add(args, types::to_c(parameter.type));
		args.back().name = parameter.name;
	}
	return args;
}

// A function's return probe: args[0] is the offset that it returned from, args[1] the returned value.
std::vector<d::ProbeArg> return_args(types::TypeRef function) {
	std::vector<d::ProbeArg> args;
	if (!function)
		return args;
	add(args, "int");
	const types::TypeRef result = types::info(function).target;
	if (types::resolved_kind(result) != types::Kind::Void)
		add(args, types::to_c(result));
	return args;
}

// The kernel function whose type gives a probe's arguments. `module` keeps find_function() from taking
// another module's function of the same name. Empty name: the probe belongs to no function.
struct ProbedFunction {
	std::string name, module;
};

ProbedFunction function_of(const d::ProbeInfo& probe) {
	if (probe.provider == "fbt")
		return {probe.function, probe.module};
	if (probe.provider == "vfs")
		return {vfs_function(probe.function), "vmlinux"};
	if (probe.provider == "sdt" || probe.provider == "rawtp")
		return {"__traceiter_" + probe.name, ""};
	return {};
}

std::vector<d::ProbeArg> function_args(const d::ProbeInfo& probe, types::KernelTypes& types) {
	const ProbedFunction function = function_of(probe);
	const types::TypeRef type =
	    probe.shared ? types::TypeRef{} : types.find_function(function.name, function.module);
	return probe.name == "entry" ? parameters(type, 0) : return_args(type);
}

std::vector<d::ProbeArg> syscall_args(const d::ProbeInfo& probe, types::KernelTypes& types,
                                      const std::string& tracing_events) {
	std::vector<d::ProbeArg> args;
	if (probe.name == "return") {
		add(args, "long");
		add(args, "long");
		return args;
	}
	std::ifstream file(tracing_events + "/syscalls/sys_enter_" + probe.function + "/format");
	if (file) {
		std::ostringstream text;
		text << file.rdbuf();
		return parse_event_format(text.str());
	}
	if (types.available())
		args = parameters(types.find_function("__do_sys_" + probe.function, "vmlinux"), 0);
	const bool known = !args.empty();
	while (!known && args.size() < 6)
		add(args, "long");
	return args;
}

std::string_view trim(std::string_view text) {
	const size_t first = text.find_first_not_of(" \t");
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "const char * filename" becomes "const char *"; annotations of address spaces (__user) go too.
std::string declared_type(std::string_view declaration) {
	declaration = trim(declaration);
	size_t end = declaration.size();
	while (end && (std::isalnum(static_cast<unsigned char>(declaration[end - 1])) ||
	               declaration[end - 1] == '_'))
		end--;
	std::string type(trim(declaration.substr(0, end)));
	for (const char* annotation : {"__user", "__attribute__((user))"}) {
		const std::string text = annotation;
		for (size_t at; (at = type.find(text)) != std::string::npos;)
			type.erase(at, text.size() + (type.substr(at + text.size(), 1) == " "));
	}
	return std::string(trim(type));
}

} // namespace

std::vector<d::ProbeArg> parse_event_format(std::string_view format) {
	std::vector<d::ProbeArg> args;
	constexpr std::string_view kField = "field:";
	while (!format.empty()) {
		const size_t end = std::min(format.find('\n'), format.size());
		const std::string_view line = trim(format.substr(0, end));
		format.remove_prefix(std::min(end + 1, format.size()));
		if (!line.starts_with(kField))
			continue;
		const std::string_view declaration =
		    line.substr(kField.size(), line.find(';') - kField.size());
		if (declaration.find(" common_") != std::string_view::npos ||
		    declaration.ends_with("__syscall_nr"))
			continue;
		add(args, declared_type(declaration));
	}
	return args;
}

std::vector<d::ProbeArg> probe_args(const d::ProbeInfo& probe, types::KernelTypes& types,
                                    const std::string& tracing_events) {
	if (probe.provider == "syscall")
		return syscall_args(probe, types, tracing_events);
	std::vector<d::ProbeArg> args = stable_args(probe);
	if (!args.empty() || !types.available())
		return args;
	if (probe.provider == "fbt" || probe.provider == "vfs")
		return function_args(probe, types);
	if (probe.provider == "sdt" || probe.provider == "rawtp")
		return parameters(types.find_tracepoint(probe.name), 1);
	return args;
}

// BTF knows functions only by name. If several functions share a name, pahole writes the type of one
// or some of them, so the type in BTF need not be that of the function that is probed.
std::string why_untyped(const d::ProbeInfo& probe, types::KernelTypes& types) {
	const ProbedFunction function = function_of(probe);
	if (function.name.empty() || !types.available())
		return {};
	if (probe.shared)
		return "several functions are called " + function.name +
		       ", and the kernel's types do not say which is which";
	const unsigned count = types.count_functions(function.name, function.module);
	if (count < 2)
		return {};
	return "the kernel has " + std::to_string(count) + " functions " + function.name +
	       " with different arguments, and does not say which of them is where";
}

} // namespace dfr::recorder
