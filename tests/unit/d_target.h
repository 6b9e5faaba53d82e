// SPDX-License-Identifier: GPL-2.0
//
// A target for the compiler's tests: a handful of probes and kernel types that
// a test declares itself. Not a fake of a kernel: nothing is executed against it.
#pragma once

#include <fnmatch.h>

#include "formats/d/compile.h"
#include "formats/d/target.h"
#include "formats/types/program_types.h"

namespace dfr::test {

class TestTarget : public d::Target {
public:
	TestTarget() {
		add("dtrace", "", "", "BEGIN");
		add("dtrace", "", "", "END");
		add("dtrace", "", "", "ERROR");
		add("syscall", "vmlinux", "read", "entry");
		add("syscall", "vmlinux", "read", "return");
		add("fbt", "vmlinux", "vfs_read", "entry");
		add("profile", "", "", "tick-1s");
	}
	void add(const char* provider, const char* module, const char* function, const char* name) {
		d::ProbeInfo probe;
		probe.id = static_cast<uint32_t>(probes.size() + 1);
		probe.provider = provider;
		probe.module = module;
		probe.function = function;
		probe.name = name;
		probes.push_back(probe);
	}

	std::string description() const override { return "the test"; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override {
		const auto fits = [](const std::string& glob, const std::string& text) {
			return glob.empty() || fnmatch(glob.c_str(), text.c_str(), 0) == 0;
		};
		for (const d::ProbeInfo& probe : probes) {
			if ((pattern.id && pattern.id != probe.id) ||
			    !fits(pattern.provider, probe.provider) || !fits(pattern.module, probe.module) ||
			    !fits(pattern.function, probe.function) || !fits(pattern.name, probe.name))
				continue;
			if (!visit(probe))
				return;
		}
	}
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override {
		const auto known = arguments.find(probe.id);
		return known == arguments.end() ? std::vector<d::ProbeArg>() : known->second;
	}
	const types::Container* kernel_types(std::string_view module) override {
		return module.empty() || module == "vmlinux" ? &kernel : nullptr;
	}
	std::optional<d::TargetSymbol> symbol(std::string_view, std::string_view name) override {
		const auto known = symbols.find(std::string(name));
		if (known == symbols.end())
			return std::nullopt;
		return d::TargetSymbol{"vmlinux", known->first, known->second, 8};
	}
	bool has_addresses() const override { return addresses; }
	bool has_kernel() const override { return true; }
	std::string kernel_release() const override { return "6.1.0"; }

	std::vector<d::ProbeInfo> probes;
	std::map<uint32_t, std::vector<d::ProbeArg>> arguments;
	std::map<std::string, uint64_t> symbols;
	types::ProgramTypes kernel{"vmlinux"};
	bool addresses = true;
};

struct Result {
	d::Compiled compiled;
	d::Diagnostics diagnostics;
};

inline Result compile(const std::string& source, d::Target& target, d::CompileOptions options = {}) {
	Result result;
	if (options.name.empty())
		options.name = "test.d";
	result.compiled = d::compile(source, options, target, result.diagnostics);
	return result;
}

} // namespace dfr::test
