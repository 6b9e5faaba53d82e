// SPDX-License-Identifier: GPL-2.0
//
// The compiler on programs that nobody would write. The first input byte
// decides: raw text, or a walk through D's grammar in which each byte chooses
// what comes next, so that most inputs get past the parser. What compiles goes
// through the DOF and the disassembler and must come back to the same bytes.
#include <cstdint>
#include <cstdlib>

#include "formats/dif/assemble.h"
#include "formats/dif/disasm.h"
#include "formats/error.h"
#include "tests/unit/d_target.h"

namespace {

using namespace dfr;

class Grammar {
public:
	Grammar(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}

	std::string program() {
		std::string out;
		do {
			switch (pick(8)) {
			case 0: out += declaration(); break;
			case 1: out += "inline " + type() + " " + name() + " = " + expression(0) + ";\n"; break;
			case 2: out += "translator struct s < " + type() + " p > { a = " + expression(0) + "; };\n"; break;
			default: out += clause(); break;
			}
		} while (data_ < end_ && out.size() < 4096);
		return out;
	}

private:
	unsigned pick(unsigned count) { return data_ < end_ ? *data_++ % count : 0; }
	template <size_t N> std::string one(const char* const (&list)[N]) { return list[pick(N)]; }

	std::string name() { return one({"x", "y", "z", "v", "p", "q"}); }
	std::string type() {
		return one({"int", "char", "uint64_t", "string", "struct s", "struct s *", "char *", "void *", "unsigned short", "int8_t", "double", "enum e"});
	}
	std::string declaration() {
		switch (pick(5)) {
		case 0: return "struct s { int a; int b:3; char n[" + number() + "]; struct s *next; };\n";
		case 1: return "enum e { A" + number() + " = " + number() + ", B" + number() + " };\n";
		case 2: return one({"", "self ", "this "}) + type() + " " + name() + ";\n";
		case 3: return type() + " " + name() + "[" + type() + ", " + type() + "];\n";
		default: return "typedef " + type() + " t" + number() + ";\n";
		}
	}
	std::string number() { return one({"0", "1", "7", "-1", "8", "255", "65536", "4294967296", "0x7fffffffffffffff", "1.5"}); }

	std::string variable() {
		switch (pick(6)) {
		case 0: return "self->" + name();
		case 1: return "this->" + name();
		case 2: return name() + "[" + expression(3) + ", " + expression(3) + "]";
		case 3: return "v." + one({"a", "b", "n", "next"});
		case 4: return "*(" + type() + " *)" + name();
		default: return name();
		}
	}

	std::string expression(unsigned depth) {
		if (depth > 4)
			return number();
		switch (pick(16)) {
		case 0: return number();
		case 1: return "\"" + one({"", "a", "csh", "%d"}) + "\"";
		case 2: return one({"pid", "tid", "execname", "timestamp", "arg0", "arg1", "probefunc", "cpu", "errno", "curthread", "args[0]", "uregs[1]", "NULL"});
		case 3: case 4: return variable();
		case 5: return expression(depth + 1) + one({" + ", " - ", " * ", " / ", " % ", " << ", " >> ", " & ", " | ", " ^ "}) + expression(depth + 1);
		case 6: return expression(depth + 1) + one({" == ", " != ", " < ", " > ", " <= ", " >= ", " && ", " || ", " ^^ "}) + expression(depth + 1);
		case 7: return "(" + expression(depth + 1) + " ? " + expression(depth + 1) + " : " + expression(depth + 1) + ")";
		case 8: return one({"!", "~", "-", "*", "&", "++", "--"}) + expression(depth + 1);
		case 9: return "(" + type() + ")" + expression(depth + 1);
		case 10: return one({"strlen", "basename", "strtok", "copyinstr", "alloca", "strjoin", "substr", "rand", "json", "lltostr"}) + "(" + arguments(depth) + ")";
		case 11: return one({"stack", "ustack", "sym", "usym", "func"}) + "(" + (pick(2) ? expression(depth + 1) : std::string()) + ")";
		case 12: return "sizeof(" + (pick(2) ? type() : expression(depth + 1)) + ")";
		case 13: return "xlate <struct s>(" + expression(depth + 1) + ")." + one({"a", "b", "n"});
		case 14: return variable() + one({" = ", " += ", " <<= ", " /= "}) + expression(depth + 1);
		default: return "(" + expression(depth + 1) + ")" + one({"", "++", "->a", ".b", "[0]"});
		}
	}
	std::string arguments(unsigned depth) {
		std::string out;
		for (unsigned i = pick(4); i; i--)
			out += (out.empty() ? "" : ", ") + expression(depth + 1);
		return out;
	}

	std::string statement(unsigned depth) {
		switch (pick(10)) {
		case 0: return "@" + name() + "[" + arguments(0) + "] = " + one({"count", "sum", "quantize", "lquantize", "llquantize", "avg"}) + "(" + arguments(2) + ");";
		case 1: return "printf(\"" + one({"%d", "%s %d", "%-*s", "%x%%", "%k", "%Y", "%5.3f"}) + "\", " + expression(1) + ", " + expression(1) + ");";
		case 2: return one({"trace", "print", "exit", "speculate", "commit", "tracemem", "capture", "chill", "system"}) + "(" + arguments(0) + ");";
		case 3: return one({"printa", "clear", "trunc", "normalize"}) + "(@" + name() + (pick(2) ? ", " + expression(2) : std::string()) + ");";
		case 4:
			if (depth < 3)
				return "if (" + expression(1) + ") { " + statement(depth + 1) + " } else { " + statement(depth + 1) + " }";
			return ";";
		default: return variable() + " = " + expression(0) + ";";
		}
	}
	std::string clause() {
		std::string out = one({"BEGIN", "syscall::read:entry", "fbt::vfs_read:entry", "END, ERROR", "tick-1s", "a:b:c:d:e"});
		if (pick(2))
			out += " /" + expression(0) + "/";
		out += " { ";
		for (unsigned i = pick(5); i; i--)
			out += statement(0) + " ";
		return out + "}\n";
	}

	const uint8_t* data_;
	const uint8_t* end_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	if (!size || size > 8192)
		return 0;
	const std::string source = *data & 1 ? std::string(reinterpret_cast<const char*>(data + 1), size - 1) : Grammar(data + 1, size - 1).program();
	test::TestTarget target;
	target.symbols["jiffies"] = 0xffffffff81000000;
	target.arguments[6] = {{"struct s *", "", 0}, {"int", "", 1}};
	d::CompileOptions options;
	options.name = "fuzz.d";
	options.zdefs = true;
	d::Diagnostics diagnostics;
	d::Compiled compiled;
	try {
		compiled = d::compile(source, options, target, diagnostics);
	} catch (const Error&) {
		return 0; // what no program can be blamed for
	}
	diagnostics.render(true);
	if (diagnostics.failed()) {
		if (diagnostics.classic(true).empty())
			std::abort();
		return 0;
	}
	const auto bytes = dof::write(compiled.image);
	const dof::Image image = dof::read(bytes);
	dif::disassemble_listing(image);
	if (dof::write(dif::assemble(dif::disassemble_file(image))) != bytes)
		std::abort();
	return 0;
}
