// SPDX-License-Identifier: MIT
// What a plain script computes in the shell is what `hpcml launch` computes in the task: one recipe, two readers.
#include <catch2/catch.hpp>

#include "launch/cache_dirs.hpp"
#include "launch/rank_setup.hpp"
#include "launch/rendezvous.hpp"
#include "model/hostlist.hpp"
#include "render/render_helper.hpp"
#include "render/script.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// The environment of a rank of a plain script, run by real bash with these variables.
std::map<std::string, std::string> rank_environment(model::Plan plan, const test::TempFolder& folder,
                                                    const std::map<std::string, std::string>& variables) {
  plan.command = {test::word_writer(folder)};
  const auto script = render::render_script(plan);
  const auto result = test::run_script(script, folder, variables);
  INFO(script << result.err);
  REQUIRE(result.exit_code == 0);
  return test::seen_environment(folder);
}

model::Plan plain_plan() {
  auto plan = test::make_plan_for("srun");
  plan.caches.clear();
  return plan;
}

} // namespace

TEST_CASE("script and launch meet at the same port in the first step of a job") {
  for (const unsigned long long job : {1ULL, 175ULL, 4711ULL, 16999ULL, 17000ULL, 123456ULL, 67108863ULL, 4294967293ULL}) {
    for (const unsigned restart : {0U, 1U, 40U}) {
      CAPTURE(job, restart);
      test::TempFolder folder;
      std::map<std::string, std::string> variables{{"SLURM_JOB_ID", std::to_string(job)}};
      if (restart > 0) variables["SLURM_RESTART_COUNT"] = std::to_string(restart); // Slurm sets it from the first restart on
      slurm::StepIdentity identity;
      identity.job = job;
      identity.restart = restart;
      CHECK(rank_environment(plain_plan(), folder, variables)["MASTER_PORT"] == std::to_string(launch::step_port(identity)));
    }
  }
}

TEST_CASE("script and launch meet at the same node, as scontrol reads the list") {
  for (const std::string list : {"nid[000012-000013,000020]", "c123-[456-457]", "gpumd03", "r[1-2]n[03-04]", "b2,a[1-3]"}) {
    for (const std::string suffix : {"", "i"}) {
      CAPTURE(list, suffix);
      test::TempFolder folder;
      REQUIRE(util::write_file(folder / "slurm.conf", "ClusterName=none\nSlurmctldHost=localhost\nNodeName=none\n"));
      test::put_program(folder, "scontrol", "SLURM_CONF=$PWD/slurm.conf exec /usr/bin/scontrol \"$@\"\n");
      auto plan = plain_plan();
      plan.rendezvous.suffix = suffix;
      const auto nodes = model::Hostlist::parse(list);
      REQUIRE(nodes);
      CHECK(rank_environment(plan, folder, {{"SLURM_JOB_NODELIST", list}})["MASTER_ADDR"] ==
            launch::step_address(util::EnvSnapshot(), nodes->names().front(), suffix));
    }
  }
}

TEST_CASE("script and launch find the same address of an interface") {
  test::TempFolder folder;
  auto plan = plain_plan();
  plan.rendezvous.interface = "lo";
  const auto address = launch::interface_address("lo");
  REQUIRE(address);
  CHECK(rank_environment(plan, folder, {})["MASTER_ADDR"] == *address);
}

TEST_CASE("a cache has the same variables and the same folders inside, and launch does not take a script's for its own leavings") {
  test::TempFolder folder;
  auto plan = test::make_plan_for("srun");
  plan.caches[0].base = "${NO_SUCH_VARIABLE:-" + folder.path().string() + "}/$SLURM_NODEID";
  plan.caches[0].variables = {{"A", ""}, {"B", "one"}, {"C", "one/two.d"}, {"D", "one"}};
  fs::create_directory(folder / "1");
  auto script_env = rank_environment(plan, folder, {{"SLURM_NODEID", "1"}});

  util::EnvSnapshot env;
  env.set("SLURM_NODEID", "1");
  const auto base = launch::expand_variables(plan.caches[0].base, env);
  REQUIRE(base);
  CHECK(*base == (folder / "1").string());
  const auto path = launch::cache_path(plan.caches[0], *base, "job4711-step0-node1");
  REQUIRE(path);
  auto cache = launch::open_cache(plan.caches[0], *path);
  REQUIRE(cache);
  for (const auto& [variable, mine] : cache->variables) {
    CAPTURE(variable);
    CHECK(fs::relative(script_env[variable], script_env["A"]) == fs::relative(mine, *path));
  }
  launch::release_cache(*cache);
  const fs::path own = script_env["A"];
  CHECK(own.parent_path() == fs::path(*base));
  const auto leavings = fs::path(*path).filename().string(); // launch removes what begins like its own, up to the job's number
  CHECK_FALSE(util::starts_with(own.filename().string(), leavings.substr(0, leavings.find("4711"))));
}
