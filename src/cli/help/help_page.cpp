// SPDX-License-Identifier: MIT
#include "cli/help/help_page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/help/value_checks.hpp"
#include "core/util/text.hpp"
#include "core/util/wrap_text.hpp"

namespace hpcml::cli {

namespace {

constexpr std::size_t k_least_columns = 50, k_most_columns = 100;
constexpr std::size_t k_most_name_columns = 26; ///< a longer name has a separate line
constexpr std::size_t k_most_unbroken = 44;     ///< characters of a list of values on one line
constexpr std::string_view k_own_group = "Options";

/// A left and a right column: names and their descriptions.
struct HelpRow {
  std::string name;
  std::string text;
};

/// Lines with the names on the left, descriptions wrapped on the right.
class TwoColumns {
public:
  TwoColumns(const std::vector<HelpRow>& rows, std::size_t columns) : x_columns(columns) {
    std::size_t widest = 0;
    for (const auto& row : rows)
      if (const auto width = util::text_width(row.name); width <= k_most_name_columns)
        widest = std::max(widest, width);
    x_indent = columns < 60 ? 8 : widest + 4;
  }

  std::string render(const HelpRow& row) const {
    std::string text = "  " + row.name;
    const auto used = util::text_width(text);
    const auto lines = util::wrap_text(row.text, x_columns - x_indent);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_beside = i == 0 && used + 2 <= x_indent;
      text += (is_beside ? std::string(x_indent - used, ' ') : "\n" + std::string(x_indent, ' ')) + lines[i];
    }
    return text + "\n";
  }

private:
  std::size_t x_columns, x_indent = 0;
};

std::string name_cell(const CLI::Option& option) {
  auto text = util::join(option_names(option), ", ");
  const auto value = value_name(option);
  return value.empty() || option.get_positional() ? text : text + " " + value;
}

HelpRow option_row(const CLI::Option& option) { return {name_cell(option), option_text(option)}; }

const CLI::App& program_of(const CLI::App& command) {
  const auto* app = &command;
  while (app->get_parent() != nullptr) app = app->get_parent();
  return *app;
}

/// A heading and its rows.
struct HelpSection {
  std::string heading;
  std::vector<HelpRow> rows;
};

/// Builds the sections of a page in their order.
class HelpPage {
public:
  HelpPage(const CLI::App& command, HelpLength length, std::size_t columns)
      : x_command(command), x_help(help_of(command)), x_length(length), x_columns(columns) {}

  std::string render() {
    collect();
    const auto text = util::join(util::wrap_text(x_help.summary, x_columns), "\n") + "\n\n" + usage() +
                      examples() + sections(x_sections);
    if (x_length == HelpLength::full)
      return text + elsewhere() + sections({x_global}) + other_commands() + notes();
    return text + "\nUse '" + command_path(x_command) + " --help' to show all options.\n";
  }

private:
  std::string usage() const {
    std::string text;
    for (const auto& form : usage_forms(x_command))
      text += (text.empty() ? "Usage: " : "       ") + form + "\n";
    return text;
  }

  std::string examples() const {
    std::string text = x_help.examples.empty() ? "" : "\nExamples:\n";
    for (const auto& line : util::split(x_help.examples, '\n'))
      if (!line.empty()) text += "  " + line + "\n";
    return text;
  }

  void collect() {
    collect_commands();
    HelpSection arguments{"Arguments", {}};
    for (const auto* option : positionals_of(x_command)) arguments.rows.push_back(option_row(*option));
    x_sections.push_back(std::move(arguments));
    const auto& program = program_of(x_command);
    if (&x_command != &program) collect_options();
    if (x_length == HelpLength::full) collect_global(program);
    std::erase_if(x_sections, [](const HelpSection& section) { return section.rows.empty(); });
  }

  void collect_options() {
    for (const auto& group : option_groups(x_command)) {
      HelpSection section{group.heading, {}};
      for (const auto* option : group.options)
        if (is_shown(*option)) section.rows.push_back(option_row(*option));
      x_sections.push_back(std::move(section));
    }
  }

  bool is_shown(const CLI::Option& option) const {
    if (x_length == HelpLength::common) return is_common(x_command, option);
    return !is_described_elsewhere(x_command, option);
  }

  void collect_commands() {
    const bool is_program = x_command.get_parent() == nullptr;
    for (const auto* command : commands_of(x_command)) {
      const auto heading = is_program ? command->get_group() : "Commands";
      if (heading.empty()) continue;
      if (x_sections.empty() || x_sections.back().heading != heading) x_sections.push_back({heading, {}});
      x_sections.back().rows.push_back({command->get_name(), command->get_description()});
    }
  }

  void collect_global(const CLI::App& program) {
    for (const auto& group : option_groups(program))
      for (const auto* option : group.options)
        if (&x_command == &program || option != program.get_version_ptr())
          x_global.rows.push_back(option_row(*option));
    x_global.rows.push_back(option_row(*program.get_help_ptr()));
  }

  std::string sections(const std::vector<HelpSection>& list) const {
    auto all = x_global.rows; // all sections have the same columns
    for (const auto& section : x_sections) all.insert(all.end(), section.rows.begin(), section.rows.end());
    const TwoColumns table(all, x_columns);
    std::string text;
    for (const auto& section : list) {
      text += "\n" + section.heading + ":\n";
      for (const auto& row : section.rows) text += table.render(row);
    }
    return text;
  }

  std::string other_commands() const {
    std::vector<std::string> names;
    if (x_command.get_parent() == nullptr)
      for (const auto* command : commands_of(x_command))
        if (command->get_group().empty()) names.push_back(command->get_name());
    return paragraph("\nOther commands:\n", names);
  }

  /// The options that another command's help describes, by name.
  std::string elsewhere() const {
    std::vector<std::string> names;
    for (const auto& group : option_groups(x_command))
      for (const auto* option : group.options)
        if (is_described_elsewhere(x_command, *option)) names.push_back(option_names(*option).back());
    return paragraph(
        "\nMore job options, described by 'hpcml " + std::string(x_help.described_in) + " --help':\n", names);
  }

  std::string paragraph(const std::string& heading, const std::vector<std::string>& words) const {
    std::string text = words.empty() ? "" : heading;
    for (const auto& line : util::wrap_text(util::join(words, ", "), x_columns - 2))
      text += "  " + line + "\n";
    return text;
  }

  std::string notes() const {
    std::string text;
    for (const auto& line : notes_of(x_command)) {
      text += line.starts_with("  ") ? line : util::join(util::wrap_text(line, x_columns), "\n");
      text += "\n";
    }
    return text.empty() ? "" : "\n" + text;
  }

  const CLI::App& x_command;
  const CommandHelp& x_help;
  HelpLength x_length;
  std::size_t x_columns;
  std::vector<HelpSection> x_sections;
  HelpSection x_global{"Global options", {}};
};

/// The name of a positional as usage shows it: "FILE...", "[SITE]".
std::string usage_word(const CLI::Option& option) {
  auto word = option.get_name(true);
  if (option.get_items_expected_max() > 1) word += "...";
  return option.get_required() ? word : "[" + word + "]";
}

} // namespace

std::vector<OptionGroup> option_groups(const CLI::App& command) {
  std::vector<OptionGroup> groups;
  for (const auto* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty() || option == command.get_help_ptr()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const OptionGroup& known) { return known.heading == option->get_group(); });
    if (group == groups.end()) group = groups.insert(groups.end(), {option->get_group(), {}});
    group->options.push_back(option);
  }
  return groups;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

bool is_common(const CLI::App& command, const CLI::Option& option) {
  const auto& help = help_of(command);
  const auto common = util::split(help.common, ' ');
  const auto names = option_names(option);
  return help.common.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return util::contains(common, name);
         });
}

bool is_described_elsewhere(const CLI::App& command, const CLI::Option& option) {
  return !help_of(command).described_in.empty() && option.get_group() != k_own_group &&
         !is_common(command, option);
}

std::vector<std::string> option_names(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames())
    if (name.find('_') == std::string::npos)
      names.push_back("--" + name); // the others are spellings of these
  return names;
}

std::string option_text(const CLI::Option& option) {
  auto text = option.get_description();
  auto fallback = option.get_default_str();
  std::replace(fallback.begin(), fallback.end(), ' ', util::k_unbreakable_space);
  if (!fallback.empty()) text += std::string(" [default:") + util::k_unbreakable_space + fallback + "]";
  if (const auto values = closed_values(option); !values.empty()) {
    auto list = "[possible values: " + util::join(values, ", ") + "]";
    // A short list stays on one line.
    const auto unbreakable = util::text_width(list) <= k_most_unbroken
                                 ? list.size()
                                 : std::string_view("[possible values:").size() + 1;
    std::replace(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(unbreakable), ' ',
                 util::k_unbreakable_space);
    text += " " + list;
  }
  return text;
}

std::string command_path(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : command_path(*command.get_parent()) + " " + command.get_name();
}

std::vector<std::string> usage_forms(const CLI::App& command) {
  std::vector<std::string> forms;
  if (const auto usage = help_of(command).usage; !usage.empty()) {
    for (const auto& form : util::split(usage, '\n')) forms.push_back(command_path(command) + " " + form);
    return forms;
  }
  auto form = command_path(command) + " [OPTIONS]";
  for (const auto* option : positionals_of(command)) form += " " + usage_word(*option);
  if (!commands_of(command).empty())
    form += command.get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
  return {form};
}

std::vector<std::string> notes_of(const CLI::App& command) {
  const auto& help = help_of(command);
  std::vector<std::string> lines; // a line per paragraph, an empty one between two
  bool continues = false;
  for (const auto& line : util::split(help.notes, '\n')) {
    const bool is_text = !line.empty() && !line.starts_with("  ") && !line.ends_with(":");
    if (continues && is_text)
      lines.back() += " " + line;
    else
      lines.push_back(line);
    continues = is_text;
  }
  if (help.notes.empty()) lines.clear();
  if (help.list == nullptr) return lines;
  if (!lines.empty()) lines.emplace_back();
  for (const auto& line : util::split(help.list(), '\n')) lines.push_back(line);
  return lines;
}

std::string render_help(const CLI::App& command, HelpLength length, std::size_t columns) {
  return HelpPage(command, length, columns).render();
}

std::size_t help_columns(const util::EnvSnapshot& env) {
  const auto limited = [](unsigned long long columns) {
    return std::clamp<std::size_t>(columns, k_least_columns, k_most_columns);
  };
  if (const auto columns = util::parse_unsigned(env.get_or("COLUMNS", "")); columns && *columns > 0)
    return limited(*columns);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return limited(size.ws_col);
  return k_most_columns;
}

} // namespace hpcml::cli
