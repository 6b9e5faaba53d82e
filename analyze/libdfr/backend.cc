// SPDX-License-Identifier: GPL-2.0
//
// Backends: the engine in this process, and the kernel's.
#include "analyze/libdfr/backend.h"

#include <sys/wait.h>
#include <unistd.h>

#include "analyze/engine/inprocess.h"
#include "formats/abi/control.h"
#include "formats/error.h"
#include "recorder/device_session.h"
#include "recorder/device_target.h"
#include "recorder/live_symbols.h"

namespace dfr::lib {
namespace {

class ProcessBackend final : public Backend {
public:
	explicit ProcessBackend(bool destructive) : engine_(destructive) {}
	trace::LiveSource& session() override { return engine_; }
	d::Target& target() override { return engine_; }
	recorder::LiveSymbols& symbols() override { return symbols_; }
	bool kernel() const override { return false; }

private:
	engine::InProcess engine_;
	recorder::LiveSymbols symbols_;
};

class KernelBackend final : public Backend {
public:
	trace::LiveSource& session() override { return session_; }
	d::Target& target() override { return target_; }
	recorder::LiveSymbols& symbols() override { return symbols_; }
	bool kernel() const override { return true; }
	bool confined() const override { return session_.device().info().flags & DFR_INFO_CONFINED; }
	recorder::DeviceSession* device() override { return &session_; }

private:
	recorder::DeviceSession session_;
	recorder::DeviceTarget target_{session_.device()};
	recorder::LiveSymbols symbols_{recorder::processes_have_our_numbers()};
};

// The installed module, as root; whether that worked is seen when the device is opened.
void load_module() {
	const pid_t pid = ::fork();
	if (pid == 0) {
		::execlp("modprobe", "modprobe", "-q", "dfr", static_cast<char*>(nullptr));
		::_exit(127);
	}
	if (pid > 0)
		::waitpid(pid, nullptr, 0);
}

} // namespace

std::unique_ptr<Backend> open_process(bool destructive) {
	return std::make_unique<ProcessBackend>(destructive);
}

std::unique_ptr<Backend> open_kernel(bool load) {
	if (load && !recorder::device_access().loaded)
		load_module();
	return std::make_unique<KernelBackend>();
}

bool kernel_available() {
	return ::access(DFR_DEVICE, R_OK | W_OK) == 0;
}

EngineChoice parse_engine(const std::string& text) {
	if (text == "process")
		return EngineChoice::Process;
	if (text == "kernel")
		return EngineChoice::Kernel;
	if (text == "auto")
		return EngineChoice::Automatic;
	throw Error("failed to set -x engine=" + text + ": Invalid value for specified option",
	            "the engines are kernel, process and auto", EINVAL);
}

} // namespace dfr::lib
