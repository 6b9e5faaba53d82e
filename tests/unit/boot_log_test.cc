// SPDX-License-Identifier: GPL-2.0
//
// What `dfr boot status` says of this boot by the kernel's log (analyze/libdfr/boot_log.h), also where the log has lost
// its beginning.
#include <catch2/catch.hpp>

#include <cerrno>

#include "analyze/libdfr/boot_log.h"

namespace boot_log_test {

using namespace dfr;

namespace {

// A log whose first record has this number.
lib::BootLog log_from(unsigned number, std::initializer_list<const char*> lines) {
	lib::BootLog log;
	log.add("6," + std::to_string(number++) + ",0,-;Linux version 6.1\n");
	for (const char* const line : lines)
		log.add("4," + std::to_string(number++) + ",17,-;" + line + "\n SUBSYSTEM=x\n");
	return log;
}

std::string told(const lib::BootLog& log, bool asked, bool inside) {
	const lib::BootVerdict verdict = lib::judge_boot(log, asked, inside);
	CHECK(verdict.known == (verdict.text.find("not known") == std::string::npos));
	return verdict.text;
}

constexpr const char* kRecording = "dfr: boot program is recording, 5 probes: default";

} // namespace

TEST_CASE("boot status: lines of the log say whether this boot was traced, and from when on", "[boot]") {
	const auto log = log_from(0, {"other", "dfr: loading by a script of the initrd", kRecording});
	CHECK(log.lines == std::vector<std::string>{"dfr: loading by a script of the initrd", kRecording});
	CHECK(told(log, false, true) == "was traced, from a script of the initrd on");
	CHECK(told(log_from(9, {kRecording}), false, true) == "was traced");
	CHECK(told(log_from(0, {"dfr: loading, because the kernel wants module x", kRecording}), false,
	           false) == "was traced, from a request of the kernel for a module on");
	CHECK(told(log_from(9, {"dfr: loading as the first process", kRecording}), true, false) ==
	      "was traced, from the first process on");
	CHECK(told(log_from(9, {"dfr: loading by a script of the initrd", "dfr: cannot load"}), false,
	           true) == "was started for a trace and was not traced");
}

TEST_CASE("boot status: what a device calls itself is no line of ours", "[boot]") {
	auto log =
	    log_from(0, {"usb 1-1: Product: x;dfr: boot program is recording", "a\n y;dfr: loading as the "
	                                                                       "first process"});
	CHECK(log.lines.empty());
	CHECK(told(log, false, false) == "was started without a trace");
}

TEST_CASE("boot status: a log that has lost its beginning does not say that there was no trace", "[boot]") {
	for (const bool inside : {false, true}) {
		CHECK(told(log_from(0, {}), false, inside) == "was started without a trace");
		CHECK(told(log_from(0, {}), true, inside) == "was started for a trace and was not traced");
		CHECK(told(log_from(10, {}), true, inside) ==
		      "was started for a trace; whether it was traced is not known: the kernel's log has no "
		      "line of "
		      "it any more");
	}
	CHECK(told(log_from(10, {}), false, false) == "was started without a trace");
	const char* const gone =
	    "whether it was traced is not known: the kernel's log has no line of it any more";
	CHECK(told(log_from(10, {}), false, true) == gone);
	CHECK(told(log_from(10, {"dfr: loaded by hand"}), false, true) == gone);
	CHECK(told(log_from(10, {"dfr: not traced, because the kernel's command line has dfr.off"}), false,
	           true) == "was started without a trace");
	auto overtaken = log_from(0, {});
	overtaken.lost();
	CHECK(told(overtaken, false, true) == gone);
	lib::BootLog unreadable;
	unreadable.error = EPERM;
	CHECK(told(unreadable, false, true) ==
	      "whether it was traced is not known: /dev/kmsg: Operation not permitted");
	CHECK(told(unreadable, true, false) == "was started for a trace; whether it was traced is not known: "
	                                       "/dev/kmsg: Operation not permitted");
}

} // namespace boot_log_test
