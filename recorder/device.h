// SPDX-License-Identifier: GPL-2.0
//
// Device: the calls of /dev/dfr (formats/abi/control.h) as C++ functions. It
// turns an errno into an error with a hint, and keeps no state but the descriptor:
// the live session is device_session.h, the compiler's view is device_target.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/abi/control.h"

namespace dfr::recorder {

// What to do when the kernel refuses a call or a program with EPERM, EACCES or EDQUOT; other codes: "".
std::string rights_hint(int code);

// One probe of the running kernel. The four names are valid during the visit only.
struct ListedProbe {
	uint32_t id = 0;
	std::optional<uint32_t> nargs;
	bool shared = false; // several functions have this name, so the kernel's types may mean another
	const char* provider = "";
	const char* module = "";
	const char* function = "";
	const char* name = "";
};

struct StateLine {
	std::string name; // "-": the state has no name
	uint64_t id = 0;
	std::string activity, holder;
};

// Empty fields match anything.
struct ProbeGlob {
	std::string provider, module, function, name;
};

class Device {
public:
	explicit Device(const std::string& path = DFR_DEVICE);
	~Device();
	Device(const Device&) = delete;
	Device& operator=(const Device&) = delete;

	int fd() const { return fd_; }
	const std::string& path() const { return path_; }

	dfr_ioc_info info() const;
	// Visits the matching probes with ids from `first` up, in ascending order, until visit returns false.
	void probes(const ProbeGlob& glob, uint32_t first,
	            const std::function<bool(const ListedProbe&)>& visit) const;
	std::vector<StateLine> states() const;
	void end(const std::string& name) const; // ends a kept state

	// Throws dfr::Error unless the call succeeds; `what` says what failed: "cannot start recording".
	void call(unsigned long request, void* argument, const char* what) const;
	// Returns 0 or the errno.
	int try_call(unsigned long request, void* argument) const;

private:
	std::string path_;
	int fd_ = -1;
};

// Whether the module is loaded, and whether this process may open the device; if not, `why` explains.
struct DeviceAccess {
	bool loaded = false, permitted = false;
	std::string why, hint;
};
DeviceAccess device_access(const std::string& path = DFR_DEVICE);

} // namespace dfr::recorder
