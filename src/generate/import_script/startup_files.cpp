// SPDX-License-Identifier: MIT
#include "generate/import_script/startup_files.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/text.hpp"
#include "generate/import_script/import_modules.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

using shell::SyntaxNode;

bool is_startup_file(std::string_view path) {
  static constexpr std::array<std::string_view, 3> k_files = {"/etc/profile", "/etc/bashrc",
                                                              "/etc/bash.bashrc"};
  static constexpr std::array<std::string_view, 4> k_names = {".bashrc", ".bash_profile", ".bash_login",
                                                              ".profile"};
  return util::contains(k_files, path) || path.starts_with("/etc/profile.d/") ||
         util::contains(k_names, std::string_view(util::base_name(std::string(path))));
}

bool sources(const std::string& program) { return program == "source" || program == "."; }

std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

/// `$(conda shell.bash hook)`: the text that defines the function conda.
bool prints_hook(const std::string& text) {
  return text.find("hook") != std::string::npos &&
         (text.find("conda") != std::string::npos || text.find("mamba") != std::string::npos);
}

/// Whether the statement, or one within it, sources a startup file. A function does so where it is called.
bool sources_startup_file(const SyntaxNode& node) {
  if (node.kind == SyntaxNode::Kind::function) return false;
  if (node.kind == SyntaxNode::Kind::simple && node.words.size() > 1) {
    if (sources(word_text(node.words[0])) && is_startup_file(without_quotes(word_text(node.words[1]))))
      return true;
  }
  return std::any_of(node.children.begin(), node.children.end(), sources_startup_file);
}

/// `export PATH=/usr/bin:/bin`, not `PATH=/x/bin:$PATH`.
bool resets_path(const SyntaxNode& node, std::string_view text) {
  if (node.kind != SyntaxNode::Kind::simple) return false;
  const auto sets = [&](const shell::Assignment& assignment) {
    const auto value = text.substr(assignment.place.offset, assignment.place.length);
    return assignment.name == "PATH" && !assignment.append && value.find("$PATH") == std::string_view::npos &&
           value.find("${PATH") == std::string_view::npos;
  };
  return (node.words.empty() && std::any_of(node.assignments.begin(), node.assignments.end(), sets)) ||
         std::any_of(node.declared.begin(), node.declared.end(), sets);
}

} // namespace

bool is_package_manager(const std::string& program) {
  static constexpr std::array<std::string_view, 3> k_managers = {"conda", "mamba", "micromamba"};
  return util::contains(k_managers, std::string_view(program));
}

bool is_activation(const SyntaxNode& node) {
  if (node.kind != SyntaxNode::Kind::simple || node.words.size() < 2) return false;
  const auto program = word_text(node.words[0]), first = word_text(node.words[1]);
  if (is_package_manager(program)) return first == "activate";
  return sources(program) && (first.ends_with("/activate") || first == "activate");
}

bool sets_up_package_manager(const SyntaxNode& node) {
  static constexpr std::array<std::string_view, 3> k_files = {"/conda.sh", "/mamba.sh", "/micromamba.sh"};
  if (node.kind != SyntaxNode::Kind::simple || node.words.size() < 2) return false;
  const auto program = word_text(node.words[0]), first = word_text(node.words[1]);
  if (is_package_manager(program)) return first == "deactivate";
  if (program == "eval") return prints_hook(first);
  return sources(program) && std::any_of(k_files.begin(), k_files.end(), [&](std::string_view file) {
           return without_quotes(first).ends_with(file);
         });
}

bool sets_nounset(const SyntaxNode& node) {
  if (node.kind != SyntaxNode::Kind::simple || node.words.empty() || word_text(node.words[0]) != "set")
    return false;
  return std::any_of(node.words.begin() + 1, node.words.end(), [](const shell::Word& word) {
    const auto text = word_text(word);
    return text == "nounset" || (text.starts_with("-") && text.find('u') != std::string::npos);
  });
}

bool uses_package_manager(const SyntaxNode& node) {
  if (node.kind == SyntaxNode::Kind::simple)
    return !node.words.empty() && is_package_manager(util::base_name(word_text(node.words.front())));
  return std::any_of(node.children.begin(), node.children.end(), uses_package_manager);
}

void keep_environment_path(const ImportState& porting, TextCuts& cuts, const SyntaxNode& program) {
  if (porting.chosen.environment.empty() || porting.chosen.container) return;
  const auto& statements = program.children;
  const auto last = std::find_if(statements.rbegin(), statements.rend(), is_activation);
  const bool activates = last != statements.rend();
  std::vector<ByteRange> lines;
  for (const auto& node : statements) {
    if (activates && node.place.offset > last->place.offset) break;
    const bool resets = activates && resets_path(node, porting.text);
    const ByteRange line = {cuts.line_begin(node.place.offset),
                            cuts.line_end(std::size_t{node.place.offset} + node.place.length)};
    if ((!resets && !sources_startup_file(node)) || continues_line(porting.text, line.begin)) continue;
    if (!lines.empty() && line.begin <= lines.back().end)
      lines.back().end = std::max(lines.back().end, line.end);
    else
      lines.push_back(line);
  }
  for (const auto& [begin, end] : lines) {
    cuts.insert(begin, "environment_path=$PATH\n");
    cuts.insert(porting.text[end - 1] == '\n' ? end - 1 : end,
                "\nPATH=$environment_path:$PATH # the environment's programs stay first");
  }
}

} // namespace hpcml::import_script
