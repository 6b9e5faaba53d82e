// SPDX-License-Identifier: GPL-2.0
//
// The pages of reports (analyze/cli/page.h): what they embed, and what they let a browser do. A browser opens them in
// the stage pages.full. And the path that a boot's page shows (analyze/libdfr/boot_path.h).
#include <catch2/catch.hpp>

#include "analyze/cli/page.h"
#include "analyze/libdfr/boot_path.h"
#include "bootloader-hooks/boot/sha256.h"

namespace page_test {

using namespace dfr;

namespace {

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
	const size_t from = text.find(begin);
	REQUIRE(from != std::string::npos);
	const size_t to = text.find(end, from + begin.size());
	REQUIRE(to != std::string::npos);
	return text.substr(from + begin.size(), to - from - begin.size());
}

size_t count(const std::string& text, const std::string& what) {
	size_t found = 0;
	for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
		found++;
	return found;
}

// The bytes that base64 stands for, in hexadecimal.
std::string decoded(const std::string& text) {
	std::string out;
	uint32_t bits = 0;
	int have = 0;
	for (const char one : text) {
		const size_t value =
		    std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(one);
		if (value == std::string::npos)
			break;
		bits = bits << 6 | static_cast<uint32_t>(value);
		for (have += 6; have >= 8; have -= 8) {
			char byte[3];
			std::snprintf(byte, sizeof byte, "%02x", bits >> (have - 8) & 255);
			out += byte;
		}
	}
	return out;
}

std::string digest(const std::string& text) {
	return boot::sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

} // namespace

TEST_CASE("page: hostile texts stay inside of the JSON, which is the report's own", "[boot][crash]") {
	const auto make = GENERATE(&cli::boot_page, &cli::crash_page);
	const std::string json = R"({"name": "</script><img src=x onerror=alert(1)><!--<script>", )"
	                         R"("output": "a\u000ab \u202e @POLICY@ @OWN@ @REPORT@ @COMMAND@"})";
	const std::string page = make(json);
	std::string inside = between(page, R"(<script type="application/json" id="report">)", "</script>");
	CHECK(inside.find('<') == std::string::npos);
	for (size_t at; (at = inside.find("\\u003c")) != std::string::npos;)
		inside.replace(at, 6, "<");
	CHECK(inside == json);
	CHECK(count(page, "<script") == 2);
	CHECK(count(page, "</script") == 2);
	CHECK(count(page, "<img") == 0);
}

TEST_CASE("page: its policy allows its own script and style, by their digests, and nothing else",
          "[boot][crash]") {
	const auto make = GENERATE(&cli::boot_page, &cli::crash_page);
	const std::string page = make(R"({"name": "<script>alert(1)</script>"})");
	const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
	const std::string head =
	    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-";
	REQUIRE(policy.starts_with(head));
	CHECK(decoded(policy.substr(head.size())) == digest(between(page, "<style>", "</style>")));
	CHECK(decoded(between(policy, "script-src 'sha256-", "'")) ==
	      digest(between(page, "<script>", "</script>")));
	CHECK(count(policy, "'") == 10);
	for (const char* const mark : {"@POLICY@", "@OWN@", "@REPORT@", "@COMMAND@"})
		CHECK(count(page, mark) == 0);
	for (const char* const one :
	     {"http:", "https:", " src=", " href=", "url(", "@import", "innerHTML", "eval("})
		CHECK(count(page, one) == 0);
}

// An initramfs script (80) that runs two commands one after the other, then a service (200) beside one that lasts
// longer, and the login prompt.
TEST_CASE("boot path: backwards from the login prompt, the process that ended last before", "[boot]") {
	const lib::BootTimeline boot = lib::boot_timeline("exec 1000 1 0 init\n"
	                                                  "create 1100 1 80\n"
	                                                  "path 1110 80 /script\n"
	                                                  "create 1200 80 81\n"
	                                                  "path 1201 81 /bin/first\n"
	                                                  "exit 1400 81 1 first\n"
	                                                  "create 1450 80 82\n"
	                                                  "path 1451 82 /bin/second\n"
	                                                  "exit 1700 82 1 second\n"
	                                                  "exit 1800 80 1 script\n"
	                                                  "exec 2000 1 0 init\n"
	                                                  "create 2100 1 199\n"
	                                                  "create 2150 1 200\n"
	                                                  "path 2151 200 /usr/sbin/service\n"
	                                                  "exit 2600 200 1 service\n"
	                                                  "create 2700 1 300\n"
	                                                  "exec 2710 300 1 agetty\n"
	                                                  "exit 2900 199 1 longer\n");
	const struct {
		uint64_t from, to;
		uint32_t pid; // 1: the first process
	} wanted[] = {{1000, 1100, 1},  {1100, 1200, 80},  {1200, 1400, 81},
	              {1400, 1450, 80}, {1450, 1700, 82},  {1700, 1800, 80},
	              {1800, 2150, 1},  {2150, 2600, 200}, {2600, 2710, 1}};
	const std::vector<lib::BootStep> path = lib::boot_path(boot);
	REQUIRE(path.size() == std::size(wanted));
	for (size_t i = 0; i < path.size(); i++) {
		CHECK(path[i].from == wanted[i].from);
		CHECK(path[i].to == wanted[i].to);
		CHECK((path[i].process ? boot.processes[*path[i].process].pid : 1) == wanted[i].pid);
	}
}

TEST_CASE("boot path: processes without a length, and their own parents, do not hold it up", "[boot]") {
	CHECK(lib::boot_path(lib::boot_timeline("")).empty());
	std::string lines = "exec 1000 1 0 init\n";
	for (int pid = 100; pid < 5000; pid++) // each made by the one before it, all at one time
		lines += "create 1100 " + std::to_string(pid == 100 ? 1 : pid - 1) + " " +
		         std::to_string(pid) + "\n";
	for (int pid = 100; pid < 5000; pid++)
		lines += "exit 1100 " + std::to_string(pid) + " 1 x\n";
	lines += "create 1200 700 700\nexit 1300 700 1 own\nexit 1500 1 1 init\n";
	uint64_t at = 1000;
	for (const lib::BootStep& one : lib::boot_path(lib::boot_timeline(lines))) {
		CHECK(one.from == at);
		at = one.to;
	}
	CHECK(at == 1500);
}

} // namespace page_test
