// SPDX-License-Identifier: MIT
// The set-up before the step: header, where hpcml is, modules, Python, variables.
#include <fmt/format.h>
#include <map>

#include "generate/plan/meeting_port.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

/// A variable of the job as a word; its name is a profile's, checked when that was read.
std::string variable_word(const std::string& name) { return "\"$" + name + "\""; }

} // namespace

ScriptLines make_directives(const model::Plan& plan) {
  ScriptLines lines;
  for (const auto& directive : plan.directives)
    lines.push_back(Directive{directive.name, directive.value, because(directive.origin)});
  for (const auto& component : plan.components) {
    lines.push_back(Verbatim{"#SBATCH hetjob", by_rule("the components of the job, in their order")});
    for (auto& line : make_directives(component)) lines.push_back(std::move(line));
  }
  return lines;
}

ScriptLines make_head(const model::Plan& plan) {
  const auto reasons = by_rule("a script says who wrote it, from which profile and how to write it again");
  ScriptLines lines{Comment{fmt::format("Written by hpcml {} for site {} (profile {}):", HPCML_VERSION,
                                        plan.site_id, plan.site_hash),
                            reasons}};
  if (!plan.request_line.empty()) lines.push_back(Comment{"  " + plan.request_line, reasons});
  return lines;
}

ScriptLines make_find_hpcml(const model::Plan& plan) {
  if (!plan.launcher.choice.is_hpcml()) return {};
  return {Verbatim{render_block("find_hpcml", {{"path", quote_word(plan.hpcml_path.value)}}),
                   because(plan.hpcml_path.origin)}};
}

ScriptLines make_software(const model::Plan& plan) {
  ScriptLines lines;
  if (plan.modules_reset.value != model::ModulesReset::none)
    lines.push_back(CommandLine{literals({"module", model::word_of(plan.modules_reset.value)}),
                                because(plan.modules_reset.origin)});
  for (const auto& module : plan.modules)
    lines.push_back(Module{module.name, module.is_path, because(module.origin)});
  const auto& python = plan.python;
  if (plan.container) return lines; // what is activated then is inside
  if (python.kind == model::PythonKind::venv)
    lines.push_back(Verbatim{render_block("venv", {{"activate", quote_word(python.where + "/bin/activate")}}),
                             because(python.origin)});
  if (python.kind == model::PythonKind::conda)
    lines.push_back(
        Verbatim{render_block("conda", {{"name", quote_word(python.where)}}), because(python.origin)});
  return lines;
}

ScriptLines make_environment(const model::Plan& plan) {
  ScriptLines lines;
  for (const auto& variable : plan.env)
    if (variable.scope == model::Scope::batch)
      lines.push_back(Export{variable.name, variable.value, variable.expression, because(variable.origin)});
  return lines;
}

namespace {

/// The port that the site gives, or one that depends on the job.
ScriptLine make_port(const model::Plan& plan) {
  const auto& endpoint = plan.rendezvous;
  TemplateData data{{"site_port", false}, {"own_port", false}};
  if (!endpoint.port_from_env.empty())
    data["site_port"] = variable_word(endpoint.port_from_env);
  else if (endpoint.port != 0)
    data["site_port"] = std::to_string(endpoint.port);
  else
    data["own_port"] = true;
  for (const auto& [name, number] :
       std::map<std::string, unsigned>{{"first", plan::k_first_port},
                                       {"count", plan::k_port_count},
                                       {"job_stride", plan::k_job_stride},
                                       {"restart_stride", plan::k_restart_stride}})
    data[name] = std::to_string(number);
  return Verbatim{render_block("master_port", data),
                  std::get_if<bool>(&data["site_port"])
                      ? by_rule("neighbouring jobs and a requeued job get other ports")
                      : because(endpoint.origin)};
}

} // namespace

ScriptLines make_rendezvous(const model::Plan& plan) {
  const auto& endpoint = plan.rendezvous;
  const auto reasons = because(endpoint.origin);
  const auto interface = quote_word(endpoint.interface);
  if (plan.launcher.choice.is_hpcml()) {
    if (endpoint.interface.empty() && (endpoint.ipv4 || !endpoint.from_env.empty())) {
      const bool is_set = !endpoint.from_env.empty();
      const auto host = "\"$SLURMD_NODENAME\"" + (endpoint.suffix.empty() ? "" : quote_word(endpoint.suffix));
      return {Verbatim{render_block("launch_address",
                                    {{"from_env", is_set ? TemplateValue(variable_word(endpoint.from_env))
                                                         : TemplateValue(false)},
                                     {"ipv4", !is_set},
                                     {"host", host}}),
                       reasons}};
    }
    if (endpoint.interface.empty()) return {};
    return {Verbatim{render_block("launch_interface", {{"interface", interface}}), reasons}};
  }
  ScriptLines lines;
  if (!endpoint.interface.empty()) {
    lines.push_back(Verbatim{render_block("master_interface", {{"interface", interface}}), reasons});
  } else {
    TemplateData data{{"suffix", false},
                      {"from_env", false},
                      {"from_list", endpoint.from_env.empty()},
                      {"ipv4", endpoint.ipv4}};
    if (!endpoint.suffix.empty()) data["suffix"] = quote_word(endpoint.suffix);
    if (!endpoint.from_env.empty()) data["from_env"] = variable_word(endpoint.from_env);
    lines.push_back(Verbatim{render_block("master_host", data), reasons});
  }
  lines.push_back(make_port(plan));
  return lines;
}

namespace {

/// The job's key, where its processes on several nodes, or several tasks of a step, speak to each other.
ScriptLines make_secret(const model::Plan& plan) {
  const bool agents = plan.launcher.has_own_agent() && plan.tasks() > plan.layout.tasks_per_node;
  const bool tasks = !plan.launcher.has_own_agent() && model::needs_rendezvous(plan.ranks, plan.tasks());
  if (!plan.launcher.choice.is_hpcml() || (!agents && !tasks)) return {};
  return {Verbatim{render_block("secret", {}),
                   by_rule("without the key nothing that arrives over the network is applied")}};
}

} // namespace

ScriptLines make_store(const model::Plan& plan) {
  auto lines = make_secret(plan);
  const auto& endpoint = plan.rendezvous;
  // A port that the site prescribes is the programs' alone: the launchers find another one by themselves.
  const bool prescribed = endpoint.port != 0 || !endpoint.port_from_env.empty();
  const bool meets = model::needs_rendezvous(plan.ranks, plan.tasks());
  if (plan.launcher.has_own_agent()) return lines; // the agents serve one for each start of their ranks
  if (!plan.launcher.choice.is_hpcml() || !meets || prescribed) return lines;
  const bool looked_up = !endpoint.interface.empty() || endpoint.ipv4 || !endpoint.from_env.empty();
  const auto name =
      looked_up ? std::string("\"$HPCML_MASTER_ADDR\"")
                : "\"$SLURMD_NODENAME\"" + (endpoint.suffix.empty() ? "" : quote_word(endpoint.suffix));
  lines.push_back(Verbatim{render_block("store", {{"name", name}}),
                           by_rule("it is there before any rank, and stays when one of them ends")});
  return lines;
}

} // namespace hpcml::render
