// SPDX-License-Identifier: GPL-2.0
//
// dfr demo: three questions to a small real recording that is part of the
// command: each with the D program that asks it, so that the next step is to
// change it. The recording is analyze/demo/demo.dfr; its README says how it was
// made.
#include <cstdio>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/demo/demo.h"
#include "analyze/libdfr/style.h"
#include "analyze/replay/replay.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/file.h"

namespace dfr::cli {
namespace {

struct DemoQuestion {
	const char* text;
	const char* program;
};

constexpr DemoQuestion kQuestions[] = {
    {"Which programs made the most system calls?", "syscall:::entry { @[execname] = count(); }"},
    {"Which system calls, and by whom? (the five most frequent)",
     "syscall:::entry { @[execname, probefunc] = count(); } END { trunc(@, 5); }"},
    {"How many bytes did md5sum and dd ask read() for, call by call?",
     "syscall::read:entry /execname == \"md5sum\" || execname == \"dd\"/ { @[execname] = quantize(arg2); }"},
};

// The embedded bytes as a file that can be opened by path.
class EmbeddedFile {
public:
	explicit EmbeddedFile(std::string_view bytes) : fd_(::memfd_create("demo.dfr", MFD_CLOEXEC)) {
		if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
			throw Error::from_errno("cannot unpack the demo recording");
	}
	~EmbeddedFile() { ::close(fd_); }
	EmbeddedFile(const EmbeddedFile&) = delete;
	EmbeddedFile& operator=(const EmbeddedFile&) = delete;
	std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
	int fd_;
};

int save(const std::string& path, std::string_view bytes) {
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
	if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
	    std::fflush(file.get()) != 0)
		throw Error::from_errno("cannot write " + path,
		                        "give the path of a file that does not exist yet");
	std::printf("%s is the demo's recording: dfr info %s\n", shown(path), shown(path));
	return 0;
}

void ask(trace::BlockSource& source, const DemoQuestion& question, trace::Verdict& verdict) {
	std::printf("\n%s\n  dfr replay -n '%s' demo.dfr\n", question.text, question.program);
	std::fflush(stdout);
	lib::ProgramPart part;
	part.name = "-n";
	part.text = question.program;
	std::vector<lib::ProgramPart> parts{part};
	replay::RecordingTarget target(source.catalog(), "demo.dfr");
	ProgramArguments program;
	const d::Compiled compiled = compile_or_throw(parts, program.compile_options(0), target);
	render::Output output(STDOUT_FILENO);
	render::NoSymbols symbols;
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", shown(text)); };
	const trace::United one({&source});
	verdict = replay::replay_program(one, target, compiled, output, symbols, options).verdict;
	output.flush();
}

} // namespace

int run_demo(int argc, char** argv) {
	std::string keep;
	const auto app = make_app("demo", "Three questions to a recording that comes with dfr.",
	                          "  dfr demo\n  dfr demo --save demo.dfr\n");
	app->add_option("--save", keep, "write the recording to this file, to ask it more");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const std::string_view bytes(demo::kRecording, demo::kRecordingSize);
	if (bytes.empty())
		throw Error("this build has no demo recording",
		            "make one where the module is loaded: " + std::string(demo::kCommand));
	if (!keep.empty())
		return save(keep, bytes);
	const EmbeddedFile file(bytes);
	std::printf("A recording of a real machine, made by\n  %s\n", demo::kCommand);
	trace::Verdict verdict;
	std::unique_ptr<trace::BlockSource> source;
	for (const DemoQuestion& question : kQuestions) {
		source = trace::open_file(file.path());
		ask(*source, question, verdict);
	}
	std::printf("\nYour own question: dfr demo --save demo.dfr, then dfr replay -n '...' demo.dfr\n");
	return print_verdict(verdict, source->catalog(), false);
}

} // namespace dfr::cli
