// SPDX-License-Identifier: GPL-2.0
//
// The engine in a process: what is taken out of its rings.
#include "formats/trace/decode.h"
#include "tests/unit/replay_app.h"

namespace engine_session_test {

using namespace dfr;
using test::App;
using test::kStart;

TEST_CASE("rings that are filled several times give each record once, with few CPUs and many", "[engine]") {
	constexpr uint64_t kRounds =
	    60'000; // some 450 KiB on each CPU, in rings of 256, whose blocks are pages
	for (const unsigned cpus : {2u, 20u}) {
		App app(cpus);
		test::load(app, "#pragma D option bufsize=256k\napp::work:entry { trace(arg0); }");
		std::vector<uint64_t> next(cpus);
		size_t wrong = 0;
		const auto take = [&] {
			while (const auto block = app.next()) {
				trace::BlockDecoder decoder(app.catalog());
				decoder.decode(*block, [&](const trace::Record& record) {
					wrong += record.fields[0].number != next[record.cpu]++;
					return true;
				});
				wrong += decoder.damage().blocks + decoder.damage().regions;
			}
		};
		for (uint64_t i = 0; i < kRounds; i++) {
			for (unsigned cpu = 0; cpu < cpus; cpu++)
				app.fire(app.entry, kStart + i * 1000 + cpu, cpu, 7, "task", i, 0);
			if (i % 500 == 0)
				take();
		}
		test::finish(app);
		app.flush();
		take();
		CHECK(wrong == 0);
		CHECK(next == std::vector<uint64_t>(cpus, kRounds));
	}
}

TEST_CASE("wall time goes at the pace of the monotonic clock, until somebody sets it", "[engine]") {
	for (const int which : {0, 7}) { // CLOCK_REALTIME, CLOCK_BOOTTIME
		uint64_t last = dfr_user_clock_offset(which);
		for (unsigned i = 0; i < 1000; i++) {
			const auto moved = static_cast<int64_t>(dfr_user_clock_offset(which) - last);
			CHECK((moved == 0 || moved > 1000 || moved < -1000));
			last += static_cast<uint64_t>(moved);
		}
	}
}

} // namespace engine_session_test
