// SPDX-License-Identifier: MIT
// What a line means up to its end, and what can complete it.
#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "cli/app_tree.hpp"
#include "cli/help/help_page.hpp"
#include "cli/other/completion.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"

namespace hpcml::cli {

namespace {

bool is_flag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// Follows the typed words through the parser's commands and flags.
class Walk {
public:
  Walk(const CLI::App& app, const Context& context) : x_command(&app), x_context(context) {}

  /// A word in front of the one that is completed, at `index`.
  void take(const std::string& word, std::size_t index) {
    if (x_program_at) return;
    if (word == "--") {
      x_program_at = index + 1;
    } else if (x_open != nullptr && !(is_flag(word) && x_open->get_items_expected_min() == 0)) {
      x_line.values.emplace_back(name_of(*x_open), word);
      x_open = nullptr;
    } else if (is_flag(word)) {
      take_flag(word);
    } else if (const auto* sub = find_command(word); sub != nullptr && x_line.words.empty()) {
      x_command = sub;
      x_line.commands.push_back(word);
    } else if (x_command->get_prefix_command()) {
      x_program_at = index; // a script of launch or torchrun: what follows is its own
    } else {
      x_line.words.push_back(word);
    }
  }

  /// Returns what can replace the last word.
  Completion finish(const std::string& word, std::size_t index) const {
    if (x_program_at) return {Completion::Kind::program, *x_program_at, {}};
    if (x_open != nullptr && !(is_flag(word) && x_open->get_items_expected_min() == 0))
      return complete_value(*x_open, x_line, x_context);
    if (word.starts_with("-")) return finish_flag(word);
    auto found = finish_word();
    if (found.list.empty() && found.kind == Completion::Kind::words) {
      if (x_command->get_prefix_command()) return {Completion::Kind::program, index, {}};
      found = flags();
    }
    return found;
  }

private:
  static std::string name_of(const CLI::Option& option) {
    return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
  }

  /// Returns the commands whose flags are valid here: the last one, and those before it that pass theirs on.
  std::vector<const CLI::App*> owners() const {
    std::vector<const CLI::App*> list = {x_command};
    for (const auto* at = x_command; at->get_fallthrough() && at->get_parent() != nullptr; at = list.back())
      list.push_back(at->get_parent());
    return list;
  }

  const CLI::Option* find_option(const std::string& name) const {
    for (const auto* owner : owners())
      if (const auto* option = owner->get_option_no_throw(name)) return option;
    return nullptr;
  }

  const CLI::App* find_command(const std::string& word) const {
    for (const auto* command : x_command->get_subcommands([](const CLI::App*) { return true; }))
      if (command->get_name() == word) return command;
    return nullptr;
  }

  void take_flag(const std::string& word) {
    const auto equals = word.find('=');
    const bool is_long = word.starts_with("--");
    const auto name = is_long ? word.substr(0, equals) : word.substr(0, 2);
    x_open = nullptr;
    const auto* option = find_option(name);
    if (option == nullptr || option->get_items_expected_max() == 0) return;
    if (is_long && equals != std::string::npos)
      x_line.values.emplace_back(name_of(*option), word.substr(equals + 1));
    else if (!is_long && word.size() > 2)
      x_line.values.emplace_back(name_of(*option), word.substr(2));
    else
      x_open = option;
  }

  Completion finish_flag(const std::string& word) const {
    const auto equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) return flags();
    const auto* option = find_option(word.substr(0, equals));
    if (option == nullptr || option->get_items_expected_max() == 0) return {};
    auto values = complete_value(*option, x_line, x_context);
    for (auto& value : values.list) value.text.insert(0, word.substr(0, equals + 1));
    return values;
  }

  /// Returns every flag that is valid here, by all of its names.
  Completion flags() const {
    Completion found;
    for (const auto* owner : owners())
      for (const auto* option : owner->get_options()) {
        const bool is_general = option == owner->get_help_ptr() || option == owner->get_version_ptr();
        if (option->get_positional() || option->get_group().empty() || (owner != x_command && is_general))
          continue;
        for (const auto& name : option->get_lnames())
          found.list.push_back({"--" + name, option->get_description()});
        for (const auto& name : option->get_snames())
          found.list.push_back({"-" + name, option->get_description()});
      }
    if (runs_program(*x_command)) found.list.push_back({"--", "The program and its arguments follow"});
    return found;
  }

  /// A command, or what the next word that belongs to no flag is.
  Completion finish_word() const {
    Completion found;
    if (x_line.words.empty())
      for (const auto* command : x_command->get_subcommands([](const CLI::App*) { return true; }))
        found.list.push_back({command->get_name(), command->get_description()});
    if (!found.list.empty()) return found;
    std::size_t at = 0;
    for (const auto* option : x_command->get_options()) {
      if (!option->get_positional()) continue;
      if (at++ == x_line.words.size() || option->get_items_expected_max() > 1)
        return complete_value(*option, x_line, x_context);
    }
    return found;
  }

  const CLI::App* x_command;
  const Context& x_context;
  const CLI::Option* x_open = nullptr; ///< the flag whose value comes next
  std::optional<std::size_t> x_program_at;
  CompletedLine x_line;
};

/// Reads the directories of --sites-dir, which may contain more sites.
void take_sites_dirs(const std::vector<std::string>& words, Context& context) {
  constexpr std::string_view k_flag = "--sites-dir";
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    const bool separate = words[i] == k_flag && i + 2 < words.size();
    if (!separate && !words[i].starts_with(std::string(k_flag) + "=")) continue;
    const auto directory = separate ? words[i + 1] : words[i].substr(k_flag.size() + 1);
    if (const auto whole = util::absolute_path(directory, util::user_places(context.env)))
      context.sites_dirs.push_back(*whole);
  }
}

} // namespace

Completion complete_words(const std::vector<std::string>& words, Context context) {
  if (words.empty()) return {};
  take_sites_dirs(words, context);
  context.words.assign(words.begin(), words.end() - 1);
  Completion found;
  with_app_tree(context, context.words, [&](const CLI::App& app, const Context& with) {
    Walk walk(app, with);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) walk.take(words[i], i);
    found = walk.finish(words.back(), words.size() - 1);
  });
  return found;
}

} // namespace hpcml::cli
