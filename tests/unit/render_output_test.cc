// SPDX-License-Identifier: GPL-2.0
//
// Output to descriptors that do not take everything at once, or nothing any more.
#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "analyze/render/output.h"

namespace render_output_test {

using dfr::render::Output;

namespace {

struct Pipe {
	explicit Pipe(int flags = 0) {
		REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
		REQUIRE(::fcntl(ends[1], F_SETFL, flags) == 0);
	}
	~Pipe() {
		close_reader();
		::close(ends[1]);
	}
	Pipe(const Pipe&) = delete;
	Pipe& operator=(const Pipe&) = delete;
	void close_reader() {
		if (ends[0] >= 0)
			::close(ends[0]);
		ends[0] = -1;
	}
	std::string read_to(size_t size) const {
		std::string text(size, 0);
		size_t done = 0;
		while (done < size) {
			const ssize_t got = ::read(ends[0], text.data() + done, size - done);
			if (got <= 0)
				break;
			done += static_cast<size_t>(got);
		}
		text.resize(done);
		return text;
	}

	int ends[2];
};

std::string numbered(size_t lines) {
	std::string text;
	for (size_t i = 0; i < lines; i++)
		text += std::to_string(i) + '\n';
	return text;
}

} // namespace

TEST_CASE("render: a descriptor that takes no more for now is waited for, and who has to know is told",
          "[render]") {
	for (const int flags : {0, O_NONBLOCK}) {
		const Pipe pipe(flags);
		const std::string text = numbered(50'000); // more than a pipe holds
		std::string got;
		std::thread reader;
		{
			Output output(pipe.ends[1]);
			// Nobody reads before it is known that somebody waits.
			output.on_waiting([&] {
				if (!reader.joinable())
					reader = std::thread([&] { got = pipe.read_to(text.size()); });
			});
			output.text() = text;
			output.flush();
		}
		REQUIRE(reader.joinable());
		reader.join();
		CHECK(got == text);
	}
}

TEST_CASE("render: output that nobody reads is an error, or dropped by who goes on", "[render]") {
	const auto before = ::signal(SIGPIPE, SIG_IGN);
	Pipe pipe;
	pipe.close_reader();
	Output strict(pipe.ends[1]);
	strict.text() = "text";
	CHECK_THROWS_AS(strict.flush(), dfr::Error);

	unsigned said = 0;
	Output lenient(pipe.ends[1]);
	lenient.on_failure([&said](const dfr::Error& error) {
		CHECK(error.code() == EPIPE);
		said++;
	});
	for (int i = 0; i < 3; i++) {
		lenient.text() += "text";
		lenient.flush();
		CHECK(lenient.text().empty());
	}
	CHECK(said == 1);
	::signal(SIGPIPE, before);
}

} // namespace render_output_test
