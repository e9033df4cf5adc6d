// SPDX-License-Identifier: MIT
// Records of jobs for `hpcml submit --continue`, and to whom they belong.
#include <catch2/catch.hpp>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "holds.hpp"
#include "run/batch/resubmission_record.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using test::holds;

namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

ResubmissionRecord make_job() {
  return {"4711_3", "4700_3", 5, "3", "/shared/a b", "ssh login sbatch", {"a b", ""}, {}};
}

unsigned mode_of(const fs::path& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777U;
}

fs::path write_script(const test::TempDirectory& directory,
                      const std::string& text = "#!/bin/bash\nsrun x\n") {
  REQUIRE(util::write_file(directory / "job.sh", text));
  return directory / "job.sh";
}

} // namespace

TEST_CASE("saved_job_directories follow the user's state directory") {
  const auto of = [](std::map<std::string, std::string> variables, const std::string& directory) {
    return saved_job_directories(util::EnvSnapshot(std::move(variables)), directory);
  };
  CHECK(of({{"HOME", "/home/a"}}, "/shared") ==
        Paths{"/home/a/.local/state/hpcml/jobs", "/shared/.hpcml/jobs"});
  CHECK(of({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/state"}}, "/shared") ==
        Paths{"/state/hpcml/jobs", "/shared/.hpcml/jobs"});
  CHECK(of({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "state"}}, "/shared") == Paths{"/shared/.hpcml/jobs"});
  CHECK(of({}, "/shared") == Paths{"/shared/.hpcml/jobs"});
  CHECK(of({}, "work").empty());
}

TEST_CASE("keep_job writes what load_saved_job reads") {
  const test::TempDirectory directory;
  const auto source = write_script(directory);
  const Paths places = {directory / "state/hpcml/jobs"};
  const auto copy = keep_job(make_job(), source, places);
  REQUIRE(copy);
  CHECK(*copy == (places[0] / "4711_3.sh").string());
  CHECK(util::read_file(*copy).value() == "#!/bin/bash\nsrun x\n");
  CHECK(mode_of(*copy) == 0600);
  CHECK(mode_of(places[0] / "4711_3.json") == 0600);
  CHECK(mode_of(places[0]) == 0700);
  const auto kept = load_saved_job("4711_3", places);
  REQUIRE(kept);
  const auto job = make_job();
  CHECK(kept->job == job.job);
  CHECK(kept->first == job.first);
  CHECK(kept->restarts == job.restarts);
  CHECK(kept->array_task == job.array_task);
  CHECK(kept->directory == job.directory);
  CHECK(kept->submit_command == job.submit_command);
  CHECK(kept->arguments == job.arguments);
  CHECK(kept->script == *copy);
}

TEST_CASE("keep_job replaces the record of the start before") {
  const test::TempDirectory directory;
  const Paths places = {directory / "jobs"};
  auto job = make_job();
  REQUIRE(keep_job(job, write_script(directory), places));
  ++job.restarts;
  REQUIRE(keep_job(job, write_script(directory, "another\n"), places));
  CHECK(load_saved_job("4711_3", places)->restarts == 6);
  CHECK(util::read_file(places[0] / "4711_3.sh").value() == "another\n");
  // A copy may be its own source: the successor's script is one.
  REQUIRE(keep_job(job, (places[0] / "4711_3.sh").string(), places));
  CHECK(util::read_file(places[0] / "4711_3.sh").value() == "another\n");
}

TEST_CASE("keep_job falls back to the job's directory") {
  const test::TempDirectory directory;
  const auto source = write_script(directory);
  REQUIRE(util::write_file(directory / "file", ""));
  const Paths places = {directory / "file/hpcml/jobs", directory / ".hpcml/jobs"};
  CHECK(keep_job(make_job(), source, places).value() == (directory / ".hpcml/jobs/4711_3.sh").string());
  CHECK(load_saved_job("4711_3", places));
  fs::create_directory_symlink(directory / ".hpcml/jobs", directory / "link");
  const auto linked = keep_job(make_job(), source, {directory / "link"});
  REQUIRE_FALSE(linked);
  CHECK(holds(linked.error().what, "symbolic link"));
  CHECK_FALSE(keep_job(make_job(), source, {}));
  CHECK_FALSE(keep_job(make_job(), (directory / "none").string(), places));
}

TEST_CASE("load_saved_job names where it has looked") {
  const test::TempDirectory directory;
  const Paths places = {directory / "a", directory / "b"};
  const auto missing = load_saved_job("4711", places);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().what == "no record of job 4711 in " + places[0].string() + ", " + places[1].string() +
                                    ": only jobs with --save-before or --requeue have one");
  for (const std::string job : {"", "../4711", "4711/x", "job", "4711_3*"}) {
    INFO(job);
    CHECK(holds(load_saved_job(job, places).error().what, "is not a job number"));
    auto wrong = make_job();
    wrong.job = job;
    CHECK_FALSE(keep_job(wrong, write_script(directory), places));
  }
}

TEST_CASE("load_saved_job rejects records that it cannot use") {
  const test::TempDirectory directory;
  const Paths places = {directory / "jobs"};
  const auto keep = [&] { REQUIRE(keep_job(make_job(), write_script(directory), places)); };
  const auto error = [&] { return load_saved_job("4711_3", places).error().what; };
  keep();
  for (const std::string text : {"", "[]", "{", "{\"job\":\"4711_3\"}", "{\"job\":7}"}) {
    INFO(text);
    REQUIRE(util::write_file(places[0] / "4711_3.json", text));
    CHECK(holds(error(), "is not a valid record of a job"));
  }
  keep();
  REQUIRE(util::write_file(places[0] / "4711_3.sh", ""));
  CHECK(holds(error(), "the copy of the script of job 4711_3 is empty"));
  fs::remove(places[0] / "4711_3.sh");
  CHECK(holds(error(), "cannot read"));
  keep();
  fs::remove(places[0] / "4711_3.json");
  fs::create_directory(places[0] / "4711_3.json");
  CHECK_FALSE(load_saved_job("4711_3", places));
}

TEST_CASE("load_saved_job rejects files of another user") {
  if (::geteuid() != 0) return test::skip("only root may give files away");
  const test::TempDirectory directory;
  const Paths places = {directory / "jobs"};
  constexpr uid_t k_nobody = 65534;
  for (const char* name : {"4711_3.json", "4711_3.sh"}) {
    REQUIRE(keep_job(make_job(), write_script(directory), places));
    REQUIRE(::chown((places[0] / name).c_str(), k_nobody, k_nobody) == 0);
    const auto kept = load_saved_job("4711_3", places);
    REQUIRE_FALSE(kept);
    CHECK(holds(kept.error().what, std::string(name) + ": it belongs to another user (uid 65534)"));
    CHECK(kept.error().hint == "remove this file, and submit your original script again");
  }
  REQUIRE(::chown(places[0].c_str(), k_nobody, k_nobody) == 0);
  const auto refused = keep_job(make_job(), write_script(directory), places);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().what, "belongs to another user"));
}

TEST_CASE("forget_job removes the record and the copy") {
  const test::TempDirectory directory;
  const auto source = write_script(directory);
  const Paths places = {directory / "a", directory / "b"};
  for (const auto& place : places) REQUIRE(keep_job(make_job(), source, {place}));
  auto neighbour = make_job();
  neighbour.job = "4711_30";
  REQUIRE(keep_job(neighbour, source, places));
  forget_job("4711_3", places);
  CHECK_FALSE(load_saved_job("4711_3", places));
  CHECK(load_saved_job("4711_30", places));
  CHECK(std::distance(fs::directory_iterator(places[0]), fs::directory_iterator()) == 2);
  CHECK(fs::is_empty(places[1]));
  forget_job("4711_3", places);
  forget_job("../b", places);
}
