// SPDX-License-Identifier: MIT
#include "core/shell/script.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/shell/parse_program.hpp"

namespace hpcml::shell {

namespace {

/// Goes over a tree and shows every node, word and here-document to `Visitor`.
template <typename Visitor> class Visit {
public:
  explicit Visit(Visitor& visitor) : x_visitor(visitor) {}

  void node(const SyntaxNode& node) {
    x_visitor.see(node);
    assignments(node.assignments);
    words(node.words);
    assignments(node.declared);
    for (const auto& redirect : node.redirects) {
      word(redirect.target);
      if (redirect.here_document) word(redirect.here_document->body);
    }
    for (const auto& child : node.children) this->node(child);
  }

private:
  void word(const Word& word) {
    x_visitor.see(word);
    for (const auto& part : word.parts) {
      if (part.body) node(*part.body);
      if (part.parameter) this->word(part.parameter->operand);
    }
  }
  void words(const std::vector<Word>& list) {
    for (const auto& element : list) word(element);
  }
  void assignments(const std::vector<Assignment>& list) {
    for (const auto& assignment : list) {
      word(assignment.value);
      words(assignment.elements);
    }
  }

  Visitor& x_visitor;
};

struct FindUnread {
  std::vector<UnparsedText> list;
  void see(const SyntaxNode& node) {
    if (node.kind == SyntaxNode::Kind::unread) list.push_back({node.place, node.text, node.failed_at});
  }
  void see(const Word& /*word*/) {}
};

struct FindLongTexts {
  std::string_view text;
  std::vector<TextRange> list;
  void see(const SyntaxNode& /*node*/) {}
  void see(const Word& word) {
    if (word.place.offset < text.size() &&
        text.substr(word.place.offset, word.place.length).find('\n') != std::string_view::npos)
      list.push_back(word.place);
  }
};

} // namespace

Script read_script(std::string text) {
  Script script{make_source(std::move(text)), {}};
  script.program = parse_program(script.source);
  return script;
}

std::vector<UnparsedText> unread_parts(const SyntaxNode& node) {
  FindUnread find;
  Visit(find).node(node);
  return std::move(find.list);
}

std::vector<TextRange> long_texts(const SyntaxNode& node, std::string_view file) {
  FindLongTexts find{file, {}};
  Visit(find).node(node);
  std::sort(find.list.begin(), find.list.end(), [](TextRange a, TextRange b) { return a.offset < b.offset; });
  return std::move(find.list);
}

} // namespace hpcml::shell
