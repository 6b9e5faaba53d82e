// SPDX-License-Identifier: GPL-2.0
//
// OfflineTarget: a kernel that is not running: its types from an image or a
// directory of BTF, its probes unknown, so every description is kept for the
// engine to match (-Z). Addresses become relocations.
#pragma once

#include <memory>
#include <string>

#include "formats/d/target.h"
#include "formats/types/kernel_types.h"

namespace dfr::lib {

class OfflineTarget : public d::Target {
public:
	// A vmlinux, vmlinuz or BTF file, or a directory of BTF; empty: the running kernel's, if it has any.
	OfflineTarget(std::string types_path, std::string release);

	std::string description() const override;
	void match(const d::ProbePattern&, const std::function<bool(const d::ProbeInfo&)>&) override {}
	const types::Container* kernel_types(std::string_view module) override;
	std::vector<std::string> type_modules() override;
	bool has_addresses() const override { return false; }
	bool has_kernel() const override { return true; }
	std::string kernel_release() const override { return release_; }

protected:
	types::KernelTypes* types(); // null: it has none

private:
	std::string path_, release_;
	std::unique_ptr<types::KernelTypes> types_;
	bool tried_ = false;
};

} // namespace dfr::lib
