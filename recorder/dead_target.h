// SPDX-License-Identifier: GPL-2.0
//
// DeadTarget: a dead kernel as the target of a TypeCollector, by the types that it had of
// itself. Of its modules it knows none, and nothing of system calls, whose arguments the
// tracing file system of a kernel that lives describes. Hostile types: dfr::Error.
#pragma once

#include <string>
#include <vector>

#include "formats/d/target.h"
#include "formats/types/kernel_types.h"
#include "recorder/probe_args.h"

namespace dfr::recorder {

class DeadTarget final : public d::Target {
public:
	// Of the kernel proper. They have to be there as long as this is.
	explicit DeadTarget(types::KernelTypes& types) : types_(types) {}

	std::string description() const override { return "a dead kernel"; }
	void match(const d::ProbePattern&, const std::function<bool(const d::ProbeInfo&)>&) override {}
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override {
		return probe.provider == "syscall" ? std::vector<d::ProbeArg>{} : probe_args(probe, types_);
	}
	std::string why_untyped(const d::ProbeInfo& probe) override {
		return recorder::why_untyped(probe, types_);
	}
	const types::Container* kernel_types(std::string_view module) override {
		return types_.container(module);
	}
	bool has_addresses() const override { return false; }
	bool has_kernel() const override { return true; }

private:
	types::KernelTypes& types_;
};

} // namespace dfr::recorder
