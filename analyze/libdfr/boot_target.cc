// SPDX-License-Identifier: GPL-2.0
//
// See boot_target.h. Functions are those in the kernel's BTF, which lists what ftrace can patch; tracepoints have a
// function __traceiter_NAME there, system calls one __x64_sys_NAME or __arm64_sys_NAME.
#include "analyze/libdfr/boot_target.h"

#include <algorithm>
#include <fnmatch.h>
#include <set>

#include "formats/d/suggest.h"
#include "formats/types/btf.h"
#include "recorder/probe_args.h"

namespace dfr::lib {
namespace {

struct ProviderTable {
	const char* provider;
	const char* module;
	std::vector<const char*> functions, names;
};

// As kmod/providers has them.
const std::vector<ProviderTable>& tables() {
	static const std::vector<ProviderTable> all = {
	    {"dtrace", "", {""}, {"BEGIN", "END", "ERROR"}},
	    {"proc",
	     "vmlinux",
	     {""},
	     {"create", "start", "exec", "exec-success", "exec-failure", "exit", "lwp-create", "lwp-start",
	      "lwp-exit", "signal-send", "signal-discard", "signal-clear", "signal-handle"}},
	    {"sched",
	     "vmlinux",
	     {""},
	     {"change-pri", "enqueue", "dequeue", "off-cpu", "on-cpu", "preempt", "sleep", "surrender",
	      "tick", "wakeup"}},
	    {"io", "vmlinux", {""}, {"start", "done", "wait-start", "wait-done"}},
	    {"vfs",
	     "vmlinux",
	     {"open",    "read",   "write",   "fsync",    "llseek",  "create",   "mkdir",
	      "rmdir",   "mknod",  "unlink",  "link",     "symlink", "rename",   "getattr",
	      "setattr", "statfs", "iterate", "truncate", "lookup",  "fallocate"},
	     {"entry", "return"}},
	};
	return all;
}

bool matches(const std::string& glob, std::string_view text) {
	return glob.empty() || ::fnmatch(glob.c_str(), std::string(text).c_str(), 0) == 0;
}

bool is_glob(const std::string& text) {
	return text.find_first_of("*?[") != std::string::npos;
}

// "__traceiter_sched_switch" without "__traceiter_"; empty: it is none.
std::string_view after(std::string_view name, std::initializer_list<std::string_view> prefixes) {
	for (const std::string_view prefix : prefixes)
		if (name.starts_with(prefix))
			return name.substr(prefix.size());
	return {};
}

std::string_view tracepoint_of(std::string_view function) {
	return after(function, {"__traceiter_"});
}

std::string_view syscall_of(std::string_view function) {
	return after(function, {"__x64_sys_", "__arm64_sys_"});
}

std::string number(size_t count, const char* one, const char* many) {
	return std::to_string(count) + " " + (count == 1 ? one : many);
}

} // namespace

BootTarget::BootTarget(std::string types_path, std::string release, std::string modules)
    : OfflineTarget(std::move(types_path), std::move(release)), modules_(std::move(modules)) {}

bool BootTarget::match_table(const d::ProbePattern& pattern,
                             const std::function<bool(const d::ProbeInfo&)>& visit) {
	for (const ProviderTable& table : tables()) {
		if (!matches(pattern.provider, table.provider) || !matches(pattern.module, table.module))
			continue;
		for (const char* const function : table.functions)
			for (const char* const name : table.names)
				if (matches(pattern.function, function) && matches(pattern.name, name) &&
				    !visit({.provider = table.provider,
				            .module = table.module,
				            .function = function,
				            .name = name}))
					return false;
	}
	return true;
}

bool BootTarget::match_functions(const d::ProbePattern& pattern, const types::Container& container,
                                 const std::function<bool(const d::ProbeInfo&)>& visit) {
	bool go_on = true;
	const std::string module(container.name());
	const auto tell = [&](const d::ProbeInfo& probe) { go_on = go_on && visit(probe); };
	const auto wants = [&pattern](const char* provider, std::string_view function,
	                              std::string_view name) {
		return matches(pattern.provider, provider) && matches(pattern.function, function) &&
		       matches(pattern.name, name);
	};
	dynamic_cast<const types::Btf&>(container).each_function(
	    [&](std::string_view function, types::TypeRef) {
		    // The group that a tracepoint is in, sdt's module, is not in the types.
		    if (const auto point = tracepoint_of(function); !point.empty()) {
			    for (const char* const provider : {"sdt", "rawtp"})
				    if (wants(provider, "", point))
					    tell({.provider = provider,
					          .module = pattern.module,
					          .name = std::string(point)});
			    return go_on;
		    }
		    const auto call = syscall_of(function);
		    for (const char* const name : {"entry", "return"}) {
			    if (wants("fbt", function, name) && matches(pattern.module, module))
				    tell({.provider = "fbt",
				          .module = module,
				          .function = std::string(function),
				          .name = name});
			    if (!call.empty() && wants("syscall", call, name) &&
			        matches(pattern.module, "vmlinux"))
				    tell({.provider = "syscall",
				          .module = "vmlinux",
				          .function = std::string(call),
				          .name = name});
		    }
		    return go_on;
	    });
	return go_on;
}

bool BootTarget::match_types(const d::ProbePattern& pattern,
                             const std::function<bool(const d::ProbeInfo&)>& visit) {
	const bool asked =
	    std::ranges::any_of(std::initializer_list<const char*>{"fbt", "sdt", "rawtp", "syscall"},
	                        [&](const char* provider) { return matches(pattern.provider, provider); });
	types::KernelTypes* const known = asked ? types() : nullptr;
	if (!known)
		return true;
	if (!match_functions(pattern, known->vmlinux(), visit))
		return false;
	// Modules are opened one by one only where a description names them.
	if (pattern.provider != "fbt" || pattern.module.empty() || pattern.module == "vmlinux" ||
	    modules_.empty())
		return true;
	if (!added_)
		known->add_modules(modules_);
	added_ = true;
	for (const std::string& name : known->names()) {
		const types::Container* const module =
		    name != "vmlinux" && matches(pattern.module, name) ? known->container(name) : nullptr;
		if (module && !match_functions(pattern, *module, visit))
			return false;
	}
	return true;
}

void BootTarget::match(const d::ProbePattern& pattern,
                       const std::function<bool(const d::ProbeInfo&)>& visit) {
	if (match_table(pattern, visit))
		match_types(pattern, visit);
}

std::vector<d::ProbeArg> BootTarget::args(const d::ProbeInfo& probe) {
	types::KernelTypes* const known = types();
	// The running kernel's list of arguments of system calls is not this kernel's.
	return known ? recorder::probe_args(probe, *known, "/nonexistent") : std::vector<d::ProbeArg>{};
}

// The sentence about the name that comes nearest, in the field that is wrong.
std::string BootTarget::nearest(const d::ProbePattern& pattern) {
	if (const auto instead = d::foreign_probe(pattern.provider, pattern.function); !instead.empty())
		return std::string(instead);
	if (std::string moved = d::counted_from_left(*this, pattern, false); !moved.empty())
		return moved;
	d::ProbePattern wider = pattern;
	std::set<std::string> names;
	const bool by_function = !pattern.function.empty() && !is_glob(pattern.function);
	(by_function ? wider.function : wider.name).clear();
	match(wider, [&](const d::ProbeInfo& probe) {
		names.insert(by_function ? probe.function : probe.name);
		return true;
	});
	return d::suggest(by_function ? pattern.function : pattern.name, {names.begin(), names.end()});
}

BootTarget::Forecast BootTarget::forecast(const d::ProbePattern& pattern) {
	if (pattern.provider == "profile" || pattern.provider == "tick" ||
	    pattern.name.starts_with("tick-") || pattern.name.starts_with("profile-"))
		return {true, "made when it is armed"};
	if (pattern.provider == "kinst")
		return {true, "decided at the boot: instructions are looked for in the running kernel"};
	std::set<std::string> providers;
	size_t count = 0;
	match(pattern, [&](const d::ProbeInfo& probe) {
		providers.insert(probe.provider);
		count++;
		return true;
	});
	std::string of;
	for (const std::string& provider : providers)
		of += (of.empty() ? " of " : ", ") + provider;
	if (count)
		return {true, number(count, "probe", "probes") + of};
	std::string why = "nothing: " + description() + " has no such probe";
	if (!types())
		why = "not known: there are no types of " + description();
	const std::string hint = nearest(pattern);
	return {!types(), why + (hint.empty() ? "" : "; " + hint)};
}

} // namespace dfr::lib
