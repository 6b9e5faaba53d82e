// SPDX-License-Identifier: GPL-2.0
//
// Names of timers, values of options, options of the renderer: normal, boundary
// and wrong.
#include <catch2/catch.hpp>

#include "analyze/engine/tick.h"
#include "analyze/libdfr/option_value.h"
#include "analyze/render/renderer.h"

namespace replay_tick_test {

using dfr::engine::timer_interval;
using dfr::lib::parse_rate;

TEST_CASE("replay: timer names", "[replay]") {
	CHECK(timer_interval("tick-1s") == 1'000'000'000);
	CHECK(timer_interval("tick-10") == 100'000'000); // hz
	CHECK(timer_interval("tick-10hz") == 100'000'000);
	CHECK(timer_interval("tick-5msec") == 5'000'000);
	CHECK(timer_interval("tick-2min") == 120'000'000'000);
	CHECK(timer_interval("tick-1day") == 86'400'000'000'000);
	CHECK(timer_interval("tick-200us") == 200'000);
	CHECK(timer_interval("tick-5000") == 200'000);
	CHECK(timer_interval("profile-97", "profile") == 1'000'000'000 / 97);
}

TEST_CASE("replay: what is no timer", "[replay]") {
	CHECK_FALSE(timer_interval("tick-"));
	CHECK_FALSE(timer_interval("tick-0"));
	CHECK_FALSE(timer_interval("tick-199us")); // finer than 200 us
	CHECK_FALSE(timer_interval("tick-5001"));
	CHECK_FALSE(timer_interval("tick-1fortnight"));
	CHECK_FALSE(timer_interval("tick-99999999999999999999"));
	CHECK_FALSE(timer_interval("tick-999999999999d"));
	CHECK_FALSE(timer_interval("tock-1s"));
	CHECK_FALSE(timer_interval("profile-97"));
}

TEST_CASE("replay: option values", "[replay]") {
	CHECK(parse_rate("10hz") == 100'000'000);
	CHECK(parse_rate("500ms") == 500'000'000);
	CHECK(parse_rate("3") == 3);
	CHECK(parse_rate("0hz") == 0);
	CHECK_FALSE(parse_rate("1x"));
}

TEST_CASE("replay: options of the renderer", "[replay]") {
	dfr::render::Style style;
	bool known = false;
	using dfr::render::Renderer;
	CHECK(Renderer::set_style(style, "quiet", std::nullopt, known).empty());
	CHECK(known);
	CHECK(style.quiet);
	CHECK(Renderer::set_style(style, "quiet", "", known).empty());
	CHECK_FALSE(style.quiet);
	CHECK(Renderer::set_style(style, "quiet", "no", known).empty());
	CHECK_FALSE(style.quiet);
	CHECK(Renderer::set_style(style, "quiet", "0", known).empty()); // a number sets it, 0 too
	CHECK(style.quiet);
	CHECK(Renderer::set_style(style, "quiet", "perhaps", known) == "Invalid value for specified option");
	CHECK(Renderer::set_style(style, "stackindent", "20", known).empty());
	CHECK(style.stackindent == 20);
	CHECK_FALSE(Renderer::set_style(style, "stackindent", "-1", known).empty());
	Renderer::set_style(style, "bufsize", "1m", known);
	CHECK_FALSE(known);
}

} // namespace replay_tick_test
