// SPDX-License-Identifier: MIT
// Why a run ended, as its records say.
#include <catch2/catch.hpp>

#include <chrono>
#include <map>

#include "core/util/file.hpp"
#include "run/batch/run_cause.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::batch;

namespace {

const util::EnvSnapshot k_env(std::map<std::string, std::string>{{"SLURM_JOB_ID", "70"}});

std::string end_event(const std::string& failure) {
  return "{\"event\":\"end\",\"code\":1,\"class\":\"" + failure + "\"}\n";
}

/// A record whose last change was that many minutes ago.
void write_record(const test::TempDirectory& logs, const std::string& run, const std::string& text,
                  int minutes = 0) {
  std::filesystem::create_directories(logs / run);
  const auto path = logs / (run + "/record-0.jsonl");
  REQUIRE(util::write_file(path, text));
  std::filesystem::last_write_time(path,
                                   std::filesystem::last_write_time(path) - std::chrono::minutes(minutes));
}

std::string read_cause(const test::TempDirectory& logs) {
  return read_run_cause(logs.path().string(), k_env);
}

} // namespace

TEST_CASE("class_of_record returns the class of the last end") {
  CHECK(class_of_record(end_event("node")) == "node");
  CHECK(class_of_record("{\"event\":\"run\",\"class\":\"launcher\"}\n" + end_event("program")) == "program");
  CHECK(class_of_record(end_event("node") + end_event("launcher")) == "launcher");
  CHECK(class_of_record(end_event("node") + "{\"event\":\"end\",\"code\":0}\n") == "");
  CHECK(class_of_record(end_event("node") + "{\"event\":\"end\",\"class\":7}\n") == "");
  CHECK(class_of_record("\"event\":\"end\",\"class\":\"user\"}\n" + end_event("node")) ==
        "node");                                                                    // cut by the tail
  CHECK(class_of_record(end_event("node") + "{\"event\":\"end\",\"cla") == "node"); // not yet written
  for (const std::string text :
       {"", "\n\n", "[]\n", "7\n", "{\"event\":7}\n", "{\"class\":\"node\"}\n", "\xff\xfe{\n"}) {
    INFO(text);
    CHECK(class_of_record(text) == "");
  }
}

TEST_CASE("read_run_cause reads the newest record of the job") {
  const test::TempDirectory logs;
  CHECK(read_cause(logs) == "");
  write_record(logs, "70.0", end_event("node"), 2);
  CHECK(read_cause(logs) == "node");
  write_record(logs, "70.1", end_event("launcher"), 1);
  write_record(logs, "700.0", end_event("user"));
  write_record(logs, "7.0", end_event("user"));
  CHECK(read_cause(logs) == "launcher");
  std::filesystem::create_directories(logs / "70.2"); // the agent could not write
  CHECK(read_cause(logs) == "launcher");
  write_record(logs, "70.10", "{\"event\":\"run\"}\n");
  CHECK(read_cause(logs) == "");
  CHECK(read_run_cause("", k_env) == "");
  CHECK(read_run_cause((logs / "none").string(), k_env) == "");
}

TEST_CASE("read_run_cause finds the end of a long record") {
  const test::TempDirectory logs;
  std::string text = end_event("user");
  while (text.size() < 200'000) text += "{\"event\":\"progress\",\"step\":1}\n";
  write_record(logs, "70.0", text + end_event("node"));
  CHECK(read_cause(logs) == "node");
}
