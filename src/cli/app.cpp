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
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

#include "cli/app_tree.hpp"
#include "cli/command.hpp"
#include "cli/help/help_page.hpp"
#include "cli/parse_error.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"

namespace hpcml::cli {

namespace {

constexpr const char* k_global_group = "Global options";

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
  print_note(fmt::format(
      "warning: HPCML_LOG='{}' is not a log level (error, warning, info, debug or trace): using info", word));
}

/// Prints the version or the help that the line asks for.
int print_information(const CLI::App& app, const CLI::ParseError& request, const Context& context) {
  if (dynamic_cast<const CLI::CallForVersion*>(&request) != nullptr) {
    std::cout << request.what() << "\n";
    return k_ok;
  }
  const auto length =
      util::contains(context.words, std::string("--help")) ? HelpLength::full : HelpLength::common;
  std::cout << render_help(innermost_command(app), length, help_columns(context.env));
  return k_ok;
}

/// Adds what all commands have in common.
void set_up_app(CLI::App& app, Context& context, unsigned& verbosity) {
  app.set_help_flag("-h,--help", "Print all options with --help, or the common ones with -h");
  app.set_version_flag("--version", std::string("hpcml ") + HPCML_VERSION, "Print the version")
      ->group(k_global_group);
  app.add_option("--sites-dir", context.sites_dirs, "Directory of site profiles to search first (repeatable)")
      ->type_name("DIR")
      ->group(k_global_group)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->transform(CLI::Validator(
          [&context](std::string& directory) -> std::string {
            const auto whole = util::absolute_path(directory, util::user_places(context.env));
            if (!whole) return whole.error().what;
            directory = *whole;
            // A rank continues without the directory: its script has named it, and reports what differs.
            std::error_code ignored;
            const bool exists = std::filesystem::is_directory(*whole, ignored);
            return exists || command_word(context.words) == "launch"
                       ? ""
                       : fmt::format("must be a directory, not '{}'", *whole);
          },
          ""));
  app.add_flag("-v,--verbose", verbosity, "Increase verbosity (repeat for debug output)")
      ->group(k_global_group);
  app.fallthrough();
  app.require_subcommand(1);
}

/// Reads the line and runs its command; nothing if it cannot be read with the flags registered.
std::optional<int> run_words(const CommandLineProgram& program, Context& context) {
  const auto& words = context.words;
  const auto owned_app = make_program("hpcml", program.help);
  CLI::App& app = *owned_app;
  int exit_code = k_ok;
  unsigned verbosity = 0;
  set_up_app(app, context, verbosity);
  if (!add_commands(program, app, context, exit_code, words)) {
    const auto wanted = command_word(words);
    print_error(fmt::format("unknown command '{}'", wanted),
                util::choice_hint(wanted, command_names(program), "'hpcml --help'"), context.colour);
    print_usage(app, context);
    return k_usage;
  }
  app.parse_complete_callback([&] {
    if (verbosity > 0) set_log_level(verbosity, context);
  });
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend())); // the parser takes the words last one first
  } catch (const CLI::ParseError& error) {
    const bool requests_version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    if (!context.every_flag && !requests_version) return std::nullopt;
    return error.get_exit_code() == 0 ? print_information(app, error, context)
                                      : report_parse_error(app, error, context);
  }
  return exit_code;
}

/// A result that did not arrive is none, whatever the command did besides.
int check_output(int code, const Context& context) {
  errno = 0;
  const bool arrived = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (arrived || (code != k_ok && code != k_findings)) return code;
  print_error(errno != 0 ? fmt::format("cannot write to the standard output, so the output is incomplete: {}",
                                       std::strerror(errno))
                         : "cannot write to the standard output, so the output is incomplete",
              "check whether the disk or your quota is full, or redirect the output to another file",
              context.colour);
  return k_world_failed;
}

} // namespace

void with_app_tree(const CommandLineProgram& program, Context context, const std::vector<std::string>& words,
                   const std::function<void(CLI::App&, const Context&)>& use) {
  const auto owned_app = make_program("hpcml", program.help);
  CLI::App& app = *owned_app;
  int exit_code = k_ok;
  unsigned verbosity = 0;
  context.every_flag = true;
  set_up_app(app, context, verbosity);
  add_commands(program, app, context, exit_code, words);
  use(app, context);
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
  // After "--" is the command of another program: the parser must not see it.
  const auto dashes = std::find(context.argv.begin() + std::min(argc, 1), context.argv.end(), "--");
  context.words.assign(context.argv.begin() + std::min(argc, 1), dashes);
  context.has_program = dashes != context.argv.end();
  if (context.has_program) context.program.assign(dashes + 1, context.argv.end());
  set_log_level(0, context);
  try {
    if (const auto code = program.run_special_line(context)) return check_output(*code, context);
    context.every_flag = false;
    if (const auto code = run_words(program, context)) return check_output(*code, context);
    context.every_flag = true; // errors and help need all flags
    context.sites_dirs.clear();
    return check_output(run_words(program, context).value_or(k_internal), context);
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error, which is a bug in hpcml: {}", error.what()),
                "request a fix: report this message and the command line to the developers of hpcml",
                context.colour);
    return k_internal;
  }
}

} // namespace hpcml::cli
