// SPDX-License-Identifier: MIT
#include "core/shell/parameter_expander.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::shell {

namespace {

/// Bash changes these by itself: what is assigned is not what is read.
bool is_magic(std::string_view name) {
  static constexpr std::array<std::string_view, 26> k_names = {"RANDOM",
                                                               "SRANDOM",
                                                               "SECONDS",
                                                               "LINENO",
                                                               "EPOCHSECONDS",
                                                               "EPOCHREALTIME",
                                                               "UID",
                                                               "EUID",
                                                               "PPID",
                                                               "GROUPS",
                                                               "DIRSTACK",
                                                               "FUNCNAME",
                                                               "PWD",
                                                               "OLDPWD",
                                                               "OPTIND",
                                                               "OPTARG",
                                                               "REPLY",
                                                               "COLUMNS",
                                                               "LINES",
                                                               "SHELLOPTS",
                                                               "PIPESTATUS",
                                                               "HISTCMD",
                                                               "SHLVL",
                                                               "MACHTYPE",
                                                               "COMP_WORDBREAKS",
                                                               "_"};
  return is_one_of(name, k_names) || name.starts_with("BASH");
}

bool is_positional(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_digit);
}

/// True for an array of which the number of elements is known.
bool is_known_list(const Value& value) {
  return value.kind == Value::Kind::array &&
         std::none_of(value.words.begin(), value.words.end(), [](const Argument& word) { return word.many; });
}

/// The default of "${NAME:-text}" if it is plain text; nothing for others.
FallbackText default_text(const ParameterExpansion& parameter) {
  const auto& parts = parameter.operand.parts;
  const bool is_default = parameter.op.ends_with('-') || parameter.op.ends_with('=');
  return is_default && parts.size() == 1 && parts[0].kind == WordPart::Kind::literal
             ? std::make_shared<const std::string>(parts[0].text)
             : nullptr;
}

} // namespace

bool ParameterExpander::is_stale(std::string_view name) const {
  const auto* variable = x_state.find(name);
  return variable && variable->changes < x_state.changes;
}

/// Returns the one word that the parameter stands for; nothing if it is unknown. `known_unset` is true if it
/// is known to be unset.
std::optional<Argument> ParameterExpander::scalar_of(const ParameterExpansion& parameter,
                                                     bool& known_unset) const {
  known_unset = false;
  const auto& name = parameter.name;
  if (is_positional(name)) {
    const auto index = util::parse_unsigned(name);
    if (!x_state.positional || !index || *index == 0) return std::nullopt;
    const auto& words = *x_state.positional;
    for (std::size_t i = 0; i < words.size() && i < *index; ++i)
      if (words[i].many) return std::nullopt;
    known_unset = *index > words.size();
    return known_unset ? Argument() : words[*index - 1];
  }
  const auto* variable = x_state.find(name);
  if (!variable || is_magic(name) || variable->attributes || variable->value.kind == Value::Kind::unknown)
    return std::nullopt;
  const auto& value = variable->value;
  const auto index = parameter.subscript.empty() ? 0 : util::parse_unsigned(parameter.subscript);
  if (!index) return std::nullopt;
  if (value.kind == Value::Kind::unset) {
    known_unset = true;
    return Argument();
  }
  for (std::size_t i = 0; i <= *index && i < value.words.size(); ++i)
    if (value.words[i].many) return std::nullopt;
  known_unset = *index >= value.words.size();
  if (known_unset) return Argument();
  auto word = value.words[*index];
  word.caveat = word.caveat || is_stale(name);
  return word;
}

void ParameterExpander::expand_parameter(const WordPart& part, Fields& fields) {
  const auto& parameter = *part.parameter;
  if (expand_list(part, fields)) return;
  bool known_unset = false;
  const auto value = scalar_of(parameter, known_unset);
  const bool indirect = parameter.prefix == '!' || parameter.subscript == "@" || parameter.subscript == "*";
  static constexpr std::array<std::string_view, 8> k_defaults = {":-", "-", ":=", "=", ":+", "+", ":?", "?"};
  const bool defaults = is_one_of(parameter.op, k_defaults);
  if (!indirect && parameter.prefix == 0 && defaults) return expand_default(part, fields, value, known_unset);
  if (parameter.op != "bad")
    for (const auto& inner : parameter.operand.parts)
      if (inner.body) expand_single(parameter.operand);
  const bool plain = parameter.op.empty() && parameter.prefix == 0 && !indirect;
  if (plain && value) {
    // A value that is nothing but one unknown thing is known by its variable's name.
    if (value->pieces.size() == 1 && !value->pieces[0].known)
      return add_unknown(fields, part.text, part.place, !part.quoted, value->pieces[0].fallback);
    return add_argument(fields, *value, part.place, part.quoted, value->caveat);
  }
  if (parameter.prefix == '#' && parameter.op.empty() && !indirect && value && value->known()) {
    const auto text = value->text();
    const bool ascii =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) return add_known(fields, std::to_string(text.size()), part.place, part.quoted);
  }
  note_element(parameter, part.place);
  add_unknown(fields, part.text, part.place, !part.quoted);
}

/// Notes that an element is read whose index is not known.
void ParameterExpander::note_element(const ParameterExpansion& parameter, TextRange place) {
  if (parameter.subscript.empty() || x_quiet > 0 || !x_context.script.empty() || x_context.condition ||
      x_context.uncalled)
    return;
  const auto* array = x_state.find(parameter.name);
  if (!array || array->attributes || !is_known_list(array->value)) return;
  auto index = parameter.subscript;
  const auto begin = index.find_first_not_of("${");
  const auto end = index.find_last_not_of('}');
  if (begin != std::string::npos && end != std::string::npos)
    if (const auto* variable = x_state.find(std::string_view(index).substr(begin, end + 1 - begin));
        variable && variable->value.kind == Value::Kind::scalar)
      index = variable->value.words[0].text();
  x_listing.elements.push_back({parameter.name, std::move(index), array->value.words.size(), place});
}

/// `$@`, `$*`, `${a[@]}`, `${a[*]}`, `$#`, `${#a[@]}`: true if it was one of them.
bool ParameterExpander::expand_list(const WordPart& part, Fields& fields) {
  const auto& parameter = *part.parameter;
  const std::string_view name = parameter.name;
  const bool positional = name == "@" || name == "*";
  if (name == "#" && parameter.op.empty() && parameter.prefix == 0 && x_state.positional) {
    const auto& words = *x_state.positional;
    if (std::any_of(words.begin(), words.end(), [](const Argument& word) { return word.many; })) return false;
    add_known(fields, std::to_string(words.size()), part.place, part.quoted);
    return true;
  }
  const std::string_view sign = positional ? parameter.name : parameter.subscript;
  if ((sign != "@" && sign != "*") || parameter.prefix == '!' || !parameter.op.empty()) {
    if (positional || sign == "@" || sign == "*") {
      add_unknown(fields, part.text, part.place, !part.quoted || sign == "@");
      return true;
    }
    return false;
  }
  static const std::vector<Argument> k_none;
  const auto* variable = positional ? nullptr : x_state.find(parameter.name);
  const std::vector<Argument>* words = nullptr;
  if (positional && x_state.positional)
    words = &*x_state.positional;
  else if (variable && !variable->attributes && !is_magic(parameter.name) &&
           variable->value.kind != Value::Kind::unknown)
    words = &variable->value.words;
  if (variable && variable->value.kind == Value::Kind::unset) words = &k_none;
  const bool joins = sign == "*" && part.quoted;
  if (!words || (joins && x_state.find("IFS"))) {
    add_unknown(fields, part.text, part.place, !joins);
    return true;
  }
  const bool several =
      std::any_of(words->begin(), words->end(), [](const Argument& word) { return word.many; });
  if (parameter.prefix == '#') {
    if (several)
      add_unknown(fields, part.text, part.place, false);
    else
      add_known(fields, std::to_string(words->size()), part.place, part.quoted);
    return true;
  }
  if (joins && several)
    add_unknown(fields, part.text, part.place, false);
  else
    expand_words(*words, part, fields, !positional && is_stale(parameter.name));
  return true;
}

void ParameterExpander::expand_words(const std::vector<Argument>& words, const WordPart& part, Fields& fields,
                                     bool caveat) {
  const bool joins = part.parameter->name == "*" || part.parameter->subscript == "*";
  if (joins && part.quoted) fields.started = true;
  if (words.empty()) fields.no_words = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!use_budget(16)) return;
    const bool glue = !fields.split || (joins && part.quoted);
    if (i > 0 && glue)
      add_known(fields, " ", part.place, true);
    else if (i > 0)
      end_word(fields);
    add_argument(fields, words[i], part.place, part.quoted, caveat);
  }
}

void ParameterExpander::expand_default(const WordPart& part, Fields& fields,
                                       const std::optional<Argument>& value, bool known_unset) {
  const auto& parameter = *part.parameter;
  const bool colon = parameter.op.size() == 2;
  const char kind = parameter.op.back();
  const bool filled =
      value && std::any_of(value->pieces.begin(), value->pieces.end(),
                           [](const ArgumentPiece& piece) { return piece.known && !piece.text.empty(); });
  const bool decided = value && (known_unset || !colon || filled || value->known());
  if (!decided) {
    // The operand's commands may run; what they and `:=` change is not known.
    on_both_paths([&] { expand_single(parameter.operand); });
    if (kind == '=') x_state.forget(parameter.name, part.place);
    return add_unknown(fields, part.text, part.place, !part.quoted, default_text(parameter));
  }
  const bool missing = known_unset || (colon && !filled);
  if (kind == '+' && missing) {
    if (part.quoted) fields.started = true;
    return;
  }
  if (kind == '?' && missing) {
    x_state.ended = ExitScope::script;
    return add_unknown(fields, part.text, part.place, !part.quoted);
  }
  if (kind == '=' && missing) {
    set_value(parameter.name, scalar_value(expand_single(parameter.operand)), false, part.place);
    bool unset = false;
    const auto now = scalar_of(parameter, unset);
    if (!now) return add_unknown(fields, part.text, part.place, !part.quoted);
    return add_argument(fields, *now, part.place, part.quoted, false);
  }
  if (missing || kind == '+') {
    if (part.quoted) fields.started = true;
    return expand_parts(parameter.operand.parts, fields);
  }
  add_argument(fields, *value, part.place, part.quoted, value->caveat);
}

namespace {

/// Sums and products of whole numbers; anything else is not known.
class Sum {
public:
  using Lookup = std::function<std::optional<long long>(const std::string&)>;
  Sum(std::string_view text, Lookup lookup) : x_text(text), x_lookup(std::move(lookup)) {}
  std::optional<long long> all() {
    const auto value = terms();
    skip();
    return x_at == x_text.size() ? value : std::nullopt;
  }

private:
  void skip() {
    while (x_at < x_text.size() && std::isspace(static_cast<unsigned char>(x_text[x_at]))) ++x_at;
  }
  bool take(char c) {
    skip();
    if (x_at >= x_text.size() || x_text[x_at] != c) return false;
    // `**`, `++`, `--`, `+=` are other operators.
    if (x_at + 1 < x_text.size() && (x_text[x_at + 1] == c || x_text[x_at + 1] == '=') && c != '(' &&
        c != ')')
      return false;
    ++x_at;
    return true;
  }
  std::optional<long long> terms() {
    auto value = product();
    while (value) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto next = product();
      if (!next) return std::nullopt;
      value = limited(plus ? *value + *next : *value - *next);
    }
    return value;
  }
  std::optional<long long> product() {
    auto value = factor();
    while (value) {
      const char sign = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : '\0';
      if (sign == '\0') break;
      const auto next = factor();
      if (!next || (sign != '*' && *next == 0)) return std::nullopt;
      value = limited(sign == '*' ? *value * *next : sign == '/' ? *value / *next : *value % *next);
    }
    return value;
  }
  std::optional<long long> factor() {
    if (x_depth > 20) return std::nullopt;
    if (take('(')) {
      ++x_depth;
      const auto value = terms();
      --x_depth;
      return take(')') ? value : std::nullopt;
    }
    skip();
    if (x_at < x_text.size() && x_text[x_at] == '$') ++x_at;
    const bool braces = x_at < x_text.size() && x_text[x_at] == '{';
    if (braces) ++x_at;
    const auto from = x_at;
    while (x_at < x_text.size() && is_name_char(x_text[x_at])) ++x_at;
    const auto word = std::string(x_text.substr(from, x_at - from));
    if (braces && (x_at >= x_text.size() || x_text[x_at++] != '}')) return std::nullopt;
    if (word.empty()) return std::nullopt;
    if (!std::isdigit(static_cast<unsigned char>(word[0]))) return x_lookup(word);
    return from > 0 && (x_text[from - 1] == '$' || braces) ? std::nullopt : number(word);
  }

public:
  /// Small decimal numbers only: a product of two must fit, and a leading zero means octal.
  static std::optional<long long> number(const std::string& word) {
    if (word.empty() || word.size() > 9 || (word.size() > 1 && word[0] == '0') ||
        word.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    return std::stoll(word);
  }

private:
  static std::optional<long long> limited(long long value) {
    constexpr long long k_limit = 1'000'000'000;
    return value > k_limit || value < -k_limit ? std::nullopt : std::optional(value);
  }

  std::string_view x_text;
  Lookup x_lookup;
  std::size_t x_at = 0;
  int x_depth = 0;
};

} // namespace

std::optional<long long> ParameterExpander::evaluate(std::string_view text) const {
  return Sum(text,
             [this](const std::string& name) -> std::optional<long long> {
               ParameterExpansion parameter;
               parameter.name = name;
               bool unset = false;
               const auto value = scalar_of(parameter, unset);
               // A sum cannot carry the doubt of a variable that something may have changed.
               if (!value || unset || !value->known() || value->caveat) return std::nullopt;
               return Sum::number(value->text());
             })
      .all();
}

} // namespace hpcml::shell
