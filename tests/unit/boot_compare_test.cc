// SPDX-License-Identifier: GPL-2.0
//
// Groups of boots compared (analyze/libdfr/boot_compare.h) and the test that it rests on (rank_test.h). Chances were
// counted by hand or by going through all ways to deal the numbers; those of whole numbers of ways are written so.
#include <catch2/catch.hpp>

#include "analyze/libdfr/boot_compare.h"

namespace boot_compare_test {

using namespace dfr;

namespace {

// A boot of an initramfs with one command and a real root with a service, one that stays, a module and a login prompt:
// `mount` and `service` take so many milliseconds, and the rest is the same.
struct Made {
	uint64_t mount = 100, service = 200;
	std::string service_path = "/usr/sbin/service", module = "ext4", extra;
	bool late = false; // the extra comes after the login prompt
};

lib::BootTimeline boot_of(const Made& made) {
	const auto at = [](uint64_t ms) { return std::to_string(ms * 1'000'000); };
	const uint64_t root = 1000 + made.mount, login = root + made.service + 50;
	const auto extra = [&](uint64_t from) {
		return made.extra.empty() ? std::string()
		                          : "create " + at(from) + " 1 300\npath " + at(from) + " 300 " +
		                                made.extra + "\nexit " + at(from + 4) + " 300 1 x\n";
	};
	std::string lines = "exec " + at(900) + " 1 0 init\n";
	lines += "create " + at(1000) + " 1 80\n";
	lines += "path " + at(1000) + " 80 /bin/mount\n";
	lines += "exit " + at(root) + " 80 1 mount\n";
	lines += "exec " + at(root) + " 1 0 init\n";
	lines += "create " + at(root + 10) + " 1 200\n";
	lines += "path " + at(root + 11) + " 200 " + made.service_path + "\n";
	lines += "module " + at(root + 15) + " 2 " + made.module + "\n";
	lines += "create " + at(root + 20) + " 1 201\n";
	lines += "path " + at(root + 21) + " 201 /usr/sbin/daemon\n";
	lines += "exit " + at(root + 10 + made.service) + " 200 1 service\n";
	lines += made.late ? "" : extra(login - 5);
	lines += "create " + at(login) + " 1 400\n";
	lines += "exec " + at(login) + " 400 1 agetty\n";
	lines += made.late ? extra(login + 5) : "";
	return lib::boot_timeline(lines);
}

std::vector<lib::BootTimeline> boots_of(const std::vector<Made>& all) {
	std::vector<lib::BootTimeline> boots;
	for (const Made& one : all)
		boots.push_back(boot_of(one));
	return boots;
}

const lib::BootDifference& find(const lib::BootComparison& all, const std::string& kind,
                                const std::string& name) {
	for (const lib::BootDifference& one : all.differences)
		if (one.kind == kind && one.name == name)
			return one;
	FAIL("no " << kind << " " << name);
	throw 0;
}

constexpr double kMs = 1e6;

} // namespace

TEST_CASE("rank test: the chance is counted over all ways to deal the numbers", "[boot]") {
	using Numbers = std::vector<double>;
	const auto chance = [](const Numbers& a, const Numbers& b) {
		return lib::rank_test(a, b, 0.95).chance;
	};
	CHECK(chance({1, 2, 3}, {4, 5, 6, 7}) == Approx(2.0 / 35));
	CHECK(chance({7, 6, 5, 4}, {1, 2, 3}) == Approx(2.0 / 35));
	CHECK(chance({10.1, 10.4, 9.8, 10.0, 10.2}, {10.9, 11.3, 10.3, 11.0, 11.6}) == Approx(4.0 / 252));
	CHECK(chance({1, 2, 2}, {2, 3, 4}) == Approx(6.0 / 20));
	CHECK(chance({5, 5, 5, 5}, {5, 5, 5, 5}) == 1);
	CHECK(chance({1}, {2}) == 1);
	CHECK(lib::least_chance(4, 4) == Approx(2.0 / 70));
	CHECK(lib::least_chance(3, 5) == Approx(2.0 / 56));
	CHECK(lib::least_chance(1, 1) == 1);
}

TEST_CASE("rank test: the change is the median of all differences, in an interval as sure as so few can be",
          "[boot]") {
	const std::vector<double> before{10.1, 10.4, 9.8, 10.0, 10.2}, after{10.9, 11.3, 10.3, 11.0, 11.6};
	const lib::RankTest test = lib::rank_test(before, after, 0.95);
	CHECK(test.shift == Approx(0.9));
	// Of 25 differences two on each side are cut off: 1 - 2 * (1 + 1 + 2) / 252 is the first confidence of 95 % or
	// more, and with three cut off it is 1 - 2 * (1 + 1 + 2 + 3) / 252 = 94.4 %.
	CHECK(test.confidence == Approx(1 - 8.0 / 252));
	CHECK(test.low == Approx(0.2));
	CHECK(test.high == Approx(1.5));
	// Three against three can be 90 % sure at most: all nine differences.
	const lib::RankTest few =
	    lib::rank_test(std::vector<double>{1, 2, 3}, std::vector<double>{11, 13, 15}, 0.95);
	CHECK(few.confidence == Approx(0.9));
	CHECK(few.low == 8);
	CHECK(few.high == 14);
}

TEST_CASE("rank test: many comparisons are corrected for, and boots that it takes are told", "[boot]") {
	const std::vector<double> fair = lib::corrected({0.01, 0.04, 0.03, 0.005});
	const double wanted[] = {0.03, 0.06, 0.06,
	                         0.02}; // 3 x 0.01, not less than 2 x 0.03, 2 x 0.03, 4 x 0.005
	for (size_t i = 0; i < 4; i++)
		CHECK(fair[i] == Approx(wanted[i]));
	CHECK(lib::corrected({0.4, 0.6})[1] == Approx(0.8));
	CHECK(lib::corrected({}).empty());
	CHECK(lib::boots_needed(1, 0.95) == 4);  // 2/70; 2/20 is too much
	CHECK(lib::boots_needed(14, 0.95) == 6); // 14 x 2/924 = 3 %; 14 x 2/252 = 11 %
	CHECK(lib::median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("boots compared: what takes longer is found, with all that it makes longer", "[boot]") {
	const auto before = boots_of({{100, 200}, {103, 205}, {98, 199}, {101, 203}, {99, 210}, {104, 201}});
	const auto after = boots_of({{101, 262}, {97, 260}, {102, 258}, {100, 266}, {105, 264}, {96, 261}});
	const lib::BootComparison all =
	    lib::compare_boots(before, after, {.confidence = 0.95, .least = 10 * kMs});
	// Logins are at 1050 + mount + service: 1350, 1358, 1347, 1354, 1359, 1355, then 1413, 1407, 1410, 1416, 1419, 1407.
	const lib::BootDifference& login = find(all, "login", "login prompt");
	CHECK(login.slower);
	CHECK(login.chance == Approx(2.0 / 924));
	CHECK(lib::median(login.before) == 1354.5 * kMs);
	CHECK(lib::median(login.after) == 1411.5 * kMs);
	const lib::BootDifference& service = find(all, "service", "/usr/sbin/service");
	CHECK(service.slower);
	CHECK(service.phase == "real root");
	CHECK(service.test.low >= 50 * kMs);
	CHECK(service.test.high <= 67 * kMs); // of the 36 differences the least is 48, the greatest 67
	// The parts that differ by 10 ms or more anywhere: this service, its phase; the mount's range is 9 ms.
	CHECK(all.compared(lib::BootQuestionOf::kParts) == 2);
	CHECK(service.chance == Approx(2 * 2.0 / 924));
	CHECK(all.slower());
	CHECK(all.could_show(lib::BootQuestionOf::kParts));
	CHECK(all.absences.empty());

	const lib::BootComparison back =
	    lib::compare_boots(after, before, {.confidence = 0.95, .least = 10 * kMs});
	CHECK_FALSE(back.slower());
	CHECK(find(back, "service", "/usr/sbin/service").faster);
}

TEST_CASE("boots compared: too few boots show nothing, and a difference that does not matter is none",
          "[boot]") {
	const auto before = boots_of({{100, 200}, {101, 201}, {102, 202}});
	const auto after = boots_of({{100, 900}, {101, 901}, {102, 902}});
	const lib::BootComparison few = lib::compare_boots(before, after, {});
	CHECK_FALSE(few.slower());
	CHECK_FALSE(few.could_show(lib::BootQuestionOf::kWhole));
	CHECK(few.in_vain());
	CHECK(find(few, "login", "login prompt").chance == Approx(0.1));
	CHECK(few.least ==
	      Approx(0.01 * (1352 + 2052) / 2 * kMs)); // a hundredth of the median boot, to its login prompt

	std::vector<Made> some(5, Made{100, 200}), more(5, Made{100, 203});
	const lib::BootComparison small =
	    lib::compare_boots(boots_of(some), boots_of(more), {.least = 5 * kMs});
	CHECK_FALSE(small.slower());
	CHECK(small.could_show(lib::BootQuestionOf::kWhole));
	CHECK(find(small, "login", "login prompt").test.shift == 3 * kMs);
	CHECK(small.left_out >= 3);
	CHECK_FALSE(small.in_vain());

	// Without a login prompt there is no question of one thing: 2/70 is too much for two parts.
	std::vector<lib::BootTimeline> all = boots_of({{100, 200},
	                                               {101, 201},
	                                               {102, 202},
	                                               {103, 203}, //
	                                               {100, 900},
	                                               {101, 901},
	                                               {102, 902},
	                                               {103, 903}});
	const auto compared = [&all] {
		return lib::compare_boots(std::span(all).first(4), std::span(all).last(4),
		                          {.least = 10 * kMs});
	};
	CHECK(compared().slower()); // the login prompt
	CHECK_FALSE(compared().in_vain());
	for (lib::BootTimeline& one : all)
		one.login.reset();
	CHECK_FALSE(compared().slower());
	CHECK(compared().in_vain());
}

TEST_CASE("boots compared: names are matched, what is in some boots only is told", "[boot]") {
	std::vector<Made> before(4), after(4);
	for (size_t i = 0; i < 4; i++) {
		before[i].service_path = "/lib/modules/6.1.0-56-amd64/run-" + std::to_string(41000 + i);
		after[i].service_path =
		    "/usr/lib/modules/6.12.95+deb12-amd64/run-" + std::to_string(87000 + i);
		after[i].service = 400;
		after[i].extra = "/usr/bin/added";
		after[i].late = i % 2;
		after[i].module = i == 2 ? "ext4" : "xfs";
	}
	const lib::BootComparison all = lib::compare_boots(boots_of(before), boots_of(after), {});
	CHECK(find(all, "service", "/usr/lib/modules/KERNEL/run-#").test.shift == 200 * kMs);
	CHECK(lib::lasting_name("/sbin/e2fsck") == "/usr/sbin/e2fsck");
	CHECK(lib::lasting_name("/usr/bin/python3.11") == "/usr/bin/python3.11");
	CHECK(lib::lasting_name("(sd-pam 1234)") == "(sd-pam #)");
	const auto absent = [&all](const std::string& kind, const std::string& name, size_t of_before,
	                           size_t of_after) {
		return std::ranges::count_if(all.absences, [&](const lib::BootAbsence& one) {
			return one.kind == kind && one.name == name && one.before == of_before &&
			       one.after == of_after;
		});
	};
	CHECK(all.absences.size() == 3);
	CHECK(absent("service", "/usr/bin/added", 0, 4) == 1);
	CHECK(absent("module", "xfs", 0, 3) == 1);
	CHECK(absent("module", "ext4", 4, 1) == 1);
}

TEST_CASE("boots compared: what ends in some boots and stays in others is not compared by its length",
          "[boot]") {
	std::vector<lib::BootTimeline> boots = boots_of(std::vector<Made>(2));
	for (lib::BootProcess& one : boots[1].processes)
		if (one.path == "/usr/sbin/service")
			one.exited = false;
	const lib::BootComparison all =
	    lib::compare_boots(std::span(boots).first(1), std::span(boots).last(1), {.least = 0.001});
	for (const lib::BootDifference& one : all.differences)
		CHECK(one.kind != "service");
	REQUIRE(all.unended.size() == 1);
	CHECK(all.unended[0].kind == "service");
	CHECK(all.hangs());
}

TEST_CASE("boots compared: a process or an initcall that had not ended took no length, not no time",
          "[boot]") {
	const bool ended_before = GENERATE(true, false);
	std::vector<lib::BootTimeline> boots[2];
	lib::CompareOptions options{.least = 10 * kMs};
	for (const bool before : {true, false})
		for (uint64_t i = 0; i < 4; i++) {
			const bool ended = before == ended_before;
			const auto at = [i](uint64_t ms) { return std::to_string((ms + i) * 1'000'000); };
			boots[before ? 0 : 1].push_back(lib::boot_timeline(
			    "exec " + at(900) + " 1 0 init\n" + "create " + at(1000) + " 1 200\n" + "path " +
			    at(1001) + " 200 /usr/sbin/service\n" + "create " + at(1010) + " 200 201\n" +
			    "path " + at(1011) + " 201 /usr/bin/child\n" +
			    (ended ? "exit " + at(1110) + " 201 1 child\n" : "") + "exit " + at(1200) +
			    " 200 1 service\n" + "create " + at(1300) + " 1 400\n" + "exec " + at(1300) +
			    " 400 1 agetty\n"));
			lib::BootInitcalls events;
			events.calls.push_back({.name = "probe",
			                        .level = "late",
			                        .from = 0,
			                        .to = (100 + i) * 1'000'000,
			                        .ended = ended});
			options.events.push_back(events);
		}
	const lib::BootComparison all = lib::compare_boots(boots[0], boots[1], options);
	for (const lib::BootDifference& one : all.differences) {
		INFO(one.kind << " " << one.name);
		CHECK(one.kind != "process");
		CHECK(one.kind != "initcall");
		CHECK_FALSE(one.slower);
		CHECK_FALSE(one.faster);
	}
	for (const lib::BootAbsence& one : all.absences)
		CHECK(one.kind == "start"); // the service goes on in four of the boots
	// Each is named, with the boots in which it ended: what hangs after the change is to be seen.
	const auto unended = [&](const std::string& kind, const std::string& name) {
		return std::ranges::count_if(all.unended, [&](const lib::BootUnended& one) {
			return one.kind == kind && one.name == name && one.before == (ended_before ? 4 : 0) &&
			       one.after == (ended_before ? 0 : 4) && one.only_after == ended_before;
		});
	};
	CHECK(all.unended.size() == 3);
	CHECK(unended("process", "/usr/bin/child") == 1);
	CHECK(unended("service", "/usr/sbin/service") == 1);
	CHECK(unended("initcall", "probe") == 1);
	CHECK(all.hangs() == ended_before);
}

// What is open behind -- alone may hang; what was so before, too, or never ended, says nothing of the change.
TEST_CASE("boots compared: what had not ended is told apart by the boots in which it had", "[boot]") {
	std::vector<lib::BootTimeline> boots = boots_of(std::vector<Made>(6));
	lib::CompareOptions options;
	for (size_t i = 0; i < 6; i++) {
		const auto call = [i](const char* name, std::initializer_list<size_t> open_in) {
			return lib::BootInitcall{.name = name,
			                         .level = "late",
			                         .from = 0,
			                         .to = 100'000'000,
			                         .ended = std::ranges::find(open_in, i) == open_in.end()};
		};
		lib::BootInitcalls events;
		events.calls = {call("before", {0}), call("both", {1, 4}), call("never", {0, 1, 2, 3, 4, 5})};
		if (i) // does not occur in the first
			events.calls.push_back(call("after", {4}));
		events.calls.push_back(call("twice", {}));
		if (i == 5) // one of two
			events.calls.push_back(call("twice", {5}));
		options.events.push_back(events);
	}
	const auto found = lib::compare_boots(std::span(boots).first(3), std::span(boots).last(3), options);
	std::vector<std::string> told;
	for (const lib::BootUnended& one : found.unended)
		told.push_back(one.name + " " + std::to_string(one.before) + " " + std::to_string(one.after) +
		               (one.only_after ? " only after" : ""));
	CHECK(told == std::vector<std::string>{"after 2 2 only after", "twice 3 2 only after", "before 2 3",
	                                       "both 2 2"});
	CHECK(found.hangs());
	for (lib::BootInitcalls& events : options.events)
		std::erase_if(events.calls, [](const lib::BootInitcall& one) {
			return one.name == "after" || one.name == "twice";
		});
	CHECK_FALSE(lib::compare_boots(std::span(boots).first(3), std::span(boots).last(3), options).hangs());
}

// A mount and its child end in the initramfs, or go on in the real root: no boot has both, so it is the same one.
TEST_CASE("boots compared: what ended in one phase and goes on in another is not faster, nor slower",
          "[boot]") {
	const bool hangs = GENERATE(true, false);
	std::vector<lib::BootTimeline> boots = boots_of(std::vector<Made>(8));
	for (size_t i = 0; i < 8; i++) {
		lib::BootTimeline& boot = boots[i];
		const auto mount = std::ranges::find(boot.processes, 80U, &lib::BootProcess::pid);
		REQUIRE(mount != boot.processes.end());
		lib::BootProcess child = *mount;
		child.pid = 81;
		child.parent = 80;
		child.path = "/usr/bin/child";
		if ((i < 4) != hangs)
			for (lib::BootProcess* const one : {&*mount, &child}) {
				one->start = 1'100'000'000; // the real root begins
				one->end = boot.end;
				one->exited = false;
			}
		boot.processes.push_back(child);
	}
	const auto compared = [&boots] {
		return lib::compare_boots(std::span(boots).first(4), std::span(boots).last(4),
		                          {.least = 10 * kMs});
	};
	const lib::BootComparison moved = compared();
	for (const lib::BootDifference& one : moved.differences)
		CHECK(one.kind == "login");
	const auto unended = [&moved](const std::string& name, const std::string& phase, size_t before,
	                              size_t after) {
		return std::ranges::count_if(moved.unended, [&](const lib::BootUnended& one) {
			return one.name == name && one.phase == phase && one.before == before &&
			       one.after == after;
		});
	};
	for (const char* const name : {"/usr/bin/mount", "/usr/bin/child"}) {
		CHECK(unended(name, "initramfs", hangs ? 4 : 0, hangs ? 0 : 4) == 1);
		CHECK(unended(name, "real root", 0, 0) == (hangs ? 1 : 0));
	}
	CHECK(moved.hangs() == hangs);

	// Where it goes on in every boot, in the real root, the one in the initramfs is another, and compared.
	for (lib::BootTimeline& boot : boots) {
		auto more = boot_of({}).processes;
		for (lib::BootProcess& one : more) {
			one.path = "/usr/bin/mount";
			one.exited = one.pid == 80 && &boot < &boots[4];
			one.start = one.exited ? 1'000'000'000 : 1'100'000'000;
			one.end = one.exited ? 1'100'000'000 : boot.end;
		}
		boot.processes = more;
	}
	CHECK(find(compared(), "service", "/usr/bin/mount").faster);
	CHECK_FALSE(compared().hangs());
}

// A child that goes on may be a daemon's; an initcall that does not end hangs. Until it has ended, its function has a name.
TEST_CASE("boots compared: what the boots after alone have, and what never ends there, is named", "[boot]") {
	std::vector<lib::BootTimeline> boots = boots_of(std::vector<Made>(8));
	for (size_t i = 4; i < 8; i++) {
		lib::BootProcess child = boots[i].processes.back();
		child.pid = 500;
		child.parent = 400;
		child.path = "/usr/bin/new";
		child.exited = false;
		boots[i].processes.push_back(child);
	}
	const auto compared = [&boots](const lib::CompareOptions& options) {
		return lib::compare_boots(std::span(boots).first(4), std::span(boots).last(4), options);
	};
	const auto told = [](const lib::BootComparison& all) {
		std::vector<std::string> out;
		for (const lib::BootUnended& one : all.unended)
			out.push_back(one.kind + " " + one.name + " " + one.phase + " " +
			              std::to_string(one.before) + (one.only_after ? " only after" : ""));
		return out;
	};
	lib::CompareOptions options{.least = 10 * kMs};
	CHECK(told(compared(options)) ==
	      std::vector<std::string>{"process /usr/bin/new real root 0 only after"});
	CHECK_FALSE(compared(options).hangs());

	const bool other_before = GENERATE(false, true);
	for (size_t i = 0; i < 8; i++) {
		lib::BootInitcalls events;
		if (i >= 4)
			events.calls.push_back({.name = "new_init", .module = "new", .to = 100'000'000});
		else if (other_before)
			events.calls.push_back(
			    {.name = "init", .module = "new", .to = 100'000'000, .ended = true});
		options.events.push_back(events);
	}
	CHECK(told(compared(options)) ==
	      std::vector<std::string>{other_before ? "initcall init module new 4 only after"
	                                            : "initcall init module new 0 only after",
	                               "process /usr/bin/new real root 0 only after"});
	CHECK(compared(options).hangs());
	for (const lib::BootDifference& one : compared(options).differences)
		CHECK(one.kind != "initcall");
}

TEST_CASE("boots compared: the kernel's initcalls are compared if all boots have them", "[boot]") {
	const auto events = [](uint64_t ms, const char* module) {
		lib::BootInitcalls all;
		all.calls.push_back({.name = "acpi_init",
		                     .level = "subsys",
		                     .from = 100'000'000,
		                     .to = 100'000'000 + ms * 1'000'000,
		                     .ended = true});
		all.calls.push_back({.name = "init",
		                     .module = module,
		                     .from = 900'000'000,
		                     .to = 930'000'000,
		                     .ended = true});
		all.calls.push_back({.name = "endless", .level = "late", .from = 1, .to = 800'000'000});
		return all;
	};
	const auto boots = boots_of(std::vector<Made>(5));
	lib::CompareOptions options{.least = 10 * kMs};
	for (const uint64_t ms : {50, 51, 52, 53, 54, 80, 81, 82, 83, 84})
		options.events.push_back(events(ms, ms < 80 ? "old" : "new"));
	const lib::BootComparison all = lib::compare_boots(boots, boots, options);
	const lib::BootDifference& acpi = find(all, "initcall", "acpi_init");
	CHECK(acpi.phase == "level subsys");
	CHECK(acpi.test.shift == 30 * kMs);
	CHECK(acpi.test.chance == Approx(2.0 / 252));
	CHECK(acpi.chance ==
	      Approx(3 * 2.0 / 252)); // it, and the two modules, each of which is in one group only
	CHECK(acpi.slower);
	CHECK(all.absences.size() == 2);
	options.events.pop_back();
	for (const lib::BootDifference& one : lib::compare_boots(boots, boots, options).differences)
		CHECK(one.kind != "initcall");
}

TEST_CASE(
    "boots compared: of partial recordings the login prompt alone, of no boot how long the recorder ran",
    "[boot]") {
	auto before = boots_of({{100, 200}, {101, 201}, {102, 202}, {103, 203}});
	auto after = before;
	for (lib::BootTimeline& one : after) {
		one.end += 9'000'000'000;
		one.phases.back().to = one.end;
	}
	const lib::BootComparison same = lib::compare_boots(before, after, {.least = 10 * kMs});
	CHECK(same.compared(lib::BootQuestionOf::kParts) == 0);
	const auto later = boots_of({{100, 900}, {101, 901}, {102, 902}, {103, 903}});
	CHECK(lib::compare_boots(before, later, {.least = 10 * kMs}).compared(lib::BootQuestionOf::kParts) ==
	      2);
	const lib::BootComparison partial =
	    lib::compare_boots(before, later, {.least = 10 * kMs, .partial = true});
	CHECK(partial.differences.size() == 1);
	CHECK(find(partial, "login", "login prompt").slower);
	CHECK(partial.absences.empty());
	// Without a login prompt the last phase ends with the recording, in all boots.
	after[0].login.reset();
	after[0].phases.pop_back();
	after[0].phases.back().to = after[0].end;
	for (const lib::BootDifference& one :
	     lib::compare_boots(before, after, {.least = 10 * kMs}).differences)
		CHECK(one.kind != "phase");
}

TEST_CASE("rank test: a chance that is just what the confidence leaves is shown", "[boot]") {
	CHECK(lib::rare_enough(2.0 / 20, 0.9));
	CHECK_FALSE(lib::rare_enough(2.0 / 20, 0.91));
	CHECK(lib::boots_needed(1, 0.9) == 3); // 2/20
}

} // namespace boot_compare_test
