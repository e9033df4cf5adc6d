// SPDX-License-Identifier: MIT
// What no script can say: found before anything is written.
#include <fmt/format.h>

#include "core/util/shell_quote.hpp"
#include "generate/render/directive.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/word.hpp"

namespace hpcml::render {

namespace {

class Finder {
public:
  void add(const std::string& code, const std::string& message, const std::string& hint) {
    x_found.push_back({diag::Severity::error, code, message, {}, hint});
  }
  void directive(const model::PlannedDirective& directive) {
    const auto bare =
        directive.name.substr(std::min(directive.name.find_first_not_of('-'), directive.name.size()));
    if (const auto good = check_directive_name(directive.name); !good)
      add("usage/sbatch", comment_text(good.error().what), good.error().hint);
    if (!directive.value) return;
    const auto good = escape_directive_value(*directive.value, comment_text(directive.name));
    if (!good) add("usage/" + bare, good.error().what, good.error().hint);
  }
  void word(const std::string& what, const std::string& text) {
    if (text.find('\0') != std::string::npos)
      add("usage/command", what + " contains a NUL byte, which no program can receive", "remove it");
  }
  void variable_name(const std::string& name) {
    if (!util::is_variable_name(name))
      add("usage/env", "'" + comment_text(name) + "' is not a valid variable name",
          "use letters, digits and _, not starting with a digit");
  }
  diag::Diagnostics x_found;
};

void check_shebang(Finder& finder, const std::string& shebang) {
  const bool good =
      shebang.starts_with("#!/") && shebang.find_first_of(std::string("\n\r\0", 3)) == std::string::npos;
  if (!good)
    finder.add("usage/shebang", "the first line of a script cannot be '" + comment_text(shebang) + "'",
               "use #!/bin/bash");
}

} // namespace

diag::Diagnostics find_unwritable(const model::Plan& plan) {
  Finder finder;
  check_shebang(finder, plan.shebang);
  for (const auto& directive : plan.directives) finder.directive(directive);
  for (const auto& word : plan.command) finder.word("the command", word);
  for (const auto& step : plan.steps)
    for (const auto& word : step.command) finder.word("a step's command", word);
  for (const auto& word : plan.launcher.step_args) finder.word("--srun", word);
  for (const auto& variable : plan.env) {
    finder.variable_name(variable.name);
    finder.word("variable " + comment_text(variable.name), variable.value);
  }
  for (const auto& cache : plan.caches)
    for (const auto& [name, below] : cache.variables) finder.variable_name(name);
  for (const auto& module : plan.modules) finder.word("--module", module.name);
  finder.word("the Python environment", plan.python.where);
  for (const auto& package : plan.python.packages) finder.word("a package", package);
  if (plan.container) {
    finder.word("the container", plan.container->image);
    for (const auto& word : plan.container->step_options) finder.word("the container", word);
    for (const auto& bind : plan.container->binds) finder.word("a bind", bind.source + bind.target);
  }
  if (plan.requeue) finder.word("--checkpoint-dir", plan.requeue->checkpoint_dir);
  finder.word("the path of hpcml", plan.hpcml_path.value);
  return finder.x_found;
}

} // namespace hpcml::render
