// SPDX-License-Identifier: GPL-2.0
//
// D's types as a DIFO's return type says them: kind, size, by value or by
// reference. What code does with values is in codegen.cc.
#include "formats/d/codegen.h"

#include <algorithm>

namespace dfr::d {

using types::Kind;
using types::TypeRef;

dif_type void_result() {
	return {DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 0};
}
dif_type int_result(uint32_t size) {
	return {DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, size};
}

dif_type dif_type_of(TypeTable& types, TypeRef type, bool user) {
	dif_type out{};
	if (!type || types.is_void(type))
		return void_result();
	if (types.is_string(type)) {
		out.kind = DIF_KIND_STRING;
		out.ckind = DIF_CK_UNKNOWN;
		out.flags = DIF_TF_BYREF;
		out.size = types.string_size();
		return out;
	}
	const types::TypeInfo info = types.info(type);
	out.kind = DIF_KIND_CTF;
	out.ckind = static_cast<uint8_t>(info.kind);
	out.size = std::min<uint64_t>(types.size(type), UINT32_MAX); // larger than the loader takes anyway
	if (types.is_by_ref(type) || (info.kind == Kind::Float && out.size > 8))
		out.flags = user ? DIF_TF_BYUREF : DIF_TF_BYREF;
	if (info.kind == Kind::Function) {
		out.ckind = DIF_CK_POINTER;
		out.size = 8;
	}
	return out;
}

} // namespace dfr::d
