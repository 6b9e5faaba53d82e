// SPDX-License-Identifier: GPL-2.0
//
// DeviceTarget: the running kernel as a compilation target. Probes come from the
// module, types from the kernel's BTF, symbols from /proc/kallsyms; each is read
// only when the compiler asks for it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "formats/d/target.h"
#include "formats/types/kernel_types.h"
#include "formats/types/symbols.h"
#include "recorder/device.h"

namespace dfr::recorder {

class DeviceTarget : public d::Target {
public:
	// Keeps a reference to the device.
	explicit DeviceTarget(const Device& device);

	std::string description() const override;
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	std::string why_absent(const d::ProbePattern& pattern) override;
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override;
	std::string why_untyped(const d::ProbeInfo& probe) override;
	const types::Container* kernel_types(std::string_view module) override;
	std::vector<std::string> type_modules() override;
	std::optional<d::TargetSymbol> symbol(std::string_view module, std::string_view name) override;
	bool has_addresses() const override { return symbols_.has_addresses(); }
	bool has_kernel() const override { return true; }
	std::string kernel_release() const override;
	std::vector<std::string> host_names() const override;

	const types::Symbols& symbols() const { return symbols_; }
	types::KernelTypes& types();

private:
	const Device& device_;
	types::Symbols symbols_;
	std::unique_ptr<types::KernelTypes> types_;
};

} // namespace dfr::recorder
