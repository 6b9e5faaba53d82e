// SPDX-License-Identifier: GPL-2.0
//
// See boot_log.h. A record of /dev/kmsg is "priority,number,time,flags;text", with numbers from 0 on, and perhaps
// lines behind it that belong to it.
#include "analyze/libdfr/boot_log.h"

#include <algorithm>
#include <cstring>

namespace dfr::lib {

void BootLog::add(std::string_view record) {
	if (!begun_)
		whole = record.substr(std::min(record.find(','), record.size())).starts_with(",0,");
	begun_ = true;
	const size_t at = record.find(';'); // its text may be a device's, and have more of them
	if (at != std::string_view::npos && record.substr(at).starts_with(";dfr: "))
		lines.emplace_back(record.substr(at + 1, record.find('\n', at) - at - 1));
}

BootVerdict judge_boot(const BootLog& log, bool asked, bool inside) {
	const auto has = [&log](const char* text) {
		return std::ranges::any_of(log.lines, [text](const std::string& one) {
			return one.find(text) != std::string::npos;
		});
	};
	const bool recorded = has("dfr: boot program is recording");
	const bool helped = has("dfr: loading, because the kernel wants module ");
	const bool first = has("dfr: loading as the first process");
	const bool script = has("dfr: loading by a script of the initrd");
	BootVerdict verdict{.asked = asked || helped || first || script};
	if (recorded)
		verdict.text = first    ? "was traced, from the first process on"
		               : helped ? "was traced, from a request of the kernel for a module on"
		               : script ? "was traced, from a script of the initrd on"
		                        : "was traced";
	else if (!log.whole &&
	         ((verdict.asked && log.lines.empty()) || (!verdict.asked && inside && !has("not traced")))) {
		verdict.known = false;
		verdict.text = std::string(verdict.asked ? "was started for a trace; " : "") +
		               "whether it was traced is not known: " +
		               (log.error ? "/dev/kmsg: " + std::string(std::strerror(log.error))
		                          : "the kernel's log has no line of it any more");
	} else
		verdict.text = verdict.asked ? "was started for a trace and was not traced"
		                             : "was started without a trace";
	return verdict;
}

} // namespace dfr::lib
