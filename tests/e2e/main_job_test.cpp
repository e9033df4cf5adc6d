// SPDX-License-Identifier: MIT
// The main job from end to end on real Slurm: gen -> emulate -> sbatch -> srun -> launch -> a training that
// learns.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

/// The masks of https://docs.lumi-supercomputer.eu (LUMI-G binding, 7 cores per GCD, GCD order), as the LUMI
/// PyTorch page prints them.
const std::vector<std::string> k_documented_masks = {
    "fe000000000000", "fe00000000000000", "fe0000", "fe000000", "fe", "fe00", "fe00000000", "fe0000000000"};

struct WorkDirectory {
  fs::path path = fs::temp_directory_path() / ("hpcml-main-job-" + std::to_string(::getpid()));
  WorkDirectory() { fs::create_directories(path / "report"); }
  ~WorkDirectory() { fs::remove_all(path); }
};

std::string text_of(const fs::path& path) {
  const auto text = util::read_file(path);
  return text ? *text : std::string();
}

/// Runs a program in `directory`; the words are arguments of `env -C`, no shell sees them.
util::ProcessOutput run_in(const fs::path& directory, std::vector<std::string> words) {
  words.insert(words.begin(), {"env", "-C", directory.string()});
  auto result = util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::minutes(30));
  REQUIRE(result);
  return *result;
}

} // namespace

TEST_CASE("sixteen ranks on two emulated LUMI nodes train with the documented masks over hsn0", "[slurm]") {
  const WorkDirectory work;
  const std::string hpcml = HPCML_BINARY;
  const std::string program = std::string(HPCML_BINARY_DIR) + "/bin/train_ddp";
  REQUIRE(fs::exists(program));
  // The mask is read by grep from the kernel's file, in the task, before the training program takes its
  // place.
  const auto probe = work.path / "probe.sh";
  REQUIRE(util::write_file(
      probe,
      "#!/bin/bash\nset -eu\n"
      "grep '^Cpus_allowed:' /proc/self/status > \"report/mask-$RANK\"\n"
      "printf '%s %s %s' \"$(hostname)\" \"$LOCAL_RANK\" \"$(nproc)\" > \"report/place-$RANK\"\n"
      // The threads of OpenBLAS wait busily, and this machine has fewer cores than the two nodes.
      "export OPENBLAS_NUM_THREADS=1\n"
      "exec \"$@\"\n",
      0755));
  const auto generated = run_in(work.path, {hpcml,
                                            "gen",
                                            "--site",
                                            "lumi",
                                            "--nodes",
                                            "2",
                                            "--gpus-per-node",
                                            "8",
                                            "--account",
                                            "project_1",
                                            "--time",
                                            "10",
                                            "-o",
                                            "job.sh",
                                            "--",
                                            probe.string(),
                                            program,
                                            "--backend",
                                            "gloo",
                                            "--report-dir",
                                            "report"});
  INFO(generated.out << generated.err);
  REQUIRE(generated.exit_code == 0);
  const auto script_before = text_of(work.path / "job.sh");
  // The script is the one for the real site: it must not know of an emulation.
  CHECK(script_before.find("emulat") == std::string::npos);
  std::vector<std::string> listed;
  for (const auto& mask : k_documented_masks) listed.push_back("0x" + mask);
  CHECK(script_before.find("--cpu-bind=mask_cpu:" + util::join(listed, ",")) != std::string::npos);

  const auto rehearsed =
      run_in(work.path, {hpcml, "emulate", "--site", "lumi", "--nodes", "2", "--", "sbatch", "-W", "job.sh"});
  std::string output;
  for (const auto& entry : fs::directory_iterator(work.path))
    if (entry.path().extension() == ".out") output += text_of(entry.path());
  INFO(rehearsed.out << rehearsed.err << output);
  REQUIRE(rehearsed.exit_code == 0);
  CHECK(text_of(work.path / "job.sh") == script_before);

  std::set<std::string> hosts, hashes;
  for (unsigned rank = 0; rank < 16; ++rank) {
    INFO("rank " << rank);
    const auto place = util::split(text_of(work.path / "report" / ("place-" + std::to_string(rank))), ' ');
    REQUIRE(place.size() == 3);
    hosts.insert(place[0]);
    CHECK(place[1] == std::to_string(rank % 8));
    CHECK(place[2] == "7");
    auto mask = text_of(work.path / "report" / ("mask-" + std::to_string(rank)));
    mask = util::replace_all(std::string(util::trim(mask.substr(mask.find(':') + 1))), ",", "");
    CHECK(mask.substr(mask.find_first_not_of('0')) == k_documented_masks[rank % 8]);
    const auto report =
        nlohmann::json::parse(text_of(work.path / "report" / ("rank-" + std::to_string(rank) + ".json")));
    CHECK(report.at("world_size") == 16);
    CHECK(report.at("backend") == "gloo");
    CHECK(report.at("differing_bytes") == 0);
    hashes.insert(report.at("weights_hash").get<std::string>());
    CHECK(report.at("accuracy").get<double>() >= 0.93);
    REQUIRE_FALSE(report.at("connections").empty());
    for (const auto& connection : report.at("connections")) CHECK(connection.at("interface") == "hsn0");
  }
  CHECK(hosts.size() == 2);
  CHECK(hashes.size() == 1);
}

TEST_CASE("the same training fails when the ranks do not communicate", "[slurm]") {
  const std::string hpcml = HPCML_BINARY;
  const std::string program = std::string(HPCML_BINARY_DIR) + "/bin/train_ddp";
  const WorkDirectory work;
  const auto learned = run_in(work.path, {hpcml, "launch", "--nproc-per-node", "4", "--", program});
  INFO(learned.out << learned.err);
  CHECK(learned.exit_code == 0);
  const auto alone =
      run_in(work.path, {hpcml, "launch", "--nproc-per-node", "4", "--", program, "--no-communication"});
  INFO(alone.out << alone.err);
  CHECK(alone.exit_code == 1);
}
