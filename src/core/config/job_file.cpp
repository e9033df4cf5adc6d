// SPDX-License-Identifier: MIT
#include "core/config/job_file.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "core/config/job_keys.hpp"
#include "core/config/job_parts.hpp"
#include "core/config/text_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

JobLoad failed(const std::string& path, std::string message, std::string hint) {
  JobLoad load;
  load.diagnostics.push_back(
      {diag::Severity::error, "job/unreadable", std::move(message), {path}, std::move(hint)});
  return load;
}

/// `owner_hint`: as load_text_file has it.
JobLoad load_file(const std::string& path, const char* owner_hint) {
  auto text = load_text_file(path, owner_hint);
  if (!text)
    return failed(path, text.error().what,
                  text.error().hint.empty()
                      ? "hpcml reads hpcml.json in the working directory, or the file that --job names"
                      : text.error().hint);

  JobLoad load;
  load.source = std::move(*text);
  auto parsed = parse_json(load.source, path, "job");
  load.diagnostics = std::move(parsed.diagnostics);
  if (!parsed.root) return load;
  ReadContext context{"job", model::OriginKind::job_file};
  ObjectReader root(context, &*parsed.root, "");
  auto job = read_job(root);
  load.site = root.text("site", TextRule::name);
  read_steps(job, root);
  read_components(job, root);
  read_chain(root, load.chain, load.chain_if);
  load.jobs = read_parts(context, root);
  if (root.has("jobs") && (!job.command.empty() || load.chain))
    root.report_value("jobs", "a file with \"jobs\" has each program and chain there",
                      "move \"command\", \"steps\" and \"chain\" into the jobs");
  root.raw("$schema");
  root.finish();
  load.diagnostics.insert(load.diagnostics.end(), context.diagnostics.begin(), context.diagnostics.end());
  diag::sort_by_place(load.diagnostics);
  if (!diag::has_errors(load.diagnostics)) load.job = std::move(job);
  return load;
}

} // namespace

JobLoad load_job_file(const std::string& path) { return load_file(path, nullptr); }

bool has_default_job_file() {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(k_default_job_file, ignored));
}

JobLoad load_default_job_file() {
  return load_file(k_default_job_file,
                   "use --job hpcml.json to accept the file, or run hpcml in another directory");
}

JobLoad job_from_environment(const util::EnvSnapshot& env) {
  JobLoad load;
  model::JobSpec job;
  for (const auto& key : job_keys()) {
    if (!key.has_variable()) continue;
    const auto name = model::variable_of(key.name);
    const auto value = env.get(name);
    if (!value || value->empty()) continue;
    const auto fault = key.from_text(job, *value, model::Origin{model::OriginKind::environment, name});
    if (fault)
      load.diagnostics.push_back(
          {diag::Severity::error,
           "env/value",
           fmt::format("the variable {} {}", name, fault->what),
           {},
           fault->hint.empty() ? fmt::format("correct it, or: unset {}", name) : fault->hint});
  }
  if (const auto site = env.get("HPCML_SITE"); site && !site->empty()) load.site = *site;
  if (!diag::has_errors(load.diagnostics)) load.job = std::move(job);
  return load;
}

model::JobSpec merge_jobs(const model::JobSpec& under, const model::JobSpec& over) {
  auto merged = under;
  for (const auto& key : job_keys()) key.merge(merged, over);
  if (!over.command.empty()) {
    merged.command = over.command;
    merged.steps = over.steps;
    merged.body = over.body;
  }
  if (!over.components.empty()) merged.components = over.components;
  return merged;
}

std::vector<model::JobSpec> component_jobs(const model::JobSpec& job) {
  auto whole = job;
  whole.components.clear();
  if (job.components.empty()) return {whole};
  std::vector<model::JobSpec> jobs;
  for (const auto& own : job.components) jobs.push_back(merge_jobs(whole, own));
  return jobs;
}

} // namespace hpcml::config
