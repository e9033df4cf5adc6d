// SPDX-License-Identifier: MIT
#include "core/shell/symbolic_interpreter.hpp"

#include <algorithm>

#include "core/shell/shell_names.hpp"

namespace hpcml::shell {

namespace {

constexpr int k_deepest_body = 150;

/// Assignments of plain text and `true` do not fail.
bool always_succeeds(const SyntaxNode& node) {
  if (node.kind != SyntaxNode::Kind::simple || !node.redirects.empty()) return false;
  if (node.words.size() == 1 && node.words[0].parts.size() == 1 && node.assignments.empty())
    return node.words[0].parts[0].text == "true" || node.words[0].parts[0].text == ":";
  if (!node.words.empty()) return false;
  for (const auto& assignment : node.assignments)
    for (const auto& part : assignment.value.parts)
      if (part.kind != WordPart::Kind::literal || assignment.array) return false;
  return !node.assignments.empty();
}

/// True if the first line runs the shell with -e: "#!/bin/bash -e".
bool is_run_with_errexit(std::string_view text) {
  if (!text.starts_with("#!")) return false;
  const auto line = text.substr(0, text.find('\n'));
  for (auto at = line.find(" -"); at != std::string_view::npos; at = line.find(" -", at + 1)) {
    const auto option = line.substr(at + 2, line.find(' ', at + 2) - (at + 2));
    if (!option.starts_with('-') && option.find('e') != std::string_view::npos) return true;
  }
  return false;
}

/// `*)` in a case.
bool takes_anything(const SyntaxNode& arm) {
  return std::any_of(arm.words.begin(), arm.words.end(), [](const Word& word) {
    return word.parts.size() == 1 && word.parts[0].text == "*" && !word.parts[0].quoted;
  });
}

} // namespace

ScriptCommands list_commands(const Script& script, bool keeps_beginnings) {
  ScriptCommands listing;
  listing.commands.reserve(script.program.children.size());
  SymbolicInterpreter(listing, keeps_beginnings).walk_script(script);
  return listing;
}

void SymbolicInterpreter::walk_script(const Script& script) {
  x_state.errexit = is_run_with_errexit(script.source.text);
  walk(script.program);
  ShellState fresh;
  fresh.errexit = x_state.errexit;
  fresh.keeps_beginnings = x_state.keeps_beginnings;
  // Functions that nothing visible calls: a trap, a sourced file or another script may.
  for (std::size_t i = 0; i < x_functions.size(); ++i) {
    const auto* body = x_functions[i];
    if (!x_called.insert(body).second) continue;
    x_state = fresh;
    x_context = CommandContext();
    x_context.uncalled = true;
    x_context.function = body->text;
    std::vector<ShellState> returns;
    x_returns.push_back(&returns);
    walk(body->children[0]);
    x_returns.pop_back();
  }
}

void SymbolicInterpreter::walk(const SyntaxNode& node) {
  // What a script costs to copy is what the paths of its conditions cost.
  if (!use_budget(64 + 8 * x_state.variables->size()) || x_depth >= k_deepest_body) {
    x_listing.complete = false;
    return;
  }
  ++x_depth;
  if (node.kind != SyntaxNode::Kind::simple) expand_redirects(node);
  switch (node.kind) {
  case SyntaxNode::Kind::simple: walk_simple(node); break;
  case SyntaxNode::Kind::list: walk_list(node); break;
  case SyntaxNode::Kind::pipeline: walk_pipeline(node); break;
  case SyntaxNode::Kind::group: walk(node.children[0]); break;
  case SyntaxNode::Kind::subshell: in_subshell([&] { walk(node.children[0]); }); break;
  case SyntaxNode::Kind::branch: walk_branch(node); break;
  case SyntaxNode::Kind::loop:
    repeat(node.place, [&] {
      for (const auto& child : node.children) walk(child);
    });
    break;
  case SyntaxNode::Kind::for_each: walk_for(node); break;
  case SyntaxNode::Kind::for_count:
    walk_arithmetic(node.text, node.place);
    repeat(node.place, [&] {
      walk_arithmetic(node.text, node.place);
      walk(node.children[0]);
    });
    break;
  case SyntaxNode::Kind::choice: walk_choice(node); break;
  case SyntaxNode::Kind::arm: break;
  case SyntaxNode::Kind::function: define_function(node); break;
  case SyntaxNode::Kind::arithmetic: walk_arithmetic(node.text, node.place); break;
  case SyntaxNode::Kind::condition:
    for (const auto& word : node.words) expand_single(word);
    break;
  case SyntaxNode::Kind::unread:
    if (x_quiet == 0) x_listing.unread.push_back({node.place, node.text, node.failed_at});
    invalidate_state();
    x_state.guarded = ExitScope::script; // bash gives up here
    break;
  }
  --x_depth;
}

void SymbolicInterpreter::walk_list(const SyntaxNode& node) {
  const auto& nodes = node.children;
  for (std::size_t first = 0; first < nodes.size();) {
    auto last = first;
    while (last + 1 < nodes.size() &&
           (nodes[last].link == ListOperator::and_then || nodes[last].link == ListOperator::or_else))
      ++last;
    if (nodes[last].link != ListOperator::background)
      walk_chain(nodes, first, last);
    else {
      const auto outer = x_context;
      x_context.background = true;
      in_subshell([&] { walk_chain(nodes, first, last); });
      x_context = outer;
    }
    first = last + 1;
  }
}

/// Commands with && and || between them.
void SymbolicInterpreter::walk_chain(const std::vector<SyntaxNode>& nodes, std::size_t first,
                                     std::size_t last) {
  bool sure = true;
  walk(nodes[first]);
  for (auto i = first + 1; i <= last; ++i) {
    sure = sure && nodes[i - 1].link == ListOperator::and_then && always_succeeds(nodes[i - 1]);
    if (sure)
      walk(nodes[i]);
    else
      on_both_paths([&] { walk(nodes[i]); });
  }
}

void SymbolicInterpreter::walk_pipeline(const SyntaxNode& node) {
  if (node.children.empty()) return;
  if (node.children.size() == 1) return walk(node.children[0]);
  const auto outer = x_context;
  x_context.pipeline = true;
  for (const auto& child : node.children) in_subshell([&] { walk(child); });
  x_context = outer;
}

void SymbolicInterpreter::walk_branch(const SyntaxNode& node) {
  const auto outer = x_context;
  std::vector<ShellState> ends;
  const auto count = node.children.size();
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    walk(node.children[i]);
    x_context.condition = true;
    const auto otherwise = x_state;
    walk(node.children[i + 1]);
    ends.push_back(std::move(x_state));
    x_state = otherwise;
  }
  x_context.condition = true;
  if (count % 2 == 1) walk(node.children[count - 1]);
  x_context = outer;
  for (const auto& end : ends) join(x_state, end);
}

void SymbolicInterpreter::walk_choice(const SyntaxNode& node) {
  expand_single(node.words[0]);
  const auto outer = x_context;
  x_context.condition = true;
  const auto before = x_state;
  const bool complete = std::any_of(node.children.begin(), node.children.end(),
                                    [](const SyntaxNode& arm) { return takes_anything(arm); });
  std::optional<ShellState> result;
  if (!complete) result = before;
  std::optional<ShellState> falls; // ;& continues in the next arm
  for (const auto& arm : node.children) {
    x_state = before;
    for (const auto& pattern : arm.words) expand_single(pattern);
    if (falls) join(x_state, *falls);
    falls.reset();
    walk(arm.children[0]);
    if (arm.text == ";&" || arm.text == ";;&") falls = x_state;
    if (result)
      join(*result, x_state);
    else
      result = x_state;
  }
  x_state = std::move(*result);
  x_context = outer;
}

void SymbolicInterpreter::walk_for(const SyntaxNode& node) {
  std::vector<Argument> items; // their values are not followed
  for (const auto& word : node.words) expand(word, items);
  repeat(node.place, [&] {
    set_value(node.text, {}, false, node.place);
    walk(node.children[0]);
  });
}

/// A body that may run any number of times: followed in silence until it changes nothing more, then recorded.
void SymbolicInterpreter::repeat(TextRange place, const std::function<void()>& body) {
  const auto outer = x_context;
  const auto was_ended = x_state.ended, guarded = x_state.guarded;
  x_context.loop = x_context.condition = true;
  const auto once = [&] {
    const auto start = x_state;
    std::vector<ShellState> exits;
    x_loops.push_back(&exits);
    body();
    x_loops.pop_back();
    for (const auto& state : exits) join(x_state, state);
    join(x_state, start);
    return same(x_state, start);
  };
  ++x_quiet;
  bool stable = false;
  for (int i = 0; i < 4 && !stable; ++i) stable = once();
  --x_quiet;
  if (!stable) x_state.forget_all(place);
  once();
  if (!stable) x_state.forget_all(place);
  x_state.ended = was_ended;
  if (x_state.guarded <= ExitScope::loop) x_state.guarded = guarded;
  x_context = outer;
}

void SymbolicInterpreter::define_function(const SyntaxNode& node) {
  x_state.functions.edit()[node.text] = {&node, false, true};
  if (x_quiet == 0) x_functions.push_back(&node);
}

/// Forgets what an arithmetic text may set.
void SymbolicInterpreter::walk_arithmetic(const std::string& text, TextRange place) {
  bool sets = text.find("++") != std::string::npos || text.find("--") != std::string::npos;
  for (std::size_t i = 0; i < text.size() && !sets; ++i)
    sets = text[i] == '=' &&
           (i == 0 || std::string_view("=!<>").find(text[i - 1]) == std::string_view::npos ||
            (i > 1 && text[i - 1] == text[i - 2] && text[i - 1] != '=')) &&
           (i + 1 >= text.size() || text[i + 1] != '=');
  if (!sets) return;
  for (std::size_t i = 0; i < text.size();) {
    const auto from = i;
    while (i < text.size() && is_name_char(text[i])) ++i;
    if (i > from && !is_digit(text[from]))
      x_state.forget(text.substr(from, i - from), place);
    else if (i == from)
      ++i;
    if (!use_budget(8)) return;
  }
}

} // namespace hpcml::shell
