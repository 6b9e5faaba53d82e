// SPDX-License-Identifier: GPL-2.0
//
// From probes and programs to types.
#include "recorder/type_collector.h"

#include <algorithm>
#include <map>

#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/types/btf_writer.h"

namespace dfr::recorder {
namespace {

// A kernel's structs, all of them that a task or a file leads to, are 350 KB.
constexpr size_t kTypesMost = 1 << 20, kTextsMost = 1 << 20;
constexpr unsigned kFollowed = 1;     // pointers, where it is known what the program relies on
constexpr unsigned kFollowedAll = 20; // where it is not

constexpr std::string_view kVmlinux = "vmlinux";

bool is_qualifier(std::string_view word) {
	return word == "const" || word == "volatile" || word == "restrict";
}

std::string_view take_word(std::string_view& text) {
	text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
	const std::string_view word = text.substr(0, text.find_first_of(" *[("));
	text.remove_prefix(word.size());
	return word;
}

} // namespace

void TypeCollector::relies_on(const std::vector<types::TypeRef>& types) {
	compiled_here_ = true;
	for (const types::TypeRef type : types)
		add_root(type);
}

void TypeCollector::add_root(types::TypeRef type) {
	roots_.push_back(type);
	news_ = true;
}

// What a type's text names, before its `*`: "const struct file *", "size_t".
types::TypeRef TypeCollector::named(std::string_view type, std::string_view module) {
	std::string_view rest = type, word = take_word(rest);
	while (is_qualifier(word))
		word = take_word(rest);
	types::NameSpace space = types::NameSpace::Ordinary;
	if (word == "struct" || word == "union" || word == "enum") {
		space = word == "struct"  ? types::NameSpace::Struct
		        : word == "union" ? types::NameSpace::Union
		                          : types::NameSpace::Enum;
		word = take_word(rest);
	}
	if (word.empty() || !known_
	                         .insert(std::string(module) + "`" + std::to_string(static_cast<int>(space)) +
	                                 std::string(word))
	                         .second)
		return {};
	// A module's own comes first: another one's of the same name may be another type.
	for (const std::string_view where : {module, kVmlinux}) {
		const types::Container* const container =
		    where.empty() ? nullptr : machine_.kernel_types(where);
		const types::TypeRef found = container ? container->find(space, word) : types::TypeRef{};
		if (found && types::info(found).kind != types::Kind::Forward)
			return found;
	}
	return {};
}

void TypeCollector::look_at(const trace::Probe& probe) {
	const std::string text = probe.text();
	if (collected_.probes.contains(text))
		return;
	if (texts_ > kTextsMost) {
		collected_.left_out++;
		return;
	}
	const d::ProbeInfo info{.id = probe.id,
	                        .provider = probe.provider,
	                        .module = probe.module,
	                        .function = probe.function,
	                        .name = probe.name,
	                        .nargs = probe.nargs};
	trace::RecordedTypes::ProbeArguments& known = collected_.probes[text];
	news_ = true;
	texts_ += text.size();
	for (const d::ProbeArg& arg : machine_.args(info)) {
		known.args.push_back({arg.native, arg.translated, arg.name, arg.mapping, arg.user});
		texts_ += arg.native.size() + arg.translated.size() + arg.name.size();
		if (const types::TypeRef type = named(arg.native, probe.module))
			add_root(type);
	}
	if (known.args.empty())
		known.why_untyped = machine_.why_untyped(info);
	if (known.args.empty() && known.why_untyped.empty())
		collected_.probes.erase(text);
}

// Of a program that was compiled elsewhere: whether it relies on the kernel's types; its `curthread` may be one.
void TypeCollector::read_programs(const trace::Catalog& catalog) {
	for (; dofs_ < catalog.dofs.size(); dofs_++) {
		if (compiled_here_ || all_)
			continue;
		try {
			const dof::Image image = dof::read(catalog.dofs[dofs_]);
			all_ = std::ranges::any_of(image.ecbs, [](const dof::EcbDesc& ecb) {
				return ecb.uarg & DFR_ECBUARG_KERNEL_TYPES;
			});
		} catch (const Error&) {
			// Damaged: as if it had no clauses.
		}
		if (const types::TypeRef task =
		        all_ ? named("struct task_struct", kVmlinux) : types::TypeRef{})
			add_root(task);
	}
}

void TypeCollector::look(const trace::Catalog& catalog, size_t most) {
	if (!machine_.kernel_types(kVmlinux))
		return;
	read_programs(catalog);
	for (; most && ecbs_ < catalog.ecbs.size(); most--) {
		const auto probe = catalog.probes.find(catalog.ecbs[ecbs_++].probe);
		if (probe != catalog.probes.end())
			look_at(probe->second);
	}
	behind_ = ecbs_ < catalog.ecbs.size();
}

std::optional<trace::RecordedTypes> TypeCollector::fresh() {
	const types::Container* const kernel = machine_.kernel_types(kVmlinux);
	if (!kernel || behind_ || !news_)
		return std::nullopt;
	news_ = false;
	std::map<std::string, std::vector<types::TypeRef>, std::less<>> by_container;
	by_container[std::string(kVmlinux)] = {}; // it is there, whatever is in it
	for (const types::TypeRef root : roots_)
		by_container[std::string(root.container->name())].push_back(root);
	trace::RecordedTypes types = collected_;
	types.digest = kernel->digest();
	size_t room = kTypesMost;
	for (const auto& [name, roots] : by_container) {
		const types::WrittenBtf written =
		    types::write_btf(roots, all_ ? kFollowedAll : kFollowed, room);
		room -= std::min(room, written.bytes.size());
		types.left_out += written.left_out;
		const auto bytes = std::as_bytes(std::span(written.bytes));
		types.btf[name] = {bytes.begin(), bytes.end()};
	}
	return types;
}

} // namespace dfr::recorder
