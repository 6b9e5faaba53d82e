// SPDX-License-Identifier: GPL-2.0
//
// Subroutines: each with ordinary, boundary and wrong arguments. Expected
// results are worked out from formats/dif/DIF.md section 7 by hand.
#include <catch2/catch.hpp>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_subr_test {

using namespace dfr::test;

namespace {

constexpr uint64_t kForeign = 0xffff888000000000;

// An argument: text, or a number.
struct Arg {
	std::string text;
	uint64_t number = 0;
	bool is_text;
	// NOLINTBEGIN(google-explicit-constructor): cases write plain texts and numbers
	Arg(const char* value) : text(value), is_text(true) {}
	Arg(const std::string& value) : text(value), is_text(true) {}
	Arg(int value) : number(static_cast<uint64_t>(static_cast<int64_t>(value))), is_text(false) {}
	Arg(uint64_t value) : number(value), is_text(false) {}
	// NOLINTEND(google-explicit-constructor)
};

Code calling(uint32_t subr, const std::vector<Arg>& args) {
	Code code;
	code.flush();
	for (const Arg& arg : args) {
		if (arg.is_text)
			code.sets(arg.text, 1).pushr(DIF_KIND_STRING, 0, 1);
		else
			code.setx(arg.number, 1).pushv(1);
	}
	return code.call(subr, 2).ret(2);
}

uint64_t number(Rig& rig, uint32_t subr, const std::vector<Arg>& args) {
	return rig.run(calling(subr, args));
}

int64_t value(uint32_t subr, const std::vector<Arg>& args) {
	Rig rig;
	auto result = static_cast<int64_t>(number(rig, subr, args));
	CHECK(rig.fault() == -1);
	return result;
}

// The text of the result; "(null)" for 0 without a fault.
std::string text(uint32_t subr, const std::vector<Arg>& args, uint32_t strsize = 256) {
	Rig rig(strsize);
	uint64_t addr = number(rig, subr, args);
	CHECK(rig.fault() == -1);
	return addr ? rig.text(addr) : "(null)";
}

int fault(uint32_t subr, const std::vector<Arg>& args, uint32_t strsize = 256, size_t scratch = 8192) {
	Rig rig(strsize, 4096, scratch);
	CHECK(number(rig, subr, args) == 0);
	return rig.fault();
}

} // namespace

TEST_CASE("strlen", "[exec][subr]") {
	CHECK(value(DIF_SUBR_STRLEN, {""}) == 0);
	CHECK(value(DIF_SUBR_STRLEN, {"abc"}) == 3);
	Rig rig(8);
	CHECK(number(rig, DIF_SUBR_STRLEN, {"123456789"}) == 8); // bounded by strsize
	CHECK(fault(DIF_SUBR_STRLEN, {0}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_STRLEN, {kForeign}) == DIF_FAULT_BADADDR);
}

TEST_CASE("strjoin", "[exec][subr]") {
	CHECK(text(DIF_SUBR_STRJOIN, {"abc", "def"}) == "abcdef");
	CHECK(text(DIF_SUBR_STRJOIN, {"", ""}).empty());
	CHECK(text(DIF_SUBR_STRJOIN, {"123", "4567"}, 8) == "1234567");
	CHECK(fault(DIF_SUBR_STRJOIN, {"1234", "4567"}, 8) == DIF_FAULT_NOSCRATCH);
	CHECK(fault(DIF_SUBR_STRJOIN, {"a", 0}) == DIF_FAULT_BADADDR);
	// It takes only the bytes that it needs.
	Rig rig(256, 4096, 8);
	CHECK(rig.run_text(calling(DIF_SUBR_STRJOIN, {"123", "4567"})) == "1234567");
	number(rig, DIF_SUBR_STRJOIN, {"1234", "4567"});
	CHECK(rig.fault() == DIF_FAULT_NOSCRATCH);
}

TEST_CASE("strchr and strrchr point into the string", "[exec][subr]") {
	CHECK(text(DIF_SUBR_STRCHR, {"a/b/c", '/'}) == "/b/c");
	CHECK(text(DIF_SUBR_STRRCHR, {"a/b/c", '/'}) == "/c");
	CHECK(text(DIF_SUBR_STRCHR, {"abc", 'x'}) == "(null)");
	CHECK(text(DIF_SUBR_STRRCHR, {"", 'x'}) == "(null)");
	CHECK(text(DIF_SUBR_STRCHR, {"abc", 0x161}) == "abc"); // a char: the low byte
	CHECK(fault(DIF_SUBR_STRCHR, {0, 'x'}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_STRRCHR, {kForeign, 'x'}) == DIF_FAULT_BADADDR);
}

TEST_CASE("strstr", "[exec][subr]") {
	CHECK(text(DIF_SUBR_STRSTR, {"abcabd", "abd"}) == "abd");
	CHECK(text(DIF_SUBR_STRSTR, {"abc", "abcd"}) == "(null)");
	CHECK(text(DIF_SUBR_STRSTR, {"aaab", "aab"}) == "aab");
	CHECK(text(DIF_SUBR_STRSTR, {"", ""}).empty());
	CHECK(text(DIF_SUBR_STRSTR, {"abc", ""}) == "abc");
	CHECK(text(DIF_SUBR_STRSTR, {"", "a"}) == "(null)");
	CHECK(fault(DIF_SUBR_STRSTR, {"abc", 0}) == DIF_FAULT_BADADDR);
}

TEST_CASE("a search that would take too long is refused, not endured", "[exec][subr]") {
	// 32 K letters a, and 16 K of them with a b at the end: every place fails at its last letter.
	const std::string hay(32000, 'a');
	std::string needle(16000, 'a');
	needle += 'b';
	CHECK(fault(DIF_SUBR_STRSTR, {hay, needle}, 65536) == DIF_FAULT_ILLOP);
	// As long, but every place fails at its first letter.
	Rig rig(65536);
	CHECK(number(rig, DIF_SUBR_RINDEX, {hay, "b" + std::string(16000, 'a')}) == ~uint64_t{0});
	CHECK(rig.fault() == -1);
}

constexpr int kWork = DFR_WORK_ROOT * DFR_WORK_CHUNK;

// How often it runs in one firing before there is no work left for it.
int runs_until_illegal(Rig& rig, const dfr_difo* difo) {
	int runs = 0;
	for (; runs < 1000; runs++) {
		rig.run(difo);
		if (rig.fault() != -1)
			break;
	}
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
	CHECK(runs > 0);
	return runs;
}

TEST_CASE("the work of one firing is bounded, over all its clauses", "[exec][subr]") {
	// Pushing the string and strlen go through 60,000 bytes each.
	Rig rig(65536);
	const dfr_difo* difo = rig.add(calling(DIF_SUBR_STRLEN, {std::string(60000, 'a')}));
	const int runs = runs_until_illegal(rig, difo);
	CHECK(runs * 2 * 60000 < kWork / 4); // a byte is several instructions
	rig.run(difo);
	CHECK(rig.fault() == DIF_FAULT_ILLOP); // another clause of the same firing
	rig.fire();
	CHECK(rig.run(difo) == 60000);
	CHECK(rig.fault() == -1);
}

TEST_CASE("what copyinto() moves is work, however small a string is", "[exec][subr]") {
	static const char user[4096] = {};
	Rig rig(16);
	rig.env.ev_flags = DFR_ENV_LIVE;
	Code code;
	code.setx(sizeof user, 1).r(DIF_OP_ALLOCS, 1, 0, 2).setx(reinterpret_cast<uint64_t>(user), 3);
	code.pushv(3).pushv(1).pushv(2);
	constexpr int kCalls = 1000;
	for (int i = 0; i < kCalls; i++)
		code.call(DIF_SUBR_COPYINTO, 4);
	const dfr_difo* difo = rig.add(code.ret(0));
	const int runs = runs_until_illegal(rig, difo);
	CHECK(runs <= kWork / (kCalls * static_cast<int>(sizeof user)));
}

TEST_CASE("index and rindex", "[exec][subr]") {
	CHECK(value(DIF_SUBR_INDEX, {"foobarbaz", "ba"}) == 3);
	CHECK(value(DIF_SUBR_INDEX, {"foobarbaz", "ba", 4}) == 6);
	CHECK(value(DIF_SUBR_INDEX, {"foobarbaz", "xx"}) == -1);
	CHECK(value(DIF_SUBR_INDEX, {"foobarbaz", "fo", -5}) == 0);
	CHECK(value(DIF_SUBR_INDEX, {"foo", "", 2}) == 2);
	CHECK(value(DIF_SUBR_INDEX, {"foo", "", 3}) == 3);
	CHECK(value(DIF_SUBR_INDEX, {"foo", "", 99}) == 3);
	CHECK(value(DIF_SUBR_INDEX, {"foo", "o", 99}) == -1);
	CHECK(value(DIF_SUBR_INDEX, {"", ""}) == 0);
	CHECK(value(DIF_SUBR_RINDEX, {"foobarbaz", "ba"}) == 6);
	CHECK(value(DIF_SUBR_RINDEX, {"foobarbaz", "ba", 5}) == 3);
	CHECK(value(DIF_SUBR_RINDEX, {"foobarbaz", "ba", 6}) == 6);
	CHECK(value(DIF_SUBR_RINDEX, {"foobarbaz", "ba", 99}) == 6);
	CHECK(value(DIF_SUBR_RINDEX, {"foobarbaz", "ba", -1}) == -1);
	CHECK(value(DIF_SUBR_RINDEX, {"foo", "", -1}) == 0);
	CHECK(value(DIF_SUBR_RINDEX, {"foo", ""}) == 3);
	CHECK(value(DIF_SUBR_RINDEX, {"foo", "fooo"}) == -1);
	CHECK(fault(DIF_SUBR_INDEX, {0, "a"}) == DIF_FAULT_BADADDR);
}

TEST_CASE("substr", "[exec][subr]") {
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 2}) == "cdef");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 2, 3}) == "cde");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", -2}) == "ef");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", -4, 2}) == "cd");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 1, -2}) == "bcd");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", -4, -2}) == "cd");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 6}).empty());
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 7, 1}).empty());
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 0, 0}).empty());
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 4, -3}).empty());
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", -8, 3}) ==
	      "a"); // of positions -8, -7, -6 only the last is inside
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", -8}) == "abcdef");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 0, 100}) == "abcdef");
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", uint64_t{1} << 63, 5}).empty());
	CHECK(text(DIF_SUBR_SUBSTR, {"abcdef", 2, (uint64_t{1} << 63) - 1}) == "cdef");
	CHECK(text(DIF_SUBR_SUBSTR, {"", 0}).empty());
	CHECK(fault(DIF_SUBR_SUBSTR, {0, 1}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_SUBSTR, {"abc", 1}, 256, 255) == DIF_FAULT_NOSCRATCH);
}

TEST_CASE("strtok goes on where it was, for one firing", "[exec][subr]") {
	Rig rig;
	const dfr_difo* first = rig.add(calling(DIF_SUBR_STRTOK, {"//usr/local//bin/", "/"}));
	const dfr_difo* next = rig.add(calling(DIF_SUBR_STRTOK, {0, "/"}));
	CHECK(rig.text(rig.run(first)) == "usr");
	CHECK(rig.text(rig.run(next)) == "local");
	CHECK(rig.text(rig.run(next)) == "bin");
	CHECK(rig.run(next) == 0);
	CHECK(rig.run(next) == 0);
	CHECK(rig.fault() == -1);
	rig.run(first);
	rig.fire(); // another firing
	CHECK(rig.run(next) == 0);
	CHECK(text(DIF_SUBR_STRTOK, {"///", "/"}) == "(null)");
	CHECK(text(DIF_SUBR_STRTOK, {"abc", ""}) == "abc");
	CHECK(text(DIF_SUBR_STRTOK, {"a,b;c", ";,"}) == "a");
	CHECK(text(DIF_SUBR_STRTOK, {"", "/"}) == "(null)");
	CHECK(fault(DIF_SUBR_STRTOK, {kForeign, "/"}) == DIF_FAULT_BADADDR);
}

TEST_CASE("toupper and tolower know ASCII", "[exec][subr]") {
	CHECK(text(DIF_SUBR_TOUPPER, {"azAZ09{\xe4"}) == "AZAZ09{\xe4");
	CHECK(text(DIF_SUBR_TOLOWER, {"azAZ09[\xc4"}) == "azaz09[\xc4");
	CHECK(text(DIF_SUBR_TOUPPER, {"12345678"}, 8) == "1234567"); // a string holds strsize - 1
	CHECK(fault(DIF_SUBR_TOLOWER, {0}) == DIF_FAULT_BADADDR);
}

TEST_CASE("basename and dirname", "[exec][subr]") {
	struct {
		const char *path, *base, *dir;
	} cases[] = {{"/usr/bin/ls", "ls", "/usr/bin"},
	             {"/usr/bin/", "bin", "/usr"},
	             {"ls", "ls", "."},
	             {"/ls", "ls", "/"},
	             {"/", "/", "/"},
	             {"///", "/", "/"},
	             {"", ".", "."},
	             {"a/b", "b", "a"},
	             {"a//b//", "b", "a"},
	             {"//a", "a", "/"}};
	for (auto& c : cases) {
		INFO(c.path);
		CHECK(text(DIF_SUBR_BASENAME, {c.path}) == c.base);
		CHECK(text(DIF_SUBR_DIRNAME, {c.path}) == c.dir);
	}
	CHECK(fault(DIF_SUBR_BASENAME, {0}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_DIRNAME, {kForeign}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_BASENAME, {""}, 256, 255) == DIF_FAULT_NOSCRATCH);
}

TEST_CASE("cleanpath", "[exec][subr]") {
	struct {
		const char *path, *clean;
	} cases[] = {{"/a//b", "/a/b"},
	             {"/a/./b", "/a/b"},
	             {"/a/../b", "/b"},
	             {"/a/b/../../c", "/c"},
	             {"/../a", "/a"},
	             {"/a/..", "/"},
	             {"/a/b/..", "/a/"},
	             {"/a/...", "/a/..."},
	             {"/a/.b/..c", "/a/.b/..c"},
	             {"///", "/"},
	             {"", ""},
	             {"a/b", "a/b"},
	             {"a/../b", "b"},
	             {"../a", "../a"},
	             {"../../a", "../../a"},
	             {"/a/.//./b", "/a/b"}};
	for (auto& c : cases) {
		INFO(c.path);
		CHECK(text(DIF_SUBR_CLEANPATH, {c.path}) == c.clean);
	}
	CHECK(fault(DIF_SUBR_CLEANPATH, {kForeign}) == DIF_FAULT_BADADDR);
}

TEST_CASE("lltostr", "[exec][subr]") {
	CHECK(text(DIF_SUBR_LLTOSTR, {0}) == "0");
	CHECK(text(DIF_SUBR_LLTOSTR, {-1}) == "-1");
	CHECK(text(DIF_SUBR_LLTOSTR, {uint64_t{1} << 63}) == "-9223372036854775808");
	CHECK(text(DIF_SUBR_LLTOSTR, {255, 16}) == "0xff");
	CHECK(text(DIF_SUBR_LLTOSTR, {-1, 16}) == "0xffffffffffffffff");
	CHECK(text(DIF_SUBR_LLTOSTR, {8, 8}) == "010");
	CHECK(text(DIF_SUBR_LLTOSTR, {35, 36}) == "z");
	CHECK(text(DIF_SUBR_LLTOSTR, {-1, 2}) == std::string(64, '1'));
	CHECK(text(DIF_SUBR_LLTOSTR, {5, 10}) == "5");
	CHECK(fault(DIF_SUBR_LLTOSTR, {5, 1}) == DIF_FAULT_ILLOP);
	CHECK(fault(DIF_SUBR_LLTOSTR, {5, 37}) == DIF_FAULT_ILLOP);
	CHECK(fault(DIF_SUBR_LLTOSTR, {12345678}, 256, 8) == DIF_FAULT_NOSCRATCH);
}

TEST_CASE("strtoll", "[exec][subr]") {
	CHECK(value(DIF_SUBR_STRTOLL, {"42"}) == 42);
	CHECK(value(DIF_SUBR_STRTOLL, {" \t-42x"}) == -42);
	CHECK(value(DIF_SUBR_STRTOLL, {"+7"}) == 7);
	CHECK(value(DIF_SUBR_STRTOLL, {"0x1F", 16}) == 31);
	CHECK(value(DIF_SUBR_STRTOLL, {"0x", 16}) == 0);
	CHECK(value(DIF_SUBR_STRTOLL, {"0x10"}) == 0);
	CHECK(value(DIF_SUBR_STRTOLL, {"101", 2}) == 5);
	CHECK(value(DIF_SUBR_STRTOLL, {"zz", 36}) == 35 * 36 + 35);
	CHECK(value(DIF_SUBR_STRTOLL, {"none"}) == 0);
	CHECK(value(DIF_SUBR_STRTOLL, {""}) == 0);
	CHECK(value(DIF_SUBR_STRTOLL, {"9223372036854775807"}) == INT64_MAX);
	CHECK(value(DIF_SUBR_STRTOLL, {"9223372036854775808"}) == INT64_MAX);
	CHECK(value(DIF_SUBR_STRTOLL, {"-9223372036854775808"}) == INT64_MIN);
	CHECK(value(DIF_SUBR_STRTOLL, {"-99999999999999999999"}) == INT64_MIN);
	CHECK(fault(DIF_SUBR_STRTOLL, {"1", 0}) == DIF_FAULT_ILLOP);
	CHECK(fault(DIF_SUBR_STRTOLL, {kForeign}) == DIF_FAULT_BADADDR);
}

TEST_CASE("byte order and device numbers", "[exec][subr]") {
	for (uint32_t subr : {DIF_SUBR_HTONS, DIF_SUBR_NTOHS})
		CHECK(value(subr, {0xff1234}) == 0x3412);
	for (uint32_t subr : {DIF_SUBR_HTONL, DIF_SUBR_NTOHL})
		CHECK(value(subr, {uint64_t{0xff12345678}}) == 0x78563412);
	for (uint32_t subr : {DIF_SUBR_HTONLL, DIF_SUBR_NTOHLL})
		CHECK(value(subr, {uint64_t{0x0102030405060708}}) == 0x0807060504030201);
	CHECK(value(DIF_SUBR_GETMAJOR, {8 << 20 | 17}) == 8);
	CHECK(value(DIF_SUBR_GETMINOR, {8 << 20 | 17}) == 17);
}

TEST_CASE("addresses as text", "[exec][subr]") {
	auto with = [](uint32_t subr, std::vector<uint8_t> bytes, int family = -1) {
		// The address stands in a string table, which may hold any byte.
		Rig rig;
		Code code;
		uint32_t at = code.string(std::string(bytes.begin(), bytes.end()));
		code.flush();
		if (family >= 0)
			code.setx(static_cast<uint64_t>(family), 1).pushv(1);
		code.wide(DIF_OP_SETS, at, 1).pushv(1).call(subr, 2).ret(2);
		uint64_t result = rig.run(code);
		return result ? rig.text(result) : "fault " + std::to_string(rig.fault());
	};
	CHECK(with(DIF_SUBR_INET_NTOA, {127, 0, 0, 1}) == "127.0.0.1");
	CHECK(with(DIF_SUBR_INET_NTOA, {255, 255, 255, 255}) == "255.255.255.255");
	CHECK(with(DIF_SUBR_INET_NTOP, {10, 20, 0, 3}, 2) == "10.20.0.3");
	const std::vector<uint8_t> zero(16, 0);
	auto v6 = [&](std::initializer_list<std::pair<int, int>> set) {
		std::vector<uint8_t> bytes = zero;
		for (auto& [at, byte] : set)
			bytes[static_cast<size_t>(at)] = static_cast<uint8_t>(byte);
		return bytes;
	};
	for (auto [subr, family] :
	     {std::pair<uint32_t, int>{DIF_SUBR_INET_NTOA6, -1}, {DIF_SUBR_INET_NTOP, 10}}) {
		CHECK(with(subr, zero, family) == "::");
		CHECK(with(subr, v6({{15, 1}}), family) == "::1");
		CHECK(with(subr, v6({{0, 0x20}, {1, 1}, {2, 0xd}, {3, 0xb8}, {15, 1}}), family) ==
		      "2001:db8::1");
		CHECK(with(subr, v6({{0, 0xfe}, {1, 0x80}}), family) == "fe80::");
		// Two runs: the longer one is compressed.
		CHECK(with(subr, v6({{1, 1}, {7, 2}, {15, 3}}), family) == "1:0:0:2::3");
		// A single zero group stays.
		CHECK(with(subr, {0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, family) ==
		      "1:0:2:3:4:5:6:7");
		CHECK(with(subr, v6({{12, 1}, {13, 2}, {14, 3}, {15, 4}}), family) == "::1.2.3.4");
	}
	const std::vector<uint8_t> mapped = v6({{10, 255}, {11, 255}, {12, 1}, {13, 2}, {14, 3}, {15, 4}});
	CHECK(with(DIF_SUBR_INET_NTOP, mapped, 10) == "::ffff:1.2.3.4");
	CHECK(with(DIF_SUBR_INET_NTOA6, mapped) == "1.2.3.4");
	CHECK(with(DIF_SUBR_INET_NTOP, zero, 3) == "fault " + std::to_string(DIF_FAULT_ILLOP));
	CHECK(with(DIF_SUBR_LINK_NTOP, {0, 0x1b, 0xff, 2, 3, 0xa4}, 1) == "00:1b:ff:02:03:a4");
	CHECK(with(DIF_SUBR_LINK_NTOP, std::vector<uint8_t>(20, 0xab), 32).size() == 59);
	CHECK(with(DIF_SUBR_LINK_NTOP, zero, 7) == "fault " + std::to_string(DIF_FAULT_ILLOP));
	CHECK(fault(DIF_SUBR_INET_NTOA, {kForeign}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_INET_NTOA6, {0}) == DIF_FAULT_BADADDR);
	CHECK(fault(DIF_SUBR_LINK_NTOP, {1, kForeign}) == DIF_FAULT_BADADDR);
}

TEST_CASE("json", "[exec][subr]") {
	const char* doc =
	    R"({ "a": 1, "b": { "c": [10, "two", { "d": true }], "e": null }, "q\"x": "y\"z", "": 5 ,
		"f" : -1.5e3, "s": "" })";
	auto at = [&](const char* selector) { return text(DIF_SUBR_JSON, {doc, selector}, 1024); };
	CHECK(at("a") == "1");
	CHECK(at("b.c[0]") == "10");
	CHECK(at("b.c[1]") == "two");
	CHECK(at("b.c[2].d") == "true");
	CHECK(at("b.e") == "null");
	CHECK(at("q\\\"x") == "y\\\"z"); // escapes as they stand
	CHECK(at("f") == "-1.5e3");
	CHECK(at("s").empty());
	CHECK(at("b.c[3]") == "(null)");
	CHECK(at("b") == R"({ "c": [10, "two", { "d": true }], "e": null })");
	CHECK(at("b.c") == R"([10, "two", { "d": true }])");
	CHECK(at("b.c[2]") == R"({ "d": true })");
	CHECK(at("missing") == "(null)");
	CHECK(at("a.b") == "(null)");
	CHECK(at("a[0]") == "(null)");
	CHECK(at("b.c[x]") == "(null)");
	CHECK(at("b.c[") == "(null)");
	CHECK(at("b.c[99999999999999999999]") == "(null)");
	CHECK(at(".") == "(null)");
	CHECK(text(DIF_SUBR_JSON, {"[[1,2],[3,4]]", "[1][0]"}) == "3");
	CHECK(text(DIF_SUBR_JSON, {"[]", "[0]"}) == "(null)");
	CHECK(text(DIF_SUBR_JSON, {"[[1,2],[3,4]]", "[1]"}) == "[3,4]");
	CHECK(text(DIF_SUBR_JSON, {R"( {"a": "}]"} )", ""}) ==
	      R"({"a": "}]"})"); // a bracket in a text is none
	CHECK(text(DIF_SUBR_JSON, {"  17 ", ""}) == "17");
	for (const char* cut : {"{\"a\":[", "{\"a\":[1,[2]", "{\"a\":{\"b\":1", "{\"a\":[\"]}"})
		CHECK(text(DIF_SUBR_JSON, {cut, "a"}) == "(null)");
	for (const char* damaged :
	     {"", "{", "{\"a\"", "{\"a\":", "{\"a\" 1}", "[1", "{\"b\":\"x", "{a:1}", "}"})
		CHECK(text(DIF_SUBR_JSON, {damaged, "a"}) == "(null)");
	CHECK(fault(DIF_SUBR_JSON, {kForeign, "a"}) == DIF_FAULT_BADADDR);
}

TEST_CASE("memref and memstr", "[exec][subr]") {
	Rig rig;
	uint64_t pair = number(rig, DIF_SUBR_MEMREF, {uint64_t{0x1234}, 16});
	uint64_t words[2];
	REQUIRE(dfr_machine_copy(&rig.machine, words, pair, sizeof(words), false) == 0);
	CHECK(words[0] == 0x1234);
	CHECK(words[1] == 16);
	const std::string args("ls\0-l\0/tmp\0", 11);
	CHECK(text(DIF_SUBR_MEMSTR, {args, ' ', 11}) == "ls -l /tmp");
	CHECK(text(DIF_SUBR_MEMSTR, {args, ' ', 10}) == "ls -l /tmp");
	CHECK(text(DIF_SUBR_MEMSTR, {args, ' ', 4}) == "ls -");
	CHECK(text(DIF_SUBR_MEMSTR, {args, ' ', 0}).empty());
	CHECK(text(DIF_SUBR_MEMSTR, {args, ' ', 11}, 8) == "ls -l /");
	CHECK(fault(DIF_SUBR_MEMSTR, {kForeign, ' ', 4}) == DIF_FAULT_BADADDR);
}

TEST_CASE("alloca and bcopy", "[exec][subr]") {
	Rig rig(256, 4096, 64);
	Code code;
	code.setx(16, 1).flush().pushv(1).call(DIF_SUBR_ALLOCA, 2);
	code.sets("hello", 3).setx(6, 4).flush().pushv(3).pushv(2).pushv(4).call(DIF_SUBR_BCOPY, 5).ret(2);
	CHECK(rig.run_text(code) == "hello");
	CHECK(fault(DIF_SUBR_ALLOCA, {65}, 256, 64) == DIF_FAULT_NOSCRATCH);
	CHECK(fault(DIF_SUBR_ALLOCA, {~uint64_t{0}}, 256, 64) == DIF_FAULT_NOSCRATCH);
	CHECK(fault(DIF_SUBR_BCOPY, {"src", "table", 3}) == DIF_FAULT_BADADDR); // not scratch
	CHECK(fault(DIF_SUBR_BCOPY, {"src", kForeign, 3}) == DIF_FAULT_BADADDR);
	Code overlap; // "abcdef" moved up by two within itself
	overlap.setx(16, 1).r(DIF_OP_ALLOCS, 1, 0, 2).sets("abcdef", 3).setx(6, 4).r(DIF_OP_COPYS, 3, 4, 2);
	overlap.setx(2, 5)
	    .r(DIF_OP_ADD, 2, 5, 6)
	    .flush()
	    .pushv(2)
	    .pushv(6)
	    .pushv(4)
	    .call(DIF_SUBR_BCOPY, 7)
	    .ret(2);
	CHECK(rig.run_text(overlap) == "ababcdef");
}

TEST_CASE("copyin and its kin", "[exec][subr]") {
	static char user[] = "user memory";
	const auto addr = reinterpret_cast<uint64_t>(user);
	Rig rig;
	number(rig, DIF_SUBR_COPYIN, {addr, 4});
	CHECK(rig.fault() == DIF_FAULT_BADADDR); // a recording has no user memory
	rig.env.ev_flags = DFR_ENV_LIVE;
	CHECK(rig.run_text(calling(DIF_SUBR_COPYIN, {addr, 12})) == "user memory");
	CHECK(rig.run_text(calling(DIF_SUBR_COPYINSTR, {addr})) == "user memory");
	CHECK(rig.run_text(calling(DIF_SUBR_COPYINSTR, {addr, 4})) == "user");
	CHECK(rig.run_text(calling(DIF_SUBR_COPYINSTR, {addr, 0})).empty());
	number(rig, DIF_SUBR_COPYIN, {16, 4});
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 16);
	number(rig, DIF_SUBR_COPYINSTR, {kForeign});
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	number(rig, DIF_SUBR_COPYIN, {addr, 1 << 20});
	CHECK(rig.fault() == DIF_FAULT_NOSCRATCH);
	CHECK(number(rig, DIF_SUBR_COPYIN, {addr, 0}) != 0);

	Code into;
	into.setx(16, 1).r(DIF_OP_ALLOCS, 1, 0, 2).setx(addr, 3).setx(4, 4).flush();
	into.pushv(3).pushv(4).pushv(2).call(DIF_SUBR_COPYINTO, 5).ret(2);
	CHECK(rig.run_text(into) == "user");
	number(rig, DIF_SUBR_COPYINTO, {addr, 4, addr});
	CHECK(rig.fault() == DIF_FAULT_BADADDR); // the target is not scratch
}

TEST_CASE("copyout needs the right to destroy, and a live process", "[exec][subr]") {
	static char user[16];
	const auto addr = reinterpret_cast<uint64_t>(user);
	Rig rig;
	number(rig, DIF_SUBR_COPYOUT, {"abc", addr, 4});
	CHECK(rig.fault() == DIF_FAULT_UPRIV);
	CHECK(user[0] == 0);
	rig.machine.m_flags = DFR_M_DESTRUCTIVE;
	number(rig, DIF_SUBR_COPYOUT, {"abc", addr, 4});
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	rig.env.ev_flags = DFR_ENV_LIVE;
	number(rig, DIF_SUBR_COPYOUT, {"abc", addr, 4});
	CHECK(rig.fault() == -1);
	CHECK(std::string(user) == "abc");
	number(rig, DIF_SUBR_COPYOUTSTR, {"abcdef", addr, 5});
	CHECK(std::string(user) == "abcde");
	number(rig, DIF_SUBR_COPYOUTSTR, {"xy", addr, 100});
	CHECK(std::string(user) == "xy");
	number(rig, DIF_SUBR_COPYOUT, {"abc", 16, 4});
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	number(rig, DIF_SUBR_COPYOUT, {kForeign, addr, 4});
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(std::string(user) == "xy");
}

TEST_CASE("what one state draws does not move another's random numbers", "[exec][subr]") {
	dfr_user_fixed_secret = 7;
	Rig alone, drawn, beside;
	dfr_user_fixed_secret = 0;
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < i % 4; k++)
			number(beside, k ? DIF_SUBR_RAND : DIF_SUBR_RANDOM, {});
		CHECK(number(alone, DIF_SUBR_RANDOM, {}) == number(drawn, DIF_SUBR_RANDOM, {}));
	}
}

TEST_CASE("progenyof, rand, and what only a kernel can answer", "[exec][subr]") {
	CHECK(value(DIF_SUBR_PROGENYOF, {100}) == 1);
	CHECK(value(DIF_SUBR_PROGENYOF, {1}) == 1); // the parent
	CHECK(value(DIF_SUBR_PROGENYOF, {7}) == 0);
	Rig rig;
	CHECK(number(rig, DIF_SUBR_RAND, {}) <= 0xffffffff);
	uint64_t a = number(rig, DIF_SUBR_RANDOM, {}), b = number(rig, DIF_SUBR_RANDOM, {});
	CHECK(a != b);
	Rig other; // has a stream of its own
	CHECK(number(other, DIF_SUBR_RANDOM, {}) != number(rig, DIF_SUBR_RANDOM, {}));
	for (uint32_t subr : {DIF_SUBR_MUTEX_OWNED, DIF_SUBR_MUTEX_OWNER, DIF_SUBR_MUTEX_TYPE_ADAPTIVE,
	                      DIF_SUBR_MUTEX_TYPE_SPIN, DIF_SUBR_RW_READ_HELD, DIF_SUBR_RW_WRITE_HELD,
	                      DIF_SUBR_RW_ISWRITER, DIF_SUBR_GETF, DIF_SUBR_D_PATH})
		CHECK(fault(subr, {kForeign}) == DIF_FAULT_ILLOP);
	CHECK(value(DIF_SUBR_SPECULATION, {}) == 0); // no state: none can be had
}

} // namespace engine_exec_subr_test
