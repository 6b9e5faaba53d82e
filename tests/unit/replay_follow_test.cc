// SPDX-License-Identifier: GPL-2.0
//
// replay --follow: a recording is answered while it is written, as far as every CPU
// is whole; over a change of files; up to its end or until somebody ends it. The
// answer is that of the finished recording.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analyze/cli/follower_waits.h"
#include "analyze/replay/redaction.h"
#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/cut.h"
#include "formats/trace/followed.h"
#include "formats/trace/parts.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace replay_follow_test {

using namespace dfr;
using namespace dfr::test;

namespace {

constexpr uint64_t kMillisecond = 1'000'000;

// What a recorder wrote at one time: blocks, then the mark that says until when every CPU is whole.
struct Written {
	std::vector<trace::Block> blocks;
	uint64_t until = 0;
};

// A recording that is written step by step, each of 20 firings on two CPUs. The blocks of CPU 1 come one step
// late, so its records of the time after a mark stand behind it.
class Steps {
public:
	// `returns`: of app::work:return, and not of entry.
	Steps(const std::string& program, const std::string& path, unsigned steps,
	      const trace::FilePart& part = {.series = 9, .number = 1}, bool returns = false)
	    : path_(path) {
		dfr_user_cpu = 0; // of BEGIN
		dfr_probe* const probe = returns ? app_.exit : app_.entry;
		load(app_, program);
		std::vector<trace::Block> late;
		for (unsigned step = 0; step < steps; step++) {
			for (unsigned i = 0; i < 20; i++) {
				const unsigned n = 20 * step + i;
				app_.fire(probe, kStart + n * kMillisecond, n % 2, 70 + n % 3, "one", n, n);
			}
			add(late, step ? kStart + 20 * step * kMillisecond : 1);
		}
		finish(app_);
		add(late, 0);
		steps_.back().blocks.insert(steps_.back().blocks.end(), late.begin(), late.end());
		writer_ = std::make_unique<trace::FileWriter>(
		    path, false, [this]() -> const trace::Catalog& { return app_.catalog(); },
		    trace::local_file(), part);
		writer_->catalog();
		writer_->account(none_, 1);
	}
	size_t count() const { return steps_.size(); }
	bool more_than(size_t steps) const { return next_ + steps < count(); }
	// False: there is no more.
	bool write() {
		if (next_ == steps_.size())
			return false;
		const Written& step = steps_[next_++];
		for (const trace::Block& block : step.blocks)
			writer_->block(block);
		const bool last = next_ == steps_.size();
		if (last)
			writer_->aggregations(app_.aggregations());
		writer_->account(none_, step.until);
		if (last)
			writer_->finish();
		return true;
	}
	// Goes on in a next part.
	void rotate() {
		writer_->finish(true);
		begin(writer_->next_part());
	}
	// The recorder ends, and the state records on.
	void leave() { writer_->finish(true); }
	// The recorder is killed, and so is the next one, before its first mark (`begun`) or before it has written anything;
	// a third one goes on.
	void kill_twice(const ScratchFolder& folder, bool begun) {
		trace::FilePart next = writer_->next_part();
		writer_.reset();
		if (begun) {
			begin_accounted(next);
			next = writer_->next_part();
			writer_.reset();
		} else {
			folder.write("a-000" + std::to_string(++number_) + ".dfr", std::vector<uint8_t>(0));
		}
		begin_accounted(next);
	}
	void write_all() {
		while (write()) {
		}
	}
	const std::vector<std::string>& paths() const { return paths_; }

private:
	void begin_accounted(const trace::FilePart& part) {
		begin(part);
		writer_->catalog();
		writer_->account(none_);
	}
	void begin(const trace::FilePart& part) {
		paths_.push_back(trace::part_path(path_.substr(0, path_.size() - 9) + ".dfr", ++number_));
		writer_ = std::make_unique<trace::FileWriter>(
		    paths_.back(), false, [this]() -> const trace::Catalog& { return app_.catalog(); },
		    trace::local_file(), part);
	}
	void add(std::vector<trace::Block>& late, uint64_t until) {
		Written step{.blocks = std::move(late), .until = until};
		late.clear();
		app_.flush();
		while (auto block = app_.next()) {
			trace::seal_block(*block);
			(block->header().cpu == 1 ? late : step.blocks).push_back(std::move(*block));
		}
		steps_.push_back(std::move(step));
	}

	App app_;
	ListSource none_; // no losses
	std::string path_;
	std::vector<std::string> paths_{path_};
	std::vector<Written> steps_;
	size_t next_ = 0;
	unsigned number_ = 1; // of the last file
	std::unique_ptr<trace::FileWriter> writer_;
};

struct Followed {
	std::string said;
	replay::Answer answer;
	std::vector<std::string> by_then; // what had been said whenever more was waited for
};

// `await`: called whenever there is nothing to read.
Followed follow(const std::string& path, const std::string& program, const std::function<bool()>& await,
                const replay::Wanted& wanted = {}, const render::Style& style = quiet().style) {
	Followed result;
	trace::FollowedSource source(path);
	const trace::United united({&source});
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	options.wanted = wanted;
	options.style = style;
	options.followed = &source;
	options.await = [&] {
		result.said += output.take();
		result.by_then.push_back(result.said);
		return await();
	};
	if (program.empty()) {
		result.answer = replay::render_recording(source, output, symbols, options);
	} else {
		replay::RecordingTarget target(united);
		const d::Compiled program_compiled = compiled(program, target);
		result.answer =
		    replay::replay_program(united, target, program_compiled, output, symbols, options);
	}
	result.said += output.take();
	return result;
}

std::string answer_of(const std::vector<std::string>& paths, const std::string& program,
                      trace::Verdict& verdict) {
	auto groups = trace::group_by_state(paths);
	REQUIRE(groups.size() == 1);
	trace::JoinedSource source(std::move(groups.front()));
	const trace::United united({&source});
	render::Output output(-1);
	render::NoSymbols symbols;
	if (program.empty()) {
		verdict = replay::render_recording(source, output, symbols, quiet()).verdict;
	} else {
		replay::RecordingTarget target(united);
		verdict = replay::replay_program(united, target, compiled(program, target), output, symbols,
		                                 quiet())
		              .verdict;
	}
	return output.take();
}

const char* const kRecord = "app::work:entry { capture(arg0); printf(\"<%d>\", arg0); @ = count(); }";
const char* const kPrint = "app::work:entry { printf(\"%d \", arg0); @[tid] = count(); } "
                           "tick-10ms { printf(\"tick \"); } END { printf(\"end \"); }";

} // namespace

TEST_CASE("of several recordings in one file none is followed unless it is named", "[follow]") {
	const ScratchFolder folder;
	const std::string path = folder.path() + "/both.dfr";
	std::ofstream both(path, std::ios::binary);
	for (int i = 0; i < 2; i++)
		both << std::ifstream(DFR_SOURCE_DIR "/analyze/demo/demo.dfr", std::ios::binary).rdbuf();
	both.close();
	CHECK_THROWS_WITH(trace::FollowedSource(path), Catch::Contains("it holds several recordings"));
	CHECK(trace::FollowedSource(path + "#2").ended());
	// The last one may grow.
	std::ifstream in(path, std::ios::binary);
	const std::string whole{std::istreambuf_iterator<char>(in), {}};
	std::filesystem::resize_file(path, whole.size() - 8);
	trace::FollowedSource second(path + "#2");
	CHECK_FALSE(second.ended());
	CHECK_FALSE(second.grow());
	std::ofstream(path, std::ios::binary | std::ios::app) << whole.substr(whole.size() - 8);
	CHECK(second.grow());
	CHECK(second.ended());
}

TEST_CASE("follow: what is whole is answered as it comes, and all of it is the answer of the whole",
          "[replay][follow]") {
	const ScratchFolder folder;
	for (const std::string program : {kPrint, ""}) {
		const std::string path = folder.file(program.empty() ? "b-0001.dfr" : "a-0001.dfr");
		Steps steps(kRecord, path, 4);
		const Followed followed = follow(path, program, [&] { return steps.write(); });
		REQUIRE(followed.by_then.size() == 5);
		// After the mark of step n the firings before 20 n ms are said, and no later ones, though CPU 0's are there.
		for (unsigned step = 1; step < 4; step++) {
			const std::string& said = followed.by_then[step + 1];
			const auto text = [&](unsigned n) {
				return program.empty() ? "<" + std::to_string(n) + ">"
				                       : " " + std::to_string(n) + " ";
			};
			INFO(said);
			CHECK((said.find(text(20 * step - 1)) != std::string::npos));
			CHECK((said.find(text(20 * step)) == std::string::npos));
		}
		trace::Verdict verdict;
		CHECK(followed.said == answer_of({path}, program, verdict));
		CHECK(followed.answer.verdict == verdict);
		CHECK(verdict.complete);
	}
}

// A return's arrow is put before its line once the next record is known, and its line may have left by then.
TEST_CASE("follow: returns are indented in what is said piece by piece", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	Steps steps("app::work:return { trace(arg0); }", path, 4, {.series = 9, .number = 1}, true);
	render::Style style;
	style.flowindent = style.testing = true;
	const Followed followed = follow(
	    path, "", [&] { return steps.write(); }, {}, style);
	size_t arrows = 0;
	for (size_t at = 0; (at = followed.said.find("\n <- work ", at)) != std::string::npos; at++)
		arrows++;
	CHECK(arrows == 80);
	CHECK(followed.answer.verdict.complete);
}

TEST_CASE("follow: into the next part, whenever that comes", "[replay][follow]") {
	for (unsigned rotate_after = 0; rotate_after < 5; rotate_after++) {
		const ScratchFolder folder;
		Steps steps(kRecord, folder.file("a-0001.dfr"), 5);
		unsigned at = 0;
		const Followed followed = follow(steps.paths().front(), kPrint, [&] {
			if (at++ == rotate_after) {
				steps.rotate();
				return true;
			}
			return steps.write();
		});
		INFO("rotated after " << rotate_after);
		REQUIRE(steps.paths().size() == 2);
		trace::Verdict verdict;
		CHECK(followed.said == answer_of(steps.paths(), kPrint, verdict));
		CHECK(followed.answer.verdict == verdict);
		CHECK(verdict.complete);
		CHECK(verdict.records == 100);
	}
}

TEST_CASE("follow: a recorder that was killed, and the one that goes on", "[replay][follow]") {
	const bool begun = GENERATE(false, true);
	for (unsigned killed_after = 1; killed_after < 5; killed_after++) {
		const ScratchFolder folder;
		Steps steps(kRecord, folder.file("a-0001.dfr"), 5);
		unsigned at = 0;
		const Followed followed = follow(steps.paths().front(), kPrint, [&] {
			if (at++ != killed_after)
				return steps.write();
			steps.kill_twice(folder, begun);
			return true;
		});
		INFO("killed after " << killed_after);
		CHECK(steps.paths().back() == folder.file("a-0003.dfr"));
		trace::Verdict verdict;
		CHECK(followed.said == answer_of(steps.paths(), kPrint, verdict));
		CHECK(followed.answer.verdict == verdict);
		CHECK(verdict.records == 100);
	}
}

TEST_CASE("follow: a writer in another thread", "[replay][follow]") {
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 40);
	std::thread writer([&steps] {
		for (unsigned step = 0; steps.write(); step++)
			if (step % 7 == 6 && step < 35)
				steps.rotate();
	});
	const Followed followed = follow(steps.paths().front(), kPrint, [] {
		std::this_thread::yield();
		return true;
	});
	writer.join();
	REQUIRE(steps.paths().size() == 6);
	trace::Verdict verdict;
	CHECK(followed.said == answer_of(steps.paths(), kPrint, verdict));
	CHECK(followed.answer.verdict == verdict);
	CHECK(verdict.complete);
}

TEST_CASE("follow: whoever ends it gets the answer so far", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	Steps steps(kRecord, path, 6);
	unsigned left = 4;
	const Followed followed =
	    follow(path, "app::work:entry { @ = count(); }", [&] { return left-- && steps.write(); });
	// Three marks after the first one, which is before everything: 60 firings.
	CHECK(followed.said.find(" 60\n") != std::string::npos);
	CHECK(followed.answer.verdict.complete);
	CHECK(followed.answer.verdict.reasons.empty());
	CHECK(followed.answer.verdict.to < kStart + 60 * kMillisecond);
	CHECK(followed.answer.firings >= 60);
}

TEST_CASE("follow: it ends where a recorder left a state that records on", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	Steps steps(kRecord, path, 6, {});
	steps.write();
	bool left = false;
	const Followed followed = follow(path, kPrint, [&] {
		REQUIRE_FALSE(left); // nothing more is waited for
		left = !steps.more_than(2);
		left ? steps.leave() : (void)steps.write();
		return true;
	});
	trace::Verdict whole;
	CHECK(followed.said == answer_of({path}, kPrint, whole));
	CHECK(followed.answer.verdict == whole);
	CHECK(whole.goes_on);
	CHECK(whole.complete);
}

// Who follows is told what is waited for.
TEST_CASE("follow: a part that is over waits for the next one", "[replay][follow]") {
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 5);
	steps.write();
	trace::FollowedSource source(steps.paths().front());
	CHECK_FALSE(source.waits());
	steps.leave();
	source.grow();
	CHECK(source.waits());
	CHECK_FALSE(source.ended());
}

TEST_CASE("follow: a program's exit() ends it", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	Steps steps(kRecord, path, 6);
	const Followed followed =
	    follow(path, "app::work:entry /arg0 == 33/ { exit(5); } END { printf(\"END\"); }",
	           [&] { return steps.write(); });
	CHECK(followed.answer.exit_status == 5);
	CHECK(followed.said == "END\n");
	CHECK(followed.by_then.size() == 3);
}

// As dfrd --retain does it: of a part that was read before, and of the last one but one, as soon as the next one comes.
TEST_CASE("follow: parts that are removed meanwhile cost the verdict and not the answer",
          "[replay][follow]") {
	std::string unharmed;
	for (const unsigned removed : {0u, 1u, 2u}) {
		INFO("part " << removed);
		const ScratchFolder folder;
		Steps steps(kRecord, folder.file("a-0001.dfr"), 6);
		unsigned at = 0;
		const Followed followed = follow(steps.paths().front(), kPrint, [&] {
			at++;
			if (at == 3 || at == 5) {
				steps.rotate();
				return true;
			}
			if (at == 6 && removed > 0)
				std::filesystem::remove(steps.paths()[removed - 1]);
			return steps.write();
		});
		REQUIRE(steps.paths().size() == 3);
		if (removed == 0)
			unharmed = followed.said;
		CHECK(followed.said.find("end ") != std::string::npos);
		CHECK((removed == 2 || followed.said == unharmed));
		const trace::Verdict& verdict = followed.answer.verdict;
		CHECK(verdict.complete == (removed == 0));
		const std::string name = "a-000" + std::to_string(removed) + ".dfr was removed";
		const auto named = [&](const std::string& reason) {
			return reason.find(name) != std::string::npos;
		};
		CHECK(std::ranges::count_if(verdict.reasons, named) == (removed > 0));
		CHECK(std::ranges::none_of(verdict.reasons, [](const std::string& reason) {
			return reason.find("overwritten") != std::string::npos;
		}));
	}
}

// Of a recorder that is much faster than who follows it, and keeps its newest part only.
TEST_CASE("follow: parts that were removed before they were read are passed over, and named",
          "[replay][follow]") {
	const bool last_too = GENERATE(false, true); // the one that is read
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 8);
	unsigned at = 0;
	const Followed followed = follow(steps.paths().front(), kPrint, [&] {
		if (++at != 3)
			return steps.write();
		for (int part = 0; part < 3; part++) {
			steps.write();
			steps.rotate();
		}
		steps.write();
		for (size_t part = last_too ? 0 : 1; part < 3; part++)
			std::filesystem::remove(steps.paths()[part]);
		// What only has the name of a part stands between.
		folder.write("a-0003.dfr", {1, 2, 3});
		return true;
	});
	CHECK(at > 4); // the fourth part was followed, too
	CHECK(followed.said.find("159 ") != std::string::npos);
	CHECK(followed.said.find("end ") != std::string::npos);
	const trace::Verdict& verdict = followed.answer.verdict;
	CHECK_FALSE(verdict.complete);
	const auto named = [&](const std::string& reason) {
		return reason.find(last_too ? "a-0001.dfr was removed" : "parts 2 to 3 are not here") !=
		       std::string::npos;
	};
	CHECK(std::ranges::count_if(verdict.reasons, named) == 1);
}

// There is no later part: whoever has taken it away is told.
TEST_CASE("follow: the only file is removed", "[replay][follow]") {
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 4);
	steps.write();
	trace::FollowedSource source(steps.paths().front());
	std::filesystem::remove(steps.paths().front());
	// Another recording with the name of a later part is none of its.
	{
		trace::Catalog catalog = source.catalog();
		catalog.state_id += 7;
		trace::FileWriter writer(folder.file("a-0005.dfr"), false,
		                         [&]() -> const trace::Catalog& { return catalog; });
		ListSource none;
		writer.account(none);
		writer.finish();
	}
	CHECK_THROWS_WITH(source.grow(), Catch::Contains("No such file"));
}

TEST_CASE("follow: who waits is told for what", "[replay][follow]") {
	using cli::FollowerWaits;
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 6);
	steps.write();
	trace::FollowedSource source(steps.paths().front());
	FollowerWaits waits;
	const auto said = [&](unsigned looks) {
		std::string all;
		while (looks--) {
			source.grow();
			all += waits.look(source);
		}
		return all;
	};
	CHECK(said(FollowerWaits::kQuietMost).empty());
	steps.write(); // not killed
	CHECK(said(FollowerWaits::kQuietMost).empty());
	CHECK(said(1).find("nothing was written to " + steps.paths().front()) == 0);
	CHECK(said(2 * FollowerWaits::kQuietMost).empty()); // once
	steps.rotate();
	std::filesystem::remove(steps.paths().back());
	CHECK(said(FollowerWaits::kNextFileMost - 1).empty());
	CHECK(said(1).find("waiting for the next one's file") != std::string::npos);
	CHECK(said(2 * FollowerWaits::kQuietMost).empty());
}

// Committed records come late, with times of before: nothing is said before it is known to be all.
TEST_CASE("follow: of a recording with speculations nothing is said before its end", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	Steps steps("app::work:entry { self->s = speculation(); speculate(self->s); capture(arg0); } "
	            "app::work:entry { commit(self->s); }",
	            path, 3);
	std::string message;
	const Followed followed =
	    follow(path, "app::work:entry { @ = count(); }", [&] { return steps.write(); });
	for (const std::string& said : followed.by_then)
		CHECK(said.empty());
	trace::Verdict verdict;
	CHECK(followed.said == answer_of({path}, "app::work:entry { @ = count(); }", verdict));
}

TEST_CASE("follow: a file that is replaced or truncated is not taken for what it was", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr"), other = folder.file("b-0001.dfr");
	const auto asked = [&](const std::function<void()>& harm, bool before_end) {
		for (const std::string& name : {path, other})
			std::filesystem::remove(name);
		Steps steps(kRecord, path, 4);
		unsigned at = 0;
		follow(path, kPrint, [&] {
			if (at++ < 3)
				return steps.write();
			harm();
			return before_end;
		});
	};
	const auto replaced = [&] {
		App app; // of another engine: its clock began at another time
		load(app, "app::work:entry { capture(arg1, arg0); }");
		app.fire(app.entry, kStart + 1, 0, 70, "other", 1, 2);
		finish(app);
		Kept kept(app);
		kept.identity().clocks = {{.mono = 1, .real = 1, .boot = 1}};
		trace::FileWriter writer(path, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		while (const auto block = kept.next())
			writer.block(*block);
		writer.account(kept);
		writer.finish();
	};
	const auto shorter = [&](uint64_t size) {
		return [&, size] { std::filesystem::resize_file(path, size); };
	};
	for (const bool before_end : {true, false}) {
		INFO(before_end);
		CHECK_THROWS_WITH(asked(replaced, before_end), Catch::Contains("of another state"));
		CHECK_THROWS_WITH(asked(shorter(0), before_end), Catch::Contains("of another state"));
		CHECK_THROWS_WITH(asked(shorter(32), before_end), Catch::Contains("of another state"));
		CHECK_THROWS_WITH(asked(
		                      [&] {
			                      // To its first marks.
			                      std::filesystem::resize_file(
			                          path, std::filesystem::file_size(path) / 2);
		                      },
		                      before_end),
		                  Catch::Contains("not in it any more"));
	}
}

TEST_CASE("follow: files that cannot be followed are refused", "[replay][follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	Steps steps(kRecord, path, 3);
	steps.write();
	// The next file is of somebody else.
	{
		App other;
		load(other, kRecord);
		finish(other);
		steps.rotate();
		std::filesystem::remove(steps.paths().back());
		ListSource none;
		trace::Catalog catalog = other.catalog();
		catalog.state_id += 7;
		trace::FileWriter writer(steps.paths().back(), false,
		                         [&]() -> const trace::Catalog& { return catalog; });
		writer.account(none);
		writer.finish();
	}
	CHECK_THROWS_WITH(follow(path, kPrint, [] { return true; }), Catch::Contains("is of another state"));
	// A name that does not tell which file comes next.
	std::filesystem::rename(path, folder.file("renamed.dfr"));
	CHECK_THROWS_WITH(follow(folder.file("renamed.dfr"), kPrint, [] { return true; }),
	                  Catch::Contains("has no number"));
	folder.write("empty.dfr", std::vector<uint8_t>(0));
	CHECK_THROWS_WITH(trace::FollowedSource(folder.file("empty.dfr")),
	                  Catch::Contains("nothing was written"));
}

TEST_CASE("parts: those that were cut or redacted keep their places", "[parts][cut][redact]") {
	const ScratchFolder folder;
	Steps steps(kRecord, folder.file("a-0001.dfr"), 7);
	for (unsigned step = 0; steps.write(); step++)
		if (step == 2 || step == 4)
			steps.rotate();
	const std::vector<std::string>& paths = steps.paths();
	REQUIRE(paths.size() == 3);

	// What stands in front of a part is in those before it: nothing was overwritten.
	uint64_t in_front = 0;
	for (const std::string& path : paths) {
		const trace::Inspection found = trace::verify_file(path);
		CHECK(found.sound());
		uint64_t records = 0, earlier = 0;
		for (const trace::CpuSum& sum : found.cpus) {
			CHECK(sum.overwritten == 0);
			CHECK(sum.missing == 0);
			CHECK(sum.committed == sum.earlier + sum.in_file);
			earlier += sum.earlier;
			records += sum.in_file;
		}
		CHECK(earlier == in_front);
		in_front += records;
	}

	const auto made = [&](const char* name, unsigned number) {
		return folder.file(name + std::to_string(number) + ".dfr");
	};
	const auto redaction = [&](const std::string& path, const char* input) {
		const auto file = trace::open_file(path);
		replay::RecordingTarget target(file->catalog(), path);
		return replay::make_redaction(*file, target, {input});
	};
	const char* const question = "app::work:entry { @[arg0 % 7] = count(); @all = count(); }";
	trace::Verdict whole;
	const std::string answer = answer_of(paths, question, whole);
	std::vector<std::string> redacted, cut;
	for (unsigned i = 0; i < paths.size(); i++) {
		redacted.push_back(made("r", i));
		const trace::Redaction allowed = redaction(paths[i], "arg0");
		trace::redact_file(paths[i], redacted.back(), allowed);
		CHECK(trace::prove_redacted(paths[i], redacted.back(), allowed).wrong.empty());
		cut.push_back(made("c", i));
		trace::Cut wanted;
		wanted.span.cpus = {true};
		wanted.text = "CPU 0";
		trace::cut_file(paths[i], cut.back(), wanted);
		for (const std::string& path : {redacted.back(), cut.back()}) {
			const trace::Inspection found = trace::verify_file(path);
			for (const trace::Finding& finding : found.findings)
				FAIL_CHECK(finding.text());
			for (const trace::CpuSum& sum : found.cpus) {
				CHECK(sum.overwritten == 0);
				CHECK(sum.missing == 0);
			}
			CHECK(trace::open_file(path)->facts().part.number == i + 1);
			CHECK(trace::open_file(path)->facts().goes_on == (i + 1 < paths.size()));
		}
	}
	trace::Verdict verdict;
	CHECK(answer_of(redacted, question, verdict) == answer);
	CHECK(verdict.complete);
	CHECK(verdict.records == whole.records);
	const auto says = [&verdict](const char* text) {
		return std::ranges::any_of(verdict.reasons, [text](const std::string& reason) {
			return reason.find(text) != std::string::npos;
		});
	};
	for (const auto* const parts : {&redacted, &cut}) {
		answer_of({parts->front(), parts->back()}, question, verdict);
		CHECK(says("part 2 is not here"));
		CHECK_FALSE(verdict.complete);
	}
	CHECK(answer_of(cut, question, verdict).find(" 70\n") != std::string::npos); // of 140, on two CPUs
	CHECK_FALSE(says("missing"));
	CHECK_FALSE(verdict.complete);

	// The same blocks with other fields are another recording: one must not explain the other's records.
	const std::string other = folder.file("other.dfr");
	trace::redact_file(paths[0], other, redaction(paths[0], "execname"));
	CHECK(trace::group_by_state({redacted[0], other}).size() == 2);
	CHECK(trace::group_by_state({other, redacted[1], redacted[2]}).size() == 2);
}

TEST_CASE("redact: a recording that was redacted in two ways is two recordings", "[redact]") {
	const ScratchFolder folder;
	Steps steps("app::work:entry { capture(arg0, arg1); }", folder.file("a-0001.dfr"), 3);
	steps.write_all();
	const std::string& whole = steps.paths().front();
	std::vector<std::string> made = {whole};
	for (const std::vector<std::string>& keep : {std::vector<std::string>{"arg0", "host", "walltime"},
	                                             {"arg1", "host", "walltime"},
	                                             {"arg1", "host", "walltime", "pid"}}) {
		const auto file = trace::open_file(whole);
		replay::RecordingTarget target(file->catalog(), whole);
		made.push_back(folder.file(std::to_string(made.size()) + ".dfr"));
		trace::redact_file(whole, made.back(), replay::make_redaction(*file, target, keep));
	}
	for (const std::string& one : made)
		for (const std::string& other : made)
			CHECK(trace::group_by_state({one, other}).size() == (one == other ? 1 : 2));
}

TEST_CASE("follow looks for damage in what has come, and at the end in all of it", "[follow]") {
	const ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	Steps steps("app::work:entry { capture(arg0); }", path, 6);
	REQUIRE(steps.write());
	REQUIRE(steps.write());
	trace::FollowedSource source(path);
	CHECK(source.remarks().size() == 1); // that it is not finished
	const auto harm = [&path](size_t which) {
		std::vector<trace::Segment> ledgers;
		const trace::ContainerReader reader(path);
		reader.each_segment([&ledgers](const trace::Segment& segment) {
			if (segment.type() == trace::SegmentType::kLosses)
				ledgers.push_back(segment);
		});
		std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
		file.seekp(static_cast<std::streamoff>(ledgers.at(which).payload()));
		file.put('!');
	};
	harm(0);
	REQUIRE(steps.write());
	CHECK(source.grow());
	CHECK(source.remarks().size() ==
	      1); // whoever reads for hours does not read all that was there each time
	REQUIRE(steps.write());
	harm(4); // of two that came
	REQUIRE(steps.write());
	source.grow();
	CHECK(source.remarks().size() == 2);
	source.take_all();
	CHECK(source.remarks().size() == 3);
	CHECK(source.partial());
}

} // namespace replay_follow_test
