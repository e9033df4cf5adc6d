// SPDX-License-Identifier: MIT
// The image, its binds, and the user's paths as they are called inside.
#include <algorithm>

#include "plan/option_word.hpp"
#include "plan/plan_context.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::ContainerBind;

/// A path that the engine's -B option can carry: it splits at commas and colons.
bool is_bind_path(const std::string& path) {
  return !path.empty() && path.front() == '/' && is_one_line(path) &&
         path.find_first_of(",:") == std::string::npos;
}

void add_user_bind(PlanContext& context, model::PlannedContainer& container,
                   const model::Sourced<std::string>& given) {
  const auto parts = util::split(given.value, ':');
  ContainerBind bind{parts[0], parts.size() > 1 ? parts[1] : "", false, given.origin};
  if (parts.size() > 2 || !is_bind_path(bind.source) || (parts.size() > 1 && !is_bind_path(bind.target))) {
    context.error("usage/bind", "'" + given.value + "' is no bind",
                  "two absolute paths, as --bind /project/me:/workdir, or one that keeps its name");
    return;
  }
  for (std::string* path : {&bind.source, &bind.target})
    while (path->size() > 1 && path->back() == '/') path->pop_back();
  const std::string target = bind.inside();
  const auto same = [&](const ContainerBind& other) {
    return other.inside() == target;
  };
  if (const auto old = std::find_if(container.binds.begin(), container.binds.end(), same);
      old != container.binds.end()) {
    if (old->source != bind.source)
      context.note("bind " + given.value + " replaces " + old->source + " at " + target, given.origin);
    container.binds.erase(old);
  }
  container.binds.push_back(std::move(bind));
}

/// `path` as it is called inside: the longest bind that holds it counts.
std::string inside_path(const std::string& path, const std::vector<ContainerBind>& binds) {
  const ContainerBind* best = nullptr;
  for (const auto& bind : binds) {
    if (bind.target.empty() || bind.target == bind.source) continue;
    const bool holds = path == bind.source || util::starts_with(path, bind.source + "/");
    if (holds && (!best || bind.source.size() >= best->source.size())) best = &bind;
  }
  return best ? best->target + path.substr(best->source.size()) : path;
}

/// Whether `path` lies under a bind, by the host's name or by the container's.
bool is_shown(const std::string& path, const std::vector<ContainerBind>& binds) {
  const auto below = [&](const std::string& folder) {
    return path == folder || folder == "/" || util::starts_with(path, folder + "/");
  };
  return std::any_of(binds.begin(), binds.end(), [&](const auto& bind) {
    return below(bind.source) || (!bind.target.empty() && below(bind.target));
  });
}

/// The environment is activated inside. A name is the image's own conda's, a relative path is below the working
/// directory, which the engine shows.
void translate_environment(PlanContext& context, const std::vector<ContainerBind>& binds) {
  std::string& where = context.plan.python.where;
  if (where.empty() || where.front() != '/') return;
  if (!is_shown(where, binds)) {
    context.error("usage/bind", "the environment " + where + " is not visible inside the image",
                  "add --bind " + where + " or a folder that holds it; for an environment that is part of the image name its "
                  "python in the command instead: -- " + where + "/bin/python …");
    return;
  }
  const std::string inside = inside_path(where, binds);
  if (inside != where)
    context.note("the environment " + where + " is called " + inside + " inside the container",
                 by_rule("paths under a bind have the bind's name inside"));
  where = inside;
}

/// Absolute paths of a command, also behind "--option=".
void translate_command(PlanContext& context, std::vector<std::string>& command, const std::vector<ContainerBind>& binds) {
  for (std::string& word : command) {
    const std::size_t equals = word.find("=/");
    const std::size_t start = !word.empty() && word.front() == '/' ? 0
                              : equals == std::string::npos        ? word.size()
                                                                   : equals + 1;
    const std::string inside = word.substr(0, start) + inside_path(word.substr(start), binds);
    if (inside == word) continue;
    const auto note = word + " is called " + inside + " inside the container";
    const auto& notes = context.plan.notes; // the steps of a job may share words
    if (std::none_of(notes.begin(), notes.end(), [&](const auto& said) { return said.first == note; }))
      context.note(note, by_rule("paths under a bind have the bind's name inside"));
    word = inside;
  }
}

/// The site's first engine that holds for the job.
const model::ContainerRule* find_engine(const PlanContext& context) {
  for (const auto& rule : context.site.containers)
    if (applies(rule.when, context.facts())) return &rule;
  return nullptr;
}

/// An engine that works by options of Slurm gets them; the command itself is not wrapped.
void give_to_slurm(PlanContext& context, const model::ContainerRule& rule, model::PlannedContainer& container) {
  container.by_slurm = model::works_by_slurm(rule.engine);
  if (!container.by_slurm) return;
  container.prefix = rule.prefix;
  std::vector<std::string> binds;
  for (const auto& bind : container.binds)
    binds.push_back(bind.source + ":" + bind.inside());
  auto options = rule.options;
  if (!binds.empty() && rule.bind_option.empty())
    context.error("request/bind", model::word_of(rule.engine) + " on " + context.site.name + " takes no binds from here",
                  "leave --bind out; what it shows is said in its own configuration");
  else if (!binds.empty())
    options.push_back(util::replace_all(rule.bind_option, "{binds}", util::join(binds, ",")));
  for (const auto& option : options) {
    const std::string word = util::replace_all(option, "{image}", container.image);
    if (rule.options_on_srun) {
      context.plan.launcher.step_args.push_back(word);
      continue;
    }
    const OptionWord split = split_option(word);
    context.plan.directives.push_back({split.name, split.value, container.origin});
  }
}

} // namespace

void plan_container(PlanContext& context) {
  const model::JobSpec& job = context.job;
  if (!job.container) {
    if (!job.binds.empty())
      context.error("usage/bind", "--bind without --container", "name the image: --container IMAGE");
    return;
  }
  if (job.container->value.empty() || job.container->value.front() == '-' ||
      !is_one_line(job.container->value))
    context.error("usage/container", "'" + job.container->value + "' is no container image");
  const model::ContainerRule* engine = find_engine(context);
  if (!engine) {
    context.error("request/container", context.site.name + " has no container engine in its profile");
    return;
  }
  const model::ContainerRule& rule = *engine;
  model::PlannedContainer container{rule.engine, job.container->value, rule.gpu_flag,
                                    rule.binds,  rule.enter,           job.container->origin};
  container.origin.superseded.insert(container.origin.superseded.end(), rule.superseded.begin(),
                                     rule.superseded.end());
  if (context.plan.layout.gpus_per_node == 0) container.gpu_flag = model::GpuFlag::none;
  if (job.container_enter && !job.container_enter->value && !rule.enter.empty()) {
    container.enter.clear();
    context.note("'" + rule.enter + "' is not evaluated inside the image", job.container_enter->origin);
  }
  for (const auto& module : rule.modules) add_module(context, module, rule.origin);
  for (const auto& bind : job.binds) add_user_bind(context, container, bind);
  translate_command(context, context.plan.command, container.binds);
  for (auto& step : context.plan.steps) translate_command(context, step.command, container.binds);
  give_to_slurm(context, rule, container);
  // What an engine of Slurm's shows may stand in a configuration of its own.
  if (!container.by_slurm || !rule.bind_option.empty()) translate_environment(context, container.binds);
  context.plan.container = std::move(container);
}

} // namespace hpcml::plan
