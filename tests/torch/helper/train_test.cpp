// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <unistd.h>

#include "core/util/file.hpp"
#include "ranks_helper.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using namespace torch_test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

struct ReportDirectory {
  fs::path path = fs::temp_directory_path() / ("hpcml-train-" + std::to_string(::getpid()));
  ~ReportDirectory() { fs::remove_all(path); }
  nlohmann::json of(int rank) const {
    const auto text = util::read_file(path / ("rank-" + std::to_string(rank) + ".json"));
    REQUIRE(text);
    return nlohmann::json::parse(*text);
  }
};

Run train(int ranks, const std::vector<std::string>& flags) {
  return run_all_ranks(ranks, {train_path(), "--backend", "gloo"}, flags);
}

} // namespace

TEST_CASE("ranks that each see only some digits learn all of them together and end with the same weights") {
  const int ranks = GENERATE(4, 12); // fewer and more ranks than classes
  const ReportDirectory directory;
  const auto run = train(ranks, {"--report-dir", directory.path.string()});
  INFO(run.transcript());
  std::set<std::string> hashes;
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(run.ranks.at(rank).exit_code == 0);
    const auto report = directory.of(rank);
    hashes.insert(report.at("weights_hash").get<std::string>());
    CHECK(report.at("accuracy").get<double>() >= 0.93);
    CHECK(report.at("differing_bytes") == 0);
    REQUIRE(report.at("connections").size() == static_cast<std::size_t>(ranks - 1));
    for (const auto& connection : report.at("connections")) CHECK(connection.at("interface") == "lo");
    // what the kernel says of this process, whose mask the ranks inherit
    CHECK_THAT(util::read_file("/proc/self/status").value(),
               Contains("Cpus_allowed_list:\t" + report.at("cpus_allowed_list").get<std::string>() + "\n"));
  }
  CHECK(hashes.size() == 1);
}

TEST_CASE(
    "without communication the same training fails: digits of other ranks are not learned, weights differ") {
  const ReportDirectory directory;
  const auto run = train(4, {"--no-communication", "--report-dir", directory.path.string()});
  INFO(run.transcript());
  std::set<std::string> hashes;
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(run.ranks.at(rank).exit_code == 1);
    CHECK(directory.of(rank).at("accuracy").get<double>() < 0.5);
    CHECK(directory.of(rank).at("differing_bytes").get<long long>() > 0);
    hashes.insert(directory.of(rank).at("weights_hash").get<std::string>());
  }
  CHECK(hashes.size() == 4);
}

TEST_CASE("a training that stops goes on from its last checkpoint and ends as one that did not stop") {
  const ReportDirectory directory;
  const auto last_line = [&](const std::vector<std::string>& flags) {
    const auto run = run_ranks(2, {0, 1}, [&](int) {
      std::vector<std::string> words = {resume_path(), "--steps", "60", "--save-every", "20"};
      words.insert(words.end(), flags.begin(), flags.end());
      return words;
    });
    INFO(run.transcript());
    for (const auto& [rank, output] : run.ranks) CHECK(output.exit_code == 0);
    return run.ranks.at(0).out;
  };
  const auto whole = last_line({});
  CHECK_THAT(whole, StartsWith("60 steps, held-out accuracy 0.9"));
  const std::vector<std::string> saved = {"--checkpoints", directory.path.string()};
  const auto stopped = last_line({saved[0], saved[1], "--stop-after", "50"});
  CHECK(stopped == "stopped before step 50; the same command without --stop-after goes on\n");
  // Three epochs of 23 steps, one of 32 images each: step 40 is in the second one.
  CHECK(last_line(saved) == "goes on after step 39, epoch 1\n" + whole);
}

TEST_CASE("ranks of which one was asked to save all stop behind the same step, and go on from it") {
  const ReportDirectory directory;
  const auto first_lines = [&](const std::string& start) {
    const auto run =
        run_ranks(2, {0, 1},
                  [&](int rank) {
                    // As under hpcml: the signal is ignored until the program wants it. Rank 1 alone is
                    // asked, until it ends.
                    const std::string ask = rank == 1 ? start : "";
                    return std::vector<std::string>{
                        "bash",    "-c", "trap '' USR1; \"$@\" & " + ask + " wait $!", "bash", resume_path(),
                        "--steps", "60"};
                  },
                  {{"HPCML_SAVE_SIGNAL", "USR1"}, {"HPCML_CHECKPOINT_DIR", directory.path.string()}});
    INFO(run.transcript());
    for (const auto& [rank, output] : run.ranks) CHECK(output.exit_code == 0);
    return run.ranks.at(0).out;
  };
  const auto stopped = first_lines("while kill -USR1 $! 2>/dev/null; do sleep 0.01; done;");
  REQUIRE_THAT(stopped, StartsWith("stopped after step "));
  CHECK_THAT(stopped, Contains(", as it was asked to; the same command goes on\n"));
  const auto step = stopped.substr(19, stopped.find(',') - 19);
  const auto went_on = first_lines("");
  CHECK_THAT(went_on, StartsWith("goes on after step " + step + ", epoch "));
  fs::remove_all(directory.path);
  CHECK_THAT(went_on, Catch::EndsWith("\n" + first_lines("")));
}

TEST_CASE("a missing or damaged data file is named") {
  const auto missing = run_ranks(1, {0}, [](int) {
    return std::vector<std::string>{train_path(), "--data", "/nowhere/digits.csv.gz"};
  });
  CHECK(missing.ranks.at(0).exit_code == 1);
  CHECK_THAT(missing.ranks.at(0).err, Contains("/nowhere/digits.csv.gz"));
  const ReportDirectory directory;
  fs::create_directories(directory.path);
  REQUIRE(util::write_file(directory.path / "bad.csv", "1,2,3\n"));
  const auto damaged = run_ranks(1, {0}, [&](int) {
    return std::vector<std::string>{train_path(), "--data", (directory.path / "bad.csv").string()};
  });
  CHECK(damaged.ranks.at(0).exit_code == 1);
  CHECK_THAT(damaged.ranks.at(0).err, Contains("bad.csv:1") && Contains("65 numbers"));
}

TEST_CASE("hpcml launch gives the training its ranks") {
  const auto output =
      util::run_process({tested_build().hpcml, "launch", "--nproc-per-node", "4", "--", train_path()},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(600));
  REQUIRE(output);
  INFO(output->out << output->err);
  CHECK(output->exit_code == 0);
  CHECK_THAT(output->out, Contains("weights of 4 ranks: equal byte by byte"));
}

TEST_CASE("hpcml preflight starts ranks on this machine and prints a table with a verdict") {
  const auto output =
      util::run_process({tested_build().hpcml, "preflight", "--nproc-per-node", "3", "--backend", "gloo"},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(600));
  REQUIRE(output);
  INFO(output->out << output->err);
  CHECK(output->exit_code == 0);
  CHECK_THAT(output->out, Contains("all_reduce Gbit/s") && Contains("ok: 3 ranks on 1 host connected"));
}
