// SPDX-License-Identifier: MIT
// Directories of runs below a directory that other users may write in.
#include "run/agent/run_directory.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "run/agent/agent_helper.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using Catch::Matchers::Contains;

namespace {

constexpr uid_t k_other_user = 65534;

/// A run "r" whose rank writes a line.
testing::AgentEnd run_in(const std::string& log_directory) {
  auto request = testing::agent_of(1, "echo started");
  request.log_directory = log_directory;
  request.run_id = "r";
  return testing::run_one(request);
}

} // namespace

TEST_CASE("the directory of a run belongs to the caller alone") {
  const test::TempDirectory directory;
  CHECK(run_in(directory.path().string()).code == 0);
  for (const char* name : {"r", "r/attempt_0", "r/attempt_0/0"}) {
    CAPTURE(name);
    struct stat found {};
    REQUIRE(::stat((directory / name).c_str(), &found) == 0);
    CHECK((found.st_mode & 07777U) == 0700);
  }
  CHECK(run_in(directory.path().string()).code ==
        0); // a second run of that name, as of a job that was requeued
}

TEST_CASE("an agent does not follow links that others have planted") {
  const test::TempDirectory directory;
  REQUIRE(util::write_file(directory / "precious", "text"));
  fs::create_directories(directory / "elsewhere");
  const auto rejected = [&](const std::string& link, const std::string& target, const std::string& why) {
    CAPTURE(link);
    fs::remove_all(directory / "logs");
    fs::create_directories((directory / "logs" / link).parent_path());
    fs::create_symlink(directory / target, directory / "logs" / link);
    const auto end = run_in((directory / "logs").string());
    CHECK(end.code == 125);
    CHECK(end.out.empty());
    CHECK_THAT(end.err, Contains(why) && Contains("--log-dir"));
    CHECK(util::read_file(directory / "precious").value_or("") == "text");
    CHECK(fs::is_empty(directory / "elsewhere"));
  };
  rejected("r", "elsewhere", "is a symbolic link");
  rejected("r/attempt_0", "elsewhere", "is a symbolic link");
  rejected("r/attempt_0/0", "elsewhere", "is a symbolic link");
  rejected("r/attempt_0/0/stdout.log", "precious", "it is a symbolic link");
  rejected("r/attempt_0/0/stderr.log", "precious", "it is a symbolic link");
}

TEST_CASE("an agent rejects a run directory of another user") {
  if (::geteuid() != 0) return test::skip("only root can give a directory away");
  const test::TempDirectory directory;
  fs::create_directories(directory / "r");
  REQUIRE(::chown((directory / "r").c_str(), k_other_user, k_other_user) == 0);
  const auto end = run_in(directory.path().string());
  CHECK(end.code == 125);
  CHECK_THAT(end.err, Contains("belongs to another user (uid 65534)"));
  CHECK(fs::is_empty(directory / "r"));
}

TEST_CASE("a log directory loop or long name is an error") {
  const test::TempDirectory directory;
  fs::create_symlink("loop", directory / "loop");
  for (const auto& [name, why] :
       {std::pair((directory / "loop").string(), "Too many levels of symbolic links"),
        std::pair((directory / std::string(300, 'x')).string(), "File name too long")}) {
    const auto end = run_in(name);
    CHECK(end.code == 125);
    CHECK_THAT(end.err, Contains("cannot create directory " + name) && Contains(why));
  }
}
