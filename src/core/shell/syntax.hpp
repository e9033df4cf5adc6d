// SPDX-License-Identifier: MIT
// What a bash script says, as a tree: every node, word and part knows its place in the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/diag/text_range.hpp"

namespace hpcml::shell {

/// A place in the script's file, also for text inside `bash -c '…'` and here-documents.
using diag::TextRange;

struct SyntaxNode;
struct ParameterExpansion;

/// A piece of a word as it was written.
struct WordPart {
  enum class Kind : std::uint8_t { literal, parameter, command, process, arithmetic, hole };
  Kind kind = Kind::literal;
  bool quoted = false; ///< neither split nor matched against files
  TextRange place;
  std::string text; ///< literal: without its quotes; everything else: as written, "${X:-4}"
  std::unique_ptr<ParameterExpansion> parameter; ///< of Kind::parameter
  std::unique_ptr<SyntaxNode> body;              ///< of Kind::command and Kind::process
};

/// A word as written: its parts follow each other.
struct Word {
  TextRange place;
  std::vector<WordPart> parts;
};

/// `$name`, `${name[subscript]op operand}`, `${#name}`, `${!name}`.
struct ParameterExpansion {
  std::string name;
  std::string subscript; ///< without brackets; empty: none
  std::string op;        ///< ":-", "#", "/", …; "bad" where bash would refuse it when it runs
  char prefix = 0;       ///< '#' or '!'
  Word operand;
};

/// NAME=VALUE, NAME+=VALUE, NAME[SUBSCRIPT]=VALUE or NAME=(ELEMENTS).
struct Assignment {
  TextRange place;
  std::string name;
  std::string subscript;
  bool append = false;
  bool array = false;
  Word value;                 ///< where !array
  std::vector<Word> elements; ///< where array
};

/// The text after a <<.
struct HereDocument {
  std::string delimiter;
  bool quoted = false; ///< nothing in it is expanded
  bool strip_tabs = false;
  Word body;
};

/// Where a command reads from or writes to.
struct Redirect {
  TextRange place;
  std::string fd; ///< as written, often empty
  std::string op; ///< "<", ">", ">>", "<<", "<<-", "<<<", "&>", …
  Word target;
  std::shared_ptr<HereDocument> here_document; ///< of "<<" and "<<-"
};

/// How a command of a list is tied to the next one.
enum class ListOperator : std::uint8_t { next, background, and_then, or_else };

/// A command. Which members mean something depends on `kind`.
struct SyntaxNode {
  enum class Kind : std::uint8_t {
    simple,     ///< assignments, words, declared, redirects
    list,       ///< children
    pipeline,   ///< children, each in its own subshell where there are several
    group,      ///< { children[0] }
    subshell,   ///< ( children[0] )
    branch,     ///< if: condition, then, condition, then, …, else where the number is odd
    loop,       ///< while, until: condition, body
    for_each,   ///< for, select: text names the variable, words, children[0]
    for_count,  ///< for ((text)): children[0]
    choice,     ///< case: words[0], children are arms
    arm,        ///< words are patterns, children[0], text ends it: ";;", ";&", ";;&"
    function,   ///< text names it, children[0]
    arithmetic, ///< ((text))
    condition,  ///< [[ words ]]
    unread,     ///< text says why
  };
  Kind kind = Kind::simple;
  ListOperator link = ListOperator::next;
  bool timed = false;
  TextRange place;
  std::string text;
  std::vector<Assignment> assignments; ///< before the first word
  std::vector<Word> words;
  std::vector<Assignment> declared; ///< after `export`, `declare`, `local`, `readonly`
  std::vector<Redirect> redirects;
  std::vector<SyntaxNode> children;
  TextRange failed_at; ///< of unread: what bash stops at; the end of the text where something is never closed
};

} // namespace hpcml::shell
