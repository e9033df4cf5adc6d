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

/// A command as lines of a comment of at most 110 columns, broken before options outside of quotes.
std::vector<std::string> wrap_command(const std::string& command) {
  constexpr std::size_t k_columns = 102; // without "#       "
  std::vector<std::string> lines;
  std::size_t begin = 0, last_break = 0;
  bool is_single = false, is_double = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'' && !is_double) is_single = !is_single;
    if (command[i] == '"' && !is_single) is_double = !is_double;
    if (i - begin > k_columns && last_break > begin) {
      lines.push_back((begin == 0 ? "  " : "      ") + command.substr(begin, last_break - begin));
      begin = last_break + 1;
    }
    if (!is_single && !is_double && command.compare(i, 2, " -") == 0) last_break = i;
  }
  if (begin < command.size()) lines.push_back((begin == 0 ? "  " : "      ") + command.substr(begin));
  return lines;
}

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
  for (auto& part : wrap_command(plan.request_line)) lines.push_back(Comment{std::move(part), reasons});
  return lines;
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

} // namespace hpcml::render
