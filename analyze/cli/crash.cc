// SPDX-License-Identifier: GPL-2.0
//
// dfr crash: what the memory of a dead machine holds.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "analyze/cli/arguments.h"
#include "analyze/cli/crash_report.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/image.h"
#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "formats/shown.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples = "  dfr crash list memory.elf\n"
                                  "  dfr crash list --json memory.elf\n"
                                  "  dfr crash report memory.elf\n"
                                  "  dfr crash report --json crash.dfr\n";

void list_one(recorder::ImageSource& source, size_t number, bool same_boot, const trace::Verdict& verdict) {
	std::printf("%zu: %s, boot %s%s\n", number, shown(state_text(source.catalog())), shown(source.boot()),
	            same_boot ? "" : " (another boot)");
	std::printf("   %s\n", shown(trace::verdict_line(verdict, source.catalog())));
	if (const auto& panic = source.panic())
		std::printf("   panic on CPU %u in %s (tid %u): %s\n", panic->cpu, shown(panic->comm),
		            panic->tid, shown(panic->reason));
}

std::string json_of(recorder::ImageSource& source, size_t number, bool same_boot,
                    const trace::Verdict& verdict) {
	const trace::Catalog& catalog = source.catalog();
	lib::JsonObject one;
	one.raw("number", std::to_string(number))
	    .text("state", catalog.state_name)
	    .raw("state_number", std::to_string(static_cast<uint32_t>(catalog.state_id)))
	    .text("boot", source.boot())
	    .raw("other_boot", same_boot ? "false" : "true")
	    .raw("blocks", std::to_string(source.blocks()))
	    .raw("verdict", lib::verdict_text(verdict, catalog, true));
	if (const auto& panic = source.panic())
		one.raw("panic", lib::JsonObject()
		                     .raw("cpu", std::to_string(panic->cpu))
		                     .raw("tid", std::to_string(panic->tid))
		                     .text("comm", panic->comm)
		                     .text("reason", panic->reason)
		                     .str());
	return one.str();
}

// Status 3 if a recording of the boot that died is not whole.
int list(const std::string& image, const std::string& catalog, bool json) {
	const Images sources = open_image(image, catalog);
	int status = 0;
	for (size_t i = 0; i < sources.size(); i++) {
		recorder::ImageSource& source = *sources[i];
		trace::Merger merger(source);
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(source, merger);
		const bool same_boot = source.boot() == sources[0]->boot();
		if (same_boot && !verdict.complete)
			status = kStatusPartial;
		if (json)
			std::printf("%s\n", shown(json_of(source, i, same_boot, verdict)));
		else
			list_one(source, i, same_boot, verdict);
	}
	return status;
}

bool is_recording(const std::string& path) {
	char magic[4] = {};
	std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
	return std::memcmp(magic,
	                   "\x89"
	                   "dfr",
	                   sizeof(magic)) == 0;
}

int print_report(trace::BlockSource& source, bool json) {
	const CrashReport report(source);
	if (json) {
		std::printf("%s\n", shown(report.json()));
		return report.verdict().complete ? 0 : kStatusPartial;
	}
	report.print();
	return print_verdict(report.verdict(), source.catalog(), false);
}

// Of an image the likeliest recording; the others are told.
int report(const std::string& path, const std::string& catalog, bool json) {
	if (is_recording(path))
		return print_report(*trace::open_file(path), json);
	const Images sources = open_image(path, catalog);
	if (sources.size() > 1)
		std::fprintf(stderr, "dfr: this is of %s; %zu more are in the image: dfr crash list %s\n",
		             shown(state_text(sources[0]->catalog())), sources.size() - 1, shown(path));
	return print_report(*sources[0], json);
}

} // namespace

int run_crash(int argc, char** argv) {
	std::string image, catalog;
	bool json = false;
	const auto app = make_app("crash", "What the memory of a dead machine holds.", kExamples);
	CLI::App* const lister =
	    app->add_subcommand("list", "each recording: its state, window, records and losses");
	lister->add_option("image", image, "memory image: ELF core, vmcore, kdump-compressed, or raw")
	    ->required();
	lister->add_option(
	    "--catalog", catalog,
	    "an older recording of the same state, for what the image has lost of its catalog");
	lister->add_flag("--json", json, "as JSON, an object a line");
	CLI::App* const reporter = app->add_subcommand(
	    "report",
	    "the last second before the panic, what each thread did last, what had begun and not ended");
	reporter->add_option("image", image, "memory image, or a recording that was harvested")->required();
	reporter->add_option("--catalog", catalog, "as of list");
	reporter->add_flag("--json", json, "as JSON");
	app->require_subcommand(1);
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	return reporter->parsed() ? report(image, catalog, json) : list(image, catalog, json);
}

} // namespace dfr::cli
