// SPDX-License-Identifier: GPL-2.0
//
// The renderer's small pieces against their rules, column by column:
// numbers, dumps, printf conversions, histograms. Expected texts are written out
// by hand from formats/d/LANGUAGE.md sections 9.1, 10 and 14.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "analyze/render/histogram.h"
#include "analyze/render/messages.h"
#include "analyze/render/printf_format.h"
#include "analyze/render/text.h"
#include "analyze/render/typed_print.h"
#include "formats/abi/aggtab.h"
#include "formats/abi/catalog.h"
#include "formats/abi/dof.h"

namespace render_text_test {

using namespace dfr::render;

namespace {

std::string formatted(const char* format, std::vector<Datum> data) {
	NoSymbols symbols;
	std::string out;
	PrintfFormat::parse(format).apply(out, {data, {}, {}}, symbols);
	return out;
}

std::span<const std::byte> bytes(std::string_view text) {
	return std::as_bytes(std::span(text.data(), text.size()));
}

// The 127 words of a quantize with the given buckets.
std::vector<uint64_t> quantized(std::initializer_list<std::pair<int, int64_t>> buckets) {
	std::vector<uint64_t> words(DFR_QUANTIZE_BUCKETS);
	for (const auto& [bucket, count] : buckets)
		words[static_cast<size_t>(DFR_QUANTIZE_ZERO + bucket)] = static_cast<uint64_t>(count);
	return words;
}

std::string table(uint32_t kind, const std::vector<uint64_t>& words, HistogramStyle style = {}) {
	std::string out;
	put_histogram(out, Histogram::from_words(kind, words), style);
	return out;
}

const std::string kHeader = "\n           value  ------------- Distribution ------------- count    \n";

std::string row(const std::string& label, const std::string& bar, const std::string& count) {
	std::string out(16 - label.size(), ' ');
	out += label + " " + bar + std::string(41 - bar.size(), ' ') + " " + count;
	return out + std::string(9 - count.size(), ' ') + "\n";
}

} // namespace

TEST_CASE("render: integers by size and sign", "[render]") {
	CHECK(formatted("%d", {integer(0xffffffffffffffff, 8, true)}) == "-1");
	CHECK(formatted("%d", {integer(0xffffffff, 4, false)}) == "4294967295");
	CHECK(formatted("%i", {integer(0xffffffff, 4, false)}) == "-1");
	CHECK(formatted("%u", {integer(0xffffffffffffffff, 2, true)}) == "65535");
	CHECK(formatted("%x", {integer(static_cast<uint64_t>(-1), 4, true)}) == "ffffffff");
	CHECK(formatted("%d", {integer(0x8000000000000000, 8, true)}) == "-9223372036854775808");
}

TEST_CASE("render: printf flags, width and precision", "[render]") {
	CHECK(formatted("[%5d][%-5d][%05d]", {integer(42, 4, true), integer(42, 4, true),
	                                      integer(42, 4, true)}) == "[   42][42   ][00042]");
	CHECK(formatted("%05d", {integer(static_cast<uint64_t>(-42), 4, true)}) == "-0042");
	CHECK(formatted("%+d % d", {integer(1, 4, true), integer(1, 4, true)}) == "+1  1");
	CHECK(formatted("%#x %#X %#o", {integer(255, 4, true), integer(255, 4, true), integer(8, 4, true)}) ==
	      "0xff 0XFF 010");
	CHECK(formatted("%#x", {integer(0, 4, true)}) == "0");
	CHECK(formatted("%.3d", {integer(7, 4, true)}) == "007");
	CHECK(formatted("%'d", {integer(1234567, 4, true)}) == "1,234,567");
	CHECK(formatted("[%*d]", {integer(6, 4, true), integer(42, 4, true)}) == "[    42]");
	CHECK(formatted("[%*d]", {integer(static_cast<uint64_t>(-6), 4, true), integer(42, 4, true)}) ==
	      "[42    ]");
	CHECK(formatted("[%.*s]", {integer(2, 4, true), text_datum("abc")}) == "[ab]");
	CHECK(formatted("[%?p]", {integer(0x1234, 8, false)}) == "[            1234]");
	CHECK(formatted("%lld %hd 100%%", {integer(5, 8, true), integer(6, 2, true)}) == "5 6 100%");
}

TEST_CASE("render: printf text and characters", "[render]") {
	CHECK(formatted("[%8s][%-8s]", {text_datum("ab"), text_datum("cd")}) == "[      ab][cd      ]");
	CHECK(formatted("%S", {text_datum("a\tb\x01")}) == "a\\tb\\001");
	CHECK(formatted("%c%C%C", {integer('o', 1, true), integer('\n', 1, true), integer(1, 1, true)}) ==
	      "o\\n\\001");
	CHECK(formatted("%s", {integer(17, 4, true)}) == "17"); // a hostile recording: no crash, its text
	CHECK(formatted("%d", {}).empty());
	CHECK(formatted("%f", {integer(3, 4, true)}) == "3.000000");
}

TEST_CASE("render: doubles come as bits", "[render]") {
	Datum datum;
	datum.kind = DatumKind::Float;
	const double value = 2.5;
	std::memcpy(&datum.number, &value, sizeof value);
	CHECK(formatted("%.2f|%8.1f|%e", {datum, datum, datum}) == "2.50|     2.5|2.500000e+00");
}

// As a recording may have them that comes from somebody else.
TEST_CASE("render: a format prints no text without end, and asks nobody for hosts' names", "[render]") {
	std::string wide, many;
	for (int i = 0; i < 900; i++)
		wide += "%4096d";
	for (int i = 0; i < 5000; i++)
		many += "%d";
	const std::string text = formatted(wide.c_str(), {});
	CHECK(text.size() > 1 << 20);
	CHECK(text.size() < (1 << 20) + 8192);
	CHECK(text.ends_with("(longer text is not printed)\n"));
	CHECK(PrintfFormat::parse(many).conversions().size() == 1001);
	CHECK(formatted(many.c_str(), {}) == many.substr(2 * 1000));
	CHECK(formatted("%I", {text_datum("127.0.0.1")}) == "127.0.0.1");
}

TEST_CASE("render: dates are the consumer's local time", "[render]") {
	setenv("TZ", "UTC", 1);
	tzset();
	CHECK(formatted("%Y", {integer(1177423200000000000, 8, true)}) == "2007 Apr 24 14:00:00");
	CHECK(formatted("%T", {integer(1177423200000000000, 8, true)}) == "Tue, 24 Apr 2007 14:00:00 UTC");
	CHECK(formatted("%Y", {integer(static_cast<uint64_t>(-1), 8, true)}) == "1969 Dec 31 23:59:59");
	const Datum first = integer(1177423200000000000, 8, true),
	            same = integer(1177423200999999999, 8, true),
	            next = integer(1177423201000000000, 8, true);
	CHECK(formatted("%Y|%Y|%T|%Y", {first, same, same, next}) ==
	      "2007 Apr 24 14:00:00|2007 Apr 24 14:00:00|Tue, 24 Apr 2007 14:00:00 UTC|2007 Apr 24 14:00:01");
}

TEST_CASE("render: probes that came and could not be made are told", "[render]") {
	dfr::trace::Catalog catalog;
	dfr::trace::EventMark& mark = catalog.events.emplace_back();
	mark.event = DFR_EVENT_UNARMED;
	mark.error = ENOMEM;
	mark.text = "rig:later:*:*";
	CHECK(event_text(catalog, 0) ==
	      "some of the probes rig:later:*:* cannot be armed: Cannot allocate memory");
}

TEST_CASE("render: each round of a detaching is told", "[render]") {
	dfr::trace::Catalog catalog;
	for (int i = 0; i < 2; i++) {
		dfr::trace::EventMark& mark = catalog.events.emplace_back();
		mark.event = DFR_EVENT_DETACHED;
		mark.value = -64;
	}
	CHECK(event_text(catalog, 0).starts_with("64 probes are detached for a while"));
	CHECK(event_text(catalog, 1) == event_text(catalog, 0));
}

TEST_CASE("render: addresses without symbols print as numbers", "[render]") {
	NoSymbols symbols;
	std::string out;
	const uint64_t pcs[] = {0xffffffff81000000, 0x10, 0, 0x20};
	Datum stack;
	stack.kind = DatumKind::Stack;
	stack.bytes = std::as_bytes(std::span(pcs));
	put_stack(out, stack, 14, symbols);
	CHECK(out == "\n              0xffffffff81000000\n              0x10\n");
	CHECK(address_text({"vmlinux", "vfs_read", 0x12}, 1, true) == "vmlinux`vfs_read+0x12");
	CHECK(address_text({"vmlinux", "vfs_read", 0}, 1, true) == "vmlinux`vfs_read");
	CHECK(address_text({"nfs", "", 0}, 0xabc, true) == "nfs`0xabc");
}

TEST_CASE("render: bytes are text where all of them are", "[render]") {
	CHECK(looks_like_text(bytes(std::string_view("ab\0\0", 4))));
	CHECK(looks_like_text(bytes("ab\n")));
	CHECK_FALSE(looks_like_text(bytes(std::string_view("a\0b", 3))));
	CHECK_FALSE(looks_like_text(bytes(std::string_view("\0\0", 2))));
	CHECK_FALSE(looks_like_text(bytes("a\x01")));
}

TEST_CASE("render: hex dump", "[render]") {
	std::string out;
	put_hex_dump(out, bytes(std::string_view("A\0\xff"
	                                         "0123456789abcdef",
	                                         19)));
	CHECK(out == "\n"
	             "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
	             "         0: 41 00 ff 30 31 32 33 34 35 36 37 38 39 61 62 63  A..0123456789abc\n"
	             "        10: 64 65 66                                         def\n");
}

TEST_CASE("render: quantize shows one bucket more on each side", "[render]") {
	// 1 in [1,1], 3 in [2,3]: bars are int(40 * c / 4 + 0.5).
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{1, 1}, {2, 3}})) ==
	      kHeader + row("0", "|", "0") + row("1", "|" + std::string(10, '@'), "1") +
	          row("2", "|" + std::string(30, '@'), "3") + row("4", "|", "0"));
}

TEST_CASE("render: quantize of nothing shows -1, 0 and 1", "[render]") {
	CHECK(table(DFR_ACT_QUANTIZE, quantized({})) ==
	      kHeader + row("-1", "|", "0") + row("0", "|", "0") + row("1", "|", "0"));
}

TEST_CASE("render: negative counts grow to the left", "[render]") {
	const std::string axis = std::string(40, ' ') + "|";
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{4, -3}})) ==
	      kHeader + row("4", axis, "0") + row("8", std::string(40, '@') + "|", "-3") +
	          row("16", axis, "0"));
}

TEST_CASE("render: mixed counts share the width", "[render]") {
	// d = int(20 * |c| / 8 + 0.5): 3 -> 8 (7.5 rounds up), 5 -> 13 (12.5 up)
	const std::string half(20, ' ');
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{4, -3}, {5, 5}})) ==
	      kHeader + row("4", half + "|", "0") +
	          row("8", std::string(12, ' ') + std::string(8, '@') + "|", "-3") +
	          row("16", half + "|" + std::string(13, '@'), "5") + row("32", half + "|", "0"));
}

TEST_CASE("render: normalising divides counts and not bars", "[render]") {
	HistogramStyle style;
	style.normal = 10;
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{1, 25}}), style) ==
	      kHeader + row("0", "|", "0") + row("1", "|" + std::string(40, '@'), "2") + row("2", "|", "0"));
}

TEST_CASE("render: the least number by -1 is itself", "[render]") {
	HistogramStyle style;
	style.normal = -1;
	const int64_t least = std::numeric_limits<int64_t>::min();
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{1, least}}), style).find(std::to_string(least)) !=
	      std::string::npos);
	const uint64_t word[] = {static_cast<uint64_t>(least)};
	CHECK(scalar_of({DFR_ACT_SUM, word, -1}) == least);
	const uint64_t spread[] = {2, 10, 58, 0}; // 3 and 7
	CHECK(scalar_of({DFR_ACT_STDDEV, spread, least}) == 0);
}

// As a hostile program asks for them: an entry of a table has no room for so many.
TEST_CASE("render: an llquantize of more slots than a table holds has the two outer ones", "[render]") {
	const auto slots = [](uint64_t steps) { return llquantize_slots(2ull << 48 | 62 << 16 | steps); };
	CHECK(slots(2) > 62);
	CHECK(slots(65535) == 2);
}

TEST_CASE("render: lquantize labels and outer buckets", "[render]") {
	// base 0, 2 levels of 5: [< 0] [0] [5] [>= 10]
	const uint64_t arg = uint64_t{5} << 48 | uint64_t{2} << 32 | 0;
	CHECK(table(DFR_ACT_LQUANTIZE, {arg, 1, 0, 0, 1}) ==
	      kHeader + row("< 0", "|" + std::string(20, '@'), "1") + row("0", "|", "0") +
	          row("5", "|", "0") + row(">= 10", "|" + std::string(20, '@'), "1"));
	CHECK(table(DFR_ACT_LQUANTIZE, {arg, 0, 0, 0, 0}) ==
	      kHeader + row("< 0", "|", "0") + row("0", "|", "0") + row("5", "|", "0"));
	CHECK(table(DFR_ACT_LQUANTIZE, {arg, 0, 0}) == kHeader); // the wrong length: damage
}

TEST_CASE("render: llquantize steps through each order", "[render]") {
	// factor 10, orders 0 to 1, 10 steps: 1..9, 10, 20 .. 90, with the outer two 20 slots
	const uint64_t arg = uint64_t{10} << 48 | uint64_t{0} << 32 | uint64_t{1} << 16 | 10;
	REQUIRE(llquantize_slots(arg) == 20);
	std::vector<uint64_t> words(21);
	words[0] = arg;
	words[11] = 1; // after the arg, `< 1` and 1 to 9
	CHECK(table(DFR_ACT_LLQUANTIZE, words) == kHeader + row("9", "|", "0") +
	                                              row("10", "|" + std::string(40, '@'), "1") +
	                                              row("20", "|", "0"));
}

// A recording may say that it has one.
TEST_CASE("render: the largest llquantize is shown as fast as others", "[render]") {
	const uint64_t arg = uint64_t{2} << 48 | uint64_t{0} << 32 | uint64_t{63} << 16 | 2048;
	std::vector<uint64_t> words(1 + llquantize_slots(arg), 1);
	REQUIRE(words.size() > 50'000); // of the 65,535 that a table's entry may have
	words[0] = arg;
	const Histogram all = Histogram::from_words(DFR_ACT_LLQUANTIZE, words);
	REQUIRE(all.counts.size() == words.size() - 1);
	CHECK(all.weight() > 0);
	std::string out;
	put_histogram(out, all, {});
	CHECK(static_cast<size_t>(std::count(out.begin(), out.end(), '\n')) == words.size() + 1);
	words.pop_back(); // as no engine makes it
	CHECK(Histogram::from_words(DFR_ACT_LLQUANTIZE, words).counts.empty());
}

TEST_CASE("render: zoom scales the tallest bar to 95 %", "[render]") {
	HistogramStyle style;
	style.zoom = true;
	CHECK(table(DFR_ACT_QUANTIZE, quantized({{1, 2}, {2, 1}}), style) ==
	      kHeader + row("0", "|", "0") + row("1", "|" + std::string(38, '@'), "2") +
	          row("2", "|" + std::string(19, '@'), "1") + row("4", "|", "0"));
}

TEST_CASE("render: a bar in eighths of a cell", "[render]") {
	HistogramStyle style;
	style.cells = CellText::kUtf8;
	std::string out;
	// 40 * 8 * 1 / 3 = 106 eighths: 13 full cells and 2 eighths
	put_bar(out, 1, scale_of(std::vector<int64_t>{1, 2}), style);
	std::string expected = "|";
	for (int i = 0; i < 13; i++)
		expected += "\xe2\x96\x88";
	expected += "\xe2\x96\x8e" + std::string(26, ' ');
	CHECK(out == expected);
}

TEST_CASE("render: scalars of aggregations", "[render]") {
	const uint64_t avg[] = {3, static_cast<uint64_t>(-5)};
	CHECK(scalar_of({DFR_ACT_AVG, avg, 1}) == -1); // towards zero
	const uint64_t none[] = {0, 0};
	CHECK(scalar_of({DFR_ACT_AVG, none, 1}) == 0);
	// 2 4 4 4 5 5 7 9: n 8, sum 40, squares 232: sqrt(29 - 25) = 2
	const uint64_t stddev[] = {8, 40, 232, 0};
	CHECK(scalar_of({DFR_ACT_STDDEV, stddev, 1}) == 2);
	const uint64_t sum[] = {static_cast<uint64_t>(-39)};
	CHECK(scalar_of({DFR_ACT_SUM, sum, 10}) == -3);
	const uint64_t least[] = {0x8000000000000000};
	CHECK(scalar_of({DFR_ACT_SUM, least, -1}) == INT64_MIN); // wraps, does not trap
}

// LANGUAGE.md section 9.1: UTF-8 is assumed unless encoding=ascii or TERM is dumb, sun, sun-color.
TEST_CASE("render: what packed cells are drawn with", "[render]") {
	const char* const term = std::getenv("TERM");
	const std::string before = term ? term : "";
	const auto drawn = [](CellText cells, const char* terminal) {
		::setenv("TERM", terminal, 1);
		HistogramStyle style;
		style.cells = cells;
		return packs_utf8(style);
	};
	CHECK(drawn(CellText::kUnset, "xterm"));
	CHECK(drawn(CellText::kUnset, ""));
	for (const char* const old : {"dumb", "sun", "sun-color"}) {
		CHECK_FALSE(drawn(CellText::kUnset, old));
		CHECK(drawn(CellText::kUtf8, old));
	}
	CHECK_FALSE(drawn(CellText::kAscii, "xterm"));
	::setenv("TERM", before.c_str(), 1);
}

TEST_CASE("render: a type whose size cannot be counted is shown as its bytes", "[render][hostile]") {
	const std::string described =
	    "S 16 t n:0:0:4 a:64:0:1\nA 1 2\nA 4294967296 3\nA 8589934592 4\nI 64 s long\n";
	const Datum value{.kind = DatumKind::Bytes, .bytes = bytes("0123456789abcdef")};
	std::string dump, typed, pointed;
	put_hex_dump(dump, value.bytes);
	put_typed(typed, "struct t", value, nullptr, described);
	CHECK(typed == "struct t " + dump);
	put_pointed(pointed, "struct t *", integer(4096, 8, false), value, described);
	CHECK(pointed == "struct t * 0x1000 = *\n" + dump);
}

} // namespace render_text_test
