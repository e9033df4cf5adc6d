// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "plan/requirements.hpp"

namespace hpcml::plan {

using model::GpuVendor;
using model::PythonWay;

namespace {

/// The newest Python that all indexes of today take; older indexes want an older one.
constexpr const char* k_python = "3.12";

} // namespace

void read_setup_packages(SetupContext& context) {
  std::vector<std::string> words;
  if (context.spec.packages.empty()) {
    words = context.recipe && !context.recipe->packages.empty() ? context.recipe->packages
                                                                : std::vector<std::string>{"torch"};
  } else {
    words = requirement_words(context.spec.packages, "--packages", context.findings);
  }
  const bool is_file = !words.empty() && words.front() == "-r";
  if (context.plan.kind == SetupKind::libtorch) {
    if (std::none_of(words.begin(), words.end(), brings_torch) && !is_file) words.emplace_back("torch");
    add_once(words, "numpy");
  }
  context.plan.has_torch = is_file || std::any_of(words.begin(), words.end(), brings_torch);
  if (is_file) {
    if (context.plan.kind == SetupKind::container)
      context.error("usage/packages", "an image is built from packages by name, not from a requirements file",
                    "as --packages 'torch numpy'");
    context.plan.packages = words;
    words = {"torch"};
  }
  for (const auto& word : words)
    (is_torch_package(word) ? context.plan.torch_packages : context.plan.packages).push_back(word);
}

void choose_setup_index(SetupContext& context) {
  if (context.plan.squashed || !context.plan.easyconfig.empty()) {
    const bool any = !context.spec.cuda.empty() || !context.spec.rocm.empty() ||
                     !context.spec.python.empty() || !context.spec.pack.empty();
    if (any)
      context.error("usage/setup", "CUDA, ROCm and Python are the image's own",
                    "leave --cuda, --rocm, --python and --pack out");
    if (!context.plan.easyconfig.empty() && !context.spec.packages.empty())
      context.error("usage/packages", "the recipe says what is in the image",
                    "leave --packages out; --setup venv --container " + context.plan.place +
                        " --venv FILE.sqsh adds to it");
    return;
  }
  if (context.recipe && context.recipe->kind == PythonWay::wheelhouse) {
    context.plan.list_wheels = context.recipe->list_wheels;
    for (const auto* version : {&context.spec.cuda, &context.spec.rocm})
      if (!version->empty())
        context.error("usage/setup",
                      "the site's own wheels are built for its GPUs: there is nothing to choose",
                      "leave --cuda and --rocm out");
  } else {
    auto target = context.nodes.target;
    if (context.plan.kind == SetupKind::container && context.recipe) {
      target.toolkit_max =
          target.vendor == GpuVendor::amd ? context.recipe->image.rocm : context.recipe->image.cuda;
      target.limit = "base image";
    }
    const bool amd = target.vendor == GpuVendor::amd;
    target.toolkit_wanted = amd ? context.spec.rocm : context.spec.cuda;
    if (!(amd ? context.spec.cuda : context.spec.rocm).empty())
      context.error("usage/setup", fmt::format("the GPUs there are {}'s", amd ? "AMD" : "NVIDIA"),
                    amd ? "say --rocm VERSION" : "say --cuda VERSION");
    const auto choice = choose_wheels(target);
    if (!choice.index) context.error("request/setup", choice.reason, choice.hint);
    context.plan.index = choice.index;
    context.plan.index_reason = choice.reason;
  }
  context.plan.python = context.spec.python;
  if (!context.plan.python.empty() &&
      context.plan.python.find_first_not_of("0123456789.") != std::string::npos)
    context.error("usage/python", "'" + context.plan.python + "' is no version of Python",
                  "as --python 3.12");
  if (!context.plan.python.empty()) return;
  // All are "3.NN".
  context.plan.python = context.plan.index && context.plan.index->python_to < k_python
                            ? context.plan.index->python_to
                            : k_python;
}

} // namespace hpcml::plan
