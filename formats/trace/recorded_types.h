// SPDX-License-Identifier: GPL-2.0
//
// RecordedTypes: what a TYPES segment holds of the kernel that was recorded: types as
// BTF, and what the arguments of the recorded probes are, so that another machine and
// another boot can compile questions. recorder/type_collector.h fills it. Here BTF is
// bytes: formats/types/btf.h reads them, and trusts nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dfr::trace {

struct RecordedTypes {
	struct TypedArgument { // as d::ProbeArg
		std::string native, translated, name;
		uint32_t mapping = 0;
		bool user = false;
	};
	struct ProbeArguments {
		std::vector<TypedArgument> args = {};
		std::string why_untyped = {}; // why there are none; empty: nothing more is known
	};

	uint64_t digest = 0;   // of all of vmlinux's BTF: whose types these are
	uint64_t left_out = 0; // types and probes for which there was no room
	std::map<std::string, std::vector<std::byte>>
	    btf;                                      // by container: vmlinux, modules; each stands alone
	std::map<std::string, ProbeArguments> probes; // by Probe::text()
	bool empty() const { return btf.empty(); }
};

// What Cap'n Proto refuses: dfr::Error.
std::vector<std::byte> encode_types(const RecordedTypes& types);
RecordedTypes decode_types(std::span<const std::byte> payload);

} // namespace dfr::trace
