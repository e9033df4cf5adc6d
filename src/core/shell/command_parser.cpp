// SPDX-License-Identifier: MIT
#include "core/shell/command_parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/shell/shell_names.hpp"

namespace hpcml::shell {

namespace {

bool is_closing(std::string_view word) {
  static constexpr std::array<std::string_view, 8> k_closing = {"then", "elif", "else", "fi",
                                                                "do",   "done", "esac", "}"};
  return is_one_of(word, k_closing);
}

bool is_bare(const Word& word) {
  return word.parts.size() == 1 && word.parts[0].kind == WordPart::Kind::literal && !word.parts[0].quoted;
}

/// True where arguments of the form name=value are assignments.
bool is_declaration(const Word& word) {
  static constexpr std::array<std::string_view, 5> k_names = {"export", "declare", "local", "readonly",
                                                              "typeset"};
  return is_bare(word) && is_one_of(word.parts[0].text, k_names);
}

/// True where an argument of the form name=(…) is a word as any other.
bool takes_parens(const Word& word) {
  static constexpr std::array<std::string_view, 3> k_names = {"alias", "eval", "let"};
  return is_bare(word) && is_one_of(word.parts[0].text, k_names);
}

std::string literal_of(const Word& word) {
  std::string text;
  for (const auto& part : word.parts) {
    if (part.kind != WordPart::Kind::literal || part.quoted) return "";
    text += part.text;
  }
  return text;
}

} // namespace

SyntaxNode CommandParser::parse_program() {
  SyntaxNode program;
  program.kind = SyntaxNode::Kind::list;
  while (true) {
    const auto begin = x_at;
    const auto read = program.children.size();
    try {
      skip_newlines();
      if (done()) break;
      parse_line(program.children);
    } catch (const Failure& failure) {
      program.children.resize(read); // what the line began with is not read either
      unread(program, begin, failure);
    }
  }
  program.place = x_source.place_of(0, x_text.size());
  return program;
}

/// Continues at the line after the one where the command that cannot be read began.
void CommandParser::unread(SyntaxNode& program, std::size_t begin, const Failure& failure) {
  // Where every line sends the reader to the end of a long text, the rest is left alone.
  x_work += std::max(x_at, failure.at) - begin;
  constexpr std::size_t k_most_work = 2'000'000;
  auto start = begin; // comments and blank lines before the command are fine
  while (start < x_text.size() &&
         (x_text[start] == '\n' || x_text[start] == ' ' || x_text[start] == '\t' || x_text[start] == '#')) {
    if (x_text[start] == '#')
      start = std::min(x_text.find('\n', start), x_text.size());
    else
      ++start;
  }
  if (start >= x_text.size()) start = begin;
  const auto end = x_work > k_most_work ? x_text.size() : std::min(x_text.find('\n', start), x_text.size());
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::unread;
  node.text = failure.why;
  node.place = x_source.place_of(start, end);
  if (failure.at < x_text.size()) {
    const auto last = x_text.find_last_not_of(" \t\n", failure.at); // a line that ends too early
    const auto at = last == std::string::npos ? failure.at : std::max(last, start);
    node.failed_at = x_source.place_of(at, std::min(x_text.find_first_of(" \t\n", at + 1), x_text.size()));
  }
  program.children.push_back(std::move(node));
  x_at = std::min(end + 1, x_text.size());
  if (!x_pending.empty() && failure.at <= end && end < x_text.size()) read_here_documents();
  x_pending.clear();
}

/// Appends the commands of one line (or of several, where a command continues).
void CommandParser::parse_line(std::vector<SyntaxNode>& commands) {
  while (!done() && at() != '\n') {
    commands.push_back(parse_pipeline());
    const bool more = parse_link(commands.back());
    if (more)
      skip_newlines();
    else
      skip_blanks();
    if (more && at_list_end()) unexpected();
  }
  if (!done()) newline();
}

/// Reads what ties a command to the next one. True where a command has to follow.
bool CommandParser::parse_link(SyntaxNode& node) {
  skip_blanks();
  if (sees("&&") || sees("||")) {
    node.link = at() == '&' ? ListOperator::and_then : ListOperator::or_else;
    x_at += 2;
    return true;
  }
  if (at() == ';' && at(1) != ';' && at(1) != '&')
    ++x_at;
  else if (at() == '&') {
    node.link = ListOperator::background;
    ++x_at;
  } else if (!done() && at() != '\n' && !at_list_end())
    unexpected();
  return false;
}

bool CommandParser::at_list_end() const {
  return done() || at() == ')' || sees(";;") || sees(";&") || is_closing(peek_word());
}

/// Commands up to a word or sign that closes a compound command. `of` names it where the list must not be
/// empty.
SyntaxNode CommandParser::parse_list(std::string_view of) {
  const Level level(*this);
  SyntaxNode list;
  list.kind = SyntaxNode::Kind::list;
  skip_newlines();
  const auto begin = x_at;
  while (!at_list_end()) {
    list.children.push_back(parse_pipeline());
    const bool plain = at() == ')' || (at() == ';' && (at(1) == ';' || at(1) == '&'));
    if (plain) break;
    const auto before = x_at;
    const bool more = parse_link(list.children.back());
    const bool separated = x_at != before && (x_text[x_at - 1] == ';' || x_text[x_at - 1] == '&');
    const bool line_end = at() == '\n' && !done();
    skip_newlines();
    if (more && at_list_end()) unexpected();
    // `if true then` has no separator: the reserved word would be an argument.
    if (!more && !separated && !line_end) break;
  }
  if (list.children.empty() && !of.empty()) {
    if (done()) fail(fmt::format("`{}` is not closed", of));
    unexpected();
  }
  list.place = place_from(begin);
  return list;
}

SyntaxNode CommandParser::parse_pipeline() {
  const Level level(*this);
  skip_blanks();
  const auto begin = x_at;
  SyntaxNode pipeline;
  pipeline.kind = SyntaxNode::Kind::pipeline;
  bool bare = false; // `time` and `!` may be alone
  while (true) {
    if (take_word("!"))
      pipeline.text = "!";
    else if (take_word("time")) {
      pipeline.timed = true;
      skip_blanks();
      take_word("-p");
    } else
      break;
    bare = true;
    skip_blanks();
  }
  if (bare && (done() || at() == '\n' || at() == ';' || at() == ')')) {
    pipeline.place = place_from(begin);
    return pipeline;
  }
  pipeline.children.push_back(parse_command());
  skip_blanks();
  while (at() == '|' && at(1) != '|') {
    x_at += at(1) == '&' ? 2 : 1;
    skip_newlines();
    pipeline.children.push_back(parse_command());
    skip_blanks();
  }
  if (pipeline.children.size() == 1 && !bare) {
    auto only = std::move(pipeline.children.front());
    return only;
  }
  pipeline.place = place_from(begin);
  return pipeline;
}

SyntaxNode CommandParser::parse_command() {
  const Level level(*this);
  skip_blanks();
  const auto begin = x_at;
  if (auto compound = parse_compound()) {
    parse_redirects(*compound);
    compound->place = place_from(begin);
    return std::move(*compound);
  }
  return parse_simple();
}

SyntaxNode CommandParser::parse_simple() {
  SyntaxNode node;
  const auto begin = x_at;
  auto end = x_at;
  if (is_closing(peek_word())) unexpected();
  while (parse_simple_piece(node)) end = x_at;
  if (end == begin) unexpected();
  node.place = x_source.place_of(begin, end);
  if (at() == '(' && node.words.size() == 1 && node.assignments.empty() && node.redirects.empty()) {
    const auto name = literal_of(node.words[0]);
    if (name.empty()) unexpected();
    ++x_at;
    skip_blanks();
    if (at() != ')') unexpected();
    ++x_at;
    return parse_function_body(begin, name);
  }
  if (at() == '(') unexpected();
  if (node.words.size() > 2 && literal_of(node.words[0]) == "shopt" && literal_of(node.words[1]) == "-s")
    for (const auto& word : node.words) x_extglob = x_extglob || literal_of(word) == "extglob";
  return node;
}

bool CommandParser::parse_simple_piece(SyntaxNode& node) {
  skip_blanks();
  if (done() || at() == '\n' || at() == ';' || at() == '|' || at() == ')') return false;
  if (redirect_operator() != std::string::npos) {
    node.redirects.push_back(parse_redirect());
    return true;
  }
  if (at() == '&') return false;
  if (at() == '(') {
    if (node.words.size() == 1 && node.assignments.empty()) return false;
    unexpected();
  }
  if (node.words.empty() && at_assignment())
    node.assignments.push_back(parse_assignment());
  else if (!node.words.empty() && is_declaration(node.words[0]) && at_assignment())
    node.declared.push_back(parse_assignment());
  else {
    const auto begin = x_at;
    const bool parens = !node.words.empty() && takes_parens(node.words[0]) && at_assignment();
    node.words.push_back(parse_word());
    if (parens && at() == '(' && x_text[x_at - 1] == '=') join_parens(node.words.back(), begin);
  }
  return true;
}

/// `let half=(n+1)/2`: the bracket and what follows it belong to the word.
void CommandParser::join_parens(Word& word, std::size_t begin) {
  parse_parens(word);
  if (!done() && !at_word_end(Ends::word, 0)) {
    auto rest = parse_word();
    std::move(rest.parts.begin(), rest.parts.end(), std::back_inserter(word.parts));
  }
  word.place = place_from(begin);
}

/// The length of the subscript at x_at + `ahead` with its brackets; 0 where none begins there or it does not
/// end on the line.
std::size_t CommandParser::subscript_length(std::size_t ahead) const {
  if (at(ahead) != '[') return 0;
  int depth = 0;
  std::size_t length = 0;
  do {
    const char c = at(ahead + length);
    if (c == '[')
      ++depth;
    else if (c == ']')
      --depth;
    else if (x_at + ahead + length >= x_text.size() || c == '\n')
      return 0;
    ++length;
  } while (depth > 0);
  return length;
}

bool CommandParser::at_assignment() const {
  if (!is_name_start(at())) return false;
  std::size_t ahead = 1;
  while (is_name_char(at(ahead))) ++ahead;
  ahead += subscript_length(ahead);
  return at(ahead) == '=' || (at(ahead) == '+' && at(ahead + 1) == '=');
}

Assignment CommandParser::parse_assignment() {
  Assignment assignment;
  const auto begin = x_at;
  while (is_name_char(at())) ++x_at;
  assignment.name = x_text.substr(begin, x_at - begin);
  if (const auto length = subscript_length(0); length > 0) {
    assignment.subscript = x_text.substr(x_at + 1, length - 2);
    x_at += length;
  }
  assignment.append = at() == '+';
  x_at += assignment.append ? 2 : 1;
  if (at() == '(') {
    if (!assignment.subscript.empty()) unexpected();
    parse_array(assignment);
  } else if (!done() && !at_word_end(Ends::word, 0))
    assignment.value = parse_word();
  assignment.place = place_from(begin);
  return assignment;
}

void CommandParser::parse_array(Assignment& assignment) {
  assignment.array = true;
  ++x_at;
  while (true) {
    skip_newlines();
    if (done()) fail(fmt::format("`{}=(` is not closed", assignment.name));
    if (at() == ')') break;
    if (at() == '[' && x_text.find(']', x_at) == std::string::npos)
      fail("`[` of an array's element is not closed");
    assignment.elements.push_back(parse_word());
  }
  ++x_at;
  if (!done() && !at_word_end(Ends::word, 0)) unexpected();
}

SyntaxNode CommandParser::parse_function_body(std::size_t begin, std::string name) {
  SyntaxNode node;
  node.kind = SyntaxNode::Kind::function;
  node.text = std::move(name);
  skip_newlines();
  auto body = parse_compound();
  if (!body || body->kind == SyntaxNode::Kind::function) unexpected();
  parse_redirects(*body);
  node.children.push_back(std::move(*body));
  node.place = place_from(begin);
  return node;
}

} // namespace hpcml::shell
