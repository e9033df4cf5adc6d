// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/plan/setup_steps.hpp"

namespace hpcml::plan {

using model::GpuVendor;
using model::PythonPackageSource;

namespace {

/// The newest Python that all indexes of today take; older indexes want an older one.
constexpr const char* k_python = "3.12";

PackageInstaller installer_of(SetupKind kind) {
  return kind == SetupKind::conda ? PackageInstaller::conda
         : kind == SetupKind::uv  ? PackageInstaller::uv
                                  : PackageInstaller::pip;
}

} // namespace

PlanStepResult<SetupPackages> read_setup_packages(const SetupWithMethod& input) {
  PlanStepResult<SetupPackages> result;
  auto& [packages, diagnostics] = result;
  const auto* recipe = input.way.recipe;
  std::vector<std::string> words;
  if (input.spec.packages.empty()) {
    words = recipe && !recipe->packages.empty() ? recipe->packages : std::vector<std::string>{"torch"};
  } else {
    words = requirement_words(input.spec.packages, "--packages", diagnostics.findings,
                              installer_of(input.way.kind));
  }
  const bool is_file = requirements_file(input.spec.packages).has_value();
  if (input.way.kind == SetupKind::libtorch) {
    if (std::none_of(words.begin(), words.end(), brings_torch) && !is_file) words.emplace_back("torch");
    util::add_once(words, "numpy");
  }
  packages.has_torch = is_file || std::any_of(words.begin(), words.end(), brings_torch);
  if (is_file) {
    if (input.way.kind == SetupKind::container)
      diagnostics.error(
          "usage/packages",
          "--packages cannot be a requirements file here: an image is built from names of packages",
          "use names of packages: --packages 'torch numpy'");
    packages.pip_words = words;
    words = {"torch"};
  }
  for (const auto& word : words)
    (is_torch_package(word) ? packages.torch : packages.pip_words).push_back(word);
  return result;
}

PlanStepResult<PackageIndex> choose_setup_index(const SetupWithMethod& input, const EnvironmentPath& place) {
  PlanStepResult<PackageIndex> result;
  auto& [chosen, diagnostics] = result;
  const auto* recipe = input.way.recipe;
  if (input.way.squashed || !place.easyconfig.empty()) {
    const bool any = !input.spec.cuda.empty() || !input.spec.rocm.empty() || !input.spec.python.empty() ||
                     !input.spec.pack.empty();
    if (any)
      diagnostics.error(
          "usage/setup",
          "--cuda, --rocm, --python and --pack cannot be used: the image has its own CUDA, ROCm and "
          "Python",
          "remove --cuda, --rocm, --python and --pack");
    if (!place.easyconfig.empty() && !input.spec.packages.empty())
      diagnostics.error(
          "usage/packages", "--packages cannot be used: the site's recipe sets the packages of the image",
          fmt::format("remove --packages, or use hpcml env venv --container {} --venv FILE.sqsh to add to it",
                      place.place));
    return result;
  }
  if (recipe && recipe->kind == PythonPackageSource::wheelhouse) {
    chosen.list_wheels = recipe->list_wheels;
    for (const auto* version : {&input.spec.cuda, &input.spec.rocm})
      if (!version->empty())
        diagnostics.error("usage/setup",
                          "--cuda and --rocm cannot be used: the site's own wheels are built for its GPUs",
                          "remove --cuda and --rocm");
  } else {
    auto target = input.nodes.target;
    if (input.way.kind == SetupKind::container && recipe) {
      target.toolkit_max = target.vendor == GpuVendor::amd ? recipe->image.rocm : recipe->image.cuda;
      target.limit = "base image";
    }
    const bool amd = target.vendor == GpuVendor::amd;
    target.toolkit_wanted = amd ? input.spec.rocm : input.spec.cuda;
    if (!(amd ? input.spec.cuda : input.spec.rocm).empty())
      diagnostics.error("usage/setup",
                        amd ? "--cuda cannot be used: the GPUs of these nodes are made by AMD"
                            : "--rocm cannot be used: the GPUs of these nodes are made by NVIDIA",
                        amd ? "use --rocm VERSION" : "use --cuda VERSION");
    const auto choice = choose_wheels(target);
    if (!choice.index) diagnostics.error("request/setup", choice.reason, choice.hint);
    chosen.index = choice.index;
    chosen.reason = choice.reason;
  }
  chosen.python = input.spec.python;
  if (!chosen.python.empty() && chosen.python.find_first_not_of("0123456789.") != std::string::npos)
    diagnostics.error("usage/python",
                      fmt::format("--python '{}' is not a valid Python version", chosen.python),
                      "use for example --python 3.12");
  if (!chosen.python.empty()) return result;
  // All are "3.NN".
  chosen.python = chosen.index && chosen.index->python_to < k_python ? chosen.index->python_to : k_python;
  return result;
}

} // namespace hpcml::plan
