// SPDX-License-Identifier: MIT
// The table of options against what the installed commands say of themselves.
#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>

#include <cstdlib>
#include <filesystem>

#include "core/slurm/options.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using slurm::Program;
using slurm::TakesValue;

namespace {

/// The commands read a configuration before they print anything.
std::optional<std::string> help_of(const std::string& program) {
  if (!std::filesystem::exists(program)) return std::nullopt;
  const test::TempDirectory directory;
  const std::string file = (directory / "slurm.conf").string();
  REQUIRE(util::write_file(file, "ClusterName=none\nSlurmctldHost=localhost\n"));
  auto env = util::EnvSnapshot::of_process();
  env.set("SLURM_CONF", file);
  const auto help = util::run_process({program, "--help"}, env, std::chrono::seconds(300));
  REQUIRE(help);
  REQUIRE(help->exit_code == 0);
  return help->out;
}

} // namespace

TEST_CASE(
    "Every option that the installed commands list is in the table, with its letter and its kind of value") {
  for (const auto& [program, name] :
       {std::pair{Program::sbatch, "/usr/bin/sbatch"}, std::pair{Program::srun, "/usr/bin/srun"}}) {
    const auto help = help_of(name);
    if (!help) {
      test::skip_missing(name);
      continue;
    }
    const std::regex line(R"(\n +(?:-(\w), +)?--([a-z0-9-]+)(\[=|=)?)");
    std::size_t seen = 0;
    for (std::sregex_iterator found(help->begin(), help->end(), line), end; found != end; ++found, ++seen) {
      const std::string full = (*found)[2];
      INFO(name << " --" << full);
      const auto match = slurm::find_option(program, full);
      REQUIRE(match.option);
      if ((*found)[3].matched && (*found)[3] == "=")
        CHECK(match.option->argument != TakesValue::none); // also where the value may be left out
      if ((*found)[1].matched) {
        const auto by_letter = slurm::find_option(program, (*found)[1].str()[0]);
        REQUIRE(by_letter);
        CHECK(by_letter->name == match.option->name);
      }
    }
    CHECK(seen > 60);
  }
}

TEST_CASE("A beginning stands for its one option, an older name for its successor, and no program has the "
          "other's options") {
  CHECK(slurm::find_option(Program::srun, "cpu-b").option->name == "cpu-bind");
  CHECK(slurm::find_option(Program::srun, "cpu_bind").option->name == "cpu-bind");
  CHECK(slurm::find_option(Program::sbatch, "tasks-per-node").option->name == "ntasks-per-node");
  CHECK_FALSE(slurm::find_option(Program::sbatch, "cpu-bind").option);
  const auto several = slurm::find_option(Program::sbatch, "nod");
  CHECK_FALSE(several.option);
  CHECK(several.candidates == std::vector<std::string>{"nodefile", "nodelist", "nodes"});
  CHECK_FALSE(slurm::find_option(Program::sbatch, "").option);
  CHECK_FALSE(slurm::find_option(Program::srun, 'y'));
  CHECK(slurm::find_option(Program::sbatch, 'W')->argument == TakesValue::none);
  CHECK(slurm::find_option(Program::srun, 'W')->argument == TakesValue::required);
}

TEST_CASE("The table says which versions have an option, and what its value may be") {
  CHECK(slurm::versions_of(Program::sbatch, "nodes") == "");
  CHECK(slurm::versions_of(Program::sbatch, "requeue") == ""); // with another kind of value from 25.11
  CHECK(slurm::versions_of(Program::srun, "external-launcher") == "23.11-");
  CHECK(slurm::versions_of(Program::sbatch, "power") == "-23.11");
  CHECK(slurm::versions_of(Program::sbatch, "export-file") == "-23.02,24.05-");
  CHECK(slurm::value_kind_of("time-min") == slurm::ValueKind::time);
  CHECK(slurm::value_kind_of("job-name") == slurm::ValueKind::text);
}
