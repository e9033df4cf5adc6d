// SPDX-License-Identifier: MIT
// Flags, variables and job file as one request.
#include <algorithm>
#include <fmt/format.h>

#include "cli/create/request_flags.hpp"
#include "core/config/job_file.hpp"
#include "core/config/job_keys.hpp"
#include "core/model/container_engine.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/plan/staging.hpp"

namespace hpcml::cli {

namespace {

/// Makes the paths of a request absolute: a compute node has neither the user's "~" nor their working
/// directory.
class PathReader {
public:
  PathReader(const util::EnvSnapshot& env, diag::Diagnostics& findings)
      : x_places(util::user_places(env)), x_findings(findings) {}

  void path(const char* name, std::string& text) { part(name, text, 0, text.size()); }
  void path(const char* name, model::Known<std::string>& text) {
    if (text && !text->value.empty()) path(name, text->value);
  }
  /// A path that may begin with a variable of the job: "$SCRATCH/env". An archive is read here and now.
  void job_path(const char* name, model::Known<std::string>& text) {
    if (text && (util::leading_variable(text->value).empty() || plan::is_archive(text->value)))
      path(name, text);
  }
  /// Expands a text that begins with "~"; other relative texts are not paths, or are meant unchanged.
  void home(const char* name, std::string& text, std::size_t start = 0) {
    if (text.compare(start, 1, "~") == 0) part(name, text, start, text.size());
  }
  /// The part of the text from `start` to `end`.
  void part(const char* name, std::string& text, std::size_t start, std::size_t end) {
    const auto whole = util::absolute_path(std::string_view(text).substr(start, end - start), x_places);
    if (whole)
      text.replace(start, end - start, *whole);
    else
      x_findings.push_back({diag::Severity::error,
                            std::string("usage/") + (name + 2),
                            std::string(name) + ": " + whole.error().what,
                            {},
                            whole.error().hint});
  }

private:
  util::PathBaseDirectories x_places;
  diag::Diagnostics& x_findings;
};

/// Whether an image is a file: others are names in a registry or known to the site ("nersc/pytorch:25.06",
/// "ubuntu").
bool is_image_file(const std::string& text) {
  if (text.starts_with(".") || text.starts_with("~")) return true;
  return (model::has_image_ending(text) || text.ends_with(".toml")) && // an EDF
         text.find("://") == std::string::npos && text[0] != '-';
}

/// Prints what is wrong with one source of the request; remembers the first exit code.
void settle(MergedRequest& request, const diag::Diagnostics& findings, const std::string& source, int code,
            bool colour) {
  print_diagnostics(findings, source, colour);
  if (diag::has_errors(findings) && request.exit_code == k_ok) request.exit_code = code;
}

/// Leaves the part that --only names.
void select_part(MergedRequest& request, const std::string& name, diag::Diagnostics& findings) {
  std::vector<std::string> names;
  for (const auto& part : request.parts) names.push_back(part.name);
  const auto found = std::find_if(request.parts.begin(), request.parts.end(),
                                  [&](const auto& part) { return part.name == name; });
  if (found == request.parts.end()) {
    const bool several = !names.front().empty();
    const auto near = util::nearest(name, names);
    findings.push_back({diag::Severity::error,
                        "usage/only",
                        fmt::format("--only selects job '{}', but the request has no job of this name", name),
                        {},
                        !several ? "remove --only: the request is a single job without a name"
                        : near   ? fmt::format("use --only {}", *near)
                                 : fmt::format("use --only with one of {}", util::join(names, ", "))});
    return;
  }
  auto part = *found;
  part.after.clear();
  request.parts = {part};
}

} // namespace

std::vector<config::NamedJobSpec> parts_of(const config::JobLoad& file) {
  if (!file.jobs.empty()) return file.jobs;
  config::NamedJobSpec only;
  only.chain = file.chain.value_or(only.chain);
  only.chain_if = file.chain_if.value_or(only.chain_if);
  return {only};
}

void resolve_paths(model::JobSpec& job, const util::EnvSnapshot& env, diag::Diagnostics& findings) {
  PathReader reader(env, findings);
  reader.job_path("--venv", job.venv);
  reader.path("--hpcml-path", job.hpcml_path);
  reader.path("--checkpoint-dir", job.checkpoint_dir);
  // The name of an environment is not a path.
  if (job.conda &&
      (job.conda->value.find_first_of("/~$") != std::string::npos || plan::is_archive(job.conda->value)))
    reader.job_path("--conda", job.conda);
  if (job.container && is_image_file(job.container->value)) reader.path("--container", job.container);
  if (const auto file = job.wheelhouse ? plan::requirements_file(job.wheelhouse->value) : std::nullopt) {
    job.wheelhouse->value = *file;
    reader.path("--wheelhouse", job.wheelhouse);
  }
  if (job.output) reader.home("--output", job.output->value);
  for (auto& source : job.stage) reader.path("--stage", source.value);
  for (auto& bind : job.binds)
    if (const auto end = std::min(bind.value.find(':'), bind.value.size()); end > 0)
      reader.part("--bind", bind.value, 0, end);
  for (auto& module : job.modules)
    if (module.value.starts_with("use:")) reader.home("--module", module.value, 4);
  for (auto& [name, value] : job.env)
    if (value.value == "~" || value.value.starts_with("~/")) reader.home("--env", value.value);
}

model::JobSpec job_from_flags(const RequestFlags& flags, diag::Diagnostics& findings) {
  model::JobSpec job;
  const auto take = [&](const config::JobKey& key, const std::string& text, const std::string& flag) {
    const auto fault = key.from_text(job, text, {model::OriginKind::flag, flag, {}, {}, {}});
    if (fault)
      findings.push_back({diag::Severity::error,
                          "usage/" + key.name,
                          fmt::format("{}: {}", key.flag(), fault->what),
                          {},
                          fault->hint});
  };
  for (const auto& key : config::job_keys()) {
    const auto flag = key.flag();
    if (const auto value = flags.values.find(flag); value != flags.values.end())
      take(key, value->second,
           key.form == config::FlagForm::yes_no && value->second == "false" ? "--no-" + key.name : flag);
    if (const auto list = flags.lists.find(flag); list != flags.lists.end())
      for (const auto& text : list->second) take(key, text, flag);
  }
  return job;
}

namespace {

/// What a component says itself is not overruled unseen, nor does it overrule what was typed.
void find_component_clashes(const model::JobSpec& over, const std::string& where,
                            const config::NamedJobSpec& part, diag::Diagnostics& findings) {
  const auto report = [&](const std::string& name) {
    findings.push_back({diag::Severity::error,
                        "usage/" + name,
                        fmt::format("{} and a component of the job file both set \"{}\"", where, name),
                        {},
                        fmt::format("remove \"{}\" from the components, or from {}", name, where)});
  };
  const auto& components = part.job.components;
  const auto any = [&](const auto& predicate) {
    return std::any_of(components.begin(), components.end(), predicate);
  };
  for (const auto& key : config::job_keys())
    if (key.per_component && key.form != config::FlagForm::list && key.to_json(over) &&
        any([&](const model::JobSpec& own) { return key.to_json(own).has_value(); }))
      report(key.name);
  if (!over.command.empty() && any([](const model::JobSpec& own) { return !own.command.empty(); }))
    report("command");
}

/// What a file has the job run besides its program: "hpcml-path=/x/hpcml", "env LD_PRELOAD=/x.so".
std::vector<std::string> find_programs_of_file(const config::JobLoad& file) {
  std::vector<std::string> found;
  const auto add = [&](const model::JobSpec& job) {
    if (job.hpcml_path) util::add_once(found, "hpcml-path=" + job.hpcml_path->value);
    for (const auto& [name, value] : job.env) util::add_once(found, "env " + name + "=" + value.value);
  };
  const auto add_all = [&](const model::JobSpec& job) {
    add(job);
    for (const auto& component : job.components) add(component);
  };
  if (file.job) add_all(*file.job);
  for (const auto& part : file.jobs) add_all(part.job);
  return found;
}

/// Keys of a job file with names of the file's site, for a request that is for another one.
void find_keys_of_other_site(const std::string& path, const std::optional<std::string>& file_site,
                             const std::optional<std::string>& site, const model::JobSpec& own,
                             const model::JobSpec& over, diag::Diagnostics& findings) {
  if (!file_site || !site || *file_site == *site) return;
  for (const auto& key : config::job_keys()) {
    const auto value = key.names_site ? key.to_json(own) : std::nullopt;
    const bool replaced = key.form != config::FlagForm::list && key.to_json(over).has_value();
    if (!value || replaced) continue;
    findings.push_back(
        {diag::Severity::error,
         "job/" + key.name,
         fmt::format("{}: \"{}\" is {}, a name of site {}, but the request is for site {}", path, key.name,
                     *value, *file_site, *site),
         {},
         key.form == config::FlagForm::list
             ? fmt::format("remove the key from the file, or use a job file for {} (--job FILE)", *site)
             : fmt::format("add {0} with a name of {1}, or use a job file for {1} (--job FILE)", key.flag(),
                           *site)});
  }
}

void print_programs_of_file(const std::string& path, const config::JobLoad& file, bool colour) {
  const auto found = find_programs_of_file(file);
  if (found.empty()) return;
  print_diagnostics({{diag::Severity::note,
                      "request/job",
                      fmt::format("{} sets {}", path, util::join(found, ", ")),
                      {},
                      {}}},
                    {}, colour);
}

} // namespace

MergedRequest read_request(const RequestFlags& flags, const Context& context) {
  MergedRequest request;
  std::optional<std::string> path = flags.job_file;
  if (!path && !flags.without_job_file && config::has_default_job_file()) path = config::k_default_job_file;
  config::JobLoad file;
  if (path) {
    file = flags.job_file ? config::load_job_file(*path) : config::load_default_job_file();
    settle(request, file.diagnostics, file.source, k_invalid_file, context.colour);
    print_programs_of_file(*path, file, context.colour);
    request.site = file.site;
    if (!flags.job_file && !diag::has_errors(file.diagnostics) && (flags.site || context.has_program))
      print_diagnostics(
          {{diag::Severity::note,
            "request/job",
            fmt::format("{} in this directory is used; options override it{}", config::k_default_job_file,
                        flags.site && file.site && *flags.site != *file.site
                            ? fmt::format("; it was written for {}", *file.site)
                            : ""),
            {},
            {}}},
          {}, context.colour);
  }
  const auto variables = config::job_from_environment(context.env);
  settle(request, variables.diagnostics, variables.source, k_usage, context.colour);
  if (variables.site) request.site = variables.site;
  request.config_file = config::config_path(context.env);
  const auto config = config::load_config(request.config_file);
  settle(request, config.diagnostics, config.source, k_invalid_file, context.colour);
  request.config = config.config;
  if (flags.site) request.site = flags.site;
  if (!request.site) request.site = request.config.site;

  diag::Diagnostics findings;
  auto typed = job_from_flags(flags, findings);
  if (context.has_program) typed.command = context.program;
  request.parts = parts_of(file);
  if (flags.only) select_part(request, *flags.only, findings);
  if (context.has_program && request.parts.size() > 1)
    findings.push_back(
        {diag::Severity::error,
         "usage/command",
         "a program after -- requires one job, but the job file has several, each with its program",
         {},
         "remove the program after --, or add --only NAME to choose one job"});
  diag::Diagnostics of_file;
  for (auto& part : request.parts) {
    const auto own = config::merge_jobs(file.job.value_or(model::JobSpec{}), part.job);
    find_keys_of_other_site(path.value_or(""), file.site, request.site, own,
                            config::merge_jobs(variables.job.value_or(model::JobSpec{}), typed), of_file);
    part.job = config::merge_jobs(config::merge_jobs(own, variables.job.value_or(model::JobSpec{})), typed);
    find_component_clashes(typed, "the command line", part, findings);
    find_component_clashes(variables.job.value_or(model::JobSpec{}), "an HPCML_* variable", part, findings);
    resolve_paths(part.job, context.env, findings);
  }
  settle(request, of_file, {}, k_invalid_file, context.colour);
  settle(request, findings, {}, k_usage, context.colour);
  return request;
}

} // namespace hpcml::cli
