// SPDX-License-Identifier: GPL-2.0
//
// dfrd as a service: which parts of a recording stay on the disk, and what systemd is told.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utime.h>

#include "formats/trace/container.h"
#include "formats/trace/file.h"
#include "recorder/notify.h"
#include "recorder/retention.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace recorder_service_test {

using namespace dfr;
using recorder::Retention;

namespace {

constexpr std::chrono::seconds kNow{1'000'000};

// Parts 1 to 5 of a recording, of 1,000 bytes each, part 5 written at kNow, each other an hour before the next; other files.
class Parts {
public:
	Parts() {
		for (int n = 1; n <= 5; n++)
			write("a-000" + std::to_string(n) + ".dfr", kNow.count() - (5 - n) * 3600);
		write("a-notes.dfr", 0);
		write("ab-0001.dfr", 0);
		write("a.dfr", 0);
	}
	// Of the recording; the others have to be there.
	std::string left() const {
		std::string numbers;
		for (int n = 1; n <= 5; n++)
			if (std::filesystem::exists(folder_.file("a-000" + std::to_string(n) + ".dfr")))
				numbers += std::to_string(n);
		for (const char* const other : {"a-notes.dfr", "ab-0001.dfr", "a.dfr"})
			REQUIRE(std::filesystem::exists(folder_.file(other)));
		return numbers;
	}
	std::vector<recorder::RemovedPart> retain(const Retention& retention,
	                                          const char* current = "a-0005.dfr") {
		const std::string path = *current ? folder_.file(current) : std::string();
		recorder::PartAges ages;
		return recorder::retain(
		    {.path = folder_.file("a.dfr"), .current = path, .holds = holds, .alone = alone},
		    retention, ages, {.wall = kNow});
	}
	// Part n was cut off, with a record in it or with nothing.
	void cut(int n, bool record) {
		const std::string path = folder_.file("a-000" + std::to_string(n) + ".dfr");
		std::filesystem::remove(path);
		trace::ContainerWriter writer(path, false, trace::local_file());
		const std::vector<std::byte> payload(100);
		writer.append(record ? trace::SegmentType::kChunk : trace::SegmentType::kCatalog, 0, payload,
		              false);
		const utimbuf times{.actime = kNow.count(), .modtime = kNow.count()};
		REQUIRE(::utime(path.c_str(), &times) == 0);
	}
	// Part n has its end mark, and nothing else.
	void whole(int n) {
		const std::string path = folder_.file("a-000" + std::to_string(n) + ".dfr");
		std::filesystem::remove(path);
		trace::ContainerWriter writer(path, false, trace::local_file());
		const trace::EndMark end{};
		writer.append(trace::SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
	}
	// Part n is a folder, which unlink() does not take.
	void cannot_be_removed(int n) {
		const std::string path = folder_.file("a-000" + std::to_string(n) + ".dfr");
		std::filesystem::remove(path);
		std::filesystem::create_directory(path);
	}
	// A recording with a ledger and nothing else has the name of part n.
	void recording(int n, uint64_t series, bool snapshot, bool ended = true, bool has_catalog = true) {
		const std::string path = folder_.file("a-000" + std::to_string(n) + ".dfr");
		std::filesystem::remove(path);
		trace::Catalog catalog;
		if (has_catalog)
			catalog.parse(test::CatalogLog().done());
		if (snapshot)
			catalog.events.push_back({.event = DFR_EVENT_SNAPSHOT, .time = 1, .text = "why"});
		trace::FileWriter writer(path, false, [&]() -> const trace::Catalog& { return catalog; },
		                         trace::local_file(), {.series = series, .number = 1});
		test::ListSource none;
		writer.account(none, 2);
		if (ended)
			writer.finish();
	}
	std::string path() const { return folder_.file("a.dfr"); }
	bool alone = false; // each part
	bool holds = true;

	void remove(const char* name) { REQUIRE(std::filesystem::remove(folder_.file(name))); }

private:
	void write(const std::string& name, int64_t time) {
		const std::string path = folder_.file(name);
		std::ofstream(path) << std::string(1000, 'x');
		const utimbuf times{.actime = time, .modtime = time};
		REQUIRE(::utime(path.c_str(), &times) == 0);
	}
	test::ScratchFolder folder_;
};

Retention bounds(std::initializer_list<const char*> texts) {
	Retention retention;
	for (const char* const text : texts)
		REQUIRE(recorder::parse_retention(text, retention));
	return retention;
}

} // namespace

TEST_CASE("what a recorder keeps of its parts", "[recorder][service]") {
	Parts parts;
	SECTION("nothing is asked for") {
		CHECK(parts.retain({}).empty());
		CHECK(parts.left() == "12345");
	}
	SECTION("none behind the current one, which a command may have moved away") {
		parts.remove("a-0003.dfr");
		parts.retain(bounds({"1"}), "a-0003.dfr");
		CHECK(parts.left() == "245");
	}
	SECTION("a number") {
		parts.holds = false; // the one that is being written counts only once something is in it
		parts.retain(bounds({"4"}));
		CHECK(parts.left() == "12345");
		parts.holds = true;
		const auto removed = parts.retain(bounds({"3"}));
		CHECK(parts.left() == "345");
		REQUIRE(removed.size() == 2);
		CHECK(removed[0].path.ends_with("a-0001.dfr"));
		CHECK(removed[0].why == "more than 3 parts");
		CHECK(parts.retain(bounds({"3"})).empty());
	}
	SECTION("a size") {
		parts.retain({.bytes = 2000});
		CHECK(parts.left() == "45");
	}
	SECTION("an age") {
		parts.retain(bounds({"3h"}));
		CHECK(parts.left() == "2345");
		parts.retain(bounds({"1h"}));
		CHECK(parts.left() == "45");
	}
	SECTION("several: each bound holds") {
		parts.retain(bounds({"4", "1h", "1g"}));
		CHECK(parts.left() == "45");
	}
	SECTION("the part that is written stays, whatever is asked for") {
		CHECK(parts.retain({.bytes = 1}).size() == 4);
		CHECK(parts.left() == "5");
		CHECK(parts.retain({.free = UINT64_MAX}).empty());
		CHECK(parts.left() == "5");
	}
	SECTION("nor does any with a higher number go") {
		CHECK(parts.retain({.bytes = 1}, "a-0003.dfr").size() == 2);
		CHECK(parts.left() == "345");
	}
	SECTION("before one is written, all but the last may go") {
		CHECK(parts.retain(bounds({"4", "2"}), "").size() == 3);
		CHECK(parts.left() == "45");
	}
	SECTION("a full disk") {
		const auto removed = parts.retain({.free = UINT64_MAX});
		REQUIRE(removed.size() == 4);
		CHECK(removed[3].why.starts_with("only "));
		CHECK(parts.left() == "5");
	}
	SECTION("a disk with room") {
		CHECK(parts.retain({.free = 1}).empty());
	}
	SECTION("of a recording, a cut part goes in its turn") {
		parts.cut(3, true);
		parts.retain(bounds({"4"}));
		CHECK(parts.left() == "2345");
	}
	SECTION("of snapshots, cut ones go first, and what cannot be read is none of them") {
		parts.alone = true;
		parts.whole(1);
		parts.cut(3, true);
		parts.cut(4, true);
		parts.retain(bounds({"4"}));
		CHECK(parts.left() == "1245");
		parts.retain(bounds({"2"}));
		CHECK(parts.left() == "25");
	}
	SECTION("of snapshots, each goes by its own age") {
		parts.alone = true;
		parts.cut(2, true); // now
		parts.retain(bounds({"90min"}));
		CHECK(parts.left() == "245");
	}
	SECTION("of a recording, nothing behind a younger part goes by its age") {
		parts.cut(2, true);
		parts.retain(bounds({"90min"}));
		CHECK(parts.left() == "2345");
	}
	SECTION("of a recording, nothing goes in place of a part that cannot be removed") {
		parts.cannot_be_removed(1);
		const auto removed = parts.retain(bounds({"3"}));
		REQUIRE(removed.size() == 1);
		CHECK(removed[0].error == EISDIR);
		CHECK(parts.left() == "12345");
	}
	SECTION(
	    "of files that stand alone, the next ones go all the same, and one that stays pushes none out") {
		parts.cannot_be_removed(1);
		parts.alone = true;
		CHECK(parts.retain(bounds({"3"})).size() == 2);
		CHECK(parts.left() == "1345");
		CHECK(parts.retain(bounds({"1"})).size() == 3);
		CHECK(parts.left() == "15");
	}
	SECTION("of files that stand alone, one that stays counts for no size") {
		parts.cannot_be_removed(1);
		parts.alone = true;
		parts.retain({.bytes = 3000}); // the folder's is not 0
		CHECK(parts.left() == "1345");
	}
	SECTION("a recording that was not rotated is no part, whatever its name") {
		parts.cut(2, true);
		parts.recording(1, 0, false);
		parts.recording(3, 7, false);
		parts.recording(4, 0, true); // a snapshot
		parts.alone = true;
		CHECK(parts.retain(bounds({"4"})).empty());
		CHECK(parts.retain(bounds({"1"})).size() == 3);
		CHECK(parts.left() == "15");
		parts.recording(2, 0, false, false);
		CHECK(recorder::remove_empty_parts(parts.path()).empty());
		CHECK(parts.left() == "125");
		parts.recording(1, 0, true, true, false); // one whose catalog is damaged says nothing
		CHECK(parts.retain(bounds({"1"})).size() == 1);
		CHECK(parts.left() == "25");
	}
	SECTION("what was cut off before anything was in it is removed") {
		parts.whole(1);
		parts.cut(2, true);
		parts.cut(3, false);
		const auto removed = recorder::remove_empty_parts(parts.path());
		REQUIRE(removed.size() == 1);
		CHECK(removed[0].error == 0);
		CHECK(parts.left() == "1245");
	}
}

TEST_CASE("a part ages by a clock that nobody sets", "[recorder][service]") {
	const auto written = [](std::chrono::seconds wall, uint64_t bytes = 10) {
		return recorder::PartAges::PartFile{.path = "a", .bytes = bytes, .written = wall};
	};
	constexpr std::chrono::seconds kYear = std::chrono::hours(24 * 365), kHour{3600};
	const recorder::TwoClocks start{.wall = kNow, .steady = std::chrono::seconds(5000)};
	const auto later = [&](std::chrono::seconds time, std::chrono::seconds set) {
		return recorder::TwoClocks{.wall = start.wall + time + set, .steady = start.steady + time};
	};
	recorder::PartAges ages;
	SECTION("at the first look, as the clock says") {
		ages.look({written(kNow - kHour)}, start, {});
		CHECK(ages.of("a", start) == kHour);
		CHECK(ages.of("a", later(kHour, kYear)) == 2 * kHour);
		CHECK(ages.of("a", later(kHour, -kYear)) == 2 * kHour);
	}
	SECTION("at the first look, one of the future is new") {
		ages.look({written(kNow + kYear)}, start, {});
		CHECK(ages.of("a", later(kHour, {})) == kHour);
	}
	SECTION("what comes after the first look is new, whatever the clock was set to") {
		ages.look({}, start, {});
		ages.look({written(kNow - kYear)}, later(kHour, -kYear), {});
		CHECK(ages.of("a", later(kHour, -kYear)) == std::chrono::seconds(0));
		ages.look({written(kNow - kYear)}, later(2 * kHour, kYear), {});
		CHECK(ages.of("a", later(2 * kHour, kYear)) == kHour);
	}
	SECTION("what is written on is new") {
		ages.look({written(kNow - kHour)}, start, {});
		ages.look({written(kNow - kHour, 20)}, later(kHour, {}), {});
		CHECK(ages.of("a", later(kHour, {})) == std::chrono::seconds(0));
		ages.look({written(kNow, 20)}, later(2 * kHour, {}), {});
		CHECK(ages.of("a", later(2 * kHour, {})) == std::chrono::seconds(0));
	}
	SECTION("what would go is asked itself, at the first look") {
		size_t asked = 0;
		std::optional<std::chrono::seconds> answer = kHour;
		recorder::PartAges own([&](const std::string&) {
			asked++;
			return answer;
		});
		SECTION("and says") {
			own.look({written(kNow - kYear)}, start, 2 * kHour);
			CHECK(own.of("a", start) == kHour);
		}
		SECTION("and does not know") {
			answer.reset();
			own.look({written(kNow - kYear)}, start, 2 * kHour);
			CHECK(own.of("a", start) == kYear);
		}
		own.look({written(kNow - kYear)}, later(kHour, {}), 2 * kHour);
		CHECK(asked == 1);
		recorder::PartAges young([&](const std::string&) { return asked++, answer; });
		young.look({written(kNow - kHour)}, start, 2 * kHour);
		CHECK(asked == 1);
	}
}

TEST_CASE("bounds that make no sense are refused", "[recorder][service]") {
	Retention retention;
	for (const char* const text :
	     {"", "0", "-1", "3 parts", "1x", "12k", "99999999999999999999", "1.5g"}) {
		INFO(text);
		CHECK_FALSE(recorder::parse_retention(text, retention));
	}
	CHECK_FALSE(retention);
}

TEST_CASE("systemd is told when the recorder is ready, alive and at its end", "[recorder][service]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("notify");
	const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	REQUIRE(path.size() < sizeof(address.sun_path));
	path.copy(address.sun_path, path.size());
	REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
	const auto heard = [socket]() {
		char text[256];
		const ssize_t size = ::recv(socket, text, sizeof(text), 0);
		return size < 0 ? std::string() : std::string(text, static_cast<size_t>(size));
	};
	::setenv("NOTIFY_SOCKET", path.c_str(), 1);
	::setenv("WATCHDOG_USEC", "60000000", 1);
	::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
	{
		recorder::ServiceManager manager;
		manager.ready("recording");
		CHECK(heard() == "READY=1\nSTATUS=recording");
		manager.alive("5 records");
		CHECK(heard() == "WATCHDOG=1\nSTATUS=5 records");
		manager.alive("6 records"); // not so soon
		CHECK(heard().empty());
		manager.stopping("writing");
		CHECK(heard() == "STOPPING=1\nSTATUS=writing");
	}
	::setenv("WATCHDOG_PID", "1", 1); // somebody else's
	recorder::ServiceManager().alive("7 records");
	CHECK(heard() == "STATUS=7 records");
	::unsetenv("NOTIFY_SOCKET");
	::unsetenv("WATCHDOG_USEC");
	::unsetenv("WATCHDOG_PID");
	recorder::ServiceManager().ready("nobody hears");
	CHECK(heard().empty());
	::close(socket);
}

} // namespace recorder_service_test
