// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_flags.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "run/torchrun/torchrun_rows.hpp"
#include "run/torchrun/torchrun_values.hpp"

namespace hpcml::torchrun {

using util::Error;

namespace {

/// A value and who says it: "--nnodes", "PET_NNODES".
struct FlagValue {
  std::string text;
  std::string by;
};

/// What one word of the line is.
struct FlagWord {
  enum class Kind { plain, flag, unknown, ambiguous, help, table };
  Kind kind = Kind::plain;
  const TorchrunFlag* flag = nullptr;
  std::optional<std::string> value; ///< the text after "=" or after the letter
  std::vector<std::string> meant;   ///< where it is ambiguous
};

std::vector<const TorchrunFlag*> all_torchrun_flags() {
  std::vector<const TorchrunFlag*> all;
  for (const auto& flag : torchrun_flags()) all.push_back(&flag);
  for (const auto& flag : flags_of_old_launch()) all.push_back(&flag);
  return all;
}

/// "--nproc-per-node", "--nproc_per_node"
std::vector<std::string> spellings_of(const TorchrunFlag& flag) {
  std::vector<std::string> spellings = {dashed_name(flag)};
  std::string joined(flag.name);
  std::replace(joined.begin(), joined.end(), '-', '_');
  if (joined != flag.name) spellings.push_back("--" + joined);
  return spellings;
}

/// "-1", "-.5": argparse takes them for values.
bool is_negative_number(const std::string& word) {
  const auto digits = word.substr(1);
  const auto dots = std::count(digits.begin(), digits.end(), '.');
  return !digits.empty() && dots <= 1 && digits.back() != '.' &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

FlagWord read_long_word(const std::string& word) {
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  FlagWord read;
  if (equals != word.npos) read.value = word.substr(equals + 1);
  if (name == "--help-markdown") return {FlagWord::Kind::table, nullptr, {}, {}};
  std::vector<const TorchrunFlag*> meant;
  bool exact = false;
  for (const auto* flag : all_torchrun_flags())
    for (const auto& spelling : spellings_of(*flag)) {
      if (spelling == name && !exact) meant.clear();
      exact = exact || spelling == name;
      if ((exact ? spelling == name : spelling.starts_with(name)) && !util::contains(meant, flag))
        meant.push_back(flag);
    }
  if (!exact && std::string_view("--help").starts_with(name)) {
    read.kind = meant.empty() ? FlagWord::Kind::help : FlagWord::Kind::ambiguous;
    read.meant.emplace_back("--help");
  } else {
    read.kind = meant.size() > 1 ? FlagWord::Kind::ambiguous : FlagWord::Kind::flag;
  }
  for (const auto* flag : meant) read.meant.push_back(dashed_name(*flag));
  if (meant.empty() && read.kind == FlagWord::Kind::flag) return {FlagWord::Kind::unknown, nullptr, {}, {}};
  if (!meant.empty()) read.flag = meant.front();
  return read;
}

/// "-r", "-r3", "-r=3"
FlagWord read_short_word(const std::string& word) {
  if (word[1] == 'h') return {FlagWord::Kind::help, nullptr, {}, {}};
  for (const auto* flag : all_torchrun_flags()) {
    if (flag->letter == 0 || flag->letter != word[1]) continue;
    FlagWord read{FlagWord::Kind::flag, flag, {}, {}};
    if (word.size() > 2) read.value = word.substr(word[2] == '=' ? 3 : 2);
    return read;
  }
  return {FlagWord::Kind::unknown, nullptr, {}, {}};
}

FlagWord read_word(const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || word == "--") return {};
  auto read = word[1] == '-' ? read_long_word(word) : read_short_word(word);
  if (read.kind == FlagWord::Kind::unknown && (is_negative_number(word) || word.find(' ') != word.npos))
    return {};
  return read;
}

/// Goes through the words up to the script.
class LineReader {
public:
  LineReader(const std::vector<std::string>& words, TorchrunParseResult& line)
      : x_words(words), x_line(line) {}

  void read() {
    while (x_at < x_words.size() && x_line.output == TorchrunParseResult::Output::ranks) {
      const std::string word = x_words[x_at++];
      if (word == "--" || read_word(word).kind == FlagWord::Kind::plain) return take_script(word);
      take(word);
    }
  }
  /// Returns the values in the order of the line: the last one is used, but all must be valid.
  const std::vector<std::pair<const TorchrunFlag*, FlagValue>>& values() const { return x_values; }

private:
  void fail(const std::string& what, const std::string& hint = "run hpcml torchrun --help") {
    x_line.errors.push_back({what, hint});
  }

  /// Takes the script. torchrun removes the first "--" before or after it.
  void take_script(const std::string& word) {
    if (word == "--" && x_at == x_words.size()) return;
    x_line.request.script = word == "--" ? x_words[x_at++] : word;
    if (word != "--" && x_at < x_words.size() && x_words[x_at] == "--") ++x_at;
    x_line.request.arguments.assign(x_words.begin() + static_cast<std::ptrdiff_t>(x_at), x_words.end());
    x_at = x_words.size();
  }

  void take(const std::string& word) {
    const auto read = read_word(word);
    switch (read.kind) {
    case FlagWord::Kind::help: x_line.output = TorchrunParseResult::Output::help; return;
    case FlagWord::Kind::table: x_line.output = TorchrunParseResult::Output::table; return;
    case FlagWord::Kind::ambiguous:
      return fail(fmt::format("{} is ambiguous: {}", word, util::join(read.meant, ", ")),
                  "use a longer name");
    case FlagWord::Kind::unknown: return report_unknown(word);
    default: return take_flag(*read.flag, read.value, word);
    }
  }

  void report_unknown(const std::string& word) {
    std::vector<std::string> names;
    for (const auto* flag : all_torchrun_flags()) names.push_back(dashed_name(*flag));
    const auto near = util::nearest(word.substr(0, word.find('=')), names);
    fail(fmt::format("unexpected argument '{}'", word.substr(0, word.find('='))),
         near ? fmt::format("use {}", *near)
              : "run hpcml torchrun --help; put options of the program after the program");
  }

  void take_flag(const TorchrunFlag& flag, const std::optional<std::string>& value, const std::string& word) {
    const bool is_long = word.starts_with("--");
    const auto by = is_long ? dashed_name(flag) : word.substr(0, 2);
    if (flag.is_switch()) {
      x_values.emplace_back(&flag, FlagValue{"1", by});
      if (!value) return;
      // "-mr3" is "-m -r3"
      if (!is_long && word[2] != '=' && read_short_word("-" + *value).kind != FlagWord::Kind::unknown)
        return take("-" + *value);
      return fail(fmt::format("{} accepts no value, but '{}' was given", by, *value));
    }
    if (value) {
      x_values.emplace_back(&flag, FlagValue{*value, by});
      return;
    }
    const bool has_one = x_at < x_words.size() && x_words[x_at] != "--" &&
                         read_word(x_words[x_at]).kind == FlagWord::Kind::plain;
    if (!has_one) return fail(fmt::format("{0} requires a value: {0} {1}", by, flag.value));
    x_values.emplace_back(&flag, FlagValue{x_words[x_at++], by});
  }

  const std::vector<std::string>& x_words;
  TorchrunParseResult& x_line;
  std::size_t x_at = 0;
  std::vector<std::pair<const TorchrunFlag*, FlagValue>> x_values;
};

/// What a variable says where the line does not; an empty one says nothing.
std::optional<FlagValue> report_by_variable(const TorchrunFlag& flag, const util::EnvSnapshot& env,
                                            std::vector<Error>& errors) {
  const auto name = variable_of_flag(flag);
  auto text = flag.has_variable ? env.get_or(name, "") : std::string();
  if (text.empty()) return std::nullopt;
  if (!flag.is_switch()) return FlagValue{std::move(text), name};
  const auto number = parse_whole_number(text);
  if (!number) errors.push_back({fmt::format("{} must be 0 or 1, not '{}'", name, text), {}});
  return number.value_or(0) != 0 ? std::optional(FlagValue{"1", name}) : std::nullopt;
}

void take_value(const TorchrunFlag& flag, const FlagValue& value, TorchrunParseResult& line) {
  if (const auto fault = flag.read(line.request, value.text))
    line.errors.push_back({fmt::format("{} {}", value.by, *fault), {}});
  else if (!flag.note.empty())
    util::add_once(line.request.notes, fmt::format("{} {}", value.by, flag.note));
}

void check_together(TorchrunParseResult& line) {
  const auto& request = line.request;
  if (request.standalone && request.max_nodes > 1)
    line.errors.push_back(
        {fmt::format("--standalone uses one machine, but --nnodes requests {} nodes", request.max_nodes),
         "remove one of them"});
  if (request.module && request.no_python && !request.run_path)
    line.errors.push_back({"-m runs a Python module, but --no-python runs a program", "remove one of them"});
}

} // namespace

TorchrunParseResult read_torchrun_line(const std::vector<std::string>& words, const util::EnvSnapshot& env) {
  TorchrunParseResult line;
  LineReader reader(words, line);
  reader.read();
  if (line.output != TorchrunParseResult::Output::ranks) return line;
  for (const auto* flag : all_torchrun_flags()) {
    const auto is_it = [&](const auto& value) { return value.first == flag; };
    if (std::none_of(reader.values().begin(), reader.values().end(), is_it))
      if (const auto value = report_by_variable(*flag, env, line.errors)) take_value(*flag, *value, line);
  }
  for (const auto& [flag, value] : reader.values()) take_value(*flag, value, line);
  check_together(line);
  if (line.request.script.empty() && line.errors.empty())
    line.errors.push_back({"no script given", "run hpcml torchrun [OPTIONS] train.py [ARGS]..."});
  return line;
}

} // namespace hpcml::torchrun
