// SPDX-License-Identifier: GPL-2.0
//
// RecordedTypes as the payload of a segment.
#include "formats/trace/recorded_types.h"

#include "dfr.capnp.h"
#include "formats/trace/message.h"

namespace dfr::trace {
namespace {

void write_args(capnp::List<schema::Types::Argument>::Builder into,
                const std::vector<RecordedTypes::TypedArgument>& args) {
	for (size_t i = 0; i < args.size(); i++) {
		into[i].setNative(args[i].native);
		into[i].setTranslated(args[i].translated);
		into[i].setName(args[i].name);
		into[i].setMapping(args[i].mapping);
		into[i].setUser(args[i].user);
	}
}

} // namespace

std::vector<std::byte> encode_types(const RecordedTypes& types) {
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::Types>();
	root.setDigest(types.digest);
	root.setLeftOut(types.left_out);
	auto containers = root.initContainers(types.btf.size());
	size_t next = 0;
	for (const auto& [name, btf] : types.btf) {
		containers[next].setName(name);
		containers[next++].setBtf(data_of(btf));
	}
	auto probes = root.initProbes(types.probes.size());
	next = 0;
	for (const auto& [name, probe] : types.probes) {
		probes[next].setName(name);
		probes[next].setWhyUntyped(probe.why_untyped);
		write_args(probes[next++].initArgs(probe.args.size()), probe.args);
	}
	return flatten(message);
}

RecordedTypes decode_types(std::span<const std::byte> payload) {
	RecordedTypes types;
	with_root<schema::Types>(payload, "the kernel's types", [&](auto root, auto& lists) {
		types.digest = root.getDigest();
		types.left_out = root.getLeftOut();
		for (const auto container : lists.of(root.getContainers()))
			types.btf[text(container.getName())] = data(container.getBtf());
		for (const auto probe : lists.of(root.getProbes())) {
			RecordedTypes::ProbeArguments& into = types.probes[text(probe.getName())];
			into = {.why_untyped = text(probe.getWhyUntyped())};
			for (const auto arg : lists.of(probe.getArgs()))
				into.args.push_back({.native = text(arg.getNative()),
				                     .translated = text(arg.getTranslated()),
				                     .name = text(arg.getName()),
				                     .mapping = arg.getMapping(),
				                     .user = arg.getUser()});
		}
	});
	return types;
}

} // namespace dfr::trace
