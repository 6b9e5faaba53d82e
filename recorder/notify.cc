// SPDX-License-Identifier: GPL-2.0
//
// The datagrams.
#include "recorder/notify.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dfr::recorder {
namespace {

// systemd kills a service that is silent for WATCHDOG_USEC; its manual asks for a sign each half of that.
std::chrono::microseconds watchdog() {
	const char* const usec = std::getenv("WATCHDOG_USEC");
	const char* const pid = std::getenv("WATCHDOG_PID");
	if (!usec || (pid && std::strtol(pid, nullptr, 10) != ::getpid()))
		return std::chrono::microseconds(0);
	return std::chrono::microseconds(std::strtoull(usec, nullptr, 10) / 2);
}

} // namespace

ServiceManager::ServiceManager() : every_(watchdog()) {
	const char* const path = std::getenv("NOTIFY_SOCKET");
	if (!path || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof(sockaddr_un::sun_path))
		return;
	address_ = path;
	if (address_[0] == '@')
		address_[0] = '\0';
	socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

ServiceManager::~ServiceManager() {
	if (socket_ >= 0)
		::close(socket_);
}

// Nobody can be told that this fails; systemd will see that the service is silent. It never waits, because a systemd
// that is stuck must not stop the recorder.
void ServiceManager::say(const std::string& lines) const {
	if (socket_ < 0)
		return;
	sockaddr_un to{};
	to.sun_family = AF_UNIX;
	std::memcpy(to.sun_path, address_.data(), address_.size());
	const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
	::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
	         reinterpret_cast<const sockaddr*>(&to), size);
}

void ServiceManager::ready(const std::string& status) {
	say("READY=1\nSTATUS=" + status);
}

void ServiceManager::stopping(const std::string& status) {
	say("STOPPING=1\nSTATUS=" + status);
}

void ServiceManager::alive(const std::string& status) {
	const auto now = std::chrono::steady_clock::now();
	if (now < next_)
		return;
	next_ = now + (every_.count() ? std::min<std::chrono::microseconds>(every_, std::chrono::seconds(1))
	                              : std::chrono::seconds(1));
	say((every_.count() ? "WATCHDOG=1\nSTATUS=" : "STATUS=") + status);
}

} // namespace dfr::recorder
