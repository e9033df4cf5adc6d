// SPDX-License-Identifier: MIT
// A job file that another user has put into a shared directory.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "cli/workspace_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

constexpr uid_t k_other_user = 65534;
const std::string k_job =
    R"({"site": "lumi", "account": "project_1", "time": "10", "nodes": 1, "hpcml-path": "/shared/hpcml",
        "env": {"LD_PRELOAD": "/shared/evil.so"}, "command": ["python", "train.py"]})";

} // namespace

TEST_CASE("job files of other users need --job") {
  if (::geteuid() != 0) return test::skip("only root can give a file away");
  const Workspace workspace;
  workspace.put("hpcml.json", k_job);
  REQUIRE(workspace.hpcml({"gen"}).exit_code == 0);
  REQUIRE(::lchown((workspace / "hpcml.json").c_str(), k_other_user, k_other_user) == 0);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"gen"},
                                                {"submit", "--test-only"},
                                                {"gen", "--site", "generic", "--", "true"}}) {
    CAPTURE(words);
    const auto output = workspace.hpcml(words);
    CHECK(output.exit_code == 3);
    CHECK_FALSE(holds(output.out, "/shared/"));
    CHECK(holds(output.err, "hpcml.json: it belongs to another user (uid 65534)"));
    CHECK(holds(output.err, "hint: use --job hpcml.json to accept the file"));
    CHECK_FALSE(holds(output.err, "is read"));
  }
  const auto named = workspace.hpcml({"gen", "--job", "hpcml.json"});
  CHECK(named.exit_code == 0);
  CHECK(holds(named.out, "/shared/hpcml"));
}

TEST_CASE("links of other users to job files are rejected") {
  if (::geteuid() != 0) return test::skip("only root can give a link away");
  const Workspace workspace;
  workspace.put("own.json", k_job);
  std::filesystem::create_symlink("own.json", workspace / "hpcml.json");
  CHECK(workspace.hpcml({"gen"}).exit_code == 0);
  REQUIRE(::lchown((workspace / "hpcml.json").c_str(), k_other_user, k_other_user) == 0);
  CHECK(workspace.hpcml({"gen"}).exit_code == 3);
}

TEST_CASE("hpcml-path and env of a job file are printed") {
  const Workspace workspace;
  workspace.put("job.json", k_job);
  const auto output = workspace.hpcml({"gen", "--job", "job.json"});
  REQUIRE(output.exit_code == 0);
  CHECK(holds(output.err, "job.json sets hpcml-path=/shared/hpcml, env LD_PRELOAD=/shared/evil.so"));
  workspace.put("parts.json", R"({"site": "lumi", "account": "project_1", "time": "10", "nodes": 1, "jobs": [
    {"name": "a", "env": {"A": "1"}, "command": ["true"]}, {"name": "b", "env": {"A": "1"}, "command": ["true"]}]})");
  CHECK(
      holds(workspace.hpcml({"gen", "--job", "parts.json", "--only", "b"}).err, "parts.json sets env A=1 "));
  workspace.put("plain.json",
                R"({"site": "lumi", "account": "project_1", "time": "10", "command": ["true"]})");
  CHECK_FALSE(holds(workspace.hpcml({"gen", "--job", "plain.json"}).err, " sets "));
}

TEST_CASE("a loop of links as job file is an error") {
  const Workspace workspace;
  std::filesystem::create_symlink("hpcml.json", workspace / "hpcml.json");
  const auto output = workspace.hpcml({"gen", "--site", "lumi", "--", "true"});
  CHECK(output.exit_code == 3);
  CHECK(holds(output.err, "Too many levels of symbolic links"));
}
