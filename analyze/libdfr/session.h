// SPDX-License-Identifier: GPL-2.0
//
// Session: what include/dfr.h promises, with exceptions: options and programs,
// compile, go, passes of work, stop. It chooses the engine, runs the processes
// that tracing goes along with, and keeps the verdict. The C interface
// (session_c.cc) is a shell around it; `dfr record` does without, since what it
// takes from the consumer are blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyze/libdfr/backend.h"
#include "analyze/libdfr/child.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/libdfr/front_options.h"
#include "analyze/libdfr/program.h"
#include "formats/error.h"

namespace dfr::lib {

class Session {
public:
	struct Listeners {
		std::function<void(const std::string&)> text; // null: to the descriptor
		std::function<void(const std::string&)> notice, trouble;
		std::function<void(const trace::Record&)> record;
	};
	struct Listed {
		const d::ProbeInfo& probe;
		std::string stability;
		std::vector<d::ProbeArg> arguments;
	};
	// boot: for the module of a boot; compiled and not run.
	explicit Session(bool boot) : boot_(boot) {}

	FrontOptions& options() { return options_; }
	const FrontOptions& options() const { return options_; }
	Listeners& listeners() { return listeners_; }
	void set_output(int fd) { fd_ = fd; }
	void add(ProgramPart part) { programs_.push_back(std::move(part)); }
	void set_arguments(std::vector<std::string> arguments);
	int start(const std::vector<std::string>& command);
	void watch(int pid);

	void compile();
	std::string listing() const;
	const std::string& tree() const { return compiled_.tree; }
	std::string stability() const;
	std::string diagnostics() const { return diagnostics_.render(options_.errtags); }
	// Visits the probes that the programs describe; how many descriptions match none.
	unsigned list(bool arguments, const std::function<bool(const Listed&)>& visit);
	std::vector<uint8_t> dof() const; // the compiled programs

	void go();
	void sleep(const sigset_t* mask) { consumer().sleep(mask); }
	bool work(); // false: it is over
	void print(const std::string& text);
	bool stop(); // false: the deadman ended it

	// dtrace(1)'s words for the error that was thrown last, if they are others than its own.
	const std::string& classic() const { return classic_; }
	void clear_classic() { classic_.clear(); }
	const trace::Verdict& verdict() const { return verdict_; }
	Backend& backend() { return *backend_; }
	Consumer& consumer(); // throws before go()
	const Consumer* started() const { return consumer_.get(); }

private:
	void notice(const std::string& text) const;
	d::CompileOptions compile_options(bool zdefs) const;
	bool compile_on(std::unique_ptr<Backend> machine, bool zdefs);
	bool compile_live(bool zdefs);
	void compile_programs(bool zdefs);
	void take_options();
	[[noreturn]] void refuse(d::Target& target, bool zdefs);
	void enable();
	void claim();
	void deliver();

	bool boot_;
	FrontOptions options_;
	Listeners listeners_;
	int fd_ = STDOUT_FILENO;
	std::vector<ProgramPart> programs_;
	std::vector<std::string> arguments_{"dfr"}; // $0 ...
	Children children_;
	uint32_t target_pid_ = 0;
	std::unique_ptr<Backend> backend_;
	d::Diagnostics diagnostics_;
	d::Compiled compiled_;
	std::string compiled_for_; // what it was compiled for, or would have been
	std::string no_kernel_;    // why the kernel's engine was not there, if it was wanted
	std::unique_ptr<render::Output> output_;
	std::unique_ptr<Consumer> consumer_;
	trace::Verdict verdict_{.complete = false}; // until stop() has judged
	std::string classic_;
};

} // namespace dfr::lib
