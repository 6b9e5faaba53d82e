// SPDX-License-Identifier: GPL-2.0
//
// KernelTypes: every type container of one kernel: vmlinux and its modules'
// BTF, each opened when it is first needed. What `struct mod`name` and
// unscoped kernel names are looked up in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/types/btf.h"
#include "formats/types/types.h"

namespace dfr::types {

class KernelTypes {
public:
	// A directory as /sys/kernel/btf: one raw file per container, "vmlinux"
	// among them.
	static std::unique_ptr<KernelTypes> from_directory(const std::string& directory);
	// A vmlinux, a vmlinuz or raw BTF of a kernel that may not be running.
	static std::unique_ptr<KernelTypes> from_image(std::string path);

	// Of BTF that stands alone, by container; `origin` is for messages.
	static std::unique_ptr<KernelTypes>
	from_bytes(const std::map<std::string, std::vector<std::byte>>& btf, const std::string& origin);

	// Adds a module that from_image cannot know: BTF raw or in its ELF file,
	// which may be compressed.
	void add_module(const std::string& name, std::string path);
	// Adds every module of a directory as /lib/modules/RELEASE, all depths.
	void add_modules(const std::string& directory);

	// Whether this kernel has a vmlinux container at all. A kernel built
	// without BTF has not.
	bool available() const;
	const Btf& vmlinux();
	// By name; nullptr if the kernel has no such container or a module has no
	// BTF. '-' and '_' are
	// the same in a module's name, as in the kernel.
	const Btf* container(std::string_view name);
	std::vector<std::string> names() const; // vmlinux first, then sorted

	// vmlinux first, then the modules by name. A Forward is returned only if
	// no container has the complete type.
	TypeRef find(NameSpace space, std::string_view name);
	std::optional<EnumConstant> find_enumerator(std::string_view name);
	// `module` may be empty: vmlinux first, then all; empty if those that have it differ
	// (in one container, or several modules from each other).
	TypeRef find_function(std::string_view name, std::string_view module = {});
	// How many different types functions of that name have there.
	unsigned count_functions(std::string_view name, std::string_view module = {});
	TypeRef find_variable(std::string_view name, std::string_view module = {});

	// The complete type that a Forward announces, else `type` itself.
	TypeRef complete(TypeRef type);

	// The prototype of a tracepoint's probe function, with names where the
	// kernel keeps them. Its first parameter is always the probe's private
	// `void *`; the tracepoint's arguments follow. Empty if unknown.
	TypeRef find_tracepoint(std::string_view tracepoint, std::string_view module = {});

private:
	struct BtfSource {
		std::string path;
		std::unique_ptr<Btf> btf;
		bool opened = false;
		bool running = false; // of the running kernel, which may have unloaded it since
	};
	KernelTypes() = default;
	template <typename Look> auto first_of(Look look) -> decltype(look(std::declval<const Btf&>()));
	template <typename See>
	void each_with_function(std::string_view name, std::string_view module, See see);

	std::map<std::string, BtfSource, std::less<>> sources_;
};

} // namespace dfr::types
