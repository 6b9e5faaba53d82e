// SPDX-License-Identifier: GPL-2.0
//
// The kernel's own events of a boot (analyze/libdfr/boot_initcalls.h), from text as tracefs has it (kernel_text.h;
// Documentation/trace/ftrace.rst, "The File System" and "Output format").
#include <catch2/catch.hpp>

#include <sstream>

#include "analyze/libdfr/boot_initcalls.h"
#include "analyze/libdfr/kernel_text.h"

namespace boot_initcalls_test {

using namespace dfr;

namespace {

constexpr const char* kTrace =
    "# tracer: nop\n"
    "#\n"
    "# entries-in-buffer/entries-written: 16/22   #P:2\n"
    "#\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "          <idle>-0       [000] ...1.     0.000000: initcall_level: level=console\n"
    "          <idle>-0       [000] ...1.     0.000000: initcall_start: func=con_init+0x0/0x22c\n"
    "          <idle>-0       [000] ...1.     0.000000: initcall_finish: func=con_init+0x0/0x22c ret=0\n"
    "       swapper/0-1       [001] .....     0.250000: initcall_level: level=device\n"
    "       swapper/0-1       [001] .....     0.300000: initcall_start: func=acpi_init+0x0/0x35\n"
    "       swapper/0-1       [001] .....     1.500001: initcall_finish: func=acpi_init+0x0/0x35 ret=-19\n"
    "          insmod-98      [000] .....     5.846904: module_load: virtio \n"
    " my [0] task-1-98      [000] .....     5.846945: initcall_start: func=virtio_init+0x0/0x20 [virtio]\n"
    "       swapper/0-1       [001] d..1.     5.847000: initcall_start: func=late_one+0x0/0x9\n"
    "          insmod-98      [000] .....     5.847150: initcall_finish: func=virtio_init+0x0/0x20 [virtio] "
    "ret=0\n"
    "          insmod-99      [001] .....     5.873431: module_load: virtio_pci E\n"
    "          insmod-99      [001] .....     5.873461: initcall_start: func=0xffffffffc0486000\n"
    "          insmod-99      [001] .....     5.896595: initcall_finish: func=0xffffffffc0486000 ret=0\n"
    "        dfr-init-1     [001] .....     5.900000: module_load: dfr OE\n"
    "        dfr-init-1     [001] .....     5.900100: initcall_start: func=virtio_init+0x0/0x20 [virtio]\n";

lib::KernelText read(const std::string& text, size_t most = SIZE_MAX) {
	std::istringstream stream(text);
	return lib::read_kernel_text(stream, most);
}

lib::BootInitcalls initcalls(const std::string& text) {
	return lib::boot_initcalls(read(text).events);
}

} // namespace

TEST_CASE("boot initcalls: each has its time, its level or module, and its result", "[boot]") {
	const lib::BootInitcalls events = initcalls(kTrace);
	CHECK(events.unread == 0);
	REQUIRE(events.levels.size() == 2);
	CHECK(events.levels[0].name == "console");
	CHECK(events.levels[0].to == 250'000'000);
	CHECK(events.levels[1].from == 250'000'000);
	CHECK(events.levels[1].to == 1'500'001'000); // the kernel's last initcall that ended
	const struct {
		const char *name, *module, *level;
		uint32_t pid;
		uint64_t from, to;
		int64_t result;
		bool ended;
	} wanted[] = {{"con_init", "", "console", 0, 0, 0, 0, true},
	              {"acpi_init", "", "device", 1, 300'000'000, 1'500'001'000, -19, true},
	              {"virtio_init", "virtio", "", 98, 5'846'945'000, 5'847'150'000, 0, true},
	              {"late_one", "", "device", 1, 5'847'000'000, 5'900'100'000, 0, false},
	              {"init", "virtio_pci", "", 99, 5'873'461'000, 5'896'595'000, 0, true},
	              {"init", "dfr", "", 1, 5'900'100'000, 5'900'100'000, 0, false}};
	REQUIRE(events.calls.size() == std::size(wanted));
	for (size_t i = 0; i < events.calls.size(); i++) {
		const lib::BootInitcall& call = events.calls[i];
		CHECK(call.name == wanted[i].name);
		CHECK(call.module == wanted[i].module);
		CHECK(call.level == wanted[i].level);
		CHECK(call.pid == wanted[i].pid);
		CHECK(call.from == wanted[i].from);
		CHECK(call.to == wanted[i].to);
		CHECK(call.result == wanted[i].result);
		CHECK(call.ended == wanted[i].ended);
	}
}

TEST_CASE("boot initcalls: an end may stand before its beginning within a tick", "[boot]") {
	const std::string text =
	    "  swapper/0-1 [001] ..... 1.080000: initcall_finish: func=a+0x0/0x1 ret=-5\n"
	    "  swapper/0-1 [001] ..... 1.080000: initcall_start: func=b+0x0/0x1\n"
	    "  swapper/0-1 [000] ..... 1.080000: initcall_start: func=a+0x0/0x1\n"
	    "  swapper/0-1 [001] ..... 1.084000: initcall_finish: func=b+0x0/0x1 ret=0\n"
	    "  swapper/0-1 [000] ..... 1.088000: initcall_start: func=a+0x0/0x1\n"
	    "  swapper/0-1 [001] ..... 1.090000: initcall_finish: func=c+0x0/0x1 ret=0\n"
	    "  swapper/0-1 [001] ..... 1.100001: initcall_start: func=c+0x0/0x1\n"
	    "  swapper/0-1 [001] ..... 1.101000: initcall_finish: func=d+0x0/0x1 ret=0\n"
	    "  swapper/0-1 [000] ..... 1.101007: initcall_start: func=d+0x0/0x1\n";
	const lib::BootInitcalls events = initcalls(text);
	CHECK(events.unread ==
	      1); // an end more than a tick before is that of a call whose beginning is not there
	REQUIRE(events.calls.size() == 5);
	for (size_t i = 0; i < 5; i++)
		CHECK(events.calls[i].ended == (i < 2 || i == 4));
	CHECK(events.calls[4].to == 1'101'007'000);
	CHECK(events.calls[0].to == 1'084'000'000);
	CHECK(events.calls[1].name == "a");
	CHECK(events.calls[1].to == 1'080'000'000);
	CHECK(events.calls[1].result == -5);
}

// A process ran a on CPU 0 and, from a's end on, on CPU 1, and was back on CPU 0 before b ended, all within one tick.
TEST_CASE("boot initcalls: a call may begin before the end of the one before it", "[boot]") {
	const lib::BootInitcalls events =
	    initcalls("  swapper/0-1 [000] ..... 0.963000: initcall_start: func=a+0x0/0x1\n"
	              "  swapper/0-1 [000] ..... 0.963000: initcall_finish: func=b+0x0/0x1 ret=0\n"
	              "  swapper/0-1 [000] ..... 0.963000: initcall_start: func=c+0x0/0x1\n"
	              "  swapper/0-1 [001] ..... 0.963000: initcall_finish: func=a+0x0/0x1 ret=0\n"
	              "  swapper/0-1 [001] ..... 0.963000: initcall_start: func=b+0x0/0x1\n"
	              "  swapper/0-1 [000] ..... 0.967000: initcall_finish: func=c+0x0/0x1 ret=0\n");
	CHECK(events.unread == 0);
	REQUIRE(events.calls.size() == 3);
	for (const lib::BootInitcall& call : events.calls)
		CHECK(call.ended);
}

TEST_CASE("boot initcalls: what is no line of these is counted, and a cut anywhere is read", "[boot]") {
	const std::string whole = kTrace;
	for (size_t length = 0; length <= whole.size(); length++)
		CHECK_NOTHROW(initcalls(whole.substr(0, length)));
	for (size_t at = 0; at < whole.size(); at++)
		for (const char byte : {'\n', '\0', ' ', '9', '['}) {
			std::string harmed = whole;
			harmed[at] = byte;
			CHECK_NOTHROW(initcalls(harmed));
		}
	const lib::KernelText text =
	    read("what is this\n"
	         "  x-1 [000] ..... 99999999999999999999.000000: initcall_level: level=a\n"
	         "  x-1 [000] ..... 1.000000: initcall_finish: func=f+0x0/0x1 ret=0\n"
	         "  x-1 [000] ..... 1.000000: tracing_mark_write: initcall_finish\n"
	         "  x-1 [0x0] ..... 1.000000: initcall_level: level=a\n"
	         "  x-y [000] ..... 1.000000: initcall_level: level=a\n"
	         ": initcall_start: func=x\n");
	CHECK(text.foreign == 6);
	CHECK_FALSE(text.cut);
	const lib::BootInitcalls events = lib::boot_initcalls(text.events);
	CHECK(events.unread == 1); // its beginning is not there
	CHECK(events.calls.empty());
	CHECK(events.levels.empty());
}

TEST_CASE("boot initcalls: each event has its CPU and its text, and no more is taken than there is room for",
          "[boot]") {
	const lib::KernelText text = read(kTrace);
	CHECK(text.foreign == 0);
	const trace::KernelEvents& events = text.events;
	REQUIRE(events.events.size() == 15);
	CHECK(events.events[5].time == 1'500'001'000);
	CHECK(events.events[5].cpu == 1);
	CHECK(events.events[5].pid == 1);
	CHECK(events.texts[events.events[5].name] == "initcall_finish");
	CHECK(events.texts[events.events[5].text] == "func=acpi_init+0x0/0x35 ret=-19");
	CHECK(events.texts.size() < 2 * events.events.size()); // each once
	const std::string line = "  x-1 [000] ..... 9.000000: initcall_start: func=f+0x0/0x1\n";
	const lib::KernelText some = read("# head\n" + line + line + line, 2 * line.size());
	CHECK(some.events.events.size() == 2);
	CHECK(some.cut);
}

TEST_CASE("boot initcalls: nothing ends before it begins, and remarks and losses are passed on", "[boot]") {
	lib::KernelText text = read("  x-1 [000] ..... 9.000000: initcall_start: func=f+0x0/0x1\n"
	                            "  x-1 [000] ..... 1.000000: initcall_finish: func=f+0x0/0x1 ret=0\n");
	text.events.remarks = {"a remark"};
	text.events.lost = 6;
	const lib::BootInitcalls events = lib::boot_initcalls(text.events);
	CHECK(events.remarks == std::vector<std::string>{"a remark"});
	CHECK(events.lost == 6);
	REQUIRE(events.calls.size() == 1);
	CHECK(events.calls[0].to == events.calls[0].from);
}

// Documentation/trace/ring-buffer-design.rst has the two ways of losing: overwriting, and producing no more.
TEST_CASE("boot initcalls: what the kernel's buffer lost is what its counters say", "[boot]") {
	CHECK(lib::lost_kernel_events("entries: 716\noverrun: 5\ncommit overrun: 2\nbytes: 58816\n"
	                              "oldest event ts:     0.000000\nnow ts:     8.123456\n"
	                              "dropped events: 10\nread events: 0\n") == 17u);
	CHECK(lib::lost_kernel_events("entries: 716\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n") ==
	      0u);
	CHECK_FALSE(lib::lost_kernel_events(""));
	CHECK_FALSE(lib::lost_kernel_events("overrun: many\n"));
}

TEST_CASE("boot initcalls: an event of another kind is counted and nothing else", "[boot]") {
	trace::KernelEventsBuilder kept;
	kept.add(1, 0, 1, "initcall_start", "func=f+0x0/0x1");
	kept.add(2, 0, 1, "of a newer dfr", "func=f+0x0/0x1");
	const lib::BootInitcalls events = lib::boot_initcalls(kept.events);
	CHECK(events.unread == 1);
	CHECK(events.calls.size() == 1);
	CHECK(events.levels.empty());
}

} // namespace boot_initcalls_test
