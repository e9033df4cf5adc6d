// SPDX-License-Identifier: MIT
#include "core/config/job_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "core/config/job_keys.hpp"
#include "core/config/object_reader.hpp"
#include "core/config/text_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

// The parts of a job file that are not flags: several programs, several jobs, chains.

constexpr unsigned k_longest_chain = 1000;

struct PartEntry {
  NamedJobSpec part;
  JsonSourceLocation place;
};

/// A text or a list of texts.
std::vector<std::string> one_or_more(ObjectReader& object, std::string_view key) {
  const auto* node = object.raw(key);
  if (node && node->is(JsonKind::string)) {
    auto text = object.text(key);
    return text ? std::vector<std::string>{*text} : std::vector<std::string>{};
  }
  return object.texts(key);
}

/// Reads "steps" of one job: a list of {"command": […]}, with "once": true for one process only. Sets the
/// job's main command as well.
void read_steps(model::JobSpec& job, ObjectReader& object) {
  if (!object.has("steps")) return;
  const bool has_command = !job.command.empty();
  object.each("steps", [&](ObjectReader& step) {
    model::JobStep job_step{step.texts("command"), step.flag("once").value_or(false)};
    step.require("command", "set it to the program that the step runs");
    job.steps.push_back(std::move(job_step));
  });
  if (has_command)
    object.report_value("steps", "the job sets both \"command\" and \"steps\", which exclude each other",
                        "remove \"command\", and add its program as one of the \"steps\"");
  if (job.steps.empty()) return;
  const auto main =
      std::find_if(job.steps.begin(), job.steps.end(), [](const auto& step) { return !step.once; });
  job.command = main == job.steps.end() ? job.steps.front().command : main->command;
}

/// Reads "components": what each component of a heterogeneous job says itself, its "command" included.
void read_components(model::JobSpec& job, ObjectReader& object) {
  if (!object.has("components")) return;
  object.each("components", [&](ObjectReader& component) {
    auto& own = job.components.emplace_back();
    for (const auto& key : job_keys()) {
      if (key.per_component) {
        key.from_file(own, component);
      } else if (component.has(key.name)) {
        component.raw(key.name);
        component.report_value(
            key.name, fmt::format("a component sets \"{}\", which only the whole job can set", key.name),
            fmt::format("set \"{}\" next to \"components\"", key.name));
      }
    }
    own.command = component.texts("command");
    if (!own.command.empty() && !job.steps.empty())
      component.report_value(
          "command", "a component sets \"command\", but the programs of \"steps\" run on all components",
          "remove \"steps\", or remove \"command\" from the component");
  });
  if (job.components.size() == 1)
    object.report_value("components", "\"components\" has one component, but needs two or more",
                        "add a component, or remove \"components\" and set its keys next to \"command\"");
}

/// Reads "chain" and "chain-if".
void read_chain(ObjectReader& object, std::optional<unsigned>& chain, std::optional<std::string>& chain_if) {
  chain = object.number("chain", 1, k_longest_chain);
  chain_if = object.choice("chain-if", {"any", "ok"});
  if (chain_if && !chain)
    object.report_value("chain-if", "\"chain-if\" has no effect without \"chain\"",
                        "set the number of jobs in the chain, for example \"chain\": 4");
}

PartEntry read_part(ObjectReader& object) {
  PartEntry entry{{}, object.place()};
  auto& part = entry.part;
  object.require("name",
                 "set the name of the job, which other jobs use in \"after\" and Slurm shows in the queue");
  part.name = object.text("name", TextRule::name).value_or("");
  part.job = read_job(object);
  read_steps(part.job, object);
  read_components(part.job, object);
  if (!part.job.job_name && !part.name.empty())
    part.job.job_name = object.known("name", std::optional<std::string>(part.name));
  part.after = one_or_more(object, "after");
  part.after_if = object.choice("after-if", {"ok", "any"}).value_or(part.after_if);
  std::optional<unsigned> chain;
  std::optional<std::string> chain_if;
  read_chain(object, chain, chain_if);
  part.chain = chain.value_or(part.chain);
  part.chain_if = chain_if.value_or(part.chain_if);
  return entry;
}

void check_names(ReadContext& context, const std::vector<PartEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.part.name);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!names[i].empty() && std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                                       names[i]) != names.begin() + static_cast<std::ptrdiff_t>(i))
      context.report("jobs", fmt::format("two jobs of the job file have the name \"{}\"", names[i]),
                     entries[i].place, "set a different \"name\" for each job");
    for (const auto& name : entries[i].part.after) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const auto near = util::nearest(name, names);
      context.report(
          "jobs",
          fmt::format("job \"{}\" waits for \"{}\", but no job of this file has this name", names[i], name),
          entries[i].place,
          near ? fmt::format("use \"after\": \"{}\" if that is meant", *near)
               : "use \"after\" for jobs of this file, and \"dependency\": \"afterok:123\" for jobs of the "
                 "queue");
    }
  }
}

bool is_ready(const PartEntry& entry, const std::vector<NamedJobSpec>& placed) {
  return std::all_of(entry.part.after.begin(), entry.part.after.end(), [&](const std::string& name) {
    return std::any_of(placed.begin(), placed.end(),
                       [&](const NamedJobSpec& part) { return part.name == name; });
  });
}

/// The file's order as far as it goes: of those that can be next the first is next.
std::vector<NamedJobSpec> put_in_order(ReadContext& context, std::vector<PartEntry> entries) {
  std::vector<NamedJobSpec> placed;
  while (!entries.empty()) {
    const auto next = std::find_if(entries.begin(), entries.end(),
                                   [&](const PartEntry& entry) { return is_ready(entry, placed); });
    if (next == entries.end()) {
      std::vector<std::string> names;
      for (const auto& entry : entries) names.push_back(entry.part.name);
      context.report("jobs",
                     fmt::format("these jobs wait for each other in a circle: {}", util::join(names, ", ")),
                     entries.front().place, "remove \"after\" from one of these jobs");
      return placed;
    }
    placed.push_back(next->part);
    entries.erase(next);
  }
  return placed;
}

/// Reads "jobs", and puts each after those that it waits for.
std::vector<NamedJobSpec> read_parts(ReadContext& context, ObjectReader& root) {
  std::vector<PartEntry> entries;
  root.each("jobs", [&](ObjectReader& object) { entries.push_back(read_part(object)); });
  const auto before = context.diagnostics.size();
  check_names(context, entries);
  if (context.diagnostics.size() > before) return {};
  return put_in_order(context, std::move(entries));
}

JobLoad failed(const std::string& path, std::string message, std::string hint) {
  JobLoad load;
  load.diagnostics.push_back(
      {diag::Severity::error, "job/unreadable", std::move(message), {path}, std::move(hint)});
  return load;
}

/// `owner_hint`: as load_text_file has it.
JobLoad load_file(const std::string& path, const char* owner_hint) {
  auto text = load_text_file(path, owner_hint);
  const bool is_foreign = owner_hint != nullptr && !text && text.error().hint == owner_hint;
  if (!text)
    return failed(path, text.error().what,
                  is_foreign ? owner_hint : "use hpcml.json in the working directory, or --job FILE");

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
    root.report_value("jobs", "\"command\", \"steps\" and \"chain\" cannot be set next to \"jobs\"",
                      "set them inside the jobs of \"jobs\"");
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
           fmt::format("the variable {} is invalid: {}", name, fault->what),
           {},
           fault->hint.empty() ? fmt::format("set a valid value, or run: unset {}", name) : fault->hint});
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
