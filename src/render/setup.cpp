// SPDX-License-Identifier: MIT
// The set-up before the step: header, where hpcml is, modules, Python, variables.
#include <fmt/format.h>

#include "render/sections.hpp"
#include "render/template.hpp"
#include "util/text.hpp"

namespace hpcml::render {

namespace {

std::string fill(const std::string& name, const TemplateData& data) {
  auto text = render_template(name, data);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Reasons because(const model::Origin& origin) { return {{"", origin}}; }

/// A variable of the job as a word; its name is a profile's, checked when that was read.
std::string variable_word(const std::string& name) { return "\"$" + name + "\""; }

} // namespace

bool uses_launch(const model::Plan& plan) { return plan.launcher.kind == "hpcml"; }

bool starts_agents(const model::Plan& plan) {
  return plan.launcher.kind == "torchrun" || plan.launcher.kind == "accelerate";
}

Lines make_directives(const model::Plan& plan) {
  Lines lines;
  for (const auto& directive : plan.directives)
    lines.push_back(Directive{directive.name, directive.value, because(directive.origin)});
  return lines;
}

Lines make_head(const model::Plan& plan) {
  const auto reasons = by_rule("a script says who wrote it, from which profile and how to write it again");
  Lines lines{Comment{fmt::format("Written by hpcml {} for site {} (profile {}):", HPCML_VERSION, plan.site_id, plan.site_hash), reasons}};
  if (!plan.request_line.empty()) lines.push_back(Comment{"  " + plan.request_line, reasons});
  return lines;
}

Lines make_find_hpcml(const model::Plan& plan) {
  if (!uses_launch(plan)) return {};
  return {Verbatim{fill("find_hpcml", {{"path", quote_word(plan.hpcml_path.value)}}), because(plan.hpcml_path.origin)}};
}

Lines make_modules(const model::Plan& plan) {
  Lines lines;
  if (!plan.modules_reset.empty())
    lines.push_back(Command{literals({"module", plan.modules_reset}), because(plan.modules_reset_origin)});
  for (const auto& module : plan.modules) lines.push_back(Module{module.name, module.is_path, because(module.origin)});
  return lines;
}

Lines make_python(const model::Plan& plan) {
  const auto& python = plan.python;
  const auto reasons = because(python.origin);
  switch (python.kind) {
    case model::PythonKind::none: return {};
    case model::PythonKind::venv:
      return {Verbatim{fill("venv", {{"activate", quote_word(python.where + "/bin/activate")}}), reasons}};
    case model::PythonKind::conda: return {Verbatim{fill("conda", {{"name", quote_word(python.where)}}), reasons}};
    case model::PythonKind::wheelhouse: break;
  }
  const auto program = render_template("wheelhouse_program", {{"where", quote_path(python.where)}});
  Lines lines{
      Comment{"The virtualenv is built once on every node, on the node's own disk, before the ranks start.", reasons},
      Verbatim{"# shellcheck disable=SC2016 # each node expands these", reasons}};
  Words build{Word::literal("bash"), Word::literal("-c"), Word::expression(quote_program(program)), Word::literal("wheelhouse")};
  lines.push_back(Step{{per_node_words(plan), build, literals(python.packages)}, reasons});
  return lines;
}

Lines make_environment(const model::Plan& plan) {
  Lines lines;
  const bool plain = !uses_launch(plan);
  for (const auto& variable : plan.env) {
    const bool same_for_all = variable.scope != model::Scope::task || (plain && !variable.expression);
    if (same_for_all) lines.push_back(Export{variable.name, variable.value, variable.expression, because(variable.origin)});
  }
  return lines;
}

Lines make_rendezvous(const model::Plan& plan) {
  const auto& meeting = plan.rendezvous;
  const auto reasons = because(meeting.origin);
  const auto interface = quote_word(meeting.interface);
  if (uses_launch(plan)) {
    if (meeting.interface.empty() && (meeting.ipv4 || !meeting.from_env.empty())) {
      const bool given = !meeting.from_env.empty();
      const auto host = "\"$SLURMD_NODENAME\"" + (meeting.suffix.empty() ? "" : quote_word(meeting.suffix));
      return {Verbatim{fill("launch_address", {{"from_env", given ? TemplateValue(variable_word(meeting.from_env)) : TemplateValue(false)},
                                               {"ipv4", !given},
                                               {"host", host}}),
                       reasons}};
    }
    if (meeting.interface.empty()) return {};
    return {Verbatim{fill("launch_interface", {{"interface", interface}}), reasons}};
  }
  if (!meeting.interface.empty()) return {Verbatim{fill("master_interface", {{"interface", interface}}), reasons}};
  const bool site_port = meeting.port != 0 || !meeting.port_from_env.empty();
  TemplateData data{{"suffix", false},     {"from_env", false},         {"from_list", meeting.from_env.empty()},
                    {"ipv4", meeting.ipv4}, {"own_port", !site_port},    {"site_port", site_port},
                    {"port", std::string("$((10000 + ${SLURM_JOB_ID//[!0-9]/} % 20000))")}};
  if (!meeting.suffix.empty()) data["suffix"] = quote_word(meeting.suffix);
  if (!meeting.from_env.empty()) data["from_env"] = variable_word(meeting.from_env);
  if (meeting.port != 0) data["port"] = std::to_string(meeting.port);
  if (!meeting.port_from_env.empty()) data["port"] = variable_word(meeting.port_from_env);
  return {Verbatim{fill("master_host", data), reasons}};
}

Lines make_caches(const model::Plan& plan) {
  if (uses_launch(plan) || plan.caches.empty()) return {};
  std::string folders, exports, paths;
  Reasons reasons;
  for (const auto& cache : plan.caches) {
    const auto folder = cache.base + "/hpcml-$SLURM_JOB_ID-" + cache.name;
    folders += (folders.empty() ? "" : " ") + quote_path(folder);
    for (const auto& [variable, below] : cache.variables) {
      exports += fmt::format("{}export {}={}", exports.empty() ? "" : "\n", variable,
                             quote_path(below.empty() ? folder : folder + "/" + below));
      paths += fmt::format("{}\"${}\"", paths.empty() ? "" : " ", variable);
    }
    reasons.push_back({cache.name, cache.origin});
  }
  return {Verbatim{fill("caches", {{"folders", folders}, {"exports", exports}, {"paths", paths},
                                   {"per_node", join_words(per_node_words(plan))}}), reasons}};
}

} // namespace hpcml::render
