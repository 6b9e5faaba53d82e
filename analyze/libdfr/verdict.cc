// SPDX-License-Identifier: GPL-2.0
//
// The verdict as text and as JSON.
#include "analyze/libdfr/verdict.h"

#include "analyze/libdfr/json.h"

namespace dfr::lib {
namespace {

std::string json_texts(const std::vector<std::string>& texts) {
	std::string all = "[";
	for (const std::string& text : texts)
		all += (all.size() > 1 ? ", " : "") + json_text(text);
	return all + "]";
}

std::string json_verdict(const trace::Verdict& verdict, const trace::Catalog& catalog,
                         const std::string& of) {
	JsonObject object;
	if (!of.empty())
		object.text("recording", of);
	if (verdict.hosts > 1)
		object.raw("hosts", std::to_string(verdict.hosts))
		    .raw("clock_error", std::to_string(verdict.clock_error));
	const auto wall =
	    [&catalog](uint64_t time) { // as in the line: a recording may not say what time it was
		    return catalog.clocks.empty() ? "null" : std::to_string(catalog.walltime(time));
	    };
	return object.raw("complete", verdict.complete ? "true" : "false")
	    .raw("windowed", verdict.windowed ? "true" : "false")
	    .raw("goes_on", verdict.goes_on ? "true" : "false")
	    .raw("from", std::to_string(verdict.from))
	    .raw("to", std::to_string(verdict.to))
	    .raw("from_wall", wall(verdict.from))
	    .raw("to_wall", wall(verdict.to))
	    .raw("cpus", std::to_string(verdict.cpus))
	    .raw("records", std::to_string(verdict.records))
	    .raw("lost", std::to_string(verdict.lost))
	    .raw("estimated", std::to_string(verdict.estimated))
	    .raw("notes", json_texts(verdict.notes))
	    .raw("reasons", json_texts(verdict.reasons))
	    .str();
}

} // namespace

std::string verdict_text(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json,
                         const std::string& of) {
	if (json)
		return json_verdict(verdict, catalog, of);
	return (of.empty() ? of : of + ": ") + trace::verdict_line(verdict, catalog);
}

} // namespace dfr::lib
