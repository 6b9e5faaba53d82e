// SPDX-License-Identifier: GPL-2.0
//
// The compiler on programs that nobody would write. The first byte chooses: raw
// text; a walk through D's grammar (d_grammar.h); the same with a few characters
// damaged; or the texts that others hand in: DOF images, disassembly, types, attributes of C. What
// compiles goes through the DOF and the disassembler and must come back to the
// same bytes; what does not must say why. (preprocess.cc runs cpp: not here.)
//
// Targets: formats/d/[!p]*.cc formats/d/parse*.cc formats/d/pragma.cc
// Targets: formats/dif/*.cc formats/dof/*.cc
#include "formats/d/c_words.h"
#include "formats/d/canon.h"
#include "formats/d/compile.h"
#include "formats/d/type_text.h"
#include "formats/dof/text.h"
#include "formats/error.h"
#include "tests/fuzz/d_grammar.h"
#include "tests/fuzz/statistics.h"
#include "tests/unit/d_target.h"

namespace {

using namespace dfr;
using fuzz::Decisions;

fuzz::Statistics statistics{"programs that compile"};

// A kernel with a few types and symbols, or a recording that holds a few inputs.
class FuzzTarget : public test::TestTarget {
public:
	explicit FuzzTarget(uint8_t choice) : replay_(choice % 4 == 1) {
		arguments[6] = {
		    {"struct s *", "", 0}, {"int", "", 1}, {"struct task_struct *", "struct s *", 1}};
		symbols["jiffies"] = 0xffffffff81000000;
		symbols["do_it"] = 0xffffffff81000100;
		addresses = choice & 8;
		const types::TypeRef number = kernel.integer("int", {});
		const types::TypeRef task = kernel.forward(types::Kind::Struct, "task_struct");
		const types::MemberSpec members[] = {
		    {"pid", number}, {"flags", number, 3}, {"parent", kernel.pointer(task)}};
		kernel.define(task, members);
		const types::Enumerator states[] = {{"RUNNING", 0}, {"DEAD", 16}};
		kernel.define_enum(kernel.forward(types::Kind::Enum, "state"), states);
		kernel.typedef_name("pid_type", number);
		kernel.name_variable("jiffies", number);
		kernel.name_function("do_it", kernel.function(number, {}, false));
	}
	const std::vector<d::CapturedInput>* captured(const d::ProbeInfo&) override {
		return replay_ ? &inputs_ : nullptr;
	}
	bool is_replay() const override { return replay_; }
	bool taken_out(const std::string& canon) const override { return canon == "arg2" || canon == "tid"; }
	bool has_kernel() const override { return !replay_; }

private:
	bool replay_;
	std::vector<d::CapturedInput> inputs_ = {{"arg0"},           {"(+ arg0 8)"}, {"(copyinstr arg1)"},
	                                         {"(load s4 arg0)"}, {"(stack)"},    {"(ref 16 arg0)"}};
};

d::CompileOptions options_for(Decisions& in) {
	const uint8_t choice = in.byte(), more = in.byte();
	d::CompileOptions options;
	options.name = "fuzz.d";
	options.zdefs = !(choice & 1);
	options.arg_ref = !(choice & 2);
	options.default_args = choice & 4;
	options.empty_ok = choice & 8;
	options.braces_optional = choice & 16;
	options.line_table = !(choice & 32);
	if (options.braces_optional)
		options.specifier = static_cast<d::Specifier>(more % 5);
	options.program = "fuzz";
	if (!(more & 32))
		options.arguments = {"7", "abc", "\"a b\""};
	options.session = {{"pid", "12"}, {"target", "13"}, {"uid", "0"}};
	if (more & 64)
		options.options = {fuzz::DGrammar(in).text("opt"), fuzz::DGrammar(in).text("opt")};
	return options;
}

template <typename Work> void tolerate(const Work& work) {
	try {
		work();
	} catch (const Error& error) {
		if (!*error.what())
			std::abort();
	}
}

void damage_text(Decisions& in, std::string& text) {
	for (unsigned left = 1 + in.byte() % 3; left && !text.empty(); left--) {
		const size_t at = in.half() % text.size(), length = in.byte() % 8;
		switch (in.byte() % 4) {
		case 0: text.erase(at, length); break;
		case 1: text.insert(at, text.substr(in.half() % text.size(), length)); break;
		case 2: text[at] = static_cast<char>(in.byte()); break;
		default: text.resize(at);
		}
	}
}

// A DOF comes out of recordings, too: whatever is in it, reading says no or gives an image.
void read_dof(const std::vector<uint8_t>& bytes) {
	tolerate([&] {
		const dof::Image image = dof::read(bytes);
		dof::disassemble_listing(image);
		tolerate([&] { dof::assemble(dof::disassemble_file(image)); });
	});
}

void damage_dof(Decisions& in, std::vector<uint8_t> bytes) {
	for (unsigned left = 1 + in.byte() % 4; left; left--)
		bytes[in.half() % bytes.size()] ^= static_cast<uint8_t>(1 + in.byte() % 255);
	if (in.byte() % 8 == 0)
		bytes.resize(in.half() % (bytes.size() + 1));
	read_dof(bytes);
}

void use_image(Decisions& in, const dof::Image& compiled) {
	const auto bytes = dof::write(compiled);
	const dof::Image image = dof::read(bytes);
	dof::disassemble_listing(image);
	std::string listing = dof::disassemble_file(image);
	if (dof::write(dof::assemble(listing)) != bytes)
		std::abort();
	for (const dof::Body& body : image.bodies) {
		for (const dof::Action& action : body.actions) {
			types::ProgramTypes types;
			// What print() shows comes with a description of the type.
			if (action.kind != DFR_ACT_DIFEXPR || !action.format)
				continue;
			std::string text = action.type;
			d::write_type_text(d::read_type_text(text, types));
			damage_text(in, text);
			tolerate([&] { d::write_type_text(d::read_type_text(text, types)); });
		}
	}
	const uint8_t choice = in.byte();
	if (choice % 4 == 1)
		damage_dof(in, bytes);
	if (choice % 4 == 2) {
		damage_text(in, listing);
		tolerate([&] { dof::assemble(listing); });
	}
}

// Diagnostics must have a text in every style.
void require_reasons(const d::Diagnostics& diagnostics, bool tags) {
	if (diagnostics.render(tags).empty() || diagnostics.classic(tags).empty())
		std::abort();
}

void compile(Decisions& in, const std::string& source) {
	const uint8_t choice = in.byte();
	FuzzTarget machine(choice);
	const d::CompileOptions options = options_for(in);
	d::Diagnostics diagnostics;
	d::Compiled compiled;
	try {
		if (choice % 4 == 2)
			compiled = d::derive(source, options, machine, diagnostics).program;
		else
			compiled = d::compile(source, options, machine, diagnostics);
	} catch (const Error&) {
		return; // what no program can be blamed for
	}
	statistics.count(!diagnostics.failed());
	diagnostics.render(true);
	if (diagnostics.failed())
		require_reasons(diagnostics, choice & 16);
	else
		use_image(in, compiled.image);
}

std::string text_of(const Decisions& in) {
	Decisions copy = in;
	const auto rest = copy.rest();
	return {reinterpret_cast<const char*>(rest.data()), rest.size()};
}

void read_text(Decisions& in) {
	const uint8_t choice = in.byte();
	const std::string text = text_of(in);
	if (choice >= 0xf0) {
		// Words of GNU C, which only text that cpp has made has; canonical expressions.
		d::find_c_word(text);
		d::CAttributes attributes;
		d::read_attribute(text, attributes);
		d::readable(text);
		for (const std::string& field : d::probe_fields(text))
			d::ProbePattern{.provider = field}.text();
		return;
	}
	if (choice % 3 == 0) {
		types::ProgramTypes types;
		tolerate([&] { d::write_type_text(d::read_type_text(text, types)); });
	} else if (choice % 3 == 1) {
		tolerate([&] { dof::assemble(text); });
	} else {
		read_dof({text.begin(), text.end()});
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	if (!size || size > 8192)
		return 0;
	Decisions in(data, size);
	const uint8_t choice = in.byte() % 16;
	if (choice == 1) {
		read_text(in);
		return 0;
	}
	// The decisions about the program come last: as long as the input lasts.
	Decisions about(data + size - size / 4, size / 4);
	if (choice == 2) {
		compile(about, text_of(in));
		return 0;
	}
	std::string source = fuzz::DGrammar(in).program();
	if (choice < 5)
		damage_text(about, source);
	compile(about, source);
	return 0;
}
