// SPDX-License-Identifier: MIT
#include "core/shell/compound_parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/shell/parse_program.hpp"
#include "core/shell/shell_names.hpp"

namespace hpcml::shell {

namespace {

bool is_unary(std::string_view word) {
  return word.size() == 2 && word[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLNORS").find(word[1]) != std::string_view::npos;
}

bool is_binary(std::string_view word) {
  static constexpr std::array<std::string_view, 13> k_operators = {
      "=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};
  return is_one_of(word, k_operators);
}

/// The body of a here-document, in which expansions are read and nothing else.
class HereBodyParser final : public CompoundParser {
public:
  using CompoundParser::CompoundParser;
  std::vector<WordPart> parse();
  std::vector<WordPart> take_literally();
};

/// A body that cannot be read is one unknown part: bash finds the mistake only when it runs.
std::vector<WordPart> HereBodyParser::parse() {
  Word word;
  try {
    parse_quoted_text(word, '\0');
  } catch (const Failure& failure) {
    word.parts.clear();
    WordPart part;
    part.kind = WordPart::Kind::hole;
    part.quoted = true;
    part.text = fmt::format("a here-document that cannot be read: {}", failure.why);
    part.place = x_source.place_of(0, x_text.size());
    word.parts.push_back(std::move(part));
  }
  return std::move(word.parts);
}

std::vector<WordPart> HereBodyParser::take_literally() {
  Word word;
  add_literal(word, 0, x_text.size(), true);
  return std::move(word.parts);
}

} // namespace

std::optional<SyntaxNode> CompoundParser::parse_compound() {
  if (at() == '(') return parse_subshell();
  const auto word = peek_word();
  if (word == "{") return parse_braced();
  if (word == "if") return parse_if();
  if (word == "while" || word == "until") return parse_loop();
  if (word == "for" || word == "select") return parse_for();
  if (word == "case") return parse_case();
  if (word == "function") return parse_function();
  if (word == "[[") return parse_condition();
  if (word == "coproc") {
    x_at += word.size();
    return parse_command();
  }
  return std::nullopt;
}

SyntaxNode CompoundParser::parse_braced() {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::group;
  ++x_at;
  node.children.push_back(parse_list("{"));
  expect_word("}", "{");
  return node;
}

SyntaxNode CompoundParser::parse_subshell() {
  SyntaxNode node;
  if (at(1) == '(')
    if (const auto end = end_of_arithmetic(x_at + 2)) {
      node.kind = SyntaxNode::Kind::arithmetic;
      node.text = x_text.substr(x_at + 2, *end - x_at - 2);
      x_at = *end + 2;
      return node;
    }
  node.kind = SyntaxNode::Kind::subshell;
  ++x_at;
  node.children.push_back(parse_list("("));
  skip_blanks();
  if (at() != ')') {
    if (done()) fail("`(` is not closed");
    unexpected();
  }
  ++x_at;
  return node;
}

SyntaxNode CompoundParser::parse_if() {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::branch;
  take_word("if");
  while (true) {
    node.children.push_back(parse_list("if"));
    expect_word("then", "if");
    node.children.push_back(parse_list("if"));
    skip_blanks();
    if (take_word("elif")) continue;
    if (take_word("else")) node.children.push_back(parse_list("if"));
    expect_word("fi", "if");
    return node;
  }
}

SyntaxNode CompoundParser::parse_loop() {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::loop;
  x_at += peek_word().size();
  node.children.push_back(parse_list("while"));
  node.children.push_back(parse_body("while"));
  return node;
}

/// `do … done` or, after `for`, `{ … }`.
SyntaxNode CompoundParser::parse_body(std::string_view of) {
  skip_blanks();
  if (of == "for" && take_word("{")) {
    auto body = parse_list("{");
    expect_word("}", "{");
    return body;
  }
  expect_word("do", of);
  auto body = parse_list(of);
  expect_word("done", of);
  return body;
}

SyntaxNode CompoundParser::parse_for() {
  SyntaxNode node;
  x_at += peek_word().size();
  skip_blanks();
  if (sees("((")) {
    const auto end = end_of_arithmetic(x_at + 2);
    if (!end) fail("`for ((` is not closed");
    node.kind = SyntaxNode::Kind::for_count;
    node.text = x_text.substr(x_at + 2, *end - x_at - 2);
    if (std::count(node.text.begin(), node.text.end(), ';') != 2)
      fail("`for ((` needs three parts separated by `;`");
    x_at = *end + 2;
    skip_blanks();
    if (at() == ';') ++x_at;
    skip_newlines();
  } else {
    node.kind = SyntaxNode::Kind::for_each;
    node.text = peek_word();
    if (node.text.empty()) unexpected();
    x_at += node.text.size();
    parse_for_words(node);
  }
  node.children.push_back(parse_body("for"));
  return node;
}

void CompoundParser::parse_for_words(SyntaxNode& node) {
  skip_blanks();
  if (at() == ';') {
    ++x_at;
    return skip_newlines();
  }
  skip_newlines();
  if (!take_word("in")) return;
  while (true) {
    skip_blanks();
    if (done() || at() == '\n' || at() == ';') break;
    node.words.push_back(parse_word());
  }
  if (at() == ';') ++x_at;
  skip_newlines();
}

SyntaxNode CompoundParser::parse_case() {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::choice;
  take_word("case");
  skip_blanks();
  node.words.push_back(parse_word());
  skip_newlines();
  expect_word("in", "case");
  skip_newlines();
  while (peek_word() != "esac") {
    if (done()) fail("`case` has no `esac`");
    node.children.push_back(parse_arm());
    skip_newlines();
    if (node.children.back().text.empty()) break;
  }
  expect_word("esac", "case");
  return node;
}

SyntaxNode CompoundParser::parse_arm() {
  SyntaxNode arm;
  arm.kind = SyntaxNode::Kind::arm;
  const auto begin = x_at;
  if (at() == '(') ++x_at;
  while (true) {
    skip_blanks();
    arm.words.push_back(parse_word(x_extglob ? Ends::pattern : Ends::word));
    skip_blanks();
    if (at() != '|' || at(1) == '|') break;
    ++x_at;
  }
  if (at() != ')') unexpected();
  ++x_at;
  arm.children.push_back(parse_list(""));
  skip_blanks();
  for (const std::string_view end : {";;&", ";;", ";&"})
    if (sees(end)) {
      arm.text = end;
      x_at += end.size();
      break;
    }
  arm.place = place_from(begin);
  return arm;
}

SyntaxNode CompoundParser::parse_function() {
  const auto begin = x_at;
  take_word("function");
  skip_blanks();
  const auto name = std::string(peek_word());
  if (name.empty() || name.find_first_of("$`'\"\\") != std::string::npos) unexpected();
  x_at += name.size();
  skip_blanks();
  if (at() == '(') {
    const auto before = x_at++;
    skip_blanks();
    if (at() == ')')
      ++x_at;
    else
      x_at = before; // a function whose body is a subshell
  }
  return parse_function_body(begin, name);
}

void CompoundParser::skip_condition_space() { skip_newlines(); }

SyntaxNode CompoundParser::parse_condition() {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::condition;
  x_at += 2;
  skip_condition_space();
  parse_condition_or(node);
  expect_word("]]", "[[");
  return node;
}

/// Terms with `&&` and `||` between them.
void CompoundParser::parse_condition_or(SyntaxNode& node) {
  const Level level(*this);
  while (true) {
    parse_condition_term(node);
    skip_condition_space();
    if (!sees("&&") && !sees("||")) return;
    x_at += 2;
    skip_condition_space();
  }
}

void CompoundParser::parse_condition_term(SyntaxNode& node) {
  const Level level(*this);
  if (at() == '(' && !done()) {
    ++x_at;
    skip_condition_space();
    parse_condition_or(node);
    if (at() != ')') unexpected();
    ++x_at;
    return;
  }
  const auto word = peek_word();
  if (word == "]]") unexpected();
  if (word == "!") {
    ++x_at;
    skip_condition_space();
    return parse_condition_term(node);
  }
  const bool unary = is_unary(word);
  node.words.push_back(parse_word(Ends::pattern));
  skip_blanks();
  auto op = std::string(peek_word());
  if (unary && !is_binary(op)) {
    if (op == "]]" || at() == ')') unexpected();
    node.words.push_back(parse_word(Ends::pattern));
    return;
  }
  if (is_binary(op))
    x_at += op.size();
  else if ((at() == '<' || at() == '>') && at(1) != '(')
    ++x_at;
  else {
    skip_condition_space();
    if (op != "]]" && at() != ')' && !sees("&&") && !sees("||") && peek_word() != "]]") unexpected();
    return;
  }
  skip_blanks();
  if (peek_word() == "]]") unexpected();
  node.words.push_back(parse_word(op == "=~" ? Ends::regex : Ends::pattern));
}

std::vector<WordPart> parse_here_body(const SourceText& source, bool quoted, int depth, bool extglob) {
  HereBodyParser parser(source, depth, extglob);
  return quoted ? parser.take_literally() : parser.parse();
}

SyntaxNode parse_program(const SourceText& source, int depth, bool extglob) {
  return CompoundParser(source, depth, extglob).parse_program();
}

} // namespace hpcml::shell
