// SPDX-License-Identifier: MIT
// hpcml rules: the rules of hpcml check, and the page of one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <memory>

#include "check/rule_page.hpp"
#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/config/site_store.hpp"
#include "core/util/choice_hint.hpp"

namespace hpcml::cli {
namespace {

struct RulesOptions {
  std::string id;
  std::string format = "text";
};

int run_rules(const RulesOptions& options, const Context& context) {
  // Examples are about the sites that come with the program, whatever else is installed here.
  std::map<std::string, config::SiteLoad, std::less<>> sites;
  const check::SiteLookup lookup = [&](std::string_view id) -> const model::Site* {
    auto found = sites.find(id);
    if (found == sites.end())
      found = sites.emplace(std::string(id), config::load_site(std::string(id), {})).first;
    return found->second.site ? &*found->second.site : nullptr;
  };
  if (options.id.empty()) {
    std::fputs(check::render_rules(options.format, lookup).c_str(), stdout);
    return k_ok;
  }
  if (const auto* rule = check::find_rule(options.id)) {
    std::fputs(check::render_rule(*rule, options.format, lookup).c_str(), stdout);
    return k_ok;
  }
  std::vector<std::string> ids;
  for (const auto& rule : check::all_rules()) ids.emplace_back(rule.id);
  print_error(fmt::format("unknown rule '{}'", options.id), util::choice_hint(options.id, ids, "hpcml rules"),
              context.colour);
  return k_usage;
}

constexpr CommandHelp k_rules_help = {
    .summary = "List the rules of hpcml check, or explain one",
    .examples = R"(hpcml rules
# The page of one rule: why, examples, how to disable it
hpcml rules launch/fixed-port)",
};

} // namespace

void add_rules(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "rules", k_rules_help);
  const auto options = std::make_shared<RulesOptions>();
  command->add_option("RULE", options->id, "Explain this rule");
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context, &exit_code] { exit_code = run_rules(*options, context); });
}

} // namespace hpcml::cli
