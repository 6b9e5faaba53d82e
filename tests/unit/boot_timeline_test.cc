// SPDX-License-Identifier: GPL-2.0
//
// The time axis of a boot (analyze/libdfr/boot_timeline.h), from a boot made up of few lines: an initramfs with one
// command, a real root with a service that starts another process, a login prompt.
#include <catch2/catch.hpp>

#include "analyze/libdfr/boot_timeline.h"
#include "formats/error.h"
#include "tests/unit/replay_app.h"

namespace boot_timeline_test {

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

TEST_CASE(
    "boot timeline: the end of the child that loaded dfr for the first process is no phase of the kernel's",
    "[boot]") {
	// The end of its thread is told before.
	const char* const thread = GENERATE("", "cpu 899 81 77\nbytes 899 81 0 0\n");
	const lib::BootTimeline boot =
	    lib::boot_timeline(thread + std::string("exit 900 81 1 dfr-init\n") + kBoot);
	REQUIRE(boot.phases.size() == 4);
	CHECK(boot.processes[0].pid == 81);
	CHECK(boot.processes[0].cpu == (*thread ? std::optional<uint64_t>(77) : std::nullopt));
	CHECK(boot.phases[0].name == "kernel, before the trace");
	CHECK(boot.phases[0].to == 1000);
	CHECK(boot.phases[1].name == "initramfs");
}

TEST_CASE(
    "boot timeline: where a script of the initramfs began the trace, the kernel has no phase of its own",
    "[boot]") {
	const char* const first = GENERATE("exit 900 81 1 dfr-init\n", "create 900 2 40\n");
	const lib::BootTimeline boot =
	    lib::boot_timeline(first + std::string(kBoot).substr(std::string(kBoot).find("create 1100")));
	REQUIRE(boot.phases.size() == 4);
	const char* const names[] = {"before the trace", "initramfs", "real root", "after the login prompt"};
	const uint64_t starts[] = {0, 900, 2000, 3000};
	for (size_t i = 0; i < 4; i++) {
		CHECK(boot.phases[i].name == names[i]);
		CHECK(boot.phases[i].from == starts[i]);
	}
}

TEST_CASE("boot timeline: an initramfs with systemd in it ends with the next program of the first process",
          "[boot]") {
	// A generator loads; systemd becomes that of the real root without a program between.
	const lib::BootTimeline boot = lib::boot_timeline("create 800 2 40\n"
	                                                  "exit 900 81 1 dfr-init\n"
	                                                  "exit 901 80 1 dfr-init\n"
	                                                  "create 1100 1 90\n"
	                                                  "exec 1110 90 1 systemd-journal\n"
	                                                  "exec 2000 1 0 systemd\n"
	                                                  "create 2900 1 300\n"
	                                                  "exec 3000 300 1 agetty\n");
	REQUIRE(boot.phases.size() == 4);
	const char* const names[] = {"before the trace", "initramfs", "real root", "after the login prompt"};
	const uint64_t starts[] = {0, 800, 2000, 3000};
	for (size_t i = 0; i < 4; i++) {
		CHECK(boot.phases[i].name == names[i]);
		CHECK(boot.phases[i].from == starts[i]);
	}
}

TEST_CASE("boot timeline: where the kernel's helper began the trace, the kernel has a traced phase",
          "[boot]") {
	const lib::BootTimeline boot = lib::boot_timeline("create 500 2 40\n"
	                                                  "exec 600 45 9 kmod\n"
	                                                  "exec 900 1 0 dfr-init\n" +
	                                                  std::string(kBoot));
	REQUIRE(boot.phases.size() == 5);
	const char* const names[] = {"kernel, before the trace", "kernel, traced", "initramfs", "real root",
	                             "after the login prompt"};
	const uint64_t starts[] = {0, 500, 1000, 2000, 3000};
	for (size_t i = 0; i < 5; i++) {
		CHECK(boot.phases[i].name == names[i]);
		CHECK(boot.phases[i].from == starts[i]);
	}
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
	CHECK(boot.modules[0].by == "kthreadd");
}

TEST_CASE("boot timeline: what a process used is the sum of its threads, and known only when it has ended",
          "[boot]") {
	const lib::BootTimeline boot =
	    lib::boot_timeline("exec 1000 1 0 init\n"
	                       "create 1100 1 80\n"
	                       "create 1110 1 81\n"
	                       "create 1120 1 82\n"
	                       "cpu 1150 1 9\n" // a thread of the first process
	                       "bytes 1150 1 9 9\n"
	                       "cpu 1200 80 30\n" // one of several
	                       "bytes 1200 80 4096 0\n"
	                       "cpu 1210 81 7\n" // of one that goes on
	                       "bytes 1210 81 512 0\n"
	                       "cpu 1300 80 12\n"
	                       "bytes 1300 80 100 8192\n"
	                       "exit 1300 80 1 many\n"
	                       "cpu 1301 80 2\n" // ended together with the last
	                       "bytes 1301 80 1 0\n"
	                       "exit 1400 82 1 none\n" // nothing was recorded of it
	                       "create 1500 1 80\n"    // the number comes again
	                       "cpu 1600 80 5\n"
	                       "bytes 1600 80 0 0\n"
	                       "exit 1600 80 1 again\n"
	                       "cpu 1700 90 3\n" // was there before the recording
	                       "exit 1700 90 1 before\n");
	REQUIRE(boot.processes.size() == 5);
	const struct {
		uint32_t pid;
		std::optional<uint64_t> cpu, read, written;
	} wanted[] = {{80, 44, 4197, 8192},
	              {81, std::nullopt, std::nullopt, std::nullopt},
	              {82, std::nullopt, std::nullopt, std::nullopt},
	              {80, 5, 0, 0},
	              {90, 3, std::nullopt, std::nullopt}};
	for (size_t i = 0; i < 5; i++) {
		INFO(i);
		CHECK(boot.processes[i].pid == wanted[i].pid);
		CHECK(boot.processes[i].cpu == wanted[i].cpu);
		CHECK(boot.processes[i].read == wanted[i].read);
		CHECK(boot.processes[i].written == wanted[i].written);
	}
}

TEST_CASE("boot timeline: services are what the first process made, until the last process of each has ended",
          "[boot]") {
	// 40 is a helper that a thread of the kernel from before the recording starts.
	const lib::BootTimeline boot = lib::boot_timeline(std::string(kBoot) + "exec 3050 40 9 modprobe\n");
	const std::vector<lib::BootService> services = lib::boot_services(boot);
	REQUIRE(services.size() == 3);
	CHECK(services[0].name == "/bin/mount");
	CHECK(services[1].name == "/usr/bin/my service");
	CHECK(services[1].from == 2100);
	CHECK(services[1].to == 3100);
	CHECK(services[1].processes == 2);
	CHECK_FALSE(services[1].goes_on);
	CHECK(services[2].name == "agetty");
	CHECK(services[2].goes_on);
}

TEST_CASE("boot timeline: names are what %S made of them, so none is a line of its own", "[boot]") {
	const lib::BootTimeline boot =
	    lib::boot_timeline("exec 1000 1 0 init\n"
	                       "create 1100 1 80\n"
	                       "exec 1110 80 1 a\\nexit 1 1 1 b\\\\n\\t\\\"\\303\\251\\0019\n"
	                       "path 1111 80 /bin/\\\n");
	REQUIRE(boot.processes.size() == 1);
	CHECK(boot.processes[0].name == "a\nexit 1 1 1 b\\n\t\"\xc3\xa9\x01"
	                                "9");
	CHECK(boot.processes[0].path == "/bin/\\");
}

TEST_CASE("boot timeline: a line that is none is an error, no lines are an empty boot", "[boot]") {
	CHECK_THROWS_AS(lib::boot_timeline("exec what\n"), Error);
	CHECK(lib::boot_timeline("").phases.empty());
}

TEST_CASE("boot timeline: a name cannot make a line, and comes out as it was", "[boot]") {
	// What the clauses themselves print of hostile names, with the firing's own name where they take one from the kernel.
	const std::string forged = "x\nexec 1 1 0 get", odd = " a\\n\"\t\\101";
	test::App app;
	test::load(app, "app::work:entry { capture(arg0, arg1); }");
	app.fire(app.entry, test::kStart + 1, 0, 800, forged.c_str(), 7, 7);
	app.fire(app.entry, test::kStart + 2, 0, 900, odd.c_str(), 7, 7);
	test::finish(app);
	test::Kept kept(app);
	size_t asked = 0;
	for (const lib::BootQuestion& question : lib::boot_questions()) {
		std::string clause = question.clause;
		clause = "app::work:entry " + clause.substr(clause.find('{'));
		const bool names = clause.find("execname") != std::string::npos ||
		                   clause.find("stringof") != std::string::npos;
		for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
		         {"args[0]->pr_pid", "arg0"},
		         {"curpsinfo->pr_ppid", "arg0"},
		         {"stringof(args[2]->filename)", "execname"},
		         {"stringof(args[0]->name)", "execname"},
		         {"vtimestamp", "arg0"},
		         {"curthread->ioac.read_bytes", "arg0"},
		         {"curthread->ioac.write_bytes", "arg1"},
		         {"args[0]", "arg0"}})
			if (const size_t at = clause.find(from); at != std::string::npos)
				clause.replace(at, from.size(), to);
		INFO(clause);
		const std::string lines = test::replay_says(kept, clause);
		CHECK(std::ranges::count(lines, '\n') == 3); // one of its own ends each answer
		const lib::BootTimeline boot = lib::boot_timeline(lines);
		CHECK_FALSE(boot.login);
		if (!names)
			continue;
		asked++;
		std::vector<std::string> found;
		for (const lib::BootProcess& one : boot.processes)
			found.push_back(lib::boot_title(one));
		for (const lib::BootModule& one : boot.modules)
			found.push_back(one.name);
		CHECK(found == std::vector<std::string>{forged.substr(0, 15), odd});
	}
	CHECK(asked == 4);
}

} // namespace boot_timeline_test
