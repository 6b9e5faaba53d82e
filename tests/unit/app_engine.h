// SPDX-License-Identifier: GPL-2.0
//
// An engine in this process with the probes of a made-up application, whose firings its user makes up, too.
#pragma once

#include <cstring>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/engine_session.h"
#include "analyze/replay/recording_target.h"
#include "formats/dof/image.h"

namespace dfr::test {

// A live engine with the provider `app` as a compilation target.
class App final : public engine::EngineSession, public d::Target {
public:
	explicit App(unsigned cpus = 4) : EngineSession("app", cpus, false) {
		provider_ = add_provider("app", nullptr, nullptr);
		entry = add_probe(provider_, "m", "work", "entry", 3, nullptr);
		exit = add_probe(provider_, "m", "work", "return", 2, nullptr);
		probes_added();
	}
	dfr_probe* another(const char* name) {
		dfr_probe* const probe = add_probe(provider_, "m", "work", name, 3, nullptr);
		probes_added();
		return probe;
	}
	std::string description() const override { return "app"; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override {
		for (uint32_t id = 1; const dfr_probe* const probe = dfr_probe_by_id(engine(), id); id++) {
			trace::Probe known;
			known.id = id;
			known.provider = probe->pb_provider->pv_name;
			known.module = probe->pb_module;
			known.function = probe->pb_function;
			known.name = probe->pb_name;
			if (replay::RecordingTarget::matches(pattern, known) &&
			    !visit({id, known.provider, known.module, known.function, known.name,
			            probe->pb_nargs}))
				return;
		}
	}
	bool has_addresses() const override { return true; }
	bool has_kernel() const override { return true; }

	void fire(dfr_probe* probe, uint64_t time, unsigned cpu, uint32_t tid, const char* execname,
	          uint64_t arg0, uint64_t arg1) {
		dfr_env env{};
		env.ev_time = time;
		env.ev_task = env.ev_tid = tid;
		env.ev_pid = tid / 10;
		env.ev_nspid = tid % 3;
		env.ev_cgroup = (1ull << 40) + cpu + tid % 5;
		std::strncpy(env.ev_comm, execname, sizeof env.ev_comm - 1);
		const u64 arguments[3] = {arg0, arg1, 0};
		dfr_user_cpu = cpu;
		dfr_fire_env(probe, arguments, 3, nullptr, &env);
	}

	dfr_env own{}; // who is "current" for BEGIN and END
	dfr_probe* entry;
	dfr_probe* exit;

private:
	dfr_provider* provider_;
};

inline constexpr uint64_t kStart = 1'000'000'000'000;

inline void load(App& app, const dof::Image& image) {
	const auto dof = dof::write(image);
	app.enable(std::as_bytes(std::span(dof)), false);
	app.own.ev_time = kStart - 1000;
	dfr_user_env = &app.own;
	app.go();
}

// END comes after everything, on the same made-up clock.
inline void finish(App& app) {
	app.own.ev_time = kStart + 10'000'000'000;
	app.stop();
	dfr_user_env = nullptr;
}

} // namespace dfr::test
