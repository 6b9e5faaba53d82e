// SPDX-License-Identifier: GPL-2.0
//
// See kernel_files.h. Debian's places first; the others are where distributions and people put them.
#include "bootloader-hooks/boot/kernel_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/error.h"
#include "formats/types/elf.h"

namespace dfr::boot {
namespace {

bool readable(const std::string& path) {
	return ::access(path.c_str(), R_OK) == 0;
}

std::string list_of(const std::vector<std::string>& paths) {
	std::string list;
	for (const std::string& path : paths)
		list += (list.empty() ? "" : ", ") + path;
	return list;
}

std::vector<std::string> module_places(const std::string& root, const std::string& release) {
	std::vector<std::string> places;
	for (const char* folder : {"updates/dkms", "updates", "extra", "kernel/extra"})
		for (const char* packed : {"", ".xz", ".zst", ".gz"})
			places.push_back(root + "/lib/modules/" + release + "/" + folder + "/dfr.ko" +
			                 packed);
	return places;
}

} // namespace

std::string running_release() {
	utsname name{};
	::uname(&name);
	return name.release;
}

std::vector<std::string> installed_kernels(const std::string& root) {
	std::vector<std::string> found;
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(root + "/lib/modules", error); !error && at != end;
	     at.increment(error)) {
		const std::string release = at->path().filename().string();
		if (readable(root + "/boot/vmlinuz-" + release))
			found.push_back(release);
	}
	std::ranges::sort(found, [](const std::string& a, const std::string& b) {
		return ::strverscmp(a.c_str(), b.c_str()) > 0;
	});
	return found;
}

// The boot protocol: where the text stands that begins with the release and ends with what uname calls the version is
// told at 0x20e, counted from 0x200.
bool is_another_build(const std::string& vmlinuz, const std::string& version) {
	char head[0x10200] = {};
	std::ifstream(vmlinuz, std::ios::binary).read(head, sizeof(head) - 1);
	if (std::memcmp(head + 0x202, "HdrS", 4) != 0)
		return false;
	uint16_t at = 0;
	std::memcpy(&at, head + 0x20e, sizeof(at));
	const std::string_view text = at ? head + 0x200 + at : "";
	return !text.empty() && !text.ends_with(" " + version);
}

std::vector<std::string> types_places(const std::string& root, const std::string& release) {
	std::vector<std::string> places;
	const std::string vmlinuz = root + "/boot/vmlinuz-" + release;
	utsname running{};
	::uname(&running);
	if (root.empty() && release == running.release && !is_another_build(vmlinuz, running.version))
		places.emplace_back("/sys/kernel/btf/vmlinux");
	places.push_back(vmlinuz);
	places.push_back(root + "/usr/lib/debug/boot/vmlinux-" + release);
	places.push_back(root + "/usr/lib/debug/lib/modules/" + release + "/vmlinux");
	places.push_back(root + "/lib/modules/" + release + "/vmlinuz");
	places.push_back(root + "/lib/modules/" + release + "/build/vmlinux");
	return places;
}

std::string find_types(const std::string& root, const std::string& release) {
	const std::vector<std::string> places = types_places(root, release);
	const auto found = std::ranges::find_if(places, readable);
	if (found == places.end())
		throw Error("there are no types of kernel " + release + "; looked for " + list_of(places),
		            "name a vmlinuz, vmlinux or BTF of that kernel with --btf FILE");
	return *found;
}

std::string cannot_unpack(const std::string& root, const std::string& release, std::string& hint) {
	const std::string path = root + "/boot/config-" + release;
	const auto config = read_text(path);
	if (!config || config->find("\nCONFIG_RD_ZSTD=y\n") != std::string::npos)
		return {};
	hint = "take a kernel that is built with CONFIG_RD_ZSTD=y";
	return "kernel " + release + " cannot unpack an archive of zstd: " + path +
	       " has no CONFIG_RD_ZSTD=y";
}

// What builds an initrd copies the machine's /sbin and modprobe as the links that they are here.
std::string no_helper(const std::string& root, const std::string& release) {
	const std::string path = root + "/boot/config-" + release;
	const std::string config = "\n" + read_text(path).value_or("");
	for (const char* const other :
	     {"\nCONFIG_STATIC_USERMODEHELPER=y\n", "\n# CONFIG_MODULES is not set\n"})
		if (config.find(other) != std::string::npos)
			return path + " has " + std::string(other + 1, std::strlen(other) - 2);
	constexpr const char* key = "\nCONFIG_MODPROBE_PATH=";
	if (config.find(key) != std::string::npos &&
	    config.find(std::string(key) + "\"/sbin/modprobe\"\n") == std::string::npos)
		return path + " has another CONFIG_MODPROBE_PATH than /sbin/modprobe";
	const auto leads_to = [&root](const char* link) {
		return std::filesystem::path(resolve_links(root, root + link)).lexically_normal().string();
	};
	if (leads_to("/sbin") != root + "/usr/sbin")
		return root + "/sbin is no link to usr/sbin";
	// Where shim.c looks for the real modprobe.
	const std::string real = leads_to("/usr/sbin/modprobe");
	const auto places = {"/bin/kmod", "/usr/bin/kmod", "/sbin/kmod", "/usr/sbin/kmod"};
	if (std::ranges::none_of(places, [&](const char* place) { return real == root + place; }))
		return root + "/usr/sbin/modprobe is no link to a kmod in bin or sbin";
	return {};
}

bool brings_helper(const std::string& loading, const std::string& why, bool into_initrd) {
	if (loading == kByFirstProcess)
		return false;
	return why.empty() || (loading == kByHelper && !into_initrd);
}

std::string find_module(const std::string& root, const std::string& release) {
	const std::vector<std::string> places = module_places(root, release);
	const auto found = std::ranges::find_if(places, readable);
	if (found == places.end())
		throw Error("there is no dfr.ko for kernel " + release + "; looked in " + root +
		                "/lib/modules/" + release + "/{updates/dkms,updates,extra,kernel/extra}",
		            "install dfr-dkms and linux-headers-" + release +
		                ", or name one with --module FILE");
	return *found;
}

std::string module_release(const types::Blob& module, const std::string& name) {
	const types::ElfFile elf(module, name);
	const types::ElfSection* const info = elf.find(".modinfo");
	const types::Blob contents = info ? elf.contents(*info) : types::Blob();
	const std::string_view text = contents.text();
	constexpr std::string_view key = "vermagic=";
	for (size_t at = 0; at < text.size();) {
		const std::string_view entry = text.substr(at, text.find('\0', at) - at);
		if (entry.starts_with(key)) {
			const std::string_view magic = entry.substr(key.size());
			return std::string(magic.substr(0, magic.find(' ')));
		}
		at += entry.size() + 1;
	}
	return {};
}

bool has_debug_information(const types::Blob& module, const std::string& name) {
	const types::ElfFile elf(module, name);
	return std::ranges::any_of(elf.sections(), [](const types::ElfSection& section) {
		return section.name.starts_with(".debug_info");
	});
}

bool is_signed(const types::Blob& module) {
	return module.text().ends_with("~Module signature appended~\n");
}

} // namespace dfr::boot
