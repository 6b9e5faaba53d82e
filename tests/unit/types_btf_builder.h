// SPDX-License-Identifier: GPL-2.0
//
// BtfBuilder: BTF written byte by byte, for tests and fuzzers. Not a general
// writer: it checks nothing, so that wrong input can be built too. TypeBuilder
// is what types_ctf_builder.h shares with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/types/blob.h"

namespace dfr::test {

using RawBytes = std::vector<std::uint8_t>;

inline void put(RawBytes& out, std::uint64_t value, unsigned bytes) {
	for (unsigned i = 0; i < bytes; i++)
		out.push_back(static_cast<std::uint8_t>(value >> i * 8));
}

inline void put32(RawBytes& out, std::uint32_t value) {
	put(out, value, 4);
}

// What BTF and CTF have in common: strings by offset, types as words.
class TypeBuilder {
public:
	explicit TypeBuilder(std::uint32_t first_string = 0) : first_string_(first_string) {
		if (first_string == 0)
			strings.push_back(0);
	}

	std::uint32_t string(std::string_view text) {
		if (text.empty())
			return 0;
		const auto at = string_end();
		strings.insert(strings.end(), text.begin(), text.end());
		strings.push_back(0);
		return at;
	}
	std::uint32_t string_end() const {
		return first_string_ + static_cast<std::uint32_t>(strings.size());
	}

	void words(std::initializer_list<std::uint32_t> values) {
		for (const std::uint32_t value : values)
			put32(types, value);
	}

	RawBytes types;
	RawBytes strings;

private:
	std::uint32_t first_string_;
};

class BtfBuilder : public TypeBuilder {
public:
	// Split BTF: ids and string offsets continue those of the base.
	explicit BtfBuilder(std::uint32_t first_id = 1, std::uint32_t first_string = 0)
	    : TypeBuilder(first_string), next_id_(first_id) {}

	// A type's header; the caller adds the words that follow it.
	std::uint32_t type(std::string_view name, unsigned kind, std::uint32_t vlen, std::uint32_t value,
	                   bool flag = false) {
		return type_at(string(name), kind, vlen, value, flag);
	}

	std::uint32_t type_at(std::uint32_t name, unsigned kind, std::uint32_t vlen, std::uint32_t value,
	                      bool flag = false) {
		put32(types, name);
		put32(types, (flag ? 1U << 31 : 0) | kind << 24 | vlen);
		put32(types, value);
		return next_id_++;
	}

	std::uint32_t integer(std::string_view name, std::uint32_t bytes, std::uint32_t encoding) {
		const auto id = type(name, 1, 0, bytes);
		words({encoding << 24 | bytes * 8});
		return id;
	}

	std::uint32_t pointer(std::uint32_t target) { return type("", 2, 0, target); }

	RawBytes bytes() const {
		RawBytes out;
		put(out, 0xeb9f, 2);
		put(out, 1, 1);
		put(out, 0, 1);
		put32(out, 24);
		put32(out, 0);
		put32(out, static_cast<std::uint32_t>(types.size()));
		put32(out, static_cast<std::uint32_t>(types.size()));
		put32(out, static_cast<std::uint32_t>(strings.size()));
		out.insert(out.end(), types.begin(), types.end());
		out.insert(out.end(), strings.begin(), strings.end());
		return out;
	}

	dfr::types::Blob blob() const { return dfr::types::Blob::from_bytes(bytes()); }
	std::uint32_t next_id() const { return next_id_; }

private:
	std::uint32_t next_id_;
};

} // namespace dfr::test
