// SPDX-License-Identifier: GPL-2.0
//
// The time axis of a boot (analyze/libdfr/boot_timeline.h), from a boot made up of few lines: an initramfs with one
// command, a real root with a service that starts another process, a login prompt.
#include <catch2/catch.hpp>

#include "analyze/libdfr/boot_timeline.h"
#include "formats/error.h"

using namespace dfr;

namespace {

constexpr const char* kBoot = "exec 1000 1 0 init\n"
                              "path 1010 1 /init\n"
                              "create 1100 1 80\n"
                              "exec 1110 80 1 mount\n"
                              "path 1111 80 /bin/mount\n"
                              "exit 1200 80 1 mount\n"
                              "module 1300 2 ext4\n"
                              "exec 1400 1 0 run-init\n"
                              "exec 2000 1 0 init\n"
                              "create 2100 1 200\n"
                              "exec 2110 200 1 my service\n"
                              "path 2111 200 /usr/bin/my service\n"
                              "create 2200 200 201\n"
                              "create 2250 2 202\n"
                              "exit 2300 201 2 my service\n"
                              "exit 2350 202 1 kworker/0:1\n"
                              "create 2900 1 300\n"
                              "exec 3000 300 1 agetty\n"
                              "exit 3100 200 1 my service\n";

} // namespace

TEST_CASE("boot timeline: phases follow each other from the kernel's entry", "[boot]") {
	const lib::BootTimeline boot = lib::boot_timeline(kBoot);
	REQUIRE(boot.phases.size() == 4);
	const char* const names[] = {"kernel, before the trace", "initramfs", "real root",
	                             "after the login prompt"};
	const uint64_t starts[] = {0, 1000, 2000, 3000};
	for (size_t i = 0; i < 4; i++) {
		CHECK(boot.phases[i].name == names[i]);
		CHECK(boot.phases[i].from == starts[i]);
		CHECK(boot.phases[i].to == (i < 3 ? starts[i + 1] : 3100));
	}
	CHECK(boot.login == 3000);
	CHECK(boot.begin == 1000);
	CHECK(boot.execs == 6);
	CHECK(boot.forks == 5);
}

TEST_CASE("boot timeline: processes have their program, their time and whom they come from", "[boot]") {
	const lib::BootTimeline boot = lib::boot_timeline(kBoot);
	const auto of = [&boot](uint32_t pid) {
		for (const lib::BootProcess& one : boot.processes)
			if (one.pid == pid)
				return one;
		throw Error("no such process");
	};
	REQUIRE(boot.processes.size() == 5);
	CHECK(of(80).path == "/bin/mount");
	CHECK(of(80).start == 1100);
	CHECK(of(80).end == 1200);
	CHECK_FALSE(of(80).killed);
	CHECK(of(200).name == "my service");
	CHECK(of(201).path.empty());
	CHECK(of(201).killed);
	CHECK(boot.processes[of(201).root].pid == 200);
	CHECK(of(202).name == "kworker/0:1");
	CHECK_FALSE(of(300).exited);
	CHECK(of(300).end == 3100);
	REQUIRE(boot.modules.size() == 1);
	CHECK(boot.modules[0].name == "ext4");
}

TEST_CASE("boot timeline: a line that is none is an error, no lines are an empty boot", "[boot]") {
	CHECK_THROWS_AS(lib::boot_timeline("exec what\n"), Error);
	CHECK(lib::boot_timeline("").phases.empty());
}
