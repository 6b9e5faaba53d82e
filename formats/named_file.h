// SPDX-License-Identifier: GPL-2.0
//
// Files that somebody names and that are read whole: programs in D, DOFs, listings.
#pragma once

#include <cstddef>
#include <cstdio>

namespace dfr {

inline constexpr std::size_t kNamedFileMost = 64 << 20;

// Appends what the file has; false: that is more than 64 MiB, or has no end, as /dev/zero. Whether all of it could be read
// is std::ferror()'s to say.
template <typename Bytes> bool read_named_file(std::FILE* file, Bytes& into) {
	char buffer[16384];
	while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) {
		const auto* const bytes = reinterpret_cast<const typename Bytes::value_type*>(buffer);
		into.insert(into.end(), bytes, bytes + got);
		if (into.size() > kNamedFileMost)
			return false;
	}
	return true;
}

} // namespace dfr
