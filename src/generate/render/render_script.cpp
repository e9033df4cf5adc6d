// SPDX-License-Identifier: MIT
// The script as a list of typed lines in the order of templates/script.mustache, printed or explained.
#include "generate/render/render_script.hpp"

#include <fmt/format.h>
#include <functional>
#include <map>
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
      throw std::logic_error(
          fmt::format("templates/script.mustache has '{}' after a section", text.substr(1)));
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
