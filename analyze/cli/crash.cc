// SPDX-License-Identifier: GPL-2.0
//
// dfr crash: what the memory of a dead machine holds, and that the next one is stored (crash_setup.cc).
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/crash_report.h"
#include "analyze/cli/crash_setup.h"
#include "analyze/cli/crash_test.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/image.h"
#include "analyze/cli/page.h"
#include "analyze/cli/page_file.h"
#include "analyze/libdfr/json.h"
#include "analyze/libdfr/verdict.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"

namespace dfr::cli {
namespace {

constexpr const char* kCrashExamples =
    "  dfr crash list memory.elf\n"
    "  dfr crash list --json memory.elf\n"
    "  dfr crash list --reserved           after a warm reboot\n"
    "  dfr crash report                    the last one that was stored\n"
    "  dfr crash report memory.elf\n"
    "  dfr crash report --json crash.dfr\n"
    "  dfr crash report memory.elf -o report.html\n"
    "  dfr crash enable && dfr crash doctor\n"
    "  dfr crash test --vm                 a panic of this kernel in a virtual machine\n";

void list_one(recorder::ImageSource& source, size_t number, bool same_boot, const trace::Verdict& verdict) {
	std::printf("%zu: %s, boot %s%s\n", number, shown(state_text(source.catalog())), shown(source.boot()),
	            same_boot ? "" : " (another boot)");
	std::printf("   %s\n", shown(trace::verdict_line(verdict, source.catalog())));
	print_panic(source);
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
		const trace::Verdict verdict = trace::judge_whole(source);
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
	std::error_code none;
	if (!std::filesystem::is_fifo(path, none)) // whose open would wait
		std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
	return std::memcmp(magic, trace::kFileMagic, sizeof(magic)) == 0;
}

int print_report(trace::BlockSource& source, trace::BlockSource* in_flight, bool json, const PageFile& page) {
	const CrashReport report(source, in_flight);
	if (page.named()) {
		page.write(crash_page(report.json()));
		return print_verdict(report.verdict(), source.catalog(), json);
	}
	if (json) {
		std::printf("%s\n", shown(report.json()));
		return report.verdict().complete ? 0 : kStatusPartial;
	}
	report.print();
	return print_verdict(report.verdict(), source.catalog(), false);
}

// What was harvested with the recording; null: nothing.
std::unique_ptr<trace::FileSource> speculations_beside(const std::string& path,
                                                       const trace::Catalog& catalog) {
	const std::string beside = speculations_of(path);
	try {
		auto file = ::access(beside.c_str(), F_OK) == 0 ? trace::open_file(beside) : nullptr;
		return file && trace::same_state(file->catalog(), catalog) ? std::move(file) : nullptr;
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr: without speculations in flight: %s\n", shown(error.what()));
		return nullptr;
	}
}

// Of an image the likeliest recording; the others are told.
int report(const std::string& path, const std::string& catalog, bool json, const PageFile& page) {
	if (is_recording(path)) {
		if (!catalog.empty())
			throw UsageError("--catalog is of a memory image, and " + path + " is a recording",
			                 "leave --catalog out");
		const auto file = trace::open_file(path);
		return print_report(*file, speculations_beside(path, file->catalog()).get(), json, page);
	}
	const Images sources = open_image(path, catalog);
	if (sources.size() > 1)
		std::fprintf(stderr, "dfr: this is of %s; %zu more are in the image: dfr crash list %s\n",
		             shown(state_text(sources[0]->catalog())), sources.size() - 1, shown(path));
	return print_report(*sources[0], sources[0]->in_flight().get(), json, page);
}

void require_command(const CLI::App& app, int argc, char** argv) {
	const std::string command = argc < 2 ? "" : argv[1];
	const auto named = [&command](const CLI::App* one) { return one->get_name() == command; };
	if (!command.starts_with('-') && app.get_subcommands(named).empty())
		throw no_such_command("dfr crash", argc < 2 ? nullptr : argv[1]);
}

} // namespace

int run_crash(int argc, char** argv) {
	std::string catalog, memory = "/proc/vmcore";
	bool json = false;
	PageFile page;
	const auto app = make_app("crash",
	                          "What the memory of a dead machine holds; and that the kernel which runs\n"
	                          "after the next panic stores it.",
	                          kCrashExamples);
	CLI::App* const lister =
	    app->add_subcommand("list", "each recording: its state, window, records and losses");
	ImageArgument listed, reported;
	listed.add(*lister, "memory image: ELF core, vmcore, kdump-compressed, or raw");
	lister->add_option(
	    "--catalog", catalog,
	    "an older recording of the same state, for what the image has lost of its catalog");
	lister->add_flag("--json", json, "as JSON, an object a line");
	CLI::App* const reporter = app->add_subcommand(
	    "report",
	    "the last second before the panic, what each thread did last, what had begun and not ended");
	reported.add(*reporter, "memory image, or a recording that was harvested (default: the last one that "
	                        "was stored)");
	reporter->add_option("--catalog", catalog, "as of list");
	reporter->add_flag("--json", json, "as JSON");
	page.add(*reporter);
	const std::pair<CLI::App*, int (*)()> others[] = {
	    {app->add_subcommand("enable", "store the recordings of the next panic in /var/lib/dfr/crash, "
	                                   "from the crash kernel of Debian's kdump-tools"),
	     crash_enable},
	    {app->add_subcommand("disable", "leave that to others again"), crash_disable},
	    {app->add_subcommand("doctor", "look for what would keep a crash from being stored; status 1 if "
	                                   "something is wrong"),
	     crash_doctor}};
	CLI::App* const store = app->add_subcommand(
	    "store", "harvest into /var/lib/dfr/crash; the crash kernel's dfr-crash.service runs it");
	store->add_option("memory", memory, "the dead kernel's memory")->capture_default_str();
	std::string folder = kCrashFolder;
	store->add_option("--folder", folder, "of the crashes")->group("");
	CrashTest test;
	bool guest = false;
	CLI::App* const tester = app->add_subcommand(
	    "test",
	    "panic on purpose, and what came back of it: here (then once more, after the restart), or in "
	    "a virtual machine; status 1 if records are missing");
	tester->add_flag("--vm", test.vm,
	                 "in a virtual machine, with this kernel and its module; takes a minute");
	tester->add_flag("--emulated", test.emulated, "of --vm: without KVM")->needs("--vm");
	tester->add_option("--panic", test.host, "THIS MACHINE panics at once; its name, so that it is meant")
	    ->excludes("--vm");
	tester->add_option("--kernel", test.release, "of --vm: its release (default: the running one)");
	tester->add_option("--image", test.kernel, "of --vm: its vmlinuz (default: the one in /boot)");
	tester->add_option("--module", test.module, "of --vm: its dfr.ko (default: looked for)");
	tester->add_flag("--guest", guest, "what the virtual machine runs")->group("");
	app->require_subcommand(1);
	require_command(*app, argc, argv);
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	for (const auto& [command, run] : others)
		if (command->parsed())
			return run();
	if (tester->parsed())
		return guest ? crash_test_guest() : crash_test(test);
	if (store->parsed())
		return crash_store(memory, folder);
	page.require_writable();
	if (reporter->parsed())
		return report(reported.named() ? reported.path() : last_crash(), catalog, json, page);
	return list(listed.path(), catalog, json);
}

} // namespace dfr::cli
