// SPDX-License-Identifier: MIT
// Each step of the planner alone: made from values that the steps before it would have returned.
#include <type_traits>

#include "generate/plan/directives.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using plan::RequestWithLayout;
using plan::RequestWithPlacement;

namespace {

plan::Request request_of(const model::Site& site) { return {site, job_of({"./train"}), {}}; }

plan::Placement first_place(const model::Site& site) {
  plan::Placement placement{{}, "gpu", "quad", {}, {}};
  placement.place.partitions = {&site.partitions.front()};
  placement.place.nodes = placement.place.kinds = {&site.node_types.front()};
  placement.place.planned = &site.node_types.front();
  return placement;
}

plan::Layout layout_of(unsigned nodes, unsigned gpus, unsigned ranks) {
  plan::Layout layout;
  layout.numbers = {nodes, ranks, ranks, gpus, 1, 8};
  layout.facts.nodes = nodes;
  layout.facts.gpus = gpus > 0;
  layout.facts.partition = "gpu";
  layout.facts.gpu_count = nodes * gpus;
  return layout;
}

std::vector<std::string> words_of(const std::vector<model::PlannedDirective>& header) {
  std::vector<std::string> words;
  for (const auto& directive : header) words.push_back(directive.word());
  return words;
}

template <class T>
concept has_facts = requires(const T& step) {
  step.facts();
};
template <class T>
concept has_software = requires(const T& step) {
  step.software;
};

} // namespace

// A step is a function of those before it: its argument has nothing of those behind it.
static_assert(!has_facts<RequestWithPlacement>, "only a finished layout has facts");
static_assert(has_facts<RequestWithLayout>);
static_assert(!has_software<plan::RequestWithLaunch> && has_software<plan::RequestWithSoftware>);
static_assert(!std::is_invocable_v<decltype(&plan::plan_launch), const RequestWithPlacement&, bool>,
              "nobody launches what has no numbers");
static_assert(!std::is_invocable_v<decltype(&plan::plan_modules), const RequestWithLayout&>,
              "software follows the launch");
static_assert(!std::is_invocable_v<decltype(&plan::plan_directives), const plan::RequestWithLaunch&,
                                   const diag::Diagnostics&>,
              "the header comes last");
static_assert(std::is_same_v<decltype(RequestWithLayout::layout), const plan::Layout&>,
              "and steps edit nothing");

TEST_CASE("A placement follows from the request alone, with the share of a part of a GPU") {
  auto small = small_site();
  auto& gpu = *small.node_types.front().gpu;
  gpu.slices.push_back({});
  gpu.slices.front().name = "half";
  gpu.slices.front().cpus = 3;
  auto request = request_of(small);
  const auto [whole, nothing] = plan::plan_placement(request);
  CHECK(whole.partition == "gpu");
  CHECK(whole.node_type == "quad");
  CHECK(!whole.mig_defaults.gpus_per_node);
  CHECK(nothing.findings.empty());

  request.job.gpu_type = text("half");
  const auto [part, diagnostics] = plan::plan_placement(request);
  CHECK(part.gpu_type == "half");
  CHECK(part.mig_defaults.gpus_per_node->value == 1);
  CHECK(RequestWithPlacement(request, part).cpus_per_task()->value == 3);
  CHECK(!request.job.cpus_per_task); // the request stays what was asked
  request.job.cpus_per_task = flag(5U);
  CHECK(RequestWithPlacement(request, part).cpus_per_task()->value == 5);

  request.job.gpu_type = text("third");
  CHECK(reports(plan::plan_placement(request).remarks, "request/gpu-type"));
}

TEST_CASE("A layout counts from a request and a place, and its facts are those of its numbers") {
  const auto small = small_site();
  auto request = request_of(small);
  const auto placement = first_place(small);
  struct Row {
    std::optional<unsigned> nodes, gpus, tasks, gpus_per_task;
    const char* launcher;
    model::PlannedLayout expected;
  };
  const std::vector<Row> rows = {
      {{}, {}, {}, {}, "hpcml", {1, 4, 4, 4, 1, 8}},  {2, 4, {}, {}, "hpcml", {2, 4, 4, 4, 1, 8}},
      {2, 4, {}, {}, "torchrun", {2, 4, 1, 4, 1, 8}}, {1, 4, {}, 2, "hpcml", {1, 2, 2, 4, 2, 16}},
      {1, 0, 2, {}, "hpcml", {1, 2, 2, 0, 0, 1}},     {{}, {}, 2, {}, "hpcml", {1, 2, 2, 2, 1, 8}},
  };
  for (const auto& row : rows) {
    const auto known = [](const std::optional<unsigned>& number) {
      return number ? model::Known<unsigned>(flag(*number)) : std::nullopt;
    };
    request.job.nodes = known(row.nodes);
    request.job.gpus_per_node = known(row.gpus);
    request.job.tasks_per_node = known(row.tasks);
    request.job.gpus_per_task = known(row.gpus_per_task);
    request.launcher = launcher(row.launcher).value;
    const auto [layout, diagnostics] = plan::plan_layout(RequestWithPlacement(request, placement));
    const auto& [numbers, threads, facts] = layout;
    CHECK(!diagnostics.refuse());
    CHECK(numbers.nodes == row.expected.nodes);
    CHECK(numbers.ranks_per_node == row.expected.ranks_per_node);
    CHECK(numbers.tasks_per_node == row.expected.tasks_per_node);
    CHECK(numbers.gpus_per_node == row.expected.gpus_per_node);
    CHECK(numbers.gpus_per_rank == row.expected.gpus_per_rank);
    CHECK(numbers.cpus_per_rank == row.expected.cpus_per_rank);
    CHECK(facts.nodes == numbers.nodes);
    CHECK(facts.gpus == (numbers.gpus_per_node > 0));
    CHECK(facts.gpu_count == numbers.nodes * numbers.gpus_per_node);
    CHECK(facts.launcher == row.launcher);
  }
}

TEST_CASE("A launch is bound by masks where the job owns nodes that are known, and not for a refused job") {
  auto small = small_site();
  small.binding.value = model::WholeNodeBinder::masks;
  small.partitions.front().exclusive = true;
  auto& node = small.node_types.front();
  for (unsigned core = 0; core < 32; ++core) node.cpu.core_threads.push_back(model::IdSet::of({core}));
  node.cpu.threads_per_core = 1;
  for (unsigned gpu = 0; gpu < 4; ++gpu) node.gpu->places.push_back({gpu, {}, {}, {}, {}});
  auto request = request_of(small);
  const auto placement = first_place(small);
  const RequestWithPlacement placed(request, placement);
  const auto all = layout_of(1, 4, 4), some = layout_of(1, 2, 2);
  const auto masks = plan::plan_launch(RequestWithLayout(placed, all), false).value;
  CHECK(masks.binding.binder == model::Binder::srun_masks);
  REQUIRE(masks.binding.ranks.size() == 4);
  CHECK(masks.binding.ranks[3].cpus.to_list() == "24-31");
  CHECK(plan::plan_launch(RequestWithLayout(placed, all), true).value.binding.ranks.empty());
  CHECK(plan::plan_launch(RequestWithLayout(placed, some), false).value.binding.binder ==
        model::Binder::launch);
  request.launcher = launcher("torchrun").value;
  CHECK(plan::plan_launch(RequestWithLayout(placed, all), false).value.binding.binder ==
        model::Binder::agent);
  request.job.command = {"srun", "./train"};
  CHECK(reports(plan::plan_launch(RequestWithLayout(placed, all), false).remarks, "usage/command"));
}

TEST_CASE("Software follows the launch: what the tasks cannot set the script exports") {
  auto small = small_site();
  small.env.push_back({"NCCL_X", "1", false, model::ValueScope::task, {}, {}});
  auto request = request_of(small);
  request.job.modules = {text("gcc/13"), text("gcc/13"), text("use:/opt/modules")};
  const auto placement = first_place(small);
  const auto layout = layout_of(1, 4, 4);
  const RequestWithLayout laid_out(RequestWithPlacement(request, placement), layout);
  plan::LaunchPlan launch;
  const auto scope_of_x = [](const plan::Software& software) {
    std::optional<model::ValueScope> scope;
    for (const auto& variable : software.env)
      if (variable.name == "NCCL_X") scope = variable.scope;
    return scope;
  };
  const auto by_hpcml = plan::plan_software({laid_out, launch}).value;
  CHECK(by_hpcml.modules.size() == 2);
  CHECK(scope_of_x(by_hpcml) == model::ValueScope::task);
  launch.launcher.choice = launcher("srun").value;
  CHECK(scope_of_x(plan::plan_software({laid_out, launch}).value) == model::ValueScope::batch);
}

TEST_CASE("Directives come from values alone, and what was said before is not said again") {
  auto small = small_site();
  small.flags["account"].policy = model::OptionPolicy::required;
  small.common_options.push_back({"--mem-bind=local", {}, true, {}});
  auto request = request_of(small);
  const auto placement = first_place(small);
  const auto layout = layout_of(2, 4, 4);
  const RequestWithLayout laid_out(RequestWithPlacement(request, placement), layout);
  plan::LaunchPlan launch;
  launch.launcher.step_args = {"--label"};
  const plan::RequestWithLaunch launched(laid_out, launch);
  plan::Software software;
  software.command = {"./train"};
  software.image_options = {{"--uenv", "image", {}}};
  const plan::RequestWithSoftware equipped(launched, software);
  const auto [directives, diagnostics] = plan::plan_directives(equipped, {});
  CHECK(words_of(directives.header) ==
        std::vector<std::string>{"--uenv=image", "--job-name=train", "--partition=gpu", "--nodes=2",
                                 "--ntasks-per-node=4", "--gpus-per-node=4", "--cpus-per-task=8",
                                 "--time=00:10:00", "--output=%x-%j.out"});
  CHECK(directives.step_args == std::vector<std::string>{"--label", "--mem-bind=local"});
  CHECK(reports(diagnostics, "usage/account"));
  const diag::Diagnostics earlier = {{diag::Severity::error, "request/account", "another word on it"}};
  CHECK(!reports(plan::plan_directives(equipped, earlier).remarks, "usage/account"));
}
