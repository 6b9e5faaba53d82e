// SPDX-License-Identifier: GPL-2.0
//
// Files of commands that get their name when they are whole: nothing is left of them after an error or signals,
// and nothing but a regular file is replaced.
#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cli/new_file.h"
#include "analyze/cli/signals.h"
#include "formats/error.h"
#include "tests/unit/scratch_folder.h"

namespace cli_new_file_test {

using namespace dfr;
using dfr::test::ScratchFolder;

TEST_CASE("a second signal leaves nothing of a file that is not whole", "[newfile]") {
	const ScratchFolder folder;
	const pid_t child = fork();
	if (child == 0) {
		cli::catch_signals();
		const cli::NewFile file(folder.file("new.dfr"), false);
		std::ofstream(file.temporary()) << "a part";
		raise(SIGINT);
		if (!std::filesystem::exists(file.temporary()))
			_exit(7); // the first one lets the command end in order
		raise(SIGTERM);
		_exit(8);
	}
	int status = 0;
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 1);
	CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a new file does not take the place of what it is made of", "[newfile]") {
	const ScratchFolder folder;
	const std::string source = folder.write("a.dfr", {1, 2, 3}), link = folder.file("b.dfr");
	std::filesystem::create_hard_link(source, link);
	for (const std::string& path : {source, link, folder.file("./a.dfr")})
		CHECK_THROWS_WITH(cli::NewFile(path, true, source),
		                  Catch::Contains("it is the file that is read"));
	CHECK(std::filesystem::file_size(source) == 3);
	const cli::NewFile other(folder.file("c.dfr"), false, source);
}

TEST_CASE("a new file takes the place of a regular file, and only if it may", "[newfile]") {
	const ScratchFolder folder;
	const std::string old = folder.write("old.dfr", {1, 2, 3}), link = folder.file("link");
	std::filesystem::create_symlink("old.dfr", link);
	std::filesystem::create_directory(folder.file("folder"));
	CHECK_THROWS_WITH(cli::NewFile(old, false), Catch::Contains("it exists"));
	for (const std::string& path : {link, folder.file("folder"), std::string("/dev/null")})
		for (const bool replace : {false, true})
			CHECK_THROWS_WITH(cli::NewFile(path, replace), Catch::Contains("is no regular file"));
	{
		cli::NewFile file(old, true);
		std::ofstream(file.temporary()) << "new one";
		std::filesystem::remove(old); // meanwhile somebody puts a link there
		std::filesystem::create_symlink("folder", old);
		CHECK_THROWS_WITH(file.keep(), Catch::Contains("is no regular file"));
		std::filesystem::remove(old);
		folder.write("old.dfr", {1});
		file.keep();
	}
	CHECK(std::filesystem::file_size(old) == 7);
	{
		const cli::NewFile file(folder.file("never.dfr"), false);
		std::ofstream(file.temporary()) << "a part";
	}
	CHECK_FALSE(std::filesystem::exists(folder.file("never.dfr")));
	CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
}

} // namespace cli_new_file_test
