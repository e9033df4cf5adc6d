// SPDX-License-Identifier: MIT
#include "generate/import_script/python_setup.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/util/text.hpp"
#include "generate/import_script/import_modules.hpp"

namespace hpcml::import_script {
namespace {

/// A command that may change the shell's environment, or one that builds a Python environment.
bool is_setup(const shell::SyntaxNode& command) {
  static constexpr std::array<std::string_view, 13> k_programs = {
      "source", ".",     "conda",  "mamba", "micromamba", "module", "ml",
      "eval",   "spack", "poetry", "pyenv", "uv",         "workon"};
  static constexpr std::array<std::string_view, 3> k_builders = {"pip", "pip3", "virtualenv"};
  if (command.words.empty()) return false;
  const auto program = util::base_name(word_text(command.words.front()));
  return util::contains(k_programs, std::string_view(program)) ||
         util::contains(k_builders, std::string_view(program)) ||
         std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
           const auto text = word_text(word);
           return text == "venv" || text == "pip"; // python -m venv
         });
}

bool sets_search_path(const std::vector<shell::Assignment>& assignments) {
  static constexpr std::array<std::string_view, 4> k_names = {"PATH", "PYTHONPATH", "PYTHONHOME",
                                                              "PYTHONUSERBASE"};
  return std::any_of(assignments.begin(), assignments.end(), [](const shell::Assignment& assignment) {
    return util::contains(k_names, std::string_view(assignment.name));
  });
}

} // namespace

bool may_set_up_python(const shell::SyntaxNode& node, const TextCuts& cuts) {
  if (node.kind == shell::SyntaxNode::Kind::simple)
    return !cuts.holds(node.place.offset) &&
           (is_setup(node) || sets_search_path(node.assignments) || sets_search_path(node.declared));
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const shell::SyntaxNode& child) { return may_set_up_python(child, cuts); });
}

} // namespace hpcml::import_script
