// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <fmt/format.h>

#include "plan/staging.hpp"

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

void choose_setup_image(SetupContext& context) {
  context.plan.squashed.emplace(); // whatever else is wrong: nothing is chosen for the host
  if (context.plan.kind != SetupKind::venv)
    return context.error(
        "usage/setup",
        fmt::format("--setup {} makes an environment without an image", model::word_of(context.plan.kind)),
        "leave --container out; --setup venv makes one on top of an image");
  auto inside = context.facts();
  inside.container = leaves_host(context.job, context.images);
  const auto* rule = first_that_applies(context.images, inside);
  if (!rule || !rule->squashfs.known)
    return context.error(
        "request/setup",
        fmt::format("the profile of {} does not say how an environment on top of {} image is mounted",
                    context.site.name, rule ? "such an" : "an"),
        "leave --container out");
  const bool by_srun = model::row_of(rule->engine).by_description;
  if (by_srun && !fits_edf(context.job.container->value + (context.job.venv ? context.job.venv->value : "")))
    return context.error("usage/container", "an EDF cannot name a file with quotes, backslashes or dollars",
                         "rename it");
  if (by_srun && context.plan.offline_nodes)
    return context.error("request/setup",
                         "an EDF's image is entered on a node, and the nodes have no internet",
                         "leave --container out");
  if (by_srun && !context.job.account && context.site.flag("account").policy == model::Policy::required)
    return context.error("usage/account", "an EDF's image is entered by srun, in a job that is charged",
                         "say --account NAME");
  if (!context.job.venv || !is_squashed(context.job.venv->value))
    return context.error("usage/venv", "an environment on top of an image is one file",
                         "say where, on a file system that all nodes see: --venv /project/me/env.sqsh");
  if (context.spec.packages.empty())
    context.error("usage/packages", "the image has its packages already",
                  "say what it lacks: --packages 'optuna wandb'");
  std::vector<std::string> options;
  for (const auto& option : rule->options)
    if (option.find("{image}") == std::string::npos) options.push_back(option);
  context.plan.squashed = SquashedSetup{rule->engine,
                                        context.job.container->value,
                                        rule->image_variable,
                                        options,
                                        rule->enter,
                                        rule->squashfs.at,
                                        rule->squashfs.options,
                                        by_srun ? step_of(context.job) : std::vector<std::string>{}};
  context.plan.notes.emplace_back(
      "jobs mount it with the image: one file for the file system instead of thousands",
      rule->squashfs.origin);
  context.recipe = nullptr; // what the host's Python needs is of no use inside
  context.image_rule = rule;
}

} // namespace hpcml::plan
