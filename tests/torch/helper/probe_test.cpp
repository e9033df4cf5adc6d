// SPDX-License-Identifier: MIT
// The preflight in Python says what the helper says: same lines, same verdicts, and ranks of both meet.
// [.probe]: those that wait for faults, in .ci/full torch-build.
#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "core/util/text.hpp"
#include "ranks_helper.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace torch_test;
using Catch::Contains;

namespace {

/// Empty where no Python has this build's torch: there is nothing to compare then.
std::vector<std::string> probe_words(const std::vector<std::string>& flags) {
  std::vector<std::string> words = {tested_build().python, HPCML_PROBE, "preflight"};
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

bool has_python() { return !tested_build().python.empty(); }

/// The events' names in order, each with its keys: what those who read the lines depend on.
std::string shape_of(const std::string& output) {
  std::string text;
  for (const auto& line : util::split(output, '\n')) {
    const auto event = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    text += event.value("event", "") + ":";
    for (const auto& [key, value] : event.items()) {
      text += " " + key + "=" + value.type_name();
      if (value.is_array() && !value.empty() && value.front().is_object())
        for (const auto& [inner, item] : value.front().items()) text += "/" + inner + "=" + item.type_name();
    }
    text += "\n";
  }
  return text;
}

} // namespace

TEST_CASE("ranks in Python and of the helper meet in one world and say the same lines in the same order") {
  if (!has_python()) return test::skip_missing("the Python with torch " + tested_build().torch_series + "*");
  const auto run = [](int of_helper) {
    return run_ranks(2, {0, 1}, [&](int rank) {
      const std::vector<std::string> flags = {"--timeout", "60", "--backend", "gloo", "--bytes", "65536"};
      if (rank != of_helper) return probe_words(flags);
      std::vector<std::string> words = {helper_path(), "preflight"};
      words.insert(words.end(), flags.begin(), flags.end());
      return words;
    });
  };
  const auto first = run(0), second = run(1);
  for (const auto* result : {&first, &second}) {
    INFO(result->transcript());
    for (const int rank : {0, 1}) CHECK(result->ranks.at(rank).exit_code == 0);
    REQUIRE(result->events(0, "summary").size() == 1);
    CHECK(result->events(0, "summary")[0].at("ranks").size() == 2);
  }
  for (const int rank : {0, 1})
    CHECK(shape_of(first.ranks.at(rank).out) == shape_of(second.ranks.at(rank).out));
}

TEST_CASE("ranks in Python name one that is absent, and one whose share of a sum is wrong", "[.probe]") {
  if (!has_python()) return test::skip_missing("the Python with torch " + tested_build().torch_series + "*");
  const bool absent = GENERATE(true, false);
  const std::string seconds = absent ? "8" : "60", bytes = "65536";
  const auto run = run_ranks(3, absent ? std::vector<int>{0, 2} : std::vector<int>{0, 1, 2},
                             [&](int rank) -> std::vector<std::string> {
                               if (rank == 1) return {tested_build().bad_rank, "wrong", bytes, seconds};
                               return probe_words({"--timeout", seconds, "--bytes", bytes});
                             });
  INFO(run.transcript());
  for (const int rank : {0, 2}) CHECK(run.ranks.at(rank).exit_code == 6);
  REQUIRE(run.events(0, "cause").size() == 1);
  const auto faulty_rank = run.events(0, "cause")[0];
  CHECK(faulty_rank.at("ranks") == nlohmann::json({1}));
  CHECK(faulty_rank.at("phase") == (absent ? "rendezvous" : "all_reduce"));
  CHECK_THAT(faulty_rank.at("what").get<std::string>(),
             Contains(absent ? "rank 1" : "element 5: 37 instead of 36")); // 6 times 1+2+3, and one more
  CHECK(run.events(2, "failed").size() == 1); // what rank 0 said; one voice for the job
}

TEST_CASE("a rank in Python that alters what it sends is named, and no other", "[.probe]") {
  if (!has_python()) return test::skip_missing("the Python with torch " + tested_build().torch_series + "*");
  const test::TempDirectory directory;
  const auto run =
      run_ranks(4, {0, 1, 2, 3},
                [](int) {
                  return probe_words({"--timeout", "20", "--backend", "gloo", "--bytes", "262144"});
                },
                {{"LD_PRELOAD", tested_build().altering_socket},
                 {"ALTER_RANK", "2"},
                 {"ALTER_WHAT", "send"},
                 {"ALTER_PEER", ""},
                 {"ALTER_FOLDER", directory.path().string()}});
  INFO(run.transcript());
  REQUIRE(run.events(0, "cause").size() == 1);
  CHECK(run.events(0, "cause")[0].at("ranks") == nlohmann::json({2}));
  CHECK_THAT(run.events(0, "cause")[0].at("what").get<std::string>(), Contains("what it sends is altered"));
}

TEST_CASE("hpcml preflight takes the Python that imports torch where no helper is, and names it") {
  if (!has_python()) return test::skip_missing("the Python with torch " + tested_build().torch_series + "*");
  const test::TempDirectory directory;
  auto env = util::EnvSnapshot::of_process();
  std::filesystem::create_directories(directory / "bin"); // an hpcml without its helper beside it
  std::filesystem::copy_file(tested_build().hpcml, directory / "bin/hpcml");
  env.set("XDG_CACHE_HOME", (directory / "cache").string());
  const auto python = std::filesystem::path(tested_build().python);
  env.set("PATH", python.parent_path().string() + ":/usr/bin:/bin");
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX", "SLURM_JOB_ID", "SLURM_PROCID"}) env.unset(name);
  const auto output = util::run_process(
      {(directory / "bin/hpcml").string(), "preflight", "--nproc-per-node", "2", "--backend", "gloo"}, env,
      std::chrono::seconds(600));
  REQUIRE(output);
  INFO(output->out << output->err);
  CHECK(output->exit_code == 0);
  CHECK_THAT(output->out, Contains("ok: 2 ranks on 1 host connected"));
  CHECK_THAT(output->err,
             Contains("running the preflight in python3 with torch " + tested_build().torch_series));
}
