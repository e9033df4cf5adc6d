// SPDX-License-Identifier: MIT
// The command line: global options, the list of commands, exit codes.
#include "cli/app.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "cli/app_tree.hpp"
#include "cli/command.hpp"
#include "core/slurm/options.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"

namespace hpcml::cli {

namespace {

/// The first word that is neither a global option nor an option's value.
std::string command_word(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--sites-dir")
      ++i;
    else if (words[i].empty() || words[i].front() != '-')
      return words[i];
  }
  return {};
}

std::vector<std::string> command_names(const CommandLineProgram& program) {
  std::vector<std::string> names;
  for (const auto& command : program.commands) names.emplace_back(command.name);
  return names;
}

/// Registers the command that is asked for, or all where none is: a rank of a job pays only for its own
/// options.
bool add_commands(const CommandLineProgram& program, CLI::App& app, Context& context, int& exit_code,
                  const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"--version"}) return true;
  const auto wanted = command_word(words);
  for (const auto& command : program.commands) {
    if (wanted != command.name) continue;
    command.add(app, context, exit_code);
    return true;
  }
  for (const auto& command : program.commands) {
    command.add(app, context, exit_code);
    app.get_subcommand(command.name)->group(command.group);
  }
  return wanted.empty();
}

/// What HPCML_LOG sets, which -v and -vv replace.
void set_log_level(unsigned verbosity, const Context& context) {
  if (verbosity > 0)
    return util::set_log_level(verbosity > 1 ? util::LogLevel::trace : util::LogLevel::debug);
  const auto word = context.env.get_or("HPCML_LOG", "");
  if (word.empty()) return;
  if (const auto level = util::parse_log_level(word)) return util::set_log_level(*level);
  print_note("warning: HPCML_LOG=" + word + " is not a level: error, warning, info, debug or trace");
}

/// The words that no option takes, in the order in which they were typed.
std::vector<std::string> extra_words(const CLI::App& app, const Context& context) {
  auto extras = app.remaining(true);
  std::vector<std::string> ordered;
  for (const auto& word : context.words)
    if (const auto found = std::find(extras.begin(), extras.end(), word); found != extras.end()) {
      ordered.push_back(word);
      extras.erase(found);
    }
  ordered.insert(ordered.end(), extras.begin(), extras.end());
  return ordered;
}

/// The request's flag for an option of sbatch that people know by another name: "-N", "--gres=gpu:4".
std::string sbatch_hint(const std::string& word) {
  static constexpr std::pair<std::string_view, std::string_view> c_flags[] = {
      {"ntasks-per-node", "--tasks-per-node N"},
      {"ntasks", "--tasks-per-node N: the ranks of one node"},
      {"gpus", "--gpus-per-node N: the GPUs of one node"},
      {"gres", "--gpus-per-node N, and --gpu-type TYPE where the site has several"},
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
    if (option->name == known) return "sbatch's " + shown + " is " + std::string(flag) + " here";
  return "sbatch's " + shown + " goes on as it is: --sbatch=--" + option->name +
         (option->argument == slurm::TakesValue::none ? "" : "=VALUE");
}

/// What to do about words that no option takes.
std::string extras_hint(const CLI::App& app, const CLI::App& chosen, const std::vector<std::string>& extras) {
  std::vector<std::string> options;
  for (const auto* owner : {&chosen, &app})
    for (const auto* option : owner->get_options())
      for (const auto& name : option->get_lnames()) options.push_back("--" + name);
  const auto owner = chosen.get_parent() == &app ? chosen.get_name() : std::string();
  const bool takes_request = owner == "gen" || owner == "submit" || owner == "init" || owner == "env";
  std::string hints;
  for (const auto& word : extras) {
    auto hint = takes_request ? sbatch_hint(word) : std::string();
    if (hint.empty() && word.starts_with("--"))
      if (const auto near = util::nearest(word.substr(0, word.find('=')), options))
        hint = "did you mean " + *near + "?";
    if (!hint.empty() && hints.find(hint) == std::string::npos) hints += (hints.empty() ? "" : "; ") + hint;
  }
  if (!hints.empty()) return hints;
  const bool words_only = std::none_of(extras.begin(), extras.end(),
                                       [](const std::string& word) { return word.starts_with("-"); });
  const auto name = chosen.get_parent() == &app ? chosen.get_name() : std::string();
  return words_only && takes_program(name)
             ? "the program and its arguments stand behind --, for example: -- python train.py"
             : "";
}

/// Says which commands `chosen` has, where the line should name one of them and does not; false if that is
/// not what is wrong.
bool print_no_subcommand(const CLI::App& app, const CLI::App& chosen, const Context& context) {
  std::vector<std::string> names;
  for (const auto* command : chosen.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const auto extras = app.remaining(true);
  const auto word = std::find_if(extras.begin(), extras.end(),
                                 [](const std::string& extra) { return !extra.starts_with("-"); });
  if (names.empty() || (word == extras.end() && chosen.get_require_subcommand_min() == 0)) return false;
  const auto near = word == extras.end() ? std::nullopt : util::nearest(*word, names);
  print_error("hpcml " + chosen.get_name() +
                  (word == extras.end() ? " does nothing by itself" : " has no command '" + *word + "'"),
              near ? "did you mean " + *near + "?" : "commands: " + util::join(names, ", "), context.colour);
  return true;
}

/// Prints what the parser has to say; an unknown option is given with its nearest neighbour.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, const Context& context) {
  if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr) == 0 ? k_ok : k_usage;
  const CLI::App* chosen = &app;
  std::string hint = "see hpcml ";
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().front();
    hint += chosen->get_name() + " ";
  }
  hint += "--help";
  if (chosen != &app && print_no_subcommand(app, *chosen, context)) return k_usage;
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extras = extra_words(app, context);
    if (const auto advice = extras_hint(app, *chosen, extras); !advice.empty()) hint = advice;
    message = std::string(extras.size() == 1 ? "this word was" : "these words were") +
              " not expected: " + util::join(extras, " ");
  }
  print_error(message, hint, context.colour);
  return k_usage;
}

/// What stands before and behind every command.
void set_up_app(const CommandLineProgram& program, CLI::App& app, Context& context, unsigned& verbosity) {
  app.description(
      "Writes, rehearses and launches distributed PyTorch and LibTorch training jobs on Slurm clusters.");
  app.name("hpcml");
  app.set_version_flag("--version", std::string("hpcml ") + HPCML_VERSION);
  app.add_option("--sites-dir", context.sites_dirs,
                 "look for site profiles in DIR before all other places; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->transform([&context](const std::string& directory) {
        const auto whole = util::absolute_path(directory, util::user_places(context.env));
        if (!whole) throw CLI::ValidationError("--sites-dir", whole.error().what);
        // A rank goes on without: its script has named the folder, and says what differs.
        std::error_code ignored;
        if (command_word(context.words) != "launch" && !std::filesystem::is_directory(*whole, ignored))
          throw CLI::ValidationError("--sites-dir", "there is no folder " + *whole);
        return *whole;
      });
  app.add_flag("-v,--verbose", verbosity,
               "log each program that is run and each profile that is read; -vv: and their results");
  app.fallthrough();
  app.require_subcommand(1);
  app.footer(program.footer);
}

/// Reads the line and runs its command; nothing if it cannot be read with the flags registered.
std::optional<int> run_words(const CommandLineProgram& program, Context& context) {
  const auto& words = context.words;
  CLI::App app;
  int exit_code = k_ok;
  unsigned verbosity = 0;
  set_up_app(program, app, context, verbosity);
  if (!add_commands(program, app, context, exit_code, words)) {
    const auto wanted = command_word(words);
    const auto near = util::nearest(wanted, command_names(program));
    print_error("there is no command '" + wanted + "'",
                near ? "did you mean " + *near + "?"
                     : "commands: " + util::join(command_names(program), ", "),
                context.colour);
    return k_usage;
  }
  app.parse_complete_callback([&] {
    if (verbosity > 0) set_log_level(verbosity, context);
  });
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend())); // the parser takes the words last one first
  } catch (const CLI::ParseError& error) {
    const bool asks_for_version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    if (!context.every_flag && !asks_for_version) return std::nullopt;
    return report_parse_error(app, error, context);
  }
  return exit_code;
}

/// A result that did not arrive is none, whatever the command did besides.
int check_output(int code, const Context& context) {
  errno = 0;
  const bool arrived = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (arrived || (code != k_ok && code != k_findings)) return code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : std::string();
  print_error("cannot write to the standard output" + why,
              "what was printed is not whole; is the disk, or your quota, full?", context.colour);
  return k_world_failed;
}

} // namespace

void with_app_tree(const CommandLineProgram& program, Context context, const std::vector<std::string>& words,
                   const std::function<void(const CLI::App&, const Context&)>& use) {
  CLI::App app;
  int exit_code = k_ok;
  unsigned verbosity = 0;
  context.every_flag = true;
  set_up_app(program, app, context, verbosity);
  add_commands(program, app, context, exit_code, words);
  use(app, context);
}

bool takes_program(std::string_view command) {
  return command == "gen" || command == "submit" || command == "init" || command == "emulate" ||
         command == "launch";
}

bool takes_colour(const util::EnvSnapshot& env) {
  return env.get_or("NO_COLOR", "").empty() && env.get_or("TERM", "") != "dumb";
}

bool Context::wants(std::string_view flag) const {
  return every_flag || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return word.starts_with(flag) && (word.size() == flag.size() || word[flag.size()] == '=');
         });
}

int run(const CommandLineProgram& program, int argc, char** argv, const util::EnvSnapshot& env) {
  Context context;
  context.env = env;
  context.argv.assign(argv, argv + argc);
  context.colour = ::isatty(STDERR_FILENO) != 0 && takes_colour(env);
  // Behind "--" stands somebody else's command: the parser must not see it.
  const auto dashes = std::find(context.argv.begin() + std::min(argc, 1), context.argv.end(), "--");
  context.words.assign(context.argv.begin() + std::min(argc, 1), dashes);
  context.has_program = dashes != context.argv.end();
  if (context.has_program) context.program.assign(dashes + 1, context.argv.end());
  set_log_level(0, context);
  try {
    if (const auto code = program.run_special_line(context)) return check_output(*code, context);
    context.every_flag = false;
    if (const auto code = run_words(program, context)) return check_output(*code, context);
    context.every_flag = true; // what is wrong, or the help, is said with all of them known
    context.sites_dirs.clear();
    return check_output(run_words(program, context).value_or(k_internal), context);
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what(),
                "this is a bug in hpcml: please report it with the command line", context.colour);
    return k_internal;
  }
}

} // namespace hpcml::cli
