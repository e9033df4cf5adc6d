// SPDX-License-Identifier: MIT
#include "shell/script.hpp"

#include "shell/parser.hpp"

namespace hpcml::shell {

namespace {

void collect(const Node& node, std::vector<Unread>& list);

void collect(const Word& word, std::vector<Unread>& list) {
  for (const auto& part : word.parts) {
    if (part.body) collect(*part.body, list);
    if (part.parameter) collect(part.parameter->operand, list);
  }
}

void collect(const std::vector<Assignment>& assignments, std::vector<Unread>& list) {
  for (const auto& assignment : assignments) {
    collect(assignment.value, list);
    for (const auto& element : assignment.elements) collect(element, list);
  }
}

void collect(const Node& node, std::vector<Unread>& list) {
  if (node.kind == Node::Kind::unread) list.push_back({node.place, node.text});
  collect(node.assignments, list);
  for (const auto& word : node.words) collect(word, list);
  collect(node.declared, list);
  for (const auto& redirect : node.redirects) {
    collect(redirect.target, list);
    if (redirect.here) collect(redirect.here->body, list);
  }
  for (const auto& child : node.children) collect(child, list);
}

} // namespace

Script read_script(std::string text) {
  Script script{make_source(std::move(text)), {}};
  script.program = Parser(script.source).parse_program();
  return script;
}

std::vector<Unread> unread_parts(const Node& node) {
  std::vector<Unread> list;
  collect(node, list);
  return list;
}

diag::Span span_of(Place place, const std::string& file, std::string_view text) {
  return diag::span_at(file, text, place.offset, place.length);
}

} // namespace hpcml::shell
