// SPDX-License-Identifier: MIT
// Jobs of several components: what sbatch hands on from one to the next, and what cannot be in several.
#include "generate/plan/components.hpp"
#include "generate/plan/plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using Catch::Contains;
using Lines = std::vector<std::string>;

namespace {

model::Plan plan_with(const std::vector<std::pair<std::string, std::optional<std::string>>>& directives) {
  model::Plan plan;
  for (const auto& [name, value] : directives) plan.directives.push_back({name, value, {}});
  return plan;
}

/// Two components at LUMI that are planned.
std::vector<model::JobSpec> two_components() {
  auto first = lumi_job(), second = lumi_job();
  first.nodes = flag(1U);
  second.nodes = flag(2U);
  return {first, second};
}

std::string faults_of(const std::vector<model::JobSpec>& components, const std::string& id = "lumi") {
  const auto result = plan::make_plan(components, site_named(id));
  CHECK(result.plan.has_value() == !diag::has_errors(result.diagnostics));
  std::string text;
  for (const auto& finding : result.diagnostics) text += diag::render_text(finding, {}, false);
  return text;
}

} // namespace

TEST_CASE("what sbatch hands on to the next component is not written again, all else is") {
  std::vector<model::Plan> plans = {
      plan_with(
          {{"--job-name", "a"}, {"--partition", "p"}, {"--nodes", "1"}, {"--mem", "1G"}, {"--time", "5"}}),
      plan_with(
          {{"--job-name", "b"}, {"--partition", "p"}, {"--nodes", "1"}, {"--mem", "2G"}, {"--time", "5"}}),
      plan_with(
          {{"--job-name", "c"}, {"--partition", "q"}, {"--nodes", "4"}, {"--mem", "2G"}, {"--time", "5"}})};
  CHECK(plan::leave_out_inherited(plans).findings.empty());
  CHECK(directive_lines(plans[0]).size() == 5);
  CHECK(directive_lines(plans[1]) == Lines{"--partition=p", "--nodes=1", "--mem=2G"});
  CHECK(directive_lines(plans[2]) == Lines{"--partition=q", "--nodes=4"});
}

TEST_CASE("an option that would be handed on to a component planned without it is refused by name") {
  std::vector<model::Plan> plans = {plan_with({{"--mem", "1G"}, {"--exclusive", std::nullopt}}),
                                    plan_with({}), plan_with({{"--mem", "1G"}})};
  const auto findings = plan::leave_out_inherited(plans).findings;
  REQUIRE(findings.size() == 1); // --exclusive is each component's own
  CHECK(findings[0].message ==
        "component 2 is planned without --mem, but sbatch copies --mem=1G from component 1");
}

TEST_CASE("components are one plan with the others behind it, each with its own counts for srun") {
  const auto result = plan::make_plan(two_components(), site_named("lumi"));
  REQUIRE(result.plan);
  REQUIRE(result.plan->components.size() == 1);
  CHECK(result.plan->tasks() == 3 * result.plan->layout.tasks_per_node);
  const auto& args = result.plan->components[0].launcher.step_args;
  for (const char* wanted : {"--ntasks=16", "--nodes=2", "--ntasks-per-node=8", "--gpus-per-node=8"})
    CHECK(std::find(args.begin(), args.end(), wanted) != args.end());
  auto request = two_components();
  request.pop_back();
  const auto alone = plan::make_plan(request, site_named("lumi"));
  REQUIRE(alone.plan);
  CHECK(alone.plan->components.empty());
  CHECK(directive_lines(*alone.plan) == directive_lines(planned(request.front(), "lumi")));
}

TEST_CASE("what a job of several components cannot have is refused, once for all of them") {
  struct Row {
    void (*change)(model::JobSpec&);
    const char* message;
  };
  const Row rows[] = {{[](model::JobSpec& job) { job.array = text("0-3"); },
                       "--array cannot be used: Slurm has no arrays of heterogeneous jobs"},
                      {[](model::JobSpec& job) { job.launcher = launcher("torchrun"); },
                       "torchrun starts the ranks, but a heterogeneous job needs the launcher hpcml"},
                      {[](model::JobSpec& job) { job.launcher = launcher("srun"); },
                       "srun starts the ranks, but a heterogeneous job needs the launcher hpcml"},
                      {[](model::JobSpec& job) { job.stage.push_back(text("/data/set.tar")); },
                       "--stage cannot be used in a heterogeneous job"}};
  for (const auto& row : rows) {
    auto both = two_components();
    for (auto& job : both) row.change(job);
    const auto findings = faults_of(both);
    INFO(findings);
    CHECK_THAT(findings, Contains(row.message));
    CHECK(findings.find(row.message) == findings.rfind(row.message));
  }
}

TEST_CASE("what is wrong with one component is said of that one") {
  auto both = two_components();
  both[1].partition = text("no-such");
  const auto findings = faults_of(both);
  CHECK_THAT(findings, Contains("component 2: ") && Contains("no-such"));
  CHECK_THAT(findings, !Contains("component 1: "));
}

TEST_CASE("the script has one environment, and a component that would have another is named") {
  auto both = two_components();
  both[1].modules.push_back(text("netcdf"));
  both[1].env.emplace_back("OMP_PLACES", text("cores"));
  const auto findings = faults_of(both);
  INFO(findings);
  CHECK_THAT(findings, Contains("for all ranks, but component 2 needs others (") && Contains("netcdf"));
  CHECK_THAT(findings,
             Contains("for all ranks, but these differ for component 2: ") && Contains("OMP_PLACES"));
}
