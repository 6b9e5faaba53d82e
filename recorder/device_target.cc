// SPDX-License-Identifier: GPL-2.0
//
// The compiler's view of the running kernel.
#include "recorder/device_target.h"

#include "recorder/probe_args.h"
#include "recorder/unmet.h"
#include "recorder/unprobed.h"

namespace dfr::recorder {
DeviceTarget::DeviceTarget(const Device& device)
    : device_(device), symbols_(types::Symbols::from_kallsyms()) {}

std::string DeviceTarget::description() const {
	return "the running kernel " + kernel_release();
}

std::string DeviceTarget::kernel_release() const {
	return d::running_host().back();
}

std::vector<std::string> DeviceTarget::host_names() const {
	return d::running_host();
}

void DeviceTarget::match(const d::ProbePattern& pattern,
                         const std::function<bool(const d::ProbeInfo&)>& visit) {
	if (!elsewhere(pattern.host).empty())
		return;
	ProbeGlob glob;
	if (!pattern.id)
		glob = {pattern.provider, pattern.module, pattern.function, pattern.name};
	device_.probes(glob, pattern.id, [&](const ListedProbe& probe) {
		if (pattern.id && probe.id != pattern.id)
			return false; // ids ascend from pattern.id on, so no probe has this id
		d::ProbeInfo info{.id = probe.id,
		                  .provider = probe.provider,
		                  .module = probe.module,
		                  .function = probe.function,
		                  .name = probe.name,
		                  .shared = probe.shared};
		if (probe.nargs)
			info.nargs = *probe.nargs;
		return visit(info) && !pattern.id;
	});
}

// Why nothing matches: the user's privilege does not reach it, this kernel has it switched off, or, if
// the description names one function: the offsets that kinst has there, or why fbt has no probe there.
std::string DeviceTarget::why_absent(const d::ProbePattern& pattern) {
	if (device_.info().flags & DFR_INFO_CONFINED)
		return "unprivileged users have syscall, profile at the rates that `dtrace -l` lists, BEGIN, "
		       "END "
		       "and ERROR only, on their own processes; for others run this as root, or with "
		       "CAP_PERFMON and CAP_BPF";
	if (std::string off = off_of(pattern.provider, pattern.name, unmet()); !off.empty())
		return off;
	if ((pattern.provider != "fbt" && pattern.provider != "kinst") || pattern.function.empty() ||
	    pattern.function.find_first_of("*?[") != std::string::npos)
		return {};
	constexpr size_t kOffsetsShown = 32;
	std::string offsets;
	size_t count = 0;
	device_.probes({pattern.provider, "", pattern.function, ""}, 0, [&](const ListedProbe& probe) {
		if (count++ < kOffsetsShown)
			offsets += std::string(" ") + probe.name;
		return true;
	});
	if (count && pattern.provider == "kinst")
		return "instructions of " + pattern.function + " begin at" + offsets +
		       (count > kOffsetsShown ? " ..." : "") + " (dfr disasm --function " + pattern.function +
		       " shows them)";
	return count ? "" : Unprobed(symbols_).explain(pattern.function);
}

types::KernelTypes& DeviceTarget::types() {
	if (!types_)
		types_ = types::KernelTypes::from_directory("/sys/kernel/btf");
	return *types_;
}

std::vector<d::ProbeArg> DeviceTarget::args(const d::ProbeInfo& probe) {
	return probe_args(probe, types());
}

std::string DeviceTarget::why_untyped(const d::ProbeInfo& probe) {
	return recorder::why_untyped(probe, types());
}

const types::Container* DeviceTarget::kernel_types(std::string_view module) {
	if (module.empty() || module == "vmlinux")
		return types().available() ? &types().vmlinux() : nullptr;
	return types().container(module);
}

std::vector<std::string> DeviceTarget::type_modules() {
	std::vector<std::string> names = types().names();
	if (!names.empty() && names.front() == "vmlinux")
		names.erase(names.begin());
	return names;
}

std::optional<d::TargetSymbol> DeviceTarget::symbol(std::string_view module, std::string_view name) {
	const std::optional<types::Symbol> found = symbols_.find(name, module);
	if (!found)
		return std::nullopt;
	return d::TargetSymbol{.module = std::string(found->module),
	                       .name = std::string(found->name),
	                       .address = found->address,
	                       .size = found->size};
}

} // namespace dfr::recorder
