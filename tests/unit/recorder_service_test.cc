// SPDX-License-Identifier: GPL-2.0
//
// dfrd as a service: which parts of a recording stay on the disk, and what systemd is told.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utime.h>

#include "recorder/notify.h"
#include "recorder/retention.h"
#include "tests/unit/scratch_folder.h"

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
		return recorder::retain(folder_.file("a.dfr"), path, retention, kNow);
	}

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
	SECTION("a number") {
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
