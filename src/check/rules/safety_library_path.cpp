// SPDX-License-Identifier: MIT
// Search paths without the directories of loaded modules.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_library_path {

/// Where a module is loaded first; nothing where none is.
const shell::Command* first_load(const LintContext& subject) {
  for (const auto& command : subject.listing.commands) {
    const auto words = command.arguments();
    if (command.context.uncalled || command.context.condition || words.empty()) continue;
    const auto first = words[0].text();
    if ((command.name() == "module" && (first == "load" || first == "add")) ||
        (command.name() == "ml" && first[0] != '-' && first != "purge" && first != "list"))
      return &command;
  }
  return nullptr;
}

/// True if the value has directories, and none of them comes from a variable that may hold the old value.
bool is_literal(std::string_view value) {
  return value.find('/') != std::string_view::npos && value.find('$') == std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  if (text.find("PATH=") == std::string_view::npos) return hits;
  const auto* load = first_load(subject);
  if (!load) return hits;
  for (const std::string_view name : {"LD_LIBRARY_PATH", "PATH"}) {
    const auto sign = std::string("export ") + std::string(name) + "=";
    for (auto at = text.find(sign, load->place.offset); at != std::string_view::npos;
         at = text.find(sign, at + 1)) {
      const auto line = line_at(text, at);
      const auto value = text.substr(at + sign.size(), line.offset + line.length - at - sign.size());
      if (util::trim(text.substr(line.offset, at - line.offset)).empty() && !subject.is_in_text(at) &&
          value.find("PATH") == std::string_view::npos && value.find('`') == std::string_view::npos &&
          value.find("$(") == std::string_view::npos && !value.ends_with("\\") && is_literal(value))
        hits.add({{at, line.offset + line.length - at},
                  fmt::format("{} loses the directories of the modules loaded above", name),
                  fmt::format("add :${} to the value", name)});
    }
  }
  return hits;
}

} // namespace safety_library_path

Rule rule_safety_library_path() {
  using namespace safety_library_path;
  return {
      .id = "safety/library-path",
      .severity = diag::Severity::note,
      .title = "Library or program path replaced",
      .why =
          "module load and conda activate add their directories to LD_LIBRARY_PATH and PATH. An assignment "
          "without the old value drops them: the libraries of the loaded modules are no longer found.",
      .link = "https://man7.org/linux/man-pages/man8/ld.so.8.html",
      .bad = {R"(#!/bin/bash
module load cuda/12.1
export LD_LIBRARY_PATH=/opt/lib
python train.py
)"},
      .good = {R"(#!/bin/bash
module load cuda/12.1
export LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
