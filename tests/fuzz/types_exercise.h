// SPDX-License-Identifier: GPL-2.0
//
// What the fuzzers of type containers share: a cursor that spends the input as
// decisions, and exercise(), which calls everything that can be called on a
// container. An Error is an answer; anything else that ends a run is a finding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/error.h"
#include "formats/types/types.h"

namespace dfr::fuzz {

class Cursor {
public:
	Cursor(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

	bool done() const { return data_ == end_; }
	std::uint32_t byte() { return done() ? 0 : *data_++; }
	std::uint32_t half() { return byte() | byte() << 8; }
	std::uint32_t word() { return half() | half() << 16; }
	// A small number mostly, any number now and then.
	std::uint32_t value() {
		const std::uint32_t first = byte();
		return first < 0xf0 ? first : word();
	}
	std::string name() { return std::string(1 + byte() % 20, static_cast<char>('a' + byte() % 4)); }
	const std::uint8_t* rest() const { return data_; }
	std::size_t left() const { return static_cast<std::size_t>(end_ - data_); }

private:
	const std::uint8_t* data_;
	const std::uint8_t* end_;
};

// A copy without room at its end, where reading too far would go unseen.
template <typename Bytes> Bytes exact(const Bytes& bytes) {
	return Bytes(bytes.begin(), bytes.end());
}

// Whether the call had an answer.
template <typename Call> bool tolerate(Call call) {
	try {
		call();
	} catch (const dfr::Error& error) {
		// A message that says nothing is a fault too.
		if (*error.what() == '\0')
			std::abort();
		return false;
	}
	return true;
}

inline constexpr std::uint32_t kMostElements = 64;

inline void exercise_elements(const types::Container& container, types::TypeId id,
                              const types::TypeInfo& info) {
	using types::Kind;
	const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(info.count, kMostElements));
	for (std::uint32_t i = 0; i < count; i++) {
		if (info.kind == Kind::Struct || info.kind == Kind::Union)
			tolerate([&] { types::declare(container.member(id, i).type, "m"); });
		else if (info.kind == Kind::Function)
			tolerate([&] { types::size_of(container.parameter(id, i).type); });
		else if (info.kind == Kind::Enum)
			tolerate([&] { container.find_enumerator(container.enumerator(id, i).name); });
	}
	// What it has not, once in a while: exceptions are slow.
	if (id % 16 == 1) {
		tolerate([&] { container.member(id, count); });
		tolerate([&] { container.parameter(id, count); });
		tolerate([&] { container.enumerator(id, count); });
	}
}

// What begins by resolving the type, and would say the same where that cannot be done: exceptions are slow.
inline void exercise_resolved(types::TypeRef type, types::TypeRef other) {
	if (!tolerate([&] { types::resolve(type); }))
		return;
	tolerate([&] { types::size_of(type); });
	tolerate([&] { types::align_of(type); });
	tolerate([&] { types::find_member(type, "aa"); });
	tolerate([&] { types::find_enumerator(type, std::int64_t(1)); });
	tolerate([&] { types::equivalent(type, other); });
}

inline void exercise(const types::Container& container, types::TypeId first, types::TypeId end) {
	using types::NameSpace;
	types::TypeRef last;
	for (types::TypeId id = first; id - first < std::min<types::TypeId>(end - first, 100); id++) {
		const types::TypeRef type{&container, id};
		types::TypeInfo info;
		tolerate([&] { info = container.info(id); });
		tolerate([&] { types::to_c(type); });
		exercise_resolved(type, last);
		exercise_elements(container, id, info);
		for (const NameSpace space :
		     {NameSpace::Ordinary, NameSpace::Struct, NameSpace::Union, NameSpace::Enum})
			tolerate([&] { container.find(space, info.name); });
		tolerate([&] { container.find_function(info.name); });
		tolerate([&] { container.find_variable(info.name); });
		if (id % 7 == 0)
			last = type;
	}
}

} // namespace dfr::fuzz
