// SPDX-License-Identifier: MIT
#include "generate/import_script/request_variables.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

using shell::SyntaxNode;

std::string literal_of(const shell::Word& word) {
  return word.parts.size() == 1 && word.parts.front().kind == shell::WordPart::Kind::literal
             ? word.parts.front().text
             : std::string();
}

/// The place of the name in the first expansion of the variable; npos if there is none.
std::size_t find_expansion(std::string_view text, const std::string& name) {
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1))
    if (at > 0 && (text[at - 1] == '$' || text[at - 1] == '{')) return at;
  return std::string_view::npos;
}
bool expands(std::string_view text, const std::string& name) {
  return find_expansion(text, name) != std::string_view::npos;
}

/// Whether shell text assigns the variable: "export A=1; python x.py".
bool assigns(std::string_view text, const std::string& name) {
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1))
    if (text.substr(at + name.size()).starts_with('=') &&
        (at == 0 || std::string_view(" \t\n;&|('\"").find(text[at - 1]) != std::string_view::npos))
      return true;
  return false;
}

class RequestedVariables {
public:
  RequestedVariables(ImportState& porting, TextCuts& cuts) : x_porting(porting), x_cuts(cuts) {}

  void visit(const SyntaxNode& node, bool outermost, bool in_loop) {
    if (node.kind == SyntaxNode::Kind::simple) return visit_command(node, outermost, in_loop);
    if (node.kind == SyntaxNode::Kind::for_each && is_requested(node.text))
      warn(node.place.offset, node.text, "is the variable of a loop");
    using Kind = SyntaxNode::Kind;
    const bool loops =
        in_loop || node.kind == Kind::for_each || node.kind == Kind::for_count || node.kind == Kind::loop;
    for (const auto& child : node.children) visit(child, false, loops);
  }

private:
  bool is_requested(const std::string& name) const { return x_porting.chosen.variables.count(name) > 0; }

  std::string_view text_of(diag::TextRange place) const {
    return x_porting.text.substr(place.offset, place.length);
  }

  void warn(std::size_t at, const std::string& name, const std::string& how) {
    x_porting.warn({at, 1}, "port/variable",
                   fmt::format("{} {} in line {} of {}, which overrides --env {} there", name, how,
                               x_porting.script.number_at(at), x_porting.file, name),
                   fmt::format("remove this line from the script to use --env {}", name));
  }

  void report(diag::TextRange place, const std::vector<std::string>& names) {
    std::vector<std::string> fresh; // `A=1` and `export A` are one change
    const bool has_value = text_of(place).find('=') != std::string_view::npos;
    for (const auto& name : names)
      if (x_reported.insert(name).second || has_value) fresh.push_back(name);
    if (fresh.empty()) return;
    std::vector<std::string> options;
    for (const auto& name : fresh) options.push_back("--env " + name);
    x_porting.note(place, "port/variable",
                   fmt::format("{} is removed: {} of the request replaces the script's value",
                               util::join(fresh, ", "), util::join(options, ", ")),
                   fmt::format("remove {} from hpcml gen to keep the script's value", options.front()));
  }

  /// `PATH=$PATH:/x` extends the request's value, and `A=${A:-1}` keeps it.
  bool keeps_value(const shell::Assignment& assignment) const {
    return assignment.append || expands(text_of(assignment.place), assignment.name);
  }

  /// The command's assignments that replace a value of the request.
  std::vector<const shell::Assignment*> find_lost(const SyntaxNode& node) const {
    std::vector<const shell::Assignment*> lost;
    for (const auto* list : {&node.assignments, &node.declared})
      for (const auto& assignment : *list)
        if (is_requested(assignment.name) && !keeps_value(assignment)) lost.push_back(&assignment);
    return lost;
  }

  void visit_command(const SyntaxNode& node, bool outermost, bool in_loop) {
    visit_setters(node);
    const auto statement = as_assignment(node);
    const auto bare = [&](const std::string& name) { // `export A` without a value
      const auto has_name = [&](const auto& assignment) { return assignment.name == name; };
      return std::none_of(node.declared.begin(), node.declared.end(), has_name) &&
             std::none_of(node.assignments.begin(), node.assignments.end(), has_name);
    };
    const auto lost = find_lost(node);
    const bool is_local = !node.words.empty() && literal_of(node.words.front()) == "local";
    if ((in_loop && statement) || is_local) {
      for (const auto* assignment : lost)
        warn(assignment->place.offset, assignment->name, is_local ? "is set by local" : "is set in a loop");
      return;
    }
    const auto is_lost = [&](const std::string& name) {
      return std::any_of(lost.begin(), lost.end(),
                         [&](const auto* assignment) { return assignment->name == name; }) ||
             (bare(name) && is_requested(name) && x_reported.count(name) > 0);
    };
    if (statement && std::all_of(statement->names.begin(), statement->names.end(), is_lost))
      return cut_statement(node, *statement, outermost);
    for (const auto* assignment : lost) {
      report(assignment->place, {assignment->name});
      const auto end = assignment->place.offset + assignment->place.length;
      const auto next = x_porting.text.find_first_not_of(" \t", end);
      x_cuts.cut({assignment->place.offset, std::min(next, x_porting.text.size())});
    }
  }

  void cut_statement(const SyntaxNode& node, const AssignmentStatement& statement, bool outermost) {
    report(node.place, statement.names);
    if (outermost)
      x_cuts.cut_lines(statement.range);
    else
      x_cuts.replace(statement.range, "true"); // it may be the only statement of a branch
  }

  /// Commands that set variables named by their words: read A, printf -v A.
  void visit_setters(const SyntaxNode& node) {
    static constexpr std::array<std::string_view, 6> k_setters = {"read",   "readarray", "mapfile",
                                                                  "printf", "unset",     "local"};
    if (node.words.empty() || !util::contains(k_setters, std::string_view(literal_of(node.words.front()))))
      return;
    const bool prints = literal_of(node.words.front()) == "printf";
    for (std::size_t i = 1; i < node.words.size(); ++i)
      if (const auto name = literal_of(node.words[i]);
          is_requested(name) && (!prints || literal_of(node.words[i - 1]) == "-v"))
        warn(node.place.offset, name, fmt::format("is set by {}", literal_of(node.words.front())));
  }

  ImportState& x_porting;
  TextCuts& x_cuts;
  std::set<std::string> x_reported;
};

/// The words of the command that the script's value was put into get the request's.
void use_value(FoundLaunch& found, const std::string& name, const std::string& value) {
  auto& program = found.program;
  if (program.source.size() != program.command.size()) return;
  const bool is_main = found.command == program.command;
  for (std::size_t i = 0; i < program.source.size(); ++i) {
    const auto& source = program.source[i];
    if (!expands(source, name) || source.front() == '\'') continue;
    auto word = util::replace_all(util::replace_all(source, "\"", ""), "${" + name + "}", value);
    if (const auto at = find_expansion(word, name); at != std::string::npos && word[at - 1] == '$')
      word.replace(at - 1, name.size() + 1, value);
    program.command[i] = word.find('$') == std::string::npos ? word : source;
  }
  if (is_main) found.command = program.command;
}

/// Removes `env`'s settings of the variable; true if there was one.
bool drop_after_env(std::vector<std::string>& words, const std::string& name) {
  if (words.empty() || words.front() != "env") return false;
  const auto is_setting = [&](const std::string& word) { return word.starts_with(name + "="); };
  const auto end = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return word.find('=') == std::string::npos && !word.starts_with("-");
  });
  const auto kept = std::remove_if(words.begin(), end, is_setting);
  const bool dropped = kept != end;
  words.erase(kept, end);
  return dropped;
}

} // namespace

void cut_requested_variables(ImportState& porting, TextCuts& cuts, const shell::SyntaxNode& program) {
  if (porting.chosen.variables.empty()) return;
  RequestedVariables variables(porting, cuts);
  for (const auto& node : program.children) variables.visit(node, true, false);
}

std::vector<std::string> without_requested(const ImportState& porting, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) { return porting.chosen.variables.count(name) > 0; });
  return names;
}

void drop_requested_settings(ImportState& porting, FoundLaunch& found) {
  auto& program = found.program;
  const diag::TextRange place{found.begin, found.end - found.begin};
  for (const auto& [name, value] : porting.chosen.variables) {
    use_value(found, name, value);
    bool dropped = drop_after_env(program.source, name);
    dropped = drop_after_env(program.command, name) || dropped;
    dropped = std::erase_if(program.image_options,
                            [&](const std::string& option) {
                              const auto end = option.find_first_of(" =");
                              return option.starts_with("--env") && end != std::string::npos &&
                                     option.find(',') == std::string::npos &&
                                     assigns(option.substr(end + 1), name);
                            }) > 0 ||
              dropped;
    if (dropped)
      porting.note(place, "port/variable",
                   fmt::format("{} is removed from the launch: --env {} of the request replaces its value",
                               name, name),
                   fmt::format("remove --env {} from hpcml gen to keep the script's value", name));
    const auto sets = [&](const std::vector<std::string>& words) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word.find_first_of(" \n,") != std::string::npos && assigns(word, name);
      });
    };
    if (sets(program.source) || sets(program.image_options))
      porting.warn(place, "port/variable",
                   fmt::format("{} is set again by the command in line {} of {}, which overrides --env {}",
                               name, porting.script.number_at(found.begin), porting.file, name),
                   fmt::format("remove {} from this command in the script to use --env", name));
  }
}

} // namespace hpcml::import_script
