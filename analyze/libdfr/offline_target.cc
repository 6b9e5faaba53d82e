// SPDX-License-Identifier: GPL-2.0
//
// A kernel that is not running, as a compilation target.
#include "analyze/libdfr/offline_target.h"

#include <sys/stat.h>

namespace dfr::lib {

OfflineTarget::OfflineTarget(std::string types_path, std::string release)
    : path_(std::move(types_path)), release_(std::move(release)) {}

std::string OfflineTarget::description() const {
	if (!release_.empty())
		return "kernel " + release_;
	return path_.empty() ? "a kernel that is not running" : path_;
}

types::KernelTypes* OfflineTarget::types() {
	if (!tried_) {
		tried_ = true;
		struct stat about {};
		const std::string path = path_.empty() ? "/sys/kernel/btf" : path_;
		const bool there = ::stat(path.c_str(), &about) == 0;
		if (there && S_ISDIR(about.st_mode))
			types_ = types::KernelTypes::from_directory(path);
		else if (there || !path_.empty())
			types_ = types::KernelTypes::from_image(path);
	}
	return types_ && types_->available() ? types_.get() : nullptr;
}

const types::Container* OfflineTarget::kernel_types(std::string_view module) {
	types::KernelTypes* const known = types();
	return known ? known->container(module.empty() ? "vmlinux" : module) : nullptr;
}

std::vector<std::string> OfflineTarget::type_modules() {
	types::KernelTypes* const known = types();
	auto names = known ? known->names() : std::vector<std::string>{};
	std::erase(names, "vmlinux");
	return names;
}

} // namespace dfr::lib
