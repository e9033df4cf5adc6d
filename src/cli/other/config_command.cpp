// SPDX-License-Identifier: MIT
// hpcml config: account, partition and site, said once.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <memory>
#include <unistd.h>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/create/job_plan.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/user_key.hpp"
#include "core/slurm/accounts.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/discover/cluster_facts.hpp"

namespace hpcml::cli {

namespace {

struct ConfigOptions {
  std::string site;
  std::string key;
  std::string value;
  std::string account;
  std::string partition;
};

constexpr CommandHelp k_config_help = {
    .summary = "Manage default options: site, account, partition, …",
    .examples = R"(# Ask Slurm for your accounts and save the one to charge
hpcml config detect --site lumi
hpcml config set site lumi
hpcml config set --site lumi partition small-g)",
    .notes =
        R"(Without a command, prints the saved values and their file. Options, HPCML_* variables and the job file
beat saved values, which beat the site's defaults.)",
};

constexpr CommandHelp k_config_show_help = {
    .summary = "Print the saved values and their file",
    .examples = "hpcml config show",
};

constexpr CommandHelp k_config_set_help = {
    .summary = "Save a value for all later commands",
    .examples = R"(hpcml config set site lumi
hpcml config set --site lumi account project_1)",
    .notes = "The key site has one value. All others have one per site.",
};

constexpr CommandHelp k_config_unset_help = {
    .summary = "Remove a saved value",
    .examples = "hpcml config unset --site lumi partition",
};

constexpr CommandHelp k_config_detect_help = {
    .summary = "Find and save the site and your account",
    .examples = R"(hpcml config detect --site lumi
# Choose one of several accounts
hpcml config detect --site lumi --account project_1)",
};

constexpr CommandHelp k_config_key_help = {
    .summary = "Create the key file that protects your jobs",
    .examples = "hpcml config key",
    .notes = "Prints the path of the file. An existing key is not changed.",
};

/// The configuration and its file, for one command, and what the command changes in it.
struct ConfigEditor {
  std::string path;
  config::Config config = {};
  std::vector<std::function<void(config::Config&)>> changes = {};
  std::string news = {}; ///< what is printed once the changes are saved

  void change(std::function<void(config::Config&)> step) {
    step(config);
    changes.push_back(std::move(step));
  }
};

std::optional<ConfigEditor> open(const Context& context, int& exit_code) {
  ConfigEditor editor{config::config_path(context.env)};
  if (editor.path.empty()) {
    print_error("cannot locate the configuration file: neither HOME nor XDG_CONFIG_HOME is set",
                "set HOME or XDG_CONFIG_HOME", context.colour);
    exit_code = k_usage;
    return std::nullopt;
  }
  auto load = config::load_config(editor.path);
  print_diagnostics(load.diagnostics, load.source, context.colour);
  editor.config = std::move(load.config);
  if (!diag::has_errors(load.diagnostics)) return editor;
  exit_code = k_invalid_file; // writing it again would lose its values
  return std::nullopt;
}

int save(const ConfigEditor& editor, const Context& context) {
  std::error_code ignored; // writing the file reports the error
  std::filesystem::create_directories(std::filesystem::path(editor.path).parent_path(), ignored);
  // Others may have changed it since it was read: what they wrote stays.
  const util::FileLock alone(editor.path + ".lock");
  auto load = config::load_config(editor.path);
  auto config = diag::has_errors(load.diagnostics) ? editor.config : load.config;
  for (const auto& change : editor.changes) change(config);
  const auto written = util::write_output(editor.path, config::render_config(config), 0644);
  if (written) {
    std::fputs(editor.news.c_str(), stdout);
    ensure_user_key(context);
    return k_ok;
  }
  print_error(written.error(), context.colour);
  return k_world_failed;
}

int run_show(const Context& context) {
  int exit_code = k_ok;
  const auto editor = open(context, exit_code);
  if (!editor) return exit_code;
  std::error_code ignored;
  const bool exists = std::filesystem::exists(editor->path, ignored);
  print_note(
      exists ? editor->path
             : fmt::format("no values are saved, because {} does not exist yet: run hpcml config detect to "
                           "create it",
                           editor->path));
  if (editor->config.site) std::printf("site %s\n", editor->config.site->c_str());
  for (const auto& [site, values] : editor->config.sites)
    for (const auto& [key, value] : values)
      std::printf("%s.%s %s\n", site.c_str(), key.c_str(), value.c_str());
  return k_ok;
}

/// The site that a value is for: the one that is named, else that of the configuration, else the one of this
/// machine.
std::optional<model::Site> site_of(const ConfigOptions& options, const ConfigEditor& editor,
                                   const Context& context, int& exit_code) {
  return choose_site(options.site.empty() ? editor.config.site : std::optional(options.site), context,
                     exit_code);
}

/// What the site says to the value, as it would to a job that has it.
bool is_accepted(const model::Site& site, const std::string& key, const std::string& value,
                 const Context& context) {
  config::Config config;
  config.sites[site.id][key] = value;
  auto job = config::job_from_config(config, site.id, "");
  job.command = {"true"};
  diag::Diagnostics found;
  for (auto& finding : plan_job(job, site, context).diagnostics)
    if (finding.severity == diag::Severity::error &&
        (finding.code == "usage/" + key || finding.code == "request/" + key))
      found.push_back(std::move(finding));
  print_diagnostics(found, {}, context.colour);
  return found.empty();
}

int set_value(ConfigEditor& editor, const model::Site& site, const std::string& key, const std::string& value,
              const Context& context) {
  if (const auto fault = config::check_config_value(key, value)) {
    const auto keys = config::config_keys();
    const auto near = util::nearest(key, keys);
    const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
    print_error(known ? fmt::format("{}: {}", key, fault->what) : fault->what,
                known  ? fault->hint
                : near ? fmt::format("use '{}'", *near)
                       : fmt::format("use one of site, {}", util::join(keys, ", ")),
                context.colour);
    return k_usage;
  }
  if (!is_accepted(site, key, value, context)) return k_cannot_satisfy;
  editor.change([id = site.id, key, value](config::Config& config) { config.sites[id][key] = value; });
  editor.news += site.id + "." + key + " " + value + "\n";
  return k_ok;
}

int run_set(const ConfigOptions& options, const Context& context) {
  int exit_code = k_ok;
  auto editor = open(context, exit_code);
  if (!editor) return exit_code;
  auto target = options;
  if (options.key == "site") target.site = options.value;
  const auto site = site_of(target, *editor, context, exit_code);
  if (!site) return exit_code;
  if (options.key == "site") {
    editor->change([id = site->id](config::Config& config) { config.site = id; });
    editor->news += "site " + site->id + "\n";
  } else {
    exit_code = set_value(*editor, *site, options.key, options.value, context);
  }
  return exit_code == k_ok ? save(*editor, context) : exit_code;
}

int run_unset(const ConfigOptions& options, const Context& context) {
  int exit_code = k_ok;
  auto editor = open(context, exit_code);
  if (!editor) return exit_code;
  bool exists = false;
  if (options.key == "site") {
    exists = editor->config.site.has_value();
    editor->change([](config::Config& config) { config.site.reset(); });
  } else {
    editor->change([&](config::Config& config) {
      for (auto& [id, values] : config.sites)
        if (options.site.empty() || options.site == id) exists = values.erase(options.key) > 0 || exists;
    });
  }
  if (exists) return save(*editor, context);
  print_error(fmt::format("hpcml config has no saved value of '{}' to remove", options.key),
              "run hpcml config show to list the saved values", context.colour);
  return k_usage;
}

/// Returns one of the names: the only one, or the one that the user chooses at a terminal.
std::optional<std::string> choose(const std::vector<std::string>& names, const std::string& what) {
  if (names.size() == 1) return names.front();
  for (std::size_t i = 0; i < names.size(); ++i) print_line(fmt::format("{:3}  {}", i + 1, names[i]));
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return std::nullopt;
  std::fprintf(stderr, "%s, 1 to %zu: ", what.c_str(), names.size());
  std::string line;
  std::getline(std::cin, line);
  const auto number = util::parse_unsigned(util::trim(line));
  if (!number || *number < 1 || *number > names.size()) return std::nullopt;
  return names[static_cast<std::size_t>(*number) - 1];
}

/// Returns the user's accounts on this cluster, or why they are unknown.
util::Result<std::vector<std::string>> ask_account_names(const Context& context) {
  const slurm::LiveCommands commands(context.env);
  const auto reply = commands.ask({"scontrol", "show", "config"});
  if (!reply.ok()) return util::Error{reply.why_not};
  TRY(const auto config, slurm::parse_cluster_config(reply.output.out));
  const auto answer = slurm::ask_accounts(commands, config, discover::make_inquirer(context.env).user);
  if (!answer.ok()) return util::Error{answer.why_not};
  return slurm::read_accounts(answer.output.out).names();
}

/// The account to charge: checked against those of Slurm, or chosen among them. Nothing where there is none
/// to find out.
std::optional<std::string> find_account(const ConfigOptions& options, const Context& context,
                                        int& exit_code) {
  const auto known = ask_account_names(context);
  const auto names = known.value_or({});
  if (!options.account.empty()) {
    if (names.empty() || std::find(names.begin(), names.end(), options.account) != names.end())
      return options.account;
    print_error(
        fmt::format("cannot save account '{}': Slurm does not list it among your accounts", options.account),
        util::choice_hint(options.account, names), context.colour);
    exit_code = k_cannot_satisfy;
    return std::nullopt;
  }
  if (names.empty()) {
    print_note(
        fmt::format("found no account to save: {}; if this site charges accounts, run hpcml config set "
                    "account NAME",
                    known ? "Slurm lists none" : known.error().what));
    return std::nullopt;
  }
  auto chosen = choose(names, "account to charge");
  if (!chosen) {
    print_error("no account was saved: you have several, and none was chosen",
                "use hpcml config detect --account NAME, with one of the accounts above", context.colour);
    exit_code = k_usage;
  }
  return chosen;
}

int run_detect(const ConfigOptions& options, const Context& context) {
  int exit_code = k_ok;
  auto editor = open(context, exit_code);
  if (!editor) return exit_code;
  const auto site = site_of(options, *editor, context, exit_code);
  if (!site) return exit_code;
  const auto account = find_account(options, context, exit_code);
  if (exit_code != k_ok) return exit_code;
  if (!editor->config.site) {
    editor->change([id = site->id](config::Config& config) { config.site = id; });
    editor->news += "site " + site->id + "\n";
  }
  if (account) exit_code = set_value(*editor, *site, "account", *account, context);
  if (exit_code == k_ok && !options.partition.empty())
    exit_code = set_value(*editor, *site, "partition", options.partition, context);
  return exit_code == k_ok ? save(*editor, context) : exit_code;
}

} // namespace

void add_config(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "config", k_config_help);
  const auto options = std::make_shared<ConfigOptions>();
  command->require_subcommand(0, 1);
  command->callback([command, &context, &exit_code] {
    if (command->get_subcommands().empty()) exit_code = run_show(context);
  });
  add_command(*command, "show", k_config_show_help)->callback([&] { exit_code = run_show(context); });
  const auto add_site = [&](CLI::App* sub) {
    sub->add_option("--site", options->site, "Site that the value is for")
        ->type_name("SITE")
        ->default_str("the saved one");
  };
  const auto add_key = [&](CLI::App* sub) {
    sub->add_option("KEY", options->key, "Key: site, account, partition, qos or another key of job files")
        ->required();
  };
  auto* set = add_command(*command, "set", k_config_set_help);
  add_key(set);
  set->add_option("VALUE", options->value, "Value to save")->required();
  add_site(set);
  set->callback([options, &context, &exit_code] { exit_code = run_set(*options, context); });
  auto* unset = add_command(*command, "unset", k_config_unset_help);
  add_key(unset);
  add_site(unset);
  unset->callback([options, &context, &exit_code] { exit_code = run_unset(*options, context); });
  auto* detect = add_command(*command, "detect", k_config_detect_help);
  add_site(detect);
  detect->add_option("--account", options->account, "Account to save")->type_name("NAME");
  detect->add_option("--partition", options->partition, "Partition to save")->type_name("NAME");
  detect->callback([options, &context, &exit_code] { exit_code = run_detect(*options, context); });
  add_command(*command, "key", k_config_key_help)->callback([&context, &exit_code] {
    exit_code = run_config_key(context);
  });
}

} // namespace hpcml::cli
