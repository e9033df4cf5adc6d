// SPDX-License-Identifier: MIT
// Registration of the request flags.
#include "cli/create/request_flags.hpp"

#include <CLI/CLI.hpp>

#include "cli/help/value_checks.hpp"
#include "core/config/job_file.hpp"
#include "core/config/job_keys.hpp"

namespace hpcml::cli {

namespace {

/// What help shows of a key, set once it is known how the option is read.
void describe(CLI::Option& option, const config::JobKey& key) {
  option.type_name(std::string(key.help.type))->group(std::string(key.help.group));
  if (!key.help.fallback.empty()) option.default_str(std::string(key.help.fallback));
  if (key.words == nullptr) return;
  if (const auto words = key.words(); !words.empty()) option.check(values_shown(words));
}

void add_value(CLI::App& app, RequestFlags& flags, const config::JobKey& key) {
  auto* option = app.add_option_function<std::string>(
      key.flag(), [&flags, name = key.flag()](const std::string& text) { flags.values[name] = text; },
      std::string(key.help.text));
  describe(*option->take_last(), key); // as sbatch has it
}

void add_list(CLI::App& app, RequestFlags& flags, const config::JobKey& key) {
  auto* option = app.add_option_function<std::vector<std::string>>(
      key.flag(),
      [&flags, name = key.flag()](const std::vector<std::string>& texts) { flags.lists[name] = texts; },
      std::string(key.help.text));
  describe(*option->expected(1)->allow_extra_args(false)->take_all(), key);
}

void add_switch(CLI::App& app, RequestFlags& flags, const std::string& flag, const char* value,
                const config::JobKey& key, std::string_view text) {
  app.add_flag_callback(
         flag, [&flags, of = key.flag(), value] { flags.values[of] = value; }, std::string(text))
      ->group(std::string(key.help.group));
}

void add_switches(CLI::App& app, RequestFlags& flags, const config::JobKey& key, const Context& context) {
  const auto opposite = "--no-" + key.name;
  if (!key.help.text.empty() && context.wants(key.flag()))
    add_switch(app, flags, key.flag(), "true", key, key.help.text);
  if (key.help.no_text.empty() || !context.wants(opposite)) return;
  add_switch(app, flags, opposite, "false", key, key.help.no_text);
  if (auto* yes = app.get_option_no_throw(key.flag()); yes != nullptr)
    app.get_option(opposite)->excludes(yes);
}

} // namespace

void add_request_flags(CLI::App& app, RequestFlags& flags, const Context& context) {
  app.add_option("--site", flags.site, "Cluster to run on, from 'hpcml sites list'")
      ->type_name("SITE")
      ->default_str("this machine's");
  app.add_option("--job", flags.job_file, "Job file with the same keys as these options")
      ->type_name("FILE")
      ->default_str(std::string(config::k_default_job_file) + ", if it exists");
  app.add_option("--only", flags.only, "Use one job of a job file with several")->type_name("NAME");
  for (const auto& key : config::job_keys()) {
    if (key.form == config::FlagForm::yes_no || key.form == config::FlagForm::on)
      add_switches(app, flags, key, context);
    else if (context.wants(key.flag()))
      key.form == config::FlagForm::list ? add_list(app, flags, key) : add_value(app, flags, key);
  }
}

} // namespace hpcml::cli
