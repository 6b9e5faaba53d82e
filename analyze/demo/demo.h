// SPDX-License-Identifier: GPL-2.0
//
// The recording that comes with the product, embedded by the build from demo.dfr
// of this folder (size 0 where the file is not there).
#pragma once

#include <cstddef>

namespace dfr::demo {

extern const char* const kRecording;
extern const size_t kRecordingSize;
// The command that made it, in a guest of tests/vm/run.
inline constexpr const char* kCommand =
    "dfr record -o demo.dfr -n 'syscall:::entry { capture(); @calls[execname] = count(); }' -- "
    "sh -c 'find / -xdev -type f | sort | head -40 | xargs md5sum | cut -c 1-8 | sort | uniq -c | tail -1; "
    "dd if=/dev/zero bs=512 count=300 | gzip | wc -c; ps | grep -c kworker; sleep 0.2; ls -lR /sys/class | "
    "wc -l'";

} // namespace dfr::demo
