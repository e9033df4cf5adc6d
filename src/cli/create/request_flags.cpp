// SPDX-License-Identifier: MIT
// Registration of the request flags.
#include "cli/create/request_flags.hpp"

#include <CLI/CLI.hpp>

#include "core/config/job_keys.hpp"

namespace hpcml::cli {

namespace {

void add_value(CLI::App& app, RequestFlags& flags, const config::JobKey& key) {
  app.add_option_function<std::string>(
         key.flag(), [&flags, name = key.flag()](const std::string& text) { flags.values[name] = text; },
         std::string(key.help.text))
      ->type_name(std::string(key.help.type))
      ->take_last() // as sbatch has it
      ->group(std::string(key.help.group));
}

void add_list(CLI::App& app, RequestFlags& flags, const config::JobKey& key) {
  app.add_option_function<std::vector<std::string>>(
         key.flag(),
         [&flags, name = key.flag()](const std::vector<std::string>& texts) { flags.lists[name] = texts; },
         std::string(key.help.text))
      ->type_name(std::string(key.help.type))
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group(std::string(key.help.group));
}

CLI::Option* add_switch(CLI::App& app, RequestFlags& flags, const std::string& flag, const std::string& of,
                        const char* value, const config::JobKey& key, std::string_view help) {
  return app
      .add_flag_callback(
          flag, [&flags, of, value] { flags.values[of] = value; }, std::string(help))
      ->group(std::string(key.help.group));
}

void add_switches(CLI::App& app, RequestFlags& flags, const config::JobKey& key, const Context& context) {
  const auto opposite = "--no-" + key.name;
  CLI::Option* yes = nullptr;
  if (!key.help.text.empty() && context.wants(key.flag()))
    yes = add_switch(app, flags, key.flag(), key.flag(), "true", key, key.help.text);
  if (key.help.no_text.empty() || !context.wants(opposite)) return;
  auto* no = add_switch(app, flags, opposite, key.flag(), "false", key, key.help.no_text);
  if (yes != nullptr) no->excludes(yes);
}

} // namespace

void add_request_flags(CLI::App& app, RequestFlags& flags, const Context& context) {
  app.add_option("--site", flags.site, "the cluster; see `hpcml sites list`")->type_name("SITE");
  app.add_option("--job", flags.job_file,
                 "read the same keys from a job file; ./hpcml.json is read when it is there")
      ->type_name("FILE");
  app.add_option("--only", flags.only, "of a job file with several jobs, this one")->type_name("NAME");
  for (const auto& key : config::job_keys()) {
    if (key.form == config::KeyForm::yes_no || key.form == config::KeyForm::on)
      add_switches(app, flags, key, context);
    else if (context.wants(key.flag()))
      key.form == config::KeyForm::list ? add_list(app, flags, key) : add_value(app, flags, key);
  }
}

} // namespace hpcml::cli
