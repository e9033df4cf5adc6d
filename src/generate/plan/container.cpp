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

void add_user_bind(StepDiagnostics& diagnostics, model::PlannedContainer& container,
                   const model::Sourced<std::string>& user_bind) {
  const auto parts = util::split(user_bind.value, ':');
  ContainerBind bind{parts[0], parts.size() > 1 ? parts[1] : "", false, user_bind.origin};
  if (parts.size() > 2 || !is_bind_path(bind.source) || (parts.size() > 1 && !is_bind_path(bind.target))) {
    diagnostics.error("usage/bind", fmt::format("'{}' is not a valid bind", user_bind.value),
                      "use absolute paths: --bind /project/me:/workdir, or one path for both sides");
    return;
  }
  for (std::string* path : {&bind.source, &bind.target})
    while (path->size() > 1 && path->back() == '/') path->pop_back();
  const std::string target = bind.inside();
  const auto same = [&](const ContainerBind& existing) { return existing.inside() == target; };
  if (const auto old = std::find_if(container.binds.begin(), container.binds.end(), same);
      old != container.binds.end()) {
    if (old->source != bind.source)
      diagnostics.note(fmt::format("bind {} replaces {} at {}", user_bind.value, old->source, target),
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

/// The environment is activated inside. A name is the image's own conda's, a relative path is below the
/// working directory, which the engine shows.
void translate_environment(StepResult<Software>& result, const std::vector<ContainerBind>& binds) {
  std::string& where = result.value.python.where;
  if (where.empty() || where.front() != '/') return;
  if (!is_shown(where, binds)) {
    result.remarks.error("usage/bind", fmt::format("environment '{}' is not visible inside the image", where),
                         fmt::format("add --bind {} or a directory that contains it, or use the python of "
                                     "the image for an environment in it: -- {}/bin/python …",
                                     where, where));
    return;
  }
  const std::string inside = inside_path(where, binds);
  if (inside != where)
    result.remarks.note(
        fmt::format("the environment '{}' has the path {} inside the container", where, inside),
        rule_origin("the target of a bind is the path inside the container"));
  where = inside;
}

/// Absolute paths of a command, also after "--option=".
void translate_command(StepDiagnostics& diagnostics, std::vector<std::string>& command,
                       const std::vector<ContainerBind>& binds) {
  for (std::string& word : command) {
    const std::size_t equals = word.find("=/");
    const std::size_t start = !word.empty() && word.front() == '/' ? 0
                              : equals == std::string::npos        ? word.size()
                                                                   : equals + 1;
    const std::string inside = word.substr(0, start) + inside_path(word.substr(start), binds);
    if (inside == word) continue;
    const auto note = fmt::format("'{}' has the path {} inside the container", word, inside);
    const auto& notes = diagnostics.notes; // the steps of a job may share words
    if (std::none_of(notes.begin(), notes.end(), [&](const auto& entry) { return entry.first == note; }))
      diagnostics.note(note, rule_origin("the target of a bind is the path inside the container"));
    word = inside;
  }
}

/// The rule for the image; where there is none, said why.
const model::ContainerRule* find_image_rule(const LaunchInput& input, StepDiagnostics& diagnostics) {
  const model::Site& site = input.site;
  if (const auto* rule = first_that_applies(input.request.images, input.facts())) return rule;
  const auto names = site_rules::engine_names(site);
  const auto& engine = input.job.container_engine;
  if (names.empty())
    diagnostics.error("request/container",
                      fmt::format("the profile of {} has no container engine", site.name),
                      "use --venv or --conda instead of the image, or add the engine to the profile "
                      "(docs/guides/add-a-site.md)");
  else if (engine && std::find(names.begin(), names.end(), model::word_of(engine->value)) == names.end())
    diagnostics.error("request/container-engine",
                      fmt::format("the profile of {} has no {}", site.name, model::word_of(engine->value)),
                      fmt::format("use one of {}", util::join(names, ", ")));
  else
    diagnostics.error(
        "request/container",
        fmt::format("the profile of {} has no container engine for such a job and image", site.name),
        fmt::format("use --container-engine with one of {}", util::join(names, ", ")));
  return nullptr;
}

/// Where there is a choice, what was chosen and how the others are.
void note_choice(const LaunchInput& input, const model::ContainerRule& rule, StepDiagnostics& diagnostics) {
  const auto names = site_rules::engine_names(input.site);
  if (names.size() < 2 || input.job.container_engine) return;
  std::vector<std::string> others;
  for (const auto& name : names)
    if (name != model::word_of(rule.engine)) others.push_back(name);
  diagnostics.note(
      fmt::format("the image is treated as one of {}{}; --container-engine {} selects the other",
                  model::word_of(rule.engine),
                  rule.images.empty() ? ", the first engine of the site" : " because of the form of its name",
                  util::join(others, " or ")),
      rule.origin);
}

/// A file that holds the environment is mounted where the site mounts such files.
void mount_environment(const LaunchInput& input, StepResult<Software>& result,
                       const model::ContainerRule& rule, model::PlannedContainer& container) {
  model::PlannedPython& python = result.value.python;
  if (python.kind != model::PythonKind::venv || !is_squashed(python.where)) return;
  const std::string file = python.where;
  if (!rule.squashfs.known)
    return result.remarks.error(
        "request/venv",
        fmt::format("the profile of {} does not state how {} mounts an environment in a squashfs file",
                    input.site.name, model::word_of(rule.engine)),
        "use a directory: --venv /project/me/env");
  const auto at = rule.squashfs.at.empty() ? file.substr(0, file.rfind('.')) : rule.squashfs.at;
  if (!is_bind_path(file) || !is_bind_path(at))
    return result.remarks.error(
        "usage/venv", fmt::format("'{}' is not a file that can be mounted", file),
        "use an absolute path without commas and colons: --venv /project/me/env.sqsh");
  result.remarks.note(
      fmt::format("the environment file {} is mounted in the container: the program sees the directory {}",
                  file, at),
      rule.squashfs.origin);
  python.where = at;
  container.binds.push_back({file, at, false, python.origin, true});
}

/// An EDF of the job's own adds what the user's does not show. It is written by the job: it names the job,
/// and hpcml as the nodes see it.
void plan_own_edf(const LaunchInput& input, model::PlannedContainer& container,
                  StepDiagnostics& diagnostics) {
  container.own_edf = !container.binds.empty() || input.is_hpcml();
  const auto& binds = container.binds;
  if (container.own_edf &&
      (!fits_edf(container.image) || !std::all_of(binds.begin(), binds.end(), [](const auto& bind) {
        return fits_edf(bind.source + bind.target);
      })))
    diagnostics.error("usage/container", "an EDF cannot name a file with quotes, backslashes or dollar signs",
                      "rename it");
}

/// An engine that works by options of Slurm gets them; the command itself is not wrapped.
void give_to_slurm(const LaunchInput& input, StepResult<Software>& result, const model::ContainerRule& rule,
                   model::PlannedContainer& container) {
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
    result.remarks.error(
        "request/bind",
        fmt::format("--bind cannot be used: {} on {} accepts no binds from a job",
                    model::word_of(rule.engine), input.site.name),
        engine.keeps_host ? "remove --bind: the program sees the directories of the host"
                          : "remove --bind, and set what it should show in the engine's own configuration");
  else if (!binds.empty() && !rule.bind_option.empty())
    options.push_back(util::replace_all(rule.bind_option, "{binds}", util::join(binds, ",")));
  for (const auto& option : options) {
    if (rule.options_on_srun) {
      container.step_options.push_back(container.own_edf ? option
                                                         : util::replace_all(option, "{image}", image));
      continue;
    }
    const slurm::NamedOption split = slurm::split_option(util::replace_all(option, "{image}", image));
    result.value.image_options.push_back({split.name, split.value, container.origin});
  }
}

/// A request without an image that speaks of one.
void refuse_without_image(const LaunchInput& input, StepResult<Software>& result) {
  const auto& job = input.job;
  const auto& python = result.value.python;
  if (!job.binds.empty())
    result.remarks.error("usage/bind", "--bind needs --container", "add --container IMAGE");
  if (job.container_engine)
    result.remarks.error("usage/container-engine", "--container-engine needs --container",
                         "add --container IMAGE");
  if (python.kind == model::PythonKind::venv && is_squashed(python.where))
    result.remarks.error("request/venv",
                         "an environment in a squashfs file needs an image, and this job has none",
                         "add --container IMAGE with the image in which it was made, or use a directory");
}

/// The image as the site's rule starts it, before anything of the job's own is added.
model::PlannedContainer image_by(const model::ContainerRule& rule, const LaunchInput& input,
                                 StepDiagnostics& diagnostics) {
  const model::JobSpec& job = input.job;
  model::PlannedContainer container{rule.engine, job.container->value, rule.gpu_flag,
                                    rule.binds,  rule.enter,           job.container->origin};
  container.origin.superseded.insert(container.origin.superseded.end(), rule.superseded.begin(),
                                     rule.superseded.end());
  if (input.numbers().gpus_per_node == 0) container.gpu_flag = model::GpuFlag::none;
  if (job.container_enter && !job.container_enter->value && !rule.enter.empty()) {
    container.enter.clear();
    diagnostics.note(fmt::format("'{}' is not evaluated inside the image", rule.enter),
                     job.container_enter->origin);
  }
  container.image_variable = rule.image_variable;
  return container;
}

} // namespace

StepResult<Software> enter_image(const LaunchInput& input, Software software) {
  StepResult<Software> result{std::move(software)};
  auto& diagnostics = result.remarks;
  const model::JobSpec& job = input.job;
  if (!job.container) {
    refuse_without_image(input, result);
    return result;
  }
  if (job.container->value.empty() || job.container->value.front() == '-' ||
      !util::is_one_line(job.container->value))
    diagnostics.error("usage/container",
                      fmt::format("'{}' is not a valid container image", job.container->value));
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
