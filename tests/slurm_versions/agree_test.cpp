// SPDX-License-Identifier: MIT
// hpcml's reader against what ten versions of sbatch really did.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "agree_cases.hpp"
#include "live_cases.hpp"
#include "skip.hpp"

using namespace hpcml;

TEST_CASE("The reader agrees with ten versions of sbatch on 99 of 100 measured cases") {
  const auto outcomes = agree::run_cases(HPCML_SOURCE_DIR "/tests/slurm_versions/cases.json");
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() > 10000);
  std::size_t agreed = 0;
  for (const auto& outcome : *outcomes) {
    if (outcome.differences.empty())
      ++agreed;
    else
      UNSCOPED_INFO(outcome.id << " " << name_of(outcome.version) << ": " << outcome.differences.front());
  }
  CHECK(agreed * 100 >= outcomes->size() * 99);
}

TEST_CASE("The reader agrees where a live sbatch once contradicted it") {
  const auto outcomes = agree::run_cases(HPCML_SOURCE_DIR "/tests/slurm_versions/found_cases.json");
  REQUIRE(outcomes);
  CHECK(outcomes->size() > 13000);
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id << " " << name_of(outcome.version) << ": "
                    << (outcome.differences.empty() ? "" : outcome.differences.front()));
    CHECK(outcome.differences.empty());
  }
}

TEST_CASE("The runner sees facts that are wrong") {
  const auto outcomes = agree::run_cases(HPCML_SOURCE_DIR "/tests/slurm_versions/wrong_cases.json");
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() == 13);
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id << " " << name_of(outcome.version));
    CHECK_FALSE(outcome.differences.empty());
  }
}

TEST_CASE(
    "A live sbatch agrees with the reader on mutated scripts, refused or taken, and on what the job became",
    "[slurm]") {
  if (!std::filesystem::exists("/usr/sbin/slurmctld")) return test::skip_missing("slurmctld");
  if (::geteuid() != 0)
    return test::skip("only root can start slurmctld with the accounts of the recorded cases");
  const auto file =
      std::filesystem::temp_directory_path() / ("hpcml-live-" + std::to_string(::getpid()) + ".json");
  const auto requested =
      agree::measure_mutations(HPCML_SOURCE_DIR "/tests/slurm_versions/cases.json", 300, 2026, "/usr", file);
  REQUIRE(requested);
  const auto outcomes = agree::run_cases(file);
  std::filesystem::remove(file);
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() == 300);
  std::size_t agreed = 0;
  for (const auto& outcome : *outcomes) {
    if (outcome.differences.empty())
      ++agreed;
    else
      UNSCOPED_INFO(outcome.id << ": " << outcome.differences.front());
  }
  CHECK(agreed * 1000 >= outcomes->size() * 985);
}
