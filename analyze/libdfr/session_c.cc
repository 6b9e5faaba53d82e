// SPDX-License-Identifier: GPL-2.0
//
// The C interface (include/dfr.h) over machine, program, consumer and renderer.
// No exception leaves it: each becomes the session's error text and -1.
#include "dfr.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "analyze/libdfr/consumer.h"
#include "analyze/libdfr/machine.h"
#include "analyze/libdfr/program.h"
#include "analyze/libdfr/style.h"
#include "formats/error.h"

using namespace dfr;

struct dfr_session {
	std::unique_ptr<lib::Machine> machine;
	std::vector<lib::ProgramPart> programs;
	std::vector<std::string> options;
	render::Style style;
	d::Compiled compiled;
	std::unique_ptr<render::Output> output;
	std::unique_ptr<lib::Consumer> consumer;
	std::string error;
	dfr_text_fn* on_text = nullptr;
	void* text_arg = nullptr;
	dfr_text_fn* on_message = nullptr;
	void* message_arg = nullptr;
	dfr_record_fn* on_record = nullptr;
	void* record_arg = nullptr;

	void deliver_text() {
		if (!on_text)
			return;
		const std::string text = output->take();
		if (!text.empty())
			on_text(text.data(), text.size(), text_arg);
	}
	void message(const std::string& text) const {
		if (on_message)
			on_message(text.data(), text.size(), message_arg);
		else
			std::fprintf(stderr, "dfr: %s\n", text.c_str());
	}
	void record(const trace::Event& event);
};

namespace {

std::string full_text(const Error& error) {
	return error.hint().empty() ? error.what() : std::string(error.what()) + "; " + error.hint();
}

// Runs `call`, which returns the value to give back.
template <typename Call> int guarded(dfr_session* session, Call call) {
	try {
		session->error.clear();
		return call();
	} catch (const Error& error) {
		session->error = full_text(error);
	} catch (const std::exception& error) {
		session->error = error.what();
	}
	return -1;
}

dfr_record_value value_of(const trace::Value& value) {
	return {static_cast<int64_t>(value.number), value.bytes.empty() ? nullptr : value.bytes.data(),
		value.bytes.size()};
}

dfr_record_value value_of(const render::Datum& datum) {
	return {static_cast<int64_t>(datum.number), datum.bytes.empty() ? nullptr : datum.bytes.data(),
		datum.bytes.size()};
}

lib::Engine engine_of(dfr_session_engine engine) {
	if (engine == DFR_SESSION_AUTO)
		return lib::kernel_available() ? lib::Engine::Kernel : lib::Engine::Process;
	return engine == DFR_SESSION_KERNEL ? lib::Engine::Kernel : lib::Engine::Process;
}

} // namespace

void dfr_session::record(const trace::Event& event) {
	static const trace::Probe kUnknown;
	const trace::Probe* probe = machine->session().catalog().probe_of(event.epid);
	if (!probe)
		probe = &kUnknown;
	std::vector<dfr_record_value> values;
	for (const trace::Value& value : event.fields)
		values.push_back(value_of(value));
	const dfr_record record{event.time, event.cpu, probe->id, event.context.pid, event.context.tid,
				event.context.execname.data(), event.context.execname.size(),
				probe->provider.c_str(), probe->module.c_str(), probe->function.c_str(),
				probe->name.c_str(), values.data(), values.size()};
	on_record(&record, record_arg);
}

extern "C" {

dfr_session* dfr_session_open(dfr_session_engine engine, char* error, size_t room) {
	try {
		auto session = std::make_unique<dfr_session>();
		session->machine = engine_of(engine) == lib::Engine::Kernel ? lib::open_kernel(::geteuid() == 0)
									    : lib::open_process(false);
		return session.release();
	} catch (const Error& failed) {
		if (room != 0)
			std::snprintf(error, room, "%s", full_text(failed).c_str());
	} catch (const std::exception& failed) {
		if (room != 0)
			std::snprintf(error, room, "%s", failed.what());
	}
	return nullptr;
}

void dfr_session_close(dfr_session* session) { delete session; }

const char* dfr_session_error(const dfr_session* session) { return session->error.c_str(); }

int dfr_session_option(dfr_session* session, const char* name, const char* value) {
	return guarded(session, [&] {
		bool known = false;
		const std::string why = render::Renderer::set_style(session->style, name, value ? value : "", known);
		if (!why.empty())
			throw Error(std::string("failed to set option ") + name + ": " + why);
		session->options.push_back(value ? std::string(name) + "=" + value : name);
		return 0;
	});
}

int dfr_session_program(dfr_session* session, const char* text) {
	return guarded(session, [&] {
		session->programs.push_back({d::Specifier::Name, false, "program", text, 0});
		return 0;
	});
}

int dfr_session_script(dfr_session* session, const char* path) {
	return guarded(session, [&] {
		session->programs.push_back(lib::read_script(path));
		return 0;
	});
}

void dfr_session_on_text(dfr_session* session, dfr_text_fn* fn, void* arg) {
	session->on_text = fn;
	session->text_arg = arg;
}

void dfr_session_on_message(dfr_session* session, dfr_text_fn* fn, void* arg) {
	session->on_message = fn;
	session->message_arg = arg;
}

void dfr_session_on_record(dfr_session* session, dfr_record_fn* fn, void* arg) {
	session->on_record = fn;
	session->record_arg = arg;
}

int dfr_session_compile(dfr_session* session) {
	return guarded(session, [&] {
		if (session->programs.empty())
			throw Error("no program was given", "add one with dfr_session_program()");
		d::CompileOptions options;
		options.options = session->options;
		options.session = lib::session_macros(0);
		d::Diagnostics diagnostics;
		session->compiled =
		    lib::compile_parts(session->programs, options, session->machine->target(), diagnostics);
		if (diagnostics.failed())
			throw Error(diagnostics.render(false));
		lib::apply_options(session->compiled, session->style);
		const auto dof = dof::write(session->compiled.image);
		return static_cast<int>(session->machine->session().enable(std::as_bytes(std::span(dof)), false));
	});
}

int dfr_session_go(dfr_session* session) {
	return guarded(session, [&] {
		session->output = std::make_unique<render::Output>(session->on_text ? -1 : STDOUT_FILENO);
		lib::Consumer::Hooks hooks;
		hooks.message = [session](const std::string& text) { session->message(text); };
		hooks.kernel_types = [session] { return session->machine->target().kernel_types(""); };
		if (session->on_record)
			hooks.event = [session](const trace::Event& event) { session->record(event); };
		session->consumer =
		    std::make_unique<lib::Consumer>(session->machine->session(), *session->output,
						    session->machine->symbols(), std::move(hooks));
		session->consumer->style() = session->style;
		session->consumer->report_faults();
		session->consumer->go();
		return 0;
	});
}

void dfr_session_sleep(dfr_session* session) {
	if (session->consumer)
		guarded(session, [&] {
			session->consumer->sleep();
			return 0;
		});
}

int dfr_session_work(dfr_session* session) {
	return guarded(session, [&] {
		if (!session->consumer)
			throw Error("the session does not run", "call dfr_session_go() first");
		const bool going = session->consumer->work();
		session->deliver_text();
		return going ? DFR_WORK_GOING : DFR_WORK_DONE;
	});
}

int dfr_session_stop(dfr_session* session) {
	return guarded(session, [&] {
		if (!session->consumer)
			throw Error("the session does not run", "call dfr_session_go() first");
		session->consumer->finish();
		session->deliver_text();
		return 0;
	});
}

int dfr_session_exit_status(const dfr_session* session) {
	return session->consumer ? session->consumer->exit_status().value_or(0) : 0;
}

uint64_t dfr_session_lost(const dfr_session* session) {
	return session->consumer ? session->consumer->lost() : 0;
}

int dfr_session_aggregations(dfr_session* session, const char* name, dfr_aggregation_fn* fn, void* arg) {
	return guarded(session, [&] {
		if (!session->consumer)
			throw Error("the session does not run", "call dfr_session_go() first");
		render::Aggregations& store = session->consumer->renderer().aggregations();
		for (const auto& [variable, about] : session->machine->session().catalog().aggregations) {
			const std::string own = store.name(variable);
			if (name && own != name)
				continue;
			for (const render::Row& row : store.rows({&variable, 1}, {})) {
				std::vector<dfr_record_value> keys;
				for (const render::Datum& key : row.keys)
					keys.push_back(value_of(key));
				const render::AggValue& value = row.values[0];
				const int64_t scalar = render::is_histogram(value.kind) ? 0 : render::scalar_of(value);
				const dfr_aggregation one{own.c_str(), variable, keys.data(), keys.size(), scalar,
							  value.words.data(), value.words.size()};
				if (const int stop = fn(&one, arg))
					return stop;
			}
		}
		return 0;
	});
}

} // extern "C"
