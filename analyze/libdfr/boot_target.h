// SPDX-License-Identifier: GPL-2.0
//
// BootTarget: an installed kernel whose boot is to be traced, as a compilation target. It knows the probes that this
// kernel will have as far as its types tell: functions, tracepoints and system calls by name, and those of the
// providers that are tables. What is asked of other providers is decided at the boot.
#pragma once

#include <string>

#include "analyze/libdfr/offline_target.h"

namespace dfr::lib {

class BootTarget final : public OfflineTarget {
public:
	// modules: the folder /lib/modules/RELEASE; empty: functions of modules are not known.
	BootTarget(std::string types_path, std::string release, std::string modules);

	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override;

	// What a description will match, in a sentence. `matches`: something will, or it is decided at the boot.
	struct Forecast {
		bool matches = true;
		std::string text;
	};
	Forecast forecast(const d::ProbePattern& pattern);

private:
	bool match_table(const d::ProbePattern& pattern,
	                 const std::function<bool(const d::ProbeInfo&)>& visit);
	bool match_types(const d::ProbePattern& pattern,
	                 const std::function<bool(const d::ProbeInfo&)>& visit);
	bool match_functions(const d::ProbePattern& pattern, const types::Container& container,
	                     const std::function<bool(const d::ProbeInfo&)>& visit);
	std::string nearest(const d::ProbePattern& pattern);

	std::string modules_;
	bool added_ = false;
};

} // namespace dfr::lib
