// SPDX-License-Identifier: MIT
#include "core/shell/word_expander.hpp"

#include <algorithm>

#include "core/util/char_set.hpp"

namespace hpcml::shell {

namespace {

constexpr std::size_t k_longest = 65536; ///< of one expansion; what is longer is not followed

/// Characters that begin an expansion of an unquoted text, or end a word.
constexpr util::CharSet k_signs("~{*?[@+!( \t\n");

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// One literal that bash leaves unchanged: most words are.
bool is_plain(const Word& word) {
  if (word.parts.size() != 1 || word.parts[0].kind != WordPart::Kind::literal) return false;
  return word.parts[0].quoted || std::none_of(word.parts[0].text.begin(), word.parts[0].text.end(),
                                              [](char c) { return k_signs.has(c); });
}

/// True if bash may make several words of what is between braces.
bool has_braces(const Word& word) {
  bool open = false, several = false;
  for (const auto& part : word.parts) {
    if (part.kind != WordPart::Kind::literal || part.quoted) continue;
    for (std::size_t i = 0; i < part.text.size(); ++i) {
      if (part.text[i] == '{') open = true;
      several = several || (open && (part.text[i] == ',' || part.text.compare(i, 2, "..") == 0));
      if (part.text[i] == '}' && several) return true;
    }
  }
  return false;
}

/// The program whose path the substitution looks up: "python" of "$(which python)"; nothing for others.
FallbackText looked_up_program(const std::string& text) {
  for (const std::string_view beginning : {"$(which ", "$(command -v "}) {
    const auto size = beginning.size();
    if (text.starts_with(beginning) && text.find_first_of(" )", size) + 1 == text.size())
      return std::make_shared<const std::string>(text.substr(size, text.size() - size - 1));
  }
  return nullptr;
}

/// A file pattern, or with `bracket` a text that is one together with another part of its word.
bool is_glob(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) switch (text[i]) {
    case '*':
    case '?':
    case '[': return true;
    case '@':
    case '+':
    case '!':
      if (text[i + 1] == '(') return true; // at the end is a NUL
      break;
    default: break;
    }
  return false;
}

bool has_tilde(const std::string& text, bool first) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '~' && (i == 0 ? first : text[i - 1] == ':' || text[i - 1] == '=')) return true;
  return false;
}

} // namespace

/// Appends the words that come of one.
void WordExpander::expand(const Word& word, std::vector<Argument>& words) {
  if (is_plain(word)) {
    words.push_back(known_argument(word.parts[0].text, word.parts[0].place));
    words.back().place = word.place;
    return;
  }
  Fields fields;
  expand_parts(word.parts, fields); // also of braces, for the commands in them
  if (has_braces(word)) {
    std::string text;
    for (const auto& part : word.parts) text += part.text;
    words.push_back(unknown_argument(text, word.place, true));
    return;
  }
  end_word(fields);
  for (auto& argument : fields.words) {
    argument.place = word.place;
    words.push_back(std::move(argument));
  }
}

/// As in assignments: one word, neither split nor matched against files.
Argument WordExpander::expand_single(const Word& word) {
  Fields fields;
  fields.split = false;
  fields.started = true;
  expand_parts(word.parts, fields);
  fields.glob = false;
  fields.current.place = word.place;
  if (fields.words.empty()) return std::move(fields.current);
  // "${a[@]}" in an assignment: joined by spaces.
  Argument all;
  all.place = word.place;
  fields.words.push_back(std::move(fields.current));
  for (auto& field : fields.words) {
    if (&field != &fields.words.front()) all.pieces.push_back({true, " ", word.place});
    all.caveat = all.caveat || field.caveat;
    if (field.many)
      all.pieces.push_back({false, field.unknown(), field.place});
    else
      std::move(field.pieces.begin(), field.pieces.end(), std::back_inserter(all.pieces));
  }
  return all;
}

void WordExpander::expand_parts(const std::vector<WordPart>& parts, Fields& fields) {
  bool first = true;
  for (const auto& part : parts) {
    expand_part(part, fields, first);
    first = false;
  }
}

void WordExpander::expand_part(const WordPart& part, Fields& fields, bool first) {
  switch (part.kind) {
  case WordPart::Kind::literal:
    if (!part.quoted && has_tilde(part.text, first)) return expand_tilde(part, fields, first);
    if (!part.quoted && part.text.find_first_of(" \t\n") != std::string::npos)
      return add_known(fields, part.text, part.place, false);
    fields.started = true;
    fields.glob = fields.glob || (!part.quoted && is_glob(part.text));
    fields.size += part.text.size();
    fields.current.pieces.push_back({true, part.text, part.place});
    return;
  case WordPart::Kind::parameter: return expand_parameter(part, fields);
  case WordPart::Kind::hole: return add_unknown(fields, part.text, part.place, !part.quoted);
  case WordPart::Kind::arithmetic: {
    walk_arithmetic(part.text, part.place);
    const auto inner = part.text.size() > 5 && part.text[1] == '(' ? part.text.substr(3, part.text.size() - 5)
                                                                   : std::string();
    const auto value = evaluate(inner);
    if (!value || is_stale("IFS") || x_state.find("IFS"))
      return add_unknown(fields, part.text, part.place, !part.quoted);
    return add_known(fields, std::to_string(*value), part.place, part.quoted);
  }
  case WordPart::Kind::command:
  case WordPart::Kind::process: {
    auto outer = x_context;
    x_context.substitution = true;
    in_subshell([&] { walk(*part.body); });
    x_context = std::move(outer);
    return add_unknown(fields, part.text, part.place, !part.quoted && part.kind == WordPart::Kind::command,
                       looked_up_program(part.text));
  }
  }
}

/// `~/bin/python`: a home directory that is not known, and below it what is.
void WordExpander::expand_tilde(const WordPart& part, Fields& fields, bool first) {
  fields.started = true;
  const auto slash = part.text.find('/');
  const bool leads = first && part.text.front() == '~' && slash != std::string::npos;
  if (!leads || has_tilde(part.text.substr(slash), false))
    return add_unknown(fields, part.text, part.place, false);
  add_unknown(fields, part.text.substr(0, slash), {part.place.offset, slash}, false);
  WordPart below;
  below.kind = WordPart::Kind::literal;
  below.text = part.text.substr(slash);
  below.place = {part.place.offset + slash, part.place.length - std::min(slash, part.place.length)};
  expand_part(below, fields, false);
}

/// Text from an expansion: split at spaces unless it is quoted.
void WordExpander::add_known(Fields& fields, const std::string& text, TextRange place, bool quoted) {
  if (fields.size > k_longest || !use_budget(text.size()))
    return add_unknown(fields, "a text of more than 64 KiB", place, true);
  fields.size += text.size();
  if (quoted || !fields.split) {
    fields.started = true;
    fields.current.pieces.push_back({true, text, place});
    return;
  }
  if (x_state.find("IFS")) return add_unknown(fields, text, place, true);
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at])) {
      end_word(fields);
      while (at < text.size() && is_blank(text[at])) ++at;
      continue;
    }
    const auto from = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    fields.started = true;
    fields.current.pieces.push_back({true, text.substr(from, at - from), place});
    fields.glob = fields.glob || is_glob(fields.current.pieces.back().text);
  }
}

void WordExpander::add_unknown(Fields& fields, const std::string& reason, TextRange place, bool many,
                               const FallbackText& fallback) {
  if (!use_budget(reason.size() + 16)) return;
  fields.started = true;
  fields.current.many = fields.current.many || (many && fields.split);
  fields.current.pieces.push_back(
      {false, reason.size() > k_longest ? reason.substr(0, k_longest) : reason, place, fallback});
}

/// The value of a variable, or an element of an array.
void WordExpander::add_argument(Fields& fields, const Argument& word, TextRange place, bool quoted,
                                bool caveat) {
  if (quoted) fields.started = true;
  for (const auto& piece : word.pieces) {
    if (piece.known)
      add_known(fields, piece.text, place, quoted);
    else
      add_unknown(fields, piece.text, place, !quoted);
  }
  if (word.many) fields.current.many = true;
  if (caveat || word.caveat) fields.current.caveat = true;
}

void WordExpander::end_word(Fields& fields) {
  auto& word = fields.current;
  const bool caveat = word.caveat; // a text that is split passes its doubt on
  if (fields.started) {
    // A single `[` is a command; a pattern needs the bracket that closes it.
    const auto text = fields.glob ? word.text() : std::string();
    const bool pattern =
        text.find_first_of("*?(") != std::string::npos || text.find(']', text.find('[')) != std::string::npos;
    if (fields.glob && pattern && !x_state.no_glob) {
      word.pieces = {{false, text, word.pieces.empty() ? TextRange{} : word.pieces.front().place}};
      word.many = true;
    }
    // "${a[@]}$b" with nothing in either may be no word at all: that depends on where the quotes are.
    if (fields.no_words && word.text().empty()) {
      word.pieces = {{false, "${…[@]}", word.place}};
      word.many = true;
    }
    fields.words.push_back(std::move(word));
  }
  fields.no_words = false;
  word = Argument();
  word.caveat = caveat;
  fields.started = fields.glob = false;
}

} // namespace hpcml::shell
