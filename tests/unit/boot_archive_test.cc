// SPDX-License-Identifier: GPL-2.0
//
// The archive of a boot (bootloader-hooks/boot/archive.h): read by cpio and zstd as well as by ourselves, the same bytes
// for the same files, damage noticed; digests by the examples of FIPS 180-4; what `dfr boot build` says of probes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "analyze/libdfr/boot_target.h"
#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/sha256.h"
#include "formats/error.h"

namespace boot_archive_test {

using namespace dfr;

namespace {

std::vector<uint8_t> bytes_of(const std::string& text) {
	return {text.begin(), text.end()};
}

std::string digest(const std::string& text) {
	return boot::sha256(bytes_of(text));
}

const boot::ProgramOrigin kOrigin{.name = "who-ran",
                                  .release = "6.1.0-56-amd64",
                                  .source = std::string(64, '1'),
                                  .dof = std::string(64, '2'),
                                  .module = std::string(64, '3'),
                                  .btf = "0123456789abcdef"};

std::vector<boot::ArchiveFile> files() {
	return {{boot::kShimFile, 0755, bytes_of("shim")},
	        {boot::kModuleFile, 0644, std::vector<uint8_t>(5000, 7)},
	        {boot::kProgramFile, 0600, bytes_of("DOF")},
	        {boot::kParametersFile, 0600, bytes_of(kOrigin.parameters())},
	        {boot::kHelperLink, 0777, bytes_of("/dfr-init"), true}};
}

std::string output_of(const std::string& command) {
	const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
	std::string text;
	for (int c; pipe && (c = std::fgetc(pipe.get())) != EOF;)
		text += static_cast<char>(c);
	return text;
}

} // namespace

TEST_CASE("sha256: the standard's examples", "[boot]") {
	CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
	      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	CHECK(digest(std::string(1000000, 'a')) ==
	      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("boot archive: cpio reads it, and it has no folders", "[boot]") {
	char path[] = "/tmp/boot-archive-XXXXXX";
	const int descriptor = ::mkstemp(path);
	REQUIRE(descriptor >= 0);
	::close(descriptor);
	const std::vector<uint8_t> packed = boot::pack_archive(files());
	std::ofstream(path, std::ios::binary)
	    .write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
	const std::string plain = "tail -c +513 " + std::string(path) + " | zstd -dc";
	CHECK(output_of(plain + " | cpio --quiet -it") ==
	      "dfr-init\ndfr.ko\ndfr.dof\ndfr.parameters\nusr/sbin/modprobe\n");
	CHECK_THAT(output_of(plain + " | cpio --quiet -itv"),
	           Catch::Contains("usr/sbin/modprobe -> /dfr-init\n"));
	CHECK(output_of(plain + " | cpio --quiet -i --to-stdout dfr.dof") == "DOF");
	::unlink(path);
	// What ends the initrd before it.
	CHECK(boot::kZeros % 4 == 0);
	CHECK(std::ranges::all_of(packed.begin(), packed.begin() + boot::kZeros,
	                          [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("boot archive: it comes back as it was, and the same files are the same bytes", "[boot]") {
	const std::vector<uint8_t> packed = boot::pack_archive(files());
	CHECK(packed == boot::pack_archive(files()));
	const auto unpacked = boot::unpack_archive(packed, "boot.img");
	REQUIRE(unpacked.size() == files().size());
	for (const boot::ArchiveFile& file : files()) {
		const boot::ArchiveFile& found = unpacked.at(file.name);
		CHECK(found.bytes == file.bytes);
		CHECK(found.mode == file.mode);
		CHECK(found.link == file.link);
	}
}

TEST_CASE("boot archive: whatever byte is changed, the files are as they were, or it is an error", "[boot]") {
	const std::vector<uint8_t> packed = boot::pack_archive(files());
	const auto sound = boot::unpack_archive(packed, "boot.img");
	size_t errors = 0;
	for (size_t at = 0; at < packed.size(); at++) {
		std::vector<uint8_t> harmed = packed;
		harmed[at] ^= 0x41;
		std::map<std::string, boot::ArchiveFile> found;
		try {
			found = boot::unpack_archive(harmed, "boot.img");
		} catch (const Error&) {
			errors++;
			continue;
		}
		CHECK(found.size() == sound.size());
		for (const auto& [name, file] : sound)
			CHECK(found[name].bytes == file.bytes);
	}
	CHECK(errors > packed.size() * 9 / 10);
	CHECK_THROWS_AS(boot::unpack_archive(bytes_of("nothing of ours"), "boot.img"), Error);
	CHECK_THROWS_AS(boot::unpack_archive({}, "boot.img"), Error);
}

TEST_CASE("boot archive: a number of an entry is eight digits and nothing else", "[boot]") {
	const auto entry = [](const std::string& name_size, const std::string& name) {
		std::string text = "070701";
		for (int number = 0; number < 13; number++)
			text += number == 11 ? name_size : "00000000";
		text += name + '\0';
		text.resize((text.size() + 3) / 4 * 4);
		return text;
	};
	const auto unpack = [&entry](const std::string& name_size) {
		return boot::unpack_archive(
		    bytes_of(entry(name_size, "dfr.dof") + entry("0000000B", "TRAILER!!!")), "boot.img");
	};
	CHECK(unpack("00000008").contains("dfr.dof"));
	// The first one leads back to its own entry, which would be read for ever.
	for (const char* const harmed :
	     {"-0000070", "+0000008", " 0000008", "0x000008", "0000000g", "FFFFFFFF"})
		CHECK_THROWS_AS(unpack(harmed), Error);
}

TEST_CASE("boot archive: it says what it was made of", "[boot]") {
	CHECK(kOrigin.parameters().starts_with(
	    "program=/dfr.dof program_origin=who-ran,kernel=6.1.0-56-amd64,"));
	const boot::ProgramOrigin read = boot::ProgramOrigin::parse(kOrigin.parameters(), "boot.img");
	CHECK(read.name == kOrigin.name);
	CHECK(read.release == kOrigin.release);
	CHECK(read.dof == kOrigin.dof.substr(0, 16));
	CHECK(read.btf == kOrigin.btf);
	CHECK_THROWS_AS(boot::ProgramOrigin::parse("program=/dfr.dof\n", "boot.img"), Error);
	CHECK_FALSE(boot::valid_name("a b"));
	CHECK_FALSE(boot::valid_name("../x"));
	CHECK(boot::valid_name("disk-io_2"));
}

TEST_CASE("boot target: the providers that are tables are known without types", "[boot]") {
	lib::BootTarget target("/nonexistent", "6.1.0-56-amd64", "");
	const auto forecast = [&](const d::ProbePattern& pattern) { return target.forecast(pattern); };
	CHECK(forecast({.provider = "proc", .name = "exec-success"}).text == "1 probe of proc");
	CHECK(forecast({.provider = "vfs", .name = "entry"}).text == "20 probes of vfs");
	CHECK(forecast({.provider = "profile", .name = "tick-1s"}).text == "made when it is armed");
	const auto missed = forecast({.provider = "proc", .name = "exec-sucess"});
	CHECK_THAT(missed.text, Catch::Contains("did you mean exec-success?"));
}

} // namespace boot_archive_test
