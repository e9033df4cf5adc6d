// SPDX-License-Identifier: MIT
// The image, its binds, and the user's paths as they are called inside.
#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/site_text.hpp"
#include "core/slurm/option_word.hpp"
#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include "generate/plan/software.hpp"

namespace hpcml::plan {
namespace {

using model::ContainerBind;

/// A path that the engine's -B option can carry: it splits at commas and colons.
bool is_bind_path(const std::string& path) {
  return !path.empty() && path.front() == '/' && util::is_one_line(path) &&
         path.find_first_of(",:") == std::string::npos;
}

void add_user_bind(PlanStepDiagnostics& diagnostics, model::PlannedContainer& container,
                   const model::Sourced<std::string>& user_bind) {
  const auto parts = util::split(user_bind.value, ':');
  ContainerBind bind{parts[0], parts.size() > 1 ? parts[1] : "", false, user_bind.origin};
  if (parts.size() > 2 || !is_bind_path(bind.source) || (parts.size() > 1 && !is_bind_path(bind.target))) {
    diagnostics.error(
        "usage/bind",
        fmt::format("--bind '{}' is not PATH or SOURCE:TARGET with absolute paths without commas",
                    user_bind.value),
        "use --bind /project/me:/workdir, or --bind /project/me for the same path in the container");
    return;
  }
  for (std::string* path : {&bind.source, &bind.target})
    while (path->size() > 1 && path->back() == '/') path->pop_back();
  const std::string target = bind.inside();
  const auto same = [&](const ContainerBind& existing) { return existing.inside() == target; };
  if (const auto old = std::find_if(container.binds.begin(), container.binds.end(), same);
      old != container.binds.end()) {
    if (old->source != bind.source)
      diagnostics.note(
          fmt::format("the container shows {0} at {1} instead of {2}; remove --bind {3} to show {2}",
                      bind.source, target, old->source, user_bind.value),
          user_bind.origin);
    container.binds.erase(old);
  }
  container.binds.push_back(std::move(bind));
}

/// `path` as it is called inside: the longest bind that holds it counts.
std::string inside_path(const std::string& path, const std::vector<ContainerBind>& binds) {
  const ContainerBind* best = nullptr;
  for (const auto& bind : binds) {
    if (bind.target.empty() || bind.target == bind.source) continue;
    const bool holds = path == bind.source || path.starts_with(bind.source + "/");
    if (holds && (!best || bind.source.size() >= best->source.size())) best = &bind;
  }
  return best ? best->target + path.substr(best->source.size()) : path;
}

/// Whether `path` is under a bind, by the host's name or by the container's.
bool is_shown(const std::string& path, const std::vector<ContainerBind>& binds) {
  const auto below = [&](const std::string& directory) {
    return path == directory || directory == "/" || path.starts_with(directory + "/");
  };
  return std::any_of(binds.begin(), binds.end(), [&](const auto& bind) {
    return below(bind.source) || (!bind.target.empty() && below(bind.target));
  });
}

model::Origin bind_origin() {
  return rule_origin("a bind SRC:DST shows the directory SRC of the host as DST in the container");
}

/// The environment is activated inside. A name is the image's own conda's, a relative path is below the
/// working directory, which the engine shows.
void translate_environment(PlanStepResult<Software>& result, const std::vector<ContainerBind>& binds) {
  std::string& where = result.value.python.where;
  if (where.empty() || where.front() != '/') return;
  if (!is_shown(where, binds)) {
    const auto* option =
        result.value.python.kind == model::PythonEnvironmentKind::conda ? "--conda" : "--venv";
    result.remarks.error(
        "usage/bind",
        fmt::format(
            "the Python environment '{}' is not visible in the container, because no bind contains it",
            where),
        fmt::format(
            "add --bind {0}, or, if it is part of the image, remove {1} and use -- {0}/bin/python SCRIPT",
            where, option));
    return;
  }
  const std::string inside = inside_path(where, binds);
  if (inside != where)
    result.remarks.note(
        fmt::format("the script activates '{}', the path of the environment '{}' in the container", inside,
                    where),
        bind_origin());
  where = inside;
}

/// Absolute paths of a command, also after "--option=".
void translate_command(PlanStepDiagnostics& diagnostics, std::vector<std::string>& command,
                       const std::vector<ContainerBind>& binds) {
  for (std::string& word : command) {
    const std::size_t equals = word.find("=/");
    const std::size_t start = !word.empty() && word.front() == '/' ? 0
                              : equals == std::string::npos        ? word.size()
                                                                   : equals + 1;
    const std::string inside = word.substr(0, start) + inside_path(word.substr(start), binds);
    if (inside == word) continue;
    const auto note = fmt::format(
        "the script uses '{}' instead of '{}', because a bind sets that path in the container", inside, word);
    const auto& notes = diagnostics.notes; // the steps of a job may share words
    if (std::none_of(notes.begin(), notes.end(), [&](const auto& entry) { return entry.first == note; }))
      diagnostics.note(note, bind_origin());
    word = inside;
  }
}

/// The rule for the image; where there is none, said why.
const model::ContainerRule* find_image_rule(const RequestWithLaunch& input,
                                            PlanStepDiagnostics& diagnostics) {
  const model::Site& site = input.site;
  if (const auto* rule = first_that_applies(input.request.images, input.facts())) return rule;
  const auto names = site_rules::engine_names(site);
  const auto& engine = input.job.container_engine;
  if (names.empty())
    diagnostics.error(
        "request/container",
        fmt::format("--container cannot be used: the profile of {} has no container engine", site.name),
        "use --venv or --conda instead of --container, or add the engine to the profile "
        "(docs/guides/add-a-site.md)");
  else if (engine && std::find(names.begin(), names.end(), model::word_of(engine->value)) == names.end())
    diagnostics.error("request/container-engine",
                      fmt::format("the profile of {} has no container engine '{}'", site.name,
                                  model::word_of(engine->value)),
                      fmt::format("use --container-engine with one of {}", util::join(names, ", ")));
  else if (input.request.images.empty() && !engine)
    diagnostics.error(
        "request/container",
        fmt::format("hpcml cannot choose a container engine of {} by the name of the image '{}'", site.name,
                    input.job.container->value),
        fmt::format("use an image for {}, or add --container-engine if one of them can run this image",
                    util::join(names, " or ")));
  else
    diagnostics.error(
        "request/container",
        fmt::format(
            "the profile of {} has container engines, but not for the partition, nodes or GPUs of this job",
            site.name),
        fmt::format("check \"when\" of \"containers\" in '{} --format json', and change --partition or "
                    "--gpus-per-node",
                    site_rules::show_command(site)));
  return nullptr;
}

/// Where there is a choice, what was chosen and how the others are.
void note_choice(const RequestWithLaunch& input, const model::ContainerRule& rule,
                 PlanStepDiagnostics& diagnostics) {
  const auto names = site_rules::engine_names(input.site);
  if (names.size() < 2 || input.job.container_engine) return;
  std::vector<std::string> others;
  for (const auto& name : names)
    if (name != model::word_of(rule.engine)) others.push_back(name);
  const auto engine = model::word_of(rule.engine), alternatives = util::join(others, " or ");
  if (rule.images.empty())
    diagnostics.note(fmt::format("{} runs the image, because it is the first engine of the site; use "
                                 "--container-engine {} for another",
                                 engine, alternatives),
                     rule.origin);
  else
    diagnostics.note(fmt::format("{} runs the image, because of the form of the image's name; use "
                                 "--container-engine {} for another",
                                 engine, alternatives),
                     rule.origin);
}

/// A file that holds the environment is mounted where the site mounts such files.
void mount_environment(const RequestWithLaunch& input, PlanStepResult<Software>& result,
                       const model::ContainerRule& rule, model::PlannedContainer& container) {
  model::PlannedPython& python = result.value.python;
  if (python.kind != model::PythonEnvironmentKind::venv || !is_squashed(python.where)) return;
  const std::string file = python.where;
  if (!rule.squashfs.known)
    return result.remarks.error(
        "request/venv",
        fmt::format(
            "--venv '{}' cannot be used: the profile of {} does not state how {} mounts squashfs files", file,
            input.site.name, model::word_of(rule.engine)),
        "use a directory instead of the file: --venv /project/me/env");
  const auto at = rule.squashfs.at.empty() ? file.substr(0, file.rfind('.')) : rule.squashfs.at;
  if (!is_bind_path(file) || !is_bind_path(at))
    return result.remarks.error(
        "usage/venv",
        fmt::format(
            "--venv '{}' cannot be mounted in the container: its path must be absolute, without commas "
            "and colons",
            file),
        "use a path such as --venv /project/me/env.sqsh");
  result.remarks.note(
      fmt::format(
          "the container shows the environment file {} as the directory {}, which the script activates", file,
          at),
      rule.squashfs.origin);
  python.where = at;
  container.binds.push_back({file, at, false, python.origin, true});
}

/// An EDF of the job's own adds what the user's does not show. It is written by the job: it names the job,
/// and hpcml as the nodes see it.
void plan_own_edf(const RequestWithLaunch& input, model::PlannedContainer& container,
                  PlanStepDiagnostics& diagnostics) {
  container.own_edf = !container.binds.empty() || input.is_hpcml();
  if (!container.own_edf) return;
  std::vector<std::string> paths{container.image};
  for (const auto& bind : container.binds) paths.insert(paths.end(), {bind.source, bind.target});
  const auto unfit =
      std::find_if(paths.begin(), paths.end(), [](const auto& path) { return !fits_edf(path); });
  if (unfit != paths.end())
    diagnostics.error(
        "usage/container",
        fmt::format(
            "the environment definition file (EDF) of the job cannot contain '{}', which has a quote, "
            "a backslash or a dollar sign",
            *unfit),
        "use a path without these characters");
}

void refuse_binds(const RequestWithLaunch& input, const model::ContainerRule& rule,
                  PlanStepDiagnostics& diagnostics) {
  const auto& engine = model::row_of(rule.engine);
  diagnostics.error("request/bind",
                    fmt::format("--bind cannot be used: the profile of {} has no option for binds of {}",
                                input.site.name, model::word_of(rule.engine)),
                    engine.keeps_host
                        ? "remove --bind: the program sees the directories of the host"
                        : fmt::format("remove --bind, and use --{}=--{}=SOURCE:TARGET",
                                      rule.options_on_srun ? "srun" : "sbatch", engine.binds_option));
}

/// An engine that works by options of Slurm gets them; the command itself is not wrapped.
void give_to_slurm(const RequestWithLaunch& input, PlanStepResult<Software>& result,
                   const model::ContainerRule& rule, model::PlannedContainer& container) {
  const auto& engine = model::row_of(rule.engine);
  container.by_slurm = engine.by_slurm;
  if (!container.by_slurm) return;
  container.prefix = rule.prefix;
  std::vector<std::string> binds;
  std::string image = container.image;
  for (const auto& bind : container.binds) {
    // Such a file is mounted as the image itself is; the host's directories exist anyway.
    if (engine.mounts_in_image && bind.squashed)
      image += "," + bind.source + ":" + bind.inside();
    else
      binds.push_back(bind.source + ":" + bind.inside());
  }
  if (engine.by_description) plan_own_edf(input, container, result.remarks);
  auto options = rule.options;
  if (!binds.empty() && rule.bind_option.empty() && !container.own_edf)
    refuse_binds(input, rule, result.remarks);
  else if (!binds.empty() && !rule.bind_option.empty())
    options.push_back(util::replace_all(rule.bind_option, "{binds}", util::join(binds, ",")));
  for (const auto& option : options) {
    if (rule.options_on_srun) {
      container.step_options.push_back(container.own_edf ? option
                                                         : util::replace_all(option, "{image}", image));
      continue;
    }
    const slurm::CanonicalOption split = slurm::split_option(util::replace_all(option, "{image}", image));
    result.value.image_options.push_back({split.name, split.value, container.origin});
  }
}

/// A request without an image that speaks of one.
void refuse_without_image(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  const auto& job = input.job;
  const auto& python = result.value.python;
  if (!job.binds.empty())
    result.remarks.error("usage/bind", "--bind needs --container", "add --container IMAGE");
  if (job.container_engine)
    result.remarks.error("usage/container-engine", "--container-engine needs --container",
                         "add --container IMAGE");
  if (python.kind == model::PythonEnvironmentKind::venv && is_squashed(python.where))
    result.remarks.error(
        "request/venv",
        fmt::format("--venv '{}' is a squashfs file, which needs an image to mount it, but the "
                    "job has no --container",
                    python.where),
        "add --container IMAGE with the image in which the environment was made, or use --venv "
        "DIRECTORY");
}

/// The image as the site's rule starts it, before anything of the job's own is added.
model::PlannedContainer image_by(const model::ContainerRule& rule, const RequestWithLaunch& input,
                                 PlanStepDiagnostics& diagnostics) {
  const model::JobSpec& job = input.job;
  model::PlannedContainer container{rule.engine, job.container->value, rule.gpu_flag,
                                    rule.binds,  rule.enter,           job.container->origin};
  container.origin.superseded.insert(container.origin.superseded.end(), rule.superseded.begin(),
                                     rule.superseded.end());
  if (input.numbers().gpus_per_node == 0) container.gpu_flag = model::ContainerGpuOption::none;
  if (job.container_enter && !job.container_enter->value && !rule.enter.empty()) {
    container.enter.clear();
    diagnostics.note(
        fmt::format("the job omits '{}', which activates the site's environment in the image; remove "
                    "--no-container-enter to run it",
                    rule.enter),
        job.container_enter->origin);
  }
  container.image_variable = rule.image_variable;
  return container;
}

} // namespace

PlanStepResult<Software> enter_image(const RequestWithLaunch& input, Software software) {
  PlanStepResult<Software> result{std::move(software)};
  auto& diagnostics = result.remarks;
  const model::JobSpec& job = input.job;
  if (!job.container) {
    refuse_without_image(input, result);
    return result;
  }
  if (job.container->value.empty() || job.container->value.front() == '-' ||
      !util::is_one_line(job.container->value))
    diagnostics.error(
        "usage/container",
        fmt::format("--container '{}' is not valid: an image is not empty, does not begin with '-' "
                    "and is one line",
                    job.container->value),
        "use the path or name of an image: --container /project/me/torch.sif");
  result.value.image_rule = find_image_rule(input, diagnostics);
  if (!result.value.image_rule) return result;
  const model::ContainerRule& rule = *result.value.image_rule;
  note_choice(input, rule, diagnostics);
  auto container = image_by(rule, input, diagnostics);
  for (const auto& module : rule.modules) add_module(result, module, rule.origin);
  if (!rule.image_variable.empty()) add_module(result, job.container->value, job.container->origin);
  for (const auto& bind : job.binds) add_user_bind(diagnostics, container, bind);
  for (auto& bind : container.binds)
    bind.squashed =
        rule.squashfs.known && !bind.target.empty() && is_squashed(bind.source) && !is_squashed(bind.target);
  mount_environment(input, result, rule, container);
  translate_command(diagnostics, result.value.command, container.binds);
  for (auto& step : result.value.steps) translate_command(diagnostics, step.command, container.binds);
  give_to_slurm(input, result, rule, container);
  // What an engine of Slurm's shows may be in its own configuration.
  if (!result.value.python.where.empty() && (!container.by_slurm || !rule.bind_option.empty()))
    translate_environment(result, container.binds);
  result.value.container = std::move(container);
  return result;
}

} // namespace hpcml::plan
