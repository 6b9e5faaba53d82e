// SPDX-License-Identifier: GPL-2.0
//
// The disassembler. The layout is that of dtrace -S, byte for byte. For hostile DIF
// the text may make no sense, but it is bounded.
#include "formats/dif/disasm.h"

#include <cstdarg>
#include <cstdio>

#include "formats/dif/opcodes.h"
#include "formats/dif/subroutines.h"

namespace dfr::dif {
namespace {

__attribute__((format(printf, 1, 2))) std::string print(const char* format, ...) {
	char buffer[512];
	va_list arguments;
	va_start(arguments, format);
	std::vsnprintf(buffer, sizeof buffer, format, arguments);
	va_end(arguments);
	return buffer;
}

constexpr const char* kCtfKinds[] = {"unknown",  "integer",  "float", "pointer", "array",
                                     "function", "struct",   "union", "enum",    "forward",
                                     "typedef",  "volatile", "const", "restrict"};

std::string variable_comment(const Difo& difo, uint32_t id, uint8_t scope) {
	for (const dif_var& variable : difo.variables) {
		if (variable.id == id && variable.scope == scope)
			return print("\t\t! DT_VAR(%u) = \"", id) + escaped(difo.string_at(variable.name)) +
			       "\"";
	}
	return {};
}

uint8_t scope_of(unsigned op) {
	switch (op) {
	case DIF_OP_LDTA:
	case DIF_OP_LDTS:
	case DIF_OP_STTS:
	case DIF_OP_LDTAA:
	case DIF_OP_STTAA: return DIF_VS_THREAD;
	case DIF_OP_LDLS:
	case DIF_OP_STLS: return DIF_VS_LOCAL;
	default: return DIF_VS_GLOBAL;
	}
}

std::string comment(const Difo& difo, uint32_t word) {
	const unsigned op = DIF_OP(word);
	const OpcodeInfo* const info = find_opcode(op);
	if (!info)
		return {};
	switch (info->format) {
	case OpcodeFormat::LoadVariable:
	case OpcodeFormat::StoreVariable: return variable_comment(difo, DIF_WIDE(word), scope_of(op));
	case OpcodeFormat::LoadArray: return variable_comment(difo, DIF_R1(word), scope_of(op));
	case OpcodeFormat::SetInteger:
		return DIF_WIDE(word) < difo.integers.size()
		           ? print("\t\t! 0x%llx",
		                   static_cast<unsigned long long>(difo.integers[DIF_WIDE(word)]))
		           : "";
	case OpcodeFormat::SetString:
		return DIF_WIDE(word) < difo.strings.size()
		           ? "\t\t! \"" + escaped(difo.string_at(DIF_WIDE(word))) + "\""
		           : "";
	case OpcodeFormat::Call: {
		const std::string_view name = subroutine_name(DIF_WIDE(word));
		return name.empty() ? "" : "\t\t! " + std::string(name);
	}
	case OpcodeFormat::PushReference:
	case OpcodeFormat::PushValue:
		return print("\t! DT_TYPE(%u) = %s", DIF_R1(word),
		             DIF_R1(word) == DIF_KIND_STRING ? "string" : "D type");
	default: return {};
	}
}

} // namespace

std::string escaped(std::string_view text) {
	std::string out;
	for (const char c : text) {
		switch (c) {
		case '\n': out += "\\n"; break;
		case '\t': out += "\\t"; break;
		case '"': out += "\\\""; break;
		case '\\': out += "\\\\"; break;
		default:
			if (c < ' ' || c > '~')
				out += print("\\%03o", static_cast<unsigned char>(c));
			else
				out += c;
		}
	}
	return out;
}

std::string type_text(const dif_type& type) {
	std::string out = type.kind == DIF_KIND_CTF      ? "D type"
	                  : type.kind == DIF_KIND_STRING ? "string"
	                                                 : print("0x%x", type.kind);
	if (type.ckind < sizeof kCtfKinds / sizeof kCtfKinds[0])
		out += print(" (%s)", kCtfKinds[type.ckind]);
	else
		out += print(" (0x%x)", type.ckind);
	if (type.flags & DIF_TF_BYUREF)
		out += " by user ref";
	else if (type.flags & DIF_TF_BYREF)
		out += " by ref";
	return out + print(" (size %u)", type.size);
}

std::string instruction_text(uint32_t word) {
	const OpcodeInfo* const info = find_opcode(DIF_OP(word));
	if (!info)
		return "(illegal opcode)";
	const unsigned r1 = DIF_R1(word), r2 = DIF_R2(word), rd = DIF_RD(word), wide = DIF_WIDE(word);
	std::string out = info->format == OpcodeFormat::None ? info->name : print("%-4s ", info->name);
	switch (info->format) {
	case OpcodeFormat::None: return out;
	case OpcodeFormat::Three: return out + print("%%r%u, %%r%u, %%r%u", r1, r2, rd);
	case OpcodeFormat::Two: return out + print("%%r%u, %%r%u", r1, rd);
	case OpcodeFormat::Compare: return out + print("%%r%u, %%r%u", r1, r2);
	case OpcodeFormat::Test: return out + print("%%r%u", r1);
	case OpcodeFormat::Branch: return out + print("%u", DIF_LABEL(word));
	case OpcodeFormat::Load: return out + print("[%%r%u], %%r%u", r1, rd);
	case OpcodeFormat::Store: return out + print("%%r%u, [%%r%u]", r1, rd);
	case OpcodeFormat::Return: return out + print("%%r%u", rd);
	case OpcodeFormat::SetInteger: return out + print("DT_INTEGER[%u], %%r%u", wide, rd);
	case OpcodeFormat::SetString: return out + print("DT_STRING[%u], %%r%u", wide, rd);
	case OpcodeFormat::LoadVariable: return out + print("DT_VAR(%u), %%r%u", wide, rd);
	case OpcodeFormat::StoreVariable: return out + print("%%r%u, DT_VAR(%u)", rd, wide);
	case OpcodeFormat::LoadArray: return out + print("DT_VAR(%u), %%r%u, %%r%u", r1, r2, rd);
	case OpcodeFormat::Call: return out + print("DIF_SUBR(%u), %%r%u", wide, rd);
	case OpcodeFormat::PushReference: return out + print("DT_TYPE(%u), %%r%u, %%r%u", r1, r2, rd);
	case OpcodeFormat::PushValue: return out + print("DT_TYPE(%u), %%r%u", r1, rd);
	case OpcodeFormat::Translate: return out + print("DT_XLREF[%u], %%r%u", wide, rd);
	}
	return out;
}

std::string disassemble(const Difo& difo) {
	dif_type type = difo.rtype;
	type.flags &= DIF_TF_BYREF | DIF_TF_BYUREF;
	std::string out = "\nDIFO 0x" +
	                  print("%llx", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(&difo))) +
	                  " returns " + type_text(type) + "\n";
	out += print("%-3s %-8s    %s\n", "OFF", "OPCODE", "INSTRUCTION");
	for (size_t i = 0; i < difo.text.size(); i++)
		out += print("%02zu: %08x    ", i, difo.text[i]) + instruction_text(difo.text[i]) +
		       comment(difo, difo.text[i]) + "\n";
	if (!difo.variables.empty()) {
		out += print("\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
		for (const dif_var& one : difo.variables) {
			std::string flags;
			if (one.flags & ~(DIF_VF_REF | DIF_VF_MOD))
				flags = print("0x%x", one.flags & ~(DIF_VF_REF | DIF_VF_MOD));
			if (one.flags & DIF_VF_REF)
				flags += flags.empty() ? "r" : "/r";
			if (one.flags & DIF_VF_MOD)
				flags += flags.empty() ? "w" : "/w";
			const std::string name = escaped(difo.string_at(one.name));
			const std::string scope = one.scope == DIF_VS_GLOBAL   ? "glb"
			                          : one.scope == DIF_VS_THREAD ? "tls"
			                          : one.scope == DIF_VS_LOCAL  ? "loc"
			                                                       : print("%u", one.scope);
			const std::string kind = one.kind == DIF_VK_ARRAY    ? "arr"
			                         : one.kind == DIF_VK_SCALAR ? "scl"
			                                                     : print("%u", one.kind);
			out += print("%-16s %-4x %-3s %-3s %-4s ", name.c_str(), one.id, kind.c_str(),
			             scope.c_str(), flags.c_str()) +
			       type_text(one.type) + "\n";
		}
	}
	if (!difo.relocations.empty()) {
		out += print("\n%-4s %-8s %-8s %s\n", "KREL", "OFFSET", "DATA", "NAME");
		for (const Relocation& one : difo.relocations)
			out += print(
			    "%-4s %-8llx %-8llx %s\n", "SETX", static_cast<unsigned long long>(one.index) * 8,
			    static_cast<unsigned long long>(one.addend), escaped(one.symbol).c_str());
	}
	return out;
}

} // namespace dfr::dif
