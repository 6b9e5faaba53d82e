// SPDX-License-Identifier: GPL-2.0
//
// See page.h. The page's parts are assembled into the command as they stand beside this file.
#include "analyze/cli/page.h"

#include <span>
#include <string>

#include "bootloader-hooks/boot/sha256.h"
#include "formats/error.h"

#define PART(name, file)                                                                                     \
	__asm__(".section .rodata\n"                                                                         \
	        "dfr_" name "_start: .incbin \"" DFR_PAGE_FOLDER "/" file "\"\n"                             \
	        "dfr_" name "_end:\n"                                                                        \
	        ".previous\n")
PART("page", "page.html");
PART("boot_page", "boot_page.js");
PART("crash_page", "crash_page.js");
extern const char page_start[] __asm__("dfr_page_start");
extern const char page_end[] __asm__("dfr_page_end");
extern const char boot_start[] __asm__("dfr_boot_page_start");
extern const char boot_end[] __asm__("dfr_boot_page_end");
extern const char crash_start[] __asm__("dfr_crash_page_start");
extern const char crash_end[] __asm__("dfr_crash_page_end");

namespace dfr::cli {
namespace {

// Wherever the mark stands.
void replace(std::string& text, const std::string& mark, const std::string& with) {
	size_t at = text.find(mark);
	if (at == std::string::npos)
		throw Error("the page of the report has no " + mark);
	for (; at != std::string::npos; at = text.find(mark, at + with.size()))
		text.replace(at, mark.size(), with);
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
	const size_t from = text.find(begin), to = text.find(end, from);
	if (from == std::string::npos || to == std::string::npos)
		throw Error("the page of the report has no " + begin);
	return text.substr(from + begin.size(), to - from - begin.size());
}

// As a Content-Security-Policy names a script: 'sha256-...', the digest in base64 (RFC 4648, section 4).
std::string digest(const std::string& text) {
	const std::string hexadecimal =
	    boot::sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
	constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	std::string out;
	unsigned bits = 0, have = 0;
	for (const char one : hexadecimal) {
		bits = (bits << 4 | static_cast<unsigned>(one <= '9' ? one - '0' : one - 'a' + 10)) & 0xffff;
		for (have += 4; have >= 6; have -= 6)
			out += kDigits[bits >> (have - 6) & 63];
	}
	// 256 bits are 42 characters and 4 bits.
	out += kDigits[bits << (6 - have) & 63];
	return "'sha256-" + out + "='";
}

// In JSON "<" is in texts only, where it may be written so: nothing in it can end the element that it stands in.
std::string without_markup(const std::string& json) {
	std::string out;
	for (const char one : json)
		if (one == '<')
			out += "\\u003c";
		else
			out += one;
	return out;
}

// `command`: of whose report; `own`: the report's part of the script. The report comes last: no mark in it is one.
std::string page_of(const std::string& command, const std::string& own, const std::string& json) {
	std::string page(page_start, page_end);
	replace(page, "@COMMAND@", command);
	replace(page, "@OWN@", own);
	replace(page, "@POLICY@",
	        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
	            digest(between(page, "<style>", "</style>")) + "; script-src " +
	            digest(between(page, "<script>", "</script>")));
	replace(page, "@REPORT@", without_markup(json));
	return page;
}

} // namespace

std::string boot_page(const std::string& json) {
	return page_of("dfr boot report", {boot_start, boot_end}, json);
}

std::string crash_page(const std::string& json) {
	return page_of("dfr crash report", {crash_start, crash_end}, json);
}

} // namespace dfr::cli
