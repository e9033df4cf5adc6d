// SPDX-License-Identifier: MIT
#include "generate/import_script/variable_uses.hpp"

#include <algorithm>
#include <array>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/edited_text.hpp"

namespace hpcml::import_script {
namespace {

using shell::Assignment;
using shell::ListOperator;
using shell::SyntaxNode;
using shell::Word;
using shell::WordPart;

/// The text of a word that is one plain literal; empty for others.
std::string literal_of(const Word& word) {
  return word.parts.size() == 1 && word.parts[0].kind == WordPart::Kind::literal ? word.parts[0].text
                                                                                 : std::string();
}

/// Whether the part is the variable itself: $V, ${V}, "${V[@]}".
bool is_plain_read(const WordPart& part) {
  const auto& parameter = *part.parameter;
  return parameter.op.empty() && parameter.prefix == 0 &&
         (parameter.subscript.empty() || parameter.subscript == "@" || parameter.subscript == "*");
}

/// The part with which the value begins, if it is the variable itself: V="$V …", V=("${V[@]}" …).
const WordPart* own_beginning(const Assignment& assignment) {
  const auto* word = !assignment.array              ? &assignment.value
                     : !assignment.elements.empty() ? &assignment.elements.front()
                                                    : nullptr;
  if (!word || word->parts.empty()) return nullptr;
  const auto& part = word->parts.front();
  const bool own = part.kind == WordPart::Kind::parameter && part.parameter->name == assignment.name &&
                   is_plain_read(part);
  return own ? &part : nullptr;
}

/// Collects the uses of all variables.
class UseFinder {
public:
  std::map<std::string, VariableUses> find(const SyntaxNode& program) {
    visit(program);
    for (auto& [name, uses] : x_uses) {
      auto& values = uses.values;
      for (std::size_t i = 0; i + 1 < values.size(); ++i)
        if (values[i].list == values[i + 1].list) values[i].end = values[i + 1].begin;
    }
    return std::move(x_uses);
  }

private:
  /// How a command comes after those before it.
  struct Position {
    const SyntaxNode* list = nullptr;
    bool always = false; ///< it runs whenever the list does
  };

  void visit(const SyntaxNode& node) {
    using Kind = SyntaxNode::Kind;
    const auto outer = x_position;
    for (const auto& redirect : node.redirects) {
      visit_word(redirect.target, {.is_whole = true});
      if (redirect.here_document) visit_word(redirect.here_document->body, {});
    }
    if (node.kind == Kind::simple) return visit_command(node);
    if (node.kind == Kind::for_each) note_set(node.text, node.place).is_unclear = true;
    for (const auto& word : node.words) visit_word(word, {.is_whole = node.kind != Kind::for_each});
    const unsigned functions = node.kind == Kind::function ? 1 : 0;
    const unsigned pipelines = node.kind == Kind::pipeline && node.children.size() > 1 ? 1 : 0;
    x_functions += functions;
    x_pipelines += pipelines;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      x_position = position_of(node, i);
      visit(node.children[i]);
    }
    x_pipelines -= pipelines;
    x_functions -= functions;
    x_position = outer;
  }

  /// The position of a child; in a subshell, a pipeline or a branch that of the node, but it may not run.
  Position position_of(const SyntaxNode& node, std::size_t child) const {
    if (node.kind != SyntaxNode::Kind::list) return {x_position.list, false};
    const auto before = child == 0 ? ListOperator::next : node.children[child - 1].link;
    const bool is_tied = before == ListOperator::and_then || before == ListOperator::or_else;
    return {&node, !is_tied && node.children[child].link != ListOperator::background};
  }

  VariableUses& note_set(const std::string& name, diag::TextRange place) {
    auto& uses = x_uses[name];
    uses.last_set = place.offset;
    uses.is_set_in_function = uses.is_set_in_function || x_functions > 0;
    return uses;
  }

  void visit_command(const SyntaxNode& node) {
    static constexpr std::array<std::string_view, 10> k_setters = {
        "declare", "export", "getopts",   "local",    "mapfile",
        "printf",  "read",   "readarray", "readonly", "unset"};
    const auto name = node.words.empty() ? std::string() : literal_of(node.words.front());
    const bool sets = shell::is_one_of(name, k_setters);
    for (const auto& word : node.words)
      if (sets) note_set(literal_of(word), node.place).is_unclear = true;
    if (name == "cd" || name == "pushd" || name == "popd") note_set("PWD", node.place);
    const bool shows = (name == "echo" || name == "printf") && node.redirects.empty() && x_pipelines == 0 &&
                       x_substitutions == 0;
    for (const auto& word : node.words)
      visit_word(word, {.is_printed = shows, .is_evaluated = name == "eval"});
    for (const auto& assignment : node.assignments) visit_assignment(assignment, node.words.empty());
    for (const auto& assignment : node.declared) visit_assignment(assignment, name == "local");
  }

  void visit_assignment(const Assignment& assignment, bool is_statement) {
    auto& uses = note_set(assignment.name, assignment.place);
    const auto* own = own_beginning(assignment);
    const auto first_read = uses.reads.size();
    visit_value(assignment, own);
    const bool adds = own || assignment.append;
    if (!is_statement || !assignment.subscript.empty() || uses.reads.size() > first_read ||
        (!uses.values.empty() && assignment.array != uses.is_array))
      uses.is_unclear = true;
    else if (adds)
      add_words(uses, assignment, own != nullptr);
    else
      add_value(uses, assignment);
  }

  void add_words(VariableUses& uses, const Assignment& assignment, bool reads_itself) const {
    if (uses.values.empty() || !is_within(uses.values.back(), assignment.place)) {
      uses.is_unclear = true;
      return;
    }
    uses.additions.push_back(assignment.place);
    uses.own_reads += reads_itself ? 1 : 0;
    uses.is_extended = uses.is_extended || !x_position.always || x_position.list != uses.values.back().list;
  }

  void add_value(VariableUses& uses, const Assignment& assignment) const {
    if (!x_position.always || (x_functions > 0 && !uses.values.empty())) uses.is_unclear = true;
    uses.is_array = assignment.array;
    const auto end = x_position.list ? end_of(x_position.list->place) : 0;
    uses.values.push_back({&assignment, x_position.list, assignment.place.offset, end, x_functions > 0});
  }

  static bool is_within(const FirstValue& value, diag::TextRange place) {
    return place.offset >= value.begin && place.offset < value.end;
  }

  /// Visits the words of a value without the one that is the variable itself.
  void visit_value(const Assignment& assignment, const WordPart* own) {
    const auto visit_one = [&](const Word& word) {
      for (const auto& part : word.parts)
        if (&part != own) visit_part(part, word, {.is_whole = !assignment.array});
    };
    visit_one(assignment.value);
    for (const auto& element : assignment.elements) visit_one(element);
  }

  void visit_word(const Word& word, VariableRead read) {
    for (const auto& part : word.parts) visit_part(part, word, read);
  }

  void visit_part(const WordPart& part, const Word& word, VariableRead read) {
    if (part.body) {
      const auto outer = x_position;
      x_position = {};
      ++x_substitutions;
      visit(*part.body);
      --x_substitutions;
      x_position = outer;
    }
    if (part.kind != WordPart::Kind::parameter) return;
    for (const auto& inner : part.parameter->operand.parts) {
      if (inner.kind == WordPart::Kind::parameter) x_uses[inner.parameter->name].is_unclear = true;
      if (inner.body) visit_part(inner, part.parameter->operand, {});
    }
    auto& uses = x_uses[part.parameter->name];
    if (!is_plain_read(part)) uses.is_unclear = true;
    read.part = &part;
    read.word = &word;
    read.in_function = x_functions > 0;
    uses.reads.push_back(read);
  }

  std::map<std::string, VariableUses> x_uses;
  Position x_position;
  unsigned x_functions = 0, x_pipelines = 0, x_substitutions = 0; ///< around what is visited
};

/// Returns how often the text reads the variable outside of comments: $V, ${V.
std::size_t count_reads(std::string_view text, const std::string& name) {
  std::size_t count = 0;
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ';
    if (std::string_view("${#!").find(before) == std::string_view::npos) continue;
    const auto line = text.rfind('\n', at) + 1; // npos + 1 is 0
    if (!util::trim(text.substr(line, at - line)).starts_with('#')) ++count;
  }
  return count;
}

} // namespace

bool VariableUses::is_orderly() const {
  if (is_unclear || values.empty()) return false;
  return std::all_of(reads.begin(), reads.end(), [&](const VariableRead& read) {
    const auto at = read.part->place.offset;
    return (read.in_function && values.size() == 1 && !values.front().in_function) ||
           std::any_of(values.begin(), values.end(),
                       [&](const FirstValue& value) { return at > value.begin && at < value.end; });
  });
}

bool VariableUses::is_evaluated() const {
  return std::any_of(reads.begin(), reads.end(), [](const VariableRead& read) { return read.is_evaluated; });
}

std::map<std::string, VariableUses> find_variable_uses(const SyntaxNode& program, std::string_view text) {
  auto all = UseFinder().find(program);
  for (auto& [name, uses] : all)
    if ((uses.is_extended || uses.is_evaluated()) &&
        count_reads(text, name) != uses.reads.size() + uses.own_reads)
      uses.is_unclear = true;
  return all;
}

} // namespace hpcml::import_script
