// SPDX-License-Identifier: GPL-2.0
//
// Types of probe arguments, from the formats that the kernel's tracing file
// system has for system calls (shape as Debian's 6.1 and 6.12 print it) and from
// the tables of kmod/providers/PROVIDERS.md.
#include <catch2/catch.hpp>

#include "formats/types/kernel_types.h"
#include "recorder/device.h"
#include "recorder/probe_args.h"

namespace recorder_args_test {

using namespace dfr;

TEST_CASE("system call arguments come from the event's format", "[recorder]") {
	const auto args = recorder::parse_event_format(
	    "name: sys_enter_openat\n"
	    "ID: 675\n"
	    "format:\n"
	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	    "\n"
	    "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	    "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	    "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
	    "\tfield:struct stat __user *buf;\toffset:32;\tsize:8;\tsigned:0;\n"
	    "\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
	    "\nprint fmt: \"dfd: 0x%08lx\", ((unsigned long)(REC->dfd))\n");
	REQUIRE(args.size() == 4);
	CHECK(args[0].native == "int");
	CHECK(args[1].native == "const char *");
	CHECK(args[2].native == "struct stat *");
	CHECK(args[3].native == "umode_t");
	CHECK(args[3].mapping == 3);
}

TEST_CASE("stable providers translate their arguments", "[recorder]") {
	const auto types = types::KernelTypes::from_directory("/nonexistent");
	const auto args =
	    recorder::probe_args({.provider = "sched", .name = "enqueue"}, *types, "/nonexistent");
	REQUIRE(args.size() == 4);
	CHECK(args[0].translated == "lwpsinfo_t *");
	CHECK(args[1].translated == "psinfo_t *");
	CHECK(args[2].translated == "cpuinfo_t *");
	CHECK(args[2].mapping == 2);
	CHECK(args[3].native == "int");
	CHECK(recorder::probe_args({.provider = "sched", .name = "sleep"}, *types, "/nonexistent").empty());
	CHECK(recorder::probe_args({.provider = "syscall", .function = "x", .name = "entry"}, *types,
	                           "/nonexistent")
	          .size() == 6);
	CHECK(recorder::probe_args({.provider = "syscall", .function = "x", .name = "return"}, *types,
	                           "/nonexistent")
	          .size() == 2);
}

TEST_CASE("a missing device is explained", "[recorder]") {
	const recorder::DeviceAccess access = recorder::device_access("/nonexistent/dfr");
	CHECK(!access.loaded);
	CHECK(!access.permitted);
	CHECK(access.why.find("/nonexistent/dfr") != std::string::npos);
	CHECK(access.hint.find("modprobe dfr") != std::string::npos);
}

} // namespace recorder_args_test
