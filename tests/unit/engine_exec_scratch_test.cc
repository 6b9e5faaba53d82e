// SPDX-License-Identifier: GPL-2.0
//
// Scratch memory: what the results of subroutines keep of it, and what may be read and
// written behind them (kmod/engine/DECISIONS.md, "A string in scratch memory").
#include <functional>

#include <catch2/catch.hpp>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_scratch_test {

using namespace dfr::test;

namespace {

constexpr uint32_t kStrsize = 64;
constexpr uint64_t kAddress = 0x0100007f; // 127.0.0.1

// Calls a subroutine with a text, or with numbers, and leaves the result in `rd`.
Code& call_text(Code& code, uint32_t subr, const std::string& text, uint32_t rd) {
	return code.flush().sets(text, 1).pushr(DIF_KIND_STRING, 0, 1).call(subr, rd);
}

Code& call_numbers(Code& code, uint32_t subr, const std::vector<uint64_t>& numbers, uint32_t rd) {
	code.flush();
	for (uint64_t number : numbers)
		code.setx(number, 1).pushv(1);
	return code.call(subr, rd);
}

// Calls a subroutine of one clause as often as it takes until scratch memory has no strsize bytes left.
uint32_t results_of(const std::function<void(Code&)>& add, size_t scratch) {
	for (uint32_t n = 1;; n++) {
		Rig rig(kStrsize, 4096, scratch);
		rig.env.ev_flags = DFR_ENV_LIVE;
		Code code;
		for (uint32_t i = 0; i < n; i++)
			add(code);
		rig.run(code.ret(2));
		if (rig.fault() == DIF_FAULT_NOSCRATCH)
			return n - 1;
		REQUIRE(rig.fault() == -1);
		REQUIRE(n < 100);
	}
}

std::string bytes_at(Rig& rig, uint64_t addr, size_t n) {
	std::string bytes(n, '?');
	if (dfr_machine_copy(&rig.machine, bytes.data(), addr, n, false))
		return "fault";
	return bytes;
}

std::string padded(std::string text, size_t n) {
	text.resize(n);
	return text;
}

} // namespace

TEST_CASE("a result keeps of scratch memory what its string needs", "[exec][scratch]") {
	static char user[] = "u";
	const auto addr = reinterpret_cast<uint64_t>(user);
	// A result needs strsize (64) bytes while it is made, and keeps 8: 128 bytes are good for nine.
	for (uint32_t subr :
	     {DIF_SUBR_TOUPPER, DIF_SUBR_TOLOWER, DIF_SUBR_BASENAME, DIF_SUBR_DIRNAME, DIF_SUBR_CLEANPATH})
		CHECK(results_of([&](Code& code) { call_text(code, subr, "a/bc", 2); }, 128) == 9);
	CHECK(results_of([&](Code& code) { call_text(code, DIF_SUBR_BASENAME, "", 2); }, 128) == 9);
	CHECK(results_of([&](Code& code) { call_numbers(code, DIF_SUBR_COPYINSTR, {addr}, 2); }, 128) == 9);
	auto two = [](uint32_t subr, const std::string& a, const std::string& b) {
		return [=](Code& code) {
			code.flush().sets(a, 1).pushr(DIF_KIND_STRING, 0, 1);
			code.sets(b, 1).pushr(DIF_KIND_STRING, 0, 1).call(subr, 2);
		};
	};
	CHECK(results_of(two(DIF_SUBR_STRTOK, "one two", " "), 128) == 9);
	CHECK(results_of(two(DIF_SUBR_JSON, "{\"a\":\"seven77\"}", "a"), 128) == 9);
	auto part = [](Code& code) {
		code.flush().sets("abcdef", 1).pushr(DIF_KIND_STRING, 0, 1).setx(2, 1).pushv(1);
		code.call(DIF_SUBR_SUBSTR, 2);
	};
	CHECK(results_of(part, 128) == 9);
	// These know their size before: seven digits and the NUL fill 8 bytes.
	CHECK(results_of([&](Code& code) { call_numbers(code, DIF_SUBR_LLTOSTR, {1234567}, 2); }, 64) == 8);
	CHECK(results_of([&](Code& code) { call_numbers(code, DIF_SUBR_LLTOSTR, {12345678}, 2); }, 64) == 4);
	CHECK(results_of(two(DIF_SUBR_STRJOIN, "abc", "defg"), 64) == 8);
	// 127.0.0.1 needs 10 bytes, so 16 of the 16 that it was made in.
	auto quad = [](Code& code) {
		code.setx(4, 1).r(DIF_OP_ALLOCS, 1, 0, 3).setx(kAddress, 1).r(DIF_OP_STW, 1, 0, 3);
		code.flush().pushv(3).call(DIF_SUBR_INET_NTOA, 2);
	};
	CHECK(results_of(quad, 72) == 3);
}

TEST_CASE("the longest string keeps all of its room", "[exec][scratch]") {
	const std::string longest(kStrsize - 1, 'a');
	auto add = [&](Code& code) { call_text(code, DIF_SUBR_TOUPPER, longest, 2); };
	CHECK(results_of(add, size_t{3} * kStrsize) == 3);
	CHECK(results_of(add, size_t{3} * kStrsize - 8) == 2);
}

TEST_CASE("results of one clause stay what they are", "[exec][scratch]") {
	Rig rig(kStrsize, 4096, 256);
	Code code;
	for (uint32_t i = 0; i < 4; i++)
		call_text(code, DIF_SUBR_TOUPPER, std::string(6 + i, static_cast<char>('a' + i)), 2 + i);
	rig.run(code.ret(2));
	REQUIRE(rig.fault() == -1);
	CHECK(rig.text(rig.machine.m_regs[2]) == "AAAAAA");
	CHECK(rig.text(rig.machine.m_regs[3]) == "BBBBBBB");
	CHECK(rig.text(rig.machine.m_regs[4]) == "CCCCCCCC");
	CHECK(rig.text(rig.machine.m_regs[5]) == "DDDDDDDDD");
}

TEST_CASE("behind a short string are zeros, or what the clause put there later", "[exec][scratch]") {
	Rig rig(kStrsize, 4096, 256);
	std::memset(rig.scratch.data(), 'x', 256); // what an earlier clause has left
	Code code;
	call_text(code, DIF_SUBR_TOUPPER, "ab", 2);
	const uint64_t first = rig.run(code.ret(2));
	CHECK(bytes_at(rig, first, kStrsize) == padded("AB", kStrsize));
	CHECK(bytes_at(rig, first, kStrsize + 1) == "fault");

	Code more;
	call_text(more, DIF_SUBR_TOUPPER, "ab", 2);
	call_text(more, DIF_SUBR_TOUPPER, "cd", 3);
	more.setx(3, 1).r(DIF_OP_ALLOCS, 1, 0, 4); // the gap behind three bytes is cleared, too
	call_text(more, DIF_SUBR_TOUPPER, "ef", 5);
	CHECK(rig.run(more.ret(2)) == first);
	std::string all = padded("AB", 8) + padded("CD", 8) + padded("", 8) + padded("EF", kStrsize);
	CHECK(bytes_at(rig, first, all.size()) == all);
}

TEST_CASE("what a process has behind its string is not copied", "[exec][scratch]") {
	static char user[] = "key\0secret behind";
	Rig rig(kStrsize, 4096, 256);
	rig.env.ev_flags = DFR_ENV_LIVE;
	std::memset(rig.scratch.data(), 'x', 256);
	Code code;
	call_numbers(code, DIF_SUBR_COPYINSTR, {reinterpret_cast<uint64_t>(user)}, 2);
	CHECK(bytes_at(rig, rig.run(code.ret(2)), kStrsize) == padded("key", kStrsize));
}

TEST_CASE("what lies behind a short string cannot be written", "[exec][scratch]") {
	for (uint64_t at : {0, 7, 8}) {
		Rig rig(kStrsize, 4096, 256);
		Code code;
		call_text(code, DIF_SUBR_TOUPPER, "abcdefg", 2);
		code.setx(at, 3).r(DIF_OP_ADD, 2, 3, 3).setx('x', 4).r(DIF_OP_STB, 4, 0, 3).ret(2);
		rig.run(code);
		CHECK(rig.fault() == (at < 8 ? -1 : DIF_FAULT_BADADDR));
	}
}

TEST_CASE("copyout gives back all that it takes", "[exec][scratch]") {
	static char user[16];
	Rig rig(kStrsize, 4096, 64);
	rig.env.ev_flags = DFR_ENV_LIVE;
	rig.machine.m_flags = DFR_M_DESTRUCTIVE;
	Code code;
	for (int i = 0; i < 3; i++) {
		code.flush().sets("abc", 1).pushr(DIF_KIND_STRING, 0, 1);
		code.setx(reinterpret_cast<uint64_t>(user), 1).pushv(1).setx(8, 1).pushv(1);
		code.call(DIF_SUBR_COPYOUTSTR, 2);
	}
	rig.run(code.ret(2));
	CHECK(rig.fault() == -1);
	CHECK(std::string(user) == "abc");
}

} // namespace engine_exec_scratch_test
