// SPDX-License-Identifier: MIT
// A task whose node was cut off ends when it reaches srun again.
#include <catch2/catch.hpp>

#include "free_port.hpp"
#include "run/launch/reach_srun.hpp"

using namespace hpcml;

namespace {

/// How often it is asked whether all is over, until the third time, when it is.
int exit_code_of(const util::EnvSnapshot& env, std::uint16_t quiet_port) {
  int count = 0;
  launch::wait_until_srun_is_reached(env, quiet_port, [&] { return ++count == 3; });
  return count;
}

util::EnvSnapshot task(const std::string& machine) {
  util::EnvSnapshot env;
  env.set("SLURM_PROCID", "1");
  env.set("SLURM_LAUNCH_NODE_IPADDR", machine);
  env.set("SLURM_SRUN_COMM_PORT", std::to_string(test::free_port()));
  return env;
}

} // namespace

TEST_CASE("a machine that says nobody listens there is reached, and one that says nothing is waited for") {
  const auto closed = static_cast<std::uint16_t>(test::free_port());
  CHECK(exit_code_of(task("127.0.0.1"), closed) == 1);
  CHECK(exit_code_of(task("127.0.0.1"), 0) == 1);
  CHECK(exit_code_of(task("no address"), closed) == 3);
}

TEST_CASE("outside of a step there is no srun to be reached") {
  auto env = task("no address");
  SECTION("no task") { env.unset("SLURM_PROCID"); }
  SECTION("no machine") { env.unset("SLURM_LAUNCH_NODE_IPADDR"); }
  SECTION("no port") { env.set("SLURM_SRUN_COMM_PORT", "70000"); }
  CHECK(exit_code_of(env, 1) == 0);
}
