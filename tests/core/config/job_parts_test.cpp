// SPDX-License-Identifier: MIT
// Job files with comments, several programs, several jobs, chains.
#include <catch2/catch.hpp>

#include "core/config/job_file.hpp"
#include "core/config/json_tree.hpp"
#include "core/config/temp_dir.hpp"

using namespace hpcml;
using hpcml::testing::TempDir;

namespace {

config::JobLoad load(const std::string& text) {
  static const TempDir k_directory;
  return config::load_job_file(k_directory.write("job.json", text));
}

std::string messages_of(const config::JobLoad& file) {
  std::string text;
  for (const auto& finding : file.diagnostics) text += diag::render_text(finding, file.source, false);
  return text;
}

} // namespace

TEST_CASE("comments become blanks of the same length, and texts with slashes stay") {
  const std::pair<const char*, const char*> cases[] = {
      {"{} // x", "{}     "},
      {"// x\n{}", "    \n{}"},
      {R"({"a": "http://x"} // "b")", R"({"a": "http://x"}       )"},
      {R"({"a": "\"//"} //)", R"({"a": "\"//"}   )"},
      {"a / b", "a / b"},
      {"\"open // x\n// y", "\"open // x\n    "},
  };
  for (const auto& [text, blank] : cases) CHECK(config::blank_comments(text) == blank);
}

TEST_CASE("a commented job file is read, and a mistake behind comments has its place") {
  const auto file =
      load("// for LUMI\n{\n  \"nodes\": 2, // two\n  // \"time\": 10,\n  \"command\": [\"x\"]\n}\n");
  INFO(messages_of(file));
  REQUIRE(file.job);
  CHECK(file.job->nodes->value == 2);
  CHECK_FALSE(file.job->time);
  const auto wrong = load("{\n  // one\n  \"nodes\": \"two\" // three\n}\n");
  CHECK_FALSE(wrong.job);
  REQUIRE(wrong.diagnostics.size() == 1);
  CHECK(wrong.diagnostics[0].location.line == 3);
  CHECK(messages_of(wrong).find("\"nodes\": \"two\" // three") != std::string::npos);
}

TEST_CASE("several programs of one job keep their order, and the first that all ranks run is the main one") {
  const auto file = load(
      R"({"steps": [{"command": ["stage"], "once": true}, {"command": ["train", "-x"]}, {"command": ["test"]}]})");
  INFO(messages_of(file));
  REQUIRE(file.job);
  REQUIRE(file.job->steps.size() == 3);
  CHECK(file.job->steps[0].once);
  CHECK_FALSE(file.job->steps[1].once);
  CHECK(file.job->command == std::vector<std::string>{"train", "-x"});
  model::JobSpec typed;
  typed.command = {"other"};
  CHECK(config::merge_jobs(*file.job, typed).steps.empty());
  CHECK(config::merge_jobs(*file.job, {}).steps.size() == 3);
}

TEST_CASE("several jobs are put behind those that they wait for, else they keep the file's order") {
  const auto file = load(R"({"site": "lumi", "nodes": 2, "jobs": [
    {"name": "test", "after": ["train", "prepare"], "command": ["test"]},
    {"name": "train", "after": "prepare", "after-if": "any", "chain": 3, "chain-if": "ok", "command": ["train"], "nodes": 4},
    {"name": "other", "command": ["other"], "job-name": "own"},
    {"name": "prepare", "command": ["prepare"], "gpus-per-node": 0, "array": "0-3"}]})");
  INFO(messages_of(file));
  REQUIRE(file.job);
  REQUIRE(file.jobs.size() == 4);
  std::vector<std::string> order;
  for (const auto& part : file.jobs) order.push_back(part.name);
  CHECK(order == std::vector<std::string>{"other", "prepare", "train", "test"});
  CHECK(file.jobs[0].job.job_name->value == "own");
  CHECK(file.jobs[1].job.job_name->value == "prepare");
  CHECK(file.jobs[1].job.array->value == "0-3");
  CHECK(file.jobs[2].after == std::vector<std::string>{"prepare"});
  CHECK(file.jobs[2].after_if == "any");
  CHECK(file.jobs[2].chain == 3);
  CHECK(file.jobs[2].chain_if == "ok");
  CHECK(file.jobs[3].after_if == "ok");
}

TEST_CASE("mistakes in jobs, steps and chains are all said") {
  struct Case {
    const char* text;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {R"({"jobs": [{"command": ["x"]}, {"name": "b", "aftr": "a", "command": ["y"]}]})",
       {"name", "use \"after\" if"}},
      {R"({"jobs": [{"name": "a", "command": ["x"]}, {"name": "a", "after": "trai", "command": ["y"]}, {"name": "train"}]})",
       {"two jobs of the job file have the name \"a\"", "use \"after\": \"train\" if that is meant"}},
      {R"({"jobs": [{"name": "a", "after": "b", "command": ["x"]}, {"name": "b", "after": "a", "command": ["y"]}]})",
       {"wait for each other in a circle: a, b"}},
      {R"({"jobs": [{"name": "a", "after": "a", "command": ["x"]}]})", {"circle: a"}},
      {R"({"command": ["x"], "jobs": [{"name": "a", "command": ["x"]}]})",
       {"cannot be set next to \"jobs\""}},
      {R"({"command": ["x"], "steps": [{"command": ["y"]}]})", {"exclude each other"}},
      {R"({"steps": [{"once": true}]})", {"command"}},
      {R"({"command": ["x"], "chain": 0})", {"must be from 1 to 1000"}},
      {R"({"command": ["x"], "chain-if": "ok"})", {"without \"chain\""}},
      {R"({"command": ["x"], "chain": 2, "chain-if": "never"})", {"chain-if"}},
  };
  for (const auto& test_case : cases) {
    const auto file = load(test_case.text);
    CAPTURE(test_case.text, messages_of(file));
    CHECK_FALSE(file.job);
    for (const auto& part : test_case.parts) CHECK(messages_of(file).find(part) != std::string::npos);
  }
}
