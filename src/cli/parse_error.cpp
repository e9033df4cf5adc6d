// SPDX-License-Identifier: MIT
#include "cli/parse_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/help/help_page.hpp"
#include "cli/help/value_checks.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

using Names = std::vector<std::string>;

std::string quoted(const Names& words) {
  Names quoted;
  for (const auto& word : words) quoted.push_back("'" + word + "'");
  return util::join(quoted, ", ");
}

/// The words that the parser did not expect, in the order in which they were typed: the options among them,
/// or else all of them.
Names unexpected_words(const CLI::App& app, const Context& context) {
  auto extras = app.remaining(true);
  Names ordered;
  for (const auto& word : context.words)
    if (const auto found = std::find(extras.begin(), extras.end(), word); found != extras.end()) {
      ordered.push_back(word);
      extras.erase(found);
    }
  ordered.insert(ordered.end(), extras.begin(), extras.end());
  Names options;
  std::copy_if(ordered.begin(), ordered.end(), std::back_inserter(options),
               [](const std::string& word) { return word.starts_with("-"); });
  return options.empty() ? ordered : options;
}

/// The option of a request for an option of sbatch with another name: "-N", "--gres=gpu:4".
std::string sbatch_hint(const std::string& word) {
  static constexpr std::pair<std::string_view, std::string_view> c_flags[] = {
      {"ntasks-per-node", "--tasks-per-node N"},
      {"ntasks", "--tasks-per-node N, the ranks of one node"},
      {"gpus", "--gpus-per-node N, the GPUs of one node"},
      {"gres", "--gpus-per-node N, and --gpu-type TYPE if the site has several"},
      {"time", "--time"},
      {"partition", "--partition"},
      {"nodes", "--nodes"},
      {"account", "--account"},
      {"qos", "--qos"},
      {"job-name", "--job-name"},
      {"cpus-per-task", "--cpus-per-task"},
      {"array", "--array"},
      {"dependency", "--dependency"},
      {"output", "--output"}};
  const bool is_long = word.starts_with("--");
  if (!is_long && (word.size() < 2 || word[0] != '-')) return {};
  const auto name = word.substr(2, word.find('=') == std::string::npos ? word.npos : word.find('=') - 2);
  const auto option = is_long ? slurm::is_option(slurm::Program::sbatch, name)
                                    ? slurm::find_option(slurm::Program::sbatch, name).option
                                    : std::nullopt
                              : slurm::find_option(slurm::Program::sbatch, word[1]);
  if (!option) return {};
  const auto shown = is_long ? "--" + name : word.substr(0, 2);
  for (const auto& [known, flag] : c_flags)
    if (option->name == known) return fmt::format("use {} (in place of sbatch's {})", flag, shown);
  return fmt::format("use --sbatch=--{}{} to pass {} to sbatch", option->name,
                     option->argument == slurm::TakesValue::none ? "" : "=VALUE", shown);
}

/// True if the command accepts the options of a job.
bool accepts_job_options(const CLI::App& command) {
  return command.get_option_no_throw("--sbatch") != nullptr;
}

std::string hint_for_unexpected(const CLI::App& command, const Names& words) {
  Names hints;
  for (const auto& word : words) {
    auto hint = accepts_job_options(command) ? sbatch_hint(word) : std::string();
    if (hint.empty()) hint = near_option_hint(command, word);
    if (!hint.empty()) util::add_once(hints, hint);
  }
  const bool is_option = !words.empty() && words.front().starts_with("-");
  if (hints.empty() && !is_option && runs_program(command))
    return "add -- before the program, as in: -- python train.py";
  return util::join(hints, "; ");
}

/// What is wrong, and what to do.
struct Report {
  std::string message;
  std::string hint;
};

/// The report on a missing or unknown command below `command`; nothing if that is not what is wrong.
std::optional<Report> report_missing_command(const CLI::App& app, const CLI::App& command) {
  Names names;
  for (const auto* below : commands_of(command)) names.push_back(below->get_name());
  const auto extras = app.remaining(true);
  const auto word = std::find_if(extras.begin(), extras.end(),
                                 [](const std::string& extra) { return !extra.starts_with("-"); });
  if (names.empty() || (word == extras.end() && command.get_require_subcommand_min() == 0)) return {};
  const auto path = command_path(command);
  const auto all = fmt::format("use one of {}", util::join(names, ", "));
  if (word == extras.end()) return Report{fmt::format("'{}' requires a command", path), all};
  const auto near = util::nearest(*word, names);
  return Report{fmt::format("unknown command '{} {}'", path, *word),
                near ? fmt::format("use '{}'", *near) : all};
}

/// The parser's sentences with the name of an option before or after them, in our words.
std::string reworded(const std::string& text) {
  const auto name = text.substr(0, text.find_first_of(": "));
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (text.ends_with(" missing") && has(" required ")) return fmt::format("{} requires a value", name);
  if (has("At Most 1 required")) return fmt::format("{} can be used only once", name);
  if (has("too many inputs for a flag") || has("Should be true/false") || has("disallowed flag override"))
    return fmt::format("{} does not accept a value", name);
  if (const auto at = text.find(" excludes "); at != std::string::npos)
    return fmt::format("{} cannot be used with {}", text.substr(0, at), text.substr(at + 10));
  constexpr std::string_view k_convert = "Could not convert: ";
  if (text.starts_with(k_convert))
    return fmt::format("{} does not accept a value",
                       text.substr(k_convert.size(), text.find(" = ") - k_convert.size()));
  return text;
}

/// The report on a value that a check of value_checks.hpp rejects: "NAME: must be …", or "NAME: invalid
/// value 'VALUE'".
Report report_value(const CLI::App& command, std::string text) {
  constexpr std::string_view k_must = ": must ", k_invalid = ": invalid value '";
  if (const auto at = text.find(k_must); at != std::string::npos) return {text.erase(at, 1), ""};
  const auto at = text.find(k_invalid);
  if (at == std::string::npos) return {text, ""};
  const auto name = text.substr(0, at), fault = text.substr(at + 2);
  Report report{fmt::format("{} for {}", fault, name), ""};
  for (const auto* owner = &command; owner != nullptr; owner = owner->get_parent())
    if (const auto* option = owner->get_option_no_throw(name)) {
      const auto values = closed_values(*option);
      const auto word = text.substr(at + k_invalid.size(), text.size() - at - k_invalid.size() - 1);
      const auto near = util::nearest(word, values);
      report.hint =
          near ? fmt::format("use '{}'", *near) : fmt::format("use one of {}", util::join(values, ", "));
    }
  return report;
}

Report make_report(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error,
                   const Context& context) {
  if (&command != &app)
    if (auto report = report_missing_command(app, command)) return *report;
  // The parser reports a missing command before an unknown option.
  const bool needs_command = &command == &app && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool has_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (const auto words = unexpected_words(app, context); has_extras || (needs_command && !words.empty()))
    return {words.size() == 1 ? fmt::format("unexpected argument {}", quoted(words))
                              : fmt::format("unexpected arguments {}", quoted(words)),
            hint_for_unexpected(command, words)};
  if (needs_command) return {"no command given", "run 'hpcml --help' to list the commands"};
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    return report_value(command, error.what());
  return {reworded(error.what()), ""};
}

} // namespace

const CLI::App& innermost_command(const CLI::App& app) {
  const auto* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string near_option_hint(const CLI::App& command, const std::string& word,
                             std::vector<std::string> names) {
  if (!word.starts_with("--")) return {};
  for (const auto* owner = &command; owner != nullptr; owner = owner->get_parent())
    for (const auto* option : owner->get_options())
      if (!option->get_group().empty())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  const auto near = util::nearest(word.substr(0, word.find('=')), names);
  return near ? fmt::format("use {}", *near) : std::string();
}

void print_usage(const CLI::App& command, const Context& context) {
  if (context.env.get_or("SLURM_PROCID", "0") != "0") return;
  std::string start = "Usage: ";
  for (const auto& form : usage_forms(command)) {
    print_line(start + form);
    start = "       ";
  }
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error, const Context& context) {
  const auto& command = innermost_command(app);
  auto report = make_report(app, command, error, context);
  if (report.hint.empty()) report.hint = fmt::format("run '{} --help'", command_path(command));
  print_error(report.message, report.hint, context.colour);
  print_usage(command, context);
  return k_usage;
}

} // namespace hpcml::cli
