// SPDX-License-Identifier: GPL-2.0
//
// dfrd: the recorder's daemon. It holds one kept state of the kernel's engine and
// moves the state's records into a .dfr file until a signal (SIGTERM, SIGINT,
// SIGHUP) or until the recorded program ends. Without --stop the state records on
// after dfrd has ended, so dfrd can be restarted without a gap. dfrd does not
// compile D: `dfr compile` does.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <getopt.h>
#include <iterator>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/device_session.h"
#include "recorder/device_target.h"
#include "recorder/drain.h"
#include "recorder/notify.h"
#include "recorder/recording_loop.h"
#include "recorder/retention.h"

namespace {

using namespace dfr;

constexpr const char* kUsage =
    R"(usage: dfrd [--name NAME] [--program FILE.dof] [--output FILE.dfr] [options]

Keeps a recording: moves what a kept state of the kernel records into a file,
until SIGTERM or Ctrl-C. Nothing that was recorded is lost when it stops, and
what is not on the disk yet is still in the kernel's memory: a crash dump has it.

  --name NAME        the state to claim, or to create with --program
                     (default: anonymous, what the module recorded since boot)
  --program FILE     a compiled program, to start if there is no state NAME yet;
                     it may take 1 % of each CPU, or what it says (-x cpubudget)
  --output FILE      where to record (default: /var/lib/dfr/NAME-TIME.dfr); if it
                     exists, the time is added to its name: a recording is never
                     overwritten, so dfrd can be restarted with the same options
  --rotate WHEN      go on in a next file after a size (256k or more, 64m, 1g) or a time
                     (30s, 10min, 1h, 1d): NAME-0001.dfr, NAME-0002.dfr ... Each can be
                     read alone, all together as one recording. Numbers go on after a
                     restart. A file is larger or older than that if its catalog, which
                     each repeats, would be more than 1 % of it, or by what the rings hold
  --retain BOUND     of the parts keep this much: a number of parts (20), a size (1g) or an
                     age (7d); may be given several times, then each bound holds. The
                     oldest parts are removed, and each is named on stderr
  --free SIZE        remove the oldest parts, too, if the disk has less than this left (1g)
  --checkpoint N     write everything to the disk each N seconds (default: 10)
  --stop             end the state too when this ends; else it records on
  --help             this text

status: 0, also when the recorded program has ended; 1: it could not record on, or
the kernel has killed the state. A state that has ended is removed once its records
are on the disk, so that the next start begins anew.

examples:
  dfrd                               persist what was recorded since boot
  dfr compile -o flight.dof flight.d
  dfrd --name flight --program flight.dof --output /srv/flight.dfr
  dfrd --name flight --program flight.dof --output /srv/flight.dfr --rotate 64m
  dfrd --name flight --program flight.dof --rotate 64m --retain 2g --retain 7d --free 1g
  dfr replay /srv/flight*.dfr        ask it, also while it is being written
  dfr snapshot --name flight         what is only in memory yet
  systemctl enable --now dfrd@flight the same as a service, of /etc/dfr/flight.d
)";

struct Options {
	std::string name = DFR_ANONYMOUS_NAME, program, output;
	bool stop = false;
	unsigned checkpoint = 10;
	trace::Rotation rotate;
	recorder::Retention retain;
};

std::atomic<int> stop_signal{0};

void on_signal(int number) {
	stop_signal = number;
}

// Without SA_RESTART, so that a signal ends the wait for blocks at once.
void catch_signals() {
	struct sigaction action {};
	action.sa_handler = on_signal;
	for (const int number : {SIGTERM, SIGINT, SIGHUP})
		sigaction(number, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
}

[[noreturn]] void usage_error(const std::string& why) {
	std::fprintf(stderr, "dfrd: %s\ntry: dfrd --help\n", shown(why));
	std::exit(2);
}

unsigned parse_seconds(const char* text) {
	char* end;
	errno = 0;
	const unsigned long value = std::strtoul(text, &end, 10);
	if (errno || end == text || *end || value == 0 || value > 86400)
		usage_error(std::string("--checkpoint takes a number of seconds, 1 to 86400, not '") + text +
		            "'");
	return static_cast<unsigned>(value);
}

trace::Rotation parse_rotate(const char* text) {
	const std::optional<trace::Rotation> rotation = trace::parse_rotation(text);
	if (!rotation)
		usage_error(std::string("--rotate takes ") + trace::kRotationText + ", not '" + text + "'");
	return *rotation;
}

void read_retain(const char* text, recorder::Retention& retain) {
	if (!recorder::parse_retention(text, retain))
		usage_error(std::string("--retain takes ") + recorder::kRetentionText + ", not '" + text +
		            "'");
}

uint64_t parse_free(const char* text) {
	const std::optional<trace::Rotation> size = trace::parse_rotation(text);
	if (!size || !size->bytes)
		usage_error(std::string("--free takes a size (256k or more, 64m, 1g), not '") + text + "'");
	return size->bytes;
}

Options parse(int argc, char** argv) {
	static const option kLong[] = {
	    {"name", required_argument, nullptr, 'n'},   {"program", required_argument, nullptr, 'p'},
	    {"output", required_argument, nullptr, 'o'}, {"checkpoint", required_argument, nullptr, 'c'},
	    {"rotate", required_argument, nullptr, 'r'}, {"retain", required_argument, nullptr, 'k'},
	    {"free", required_argument, nullptr, 'f'},   {"stop", no_argument, nullptr, 's'},
	    {"help", no_argument, nullptr, 'h'},         {nullptr, 0, nullptr, 0}};
	Options options;
	for (int option; (option = getopt_long(argc, argv, "n:p:o:c:r:k:f:sh", kLong, nullptr)) != -1;) {
		switch (option) {
		case 'n': options.name = optarg; break;
		case 'p': options.program = optarg; break;
		case 'o': options.output = optarg; break;
		case 'c': options.checkpoint = parse_seconds(optarg); break;
		case 'r': options.rotate = parse_rotate(optarg); break;
		case 'k': read_retain(optarg, options.retain); break;
		case 'f': options.retain.free = parse_free(optarg); break;
		case 's': options.stop = true; break;
		case 'h': std::fputs(kUsage, stdout); std::exit(0);
		default: std::fputs("try: dfrd --help\n", stderr); std::exit(2);
		}
	}
	if (optind < argc)
		usage_error(std::string("'") + argv[optind] + "' is not an option");
	if (options.retain && !options.rotate)
		usage_error("--retain and --free remove parts, which --rotate makes");
	return options;
}

std::vector<std::byte> read_program(const std::string& path) {
	std::ifstream in(path, std::ios::binary);
	const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
	if (!in || content.empty())
		throw Error("cannot read the program " + path,
		            "compile one: dfr compile -o " + path + " FILE.d");
	const auto bytes = std::as_bytes(std::span(content));
	return {bytes.begin(), bytes.end()};
}

std::string default_output(const Options& options) {
	if (::mkdir("/var/lib/dfr", 0700) != 0 && errno != EEXIST)
		throw Error::from_errno("cannot create /var/lib/dfr",
		                        "say where to record: --output FILE.dfr");
	return "/var/lib/dfr/" + options.name + (options.rotate ? "" : "-" + trace::time_stamp()) + ".dfr";
}

// The name given; if there is such a file, with the time in it: flight-20261121-150233.dfr. Parts have numbers.
std::string output_name(const Options& options) {
	const std::string& path = options.output;
	if (path.empty())
		return default_output(options);
	if (options.rotate || ::access(path.c_str(), F_OK) != 0)
		return path;
	const size_t slash = path.rfind('/'), dot = path.rfind('.');
	const bool extended = dot != std::string::npos && (slash == std::string::npos || dot > slash);
	const size_t at = extended ? dot : path.size();
	return path.substr(0, at) + "-" + trace::time_stamp() + path.substr(at);
}

// True: the state existed already, so there is nothing to start.
bool claim(recorder::DeviceSession& session, const Options& options) {
	try {
		session.claim(options.name);
		return true;
	} catch (const Error& error) {
		if (error.code() != ENOENT || options.program.empty())
			throw;
		return false;
	}
}

// A program that dfrd starts runs all the time, so it may take only 1 % of each CPU, unless its own
// options set the budget.
void limit_cost(recorder::DeviceSession& session, std::span<const std::byte> program) {
	const dof::Image image =
	    dof::read({reinterpret_cast<const uint8_t*>(program.data()), program.size()});
	for (const dof::Option& option : image.options)
		if (option.option == DFR_OPT_CPUBUDGET)
			return;
	dof::Image flight;
	flight.options.push_back({DFR_OPT_CPUBUDGET, 1});
	const std::vector<uint8_t> bytes = dof::write(flight);
	session.enable(std::as_bytes(std::span(bytes)), true);
}

void start(recorder::DeviceSession& session, const Options& options) {
	if (claim(session, options)) {
		if (!options.program.empty())
			std::fprintf(stderr,
			             "dfrd: state %s is there: it goes on with the program that it has "
			             "(dfr stop %s ends it)\n",
			             shown(options.name), shown(options.name));
		return;
	}
	const std::vector<std::byte> program = read_program(options.program);
	const uint32_t matched = session.enable(program, true);
	limit_cost(session, program);
	session.keep(options.name);
	session.go();
	std::fprintf(stderr, "dfrd: state %s started, %u probes\n", shown(options.name), matched);
}

bool ended(const dfr_ioc_status& status) {
	return status.exited || status.activity == DFR_STOPPED || status.activity == DFR_KILLED;
}

// `current`: the part that is being written; empty: none is yet.
void remove_parts(const Options& options, const std::string& current) {
	if (!options.retain)
		return;
	const std::chrono::seconds now(std::time(nullptr));
	for (const recorder::RemovedPart& part :
	     recorder::retain(options.output, current, options.retain, now))
		std::fprintf(stderr, "dfrd: %s %s: %s\n", part.error ? "cannot remove" : "removed",
		             shown(part.path), part.error ? std::strerror(part.error) : shown(part.why));
}

// The daemon's part of the loop: each pass moves new blocks into the file, and every period_ seconds
// a checkpoint writes the file to the disk.
class Daemon final : public recorder::RecordingLoop {
public:
	Daemon(recorder::DeviceSession& session, recorder::Drain& drain, const trace::PartsWriter& parts,
	       recorder::ServiceManager& manager, const Options& options)
	    : session_(session), drain_(drain), parts_(parts), manager_(manager), options_(options),
	      period_(options.checkpoint), next_(std::chrono::steady_clock::now() + period_) {}

	// How the state was when this daemon ended; for the last message, and for its status.
	const char* state() const {
		if (status_.activity == DFR_KILLED)
			return "the kernel had killed the state, so nothing was recorded since "
			       "(dfr info says when)";
		if (ended(status_))
			return "the recorded program has ended";
		return options_.stop ? "the state was stopped" : "the state records on";
	}
	bool killed() const { return status_.activity == DFR_KILLED; }

private:
	bool sleep() override {
		if (stop_signal)
			return false;
		const auto rest = next_ - std::chrono::steady_clock::now();
		if (!moved_ && rest.count() > 0)
			session_.wait(std::min<std::chrono::nanoseconds>(rest, std::chrono::seconds(1)), true,
			              nullptr);
		return !stop_signal;
	}

	bool pass() override {
		moved_ = drain_.pump();
		if (const auto now = std::chrono::steady_clock::now(); now >= next_) {
			drain_.checkpoint();
			next_ = now + period_;
			remove_old_parts();
		}
		if (parts_.paths().size() != parts_seen_)
			remove_old_parts();
		manager_.alive("recording " + options_.name + " to " + parts_.paths().back() + ", " +
		               std::to_string(drain_.records()) + " records");
		return !ended(session_.status());
	}

	void remove_old_parts() {
		parts_seen_ = parts_.paths().size();
		remove_parts(options_, parts_.paths().back());
	}

	void finish() override {
		manager_.stopping("writing what is left");
		status_ = session_.status();
		if ((options_.stop || status_.exited) &&
		    (status_.activity == DFR_ACTIVE || status_.activity == DFR_DRAINING))
			session_.stop(); // END fires
		drain_.finish();
		if (options_.stop || ended(status_))
			session_.end();
	}

	void salvage(const Error& why) override { drain_.give_up(why.what()); }

	recorder::DeviceSession& session_;
	recorder::Drain& drain_;
	const trace::PartsWriter& parts_;
	recorder::ServiceManager& manager_;
	const Options& options_;
	const std::chrono::seconds period_;
	std::chrono::steady_clock::time_point next_;
	dfr_ioc_status status_{};
	size_t parts_seen_ = 0;
	uint64_t moved_ = 1; // blocks in the last pass; 1 at first, so that the first pass does not wait
};

int run(const Options& given) {
	Options options = given;
	recorder::DeviceSession session;
	start(session, options);
	options.output = output_name(options);
	remove_parts(options, {}); // a disk that is full has room afterwards
	trace::PartsWriter parts(options.output, [&]() -> const trace::Catalog& { return session.catalog(); },
	                         {.rotation = options.rotate, .old = trace::PartsWriter::OldParts::kKeep});
	recorder::LiveSymbols symbols(recorder::processes_have_our_numbers());
	recorder::NameCollector names(symbols);
	recorder::DeviceTarget machine(session.device());
	recorder::TypeCollector types(machine);
	recorder::Drain drain(session, parts, names, types);
	session.hold();
	std::fprintf(stderr, "dfrd: recording %s to %s%s\n", shown(options.name),
	             shown(parts.paths().front()), options.rotate ? ", and to more files after it" : "");
	recorder::ServiceManager manager;
	manager.ready("recording " + options.name + " to " + parts.paths().front());
	Daemon daemon(session, drain, parts, manager, options);
	daemon.record();
	const std::string last = parts.paths().size() > 1 ? " to " + parts.paths().back() : "";
	std::fprintf(stderr, "dfrd: %llu records in %llu blocks, %llu bytes in %s%s; %s\n",
	             static_cast<unsigned long long>(drain.records()),
	             static_cast<unsigned long long>(drain.blocks()),
	             static_cast<unsigned long long>(parts.size()), shown(parts.paths().front()), shown(last),
	             daemon.state());
	return daemon.killed() ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
	const Options options = parse(argc, argv);
	catch_signals();
	try {
		return run(options);
	} catch (const Error& error) {
		std::fprintf(stderr, "dfrd: %s\n", shown(error.what()));
		if (!error.hint().empty())
			std::fprintf(stderr, "  %s\n", shown(error.hint()));
		return 1;
	}
}
