// SPDX-License-Identifier: MIT
// --explain: the same lines as in the script, each followed by who decided it.
#include "generate/render/explain.hpp"

#include <fmt/format.h>

#include "generate/render/render_script.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::render {

namespace {

std::string_view name_of(model::OriginKind kind) {
  switch (kind) {
  case model::OriginKind::rule: return "rule";
  case model::OriginKind::site: return "site profile";
  case model::OriginKind::config: return "configuration";
  case model::OriginKind::job_file: return "job file";
  case model::OriginKind::environment: return "environment";
  case model::OriginKind::flag: return "flag";
  }
  return "rule";
}

std::string describe(const LineReason& reason) {
  const auto who = describe_origin(reason.origin);
  if (who.empty() && reason.about.empty()) return {};
  std::string text = "    <- " +
                     (reason.about.empty() ? who
                      : who.empty()        ? reason.about
                                           : reason.about + ": " + who) +
                     "\n";
  for (const auto& replaced : reason.origin.superseded) {
    text += fmt::format("       instead of {}", replaced.value);
    if (!replaced.source.empty()) text += fmt::format(" ({})", replaced.source);
    if (!replaced.why.empty()) text += ": " + replaced.why;
    text += "\n";
  }
  return text;
}

/// Describes names of the same origin (variables, modules) that follow each other in one line.
std::string describe_all(const Reasons& reasons) {
  Reasons merged;
  bool follows_name = false;
  for (const auto& reason : reasons) {
    const bool is_name = !reason.about.empty() && reason.about.find(' ') == std::string::npos;
    if (follows_name && is_name && describe({"", merged.back().origin}) == describe({"", reason.origin}))
      merged.back().about += ", " + reason.about;
    else
      merged.push_back(reason);
    follows_name = is_name;
  }
  std::string text;
  for (const auto& reason : merged) text += describe(reason);
  return text;
}

/// What launch sets in each task has no line in the script.
std::string explain_task_variables(const model::Plan& plan) {
  std::string text, origin; // of the variables since the last origin
  const auto add = [&](const std::string& line, const std::string& origin_of_line) {
    if (origin != origin_of_line) text += origin;
    text += line + "\n";
    origin = origin_of_line;
  };
  for (const auto& variable : plan.env)
    if (variable.scope == model::ValueScope::task)
      add(variable.name + "=" + variable.value, describe({"", variable.origin}));
  for (const auto& cache : plan.caches)
    for (const auto& [name, below] : cache.variables)
      add(fmt::format("{}: a directory of the job in {}, one per node{}", name, cache.base,
                      below.empty() ? "" : ", subdirectory " + below),
          describe({"", cache.origin}));
  text += origin;
  return text.empty() ? text : "\nhpcml launch sets in each task:\n" + text;
}

/// What has no line in the script.
std::string explain_plan(const model::Plan& plan) {
  std::string text;
  if (plan.launcher.choice.is_hpcml()) text += explain_task_variables(plan);
  if (!plan.notes.empty()) text += "\nNotes:\n";
  for (const auto& [note, origin] : plan.notes) text += note + "\n" + describe({"", origin});
  return text;
}

} // namespace

std::string describe_origin(const model::Origin& origin) {
  if (origin.by.empty() && origin.source.empty()) return {};
  std::string text(name_of(origin.kind));
  if (!origin.by.empty()) text += " " + origin.by;
  if (!origin.source.empty()) text += "; " + origin.source.text();
  if (!origin.checked.empty()) text += "; checked " + origin.checked.text();
  return text;
}

std::string render_explain(const model::Plan& plan) {
  std::string text;
  for (const auto& line : make_script(plan)) {
    text += render_line(line) + "\n";
    text += describe_all(reasons_of(line));
  }
  text += explain_events(plan);
  text += explain_plan(plan);
  for (std::size_t i = 0; i < plan.components.size(); ++i)
    if (const auto own = explain_plan(plan.components[i]); !own.empty())
      text += fmt::format("\nComponent {}:\n{}", i + 2, own);
  return text;
}

} // namespace hpcml::render
