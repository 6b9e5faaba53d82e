// SPDX-License-Identifier: GPL-2.0
//
// demo.dfr as bytes of the program. The assembler reads it: no generated source.
#include "analyze/demo/demo.h"

#ifdef DFR_DEMO_FILE
__asm__(".section .rodata\n"
        ".balign 16\n"
        "dfr_demo_start: .incbin \"" DFR_DEMO_FILE "\"\n"
        "dfr_demo_end:\n"
        ".previous\n");
extern const char start[] __asm__("dfr_demo_start");
extern const char end[] __asm__("dfr_demo_end");
#else
static const char start[1] = {0};
#define end start
#endif

namespace dfr::demo {

const char* const kRecording = start;
const size_t kRecordingSize = static_cast<size_t>(end - start);

} // namespace dfr::demo
