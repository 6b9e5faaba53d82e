// SPDX-License-Identifier: GPL-2.0
//
// The C interface (include/dfr.h) over Session. No exception leaves it: each
// becomes the session's error text and -1.
#include "dfr.h"

#include <cstdio>
#include <cstring>

#include "analyze/libdfr/session.h"
#include "analyze/libdfr/verdict.h"
#include "formats/error.h"
#include "formats/shown.h"

using namespace dfr;

struct dfr_session {
	explicit dfr_session(bool boot) : session(boot) {}

	lib::Session session;
	std::string error, hint, text; // text: what was handed out last
	std::vector<uint8_t> dof;
};

namespace {

// Runs `call`, which returns the value to give back.
template <typename Call> int guarded(dfr_session* session, Call call) {
	session->error.clear();
	session->hint.clear();
	session->session.clear_classic();
	try {
		return call(session->session);
	} catch (const Error& error) {
		session->error = error.what();
		session->hint = error.hint();
	} catch (const std::exception& error) {
		session->error = error.what();
	}
	return -1;
}

// The same for what returns text: empty if it fails.
template <typename Call> const char* text_of(dfr_session* session, Call call) {
	session->text.clear();
	guarded(session, [&](lib::Session& inner) {
		session->text = call(inner);
		return 0;
	});
	return session->text.c_str();
}

std::vector<std::string> strings(const char* const* list) {
	std::vector<std::string> out;
	for (; *list; list++)
		out.emplace_back(*list);
	return out;
}

dfr_record_value value_of(const trace::Value& value) {
	return {static_cast<int64_t>(value.number), value.bytes.empty() ? nullptr : value.bytes.data(),
	        value.bytes.size()};
}

dfr_record_value value_of(const render::Datum& datum) {
	return {static_cast<int64_t>(datum.number), datum.bytes.empty() ? nullptr : datum.bytes.data(),
	        datum.bytes.size()};
}

void hand_out(lib::Session& session, const trace::Record& record, dfr_record_fn* fn, void* arg) {
	static const trace::Probe kUnknown;
	const trace::Probe* probe = session.backend().session().catalog().probe_of(record.epid);
	if (!probe)
		probe = &kUnknown;
	std::vector<dfr_record_value> values;
	for (const trace::Value& value : record.fields)
		values.push_back(value_of(value));
	const dfr_record handed{record.time,
	                        record.cpu,
	                        probe->id,
	                        record.context.pid,
	                        record.context.tid,
	                        record.context.execname.data(),
	                        record.context.execname.size(),
	                        probe->provider.c_str(),
	                        probe->module.c_str(),
	                        probe->function.c_str(),
	                        probe->name.c_str(),
	                        values.data(),
	                        values.size()};
	fn(&handed, arg);
}

int hand_out(const lib::Session::Listed& listed, dfr_probe_fn* fn, void* arg) {
	std::vector<const char*> types;
	for (const d::ProbeArg& argument : listed.arguments)
		types.push_back(
		    (argument.translated.empty() ? argument.native : argument.translated).c_str());
	const d::ProbeInfo& probe = listed.probe;
	const dfr_listed_probe one{
	    probe.id,           probe.provider.c_str(),   probe.module.c_str(), probe.function.c_str(),
	    probe.name.c_str(), listed.stability.c_str(), types.data(),         types.size()};
	return fn(&one, arg);
}

lib::EngineChoice engine_of(dfr_session_engine engine) {
	switch (engine) {
	case DFR_SESSION_PROCESS: return lib::EngineChoice::Process;
	case DFR_SESSION_KERNEL: return lib::EngineChoice::Kernel;
	default: return lib::EngineChoice::Automatic;
	}
}

const char* name_of(dfr_specifier specifier) {
	switch (specifier) {
	case DFR_BY_FUNCTION: return "-f";
	case DFR_BY_MODULE: return "-m";
	case DFR_BY_PROVIDER: return "-P";
	case DFR_BY_ID: return "-i";
	default: return "-n";
	}
}

d::Specifier specifier_of(dfr_specifier specifier) {
	switch (specifier) {
	case DFR_BY_FUNCTION: return d::Specifier::Function;
	case DFR_BY_MODULE: return d::Specifier::Module;
	case DFR_BY_PROVIDER: return d::Specifier::Provider;
	case DFR_BY_ID: return d::Specifier::Id;
	default: return d::Specifier::Name;
	}
}

} // namespace

extern "C" {

dfr_session* dfr_session_open(dfr_session_engine engine) {
	try {
		auto session = std::make_unique<dfr_session>(engine == DFR_SESSION_BOOT);
		session->session.options().engine = engine_of(engine);
		session->session.listeners().trouble = [](const std::string& text) {
			std::fprintf(stderr, "dfr: %s\n", shown(text));
		};
		return session.release();
	} catch (const std::exception&) {
		return nullptr;
	}
}

void dfr_session_close(dfr_session* session) {
	delete session;
}

const char* dfr_session_error(const dfr_session* session) {
	return session->error.c_str();
}

const char* dfr_session_hint(const dfr_session* session) {
	return session->hint.c_str();
}

const char* dfr_session_classic(const dfr_session* session) {
	const std::string& classic = session->session.classic();
	return classic.empty() ? session->error.c_str() : classic.c_str();
}

// Not guarded: it goes with an error, which stays.
const char* dfr_session_diagnostics(dfr_session* session) {
	session->text = session->session.diagnostics();
	return session->text.c_str();
}

const char* dfr_session_tree(dfr_session* session) {
	return session->session.tree().c_str();
}

int dfr_session_option(dfr_session* session, const char* name, const char* value) {
	return guarded(session, [&](lib::Session& inner) {
		inner.options().set(name, value ? std::optional<std::string>(value) : std::nullopt);
		return 0;
	});
}

int dfr_session_environment(dfr_session* session) {
	return guarded(session, [](lib::Session& inner) {
		inner.options().take_environment();
		return 0;
	});
}

int dfr_session_is_set(const dfr_session* session, const char* name) {
	return session->session.options().is_set(name);
}

int dfr_session_program(dfr_session* session, dfr_specifier specifier, const char* text) {
	return guarded(session, [&](lib::Session& inner) {
		inner.add({specifier_of(specifier), false, name_of(specifier), text, 0});
		return 0;
	});
}

int dfr_session_script(dfr_session* session, const char* path) {
	return guarded(session, [&](lib::Session& inner) {
		inner.add(lib::read_script(path));
		return 0;
	});
}

int dfr_session_arguments(dfr_session* session, const char* const* arguments) {
	return guarded(session, [&](lib::Session& inner) {
		inner.set_arguments(strings(arguments));
		return 0;
	});
}

int dfr_session_command(dfr_session* session, const char* const* words) {
	return guarded(session, [&](lib::Session& inner) { return inner.start(strings(words)); });
}

int dfr_session_process(dfr_session* session, int pid) {
	return guarded(session, [&](lib::Session& inner) {
		inner.watch(pid);
		return pid;
	});
}

void dfr_session_output(dfr_session* session, int fd) {
	session->session.set_output(fd);
}

void dfr_session_on_text(dfr_session* session, dfr_text_fn* fn, void* arg) {
	session->session.listeners().text = nullptr;
	if (fn)
		session->session.listeners().text = [fn, arg](const std::string& text) {
			fn(text.data(), text.size(), arg);
		};
}

void dfr_session_on_message(dfr_session* session, dfr_message_fn* fn, void* arg) {
	lib::Session::Listeners& hooks = session->session.listeners();
	hooks.notice = hooks.trouble = nullptr;
	if (!fn)
		return;
	hooks.notice = [fn, arg](const std::string& text) { fn(DFR_MESSAGE_NOTICE, text.c_str(), arg); };
	hooks.trouble = [fn, arg](const std::string& text) { fn(DFR_MESSAGE_TROUBLE, text.c_str(), arg); };
}

void dfr_session_on_record(dfr_session* session, dfr_record_fn* fn, void* arg) {
	lib::Session* const inner = &session->session;
	inner->listeners().record = [inner, fn, arg](const trace::Record& record) {
		hand_out(*inner, record, fn, arg);
	};
}

int dfr_session_compile(dfr_session* session) {
	return guarded(session, [](lib::Session& inner) {
		inner.compile();
		return 0;
	});
}

const char* dfr_session_listing(dfr_session* session) {
	return text_of(session, [](lib::Session& inner) { return inner.listing(); });
}

const char* dfr_session_stability(dfr_session* session) {
	return text_of(session, [](lib::Session& inner) { return inner.stability(); });
}

const void* dfr_session_dof(dfr_session* session, size_t* size) {
	const int failed = guarded(session, [&](lib::Session& inner) {
		session->dof = inner.dof();
		return 0;
	});
	*size = failed ? 0 : session->dof.size();
	return failed ? nullptr : session->dof.data();
}

int dfr_session_list(dfr_session* session, int arguments, dfr_probe_fn* fn, void* arg) {
	return guarded(session, [&](lib::Session& inner) {
		return static_cast<int>(inner.list(arguments != 0, [&](const lib::Session::Listed& listed) {
			return hand_out(listed, fn, arg) == 0;
		}));
	});
}

int dfr_session_go(dfr_session* session) {
	return guarded(session, [](lib::Session& inner) {
		inner.go();
		return 0;
	});
}

void dfr_session_sleep(dfr_session* session) {
	dfr_session_sleep_with(session, nullptr);
}

void dfr_session_sleep_with(dfr_session* session, const sigset_t* mask) {
	guarded(session, [mask](lib::Session& inner) {
		inner.sleep(mask);
		return 0;
	});
}

int dfr_session_work(dfr_session* session) {
	return guarded(session,
	               [](lib::Session& inner) { return inner.work() ? DFR_WORK_GOING : DFR_WORK_DONE; });
}

int dfr_session_print(dfr_session* session, const char* text) {
	return guarded(session, [&](lib::Session& inner) {
		inner.print(text);
		return 0;
	});
}

int dfr_session_stop(dfr_session* session) {
	return guarded(session, [](lib::Session& inner) { return inner.stop() ? 0 : 1; });
}

int dfr_session_exit_status(const dfr_session* session) {
	const lib::Consumer* const consumer = session->session.started();
	return consumer ? consumer->exit_status().value_or(0) : 0;
}

uint64_t dfr_session_lost(const dfr_session* session) {
	const lib::Consumer* const consumer = session->session.started();
	return consumer ? consumer->lost() : 0;
}

const char* dfr_session_verdict(dfr_session* session, int json, int* complete) {
	return text_of(session, [&](lib::Session& inner) {
		inner.consumer(); // or an error
		*complete = inner.verdict().complete;
		return lib::verdict_text(inner.verdict(), inner.backend().session().catalog(), json != 0);
	});
}

int dfr_session_aggregations(dfr_session* session, const char* name, dfr_aggregation_fn* fn, void* arg) {
	return guarded(session, [&](lib::Session& inner) {
		render::Aggregations& store = inner.consumer().renderer().aggregations();
		for (const auto& [variable, about] : inner.backend().session().catalog().aggregations) {
			const std::string own = store.name(variable);
			if (name && own != name)
				continue;
			for (const render::AggRow& row : store.rows({&variable, 1}, {})) {
				std::vector<dfr_record_value> keys;
				for (const render::Datum& key : row.keys)
					keys.push_back(value_of(key));
				const render::AggValue& value = row.values[0];
				const int64_t scalar =
				    render::is_histogram(value.kind) ? 0 : render::scalar_of(value);
				const dfr_aggregation one{own.c_str(),       variable, keys.data(),
				                          keys.size(),       scalar,   value.words.data(),
				                          value.words.size()};
				if (const int stop = fn(&one, arg))
					return stop;
			}
		}
		return 0;
	});
}

} // extern "C"
