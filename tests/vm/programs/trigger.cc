// SPDX-License-Identifier: GPL-2.0
//
// Guest program: looks at a kept state as dfrd and `dfr snapshot` do, by recorder::DeviceSession.
//
//   guest-trigger list NAME       asks once, prints all: "REASON: COUNT, FRESH fresh", oopses as "(oops)"
//   guest-trigger wait NAME       sleeps until there is one that it has not asked for, prints those that are fresh;
//                                 "ended" if the state ends instead
//   guest-trigger news NAME       asks, then waits and prints as above: only what comes from now on
//   guest-trigger reuse A         with one descriptor: claims A, asks, ends it, claims "other", and prints whether there is
//                                 something to ask for
//   guest-trigger hostile NAME    what the request says to arguments that are wrong, and whether triggers are lost by it
//   guest-trigger mark NAME       marks the time, as the first thing that a session does, while clauses are thinned on CPU 1;
//                                 prints "marked"; and when that is over, whether the losses have it
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <thread>

#include "formats/error.h"
#include "recorder/device_session.h"

using dfr::recorder::DeviceSession;
using dfr::recorder::Trigger;

namespace {

void print(const std::vector<Trigger>& triggers, bool all) {
	for (const Trigger& one : triggers) {
		if (!all && !one.fresh)
			continue;
		const bool sane = one.first <= one.last && (one.fresh || !one.first);
		std::printf("%s: %llu, %llu fresh%s\n", one.oops ? "(oops)" : one.reason.c_str(),
		            static_cast<unsigned long long>(one.count),
		            static_cast<unsigned long long>(one.fresh),
		            sane ? "" : ", with times that cannot be");
	}
}

int wait(DeviceSession& session) {
	switch (session.await_trigger(std::chrono::hours(1))) {
	case DeviceSession::Awaited::Trigger: print(session.triggers(), false); break;
	case DeviceSession::Awaited::Ended: std::puts("ended"); break;
	case DeviceSession::Awaited::Nothing: std::puts("nothing came"); break;
	}
	return 0;
}

void say(const char* what, int code) {
	std::printf("%s: %s\n", what, code ? ::strerrorname_np(code) : "fine");
}

int hostile(DeviceSession& session) {
	const dfr::recorder::Device& device = session.device();
	dfr_ioc_trigger entry{};
	dfr_ioc_triggers io{.size = sizeof(io), .count = 0, .triggers = 0, .asked = 0, .time = 0};
	say("no room", device.try_call(DFR_IOC_TRIGGERS, &io));
	std::printf("room needed: %u\n", io.count);
	io = {.size = sizeof(io), .count = ~0u, .triggers = 8, .asked = 0, .time = 0};
	say("a pointer to nowhere", device.try_call(DFR_IOC_TRIGGERS, &io));
	io = {.size = sizeof(io), .count = ~0u, .triggers = ~0ull << 40, .asked = 0, .time = 0};
	say("a pointer into the kernel", device.try_call(DFR_IOC_TRIGGERS, &io));
	io = {.size = 2, .count = 1, .triggers = reinterpret_cast<uint64_t>(&entry), .asked = 0, .time = 0};
	say("a size of 2", device.try_call(DFR_IOC_TRIGGERS, &io));
	io.size = sizeof(io);
	say("no state", dfr::recorder::Device().try_call(DFR_IOC_TRIGGERS, &io));
	pollfd poller{.fd = device.fd(), .events = POLLPRI, .revents = 0};
	std::printf("still to be asked for: %s\n", ::poll(&poller, 1, 0) == 1 ? "yes" : "no");
	print(session.triggers(), false);
	std::printf("and then: %s\n", ::poll(&poller, 1, 0) == 1 ? "yes" : "no");
	return 0;
}

void claim(const dfr::recorder::Device& device, const std::string& name) {
	dfr_ioc_name io{.size = sizeof(io), .pad = 0, .name = {}};
	name.copy(io.name, sizeof(io.name) - 1);
	say("claim", device.try_call(DFR_IOC_CLAIM, &io));
}

int reuse(const std::string& name) {
	const dfr::recorder::Device device;
	std::vector<dfr_ioc_trigger> entries(DFR_REASONS_MAX + 1);
	dfr_ioc_triggers io{.size = sizeof(io),
	                    .count = static_cast<uint32_t>(entries.size()),
	                    .triggers = reinterpret_cast<uint64_t>(entries.data()),
	                    .asked = 0,
	                    .time = 0};
	claim(device, name);
	say("ask", device.try_call(DFR_IOC_TRIGGERS, &io));
	device.end(name);
	claim(device, "other");
	pollfd poller{.fd = device.fd(), .events = POLLPRI, .revents = 0};
	std::printf("to be asked for: %s\n", ::poll(&poller, 1, 0) == 1 ? "yes" : "no");
	return 0;
}

// Since when clauses of a low priority are off on CPU 1; 0: they are not.
uint64_t thinned_since(DeviceSession& session) {
	const DeviceSession::Cost cost = session.cost().value();
	for (const dfr_ioc_cpu_cost& cpu : cost.cpus)
		if (cpu.cpu == 1)
			return cpu.thinned_since[DFR_PRIORITY_LOW];
	return 0;
}

int mark(const std::string& name) {
	for (;;) {
		DeviceSession session;
		session.view(name);
		const uint64_t since = thinned_since(session);
		session.mark();
		if (!since || thinned_since(session) != since)
			continue;
		std::puts("marked");
		std::fflush(stdout);
		while (thinned_since(session))
			std::this_thread::sleep_for(std::chrono::milliseconds(50));
		const std::vector<dfr::trace::Losses::Stretch>& stretches = session.losses().stretches;
		const bool told = std::any_of(stretches.begin(), stretches.end(), [&](const auto& stretch) {
			return stretch.cpu == 1 && stretch.from == since;
		});
		std::puts(told ? "told" : "not told");
		return 0;
	}
}

int run(const std::string& command, const std::string& name) {
	if (command == "reuse")
		return reuse(name);
	if (command == "mark")
		return mark(name);
	DeviceSession session;
	session.view(name);
	if (command == "list")
		return print(session.triggers(), true), 0;
	if (command == "news")
		session.triggers();
	if (command == "wait" || command == "news")
		return wait(session);
	return command == "hostile" ? hostile(session) : 2;
}

} // namespace

int main(int argc, char** argv) {
	try {
		return argc == 3 ? run(argv[1], argv[2]) : 2;
	} catch (const dfr::Error& error) {
		std::printf("%s\n", error.what());
		return 1;
	}
}
