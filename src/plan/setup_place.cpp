// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <fmt/format.h>

#include "plan/requirements.hpp"
#include "plan/staging.hpp"
#include "util/one_line.hpp"
#include "util/text.hpp"

namespace hpcml::plan {

using model::PythonWay;

void choose_setup_place(SetupContext& context) {
  switch (context.plan.kind) {
  case SetupKind::conda:
    context.plan.use = "--conda";
    context.plan.place = context.job.conda ? context.job.conda->value : "torch";
    break;
  case SetupKind::container:
    context.plan.use = "--container";
    if (context.is_module_image())
      context.plan.easyconfig = util::replace_all(context.job.container->value, "/", "-") + ".eb";
    if (context.job.container)
      context.plan.place = context.job.container->value;
    else
      context.error("usage/container", "the image needs a path",
                    "say where it is built: --container /project/me/torch.sif");
    break;
  case SetupKind::wheelhouse: // tried in a folder that goes away; what stays is the list of packages
    context.plan.use = "--wheelhouse";
    // pip reads the file that it is given before the list is written, and that one stays as it is.
    context.plan.place =
        ("/" + requirements_file(context.spec.packages).value_or("")).ends_with("/requirements.txt")
            ? "requirements-" + context.site.id + ".txt"
            : "requirements.txt";
    break;
  default:
    context.plan.use = context.plan.squashed ? "--container IMAGE --venv" : "--venv";
    if (context.job.venv) {
      context.plan.place = context.job.venv->value;
    } else if (context.recipe && !context.recipe->where.empty() &&
               context.recipe->kind != PythonWay::wheelhouse) {
      context.plan.place = context.recipe->where + "/torch";
      context.plan.place_expression = true;
    } else if (!context.spec.kind && context.site.storage.scratch.starts_with("$")) {
      context.plan.place = context.site.storage.scratch + "/torch";
      context.plan.place_expression = true;
      if (const auto& days = context.site.storage.scratch_days)
        context.plan.notes.emplace_back(
            fmt::format(
                "scratch removes files that nobody has touched for {} days; --venv chooses another place",
                *days),
            context.site.storage.origin);
    } else {
      context.error("usage/venv", "the environment needs a path",
                    "say where, on a file system that all nodes see: --venv /project/me/torch");
    }
  }
  context.plan.pack = context.spec.pack;
  const bool can_pack = context.plan.kind == SetupKind::conda || context.plan.kind == SetupKind::venv ||
                        context.plan.kind == SetupKind::uv;
  if (!context.plan.pack.empty() && !(can_pack && is_archive(context.plan.pack)))
    context.error("usage/pack",
                  can_pack ? "'" + context.plan.pack + "' is no archive"
                           : "only conda and virtual environments are packed",
                  "as --setup conda --pack /project/me/env.tar.gz");
  for (const auto* text : {&context.plan.place, &context.plan.pack})
    if (!text->empty() && !util::is_one_line(*text))
      context.error("usage/setup", "an environment's name or path is one line of text", {});
}

} // namespace hpcml::plan
