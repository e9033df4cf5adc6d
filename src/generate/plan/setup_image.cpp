// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "generate/plan/setup_steps.hpp"
#include "generate/plan/staging.hpp"

namespace hpcml::plan {

namespace {

/// How srun gets a node for a while.
std::vector<std::string> step_of(const model::JobSpec& job) {
  std::vector<std::string> words = {"--nodes=1", "--ntasks=1",
                                    "--time=" + (job.time ? job.time->value.to_slurm() : "00:30:00")};
  if (job.account) words.push_back("--account=" + job.account->value);
  if (job.partition) words.push_back("--partition=" + job.partition->value);
  return words;
}

} // namespace

PlanStepResult<SetupMethod> choose_setup_image(const SetupWithTargetNodes& input, SetupKind kind) {
  PlanStepResult<SetupMethod> result;
  auto& [way, diagnostics] = result;
  way.kind = kind;
  way.squashed.emplace(); // whatever else is wrong: nothing is chosen for the host
  const auto refuse = [&](const char* code, const std::string& what, const std::string& hint) {
    result.remarks.error(code, what, hint);
    return result;
  };
  if (kind != SetupKind::venv)
    return refuse(
        "usage/setup",
        fmt::format(
            "--container cannot be used with hpcml env {}, which makes an environment without an image",
            model::word_of(kind)),
        "remove --container, or use hpcml env venv to make one on top of an image");
  auto inside = input.facts(kind);
  inside.container = leaves_host(input.job, input.images);
  const auto* rule = first_that_applies(input.images, inside);
  if (!rule || !rule->squashfs.known)
    return refuse(
        "request/setup",
        fmt::format("the profile of {} does not state how an environment on top of {} image is mounted",
                    input.site.name, rule ? "such an" : "an"),
        "remove --container to create an environment without an image");
  const bool by_srun = model::row_of(rule->engine).by_description;
  if (by_srun && !fits_edf(input.job.container->value + (input.job.venv ? input.job.venv->value : "")))
    return refuse("usage/container",
                  "--container or --venv has a path with a quote, a backslash or a dollar sign, which an "
                  "environment definition file (EDF) cannot contain",
                  "use a path without these characters");
  if (by_srun && input.is_offline())
    return refuse("request/setup",
                  fmt::format("an environment on top of this image is installed on a compute node, but those "
                              "of {} have no internet",
                              input.site.name),
                  "remove --container to create an environment without an image");
  if (by_srun && !input.job.account && input.site.flag("account").policy == model::OptionPolicy::required)
    return refuse(
        "usage/account",
        fmt::format(
            "an environment on top of this image is installed in a job on {}, which requires an account",
            input.site.name),
        "set --account NAME");
  if (!input.job.venv || !is_squashed(input.job.venv->value))
    return refuse(
        "usage/venv",
        "--venv must name a .sqsh file: an environment on top of an image (--container) is one file",
        "use --venv /project/me/env.sqsh with a path on a file system that all nodes share");
  if (input.spec.packages.empty())
    diagnostics.error("usage/packages",
                      "--packages is missing: it must name the packages to add to those of the image",
                      "add --packages with their names, for example --packages 'optuna wandb'");
  std::vector<std::string> options;
  for (const auto& option : rule->options)
    if (option.find("{image}") == std::string::npos) options.push_back(option);
  way.squashed = SquashfsSetup{rule->engine,
                               input.job.container->value,
                               rule->image_variable,
                               options,
                               rule->enter,
                               rule->squashfs.at,
                               rule->squashfs.options,
                               by_srun ? step_of(input.job) : std::vector<std::string>{}};
  diagnostics.note("the environment is one file: use it in jobs with hpcml gen --container IMAGE --venv FILE",
                   rule->squashfs.origin);
  way.image_rule = rule; // what the host's Python needs is of no use inside: there is no recipe
  return result;
}

} // namespace hpcml::plan
