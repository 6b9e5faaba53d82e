// SPDX-License-Identifier: GPL-2.0
//
// What `dfr boot enable` writes (bootloader-hooks/boot/install.h): the entry is GRUB's own with what a trace needs;
// disable makes every file what it was; whatever write an enable ends after, GRUB boots as before or finds all that
// its new entry names. More than 800 lines, because all of it is done to the made-up machine that is set up here.
#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "bootloader-hooks/boot/atomic_file.h"
#include "bootloader-hooks/boot/grub.h"
#include "bootloader-hooks/boot/initrd.h"
#include "bootloader-hooks/boot/install.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "bootloader-hooks/boot/lock.h"
#include "formats/error.h"

namespace boot_install_test {

using namespace dfr;

namespace {

constexpr const char* kRelease = "6.1.0-56-amd64";

// As Debian 12's update-grub writes it, shortened where nothing of it is looked at.
constexpr const char* kGrubConfig = R"(
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
### BEGIN /etc/grub.d/10_linux ###
menuentry 'Debian GNU/Linux' --class debian --class gnu-linux $menuentry_id_option 'gnulinux-simple-1234' {
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	insmod part_gpt
	insmod ext2
	search --no-floppy --fs-uuid --set=root 1234
	echo	'Loading Linux 6.1.0-60-amd64 ...'
	linux	/boot/vmlinuz-6.1.0-60-amd64 root=UUID=1234 ro  quiet
	echo	'Loading initial ramdisk ...'
	initrd	/boot/initrd.img-6.1.0-60-amd64
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-1234' {
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-56-amd64 (recovery mode)' --class debian $menuentry_id_option 'r' {
		linux	/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1234 ro single
		initrd	/boot/initrd.img-6.1.0-56-amd64
	}
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-56-amd64' --class debian $menuentry_id_option 'a' {
		search --no-floppy --fs-uuid --set=root 1234
		linux	/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1234 ro  quiet
		initrd	/boot/initrd.img-6.1.0-56-amd64
	}
}
### BEGIN /etc/grub.d/41_custom ###
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
fi
)";

class Machine {
public:
	Machine() {
		char path[] = "/tmp/boot-install-XXXXXX";
		root_ = ::mkdtemp(path);
		std::filesystem::create_directories(root_ + "/etc/systemd/system/multi-user.target.wants");
		std::filesystem::create_directories(root_ + "/var/lib/dfr/boot");
		write("/boot/grub/grub.cfg", kGrubConfig);
	}
	~Machine() { std::filesystem::remove_all(root_); }
	Machine(const Machine&) = delete;
	Machine& operator=(const Machine&) = delete;

	const std::string& root() const { return root_; }
	void write(const std::string& path, const std::string& text) const {
		std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
		std::ofstream(root_ + path, std::ios::binary) << text;
	}
	std::string read(const std::string& path) const {
		return boot::read_text(root_ + path).value_or("(none)");
	}
	// Every file and link, with what is in it.
	std::map<std::string, std::string> all() const {
		std::map<std::string, std::string> found;
		for (const auto& one : std::filesystem::recursive_directory_iterator(root_)) {
			const std::string path = one.path().string().substr(root_.size());
			if (one.is_symlink())
				found[path] = std::filesystem::read_symlink(one.path()).string();
			else if (one.is_regular_file())
				found[path] = read(path);
		}
		return found;
	}

private:
	std::string root_;
};

std::string environment(const std::string& variables) {
	std::string text = "# GRUB Environment Block\n" + variables;
	text.resize(1024, '#');
	return text;
}

boot::BootPlan plan(const std::string& mode, unsigned runs = 0) {
	return {.name = "default", .release = kRelease, .mode = mode, .runs = runs};
}

// As `dfr boot enable` does it: the archive first.
void enable(const Machine& machine, const boot::BootPlan& with) {
	boot::write_atomically(machine.root() + "/boot/dfr/default-" + kRelease + ".img",
	                       std::string("archive"), 0600);
	boot::Installation(machine.root()).enable(with);
}

void have_kernel(const Machine& machine, const std::string& release) {
	machine.write("/boot/vmlinuz-" + release, "");
	machine.write("/lib/modules/" + release + "/modules", "");
}

constexpr const char* kScript = "/etc/initramfs-tools/scripts/init-top/00-dfr";
constexpr const char* kHook = "/etc/initramfs-tools/hooks/dfr";

// A machine that makes its initrds with initramfs-tools.
void have_initramfs_tools(const Machine& machine) {
	for (const char* const path : {"/usr/sbin/update-initramfs", "/etc/initramfs-tools/hooks/other",
	                               "/etc/initramfs-tools/scripts/init-top/other"})
		machine.write(path, "#!/bin/sh\n");
	std::filesystem::permissions(machine.root() + "/usr/sbin/update-initramfs",
	                             std::filesystem::perms{0755});
}

constexpr const char* kModuleFolder = "/usr/lib/dracut/modules.d/99dfr";
constexpr const char* kModuleSetup = "/usr/lib/dracut/modules.d/99dfr/module-setup.sh";
constexpr const char* kModuleScript = "/usr/lib/dracut/modules.d/99dfr/dfr.sh";

// A machine that makes its initrds with dracut.
void have_dracut(const Machine& machine) {
	for (const char* const path : {"/usr/bin/dracut", "/usr/lib/dracut/modules.d/99base/module-setup.sh"})
		machine.write(path, "#!/bin/bash\n");
	std::filesystem::permissions(machine.root() + "/usr/bin/dracut", std::filesystem::perms{0755});
}

void enable_inside(const Machine& machine) {
	boot::write_atomically(machine.root() + "/boot/dfr/default-" + kRelease + ".img",
	                       std::string("archive"), 0600);
	boot::Installation(machine.root()).enable_inside(plan("always"));
}

// A disable that has begun says so there.
std::map<std::string, std::string> without_plan(const Machine& machine) {
	auto all = machine.all();
	CHECK(all.erase("/var/lib/dfr/boot/enabled") == 1);
	return all;
}

// In a process of its own, which ends after that many changes. Returns its exit status.
template <typename Act> int interrupted(unsigned changes, Act act) {
	const pid_t child = ::fork();
	if (child == 0) {
		::setenv("DFR_BOOT_STOP_AFTER", std::to_string(changes).c_str(), 1);
		act();
		::_exit(0);
	}
	int status = 0;
	REQUIRE(::waitpid(child, &status, 0) == child);
	return WEXITSTATUS(status);
}

// An enable and a disable, each interrupted after each of its changes, six and seven: what is there then is looked at,
// and disable takes it back.
template <typename Prepare, typename Enable, typename Look>
void check_every_beginning(Prepare prepare, Enable enable, Look look) {
	const bool enabling = GENERATE(true, false);
	unsigned changes = 1;
	for (;; changes++) {
		const Machine machine;
		prepare(machine);
		const auto before = machine.all();
		if (!enabling)
			enable(machine);
		const int status = interrupted(changes, [&]() {
			if (enabling)
				enable(machine);
			else
				boot::Installation(machine.root()).disable();
		});
		look(machine);
		boot::Installation(machine.root()).disable();
		auto after = machine.all();
		if (enabling && changes == 1) // nothing says who made it: it may be for another boot loader
			after.erase(std::string("/boot/dfr/default-") + kRelease + ".img");
		CHECK(after == before);
		if (status == 0)
			break;
		REQUIRE(status == 99);
	}
	CHECK(changes == (enabling ? 7 : 8));
}

// What GRUB would read boots: grub.cfg is untouched, and our block is absent, or whole with all that it names.
void check_bootable(const Machine& machine) {
	CHECK(machine.read("/boot/grub/grub.cfg") == kGrubConfig);
	const std::string custom = machine.read("/boot/grub/custom.cfg");
	if (!boot::has_block(custom))
		return;
	CHECK_THAT(custom, Catch::Contains("### END dfr boot ###\n"));
	CHECK(machine.read("/boot/dfr/default-" + std::string(kRelease) + ".img") == "archive");
	CHECK_NOTHROW(boot::GrubEnvironment(boot::read_text(machine.root() + "/boot/grub/grubenv")).text());
	for (const auto& [path, text] : machine.all())
		CHECK_THAT(path, !Catch::EndsWith(".dfr-new"));
}

boot::ArchiveFile file(const char* name, const std::string& text) {
	return boot::archive_file(name, 0600, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// The parameters in an archive of the program `name`, of digests that are made up.
std::string parameters_of(const char* name) {
	return boot::ProgramOrigin{.name = name,
	                           .release = kRelease,
	                           .source = std::string(64, '1'),
	                           .dof = std::string(64, '2'),
	                           .module = std::string(64, '3'),
	                           .btf = ""}
	    .parameters();
}

} // namespace

TEST_CASE("boot enable: the entry is GRUB's own with the archive and the first process", "[boot]") {
	const Machine machine;
	enable(machine, plan("always"));
	const std::string custom = machine.read("/boot/grub/custom.cfg");
	CHECK_THAT(custom, Catch::Contains("menuentry 'Linux 6.1.0-56-amd64, with boot trace (default)'"));
	CHECK_THAT(
	    custom,
	    Catch::Contains(
	        "linux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1234 ro  quiet rdinit=/dfr-init panic=30 "
	        "trace_event=initcall:,module:module_load trace_clock=mono\n"));
	CHECK_THAT(custom, Catch::Contains("initrd\t/boot/initrd.img-6.1.0-56-amd64 "
	                                   "/boot/dfr/default-6.1.0-56-amd64.img\n"));
	CHECK_THAT(custom, Catch::Contains("search --no-floppy --fs-uuid --set=root 1234"));
	CHECK_THAT(custom, !Catch::Contains("single"));
	CHECK_THAT(custom, Catch::Contains("set default=dfr-default"));
	CHECK_THAT(machine.read("/boot/grub/grubenv"), Catch::Contains("dfr_armed=always\n"));
	CHECK(machine.read("/boot/grub/grubenv").size() == 1024);
}

TEST_CASE("boot enable: its words stand before what is for the first process", "[boot]") {
	const Machine machine;
	for (const auto& [own, expected] :
	     {std::pair{"quiet --x -- panic=1 trace_clock=x",
	                "quiet --x rdinit=/dfr-init panic=30 trace_event=initcall:,module:module_load "
	                "trace_clock=mono -- panic=1 trace_clock=x\n"},
	      std::pair{"panic=1 trace_clock=x --", "panic=1 trace_clock=x rdinit=/dfr-init --\n"}}) {
		machine.write("/boot/grub/grub.cfg",
		              std::string("menuentry 'Debian' {\n\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 ") +
		                  own +
		                  "\n\tinitrd\t/boot/initrd.img-6.1.0-56-amd64\n}\n"
		                  "source ${config_directory}/custom.cfg\n");
		enable(machine, plan("once"));
		CHECK_THAT(machine.read("/boot/grub/custom.cfg"), Catch::Contains(expected));
	}
}

// GRUB's entry of the kernel, with these words of its command line and this initrd.
std::string entry_of(const std::string& words, const std::string& initrd) {
	return std::string("menuentry 'Debian #1' {\n\tlinux\t/boot/vmlinuz-") + kRelease + " " + words +
	       "\n\tinitrd\t" + initrd + "\n}\nsource ${config_directory}/custom.cfg\n";
}

TEST_CASE("boot enable: its words stand before a comment, and none of that is a word", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grub.cfg", entry_of("x='a #b' quiet \t# panic=1 single -- rdinit=/x",
	                                              "/boot/initrd.img # old: /x"));
	enable(machine, plan("once"));
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"),
	           Catch::Contains(" x='a #b' quiet rdinit=/dfr-init panic=30 "
	                           "trace_event=initcall:,module:module_load trace_clock=mono \t# panic=1 "
	                           "single -- rdinit=/x\n"));
	CHECK_THAT(
	    machine.read("/boot/grub/custom.cfg"),
	    Catch::Contains("initrd\t/boot/initrd.img /boot/dfr/default-6.1.0-56-amd64.img # old: /x\n"));
}

TEST_CASE("boot enable: the archive is where the initrd is, also without a folder", "[boot]") {
	const Machine machine;
	for (const auto& [initrd, archive] :
	     {std::pair{"initrd.img", "dfr/"}, std::pair{"/initrd.img", "/dfr/"}}) {
		machine.write("/boot/grub/grub.cfg", entry_of("quiet", initrd));
		enable(machine, plan("once"));
		CHECK_THAT(machine.read("/boot/grub/custom.cfg"),
		           Catch::Contains(std::string("initrd\t") + initrd + " " + archive +
		                           "default-6.1.0-56-amd64.img\n"));
	}
}

TEST_CASE("boot enable: a first process of the user's own is not replaced", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grub.cfg", entry_of("rdinit=/bin/mine quiet", "/boot/initrd.img"));
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("rdinit=/bin/mine"));
	CHECK(machine.read("/boot/grub/custom.cfg") == "(none)");
	machine.write("/boot/grub/grub.cfg", entry_of("quiet -- rdinit=/bin/mine", "/boot/initrd.img"));
	CHECK_NOTHROW(enable(machine, plan("always")));
}

TEST_CASE("boot enable: an entry that is only offered is never chosen by itself", "[boot]") {
	const Machine machine;
	enable(machine, plan("menu"));
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"), !Catch::Contains("set default"));
	CHECK(machine.read("/boot/grub/grubenv") == "(none)");
}

TEST_CASE("boot enable: a user's panic= and events of the kernel stay, and the user's saved choice, and who "
          "may boot",
          "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grub.cfg",
	              "menuentry 'Debian, --users nobody' --class debian --unrestricted --users \"a b\" "
	              "$menuentry_id_option 'a' {\n"
	              "\trecordfail\n\tsavedefault\n\tload_video\n"
	              "\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1234 panic=5 trace_event=block\n"
	              "\tinitrd\t/boot/initrd.img-6.1.0-56-amd64\n}\n"
	              "source ${config_directory}/custom.cfg\n");
	enable(machine, plan("once"));
	const std::string custom = machine.read("/boot/grub/custom.cfg");
	CHECK_THAT(custom, Catch::Contains("root=UUID=1234 panic=5 trace_event=block rdinit=/dfr-init\n"));
	CHECK_THAT(custom, Catch::Contains("--class os --unrestricted --users \"a b\" $menuentry_id_option "
	                                   "dfr-default {\n\tload_video\n"));
	CHECK_THAT(custom, !Catch::Contains("nobody"));
}

TEST_CASE("boot enable: who may boot is found behind a title with an apostrophe", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grub.cfg",
	              "menuentry 'Bob'\\''s Linux' --class bob --unrestricted $menuentry_id_option 'a' {\n"
	              "\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1234\n"
	              "\tinitrd\t/boot/initrd.img-6.1.0-56-amd64\n}\n"
	              "source ${config_directory}/custom.cfg\n");
	enable(machine, plan("once"));
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"),
	           Catch::Contains("--class os --unrestricted $menuentry_id_option"));
}

TEST_CASE("boot disable: where /boot is not mounted nothing is taken back, and it says so", "[boot]") {
	const Machine machine;
	const auto before = machine.all();
	enable(machine, plan("always"));
	const auto enabled = machine.all();
	const std::string boot = machine.root() + "/boot", away = machine.root() + "/away";
	std::filesystem::rename(boot, away);
	std::filesystem::create_directory(boot);
	CHECK_THROWS_WITH(boot::Installation(machine.root()).disable(),
	                  Catch::Contains("cannot be taken back"));
	std::filesystem::remove(boot);
	std::filesystem::rename(away, boot);
	CHECK(machine.all() == enabled);
	CHECK(boot::Installation(machine.root()).disable());
	CHECK(machine.all() == before);
}

TEST_CASE("boot enable: what grub-reboot chose is booted", "[boot]") {
	const Machine machine;
	enable(machine, plan("always"));
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"),
	           Catch::Contains("\nif [ -s $prefix/grubenv -a -z \"${boot_once}\" ]; then\n"));
}

TEST_CASE("boot enable: a kernel that cannot unpack the archive is refused", "[boot]") {
	const Machine machine;
	const std::string config = "/boot/config-" + std::string(kRelease);
	machine.write(config, "CONFIG_RD_XZ=y\n# CONFIG_RD_ZSTD is not set\nCONFIG_X=y\n");
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("CONFIG_RD_ZSTD"));
	machine.write(config, "CONFIG_RD_XZ=y\nCONFIG_RD_ZSTD=y\n");
	CHECK_NOTHROW(enable(machine, plan("always")));
}

TEST_CASE("boot enable: mode and link of a file that is written anew stay", "[boot]") {
	const Machine machine;
	const std::string grub = machine.root() + "/boot/grub/";
	machine.write("/boot/grub/custom.cfg", "# secret\n");
	machine.write("/boot/elsewhere/grubenv", environment("saved_entry=a\n"));
	std::filesystem::permissions(grub + "custom.cfg", std::filesystem::perms{0600});
	const char* const target = GENERATE("../elsewhere/grubenv", "/boot/elsewhere/grubenv");
	std::filesystem::create_symlink(target, grub + "grubenv");
	const auto before = machine.all();
	const auto mode = [&]() {
		return static_cast<unsigned>(std::filesystem::status(grub + "custom.cfg").permissions());
	};
	enable(machine, plan("always"));
	CHECK(mode() == 0600);
	CHECK(std::filesystem::is_symlink(grub + "grubenv"));
	CHECK_THAT(machine.read("/boot/elsewhere/grubenv"), Catch::Contains("dfr_armed=always\n"));
	boot::Installation(machine.root()).disable();
	CHECK(mode() == 0600);
	CHECK(machine.all() == before);
}

TEST_CASE("boot disable: a block that is not at the top, and what an interrupted enable left, go", "[boot]") {
	const Machine machine;
	enable(machine, plan("always"));
	machine.write("/boot/grub/custom.cfg", "set timeout=9\n" + machine.read("/boot/grub/custom.cfg"));
	enable(machine, plan("once"));
	const std::string custom = machine.read("/boot/grub/custom.cfg");
	CHECK(custom.find("### BEGIN dfr") == custom.rfind("### BEGIN dfr"));
	machine.write("/boot/grub/custom.cfg", "# above\n" + custom);
	for (const char* const left : {"/boot/grub/grubenv.dfr-new", "/boot/grub/custom.cfg.dfr-new"})
		machine.write(left, "half");
	CHECK(boot::Installation(machine.root()).disable());
	CHECK(machine.read("/boot/grub/custom.cfg") == "# above\nset timeout=9\n");
	CHECK(machine.read("/boot/grub/grubenv.dfr-new") == "(none)");
	CHECK(machine.read("/boot/grub/custom.cfg.dfr-new") == "(none)");
}

TEST_CASE("boot renew: to the newest kernel only if GRUB boots it, or if the old one has gone", "[boot]") {
	const std::string usual =
	    "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\nelse\n   set default=";
	const std::string newest = "6.1.0-60-amd64";
	const auto boots = [&](const std::string& choice, const std::string& saved) {
		return boot::boots_newest(usual + choice + "\nfi\n" + kGrubConfig, saved, newest);
	};
	CHECK(boots("\"0\"", "other"));
	CHECK(boots("\"${saved_entry}\"", ""));
	CHECK_FALSE(boots("\"${saved_entry}\"", "other"));
	CHECK_FALSE(boots("\"1>2\"", ""));
	CHECK_FALSE(boots("\"Debian, with Linux 6.1\"", ""));
	const Machine machine;
	const boot::Installation installation(machine.root());
	// The entry that stands first is the administrator's choice, too: GRUB_TOP_LEVEL, GRUB_FLAVOUR_ORDER.
	CHECK_FALSE(installation.follows(plan("always"), {"6.12.9-amd64", newest, kRelease}));
	CHECK(installation.follows(plan("always"), {newest, kRelease}));
	machine.write("/boot/grub/grub.cfg", usual + "\"1>2\"\nfi\n" + kGrubConfig);
	CHECK_FALSE(installation.follows(plan("always"), {newest, kRelease}));
	CHECK(installation.follows(plan("always"), {newest}));
}

TEST_CASE("boot disable: every file is what it was", "[boot]") {
	const char* const custom = GENERATE(as<const char*>{}, "", "absent", "# mine, without an end of line",
	                                    "menuentry 'mine' {\n\ttrue\n}\n");
	const char* const grubenv =
	    GENERATE(as<const char*>{}, "saved_entry=a b\nnext_entry=\n", "", "absent");
	const Machine machine;
	if (std::string(custom) != "absent")
		machine.write("/boot/grub/custom.cfg", custom);
	if (std::string(grubenv) != "absent")
		machine.write("/boot/grub/grubenv", environment(grubenv));
	const auto before = machine.all();
	enable(machine, plan("once"));
	CHECK(machine.all() != before);
	enable(machine, plan("always", 3)); // again, with something else
	CHECK(boot::Installation(machine.root()).disable());
	CHECK(machine.all() == before);
	CHECK_FALSE(boot::Installation(machine.root()).disable());
	CHECK(machine.all() == before);
}

TEST_CASE("boot disable: what no enable made stays", "[boot]") {
	const Machine machine;
	const std::string own = std::string("/boot/dfr/own-") + kRelease + ".img";
	machine.write(own, "for another boot loader");
	have_initramfs_tools(machine);
	machine.write(kHook, "#!/bin/sh\n# mine\n");
	const auto before = machine.all();
	boot::Installation(machine.root()).disable(); // nothing is enabled
	CHECK(machine.all() == before);
	enable(machine, plan("always"));
	boot::Installation(machine.root()).disable();
	CHECK(machine.all() == before);
	CHECK_THROWS_WITH(enable_inside(machine), Catch::Contains("dfr did not write it"));
	CHECK(machine.read(kHook) == "#!/bin/sh\n# mine\n");
}

TEST_CASE("boot disable: archives of a plan are known by what they say", "[boot]") {
	const Machine machine;
	const auto packed = boot::pack_archive({file(boot::kParametersFile, parameters_of("default-x"))});
	const std::string other = std::string("/boot/dfr/default-x-") + kRelease + ".img";
	machine.write(other, {packed.begin(), packed.end()});
	enable(machine, plan("always"));
	boot::Installation(machine.root()).disable();
	CHECK(machine.read(other) != "(none)");
}

TEST_CASE("boot disable: what somebody wrote into our file since stays", "[boot]") {
	const Machine machine;
	enable(machine, plan("always"));
	machine.write("/boot/grub/custom.cfg", machine.read("/boot/grub/custom.cfg") + "set timeout=9\n");
	boot::Installation(machine.root()).disable();
	CHECK(machine.read("/boot/grub/custom.cfg") == "set timeout=9\n");
}

TEST_CASE("boot enable, disable: an interrupted one leaves what boots", "[boot]") {
	check_every_beginning(
	    [](const Machine& machine) {
		    machine.write("/boot/grub/custom.cfg", "# mine\n");
		    machine.write("/boot/grub/grubenv", environment("saved_entry=a\n"));
	    },
	    [](const Machine& machine) { enable(machine, plan("always")); }, check_bootable);
}

TEST_CASE("boot enable: again, with something else, and interrupted, leaves what boots", "[boot]") {
	const char* const from = GENERATE(as<const char*>{}, "always", "once", "menu");
	const char* const to = GENERATE(as<const char*>{}, "always", "once", "menu");
	const std::string other = "/boot/dfr/other-6.1.0-60-amd64.img";
	unsigned changes = 1;
	for (int status = 99; status == 99; changes++) {
		INFO(from << " to " << to << ", " << changes);
		const Machine machine;
		machine.write("/boot/grub/custom.cfg", "# mine\n");
		machine.write("/boot/grub/grubenv", environment("saved_entry=a\n"));
		const auto before = machine.all();
		enable(machine, plan(from));
		status = interrupted(changes, [&]() {
			boot::write_atomically(machine.root() + other, std::string("archive"), 0600);
			boot::BootPlan next = plan(to);
			next.name = "other";
			next.release = "6.1.0-60-amd64";
			boot::Installation(machine.root()).enable(next);
		});
		const std::string custom = machine.read("/boot/grub/custom.cfg");
		const bool is_new = custom.find("dfr-other") != std::string::npos;
		CHECK(boot::has_block(custom));
		CHECK(machine.read(is_new ? other : "/boot/dfr/default-" + std::string(kRelease) + ".img") ==
		      "archive");
		// What is only to be offered is chosen by no boot, whatever the block says.
		const std::string armed = boot::Installation(machine.root()).variable(boot::kArmedVariable);
		if (is_new)
			CHECK(armed == (std::string(to) == "menu" ? "" : to));
		else
			CHECK((armed == (std::string(from) == "menu" ? "" : from) ||
			       armed == (std::string(to) == "menu" ? "" : to)));
		boot::Installation(machine.root()).disable();
		auto after = machine.all();
		const bool disarmed = std::string(from) != "menu" && std::string(to) == "menu";
		if (changes <= (disarmed ? 2U : 1U))
			after.erase(other); // before the plan: nothing says who made it
		CHECK(after == before);
	}
	CHECK(changes > 4);
}

TEST_CASE("boot enable: the archive of the kernel before does not stay", "[boot]") {
	const Machine machine;
	const std::string before = "/boot/dfr/default-" + std::string(kRelease) + ".img";
	const std::string newest = "/boot/dfr/default-6.1.0-60-amd64.img", own = "/boot/dfr/default-6.0.img";
	enable(machine, plan("always"));
	machine.write(own, "made by dfr boot build");
	machine.write(newest, "archive");
	boot::BootPlan next = plan("always");
	next.release = "6.1.0-60-amd64";
	boot::Installation(machine.root()).enable(next);
	CHECK(machine.read(before) == "(none)");
	CHECK(machine.read(newest) == "archive");
	CHECK(machine.read(own) != "(none)");
	boot::Installation(machine.root()).enable(next); // again
	CHECK(machine.read(newest) == "archive");
}

TEST_CASE("boot enable: no room leaves what boots, and says what to do", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment("long=" + std::string(985, 'x') + "\n"));
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("no room"));
	CHECK(machine.read("/boot/grub/custom.cfg") == "(none)");
	machine.write("/boot/grub/grub.cfg", "menuentry 'other' {\n\tchainloader +1\n}\n");
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("custom.cfg"));
	std::filesystem::remove(machine.root() + "/boot/grub/grub.cfg");
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("not GRUB"));
}

TEST_CASE("boot store: so many are kept, and what has another name stays", "[boot]") {
	const Machine machine;
	const boot::Installation installation(machine.root());
	const std::string folder = "/var/lib/dfr/boot/";
	const auto stored = [&folder](int i) {
		return folder + "boot-20261121-15023" + std::to_string(i) + ".dfr";
	};
	for (int i = 0; i < 5; i++) {
		machine.write(stored(i), "a boot");
		std::filesystem::last_write_time(
		    machine.root() + stored(i), std::filesystem::file_time_type(std::chrono::hours(100 + i)));
	}
	const std::vector<std::string> mine{"mine.dfr", "boot-slow.dfr", "boot-20261121-150230-slow.dfr"};
	for (const std::string& name : mine)
		machine.write(folder + name, "kept by its name");
	const auto none = [](const Error& error) { FAIL(error.what()); };
	CHECK(installation.remove_old(5, "", none).empty());
	CHECK(installation.remove_old(3, "", none).size() == 2);
	CHECK(machine.read(stored(1)) == "(none)");
	CHECK(machine.read(stored(2)) == "a boot");
	// The clock began anew: what was stored now is by its time the oldest.
	CHECK(installation.remove_old(2, machine.root() + stored(2), none).size() == 1);
	CHECK(machine.read(stored(2)) == "a boot");
	CHECK(machine.read(stored(4)) == "a boot");
	for (const std::string& name : mine)
		CHECK(machine.read(folder + name) == "kept by its name");
}

TEST_CASE("boot store: one that cannot be removed keeps no other", "[boot]") {
	const Machine machine;
	const boot::Installation installation(machine.root());
	// A folder by such a name, which unlink() refuses.
	const std::string folder = machine.root() + "/var/lib/dfr/boot/";
	std::filesystem::create_directories(folder + "boot-20261121-150230.dfr");
	std::filesystem::last_write_time(folder + "boot-20261121-150230.dfr",
	                                 std::filesystem::file_time_type(std::chrono::hours(1)));
	machine.write("/var/lib/dfr/boot/boot-20261121-150231.dfr", "a boot");
	machine.write("/var/lib/dfr/boot/boot-20261121-150232.dfr", "a boot");
	std::vector<std::string> failed;
	const auto removed = installation.remove_old(
	    0, "", [&failed](const Error& error) { failed.emplace_back(error.what()); });
	CHECK(removed.size() == 2);
	REQUIRE(failed.size() == 1);
	CHECK_THAT(failed[0], Catch::Contains("boot-20261121-150230.dfr"));
}

TEST_CASE("boot enable: a link beside a file that is written is not followed", "[boot]") {
	const Machine machine;
	machine.write("/victim", "untouched");
	std::filesystem::create_symlink(machine.root() + "/victim", machine.root() + "/out.img.dfr-new");
	boot::write_atomically(machine.root() + "/out.img", std::string("archive"), 0600);
	CHECK(machine.read("/victim") == "untouched");
	CHECK(machine.read("/out.img") == "archive");
	CHECK_FALSE(std::filesystem::is_symlink(machine.root() + "/out.img"));
}

TEST_CASE("boot: what cannot be stored keeps no machine on a trace", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/custom.cfg", "# mine\n");
	machine.write("/boot/grub/grubenv", environment("saved_entry=a\n"));
	enable(machine, plan("always"));
	const boot::Installation installation(machine.root());
	CHECK(installation.variable(boot::kArmedVariable) == "always");
	const auto block = [&](const std::string& path) {
		machine.write(path + ".dfr-new/full", ""); // where the new file would be written
	};
	const bool environment_too = GENERATE(false, true);
	if (environment_too)
		block("/boot/grub/grubenv");
	SECTION("renewed, only to be offered until it can go on") {
		block("/var/lib/dfr/boot/enabled");
		CHECK_THROWS(enable(machine, plan("menu")));
	}
	SECTION("disabled") {
		block("/boot/grub/custom.cfg");
		CHECK_THROWS(installation.disable());
		CHECK(boot::has_block(machine.read("/boot/grub/custom.cfg")));
	}
	CHECK(machine.read("/boot/grub/grubenv") == environment("saved_entry=a\n"));
}

TEST_CASE("boot: an installed kernel of the running one's release may be another build", "[boot]") {
	const Machine machine;
	const std::string version = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)";
	std::string image(0x4000, '\0');
	image.replace(0x202, 4, "HdrS");
	image[0x20f] = 0x31; // the text is at 0x200 + 0x3100
	const std::string text = "6.1.0-56-amd64 (somebody@somewhere) " + version;
	image.replace(0x3300, text.size(), text);
	machine.write("/vmlinuz", image);
	const std::string path = machine.root() + "/vmlinuz";
	CHECK_FALSE(boot::is_another_build(path, version));
	CHECK(boot::is_another_build(path, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-10-01)"));
	CHECK_FALSE(boot::is_another_build(machine.root() + "/none", version));
	machine.write("/vmlinuz", "\x1f\x8b and more");
	CHECK_FALSE(boot::is_another_build(path, version)); // it does not say
}

TEST_CASE("boot runs: counted when a trace was stored, and disarmed after the last", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment(""));
	enable(machine, plan("always", 2));
	const boot::Installation installation(machine.root());
	installation.traced();
	CHECK(installation.plan()->runs == 1);
	CHECK(installation.variable(boot::kArmedVariable) == "always");
	installation.traced();
	CHECK(installation.variable(boot::kArmedVariable).empty());
	CHECK(installation.plan()->mode == "menu");
	// Only offered, until a renewal can go on; somebody chose it in the menu, and it was the last one.
	boot::BootPlan offered = plan("menu", 1);
	offered.wanted = "always";
	enable(machine, offered);
	installation.traced();
	CHECK(installation.plan()->wanted.empty());
}

TEST_CASE("boot reached: the count of tries begins anew", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment("dfr_armed=always\ndfr_tries=1\n"));
	if (GENERATE(false, true))
		machine.write("/boot/grub/grubenv.dfr-new/full", ""); // there is no room beside it
	boot::Installation(machine.root()).reached();
	CHECK(machine.read("/boot/grub/grubenv") == environment("dfr_armed=always\n"));
}

TEST_CASE("boot enable --root: no link leads out of that root", "[boot]") {
	const Machine machine;
	machine.write("/outside/etc/custom.cfg", "# another machine's\n");
	machine.write("/machine/boot/grub/grub.cfg", kGrubConfig);
	machine.write("/machine/etc/custom.cfg", "# mine\n");
	const std::string root = machine.root() + "/machine";
	SECTION("a file's") {
		std::filesystem::create_symlink("../../../outside/etc/custom.cfg",
		                                root + "/boot/grub/custom.cfg");
		CHECK(boot::resolve_links(root, root + "/boot/grub/custom.cfg") ==
		      root + "/outside/etc/custom.cfg");
		std::filesystem::remove(root + "/boot/grub/custom.cfg");
		std::filesystem::create_symlink("../../../etc/custom.cfg", root + "/boot/grub/custom.cfg");
	}
	SECTION("a folder's") {
		std::filesystem::rename(root + "/boot/grub", root + "/grub");
		std::filesystem::create_symlink("../../../../../grub", root + "/boot/grub");
		std::filesystem::create_symlink("/etc/custom.cfg", root + "/grub/custom.cfg");
	}
	boot::Installation(root).enable(plan("always"));
	CHECK(machine.read("/outside/etc/custom.cfg") == "# another machine's\n");
	CHECK(boot::has_block(machine.read("/machine/etc/custom.cfg")));
	// One that leads to itself is not followed for ever, nor is the last of many left for the kernel to follow.
	std::filesystem::create_symlink("loop", root + "/loop");
	CHECK_THROWS_AS(boot::resolve_links(root, root + "/loop"), Error);
	std::filesystem::create_symlink(machine.root() + "/outside", root + "/0");
	for (int i = 1; i <= 45; i++)
		std::filesystem::create_symlink(std::to_string(i - 1), root + "/" + std::to_string(i));
	CHECK(boot::resolve_links(root, root + "/30") == root + machine.root() + "/outside");
	CHECK_THROWS_AS(boot::resolve_links(root, root + "/45"), Error);
}

TEST_CASE("boot enable, disable --root: nothing is written or removed outside where folders are links",
          "[boot]") {
	const Machine machine;
	const std::string root = machine.root() + "/machine", outside = machine.root() + "/outside";
	machine.write("/machine/boot/grub/grub.cfg", kGrubConfig);
	machine.write("/machine/usr/sbin/update-initramfs", "#!/bin/sh\n");
	std::filesystem::permissions(root + "/usr/sbin/update-initramfs", std::filesystem::perms{0755});
	for (const char* const folder :
	     {"/boot/dfr", "/var/lib/dfr/boot", "/etc/systemd/system/multi-user.target.wants",
	      "/etc/initramfs-tools/hooks", "/etc/initramfs-tools/scripts/init-top"}) {
		std::filesystem::create_directories(std::filesystem::path(root + folder).parent_path());
		std::filesystem::create_directory_symlink(outside, root + folder);
	}
	const std::string other = "default-" + std::string(kRelease) + ".img";
	machine.write("/outside/" + other, "another machine's");
	for (const char* const file : {"enabled", "dfr-boot-store.service", "00-dfr", "dfr"})
		machine.write("/outside/" + std::string(file), std::string(boot::kHookMark));
	const auto before = machine.all();
	const boot::Installation installation(root);
	boot::write_atomically(installation.archive("default", kRelease), std::string("archive"), 0600);
	const bool inside = GENERATE(false, true);
	if (inside)
		installation.enable_inside(plan("always"));
	else
		installation.enable(plan("always"));
	CHECK(installation.plan()->name == "default");
	CHECK(machine.read("/machine" + outside + "/" + other) == "archive");
	{
		const boot::BootLock held(root, [] { FAIL("nobody else has it"); });
	}
	CHECK(installation.disable());
	CHECK(machine.all() == before);
}

TEST_CASE("boot: the kernel's helper is ours only where the real modprobe is found again", "[boot]") {
	const Machine machine;
	const std::string& root = machine.root();
	const auto why = [&root] { return boot::no_helper(root, kRelease); };
	CHECK_THAT(why(), Catch::EndsWith("/sbin is no link to usr/sbin"));
	machine.write("/usr/bin/kmod", "");
	std::filesystem::create_directories(root + "/usr/sbin");
	std::filesystem::create_symlink("usr/sbin", root + "/sbin");
	std::filesystem::create_symlink("usr/bin", root + "/bin");
	const std::string modprobe = root + "/usr/sbin/modprobe";
	for (const char* const other : {"", "/opt/kmod", "/usr/bin/busybox"}) {
		if (*other)
			std::filesystem::create_symlink(other, modprobe);
		CHECK_THAT(why(), Catch::EndsWith("/usr/sbin/modprobe is no link to a kmod in bin or sbin"));
		std::filesystem::remove(modprobe);
	}
	for (const char* const kmod : {"../bin/kmod", "/bin/kmod"}) {
		std::filesystem::remove(modprobe);
		std::filesystem::create_symlink(kmod, modprobe);
		CHECK(why().empty());
	}
	const std::string config = std::string("/boot/config-") + kRelease;
	machine.write(config, "CONFIG_MODULES=y\nCONFIG_MODPROBE_PATH=\"/sbin/modprobe\"\n"
	                      "# CONFIG_STATIC_USERMODEHELPER is not set\n");
	CHECK(why().empty());
	machine.write(config, "CONFIG_MODPROBE_PATH=\"/opt/modprobe\"\n");
	CHECK_THAT(why(), Catch::EndsWith("has another CONFIG_MODPROBE_PATH than /sbin/modprobe"));
	machine.write(config, "CONFIG_A=y\nCONFIG_STATIC_USERMODEHELPER=y\n");
	CHECK_THAT(why(), Catch::EndsWith("has CONFIG_STATIC_USERMODEHELPER=y"));
	machine.write(config, "# CONFIG_MODULES is not set\n");
	CHECK_THAT(why(), Catch::EndsWith("has # CONFIG_MODULES is not set"));
}

TEST_CASE("boot: who asks for the helper gets it against the files, but not in an initrd", "[boot]") {
	for (const bool into_initrd : {false, true}) {
		for (const char* const loading : {"", boot::kByHelper})
			CHECK(boot::brings_helper(loading, "", into_initrd));
		for (const char* const why : {"", "/sbin is no link"})
			CHECK_FALSE(boot::brings_helper(boot::kByFirstProcess, why, into_initrd));
		CHECK_FALSE(boot::brings_helper("", "/sbin is no link", into_initrd));
	}
	CHECK(boot::brings_helper(boot::kByHelper, "/sbin is no link", false));
	CHECK_FALSE(boot::brings_helper(boot::kByHelper, "/sbin is no link", true));
}

TEST_CASE("boot plan: who is to load the module, and who records on, come back", "[boot]") {
	boot::BootPlan asked = plan("always");
	CHECK(boot::BootPlan::parse(asked.text()).loading.empty());
	CHECK(boot::BootPlan::parse(asked.text()).then.empty());
	asked.loading = "first-process";
	asked.then = "flight";
	CHECK(boot::BootPlan::parse(asked.text()).loading == "first-process");
	CHECK(boot::BootPlan::parse(asked.text()).then == "flight");
}

TEST_CASE("boot enable --inside: hooks, and nothing of GRUB's; disable makes every file what it was",
          "[boot]") {
	const Machine machine;
	have_initramfs_tools(machine);
	const boot::Installation installation(machine.root());
	const auto before = machine.all();
	enable_inside(machine);
	for (const char* const path : {kScript, kHook}) {
		CHECK_THAT(machine.read(path), Catch::StartsWith("#!/bin/sh\n"));
		CHECK(::access((machine.root() + path).c_str(), X_OK) == 0);
	}
	CHECK(machine.read("/boot/grub/custom.cfg") == "(none)");
	CHECK(machine.read("/boot/grub/grubenv") == "(none)");
	CHECK(installation.plan()->inside);
	CHECK(installation.kernels_inside().empty());
	for (const char* const release : {kRelease, "6.1.0-60-amd64"}) {
		machine.write(std::string("/lib/modules/") + release + "/modules.dep", "");
		machine.write(std::string("/boot/vmlinuz-") + release, "");
	}
	CHECK(installation.kernels_inside() == std::vector<std::string>{kRelease});
	std::filesystem::remove_all(machine.root() + "/lib");
	for (const char* const release : {kRelease, "6.1.0-60-amd64"})
		std::filesystem::remove(machine.root() + "/boot/vmlinuz-" + release);
	CHECK(installation.disable());
	CHECK(machine.all() == before);
}

TEST_CASE("boot enable --inside, disable: an interrupted one has no half of a hook", "[boot]") {
	const Machine whole;
	have_initramfs_tools(whole);
	enable_inside(whole);
	check_every_beginning(have_initramfs_tools, enable_inside, [&whole](const Machine& machine) {
		// The script does nothing without what the hook adds, and the hook has all that it needs.
		for (const char* const path : {kScript, kHook})
			CHECK((machine.read(path) == whole.read(path) || machine.read(path) == "(none)"));
		if (machine.read(kHook) != "(none)") {
			CHECK(without_plan(machine) == without_plan(whole));
		}
	});
}

TEST_CASE("boot enable --inside: dracut's module is written where initramfs-tools is not; disable removes "
          "its folder",
          "[boot]") {
	const Machine machine;
	have_dracut(machine);
	const boot::Installation installation(machine.root());
	const auto before = machine.all();
	enable_inside(machine);
	for (const char* const path : {kModuleSetup, kModuleScript})
		CHECK_THAT(machine.read(path), Catch::Contains(boot::kHookMark));
	CHECK(machine.read(kHook) == "(none)");
	CHECK(installation.disable());
	CHECK(machine.all() == before);
	CHECK_FALSE(std::filesystem::exists(machine.root() + kModuleFolder));
	// For a try, beside initramfs-tools.
	have_initramfs_tools(machine);
	CHECK(boot::initrd_builder(machine.root())->name == std::string("initramfs-tools"));
	enable_inside(machine);
	CHECK(machine.read(kModuleSetup) == "(none)");
	CHECK(machine.read(kHook) != "(none)");
}

TEST_CASE("boot enable --inside, disable: an interrupted one has no half of a dracut module", "[boot]") {
	const Machine whole;
	have_dracut(whole);
	enable_inside(whole);
	check_every_beginning(have_dracut, enable_inside, [&whole](const Machine& machine) {
		for (const char* const path : {kModuleSetup, kModuleScript})
			CHECK((machine.read(path) == whole.read(path) || machine.read(path) == "(none)"));
		if (machine.read(kModuleSetup) != "(none)") {
			CHECK(without_plan(machine) == without_plan(whole));
		}
	});
}

// Runs functions of dracut's module as dracut does, with a dfr that succeeds or not; `set` says what dracut knows.
int in_dracut(const Machine& machine, const std::string& set, const std::string& call, bool adds = true) {
	const std::string dfr = machine.root() + "/usr/bin/dfr";
	machine.write("/usr/bin/dfr", std::string("#!/bin/sh\necho $* >>") + machine.root() +
	                                  "/asked\nexit " + (adds ? "0" : "1") + "\n");
	std::filesystem::permissions(dfr, std::filesystem::perms{0755});
	std::string module = machine.read(kModuleSetup);
	for (size_t at = 0; (at = module.find("/usr/bin/dfr", at)) != std::string::npos; at += dfr.size())
		module.replace(at, 12, dfr);
	machine.write("/run.sh",
	              module + "\noutfile=/boot/initrd.img-6.1 kernel=6.1 initdir=" + machine.root() +
	                  "/initrd systemdutildir=/lib/systemd moddir=" + machine.root() + kModuleFolder +
	                  "\n"
	                  "inst_hook() { mkdir -p $initdir/hooks && cp $3 $initdir/hooks/$1-$2; }\n"
	                  "dracut_module_included() { [[ $systemd ]]; }\n" +
	                  set + "\n" + call + "\n");
	return WEXITSTATUS(
	    std::system(("bash " + machine.root() + "/run.sh 2>" + machine.root() + "/said").c_str()));
}

TEST_CASE("boot inside, dracut: its module is for the machine's own initrds, not for a crash kernel's",
          "[boot]") {
	const Machine machine;
	have_dracut(machine);
	enable_inside(machine);
	CHECK(in_dracut(machine, "", "check") == 0);
	CHECK(in_dracut(machine, "add_dracutmodules='lvm earlykdump'", "check") == 0);
	for (const char* const other :
	     {"outfile=/var/lib/kdump/initrd.img-6.1", "outfile=/boot/initramfs-6.1kdump.img",
	      "add_dracutmodules=' kdumpbase '", "force_add_dracutmodules=kdumpbase",
	      "dracutmodules='base kdumpbase'", "dracutsysrootdir=/mnt"})
		CHECK(in_dracut(machine, other, "check") == 1);
}

TEST_CASE(
    "boot inside, dracut: a generator of systemd or dracut's first hook starts the shim, or nothing is there",
    "[boot]") {
	const Machine machine;
	have_dracut(machine);
	enable_inside(machine);
	const auto initrd = [&machine] {
		std::map<std::string, std::string> files = machine.all();
		std::erase_if(files, [](const auto& file) { return !file.first.starts_with("/initrd/"); });
		std::filesystem::remove_all(machine.root() + "/initrd");
		return files;
	};
	using Files = std::map<std::string, std::string>;
	CHECK(in_dracut(machine, "systemd=1", "install") == 0);
	CHECK(initrd() == Files{{"/initrd/lib/systemd/system-generators/dfr-init", "/dfr-init"}});
	CHECK(in_dracut(machine, "", "install") == 0);
	CHECK(initrd() == Files{{"/initrd/hooks/cmdline-00", machine.read(kModuleScript)}});
	CHECK(machine.read("/asked") == std::string("boot add --kernel 6.1 ") + machine.root() + "/initrd\n" +
	                                    "boot add --kernel 6.1 " + machine.root() + "/initrd\n");
	// A module that fails would fail the upgrade of a kernel.
	CHECK(in_dracut(machine, "systemd=1", "install", false) == 0);
	CHECK(initrd().empty());
	CHECK(machine.read("/said") == "dfr: the boot of kernel 6.1 will not be traced\n");
}

TEST_CASE(
    "boot disable: initrds are made anew, all of them, and none is taken for plain unless it is known to be",
    "[boot]") {
	const Machine machine;
	const std::vector<std::string> kernels{"1", "2", "3", "4", "5", "gone"};
	// What a look says afterwards; what was done comes in this order.
	std::map<std::string, int> looks;
	std::vector<std::string> done;
	bool makes = true;
	const boot::InitrdBuilder& builder = boot::initrd_builders().front();
	const auto run = [&](const char* command, const std::string& release) {
		const bool make = command == builder.make;
		done.push_back((make ? "make " : "look ") + release);
		if (make && makes)
			looks[release] = int(boot::InitrdState::kPlain);
		return make ? 0 : looks.at(release); // it succeeds also where it makes nothing
	};
	const auto leave = [&] { boot::make_plain(machine.root(), kernels, run); };
	CHECK_THROWS_WITH(leave(), Catch::Contains("nothing is known here that makes initrds"));
	have_initramfs_tools(machine);
	for (const char* const release : {"1", "2", "3", "4", "5"})
		machine.write(std::string("/boot/initrd.img-") + release, "");
	for (const bool able : {false, true}) {
		makes = able;
		looks = {{"1", int(boot::InitrdState::kTraced)},
		         {"2", int(boot::InitrdState::kPlain)},
		         {"3", int(boot::InitrdState::kUnknown)},
		         {"4", 127},
		         {"5", int(boot::InitrdState::kBroken)}};
		done.clear();
		if (able)
			CHECK_NOTHROW(leave());
		else
			CHECK_THROWS_WITH(
			    leave(),
			    Catch::EndsWith(": that of kernel 1 has the trace; that of kernel 3 may have "
			                    "the trace; that of kernel 4 may have the trace; that of "
			                    "kernel 5 has the trace"));
		CHECK(done == std::vector<std::string>{"make 1", "look 1", "make 2", "look 2", "make 3",
		                                       "look 3", "make 4", "look 4", "make 5", "look 5"});
	}
}

TEST_CASE("boot disable: initrds with the trace are known where the copies of it are gone", "[boot]") {
	const Machine machine;
	const auto run = [](const char* command, const std::string& release) {
		REQUIRE(command == boot::initrd_builders().front().look);
		return release == "1"   ? int(boot::InitrdState::kTraced)
		       : release == "2" ? int(boot::InitrdState::kPlain)
		       : release == "3" ? int(boot::InitrdState::kBroken)
		                        : 127;
	};
	const std::vector<std::string> kernels{"1", "2", "3", "4", "without"};
	CHECK(boot::traced_among(machine.root(), kernels, run).empty());
	have_initramfs_tools(machine);
	for (const char* const release : {"1", "2", "3", "4"})
		machine.write(std::string("/boot/initrd.img-") + release, "");
	CHECK(boot::traced_among(machine.root(), kernels, run) == std::vector<std::string>{"1", "3"});
}

// As `dfr boot` runs a builder's command, with a program that lists what an initrd has and says `list`.
int look(const Machine& machine, const std::string& list, int status,
         const boot::InitrdBuilder& builder = boot::initrd_builders().front()) {
	for (const char* const lister : {"/bin/lsinitramfs", "/bin/lsinitrd"}) {
		machine.write(lister,
		              "#!/bin/sh\nprintf '" + list + "'\nexit " + std::to_string(status) + "\n");
		std::filesystem::permissions(machine.root() + lister, std::filesystem::perms{0755});
	}
	machine.write("/look", builder.look);
	const std::string command =
	    "PATH=" + machine.root() + "/bin:$PATH sh -c \"$(cat " + machine.root() + "/look)\" sh 6.1";
	return WEXITSTATUS(std::system(command.c_str()));
}

TEST_CASE("boot: an initrd that cannot be listed is not taken for one without the trace", "[boot]") {
	const Machine machine;
	for (const char* const modprobe : {"sbin/modprobe", "usr/sbin/modprobe"})
		CHECK(look(machine, std::string("kernel\ninit\ndfr.ko\n") + modprobe + "\n", 0) ==
		      int(boot::InitrdState::kTraced));
	CHECK(look(machine, "init\ndfr.ko\nusr/lib/modprobe\n", 0) == int(boot::InitrdState::kBroken));
	CHECK(look(machine, "init\ndfr.ko.xz\nlib/dfr.ko\n", 0) == int(boot::InitrdState::kPlain));
	CHECK(look(machine, "init\ndfr.ko\n", 1) == int(boot::InitrdState::kUnknown));
	CHECK(look(machine, "", 0) == int(boot::InitrdState::kUnknown));
	CHECK(look(machine, "kernel/x86\n", 0) == int(boot::InitrdState::kUnknown));
}

TEST_CASE("boot: an initrd of dracut is known by what its listing says", "[boot]") {
	const Machine machine;
	const boot::InitrdBuilder& dracut = boot::initrd_builders().back();
	REQUIRE(dracut.name == std::string("dracut"));
	const std::string init = "lrwxrwxrwx 1 root root 23 Nov 26 01:19 init -> usr/lib/systemd/systemd\n";
	const auto file = [](const std::string& name) {
		return "-rw-r--r--   1 root     root        23 Nov 26 01:19 " + name + "\n";
	};
	const auto looked = [&](const std::string& list, int status = 0) {
		return boot::InitrdState(look(machine, list, status, dracut));
	};
	const std::string helper = file("usr/sbin/modprobe -> ../../dfr-init");
	CHECK(looked(init + file("dfr.ko") + helper) == boot::InitrdState::kTraced);
	CHECK(looked(init + file("dfr.ko") + file("usr/sbin/modprobe")) == boot::InitrdState::kTraced);
	CHECK(looked(init + file("dfr.ko") + file("usr/lib/modprobe")) == boot::InitrdState::kBroken);
	CHECK(looked(init + file("dfr.ko.xz") + file("lib/dfr.ko") + helper) == boot::InitrdState::kPlain);
	CHECK(looked(init + file("dfr.ko") + helper, 1) == boot::InitrdState::kUnknown);
	CHECK(looked("Image: /boot/initrd.img-6.1: 1.0M\n") == boot::InitrdState::kUnknown);
}

TEST_CASE("boot enable: by GRUB or inside the initrd, not both", "[boot]") {
	const Machine machine;
	CHECK_THROWS_WITH(enable_inside(machine),
	                  Catch::Contains("nothing is known here that makes initrds"));
	have_initramfs_tools(machine);
	enable(machine, plan("always"));
	CHECK_THROWS_WITH(enable_inside(machine), Catch::Contains("by an entry of GRUB"));
	CHECK(machine.read(kHook) == "(none)");
	const boot::Installation installation(machine.root());
	installation.disable();
	enable_inside(machine);
	CHECK_THROWS_WITH(enable(machine, plan("always")), Catch::Contains("inside the initrd"));
	CHECK(machine.read("/boot/grub/custom.cfg") == "(none)");
	std::filesystem::remove(machine.root() + "/boot/grub/grub.cfg");
	std::string hint;
	CHECK_THAT(installation.obstacle(kRelease, hint), Catch::Contains("not GRUB"));
	CHECK_THAT(hint, Catch::StartsWith("dfr boot enable --inside"));
}

TEST_CASE("boot enable: the other way is refused before an archive is made", "[boot]") {
	const Machine machine;
	have_initramfs_tools(machine);
	enable_inside(machine);
	const auto dfr = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "dfr";
	const std::string command = dfr.string() + " boot enable --kernel " + kRelease + " --root " +
	                            machine.root() + " >" + machine.root() + "/said 2>&1";
	CHECK(std::system(command.c_str()) != 0);
	// What is missing for an archive would be said first.
	CHECK_THAT(machine.read("/said"), Catch::Contains("the trace is enabled inside the initrd"));
}

// What `dfr boot WHAT` says of that machine.
std::string said_by(const char* what, const Machine& machine) {
	const auto dfr = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "dfr";
	const std::string command = dfr.string() + " boot " + what + " --root " + machine.root() + " >" +
	                            machine.root() + "/said 2>&1";
	REQUIRE(std::system(command.c_str()) != -1);
	return machine.read("/said");
}

TEST_CASE("boot enable --runs: no boots are not all of them", "[boot]") {
	const Machine machine;
	CHECK_THAT(said_by("enable --runs 0", machine), Catch::Contains("--runs takes a number of boots"));
}

TEST_CASE("boot renew: an entry that is not that of its kernel any more is written anew", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment(""));
	for (const char* const path : {"/boot/vmlinuz-", "/lib/modules/"})
		machine.write(path + std::string(kRelease) + (path[1] == 'l' ? "/modules" : ""), "");
	const boot::Installation installation(machine.root());
	enable(machine, plan("always"));
	CHECK(installation.entry_is_current(plan("always")));
	CHECK(installation.entry_is_current(plan("menu"))); // after the last of so many boots
	enable(machine, plan("menu"));
	CHECK_FALSE(installation.entry_is_current(plan("always")));
	enable(machine, plan("always"));
	// update-grub, after somebody has moved the root.
	std::string moved = kGrubConfig;
	for (size_t at; (at = moved.find("UUID=1234")) != std::string::npos;)
		moved.replace(at, 9, "UUID=5678");
	machine.write("/boot/grub/grub.cfg", moved);
	CHECK_THAT(said_by("doctor", machine), Catch::Contains("next: dfr boot renew"));
	said_by("renew", machine);
	CHECK(installation.entry_is_current(plan("always")));
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"), Catch::Contains("UUID=5678"));
	// An enable for another kernel that was interrupted behind the plan.
	boot::BootPlan newest = plan("always");
	newest.release = "6.1.0-60-amd64";
	machine.write("/boot/vmlinuz-" + newest.release, "");
	machine.write("/lib/modules/" + newest.release + "/modules", "");
	machine.write("/var/lib/dfr/boot/enabled", newest.text());
	said_by("renew", machine);
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"), !Catch::Contains("vmlinuz-6.1.0-60-amd64"));
	machine.write("/boot/dfr/default-" + newest.release + ".img", "archive");
	said_by("renew", machine);
	CHECK_THAT(machine.read("/boot/grub/custom.cfg"),
	           Catch::Contains("vmlinuz-6.1.0-60-amd64") && !Catch::Contains("vmlinuz-6.1.0-56-amd64"));
}

TEST_CASE("boot renew: an enable with another name that was interrupted leaves no archive of before",
          "[boot]") {
	const std::string former = "/boot/dfr/default-" + std::string(kRelease) + ".img";
	const std::string other = "/boot/dfr/other-" + std::string(kRelease) + ".img";
	int status = 99;
	for (unsigned changes = 2; status == 99; changes++) {
		INFO(changes);
		const Machine machine;
		machine.write("/boot/grub/grubenv", environment(""));
		have_kernel(machine, kRelease);
		const auto before = machine.all();
		enable(machine, plan("always"));
		status = interrupted(changes, [&]() {
			boot::write_atomically(machine.root() + other, std::string("archive"), 0600);
			boot::BootPlan next = plan("once");
			next.name = "other";
			boot::Installation(machine.root()).enable(next);
		});
		said_by("renew", machine);
		std::filesystem::remove(machine.root() + "/said");
		CHECK(machine.read(former) == "(none)");
		CHECK(machine.read(other) == "archive");
		CHECK_THAT(machine.read("/boot/grub/custom.cfg"), Catch::Contains("dfr-other"));
		CHECK_THAT(machine.read("/var/lib/dfr/boot/enabled"), !Catch::Contains("older="));
		boot::Installation(machine.root()).disable();
		CHECK(machine.all() == before);
	}
}

TEST_CASE("boot: one at a time changes what is enabled, and by what it finds then", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment("dfr_tries=1\n"));
	have_kernel(machine, kRelease);
	const auto before = machine.all();
	const std::string what = GENERATE("renew", "disable", "reached", "enable", "build");
	boot::Installation(machine.root())
	    .enable(plan("always")); // without an archive: a renewal would not end
	auto done = machine.all();
	pid_t child = 0;
	{
		const boot::BootLock held(machine.root(), [] { FAIL("nobody else has it"); });
		done = machine.all();
		const auto rest =
		    what == "enable" || what == "build" ? " --kernel " + std::string(kRelease) : "";
		if ((child = ::fork()) == 0) {
			said_by((what + rest).c_str(), machine);
			::_exit(0);
		}
		// It says that it waits, or else it ends.
		while (machine.read("/said").find("waits until another") == std::string::npos &&
		       ::waitpid(child, nullptr, WNOHANG) == 0)
			::usleep(1000);
		REQUIRE_THAT(machine.read("/said"), Catch::Contains("waits until another"));
		auto now = machine.all();
		now.erase("/said");
		CHECK(now == done);
		boot::Installation(machine.root()).disable();
	}
	CHECK(::waitpid(child, nullptr, 0) == child);
	std::filesystem::remove(machine.root() + "/said");
	auto all = machine.all();
	for (const char* const path : {"/boot/grub/grubenv", "/var/lib/dfr/boot/lock"})
		CHECK(all.contains(path) == before.contains(path));
	CHECK_FALSE(all.contains("/var/lib/dfr/boot/enabled")); // nothing was turned round
	CHECK_FALSE(all.contains("/boot/grub/custom.cfg"));
}

TEST_CASE("boot: nobody waits for ever for one that does not end, which is named", "[boot]") {
	const Machine machine;
	const boot::BootLock held(machine.root(), [] { FAIL("nobody else has it"); });
	int told = 0;
	CHECK_THROWS_WITH(
	    boot::BootLock(
	        machine.root(), [&told] { told++; }, std::chrono::milliseconds(1)),
	    Catch::Contains("process " + std::to_string(::getpid()) + " holds " + machine.root()));
	CHECK(told == 1);
	CHECK(machine.read("/var/lib/dfr/boot/lock") == std::to_string(::getpid()) + "\n");
}

TEST_CASE("boot renew: a disable that was interrupted is ended, not turned round", "[boot]") {
	int status = 99;
	for (unsigned changes = 1; status == 99; changes++) {
		INFO(changes);
		const Machine machine;
		machine.write("/boot/grub/custom.cfg", "# mine\n");
		machine.write("/boot/grub/grubenv", environment("saved_entry=a\n"));
		have_kernel(machine, kRelease);
		const auto before = machine.all();
		enable(machine, plan("always", 3));
		status = interrupted(changes, [&]() { boot::Installation(machine.root()).disable(); });
		if (status == 99 && changes < 7) {
			CHECK_THAT(said_by("status", machine), Catch::Contains("that did not end itself"));
			CHECK_THAT(said_by("doctor", machine), Catch::Contains("next: dfr boot disable"));
			boot::Installation(machine.root()).traced(); // of the boot that runs
			CHECK_THAT(said_by("renew", machine), Catch::Contains("disabled"));
			std::filesystem::remove(machine.root() + "/said");
		}
		CHECK(machine.all() == before);
	}
}

TEST_CASE("boot renew: a trace that is over leaves the menu with its kernel", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment(""));
	const auto before = machine.all();
	const char* const state = GENERATE("spent", "failed");
	have_kernel(machine, kRelease);
	enable(machine, plan("once"));
	machine.write("/boot/grub/grubenv", environment(std::string("dfr_armed=") + state + "\n"));
	const auto over = machine.all();
	CHECK(said_by("renew", machine).empty());
	std::filesystem::remove(machine.root() + "/said");
	CHECK(machine.all() == over);
	// Nothing of /boot and /lib is there to be seen: not mounted.
	std::filesystem::remove(machine.root() + "/boot/vmlinuz-" + kRelease);
	CHECK(said_by("renew", machine).empty());
	CHECK(boot::has_block(machine.read("/boot/grub/custom.cfg")));
	have_kernel(machine, "6.1.0-60-amd64");
	CHECK_THAT(said_by("renew", machine), Catch::Contains("disabled"));
	for (const char* const path : {"/said", "/boot/vmlinuz-6.1.0-60-amd64"})
		std::filesystem::remove(machine.root() + path);
	std::filesystem::remove_all(machine.root() + "/lib");
	CHECK(machine.all() == before);
}

TEST_CASE("boot renew: what lies in /boot of an initrd with the trace goes with its kernel", "[boot]") {
	const Machine machine;
	have_dracut(machine);
	enable_inside(machine);
	machine.write("/boot/dfr/default-6.1.0-60-amd64.img", "archive");
	machine.write("/boot/dfr/other-6.1.0-50-amd64.img", "archive");
	const auto before = machine.all();
	said_by("renew", machine);
	std::filesystem::remove(machine.root() + "/said");
	CHECK(machine.all() == before); // no kernel is to be seen
	machine.write("/boot/vmlinuz-6.1.0-60-amd64", "");
	machine.write("/lib/modules/6.1.0-60-amd64/modules", "");
	said_by("renew", machine);
	CHECK(machine.read(std::string("/boot/dfr/default-") + kRelease + ".img") == "(none)");
	CHECK(machine.read("/boot/dfr/default-6.1.0-60-amd64.img") == "archive");
	CHECK(machine.read("/boot/dfr/other-6.1.0-50-amd64.img") == "archive");
}

TEST_CASE("boot doctor: what is enabled and would not be chosen is told", "[boot]") {
	const Machine machine;
	machine.write("/boot/grub/grubenv", environment(""));
	const auto doctor = [&]() {
		const std::string said = said_by("doctor", machine);
		const size_t at = said.find("enabled ");
		return at == std::string::npos ? said : said.substr(at);
	};
	enable(machine, plan("always"));
	CHECK_THAT(doctor(), Catch::Contains("ok: default for kernel"));
	// Somebody has made grubenv anew; a renewal has failed; its boot has been started.
	machine.write("/boot/grub/grubenv", environment(""));
	CHECK_THAT(doctor(), Catch::Contains("WRONG") && Catch::Contains("grubenv does not say so"));
	boot::BootPlan offered = plan("menu");
	enable(machine, offered);
	CHECK_THAT(doctor(), Catch::Contains("ok: default for kernel"));
	offered.wanted = "always";
	enable(machine, offered);
	CHECK_THAT(doctor(), Catch::Contains("WRONG") && Catch::Contains("next: dfr boot renew"));
	enable(machine, plan("once"));
	machine.write("/boot/grub/grubenv", environment("dfr_armed=spent\n"));
	CHECK_THAT(doctor(), Catch::Contains("has been started"));
}

TEST_CASE("boot doctor: an archive whose module the kernel will refuse for its signature is told", "[boot]") {
	const Machine machine;
	const std::string signature = "~Module signature appended~\n";
	machine.write("/var/lib/dkms/mok.pub", "key");
	for (const bool wanted : {false, true})
		for (const bool is_signed : {false, true}) {
			const auto packed = boot::pack_archive(
			    {file(boot::kShimFile, "shim"), file(boot::kProgramFile, "program"),
			     file(boot::kModuleFile, "module" + (is_signed ? signature : "")),
			     file(boot::kParametersFile, parameters_of("default"))});
			machine.write("/boot/dfr/default-" + std::string(kRelease) + ".img",
			              {packed.begin(), packed.end()});
			machine.write("/sys/module/module/parameters/sig_enforce", wanted ? "Y\n" : "N\n");
			const std::string said =
			    said_by(("doctor --kernel " + std::string(kRelease)).c_str(), machine);
			INFO(said);
			CHECK((said.find("signing    WRONG: module.sig_enforce is set, and the archive's "
			                 "module has no signature") != std::string::npos) ==
			      (wanted && !is_signed));
			CHECK((said.find("next: install dfr-dkms and linux-headers-" + std::string(kRelease) +
			                 ", then dfr boot renew") != std::string::npos) ==
			      (wanted && !is_signed));
			CHECK((said.find("mokutil --test-key") != std::string::npos) == wanted);
		}
}

// dkms(8): MODULE/VERSION is not optional for build and install, and without -k they are for the running kernel.
TEST_CASE("boot doctor: DKMS is to build the module anew for the kernel that was asked about", "[boot]") {
	const Machine machine;
	machine.write("/sys/module/module/parameters/sig_enforce", "Y\n");
	machine.write("/usr/src/dfr-other/README", "of somebody else");
	machine.write("/usr/src/dfr-1.2~rc3/dkms.conf", "");
	machine.write("/usr/src/linux-headers-6.1.0-60-amd64/dkms.conf", "");
	const auto packed = boot::pack_archive(
	    {file(boot::kShimFile, "shim"), file(boot::kProgramFile, "program"),
	     file(boot::kModuleFile, "module"), file(boot::kParametersFile, parameters_of("default"))});
	machine.write("/boot/dfr/default-" + std::string(kRelease) + ".img", {packed.begin(), packed.end()});
	const std::string doctor = "doctor --kernel " + std::string(kRelease),
	                  anew = "dkms build --force dfr/1.2~rc3 -k 6.1.0-56-amd64 && "
	                         "dkms install --force dfr/1.2~rc3 -k 6.1.0-56-amd64, then ";
	CHECK_THAT(said_by(doctor.c_str(), machine), Catch::Contains("next: " + anew + "dfr boot renew"));
	CHECK_THAT(said_by(doctor.c_str(), machine),
	           Catch::Contains("next: dkms generate_mok, then " + anew +
	                           "mokutil --import /var/lib/dkms/mok.pub, then dfr boot renew"));
}

TEST_CASE("boot doctor: nobody counts where GRUB is not", "[boot]") {
	const Machine machine;
	std::filesystem::remove(machine.root() + "/boot/grub/grub.cfg");
	const std::string said = said_by("doctor", machine);
	CHECK_THAT(said, Catch::Contains("the boot loader is not GRUB"));
	CHECK_THAT(said, !Catch::Contains("counting"));
}

TEST_CASE("boot doctor: an initrd that is older than the copy of what is in it is told", "[boot]") {
	const Machine machine;
	have_dracut(machine);
	enable_inside(machine);
	const auto initrd = machine.root() + "/boot/initrd.img-" + kRelease;
	const std::string copy = machine.root() + "/boot/dfr/default-" + kRelease + ".img";
	const auto doctor = [&] {
		return said_by((std::string("doctor --kernel ") + kRelease).c_str(), machine);
	};
	CHECK_THAT(doctor(), !Catch::Contains("was made before"));
	machine.write(std::string("/boot/initrd.img-") + kRelease, "");
	const auto copied = std::filesystem::last_write_time(copy);
	for (const bool older : {false, true}) {
		std::filesystem::last_write_time(initrd, copied + std::chrono::milliseconds(older ? -1 : 1));
		CHECK((doctor().find("initrd     WRONG: that of kernel") != std::string::npos) == older);
	}
	std::filesystem::remove(copy);
	CHECK_THAT(doctor(), !Catch::Contains("was made before"));
}

TEST_CASE("boot add: an initrd gets all files, the helper last, or none", "[boot]") {
	const Machine machine;
	machine.write("/usr/bin/kmod", "kmod");
	std::filesystem::create_directories(machine.root() + "/usr/sbin");
	std::filesystem::create_symlink("../bin/kmod", machine.root() + "/usr/sbin/modprobe");
	const auto before = machine.all();
	const std::string target = "/dfr-init";
	const std::map<std::string, boot::ArchiveFile> files{
	    {boot::kModuleFile, {boot::kModuleFile, 0644, {'m'}}},
	    {boot::kShimFile, {boot::kShimFile, 0755, {'s'}}},
	    {boot::kHelperLink, {boot::kHelperLink, 0777, {target.begin(), target.end()}, true}}};
	std::filesystem::create_directories(machine.root() + "/dfr.ko/x"); // in the way of the module
	CHECK_THROWS_WITH(boot::add_to_initrd(files, machine.root()), Catch::Contains("cannot write"));
	std::filesystem::remove_all(machine.root() + "/dfr.ko");
	CHECK(machine.all() == before);
	boot::add_to_initrd(files, machine.root());
	auto after = before;
	after["/dfr.ko"] = "m";
	after["/dfr-init"] = "s";
	after["/usr/sbin/modprobe"] = "../../dfr-init";
	CHECK(machine.all() == after);
	CHECK(::access((machine.root() + "/usr/sbin/modprobe").c_str(), X_OK) ==
	      0); // it leads somewhere here, too
	CHECK(::access((machine.root() + "/dfr-init").c_str(), X_OK) == 0);
}

} // namespace boot_install_test
