// SPDX-License-Identifier: MIT
// The line for an interactive job: the same resources, nothing dropped without a word.
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "generate/render/interactive.hpp"
#include "generate/render/render_script.hpp"
#include "holds.hpp"
#include "render_helper.hpp"

using namespace hpcml;
using test::holds;

namespace {

model::Origin typed() { return {model::OriginKind::flag, "--flag", {}, {}, {}}; }

std::vector<std::string> names(const std::vector<model::PlannedDirective>& directives) {
  std::vector<std::string> names;
  for (const auto& directive : directives) names.push_back(directive.name);
  return names;
}

} // namespace

TEST_CASE("salloc gets what the header has, but for what only batch jobs know") {
  auto plan = test::make_whole_node_plan();
  plan.directives[0].value = "it's";
  plan.directives.push_back({"--reservation", "r", typed()});
  plan.directives.push_back({"--array", "0-3", typed()});
  const auto line = render::make_interactive(plan);
  CHECK(line.text.starts_with("salloc '--job-name=it'\\''s' --account=project_1"));
  CHECK(holds(line.text, " --reservation=r"));
  CHECK_FALSE(holds(line.text, "--output"));
  CHECK(names(line.pointless) == std::vector<std::string>{"--array"});
  const auto findings = render::find_unset(line);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == diag::Severity::warning);
}

TEST_CASE("a shell under srun is one task per node with all that the node's ranks would have") {
  auto plan = test::make_whole_node_plan();
  plan.interactive.program = "srun";
  plan.layout.tasks_per_node = 4;
  plan.directives = {{"--nodes", "2", {}},
                     {"--ntasks-per-node", "4", {}},
                     {"--cpus-per-task", "12", {}},
                     {"--gpus-per-task", "a100:1", {}}};
  CHECK(render::make_interactive(plan).text ==
        "srun --nodes=2 --ntasks-per-node=1 --cpus-per-task=48 --gpus-per-node=a100:4 --overlap "
        "--cpu-bind=none --pty bash -i");
}

TEST_CASE("the ranks in such a shell lie as the batch script has them, not as the shell's own step does") {
  auto plan = test::make_whole_node_plan();
  plan.interactive.program = "srun";
  plan.layout.nodes = 2;
  CHECK(render::render_interactive_lines(plan, true).find(" --distribution=block --overlap ") !=
        std::string::npos);
  plan.directives.push_back({"--distribution", "cyclic", {}});
  CHECK(render::render_interactive_lines(plan, true).find("--distribution") == std::string::npos);
  plan.interactive.program = "salloc";
  plan.directives.pop_back();
  CHECK(render::render_interactive_lines(plan, true).find("--distribution") == std::string::npos);
}

TEST_CASE("a program of the site gets its own letters, and what it has no option for is said") {
  auto plan = test::make_whole_node_plan();
  plan.interactive = {"idev",
                      {{"account", "-A"},
                       {"nodes", "-N"},
                       {"ntasks", "-n"},
                       {"partition", "-p"},
                       {"reservation", "-r"},
                       {"time", "-t"}},
                      {"cpus-per-task", "exclusive", "threads-per-core"}};
  CHECK(render::render_interactive(plan) == "idev -N 2 -n 16 -A project_1 -p standard-g -t 00:10:00\n");
  plan.directives.push_back({"--reservation", "r", typed()});
  plan.directives.push_back({"--qos", "high", typed()});
  plan.directives.push_back({"--comment", "x", {}}); // nobody asked for this one
  plan.directives[0].origin = typed();
  REQUIRE(plan.directives[0].name == "--job-name");
  const auto line = render::make_interactive(plan);
  CHECK(line.text.ends_with(" -r r"));
  CHECK(names(line.missing) == std::vector<std::string>{"--qos"});
  CHECK(names(line.pointless) == std::vector<std::string>{"--job-name"});
  const auto findings = render::find_unset(line);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].severity == diag::Severity::error);
  CHECK(findings[1].message == "idev has no option for --qos=high, which this interactive job requests");
}
