// SPDX-License-Identifier: MIT
// The help of every command follows docs/development/style.md, and its examples are valid command lines.
#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "cli/app_tree.hpp"
#include "cli/help/help_page.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/workspace_helper.hpp"
#include "core/model/rank_settings.hpp"
#include "core/util/text.hpp"
#include "core/util/wrap_text.hpp"
#include "run/torchrun/torchrun_flags.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

using Names = std::vector<std::string>;

void walk(const CLI::App& command, const std::function<void(const CLI::App&)>& visit) {
  visit(command);
  for (const auto* below : cli::commands_of(command)) walk(*below, visit);
}

/// Calls `visit` with the program and with every command, listed or not.
void for_each_command(const std::function<void(const CLI::App&)>& visit) {
  cli::with_app_tree({}, {}, [&](const CLI::App& app, const cli::Context&) { walk(app, visit); });
}

Names names_of_commands() {
  Names names;
  for_each_command([&](const CLI::App& command) { names.push_back(cli::command_path(command)); });
  return names;
}

/// What breaks the rules of a title: "capital", "full stop", "length".
std::string title_fault(std::string_view text, std::size_t longest) {
  if (text.empty()) return "empty";
  if (std::islower(static_cast<unsigned char>(text.front())) != 0) return "capital";
  if (text.ends_with('.') || text.ends_with(';')) return "full stop";
  return util::text_width(text) > longest ? "length" : "";
}

std::string option_fault(const CLI::Option& option) {
  const auto text = option.get_description();
  if (const auto fault = title_fault(text, 80); !fault.empty()) return fault;
  for (const char* typed : {"default", "otherwise", "possible value", "may be repeated"})
    if (holds(text, typed)) return typed;
  const bool is_switch = option.get_items_expected_max() == 0;
  const auto value = cli::value_name(option);
  static const std::regex k_parser_type("UINT|INT|FLOAT|TEXT|BOOLEAN|TIMESTAMP|.*\\bin \\[.*|.*\\{.*");
  if (!is_switch && value.empty()) return "no placeholder";
  return std::regex_match(value, k_parser_type) ? "type of the parser" : "";
}

/// The command lines of hpcml that a line of the shell runs, in a directory of programs that do nothing.
std::vector<Names> called_lines(Workspace& workspace, const std::string& line) {
  const auto result = workspace.program({"bash", "-c", "PATH=$PWD/stubs:/usr/bin:/bin; " + line});
  CAPTURE(line, result.err);
  CHECK(result.err.empty());
  std::vector<Names> lines;
  for (const auto& call : util::split(workspace.read("calls"), '\n')) {
    auto words = util::split(call, '\t');
    if (!words.empty() && words.back().empty()) words.pop_back();
    if (!words.empty()) lines.push_back(words);
  }
  return lines;
}

void put_stubs(Workspace& workspace) {
  std::filesystem::create_directory(workspace / "stubs");
  workspace.put("stubs/hpcml", "#!/bin/bash\n{ printf '%s\\t' \"$@\"; echo; } >> \"$CALLS\"\n", 0755);
  workspace.put("stubs/srun", "#!/bin/bash\nwhile [[ $# -gt 0 && $1 != hpcml ]]; do shift; done\n\"$@\"\n",
                0755);
  for (const auto* name : {"c++", "man"}) workspace.put("stubs/" + std::string(name), "#!/bin/sh\n", 0755);
  workspace.put("slurm-1234.out", "");
  workspace.set("CALLS", (workspace / "calls").string());
  workspace.set("HPCML_CHECKPOINT_DIR", "checkpoints");
}

struct IsParsed {};

/// Why the parser rejects the words; empty: it accepts them.
std::string parse_fault(const Names& words) {
  if (words.front() == "torchrun") {
    const auto line = torchrun::read_torchrun_line({words.begin() + 1, words.end()}, {});
    return line.errors.empty() ? "" : line.errors.front().what;
  }
  cli::Context context;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  context.words.assign(words.begin(), dashes);
  context.has_program = dashes != words.end();
  if (context.has_program) context.program.assign(dashes + 1, words.end());
  std::string fault;
  cli::with_app_tree(context, context.words, [&](CLI::App& app, const cli::Context& with) {
    app.parse_complete_callback([] { throw IsParsed{}; }); // before any command runs
    try {
      app.parse(Names(with.words.rbegin(), with.words.rend()));
    } catch (const IsParsed&) {
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) fault = error.what();
    }
  });
  return fault;
}

} // namespace

TEST_CASE("help has summaries that are short titles") {
  for_each_command([](const CLI::App& command) {
    CAPTURE(cli::command_path(command));
    const auto summary = cli::help_of(command).summary;
    CHECK(title_fault(summary, 60) == "");
    // Imperative: "Print", not "Prints".
    const auto verb = std::string(summary.substr(0, summary.find(' ')));
    CHECK_FALSE((verb.ends_with("s") && verb != "Compress"));
    CHECK_FALSE(cli::help_of(command).examples.empty());
  });
}

TEST_CASE("help has options without types of the parser") {
  unsigned count = 0;
  for_each_command([&](const CLI::App& command) {
    auto options = cli::positionals_of(command);
    for (const auto& group : cli::option_groups(command))
      options.insert(options.end(), group.options.begin(), group.options.end());
    for (const auto* option : options) {
      CAPTURE(cli::command_path(command), option->get_name(), option->get_description());
      CHECK(option_fault(*option) == "");
      ++count;
    }
  });
  CHECK(count > 300);
}

TEST_CASE("help checks find faults") {
  CHECK(title_fault("print the script", 60) == "capital");
  CHECK(title_fault("Print the script.", 60) == "full stop");
  CHECK(title_fault(std::string(61, 'X'), 60) == "length");
  CLI::App app;
  unsigned number = 0;
  CHECK(option_fault(*app.add_option("--ranks", number, "Ranks")) == "type of the parser");
  CHECK(option_fault(*app.add_option("--nodes", number, "Nodes (default: 1)")->type_name("N")) == "default");
  CHECK(option_fault(*app.add_option("--gpus", number, "GPUs")->type_name("N")) == "");
}

TEST_CASE("help lines fit the terminal") {
  for_each_command([](const CLI::App& command) {
    for (const auto columns : {50U, 60U, 80U, 100U})
      for (const auto length : {cli::HelpLength::common, cli::HelpLength::full})
        for (const auto& line : util::split(cli::render_help(command, length, columns), '\n')) {
          CAPTURE(cli::command_path(command), columns, line);
          // Examples and lists are printed unchanged; usage is one line per form.
          const bool is_fixed = columns < 80 && (line.starts_with("  ") || line.starts_with("U"));
          CHECK((util::text_width(line) <= columns || is_fixed));
        }
  });
}

TEST_CASE("help shows every option or the command that describes it") {
  for_each_command([](const CLI::App& command) {
    const auto help = cli::render_help(command, cli::HelpLength::full, 100);
    CAPTURE(cli::command_path(command), help);
    for (const auto& group : cli::option_groups(command))
      for (const auto* option : group.options) CHECK(holds(help, cli::option_names(*option).back()));
    for (const char* internal : {"Excludes:", "Needs:", "REQUIRED", "UINT"})
      CHECK_FALSE(holds(help, internal));
    CHECK(help.find("Usage: " + cli::command_path(command)) != std::string::npos);
    CHECK(help.find("\nExamples:") < help.find("ptions:\n"));
    CHECK(holds(help, "-h, --help"));
  });
}

TEST_CASE("help of -h shows at most 15 options") {
  for_each_command([](const CLI::App& command) {
    const auto help = cli::render_help(command, cli::HelpLength::common, 100);
    CAPTURE(cli::command_path(command), help);
    const auto lines = util::split(help, '\n');
    CHECK(std::count_if(lines.begin(), lines.end(),
                        [](const auto& line) { return line.starts_with("  -"); }) <= 15);
    CHECK(holds(help, "Use '" + cli::command_path(command) + " --help' to show all options."));
    for (const auto& name : util::split(cli::help_of(command).common, ' '))
      if (!name.empty()) CHECK(command.get_option_no_throw(name) != nullptr);
  });
}

TEST_CASE("help of submit and init refers to gen") {
  cli::with_app_tree({}, {}, [](const CLI::App& app, const cli::Context&) {
    const auto gen = cli::render_help(*app.get_subcommand("gen"), cli::HelpLength::full, 100);
    for (const auto* name : {"submit", "init", "env"}) {
      const auto help = cli::render_help(*app.get_subcommand(name), cli::HelpLength::full, 100);
      CHECK(holds(help, "More job options, described by 'hpcml gen --help':"));
      CHECK_FALSE(holds(help, "NCCL/RCCL debug"));
    }
    CHECK(holds(gen, "Enable NCCL/RCCL debug logging"));
  });
}

TEST_CASE("help shows the defaults and values of the code") {
  cli::with_app_tree({}, {}, [](const CLI::App& app, const cli::Context&) {
    const auto text = [&](const std::string& command, const std::string& option) {
      auto shown = cli::option_text(*app.get_subcommand(command)->get_option(option));
      std::replace(shown.begin(), shown.end(), util::k_unbreakable_space, ' ');
      return shown;
    };
    const auto fallback = [](unsigned number) { return "[default: " + std::to_string(number) + "]"; };
    CHECK(holds(text("gen", "--max-requeues"), fallback(model::k_default_max_requeues)));
    CHECK(holds(text("launch", "--rendezvous-timeout"), fallback(model::k_default_rendezvous_timeout)));
    CHECK(holds(text("gen", "--heartbeat-timeout"), fallback(model::HeartbeatTiming{}.timeout)));
    CHECK(holds(text("gen", "--launcher"), "torchrun"));
    CHECK(holds(text("gen", "--backend"), "[default: auto] [possible values: auto, nccl, gloo]"));
    CHECK(holds(text("check", "--format"), "[default: text] [possible values: text, json, sarif, github]"));
  });
}

TEST_CASE("help has examples that hpcml accepts") {
  unsigned count = 0;
  for_each_command([&](const CLI::App& command) {
    auto examples = std::string(cli::help_of(command).examples);
    examples = util::replace_all(examples, "\\\n", " ");
    for (const auto& line : util::split(examples, '\n')) {
      if (line.starts_with("#")) continue;
      Workspace workspace;
      put_stubs(workspace);
      const auto calls = called_lines(workspace, line);
      CAPTURE(line);
      CHECK(calls.size() == 1);
      for (const auto& words : calls) CHECK(parse_fault(words) == "");
      ++count;
    }
  });
  CHECK(count >= 50);
  CHECK(holds(parse_fault({"gen", "--nodse", "2"}), "not expected"));
}

TEST_CASE("help is as wide as COLUMNS") {
  Workspace workspace;
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    for (const auto& line : util::split(text, '\n')) most = std::max(most, util::text_width(line));
    return most;
  };
  CHECK(widest(workspace.hpcml({"gen", "--help"}).out) > 80);
  workspace.set("COLUMNS", "80");
  CHECK(widest(workspace.hpcml({"gen", "--help"}).out) <= 80);
  workspace.set("COLUMNS", "300");
  CHECK(widest(workspace.hpcml({"gen", "--help"}).out) <= 100);
}

TEST_CASE("help of every command is on standard output") {
  const Workspace workspace;
  for (const auto& path : names_of_commands())
    for (const auto* flag : {"-h", "--help"}) {
      auto words = util::split(path, ' ');
      words.erase(words.begin());
      words.emplace_back(flag);
      const auto result = workspace.hpcml(words);
      CAPTURE(words, result.err);
      CHECK(result.exit_code == 0);
      CHECK(result.err.empty());
      CHECK(holds(result.out, "Usage: " + path));
      CHECK(holds(result.out, "Global options:") == (std::string(flag) == "--help"));
    }
}

TEST_CASE("command line errors name argument, near match and usage") {
  struct Line {
    Names words;
    std::string error, hint, usage;
  };
  const std::string gen = "Usage: hpcml gen [OPTIONS] -- COMMAND [ARGS]...";
  const std::vector<Line> lines = {
      {{"gen", "--foo"}, "unexpected argument '--foo'", "run 'hpcml gen --help'", gen},
      {{"gen", "--nodse", "2"}, "unexpected argument '--nodse'", "use --nodes", gen},
      {{"gen", "--site", "lumi", "python"}, "unexpected argument 'python'", "add -- before the program", gen},
      {{"gen", "--gres=gpu:4"}, "unexpected argument '--gres=gpu:4'", "use --gpus-per-node N", gen},
      {{"gen", "--format", "yaml"}, "invalid value 'yaml' for --format", "use one of script, json", gen},
      {{"gen", "--format", "jsno"}, "invalid value 'jsno' for --format", "use 'json'", gen},
      {{"gen", "--nodes"}, "--nodes requires a value", "run 'hpcml gen --help'", gen},
      {{"gen", "--explain", "--interactive"}, "--explain cannot be used with --interactive", "", gen},
      {{"submit", "--chain", "0"},
       "--chain must be a whole number from 1 to 1000, not '0'",
       "",
       "Usage: hpcml submit"},
      {{"submit", "--chain-if", "ok"}, "--chain-if requires --chain", "", "Usage: hpcml submit"},
      {{"sites", "show"},
       "SITE is required",
       "run 'hpcml sites show --help'",
       "Usage: hpcml sites show [OPTIONS] SITE"},
      {{"--sites-dir", "/nowhere", "sites", "list"},
       "--sites-dir must be a directory, not '/nowhere'",
       "",
       "Usage: hpcml sites list"},
      {{"sites"},
       "'hpcml sites' requires a command",
       "use one of list, show",
       "Usage: hpcml sites [OPTIONS] COMMAND"},
      {{"sites", "lst"}, "unknown command 'hpcml sites lst'", "use 'list'", "Usage: hpcml sites"},
      {{"gne"}, "unknown command 'gne'", "use 'gen'", "Usage: hpcml [OPTIONS] COMMAND"},
      {{"-v"},
       "no command given",
       "run 'hpcml --help' to list the commands",
       "Usage: hpcml [OPTIONS] COMMAND"},
      {{"--bogus"}, "unexpected argument '--bogus'", "", "Usage: hpcml [OPTIONS] COMMAND"},
      {{"gen", "--explain=foo"}, "--explain does not accept a value", "", gen},
  };
  const Workspace workspace;
  for (const auto& line : lines) {
    const auto result = workspace.hpcml(line.words);
    CAPTURE(line.words, result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(result.err.starts_with("hpcml: error: " + line.error + "\n"));
    CHECK(holds(result.err, line.hint));
    CHECK(holds(result.err, "\n" + line.usage));
  }
  CHECK(holds(workspace.hpcml({"launch", "--stall-timout", "5", "--", "true"}).err, "use --stall-timeout"));
}

TEST_CASE("only the first task of a step prints the usage") {
  Workspace workspace;
  for (const std::string task : {"0", "1"})
    for (const auto& words :
         {Names{"launch", "--nodse", "2"}, Names{"launch"}, Names{"torchrun", "--nodse"}, Names{"gne"}}) {
      workspace.set("SLURM_PROCID", task);
      const auto result = workspace.hpcml(words);
      CAPTURE(task, words, result.err);
      CHECK(result.exit_code != 0);
      CHECK(holds(result.err, "hpcml: error: "));
      CHECK(holds(result.err, "\nUsage: hpcml") == (task == "0"));
    }
}
