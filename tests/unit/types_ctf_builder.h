// SPDX-License-Identifier: GPL-2.0
//
// CtfBuilder: CTF version 3 written byte by byte, for tests and fuzzers. It
// checks nothing, so that wrong input can be built too.
#pragma once

#include <string_view>

#include "tests/unit/types_btf_builder.h"

namespace dfr::test {

class CtfBuilder : public TypeBuilder {
public:
	// A type's three words; the caller adds those that follow.
	std::uint32_t type(std::string_view name, unsigned kind, std::uint32_t vlen, std::uint32_t value,
	                   bool visible = true) {
		put32(types, string(name));
		put32(types, kind << 26 | (visible ? 1U << 25 : 0) | vlen);
		put32(types, value);
		return next_id_++ | (parent.empty() ? 0 : 1U << 31);
	}

	std::uint32_t integer(std::string_view name, std::uint32_t bytes, std::uint32_t encoding) {
		const auto id = type(name, 1, 0, bytes);
		words({encoding << 24 | bytes * 8});
		return id;
	}

	RawBytes body() const {
		RawBytes out;
		for (const RawBytes* part :
		     {&objects, &functions, &object_names, &function_names, &variables, &types, &strings})
			out.insert(out.end(), part->begin(), part->end());
		return out;
	}

	// `packed` replaces the body, for compressed dictionaries.
	RawBytes bytes(const RawBytes* packed = nullptr) {
		const std::uint32_t parent_name = string(parent);
		RawBytes out;
		put(out, 0xdff2, 2);
		put(out, 4, 1);
		put(out, flags, 1);
		put32(out, 0);
		put32(out, parent_name);
		put32(out, 0);
		put32(out, 0); // labels
		std::uint32_t at = 0;
		for (const RawBytes* part :
		     {&objects, &functions, &object_names, &function_names, &variables, &types}) {
			put32(out, at);
			at += static_cast<std::uint32_t>(part->size());
		}
		put32(out, at);
		put32(out, static_cast<std::uint32_t>(strings.size()));
		const RawBytes rest = packed ? *packed : body();
		out.insert(out.end(), rest.begin(), rest.end());
		return out;
	}

	dfr::types::Blob blob() { return dfr::types::Blob::from_bytes(bytes()); }

	std::uint32_t flags = 2;
	std::string parent;
	RawBytes objects, functions, object_names, function_names, variables;

private:
	std::uint32_t next_id_ = 1;
};

} // namespace dfr::test
