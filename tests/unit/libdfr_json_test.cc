// SPDX-License-Identifier: GPL-2.0
//
// JSON that verdicts and listings are written as.
#include <catch2/catch.hpp>

#include "analyze/libdfr/json.h"

namespace libdfr_json_test {

using dfr::lib::json_text;
using dfr::lib::JsonObject;

TEST_CASE("JSON text keeps UTF-8 and replaces what is none", "[json]") {
	CHECK(json_text("a\"b\\c") == R"("a\"b\\c")");
	CHECK(json_text("a\n\x01\x7f") == R"("a\u000a\u0001\u007f")");
	CHECK(json_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\x80") ==
	      "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\x80\"");
	CHECK(json_text("\xff") == R"("\ufffd")");
	CHECK(json_text("\xc3") == R"("\ufffd")");                               // cut
	CHECK(json_text("\xc0\xaf") == R"("\ufffd\ufffd")");                     // overlong
	CHECK(json_text("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");           // a surrogate
	CHECK(json_text("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")"); // beyond the last
}

TEST_CASE("the name of a JSON field ends nothing", "[json]") {
	CHECK(JsonObject().raw("a\": 1, \"b\n", "2").str() == R"({"a\": 1, \"b\u000a": 2})");
}

TEST_CASE("JSON objects grow by fields", "[json]") {
	CHECK(JsonObject().str() == "{}");
	CHECK(JsonObject().raw("n", "1").text("t", "x").str() == R"({"n": 1, "t": "x"})");
}

} // namespace libdfr_json_test
