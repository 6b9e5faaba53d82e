/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint of a module, with more arguments than registers carry. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dfr_test

#if !defined(DFR_TEST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DFR_TEST_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(dfr_test_called,
            TP_PROTO(int first, long second, const char* third, u8 fourth, u64 fifth, int sixth,
                     long seventh),
            TP_ARGS(first, second, third, fourth, fifth, sixth, seventh),
            TP_STRUCT__entry(__field(int, first)), TP_fast_assign(__entry->first = first;),
            TP_printk("%d", __entry->first));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE dfr_test_trace
#include <trace/define_trace.h>
