// SPDX-License-Identifier: GPL-2.0
//
// dfr harvest: recordings out of the memory of a dead machine.
#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/file.h"
#include "recorder/memory_image.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples = "  dfr harvest memory.elf -o crash.dfr\n"
                                  "  dfr harvest --list memory.elf\n";

void describe(const recorder::ImageSource& source, size_t number) {
	std::printf("%zu: %s, boot %s, %s blocks\n", number, shown(source.name()), shown(source.boot()),
	            shown(with_commas(source.blocks())));
	if (const auto& panic = source.panic())
		std::printf("   panic on CPU %u in %s (tid %u): %s\n", panic->cpu, shown(panic->comm),
		            panic->tid, shown(panic->reason));
}

} // namespace

int run_harvest(int argc, char** argv) {
	std::string image, output;
	bool list = false, replace = false, json = false;
	size_t which = 0;
	const auto app =
	    make_app("harvest", "Recover recordings from the memory of a dead machine.", kExamples);
	app->add_option("image", image, "memory image: ELF core, vmcore, or raw")->required();
	app->add_option("-o,--output", output, "the recording to write");
	app->add_option("--recording", which, "its number, as --list shows it (default: 0, the likeliest)");
	app->add_flag("--list", list, "say what is there, write nothing");
	app->add_flag("--replace", replace, "overwrite the output if it exists");
	app->add_flag("--json", json, "the verdict as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	auto sources = recorder::open_memory_image(image);
	if (list) {
		for (size_t i = 0; i < sources.size(); i++)
			describe(*sources[i], i);
		return 0;
	}
	if (output.empty()) {
		print_error("no output was given", "write -o FILE.dfr, or --list to look first");
		return kStatusUsage;
	}
	if (which >= sources.size())
		throw Error("there is no recording " + std::to_string(which) + " in " + image,
		            "dfr harvest --list " + image + " shows what is there");
	recorder::ImageSource& source = *sources[which];
	describe(source, which);
	trace::FileWriter writer(output, replace,
	                         [&]() -> const trace::Catalog& { return source.catalog(); });
	const uint64_t blocks = trace::copy_to_file(source, writer);
	writer.finish();
	for (const std::string& remark : source.remarks())
		std::fprintf(stderr, "dfr: %s\n", shown(remark));
	std::fprintf(stderr, "dfr: %s blocks are in %s\n", shown(with_commas(blocks)), shown(output));
	const auto file = trace::open_file(output);
	trace::Merger merger(*file);
	merger.run([](const trace::Record&) { return true; });
	return print_verdict(trace::judge(*file, merger), file->catalog(), json);
}

} // namespace dfr::cli
