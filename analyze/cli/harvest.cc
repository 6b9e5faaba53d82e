// SPDX-License-Identifier: GPL-2.0
//
// dfr harvest: recordings out of the memory of a dead machine.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/image.h"
#include "analyze/cli/new_file.h"
#include "analyze/cli/progress.h"
#include "analyze/cli/signals.h"
#include "formats/abi/reserved.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/container.h"
#include "formats/trace/file.h"
#include "formats/trace/output_file.h"
#include "formats/trace/parts.h"

namespace dfr::cli {
namespace {

constexpr const char* kHarvestExamples = "  dfr harvest memory.elf -o crash.dfr\n"
                                         "  dfr harvest --list /var/crash/202611221904/dump.202611221904\n"
                                         "  dfr harvest --state boot memory.elf -o boot.dfr\n"
                                         "  dfr harvest --catalog yesterday.dfr memory.elf -o crash.dfr\n"
                                         "  dfr harvest --reserved -o before.dfr     after a warm reboot\n";

struct HarvestWish {
	ImageArgument argument;
	std::string image, output, state, catalog;
	size_t which = SIZE_MAX;
	std::optional<uint64_t> room; // bytes that all files together may take
	bool list = false, replace = false, json = false, speculations = false, panicked = false;
};

void describe(recorder::ImageSource& source, size_t number) {
	std::printf("%zu: %s, boot %s, %s blocks, from %s\n", number, shown(state_text(source.catalog())),
	            shown(source.boot()), shown(trace::grouped(source.blocks())), shown(source.name()));
	print_panic(source);
}

// The recordings that are wanted, by number; all of the boot that died, unless one is named. `panicked`: also those of
// other boots that did, because which one is the last may be known from clocks only.
std::vector<size_t> chosen(const Images& sources, const HarvestWish& wish) {
	std::vector<size_t> result;
	for (size_t i = 0; i < sources.size(); i++) {
		const trace::Catalog& catalog = sources[i]->catalog();
		const bool named = wish.state == catalog.state_name ||
		                   wish.state == std::to_string(static_cast<uint32_t>(catalog.state_id));
		if (wish.which != SIZE_MAX ? i == wish.which
		                           : (sources[i]->boot() == sources[0]->boot() ||
		                              (wish.panicked && sources[i]->panic())) &&
		                                 (wish.state.empty() || named))
			result.push_back(i);
	}
	if (result.empty())
		throw Error("there is no recording " +
		                (wish.which != SIZE_MAX ? std::to_string(wish.which) : wish.state) + " in " +
		                wish.image,
		            "dfr crash list " + wish.image + " shows what is there");
	return result;
}

// The first one goes to the file that was named, each other one to a file beside it, with its state's name, and of another
// boot with that, too, because there a state may have had the same name. A forged recording may have the name of a genuine
// one: `taken` has those of this run, and the next one of that name gets a number.
std::string output_of(const HarvestWish& wish, recorder::ImageSource& source, const std::string& first,
                      std::set<std::string>& taken) {
	const trace::Catalog& catalog = source.catalog();
	const std::string number = std::to_string(static_cast<uint32_t>(catalog.state_id));
	std::string name = catalog.state_name.empty() ? number : catalog.state_name + "-" + number;
	if (source.boot() != first)
		name += "-" + source.boot().substr(0, source.boot().find('-'));
	for (char& c : name)
		if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_')
			c = '_';
	std::string output = trace::name_with(wish.output, "." + name);
	for (unsigned more = 2; !taken.insert(output).second; more++)
		output = trace::name_with(wish.output, "." + name + "-" + std::to_string(more));
	return output;
}

// A file on a disk of which no more than `room` bytes are to be taken; nothing is left of one that needs more.
class RoomFile final : public trace::OutputFile {
public:
	explicit RoomFile(uint64_t& room) : room_(room), file_(trace::local_file()) {}
	int create(const std::string& path, bool replace) override { return file_->create(path, replace); }
	long write(uint64_t offset, std::span<const std::byte> bytes) override {
		const uint64_t more = offset + bytes.size() - std::min(offset + bytes.size(), size_);
		if (more > room_)
			return -ENOSPC;
		const long written = file_->write(offset, bytes);
		if (written > 0) {
			const uint64_t end = std::max(size_, offset + static_cast<uint64_t>(written));
			room_ -= end - size_;
			size_ = end;
		}
		return written;
	}
	int truncate(uint64_t size) override {
		const int error = file_->truncate(size);
		if (!error && size < size_) {
			room_ += size_ - size;
			size_ = size;
		}
		return error;
	}
	int sync() override { return file_->sync(); }
	int there() override { return file_->there(); }
	int close() override { return file_->close(); }
	void remove() override {
		file_->remove();
		room_ += std::exchange(size_, 0);
	}

private:
	uint64_t& room_;
	uint64_t size_ = 0;
	std::unique_ptr<trace::OutputFile> file_;
};

// The memory that is read, and the recording that lends its catalog, stay.
void refuse_source(const std::string& output, const HarvestWish& wish) {
	std::error_code none; // of two that are not there
	for (const std::string& source : {wish.image, trace::file_of(wish.catalog)})
		if (std::filesystem::equivalent(output, source, none))
			throw Error("cannot write " + output + ": it is a file that is read",
			            "give another name to the new one");
}

// What is replaced goes when the new one is whole. A new name has the file from the start, so that a crash kernel that
// ends in the middle of this leaves what was written by then.
void write_file(trace::BlockSource& source, const std::string& output, HarvestWish& wish) {
	std::optional<NewFile> replacing;
	if (wish.replace) {
		refuse_source(output, wish);
		replacing.emplace(output, true);
	}
	const auto catalog = [&]() -> const trace::Catalog& { // asked for before each segment
		if (signals_caught() != 0)
			throw Error("ended by a signal; " + output + " was not written");
		return source.catalog();
	};
	trace::FileWriter writer(replacing ? replacing->temporary() : output, wish.replace, catalog,
	                         wish.room ? std::make_unique<RoomFile>(*wish.room) : trace::local_file(),
	                         {.since = source.since()});
	const uint64_t blocks = trace::copy_to_file(source, writer);
	writer.finish();
	if (replacing)
		replacing->keep();
	for (const std::string& remark : source.remarks())
		std::fprintf(stderr, "dfr: %s\n", shown(remark));
	std::fprintf(stderr, "dfr: %s blocks are in %s\n", shown(trace::grouped(blocks)), shown(output));
}

// With bounded room nothing is left of what the disk did not take whole, and others have its room. What ends because there
// is no memory stays, cut off.
void write_recording(trace::BlockSource& source, const std::string& output, HarvestWish& wish) {
	const std::optional<uint64_t> before = wish.room;
	try {
		write_file(source, output, wish);
	} catch (const Error& error) {
		if (!wish.room || error.code() == EEXIST)
			throw;
		std::error_code none;
		if (wish.replace || std::filesystem::remove(output, none))
			wish.room = before;
		if (error.code() != ENOSPC)
			throw;
		throw Error("cannot store " + output + ": recordings may take half of what the disk has left",
		            "the full dump has them, too, and needs the rest: dfr harvest DUMP");
	}
}

// Other files can be saved, also where this one took too much memory, of which a crash kernel has little.
void print_failure(const std::string& output, const std::exception& error) {
	if (const auto* const told = dynamic_cast<const Error*>(&error))
		return print_error(told->what(), told->hint());
	const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
	print_error(output + ": " + (memory ? "there is not enough memory" : error.what()), {});
}

// They have no verdict of their own, because what they had become nobody knows.
void write_in_flight(recorder::ImageSource& source, const std::string& output, HarvestWish& wish) {
	if (const auto in_flight = source.in_flight())
		write_recording(*in_flight, output, wish);
	else
		std::fprintf(stderr, "dfr: no speculation was in flight\n");
}

void write_held(recorder::ImageSource& source, const std::string& output, HarvestWish& wish) {
	if (const auto held = source.held())
		write_recording(*held, output, wish);
}

int harvest(recorder::ImageSource& source, const std::string& output, HarvestWish& wish, bool one) {
	write_recording(source, output, wish);
	int status = 0;
	// What stands beside it does without, not the recording's verdict.
	const auto beside = [&](const auto& write, const std::string& path) {
		try {
			write(source, path, wish);
		} catch (const std::exception& error) {
			print_failure(path, error);
			status = kStatusError;
		}
	};
	beside(write_held, trace::name_with(output, ".held"));
	if (wish.speculations)
		beside(write_in_flight, speculations_of(output));
	const auto file = trace::open_file(output);
	const int verdict = print_verdict(trace::judge_whole(*file), file->catalog(), wish.json,
	                                  one ? std::string() : output);
	return status ? status : verdict;
}

} // namespace

std::string speculations_of(const std::string& recording) {
	return trace::name_with(recording, ".speculations");
}

bool is_beside(const std::string& recording) {
	return recording.ends_with(".speculations.dfr") || recording.ends_with(".held.dfr");
}

std::string state_text(const trace::Catalog& catalog) {
	const std::string number = std::to_string(static_cast<uint32_t>(catalog.state_id));
	return catalog.state_name.empty() ? "state " + number
	                                  : catalog.state_name + " (state " + number + ")";
}

void print_panic(recorder::ImageSource& source) {
	if (const auto& panic = source.panic())
		std::printf("   panic on CPU %u in %s (tid %u): %s\n", panic->cpu, shown(panic->comm),
		            panic->tid, shown(panic->reason));
}

void ImageArgument::add(CLI::App& app, const std::string& help) {
	app.add_option("image", image_, help);
	app.add_flag("--reserved", reserved_,
	             "what the boot before has left in reserved memory (states with memory=reserved)");
}

std::string ImageArgument::path() const {
	if (!named())
		throw UsageError("no image was named", "give a file, or --reserved");
	if (reserved_ && !image_.empty())
		throw UsageError("a file and --reserved are two images", "leave one out");
	if (reserved_ && ::access(DFR_RESERVED_DEVICE, F_OK) != 0)
		throw Error(
		    "reserved memory holds no recording of another boot",
		    "it takes memmap= on the kernel's command line, the module's parameter reserved=, and a "
		    "state with -x memory=reserved before the reset; with reserve_mem= instead, this boot "
		    "may "
		    "have that memory elsewhere than the one before (nokaslr makes that rare)");
	return reserved_ ? DFR_RESERVED_DEVICE : image_;
}

Images open_image(const std::string& image, const std::string& catalog) {
	const auto lender = catalog.empty() ? nullptr : trace::open_file(catalog);
	Progress progress(image);
	return recorder::open_memory_image(
	    image, lender ? &lender->catalog() : nullptr,
	    [&progress](uint64_t done, uint64_t all) { progress.at(done, all); });
}

int run_harvest(int argc, char** argv) {
	HarvestWish wish;
	const auto app = make_app(
	    "harvest",
	    "Recover recordings from the memory of a dead machine: all of the boot that died, unless "
	    "one is named. The likeliest goes to the output; others to files beside it, with their "
	    "states' names.",
	    kHarvestExamples);
	wish.argument.add(*app, "memory image: ELF core, vmcore, kdump-compressed, or raw");
	app->add_option("-o,--output", wish.output, "the recording to write");
	app->add_option("--state", wish.state, "only the state of this name or number");
	app->add_option("--recording", wish.which, "only the one with this number of dfr crash list");
	app->add_option("--catalog", wish.catalog,
	                "an older recording of the same state, for what the image has lost of its catalog");
	app->add_flag("--speculations", wish.speculations,
	              "also write the speculations that were not committed, to OUTPUT.speculations.dfr");
	app->add_flag("--panicked", wish.panicked, "those of other boots that panicked, too")->group("");
	app->add_option("--room", wish.room, "bytes that all files together may take")->group("");
	app->add_flag("--list", wish.list, "say what is there, write nothing");
	app->add_flag("--replace", wish.replace, "overwrite the output if it exists");
	app->add_flag("--json", wish.json, "the verdict as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (wish.list && (wish.json || wish.replace || wish.speculations || wish.which != SIZE_MAX ||
	                  !wish.output.empty() || !wish.state.empty())) {
		print_error("dfr harvest: --list says all that is there, as text, and goes with nothing else",
		            "dfr crash list --json says it as JSON");
		return kStatusUsage;
	}
	if (!wish.list && wish.output.empty()) {
		print_error("no output was given", "write -o FILE.dfr, or --list to look first");
		return kStatusUsage;
	}
	wish.image = wish.argument.path();
	if (!wish.list) { // before what may take minutes
		require_writable(wish.output, wish.replace);
		refuse_source(wish.output, wish);
	}
	const Images sources = open_image(wish.image, wish.catalog);
	if (wish.list) {
		for (size_t i = 0; i < sources.size(); i++)
			describe(*sources[i], i);
		return 0;
	}
	const std::vector<size_t> numbers = chosen(sources, wish);
	if (wish.replace)
		catch_signals(); // so that nothing is left of the new one
	int status = 0;
	bool failed = false;
	std::set<std::string> taken;
	for (const size_t i : numbers) {
		recorder::ImageSource& source = *sources[i];
		describe(source, i);
		const std::string output = i == numbers[0]
		                               ? wish.output
		                               : output_of(wish, source, sources[numbers[0]]->boot(), taken);
		try {
			status = std::max(status, harvest(source, output, wish, numbers.size() == 1));
		} catch (const std::exception& error) {
			print_failure(output, error);
			failed = true;
		}
	}
	if (const size_t others = sources.size() - numbers.size(); others && wish.state.empty())
		std::fprintf(stderr,
		             "dfr: %zu more in the image, of other boots: dfr crash list %s shows them, "
		             "--recording takes one\n",
		             others, shown(wish.image));
	return failed ? kStatusError : status;
}

} // namespace dfr::cli
