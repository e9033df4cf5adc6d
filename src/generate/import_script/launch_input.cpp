// SPDX-License-Identifier: MIT
#include "generate/import_script/launch_input.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hpcml::import_script {
namespace {

using shell::SyntaxNode;

/// Whether the commands read lines from their input: `while read -r NAME`.
bool reads_lines(const SyntaxNode& node) {
  if (node.kind != SyntaxNode::Kind::simple)
    return std::any_of(node.children.begin(), node.children.end(), reads_lines);
  if (node.words.empty()) return false;
  const auto& parts = node.words.front().parts;
  return parts.size() == 1 && parts.front().text == "read";
}

class RedirectKeeper {
public:
  RedirectKeeper(ImportState& porting, TextCuts& cuts, const std::vector<FoundLaunch>& launches)
      : x_porting(porting), x_cuts(cuts), x_launches(launches) {}

  /// `has_lines`: the input is that of a loop that reads its lines.
  void visit(const SyntaxNode& node, bool has_lines) {
    using Kind = SyntaxNode::Kind;
    if (node.kind == Kind::simple) return visit_command(node, has_lines);
    if (node.kind == Kind::function) x_functions[node.text] = &node.children.front();
    const bool loops = node.kind == Kind::loop && node.children.size() == 2 && reads_lines(node.children[0]);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool piped = node.kind == Kind::pipeline && i > 0;
      visit(node.children[i], !piped && (has_lines || loops));
    }
  }

private:
  void visit_command(const SyntaxNode& node, bool has_lines) {
    const auto function = has_lines && !node.words.empty() && node.words.front().parts.size() == 1
                              ? x_functions.find(node.words.front().parts.front().text)
                              : x_functions.end();
    if (function != x_functions.end()) {
      const auto* body = function->second;
      x_functions.erase(function); // once
      visit(*body, true);
    }
    const auto end = std::size_t{node.place.offset} + node.place.length;
    for (const auto& launch : x_launches)
      if (!launch.in_batch && launch.begin >= node.place.offset && launch.begin < end)
        look_at(node, launch, has_lines);
  }

  void look_at(const SyntaxNode& node, const FoundLaunch& launch, bool has_lines) {
    bool has_input = false;
    for (const auto& redirect : node.redirects) {
      has_input = has_input || redirect.op.starts_with("<");
      if (redirect.place.offset > launch.begin && redirect.place.offset < launch.end)
        x_porting.error(redirect.place, "port/launch",
                        fmt::format("'{}' has a redirect among its arguments, which cannot be imported",
                                    shown_command(launch)),
                        "use the redirect at the end of the line in the script");
    }
    if (!has_lines || has_input || launch.launch->step() || !x_closed.insert(launch.begin).second) return;
    x_cuts.insert(launch.end, " < /dev/null");
    x_porting.note(
        {launch.begin, launch.end - launch.begin}, "port/input",
        fmt::format("'{}' gets no input: its launch on {} would read the lines of the loop around it",
                    shown_command(launch), x_porting.to.id),
        "remove '< /dev/null' from the new script if the program reads these lines itself");
  }

  ImportState& x_porting;
  TextCuts& x_cuts;
  const std::vector<FoundLaunch>& x_launches;
  std::map<std::string, const SyntaxNode*> x_functions; ///< that no loop with lines has called so far
  std::set<std::size_t> x_closed;                       ///< launches without input
};

} // namespace

void keep_redirects(ImportState& porting, TextCuts& cuts, const std::vector<FoundLaunch>& launches,
                    const SyntaxNode& program) {
  RedirectKeeper(porting, cuts, launches).visit(program, false);
}

} // namespace hpcml::import_script
