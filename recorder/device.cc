// SPDX-License-Identifier: GPL-2.0
//
// The calls of /dev/dfr. The kernel's answers are checked like any other input,
// because the loaded module may be of another version.
#include "recorder/device.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/abi/catalog.h"
#include "formats/error.h"

namespace dfr::recorder {
namespace {

// The first buffer of a listing is small, because most patterns match a few probes and the kernel
// clears the whole buffer that it is asked to fill.
constexpr size_t kListingFirst = 4 << 10;
constexpr size_t kListingMost = 1 << 20;

std::string open_hint(int code) {
	switch (code) {
	case ENOENT:
	case ENXIO:
	case ENODEV: return "the module is not loaded: as root, `modprobe dfr` loads it";
	case EACCES:
		return "/dev/dfr belongs to root: run this as root; users may trace their own processes "
		       "where "
		       "the module is loaded with unprivileged=1";
	case EPERM:
		return "it takes CAP_PERFMON and CAP_BPF, or CAP_SYS_ADMIN, in the initial user namespace "
		       "(not in a container): run this as root on the host";
	case EDQUOT: return "a user without privilege may have it open 16 times: end one of your recordings";
	default: return "";
	}
}

std::string call_hint(unsigned long request, int code) {
	switch (code) {
	case EBUSY: return "another process holds this state: `dfr` lists the states and who holds them";
	case ENOENT: return "`dfr` lists the states that there are";
	case ENXIO: return "there is no program yet: enable one, or claim a kept state";
	case ENOMEM: return "take smaller sizes: -x bufsize=, -x aggsize=, -x dynvarsize=";
	case EAGAIN: return "unprivileged users have started too many recordings: wait a few seconds";
	case EEXIST: return "a kept state has this name: dfr record --claim takes it over, dfr stop ends it";
	case EINVAL:
		return request == DFR_IOC_KEEP ? "a name has printable characters of ASCII and no spaces"
		                               : "";
	case ENOTTY: return "the loaded module is of another version: load the one that came with this dfr";
	case EIO:
		if (request != DFR_IOC_GO)
			return "";
		return "the kernel oopsed inside a probe's firing (dmesg shows it), and what that left "
		       "behind is not "
		       "trusted: load the module anew (rmmod dfr, modprobe dfr), or restart the machine";
	default: return rights_hint(code);
	}
}

void copy_name(char (&to)[DFR_NAME_MAX], const std::string& name) {
	if (name.size() >= DFR_NAME_MAX)
		throw Error("the name " + name + " is too long",
		            "a state's name has at most " + std::to_string(DFR_NAME_MAX - 1) + " characters");
	std::memset(to, 0, sizeof(to));
	std::memcpy(to, name.data(), name.size());
}

void copy_pattern(char (&to)[128], const std::string& pattern) {
	if (pattern.size() >= sizeof(to))
		throw Error("the probe field " + pattern + " is too long",
		            "a field has at most 127 characters");
	std::memset(to, 0, sizeof(to));
	std::memcpy(to, pattern.data(), pattern.size());
}

// Finds the four names of an entry; false: they are not all inside of it.
bool probe_names(const std::byte* entry, size_t size, std::array<const char*, 4>& names) {
	size_t at = sizeof(dfr_cat_probe);
	for (const char*& name : names) {
		const void* nul = at < size ? std::memchr(entry + at, 0, size - at) : nullptr;
		if (!nul)
			return false;
		name = reinterpret_cast<const char*>(entry + at);
		at = static_cast<const std::byte*>(nul) - entry + 1;
	}
	return true;
}

// Visits the entries of one piece of the listing. False: the visitor wants no more.
bool visit_entries(std::span<const std::byte> bytes, const std::function<bool(const ListedProbe&)>& visit) {
	while (bytes.size() >= sizeof(dfr_cat_probe)) {
		dfr_cat_probe entry;
		std::memcpy(&entry, bytes.data(), sizeof(entry));
		std::array<const char*, 4> names;
		if (entry.head.size < sizeof(entry) || entry.head.size > bytes.size() ||
		    !probe_names(bytes.data(), entry.head.size, names))
			throw Error("the module's list of probes is damaged",
			            "load the module that came with this dfr");
		ListedProbe probe{.id = entry.id,
		                  .provider = names[0],
		                  .module = names[1],
		                  .function = names[2],
		                  .name = names[3]};
		if (entry.nargs != 0xffffffff)
			probe.nargs = entry.nargs & ~DFR_CAT_SHARED;
		probe.shared = probe.nargs && (entry.nargs & DFR_CAT_SHARED);
		if (!visit(probe))
			return false;
		bytes = bytes.subspan(entry.head.size);
	}
	return true;
}

StateLine parse_state(std::string_view line) {
	std::array<std::string, 4> fields;
	for (std::string& field : fields) {
		const size_t tab = std::min(line.find('\t'), line.size());
		field = line.substr(0, tab);
		line.remove_prefix(std::min(tab + 1, line.size()));
	}
	return {.name = fields[0],
	        .id = std::strtoull(fields[1].c_str(), nullptr, 10),
	        .activity = fields[2],
	        .holder = fields[3]};
}

} // namespace

std::string rights_hint(int code) {
	switch (code) {
	case EPERM: return "run this as root, or with CAP_PERFMON and CAP_BPF";
	case EACCES:
		return "destructive actions take root, -w, a kernel that is not locked down, and the "
		       "module's parameter destructive";
	case EDQUOT:
		return "a user without privilege has four programs at a time: end one, or run this as root";
	default: return "";
	}
}

Device::Device(const std::string& path) : path_(path) {
	fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (fd_ < 0)
		throw Error::from_errno("cannot open " + path, open_hint(errno));
}

Device::~Device() {
	::close(fd_);
}

int Device::try_call(unsigned long request, void* argument) const {
	while (::ioctl(fd_, request, argument) != 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

void Device::call(unsigned long request, void* argument, const char* what) const {
	const int code = try_call(request, argument);
	if (code)
		throw Error(std::string(what) + ": " + std::strerror(code), call_hint(request, code), code);
}

dfr_ioc_info Device::info() const {
	dfr_ioc_info info{.size = sizeof(info)};
	call(DFR_IOC_INFO, &info, "cannot read the module's version");
	if (info.version != DFR_CONTROL_VERSION)
		throw Error(
		    "the module speaks version " + std::to_string(info.version) +
		        " of the control interface, this dfr speaks " + std::to_string(DFR_CONTROL_VERSION),
		    "load the module that came with this dfr; what records goes on, and is read by the dfr "
		    "that came with the loaded one");
	return info;
}

void Device::probes(const ProbeGlob& glob, uint32_t first,
                    const std::function<bool(const ListedProbe&)>& visit) const {
	size_t room = kListingFirst;
	std::unique_ptr<std::byte[]> buffer;
	dfr_ioc_probes io{};
	copy_pattern(io.pattern[0], glob.provider);
	copy_pattern(io.pattern[1], glob.module);
	copy_pattern(io.pattern[2], glob.function);
	copy_pattern(io.pattern[3], glob.name);
	io.id = first;
	do {
		const uint32_t from = io.id;
		buffer = std::make_unique_for_overwrite<std::byte[]>(room);
		io.size = sizeof(io);
		io.buffer = reinterpret_cast<uint64_t>(buffer.get());
		io.bytes = room;
		call(DFR_IOC_PROBES, &io, "cannot list probes");
		if (io.bytes > room || (io.id && io.id <= from))
			throw Error("the module's list of probes is damaged",
			            "load the module that came with this dfr");
		if (!visit_entries(std::span(buffer.get(), io.bytes), visit))
			return;
		room = kListingMost;
	} while (io.id);
}

std::vector<StateLine> Device::states() const {
	std::vector<char> buffer(4096);
	dfr_ioc_states io{};
	for (;;) {
		io.size = sizeof(io);
		io.buffer = reinterpret_cast<uint64_t>(buffer.data());
		io.bytes = buffer.size();
		const int code = try_call(DFR_IOC_STATES, &io);
		if (code == ENOSPC && io.bytes > buffer.size() && io.bytes <= (1u << 20)) {
			buffer.resize(io.bytes);
			continue;
		}
		if (code)
			throw Error(std::string("cannot list states: ") + std::strerror(code),
			            call_hint(DFR_IOC_STATES, code), code);
		break;
	}
	std::string_view text(buffer.data(), std::min<size_t>(io.bytes, buffer.size()));
	std::vector<StateLine> result;
	while (!text.empty()) {
		const size_t end = std::min(text.find('\n'), text.size());
		if (end)
			result.push_back(parse_state(text.substr(0, end)));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return result;
}

void Device::end(const std::string& name) const {
	dfr_ioc_name io{.size = sizeof(io)};
	copy_name(io.name, name);
	call(DFR_IOC_END, &io, ("cannot end state " + name).c_str());
}

DeviceAccess device_access(const std::string& path) {
	DeviceAccess result;
	const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		::close(fd);
		result.loaded = result.permitted = true;
		return result;
	}
	const int code = errno;
	result.loaded = code != ENOENT && code != ENXIO && code != ENODEV;
	result.why = "cannot open " + path + ": " + std::strerror(code);
	result.hint = open_hint(code);
	return result;
}

} // namespace dfr::recorder
