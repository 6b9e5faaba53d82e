// SPDX-License-Identifier: GPL-2.0
//
// See install.h.
#include "bootloader-hooks/boot/install.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/grub.h"
#include "bootloader-hooks/boot/initrd.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "formats/error.h"

namespace dfr::boot {
namespace {

constexpr const char* kUnits[] = {"dfr-boot-reached.service", "dfr-boot-store.service"};
constexpr const char* kWants = "/etc/systemd/system/multi-user.target.wants/";

// The mount that holds a path of this machine: its type and where it comes from.
std::pair<std::string, std::string> mount_of(const std::string& path) {
	std::ifstream mounts("/proc/self/mountinfo");
	std::pair<std::string, std::string> found;
	size_t longest = 0;
	for (std::string line; std::getline(mounts, line);) {
		std::istringstream stream(line);
		std::string word, point, type, source;
		for (int i = 0; i < 5; i++)
			stream >> point;
		while (stream >> word && word != "-")
			continue;
		stream >> type >> source;
		const bool holds = point == "/" || path == point || path.starts_with(point + "/");
		if (holds && point.size() >= longest) {
			longest = point.size();
			found = {type, source};
		}
	}
	return found;
}

// Below /boot.
std::string archive_name(const std::string& name, const std::string& release) {
	return "dfr/" + name + "-" + release + ".img";
}

// Whether an archive says that its program has another name: "default-x" begins like "default".
bool is_of_other(const std::string& path, const std::string& name) {
	try {
		const std::string bytes = read_text(path).value_or("");
		const auto files =
		    unpack_archive({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, path);
		const auto& parameters = files.at(kParametersFile).bytes;
		return ProgramOrigin::parse({parameters.begin(), parameters.end()}, path).name != name;
	} catch (const std::exception&) {
		return false; // damaged, or half of one
	}
}

// Files of a folder with one of these extensions.
std::vector<std::string> files_in(const std::string& folder, std::initializer_list<const char*> extensions) {
	std::vector<std::string> found;
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(folder, error); !error && at != end; at.increment(error))
		for (const char* const extension : extensions)
			if (at->path().extension() == extension)
				found.push_back(at->path().string());
	return found;
}

// Of names that are enabled no more the archives go.
std::vector<std::string> older_names(const std::optional<BootPlan>& older, const std::string& name) {
	std::vector<std::string> names;
	if (older) {
		names = older->older;
		names.push_back(older->name);
	}
	std::ranges::sort(names);
	names.erase(std::unique(names.begin(), names.end()), names.end());
	std::erase(names, name);
	return names;
}

} // namespace

std::string BootPlan::text() const {
	std::string others;
	for (const std::string& one : older)
		others += "older=" + one + "\n";
	return "name=" + name + "\nrelease=" + release + "\nmode=" + mode + "\nruns=" + std::to_string(runs) +
	       "\n" + (wanted.empty() ? "" : "wanted=" + wanted + "\n") +
	       (loading.empty() ? "" : "loading=" + loading + "\n") +
	       (then.empty() ? "" : "then=" + then + "\n") + (made_environment ? "grubenv=made\n" : "") +
	       (inside ? "inside=yes\n" : "") + others;
}

BootPlan BootPlan::parse(const std::string& text) {
	BootPlan plan;
	std::istringstream stream(text);
	for (std::string line; std::getline(stream, line);) {
		const size_t equals = line.find('=');
		const std::string key = line.substr(0, equals);
		const std::string value = equals == std::string::npos ? "" : line.substr(equals + 1);
		if (key == "name")
			plan.name = value;
		else if (key == "release")
			plan.release = value;
		else if (key == "mode")
			plan.mode = value;
		else if (key == "wanted")
			plan.wanted = value;
		else if (key == "loading")
			plan.loading = value;
		else if (key == "older")
			plan.older.push_back(value);
		else if (key == "then")
			plan.then = value;
		else if (key == "grubenv")
			plan.made_environment = value == "made";
		else if (key == "inside")
			plan.inside = value == "yes";
		else if (key == "runs")
			plan.runs = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
	}
	return plan;
}

std::string Installation::archive(const std::string& name, const std::string& release) const {
	return resolve_folder(root_, root_ + "/boot/" + archive_name(name, release));
}

std::optional<BootPlan> Installation::plan() const {
	const auto text = read_text(plan_path());
	return text ? std::optional(BootPlan::parse(*text)) : std::nullopt;
}

std::string Installation::obstacle(const std::string& release, std::string& hint) const {
	const auto config = read_text(grub("grub.cfg"));
	if (!config) {
		hint = std::string(initrd_builder(root_) ? "dfr boot enable --inside, or " : "") +
		       "give the kernel the archive as one more initrd, and rdinit=/dfr-init on its command "
		       "line (dfr-boot(8), BOOTING WITH AN ARCHIVE)";
		return "there is no " + grub("grub.cfg") +
		       ": the boot loader is not GRUB, which is the only one that "
		       "dfr knows how to tell";
	}
	if (!reads_custom(*config)) {
		hint = "make /etc/grub.d/41_custom executable and run update-grub";
		return grub("grub.cfg") + " does not read custom.cfg";
	}
	const auto entry = find_grub_entry(*config, release);
	if (!entry) {
		hint = "run update-grub, or name a kernel that GRUB boots with --kernel";
		return grub("grub.cfg") + " has no entry that boots vmlinuz-" + release + " with an initrd";
	}
	if (const std::string own = own_first_process(*entry); !own.empty()) {
		hint = "take it out of /etc/default/grub and run update-grub";
		return grub("grub.cfg") + " boots vmlinuz-" + release + " with " + own +
		       ", which the trace's own first process would not start";
	}
	return cannot_unpack(root_, release, hint);
}

bool Installation::follows(const BootPlan& plan, const std::vector<std::string>& kernels) const {
	if (std::ranges::find(kernels, plan.release) == kernels.end())
		return true;
	const auto config = read_text(grub("grub.cfg"));
	return config && boots_newest(*config, variable("saved_entry"), kernels.front());
}

std::string Installation::cannot_count() const {
	if (!root_.empty())
		return {}; // whose mounts are not this machine's; GRUB finds out
	const auto [type, source] = mount_of("/boot/grub");
	for (const char* const one : {"btrfs", "zfs", "squashfs", "overlay"})
		if (type == one)
			return "GRUB cannot write to " + type;
	for (const char* const one : {"/dev/mapper/", "/dev/dm-", "/dev/md"})
		if (source.starts_with(one))
			return "GRUB cannot write to " + source + " (LVM, RAID or encryption)";
	return {};
}

std::string Installation::variable(const char* name) const {
	const auto text = read_text(grub("grubenv"));
	return text ? GrubEnvironment(text).get(name) : std::string();
}

void Installation::arm(const std::string& how) const {
	GrubEnvironment environment(read_text(grub("grubenv")));
	environment.unset(kTriesVariable);
	environment.set(kArmedVariable, how);
	write_environment(environment);
}

// In its place, as GRUB writes it: GRUB replays no journal, so after a machine that was reset it finds the file where it
// was, and writes there, although the place may be another file's by then. And a disk that is full keeps no machine on a
// trace. Anew only if it has another size.
void Installation::write_environment(const GrubEnvironment& environment) const {
	if (!overwrite(grub("grubenv"), environment.text()))
		rewrite_atomically(grub("grubenv"), environment.text());
}

void Installation::disarm(bool made_environment) const {
	const auto before = read_text(grub("grubenv"));
	if (!before)
		return;
	GrubEnvironment environment(before);
	if (!environment.get(kTriesVariable).empty() || !environment.get(kArmedVariable).empty()) {
		environment.unset(kTriesVariable);
		environment.unset(kArmedVariable);
		write_environment(environment);
	}
	if (made_environment && environment.empty())
		remove_durably(grub("grubenv"));
}

void Installation::link_units() const {
	for (const char* const unit : kUnits) {
		const std::string path = below_root(kWants + std::string(unit));
		std::error_code error;
		if (std::filesystem::is_symlink(path, error))
			continue;
		link_atomically("/lib/systemd/system/" + std::string(unit), path);
	}
}

void Installation::unlink_units() const {
	for (const char* const unit : kUnits)
		remove_durably(below_root(kWants + std::string(unit)));
}

std::optional<std::string> Installation::block_of(const BootPlan& plan) const {
	const auto entry = find_grub_entry(read_text(grub("grub.cfg")).value_or(""), plan.release);
	if (!entry)
		return std::nullopt;
	return grub_block({.name = plan.name,
	                   .release = plan.release,
	                   .archive = archive_name(plan.name, plan.release),
	                   .may_default = plan.mode != "menu"},
	                  *entry);
}

bool Installation::entry_is_current(const BootPlan& plan) const {
	const std::string custom = read_text(grub("custom.cfg")).value_or("");
	const auto block = block_of(plan);
	if (!block || has_block(custom, *block))
		return true;
	if (plan.mode != "menu")
		return false;
	BootPlan chosen = plan; // an entry that was to be chosen for some boots is only offered after them
	chosen.mode = "always";
	return has_block(custom, *block_of(chosen));
}

void Installation::enable(BootPlan plan) const {
	std::string hint;
	if (const std::string why = obstacle(plan.release, hint); !why.empty())
		throw Error(why, hint);
	refuse_other_way(false);
	if (!cannot_count().empty())
		plan.mode = "menu";
	const auto block = block_of(plan);
	const auto custom = read_text(grub("custom.cfg"));
	const auto older = this->plan();
	plan.made_environment = older ? older->made_environment : !read_text(grub("grubenv"));
	plan.older = older_names(older, plan.name);
	if (plan.mode == "menu")
		disarm(plan.made_environment); // first: what follows may have no room
	else
		GrubEnvironment(read_text(grub("grubenv"))).text(); // throws if it cannot be written
	write_atomically(plan_path(), plan.text(), 0644);
	link_units();
	if (plan.mode != "menu")
		arm(plan.mode);
	rewrite_atomically(grub("custom.cfg"), with_block(custom, *block));
	try { // nothing names them any more
		for (const std::string& name : plan.older)
			remove_archives(name);
		if (older && older->name == plan.name && older->release != plan.release)
			remove_durably(archive(older->name, older->release));
		if (!plan.older.empty()) {
			plan.older.clear();
			write_atomically(plan_path(), plan.text(), 0644);
		}
	} catch (const Error&) {
		// The trace is enabled; renew and disable try again.
	}
}

void Installation::refuse_other_way(bool inside) const {
	if (const auto older = plan(); older && older->inside != inside)
		throw Error(older->inside ? "the trace is enabled inside the initrd"
		                          : "the trace is enabled by an entry of GRUB",
		            "dfr boot disable, then enable it this way");
}

void Installation::check_inside() const {
	std::string missing;
	for (const InitrdBuilder& builder : initrd_builders())
		missing += (missing.empty() ? "" : " and no ") + root_ + builder.program;
	if (!initrd_builder(root_))
		throw Error(
		    "nothing is known here that makes initrds: there is no " + missing,
		    "dfr boot enable tells GRUB; for others see dfr-boot(8), BOOTING WITH AN ARCHIVE");
	refuse_other_way(true);
	for (const HookFile& hook : initrd_builder(root_)->hooks)
		if (const auto there = read_text(below_root(hook.path));
		    there && there->find(kHookMark) == std::string::npos)
			throw Error(below_root(hook.path) + " is there, and dfr did not write it",
			            "look what it is for, and give it another name");
}

void Installation::enable_inside(BootPlan plan) const {
	check_inside();
	plan.inside = true;
	plan.older = older_names(this->plan(), plan.name); // initrds may have them yet; disable removes them
	write_atomically(plan_path(), plan.text(), 0644);
	link_units();
	for (const HookFile& hook : initrd_builder(root_)->hooks)
		write_atomically(below_root(hook.path), hook.text, 0755);
}

void Installation::remove_hooks() const {
	for (const InitrdBuilder& builder : initrd_builders()) {
		for (auto hook = builder.hooks.rbegin(); hook != builder.hooks.rend(); ++hook) {
			const std::string path = below_root(hook->path);
			if (read_text(path).value_or("").find(kHookMark) != std::string::npos)
				remove_durably(path);
			remove_durably(path + ".dfr-new");
		}
		std::error_code error;
		if (*builder.folder) // and if nothing else is in it
			std::filesystem::remove(below_root(builder.folder), error);
	}
}

std::vector<std::string> Installation::kernels_inside() const {
	std::vector<std::string> found;
	const auto now = plan();
	const auto archives = files_in(archive_folder(), {".img"});
	for (const std::string& release : installed_kernels(root_))
		if (now && now->inside && std::ranges::any_of(archives, [&release](const std::string& path) {
			    return path.ends_with("-" + release + ".img");
		    }))
			found.push_back(release);
	return found;
}

void Installation::keep_copies(const std::vector<std::string>& kernels) const {
	const std::string name = plan().value_or(BootPlan{}).name;
	for (const std::string& path : files_in(archive_folder(), {".img"})) {
		const std::string of = std::filesystem::path(path).stem().string();
		if (of.starts_with(name + "-") && !is_of_other(path, name) &&
		    std::ranges::find(kernels, of.substr(name.size() + 1)) == kernels.end())
			remove_durably(path);
	}
}

void Installation::require_boot() const {
	std::error_code error;
	const std::filesystem::directory_iterator end;
	const std::string boot = resolve_links(root_, root_ + "/boot");
	for (std::filesystem::directory_iterator at(boot, error); !error && at != end; at.increment(error))
		if (at->path().filename() != "dfr" && at->path().filename() != "lost+found")
			return;
	throw Error("there is nothing in " + root_ + "/boot, so what boots were told cannot be taken back",
	            "mount it, then dfr boot disable; if it is empty for good, remove " + plan_path());
}

// So that a renewal ends what was interrupted, and does not turn it round.
void Installation::begin_to_end(BootPlan plan) const {
	plan.mode = kModeEnding;
	try {
		write_atomically(plan_path(), plan.text(), 0644);
	} catch (const Error&) {
		// A disk that is full keeps no machine on a trace.
	}
}

bool Installation::disable() const {
	const auto old = plan();
	if (old)
		require_boot();
	if (old && !old->ending())
		begin_to_end(*old);
	remove_hooks();
	const auto custom = read_text(grub("custom.cfg"));
	const bool had = old.has_value() || (custom && has_block(*custom));
	try {
		if (const auto rest = without_block(custom); custom && has_block(*custom)) {
			if (rest)
				rewrite_atomically(grub("custom.cfg"), *rest);
			else
				remove_durably(grub("custom.cfg"));
		}
	} catch (const Error&) {
		disarm(false); // the entry stays, and is not chosen
		throw;
	}
	disarm(old && old->made_environment);
	unlink_units();
	if (old) { // before the plan, which says whose they are
		for (const std::string& name : old->older)
			remove_archives(name);
		remove_archives(old->name);
	}
	remove_durably(plan_path());
	for (const std::string& path : {grub("custom.cfg"), grub("grubenv"), plan_path()})
		remove_durably(path + ".dfr-new"); // of an enable that was interrupted
	return had;
}

// Those of this name, of any kernel. Others were made by dfr boot build, for who tells another boot loader.
void Installation::remove_archives(const std::string& name) const {
	for (const std::string& path : files_in(archive_folder(), {".img", ".dfr-new"}))
		if (std::filesystem::path(path).filename().string().starts_with(name + "-") &&
		    !is_of_other(path, name))
			remove_durably(path);
	std::error_code error;
	std::filesystem::remove(archive_folder(), error); // if nothing else is in it
}

std::vector<std::string> Installation::remove_old(size_t kept, const std::string& stored,
                                                  const std::function<void(const Error&)>& failed) const {
	static constexpr std::string_view prefix = "boot-";
	std::vector<std::string> old = recordings();
	std::erase_if(old, [&stored](const std::string& path) {
		const std::string name = std::filesystem::path(path).stem().string();
		return path == stored || !name.starts_with(prefix) ||
		       !trace::is_time_stamp(std::string_view(name).substr(prefix.size()));
	});
	kept -= std::min<size_t>(kept, !stored.empty());
	old.resize(old.size() - std::min(old.size(), kept));
	std::erase_if(old, [&failed](const std::string& path) {
		try {
			remove_durably(path);
			return false;
		} catch (const Error& error) {
			failed(error);
			return true;
		}
	});
	return old;
}

void Installation::reached() const {
	const auto text = read_text(grub("grubenv"));
	if (!text)
		return;
	GrubEnvironment environment(text);
	if (environment.get(kTriesVariable).empty())
		return;
	environment.unset(kTriesVariable);
	write_environment(environment);
}

void Installation::traced() const {
	auto now = plan();
	if (!now || !now->runs || now->ending())
		return;
	if (--now->runs == 0) {
		disarm(false);
		now->mode = "menu";
		now->wanted.clear(); // a renewal would arm it again, for all boots
	}
	write_atomically(plan_path(), now->text(), 0644);
}

} // namespace dfr::boot
