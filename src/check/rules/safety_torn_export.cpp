// SPDX-License-Identifier: MIT
// An export whose assignment is on the next line.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_torn_export {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.view.commands) {
    const auto& context = command.context;
    if (command.words.size() != 1 || command.name() != "export" || !command.redirects.empty() ||
        command.parent || context.pipeline || context.substitution)
      continue;
    const auto line = line_at(subject.text, command.place.offset);
    const auto end = line.offset + line.length;
    if (util::trim(subject.text.substr(line.offset, line.length)) != "export" ||
        end + 1 >= subject.text.size())
      continue;
    const auto next = line_at(subject.text, subject.text.find('\n', end) + 1);
    const auto text = util::trim(subject.text.substr(next.offset, next.length));
    const auto name = text.substr(0, text.find('='));
    if (name.size() == text.size() || !util::is_variable_name(name)) continue;
    hits.add({command.place,
              fmt::format("export without a name only prints variables: {} on the next line is not exported",
                          name),
              fmt::format("use export {} on one line", text)});
  }
  return hits;
}

} // namespace safety_torn_export

Rule rule_safety_torn_export() {
  using namespace safety_torn_export;
  return {
      .id = "safety/torn-export",
      .severity = diag::Severity::warning,
      .title = "Export separated from its assignment",
      .why = "A line break after export, as editors and web pages add it, makes two commands: the first "
             "prints all variables, the second sets one that no program gets.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Bourne-Shell-Builtins.html",
      .bad = {R"(#!/bin/bash
export
NCCL_DEBUG=INFO
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export NCCL_DEBUG=INFO
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
