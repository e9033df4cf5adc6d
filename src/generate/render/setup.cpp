// SPDX-License-Identifier: MIT
// The set-up before the step: header, where hpcml is, modules, Python, variables.
#include <fmt/format.h>

#include "core/model/script_provenance.hpp"
#include "core/util/user_path.hpp"
#include "generate/plan/port_formula.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

/// A variable of the site as a word, without which the script ends; the profile's reader checked its name.
std::string required_variable(const std::string& name) { return "\"${" + name + ":?}\""; }

/// Lines of at most 108 columns, broken before options that are outside of quotes; those after the first are
/// indented.
std::vector<std::string> wrap_command(const std::string& command) {
  constexpr std::size_t k_columns = 108; // without "# "
  const std::string indent(6, ' ');
  std::vector<std::string> lines;
  std::size_t begin = 0, last_break = 0;
  bool is_single = false, is_double = false;
  const auto add = [&](std::size_t end) {
    lines.push_back((begin == 0 ? "" : indent) + command.substr(begin, end - begin));
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'' && !is_double) is_single = !is_single;
    if (command[i] == '"' && !is_single) is_double = !is_double;
    if (i - begin + (begin == 0 ? 0 : indent.size()) >= k_columns && last_break > begin) {
      add(last_break);
      begin = last_break + 1;
    }
    if (!is_single && !is_double && command.compare(i, 2, " -") == 0) last_break = i;
  }
  if (begin < command.size()) add(command.size());
  return lines;
}

} // namespace

ScriptLines make_directives(const model::Plan& plan) {
  ScriptLines lines;
  for (const auto& directive : plan.directives) {
    Directive line{directive.name, directive.value, because(directive.origin)};
    const auto* last = lines.empty() ? nullptr : std::get_if<Directive>(&lines.back());
    if (line.name != "--open-mode" || !last || last->name != "--requeue") {
      lines.push_back(std::move(line));
      continue;
    }
    // The log of a requeued job is appended to: one option is nothing without the other.
    const auto option = render_line(line).substr(std::string_view("#SBATCH").size());
    auto reasons = last->reasons;
    reasons.push_back({line.name, directive.origin});
    lines.back() = Verbatim{render_line(lines.back()) + option, std::move(reasons)};
  }
  for (const auto& component : plan.components) {
    lines.push_back(Verbatim{"#SBATCH hetjob", by_rule("the components of the job, in their order")});
    for (auto& line : make_directives(component)) lines.push_back(std::move(line));
  }
  return lines;
}

ScriptLines make_head(const model::Plan& plan) {
  const auto reasons = by_rule("a script says who wrote it, from which profile and how to write it again");
  ScriptLines lines;
  const auto head = model::ScriptProvenance{HPCML_VERSION, plan.site_id, plan.site_hash}.text();
  for (auto& part : wrap_command(plan.request_line.empty() ? head : head + ": " + plan.request_line))
    lines.push_back(Comment{std::move(part), reasons});
  return lines;
}

namespace {

/// Packs the modules into few lines: `module load` loads its operands in order.
void add_modules(const model::Plan& plan, ScriptLines& lines) {
  ScriptWords words;
  Reasons reasons;
  const auto flush = [&] {
    if (!words.empty()) lines.push_back(CommandLine{std::move(words), std::move(reasons)});
    words.clear();
    reasons.clear();
  };
  for (const auto& module : plan.modules) {
    if (module.is_path) {
      flush();
      lines.push_back(ModuleLine{module.name, true, because(module.origin)});
      continue;
    }
    if (words.empty()) words = literals({"module", "load"});
    words.push_back(ScriptWord::literal(module.name));
    reasons.push_back({module.name, module.origin});
  }
  flush();
}

/// A path of the request, which may begin with a variable of the job.
ScriptWord path_word(const std::string& path) {
  return util::leading_variable(path).empty() ? ScriptWord::literal(path)
                                              : ScriptWord::expression(quote_path(path));
}

/// Whether the script runs code in its shell that was not written for `set -u`.
bool reads_foreign_shell_code(const model::Plan& plan) {
  const auto kind = plan.python.kind;
  return plan.modules_reset.value != model::ModulesReset::none || !plan.modules.empty() ||
         (kind != model::PythonEnvironmentKind::none && (!plan.container || plan.python.on_each_node()));
}

} // namespace

ScriptLines make_options(const model::Plan& plan) {
  if (!reads_foreign_shell_code(plan))
    return {CommandLine{literals({"set", "-euo", "pipefail"}),
                        by_rule("a failed command ends the job instead of wasting its nodes")}};
  return {Verbatim{"set -eo pipefail # not -u: modules and environments read variables that may be unset",
                   by_rule("a failed command ends the job instead of wasting its nodes")}};
}

ScriptLines make_software(const model::Plan& plan) {
  ScriptLines lines;
  if (plan.modules_reset.value != model::ModulesReset::none)
    lines.push_back(CommandLine{literals({"module", model::word_of(plan.modules_reset.value)}),
                                because(plan.modules_reset.origin)});
  add_modules(plan, lines);
  const auto& python = plan.python;
  if (plan.container) return lines; // what is activated then is inside
  if (python.kind == model::PythonEnvironmentKind::venv)
    lines.push_back(CommandLine{{ScriptWord::literal("source"), path_word(python.where + "/bin/activate")},
                                because(python.origin)});
  if (python.kind ==
      model::PythonEnvironmentKind::conda) { // batch jobs have no function for "conda activate"
    ScriptWords activate = {ScriptWord::expression("source \"$(conda info --base)/bin/activate\"")};
    activate.push_back(path_word(python.where));
    lines.push_back(CommandLine{std::move(activate), because(python.origin)});
  }
  return lines;
}

namespace {

/// The port that the site gives, or one that depends on the job, as jobs may share a node.
std::string port_word(const model::PlannedRendezvous& endpoint) {
  if (!endpoint.port_from_env.empty()) return required_variable(endpoint.port_from_env);
  if (endpoint.port != 0) return std::to_string(endpoint.port);
  return fmt::format("$(({} + SLURM_JOB_ID * {} % {}))", plan::k_first_port, plan::k_job_stride,
                     plan::k_port_count);
}

/// The lines of a plain script; `host` is the shell's word for the first node.
ScriptLines make_plain_rendezvous(const model::Plan& plan, std::string host) {
  const auto& endpoint = plan.rendezvous;
  if (!endpoint.from_env.empty()) host = required_variable(endpoint.from_env);
  if (!endpoint.suffix.empty()) host += quote_word(endpoint.suffix);
  TemplateData data{{"host", false},
                    {"name", false},
                    {"lookup", false},
                    {"comment", std::string()},
                    {"port", port_word(endpoint)},
                    {"why", std::string(has_site_port(endpoint) ? "the site's port" : "a port per job")}};
  if (!endpoint.interface.empty()) {
    data["lookup"] = fmt::format("ip -4 -o addr show dev {} | awk -F '[ /]+' 'NR == 1 {{ print $4 }}'",
                                 quote_word(endpoint.interface));
  } else if (endpoint.ipv4) {
    constexpr std::size_t k_short = 42; // what fits into the line of the lookup
    if (host.size() > k_short) data["name"] = host;
    data["lookup"] = fmt::format("getent ahostsv4 {} | awk 'NR == 1 {{ print $1 }}'",
                                 host.size() > k_short ? "\"$MASTER_ADDR\"" : host);
  } else {
    data["host"] = host;
  }
  constexpr std::size_t k_fits = 74; // with what is around the lookup
  if (const auto* lookup = std::get_if<std::string>(&data["lookup"]); lookup && lookup->size() <= k_fits)
    data["comment"] = " # the first node's";
  return {Verbatim{render_block("rendezvous", data), because(endpoint.origin)}};
}

/// What a plain script exports of an address that it has looked up.
std::vector<Export> rendezvous_exports(const model::Plan& plan) {
  const auto& endpoint = plan.rendezvous;
  if (plan.launcher.choice.is_hpcml() || (endpoint.interface.empty() && !endpoint.ipv4)) return {};
  return {{"MASTER_ADDR", "${MASTER_ADDR:?no IPv4 address}", false, because(endpoint.origin), true},
          {"MASTER_PORT", port_word(endpoint), false, because(endpoint.origin), true}};
}

/// What `hpcml launch` cannot find by itself.
ScriptLines make_launch_rendezvous(const model::Plan& plan) {
  const auto& endpoint = plan.rendezvous;
  const auto reasons = because(endpoint.origin);
  if (!endpoint.interface.empty())
    return {
        Verbatim{render_block("launch_interface", {{"interface", quote_word(endpoint.interface)}}), reasons}};
  if (!endpoint.ipv4 && endpoint.from_env.empty()) return {};
  TemplateData data{{"from_env", false},
                    {"ipv4", endpoint.from_env.empty()},
                    {"host", "\"$SLURMD_NODENAME\"" +
                                 (endpoint.suffix.empty() ? std::string() : quote_word(endpoint.suffix))}};
  if (!endpoint.from_env.empty()) data["from_env"] = required_variable(endpoint.from_env);
  return {Verbatim{render_block("launch_address", data), reasons}};
}

} // namespace

ScriptLines make_environment(const model::Plan& plan) {
  auto exports = rendezvous_exports(plan);
  for (auto& variable : cache_exports(plan)) exports.push_back(std::move(variable));
  for (const auto& variable : plan.env)
    if (variable.scope == model::ValueScope::batch)
      exports.push_back(Export{variable.name, variable.value, variable.expression, because(variable.origin)});
  return pack_exports(exports);
}

bool has_site_port(const model::PlannedRendezvous& endpoint) {
  return endpoint.port != 0 || !endpoint.port_from_env.empty();
}

ScriptLines make_rendezvous(const model::Plan& plan) {
  // Slurm runs the script on the first node of the job.
  return plan.launcher.choice.is_hpcml() ? ScriptLines{}
                                         : make_plain_rendezvous(plan, "\"$SLURMD_NODENAME\"");
}

ScriptLines make_shell_rendezvous(const model::Plan& plan) {
  // The shell of an interactive job may be on a login node.
  return plan.launcher.choice.is_hpcml()
             ? make_launch_rendezvous(plan)
             : make_plain_rendezvous(plan,
                                     "\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\"");
}

} // namespace hpcml::render
