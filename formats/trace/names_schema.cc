// SPDX-License-Identifier: GPL-2.0
//
// AddressNames as the payload of a segment.
#include "dfr.capnp.h"
#include "formats/error.h"
#include "formats/trace/message.h"
#include "formats/trace/names.h"

namespace dfr::trace {
namespace {

void check(uint32_t number, size_t count, const char* what) {
	if (number >= count)
		throw Error("the names of addresses cannot be read: " + std::string(what) + " " +
		            std::to_string(number) + " of " + std::to_string(count));
}

void write_files(schema::Names::Builder root, const AddressNames& names) {
	auto files = root.initFiles(names.files.size());
	for (size_t i = 0; i < names.files.size(); i++) {
		files[i].setName(names.files[i].name);
		files[i].setBuildId(names.files[i].build_id);
	}
	auto symbols = root.initSymbols(names.symbols.size());
	for (size_t i = 0; i < names.symbols.size(); i++) {
		const AddressNames::FileSymbol& symbol = names.symbols[i];
		symbols[i].setFile(symbol.file);
		symbols[i].setName(symbol.name);
		symbols[i].setOffset(symbol.offset);
		symbols[i].setSize(symbol.size);
	}
	auto mappings = root.initMappings(names.mappings.size());
	for (size_t i = 0; i < names.mappings.size(); i++) {
		const AddressNames::MappedRange& mapping = names.mappings[i];
		mappings[i].setPid(mapping.pid);
		mappings[i].setFile(mapping.file);
		mappings[i].setStart(mapping.start);
		mappings[i].setEnd(mapping.end);
		mappings[i].setOffset(mapping.offset);
		mappings[i].setSince(mapping.since);
		mappings[i].setSeen(mapping.seen);
		mappings[i].setUntil(mapping.until);
	}
}

void write_kernel(schema::Names::Builder root, const AddressNames& names) {
	auto kernel = root.initKernel(names.kernel.size());
	for (size_t i = 0; i < names.kernel.size(); i++) {
		const AddressNames::KernelSymbol& symbol = names.kernel[i];
		kernel[i].setStart(symbol.start);
		kernel[i].setSize(symbol.size);
		kernel[i].setSince(symbol.since);
		kernel[i].setModule(symbol.module);
		kernel[i].setName(symbol.name);
	}
	auto modules = root.initModules(names.modules.size());
	for (size_t i = 0; i < names.modules.size(); i++) {
		const AddressNames::ModuleRange& module = names.modules[i];
		modules[i].setName(module.name);
		modules[i].setStart(module.start);
		modules[i].setSize(module.size);
		modules[i].setSince(module.since);
		modules[i].setUntil(module.until);
	}
}

// Checks every number, so that whoever has an AddressNames need not.
void read_files(schema::Names::Reader root, ListsInside& lists, AddressNames& into) {
	for (const auto file : lists.of(root.getFiles())) {
		check(file.getName(), into.texts.size(), "text");
		check(file.getBuildId(), into.texts.size(), "text");
		into.files.push_back({file.getName(), file.getBuildId()});
	}
	for (const auto symbol : lists.of(root.getSymbols())) {
		check(symbol.getFile(), into.files.size(), "file");
		check(symbol.getName(), into.texts.size(), "text");
		into.symbols.push_back(
		    {symbol.getFile(), symbol.getName(), symbol.getOffset(), symbol.getSize()});
	}
	for (const auto mapping : lists.of(root.getMappings())) {
		check(mapping.getFile(), into.files.size(), "file");
		into.mappings.push_back({mapping.getPid(), mapping.getFile(), mapping.getStart(),
		                         mapping.getEnd(), mapping.getOffset(), mapping.getSince(),
		                         mapping.getSeen(), mapping.getUntil()});
	}
}

void read_kernel(schema::Names::Reader root, ListsInside& lists, AddressNames& into) {
	for (const auto symbol : lists.of(root.getKernel())) {
		check(symbol.getModule(), into.texts.size(), "text");
		check(symbol.getName(), into.texts.size(), "text");
		into.kernel.push_back({symbol.getStart(), symbol.getSize(), symbol.getSince(),
		                       symbol.getModule(), symbol.getName()});
	}
	for (const auto module : lists.of(root.getModules())) {
		check(module.getName(), into.texts.size(), "text");
		into.modules.push_back({module.getName(), module.getStart(), module.getSize(),
		                        module.getSince(), module.getUntil()});
	}
}

} // namespace

std::vector<std::byte> encode_names(const AddressNames& names) {
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::Names>();
	auto texts = root.initTexts(names.texts.size());
	for (size_t i = 0; i < names.texts.size(); i++)
		texts.set(i, names.texts[i]);
	write_kernel(root, names);
	write_files(root, names);
	return flatten(message);
}

AddressNames decode_names(std::span<const std::byte> payload) {
	AddressNames names;
	with_root<schema::Names>(payload, "the names of addresses", [&](auto root, auto& lists) {
		for (const auto one : root.getTexts())
			names.texts.push_back(text(one));
		read_kernel(root, lists, names);
		read_files(root, lists, names);
	});
	return names;
}

} // namespace dfr::trace
