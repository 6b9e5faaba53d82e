// SPDX-License-Identifier: GPL-2.0
//
// dfr disasm --function: where the instructions of a kernel function begin that
// the kinst provider can probe, and their bytes. It does not decode them: that is
// objdump's business, and the offsets are the same.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "analyze/cli/dfr.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/types/symbols.h"
#include "recorder/device.h"
#include "recorder/unprobed.h"

namespace dfr::cli {
namespace {

std::string hex(const std::vector<uint8_t>& bytes, uint64_t from, uint64_t to) {
	std::string text;
	for (uint64_t i = from; i < to && i < bytes.size(); i++) {
		char byte[4];
		std::snprintf(byte, sizeof byte, " %02x", bytes[i]);
		text += byte;
	}
	return text;
}

} // namespace

int show_function(const std::string& function) {
	const recorder::Device device;
	const types::Symbols symbols = types::Symbols::from_kallsyms();
	std::map<uint64_t, std::string> offsets; // to their probes
	device.probes({"kinst", "", function, ""}, 0, [&](const recorder::ListedProbe& probe) {
		offsets[std::strtoull(probe.name, nullptr, 10)] =
		    std::string("kinst:") + probe.module + ":" + probe.function + ":" + probe.name;
		return true;
	});
	if (offsets.empty())
		throw Error("no instruction of " + function + " can be probed",
		            recorder::Unprobed(symbols).explain(function));
	const auto symbol = symbols.find(function);
	constexpr uint64_t kInstructionMax = 15;
	const std::vector<uint8_t> bytes =
	    symbol && symbol->address ? recorder::kernel_text("/proc/kcore", symbol->address,
	                                                      offsets.rbegin()->first + kInstructionMax)
	                              : std::vector<uint8_t>();
	for (auto at = offsets.begin(); at != offsets.end(); ++at) {
		const auto next = std::next(at);
		std::printf("%-48s%s\n", shown(at->second),
		            shown(hex(bytes, at->first, next == offsets.end() ? at->first : next->first)));
	}
	return 0;
}

} // namespace dfr::cli
