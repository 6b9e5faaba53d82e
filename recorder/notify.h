// SPDX-License-Identifier: GPL-2.0
//
// What a service tells systemd (Type=notify, WatchdogSec=): datagrams to the socket that $NOTIFY_SOCKET
// names. Without one nothing is said.
#pragma once

#include <chrono>
#include <string>

namespace dfr::recorder {

class ServiceManager {
public:
	ServiceManager(); // reads the environment
	~ServiceManager();
	ServiceManager(const ServiceManager&) = delete;
	ServiceManager& operator=(const ServiceManager&) = delete;

	bool is_there() const { return socket_ >= 0; }
	void ready(const std::string& status);
	void stopping(const std::string& status);
	// A sign of life, if it is time for one, and what the service is doing. To be called once a second or so.
	void alive(const std::string& status);

private:
	void say(const std::string& lines) const;
	int socket_ = -1;
	std::string address_; // as sun_path: the first byte is 0 for an abstract one
	std::chrono::microseconds every_{};
	std::chrono::steady_clock::time_point next_{};
};

} // namespace dfr::recorder
