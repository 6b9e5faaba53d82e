// SPDX-License-Identifier: GPL-2.0
//
// Payloads as Cap'n Proto messages: for the sources that know dfr.capnp (schema.cc,
// names_schema.cc, recorded_types.cc) and nobody else, because its headers take long to compile.
// Reading is bounded: the traversal limit is a small multiple of the payload, what a list's
// elements take is in it (ListsInside), and nesting is limited to 8. Cap'n Proto's exceptions become dfr::Error.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <cstdint>
#include <cstring>
#include <kj/exception.h>
#include <span>
#include <string>
#include <vector>

#include "formats/error.h"

namespace dfr::trace {

inline std::vector<std::byte> flatten(capnp::MessageBuilder& message) {
	const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
	const auto bytes = words.asBytes();
	std::vector<std::byte> result(bytes.size());
	std::memcpy(result.data(), bytes.begin(), bytes.size());
	return result;
}

// The lists of structs in a message. An element that is shorter than dfr.capnp says is read as if zeros were behind it, and
// in memory it takes its whole room: a crafted list's elements have one byte each, or none. So what all elements would take
// by dfr.capnp must be in the message, or half of it, because those of an older dfr may be shorter.
class ListsInside {
public:
	explicit ListsInside(size_t message) : left_(2 * message) {}

	template <typename List> List of(List list) {
		using Element = typename capnp::ListElementType<capnp::FromReader<List>>::_capnpPrivate;
		const size_t words = Element::dataWordSize + Element::pointerCount;
		const size_t bytes = list.size() * words * sizeof(capnp::word);
		if (bytes > left_)
			throw Error("its lists have more elements than there is room for in it");
		left_ -= bytes;
		return list;
	}

private:
	size_t left_;
};

// Runs `use` on the root of a payload and on what reads its lists; `what` names it in the error.
template <typename Root, typename Use>
void with_root(std::span<const std::byte> payload, const char* what, const Use& use) {
	if (payload.size() < sizeof(capnp::word))
		throw Error(std::string(what) + " cannot be read: it is empty");
	const size_t count = payload.size() / sizeof(capnp::word);
	kj::Array<capnp::word> copy; // of what does not stand at a word's place
	if (reinterpret_cast<uintptr_t>(payload.data()) % alignof(capnp::word) != 0) {
		copy = kj::heapArray<capnp::word>(count);
		std::memcpy(copy.begin(), payload.data(), count * sizeof(capnp::word));
	}
	const kj::ArrayPtr<const capnp::word> words(
	    copy.size() != 0 ? copy.begin() : reinterpret_cast<const capnp::word*>(payload.data()), count);
	capnp::ReaderOptions options;
	// Everything is read once. An element that takes no bytes counts as a word.
	options.traversalLimitInWords = words.size() + 1024;
	options.nestingLimit = 8;
	try {
		capnp::FlatArrayMessageReader reader(words, options);
		ListsInside lists(payload.size());
		use(reader.getRoot<Root>(), lists);
	} catch (const kj::Exception& problem) {
		throw Error(std::string(what) + " cannot be read: " + problem.getDescription().cStr(),
		            "the recording is damaged there; its other parts are read");
	}
}

inline std::string text(capnp::Text::Reader reader) {
	return std::string(reader.cStr(), reader.size());
}

inline std::vector<std::byte> data(capnp::Data::Reader reader) {
	const auto* bytes = reinterpret_cast<const std::byte*>(reader.begin());
	return std::vector<std::byte>(bytes, bytes + reader.size());
}

inline capnp::Data::Reader data_of(std::span<const std::byte> bytes) {
	return capnp::Data::Reader(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size());
}

} // namespace dfr::trace
