// SPDX-License-Identifier: MIT
// The grammar of bash as a recursive descent over characters. Only shell/script.cpp and tests of it need this
// header.
#pragma once

#include <optional>
#include <string_view>

#include "core/shell/source.hpp"
#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// Reads one text. What it cannot read becomes a node that says why, and it goes on at the next line.
class Parser {
public:
  explicit Parser(const SourceText& source, int depth = 0, bool extglob = false);
  /// The whole text as a list; never throws.
  SyntaxNode parse_program();

private:
  struct Failure {
    std::string why;
    std::size_t at;
  };
  /// Counts levels so that hostile nesting ends in a message.
  class Level {
  public:
    explicit Level(Parser& parser);
    ~Level() { --x_parser.x_depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

  private:
    Parser& x_parser;
  };
  enum class Ends { word, pattern, regex }; ///< what may stand in a word besides the usual

  // characters: parser_words.cpp
  char at(std::size_t ahead = 0) const { return x_at + ahead < x_text.size() ? x_text[x_at + ahead] : '\0'; }
  bool done() const { return x_at >= x_text.size(); }
  bool sees(std::string_view text) const { return x_text.compare(x_at, text.size(), text) == 0; }
  [[noreturn]] void fail(std::string why) const;
  [[noreturn]] void unexpected() const;
  void skip_blanks();
  void skip_newlines();
  void newline();
  std::string_view peek_word() const;
  bool take_word(std::string_view word);
  void expect_word(std::string_view word, std::string_view of);
  Place place_from(std::size_t begin) const { return x_source.place_of(begin, x_at); }

  // words: parser_words.cpp
  Word parse_word(Ends ends = Ends::word);
  bool at_word_end(Ends ends, int parens) const;
  void add_literal(Word& word, std::size_t begin, std::size_t end, bool quoted);
  void parse_escape(Word& word);
  void parse_single(Word& word);
  void parse_ansi(Word& word);
  void parse_double(Word& word);
  void parse_quoted_text(Word& word, char end);
  void parse_parens(Word& word);

  // expansions: parser_expansions.cpp
  void parse_dollar(Word& word, bool quoted);
  void parse_name(Word& word, bool quoted);
  void parse_braces(Word& word, bool quoted);
  void parse_parameter(Parameter& parameter);
  void parse_subscript(Parameter& parameter);
  void parse_operand(Parameter& parameter, bool quoted);
  void parse_backquotes(Word& word, bool quoted);
  void parse_substitution(Word& word, Part::Kind kind, bool quoted);
  bool parse_arithmetic(Word& word, bool quoted);
  std::optional<std::size_t> end_of_arithmetic(std::size_t from) const;

  // here-documents and redirections: parser_redirects.cpp
  std::size_t redirect_operator() const;
  Redirect parse_redirect();
  void parse_delimiter(HereDocument& document);
  void read_here_documents();
  void read_here_document(HereDocument& document);
  std::vector<Part> parse_here_body();
  void parse_redirects(SyntaxNode& node);

  // commands: parser_commands.cpp
  void parse_line(std::vector<SyntaxNode>& commands);
  SyntaxNode parse_list(std::string_view of);
  bool parse_link(SyntaxNode& node);
  bool at_list_end() const;
  SyntaxNode parse_pipeline();
  SyntaxNode parse_command();
  SyntaxNode parse_simple();
  bool parse_simple_piece(SyntaxNode& node);
  std::size_t subscript_length(std::size_t ahead) const;
  bool at_assignment() const;
  Assignment parse_assignment();
  void parse_array(Assignment& assignment);
  void join_parens(Word& word, std::size_t begin);
  SyntaxNode parse_function_body(std::size_t begin, std::string name);
  void unread(SyntaxNode& program, std::size_t begin, const Failure& failure);

  // compound commands: parser_compound.cpp
  std::optional<SyntaxNode> parse_compound();
  SyntaxNode parse_braced();
  SyntaxNode parse_subshell();
  SyntaxNode parse_if();
  SyntaxNode parse_loop();
  SyntaxNode parse_for();
  void parse_for_words(SyntaxNode& node);
  SyntaxNode parse_body(std::string_view of);
  SyntaxNode parse_case();
  SyntaxNode parse_arm();
  SyntaxNode parse_function();
  SyntaxNode parse_condition();
  void parse_condition_or(SyntaxNode& node);
  void parse_condition_term(SyntaxNode& node);
  void skip_condition_space();

  const SourceText& x_source;
  const std::string& x_text;
  std::size_t x_at = 0;
  int x_depth;
  bool x_extglob;
  std::size_t x_work = 0; ///< characters read again after failures
  std::vector<std::shared_ptr<HereDocument>> x_pending;
};

} // namespace hpcml::shell
