// SPDX-License-Identifier: MIT
// What is done once on every node before the ranks start, and undone at the end: caches, and an environment
// of the node.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

bool has_caches(const model::Plan& plan) { return !plan.launcher.choice.is_hpcml() && !plan.caches.empty(); }
bool has_wheelhouse(const model::Plan& plan) { return plan.python.kind == model::PythonKind::wheelhouse; }

/// A step that starts the tasks of all ranks, of which only the first of each node may go on.
bool is_guarded(const model::Plan& plan) {
  return !plan.launcher.by_srun() && plan.launcher.per_node_args.empty() && plan.layout.tasks_per_node > 1;
}

/// The caches' folders, then the environment's and what is staged if the script has to remove them.
std::string directory_words(const model::Plan& plan) {
  std::vector<std::string> directories;
  if (has_caches(plan))
    for (const auto& cache : plan.caches)
      directories.push_back(quote_path(plan::job_directory(cache.base, cache.name)));
  if (has_wheelhouse(plan) && plan.python.remove) directories.push_back(quote_path(plan.python.where));
  if (plan.stage && plan.stage->remove) directories.push_back(quote_path(plan.stage->directory));
  return util::join(directories, " ");
}

/// A path below the folder of a number: "${folders[0]}/cache".
std::string inside_directory(std::size_t number, const std::string& below) {
  if (below.empty()) return fmt::format("\"${{folders[{}]}}\"", number);
  if (quote_word(below) == below) return fmt::format("\"${{folders[{}]}}/{}\"", number, below);
  return fmt::format("\"${{folders[{}]}}/\"{}", number, quote_word(below));
}

} // namespace

ScriptWords per_node_words(const model::Plan& plan) {
  ScriptWords words{ScriptWord::literal(plan.launcher.step)};
  for (const auto& arg : plan.launcher.per_node_args) words.push_back(ScriptWord::literal(arg));
  if (plan.launcher.by_srun()) {
    words.push_back(ScriptWord::literal(fmt::format("--ntasks={}", plan.layout.nodes)));
    words.push_back(ScriptWord::literal("--ntasks-per-node=1"));
    words.push_back(ScriptWord::literal("--cpu-bind=none"));
  } else if (is_guarded(plan)) {
    const auto first = task_local_rank(plan, "rank");
    const auto rank = first.starts_with("$((") ? "rank=" + task_rank(plan) + "; " : std::string();
    words.insert(words.end(),
                 {ScriptWord::literal("bash"), ScriptWord::literal("-c"),
                  ScriptWord::expression(quote_program(rank + "[[ " + first + " != 0 ]] || exec \"$@\"")),
                  ScriptWord::literal("node")});
  }
  return words;
}

bool removes_directories(const model::Plan& plan) { return !directory_words(plan).empty(); }

ScriptLines make_per_node(const model::Plan& plan) {
  if (!has_caches(plan) && !has_wheelhouse(plan) && !plan.stage) return {};
  TemplateData data{
      {"per_node", join_words(per_node_words(plan))}, {"guarded", is_guarded(plan)}, {"folders", false}};
  if (const auto directories = directory_words(plan); !directories.empty()) data["folders"] = directories;
  return {Verbatim{render_block("per_node", data), by_rule("a node's disk belongs to all who use the node")}};
}

ScriptLines make_staging(const model::Plan& plan) {
  if (!plan.stage) return {};
  const bool packed = plan.python.kind == model::PythonKind::packed;
  Reasons reasons{{"", plan.stage->origin}};
  std::string sources;
  for (const auto& source : plan.stage->sources) {
    sources += (sources.empty() ? "stage " : "\nstage ") + quote_word(source.value);
    reasons.push_back({source.value, source.origin});
  }
  TemplateData data{{"folder", quote_path(plan.stage->directory)},
                    {"sources", sources},
                    {"packed", packed},
                    {"archive", std::string()},
                    {"name", std::string()}};
  if (packed) {
    const auto& archive = plan.python.packages.front();
    data["archive"] = quote_word(archive);
    data["name"] = quote_word(util::base_name(archive));
    reasons.push_back({"environment", plan.python.origin});
  }
  return {Verbatim{render_block("stage", data), reasons}};
}

ScriptLines make_wheelhouse(const model::Plan& plan) {
  if (!has_wheelhouse(plan)) return {};
  const Reasons reasons{{"", plan.python.origin}};
  const auto program =
      render_template("wheelhouse_program", {{"where", quote_path(plan.python.where)},
                                             {"activate", quote_path(plan.python.where + "/bin/activate")}});
  ScriptWords build = literals({"on_each_node", "bash", "-c"});
  build.push_back(ScriptWord::expression(quote_program(program)));
  build.push_back(ScriptWord::literal("wheelhouse"));
  return {Comment{"The virtualenv is built on each node's own disk, before the ranks start.", reasons},
          Verbatim{"# shellcheck disable=SC2016 # each node expands these", reasons},
          Step{{build, literals(plan.python.packages)}, reasons}};
}

ScriptLines make_caches(const model::Plan& plan) {
  if (!has_caches(plan)) return {};
  std::string exports, paths;
  std::set<std::pair<std::size_t, std::string>> made;
  Reasons reasons;
  for (std::size_t i = 0; i < plan.caches.size(); ++i) {
    for (const auto& [variable, below] : plan.caches[i].variables) {
      const bool chosen = std::any_of(plan.env.begin(), plan.env.end(),
                                      [name = variable](const auto& entry) { return entry.name == name; });
      if (chosen) continue; // the request says where
      exports +=
          fmt::format("{}export {}={}", exports.empty() ? "" : "\n", variable, inside_directory(i, below));
      if (!below.empty() && made.emplace(i, below).second)
        paths += fmt::format("{}\"${}\"", paths.empty() ? "" : " ", variable);
    }
    reasons.push_back({plan.caches[i].name, plan.caches[i].origin});
  }
  const bool others = (has_wheelhouse(plan) && plan.python.remove) || (plan.stage && plan.stage->remove);
  TemplateData data{
      {"exports", exports},
      {"paths", false},
      {"folders", others ? fmt::format("\"${{folders[@]::{}}}\"", plan.caches.size()) : "\"${folders[@]}\""}};
  if (!paths.empty()) data["paths"] = paths;
  return {Verbatim{render_block("caches", data), reasons}};
}

} // namespace hpcml::render
