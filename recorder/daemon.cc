// SPDX-License-Identifier: GPL-2.0
//
// Starting a state, and going on with another one.
#include "recorder/daemon.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "formats/clock.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/named_file.h"
#include "formats/shown.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/file.h"
#include "formats/trace/output_file.h"
#include "formats/trace/parts.h"

namespace dfr::recorder {
namespace {

std::atomic<bool> reload_asked{false};
std::atomic<unsigned> ends_asked{0}, snapshots_asked{0};

void on_signal(int number) {
	if (number == SIGHUP)
		reload_asked = true;
	else if (number == SIGUSR1)
		snapshots_asked++;
	else
		ends_asked++;
}

// While dfrd goes over to a new program, the state of the new one has this name; the old one's name is free when
// its records are stored.
std::string next_name(const std::string& name) {
	return name + std::string(kNextSuffix);
}

// A program's bytes, in short.
std::string digest(std::span<const std::byte> program) {
	return std::to_string(program.size()) + "-" + std::to_string(trace::crc32c(program));
}

// A program that dfrd starts runs all the time, so it may take only 1 % of each CPU, unless its own options set the
// budget; in mode flight nobody empties its rings, so that the newest has to replace the oldest.
void add_options(DeviceSession& session, std::span<const std::byte> program, DaemonMode mode) {
	const dof::Image image = dof::read(program);
	dof::Image added;
	const auto add = [&](uint32_t option, int64_t value) {
		for (const dof::Option& own : image.options)
			if (own.option == option)
				return;
		added.options.push_back({option, value});
	};
	add(DFR_OPT_CPUBUDGET, 1);
	if (mode == DaemonMode::kFlight)
		add(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_RING);
	if (added.options.empty())
		return;
	const std::vector<uint8_t> bytes = dof::write(added);
	session.enable(std::as_bytes(std::span(bytes)), true);
}

// Null: there is no such state.
std::unique_ptr<DeviceSession> claim(const std::string& name) {
	auto session = std::make_unique<DeviceSession>();
	try {
		session->claim(name);
	} catch (const Error& error) {
		if (error.code() != ENOENT)
			throw;
		return nullptr;
	}
	return session;
}

void check_policy(DeviceSession& session, const DaemonOptions& options) {
	if (options.mode == DaemonMode::kFlight && session.catalog().policy != DFR_BUFPOLICY_RING)
		throw Error(
		    "state " + options.name +
		        " does not keep the newest records when its memory is full, as mode flight needs",
		    "start it with -x bufpolicy=ring, which dfr compile --profile flight sets, or use mode "
		    "stream");
}

// What a dfrd has told of this very state; nullopt: none has, or of an earlier one of that name.
std::optional<DaemonStatus> status_of(DeviceSession& session, const std::string& name) {
	auto known = read_daemon_status(daemon_status_path(name));
	if (known && known->state != session.catalog().state_id)
		known.reset();
	return known;
}

bool has_parts(const DaemonOptions& options) {
	return options.rotate || options.mode == DaemonMode::kFlight;
}

// The time, and a number where a start within that second, or before the clock was set back, has that name already. Of
// fewer than four digits it makes no name of a part.
std::string stamped_name(const std::string& path) {
	const std::string stamp = "-" + trace::time_stamp();
	std::string name = trace::name_with(path, stamp);
	for (unsigned number = 2; ::access(name.c_str(), F_OK) == 0; number++)
		name = trace::name_with(path, stamp + "-" + std::to_string(number));
	return name;
}

std::string default_output(const DaemonOptions& options) {
	if (::mkdir("/var/lib/dfr", 0700) != 0 && errno != EEXIST)
		throw Error::from_errno("cannot create /var/lib/dfr",
		                        "say where to record: --output FILE.dfr");
	const std::string path = "/var/lib/dfr/" + options.name + ".dfr";
	return has_parts(options) ? path : stamped_name(path);
}

DaemonOptions read_options(const std::vector<std::string>& arguments) {
	DaemonOptions options = read_daemon_options(arguments);
	for (const std::string& remark : options.remarks)
		std::fprintf(stderr, "dfrd: %s; this is another state's, and is left alone\n", shown(remark));
	return options;
}

// The state of a reload that failed: it would record on, and the next reload could not have its name.
void end_again(DeviceSession* next) {
	try {
		if (next)
			next->end();
	} catch (const Error& error) {
		say(error);
	}
}

} // namespace

void say(const std::exception& error) {
	std::fprintf(stderr, "dfrd: %s\n", shown(error.what()));
	const auto* const told = dynamic_cast<const Error*>(&error);
	if (told && !told->hint().empty())
		std::fprintf(stderr, "  %s\n", shown(told->hint()));
}

// Without SA_RESTART, so that a signal ends the wait for blocks at once.
void catch_daemon_signals() {
	struct sigaction action {};
	action.sa_handler = on_signal;
	for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
		sigaction(number, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
	// Who started dfrd may have had it ignored: then nobody can wait for a child.
	signal(SIGCHLD, SIG_DFL);
}

bool end_is_asked() {
	return ends_asked != 0;
}

unsigned end_requests() {
	return ends_asked;
}

bool take_reload_request() {
	return reload_asked.exchange(false);
}

unsigned take_snapshot_requests() {
	return snapshots_asked.exchange(0);
}

bool has_ended(const dfr_ioc_status& status) {
	return status.exited || status.activity == DFR_STOPPED || status.activity == DFR_KILLED;
}

// The name given; if there is such a file, with the time in it: flight-20261121-150233.dfr, or, if there is that one, too,
// flight-20261121-150233-2.dfr. Parts have numbers.
std::string output_name(const DaemonOptions& options) {
	const std::string& path = options.output;
	if (path.empty())
		return default_output(options);
	if (has_parts(options) || ::access(path.c_str(), F_OK) != 0)
		return path;
	return stamped_name(path);
}

Daemon::Daemon(std::vector<std::string> arguments)
    : options(read_options(arguments)), arguments_(std::move(arguments)),
      ages_([this](const std::string& path) { return own_age(path); }) {}

std::vector<std::byte> Daemon::program() const {
	const std::string cannot = "cannot read the program " + options.program,
	                  hint = "compile one: dfr compile -o " + options.program + " FILE.d";
	const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(options.program.c_str(), "re"),
	                                                 std::fclose);
	if (!file)
		throw Error::from_errno(cannot, hint);
	std::vector<std::byte> bytes;
	if (!read_named_file(file.get(), bytes))
		throw Error(cannot + ": it has more than 64 MiB", hint);
	if (std::ferror(file.get()))
		throw Error::from_errno(cannot, hint);
	if (bytes.empty())
		throw Error(cannot + ": nothing is in it", hint);
	return bytes;
}

// Whether the state has the program that it is started with. One that cannot be read is none: the state records, and
// only another start would need it.
bool Daemon::has_program() const {
	try {
		return !status.program.empty() && status.program == digest(program());
	} catch (const std::exception& error) { // there may be too little memory for it
		say(error);
		return false;
	}
}

Daemon::Loaded Daemon::load(std::span<const std::byte> program, DaemonMode mode) {
	Loaded loaded{.session = std::make_unique<DeviceSession>()};
	loaded.matched = loaded.session->enable(program, true);
	add_options(*loaded.session, program, mode);
	return loaded;
}

// A new state of this name, which records.
std::unique_ptr<DeviceSession> Daemon::begin(const std::string& name, std::span<const std::byte> program,
                                             const DaemonOptions& with) {
	Loaded loaded = load(program, with.mode);
	loaded.session->go();
	check_policy(*loaded.session, with);
	// Kept only now: one that could not start goes with its descriptor.
	loaded.session->keep(name);
	std::fprintf(stderr, "dfrd: state %s started, %u probes\n", shown(options.name), loaded.matched);
	return std::move(loaded.session);
}

void Daemon::start() {
	session_.reset();
	interrupted_.reset(); // which holds the descriptor of its state
	const std::string next = next_name(options.name);
	std::unique_ptr<DeviceSession> begun = claim(next);
	if (begun && begun->status().activity == DFR_INACTIVE) {
		std::fprintf(stderr, "dfrd: state %s has never started, and is ended\n", shown(next));
		begun->end();
		begun.reset();
	}
	const std::string next_program =
	    begun ? status_of(*begun, next).value_or(DaemonStatus{}).program : std::string();
	session_ = claim(options.name);
	if (begun && session_) {
		std::fprintf(stderr, "dfrd: going on with a reload that was interrupted\n");
		interrupted_ = Reload{.options = options, .next = std::move(begun), .program = next_program};
	} else if (begun) {
		begun->keep(options.name);
		session_ = std::move(begun);
		status.program = next_program;
	}
	if (session_) {
		if (!interrupted_)
			check_policy(*session_, options);
		if (const auto known = status_of(*session_, options.name))
			status = *known;
		if (!options.program.empty() && !has_program())
			std::fprintf(stderr,
			             "dfrd: state %s is there: it goes on with the program that it has "
			             "(a reload, SIGHUP, begins the new one)\n",
			             shown(options.name));
		return;
	}
	if (options.program.empty()) {
		session_ = std::make_unique<DeviceSession>();
		session_->claim(options.name); // says what is wrong
		return;
	}
	const std::vector<std::byte> bytes = program();
	session_ = begin(options.name, bytes, options);
	status.program = digest(bytes);
}

Trial Daemon::check() {
	const Loaded loaded = load(program(), options.mode);
	std::printf("dfrd: the options are right; %u probes\n", loaded.matched);
	Trial trial = run_trial(*loaded.session, [] { return !end_is_asked(); });
	check_policy(*loaded.session, options);
	return trial;
}

std::optional<Reload> Daemon::reload() {
	Reload reload;
	try {
		reload.options = read_options(arguments_);
		const std::vector<std::byte> bytes =
		    options.program.empty() ? std::vector<std::byte>{} : program();
		reload.program = bytes.empty() ? status.program : digest(bytes);
		if (reload.program != status.program) {
			reload.next = begin(next_name(options.name), bytes, reload.options);
			// For a dfrd that is killed in the middle of this.
			write_daemon_status(
			    daemon_status_path(next_name(options.name)),
			    {.state = reload.next->catalog().state_id, .program = reload.program});
		} else
			check_policy(*session_, reload.options);
		std::fprintf(stderr, "dfrd: reloaded%s\n", reload.next ? "" : ", the program is the same");
		return reload;
	} catch (const std::exception& error) {
		say(error);
		end_again(reload.next.get());
		std::fprintf(stderr, "dfrd: all goes on as before the reload\n");
		return std::nullopt;
	}
}

void Daemon::read_options_again() {
	try {
		DaemonOptions again = read_options(arguments_);
		if (session_)
			check_policy(*session_, again);
		options = std::move(again);
	} catch (const std::exception& error) {
		say(error);
		std::fprintf(stderr, "dfrd: the options stay as they were\n");
	}
}

void Daemon::go_on(Reload reload) {
	options = std::move(reload.options);
	if (!reload.next)
		return;
	reload.next->keep(options.name);
	::unlink(daemon_status_path(next_name(options.name)).c_str());
	session_ = std::move(reload.next);
	status.program = reload.program;
}

void Daemon::say_removed(const std::vector<RemovedPart>& removed) {
	for (const RemovedPart& part : removed)
		if (!part.error || cannot_remove_.emplace(part.path, part.error).second)
			std::fprintf(stderr, "dfrd: %s %s: %s\n", part.error ? "cannot remove" : "removed",
			             shown(part.path),
			             part.error ? std::strerror(part.error) : shown(part.why));
}

void Daemon::remove_old_files(const std::string& current, bool holds) {
	if (options.retain)
		say_removed(retain({.path = options.output,
		                    .current = current,
		                    .holds = holds,
		                    .alone = options.mode == DaemonMode::kFlight},
		                   options.retain, ages_, clocks_now()));
}

void Daemon::remove_empty_files() {
	if (has_parts(options))
		say_removed(remove_empty_parts(options.output));
}

// Of this boot: by the clock of its records, which nobody sets.
std::optional<std::chrono::seconds> Daemon::own_age(const std::string& path) {
	try {
		const auto file = trace::open_file(path);
		const uint64_t until = file->facts().marked_until, now = now_ns();
		if (file->catalog().boot_id != session_->catalog().boot_id || !until || until > now)
			return std::nullopt;
		return std::chrono::duration_cast<std::chrono::seconds>(
		    std::chrono::nanoseconds(now - until));
	} catch (const Error&) {
		return std::nullopt; // it cannot be read: it is as old as the clock says
	}
}

void Daemon::tell_status() {
	status.mode = options.mode == DaemonMode::kFlight ? "flight" : "stream";
	status.pid = ::getpid();
	status.state = session_->catalog().state_id;
	status.output = has_parts(options) ? trace::parts_pattern(options.output) : options.output;
	status.files = status.bytes = 0;
	const auto add = [&](const std::string& path) {
		struct stat about {};
		if (::stat(path.c_str(), &about) != 0)
			return;
		status.files++;
		status.bytes += static_cast<uint64_t>(about.st_size);
	};
	if (has_parts(options))
		for (const auto& [number, path] : trace::parts_of(options.output)) {
			if (ages_.is_part(path))
				add(path);
		}
	else
		add(options.output);
	if (const auto left = free_space(trace::folder_of(options.output)))
		status.free = *left;
	write_daemon_status(daemon_status_path(options.name), status);
}

} // namespace dfr::recorder
