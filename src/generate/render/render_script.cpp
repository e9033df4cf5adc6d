// SPDX-License-Identifier: MIT
// The script as a list of typed lines in the order of templates/script.mustache, printed or explained.
#include "generate/render/render_script.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "core/util/text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

// Typed lines travel through the frame as marks; no other text of the frame can hold this byte.
constexpr char k_mark = '\x01';

struct Section {
  const char* name;
  std::function<ScriptLines(const model::Plan&)> make;
};

const std::vector<Section>& sections() {
  static const std::vector<Section> k_sections = {
      {"directives", make_directives},
      {"head", make_head},
      {"options", make_options},
      {"batch", make_batch_line},
      {"software", make_software},
      {"setup", make_container},
      {"setup", make_node_setup},
      {"setup", make_rendezvous}, // before variables of the profile: its arithmetic reads Slurm's
      {"setup", make_environment},
      {"step", [](const model::Plan& plan) { return make_step(plan, plan.launcher.step_args); }}};
  return k_sections;
}

/// True if a program for `bash -c` is in single quotes with a dollar: tasks expand it, on purpose.
bool holds_program(const ScriptWords& words) {
  return std::any_of(words.begin(), words.end(), [](const ScriptWord& word) {
    const auto text = word.to_shell();
    return text.starts_with('\'') && text.find('$') != std::string::npos;
  });
}

/// What shellcheck would report of lines that are meant.
std::set<std::string> shellcheck_codes(const ScriptLines& lines) {
  std::set<std::string> codes;
  for (const auto& line : lines) {
    std::vector<ScriptWords> groups;
    if (const auto* step = std::get_if<Step>(&line)) groups = step->groups;
    if (const auto* command = std::get_if<CommandLine>(&line)) groups = {command->words};
    for (const auto& words : groups) {
      const auto first = words.empty() ? std::string() : words.front().to_shell();
      // For shellcheck a path that starts with an escape may be a constant or not.
      if (first == "source") codes.insert("SC1091");
      if (first == "source" && words.back().to_shell().starts_with('\\')) codes.insert("SC1090");
      if (first != "trap" && holds_program(words)) codes.insert("SC2016");
    }
  }
  return codes;
}

ScriptLine shellcheck_line(const std::set<std::string>& codes) {
  const bool has_programs = codes.count("SC2016") > 0;
  const auto* why = !has_programs ? "the environment exists only on the cluster"
                    : codes.count("SC1091") == 0
                        ? "tasks expand their own variables"
                        : "the environment is on the cluster, tasks expand variables";
  return Verbatim{fmt::format("# shellcheck disable={} # {}", fmt::join(codes, ","), why),
                  by_rule("shellcheck reads the script without the cluster")};
}

} // namespace

ScriptLines make_script(const model::Plan& plan) {
  ScriptLines typed{Verbatim{plan.shebang, by_rule("the site's shell")}};
  TemplateData data{{"shebang", std::string(1, k_mark) + "0"}};
  std::map<std::string, std::string> marks;
  for (const auto& section : sections()) {
    auto& text = marks[section.name];
    for (auto& line : section.make(plan)) {
      text += fmt::format("{}{}{}", text.empty() ? "" : "\n", k_mark, typed.size());
      typed.push_back(std::move(line));
    }
  }
  if (const auto codes = shellcheck_codes(typed); !codes.empty()) {
    marks["head"] += fmt::format("\n{}{}", k_mark, typed.size());
    typed.push_back(shellcheck_line(codes));
  }
  for (auto& [name, text] : marks)
    data[name] = text.empty() ? TemplateValue(false) : TemplateValue(std::move(text));
  ScriptLines script;
  auto frame = render_template("script", data);
  if (!frame.empty() && frame.back() == '\n') frame.pop_back();
  for (const auto& text : util::split(frame, '\n')) {
    if (text.empty() || text.front() != k_mark) {
      script.push_back(Verbatim{text, {}});
      continue;
    }
    const auto index = util::parse_unsigned(text.substr(1));
    if (!index || *index >= typed.size())
      throw std::logic_error("templates/script.mustache puts something behind a line: " + text.substr(1));
    script.push_back(typed[static_cast<std::size_t>(*index)]);
  }
  return script;
}

std::string render_script(const model::Plan& plan) {
  std::string text;
  for (const auto& line : make_script(plan)) text += render_line(line) + "\n";
  return text;
}

} // namespace hpcml::render
