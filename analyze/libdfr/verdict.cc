// SPDX-License-Identifier: GPL-2.0
//
// The verdict as text and as JSON.
#include "analyze/libdfr/verdict.h"

#include <cstdio>

namespace dfr::lib {
namespace {

void put_field(std::string& out, const char* name, const std::string& value) {
	if (out.size() > 1)
		out += ", ";
	out.append("\"").append(name).append("\": ").append(value);
}

// Quoted and escaped.
std::string json_text(const std::string& text) {
	std::string out = "\"";
	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);
		if (c == '"' || c == '\\') {
			out += '\\';
			out += c;
		} else if (byte < 0x20 || byte >= 0x7f) {
			char escape[8];
			std::snprintf(escape, sizeof escape, "\\u%04x", byte);
			out += escape;
		} else {
			out += c;
		}
	}
	return out + "\"";
}

std::string json_verdict(const trace::Verdict& verdict, const trace::Catalog& catalog) {
	std::string out = "{";
	put_field(out, "complete", verdict.complete ? "true" : "false");
	put_field(out, "windowed", verdict.windowed ? "true" : "false");
	put_field(out, "from", std::to_string(verdict.from));
	put_field(out, "to", std::to_string(verdict.to));
	put_field(out, "from_wall", std::to_string(catalog.walltime(verdict.from)));
	put_field(out, "to_wall", std::to_string(catalog.walltime(verdict.to)));
	put_field(out, "cpus", std::to_string(verdict.cpus));
	put_field(out, "records", std::to_string(verdict.records));
	put_field(out, "lost", std::to_string(verdict.lost));
	std::string reasons = "[";
	for (const std::string& reason : verdict.reasons)
		reasons += (reasons.size() > 1 ? ", " : "") + json_text(reason);
	put_field(out, "reasons", reasons + "]");
	return out + "}";
}

} // namespace

std::string verdict_text(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json) {
	return json ? json_verdict(verdict, catalog) : trace::verdict_line(verdict, catalog);
}

} // namespace dfr::lib
