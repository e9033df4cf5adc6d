// SPDX-License-Identifier: MIT
// Each step that plans an environment alone: made from values that the steps before it would have returned.
#include <catch2/catch.hpp>

#include <type_traits>

#include "generate/plan/setup_steps.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using model::SetupKind;
using plan::SetupRequest;
using plan::SetupWithMethod;
using plan::SetupWithTargetNodes;

namespace {

/// A request and the values of its first steps, together.
struct Given {
  model::Site site = small_site();
  model::JobSpec job = {};
  plan::SetupOptions spec = {};
  plan::SetupTargetNodes nodes = {};
  plan::SetupMethod way = {};

  SetupRequest request() const { return {spec, job, site}; }
  SetupWithTargetNodes on_nodes() const { return {request(), nodes}; }
  SetupWithMethod by_way() const { return {on_nodes(), way}; }
};

} // namespace

// A step is a function of those before it: its argument has nothing of those behind it.
static_assert(!std::is_invocable_v<decltype(&plan::choose_setup_method), const SetupRequest&>,
              "what is made follows from the nodes that it is for");
static_assert(!std::is_invocable_v<decltype(&plan::choose_environment_path), const SetupWithTargetNodes&>);
static_assert(
    !std::is_invocable_v<decltype(&plan::plan_setup_build_environment), const SetupWithTargetNodes&>);
static_assert(std::is_invocable_v<decltype(&plan::find_setup_nodes), const SetupWithMethod&>);

TEST_CASE("the nodes of an environment follow from the request alone") {
  Given setup;
  auto result = plan::find_setup_nodes(setup.request());
  CHECK(result.value.types == std::vector<const model::NodeType*>{&setup.site.node_types.front()});
  CHECK(result.value.target.vendor == model::GpuVendor::nvidia);
  CHECK(result.value.target.toolkit_max == "12.4");
  CHECK_FALSE(result.remarks.refuse());
  setup.job.gpus_per_node = flag<unsigned>(0);
  result = plan::find_setup_nodes(setup.request());
  CHECK(result.value.types.empty());
  CHECK(reports(result.remarks, "request/setup"));
}

TEST_CASE("how an environment is made follows from the request and its nodes") {
  Given setup;
  CHECK(plan::choose_setup_method(setup.on_nodes()).value.kind == SetupKind::venv);
  model::PythonPackageRule recipe;
  recipe.kind = model::PythonPackageSource::conda;
  recipe.when.node_types = {"quad"};
  setup.site.python = {recipe};
  setup.spec.kind = SetupKind::conda;
  CHECK(plan::choose_setup_method(setup.on_nodes()).value.recipe == nullptr); // of which nodes nobody knows
  setup.nodes.types = {&setup.site.node_types.front()};
  CHECK(plan::choose_setup_method(setup.on_nodes()).value.recipe == &setup.site.python.front());
  setup.job.container = text("image.sif");
  const auto result = plan::choose_setup_method(setup.on_nodes());
  CHECK(reports(result.remarks, "usage/setup"));
  CHECK(result.value.squashed);
}

TEST_CASE("an environment's place, packages and wheels follow from its way") {
  Given setup;
  setup.way.kind = SetupKind::wheelhouse;
  setup.spec.packages = "requirements.txt";
  CHECK(plan::choose_environment_path(setup.by_way()).value.place == "requirements-small.txt");
  CHECK(plan::read_setup_packages(setup.by_way()).value.torch == std::vector<std::string>{"torch"});
  setup.way.kind = SetupKind::container;
  CHECK(reports(plan::read_setup_packages(setup.by_way()).remarks, "usage/packages"));
  CHECK(reports(plan::choose_environment_path(setup.by_way()).remarks, "usage/container"));
  setup.nodes.target.vendor = model::GpuVendor::nvidia;
  setup.nodes.target.toolkit_max = "12.4";
  setup.way.kind = SetupKind::venv;
  // cu124 is taken where it is asked for.
  CHECK(plan::choose_setup_index(setup.by_way(), {}).value.index->name == "cu118");
  setup.spec.cuda = "12.4";
  CHECK(plan::choose_setup_index(setup.by_way(), {}).value.index->name == "cu124");
  setup.spec.cuda.clear();
  plan::EnvironmentPath module_image;
  module_image.easyconfig = "PyTorch.eb";
  CHECK_FALSE(plan::choose_setup_index(setup.by_way(), module_image).value.index);
}
