// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/plan/setup_steps.hpp"
#include "generate/plan/staging.hpp"

namespace hpcml::plan {

using model::PythonPackageSource;

PlanStepResult<EnvironmentPath> choose_environment_path(const SetupWithMethod& input) {
  PlanStepResult<EnvironmentPath> result;
  auto& [chosen, diagnostics] = result;
  const auto kind = input.way.kind;
  const auto* recipe = input.way.recipe;
  switch (kind) {
  case SetupKind::conda:
    chosen.use = "--conda";
    chosen.place = input.job.conda ? input.job.conda->value : "torch";
    break;
  case SetupKind::container:
    chosen.use = "--container";
    if (input.is_module_image())
      chosen.easyconfig = util::replace_all(input.job.container->value, "/", "-") + ".eb";
    if (input.job.container)
      chosen.place = input.job.container->value;
    else
      diagnostics.error("usage/container", "hpcml env needs a path for the image",
                        "use --container /project/me/torch.sif to set where it is built");
    break;
  case SetupKind::wheelhouse: // tried in a directory that goes away; what stays is the list of packages
    chosen.use = "--wheelhouse";
    // pip reads the file that it is given before the list is written, and that one stays unchanged.
    chosen.place = ("/" + requirements_file(input.spec.packages).value_or("")).ends_with("/requirements.txt")
                       ? "requirements-" + input.site.id + ".txt"
                       : "requirements.txt";
    break;
  default:
    chosen.use = input.way.squashed ? "--container IMAGE --venv" : "--venv";
    if (input.job.venv) {
      chosen.place = input.job.venv->value;
      chosen.expression = !util::leading_variable(chosen.place).empty();
    } else if (recipe && !recipe->where.empty() && recipe->kind != PythonPackageSource::wheelhouse) {
      chosen.place = recipe->where + "/torch";
      chosen.expression = true;
    } else if (!input.spec.kind && input.site.storage.scratch.starts_with("$")) {
      chosen.place = input.site.storage.scratch + "/torch";
      chosen.expression = true;
      if (const auto& days = input.site.storage.scratch_days)
        diagnostics.note(fmt::format("the environment is in scratch storage, where {} removes files that "
                                     "were not used for {} days; --venv sets another path",
                                     input.site.name, *days),
                         input.site.storage.origin);
    } else {
      diagnostics.error("usage/venv", "hpcml env needs a path for the environment",
                        "use --venv /project/me/torch with a path on a file system that all nodes share");
    }
  }
  chosen.pack = input.spec.pack;
  const bool can_pack = kind == SetupKind::conda || kind == SetupKind::venv || kind == SetupKind::uv;
  if (!chosen.pack.empty() && !(can_pack && is_archive(chosen.pack)))
    diagnostics.error(
        "usage/pack",
        can_pack ? fmt::format("--pack '{}' does not end with .tar.gz or another ending of an archive",
                               chosen.pack)
                 : "--pack cannot be used: only conda and virtual environments can be packed",
        "use hpcml env conda or hpcml env venv with --pack /project/me/env.tar.gz");
  for (const auto* text : {&chosen.place, &chosen.pack})
    if (!text->empty() && !util::is_one_line(*text))
      diagnostics.error(
          "usage/setup",
          fmt::format("the name or path '{}' has a line break or another control character", *text),
          "remove the line break or control character from the name or path");
  return result;
}

} // namespace hpcml::plan
