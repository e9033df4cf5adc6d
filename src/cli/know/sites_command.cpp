// SPDX-License-Identifier: MIT
// hpcml sites: what hpcml knows about clusters, and whether a profile is right.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/know/site_rows.hpp"
#include "cli/know/sites_discover.hpp"
#include "cli/know/sites_table.hpp"
#include "core/config/json_tree.hpp"
#include "core/config/site_schema.hpp"
#include "core/config/site_store.hpp"
#include "core/slurm/options.hpp"
#include "core/util/date.hpp"
#include "core/util/embedded.hpp"
#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "generate/discover/json_build.hpp"

namespace hpcml::cli {

namespace {

constexpr CommandHelp k_sites_help = {
    .summary = "List, show, validate and discover site profiles",
    .examples = R"(hpcml sites list
hpcml sites show lumi
# On a login node of a cluster without a profile
hpcml sites discover -o ~/.config/hpcml/sites/mycluster.json)",
};

constexpr CommandHelp k_sites_list_help = {
    .summary = "List all sites with their GPUs, nodes and limits",
    .examples = R"(hpcml sites list
# For programs: an array with an object per site
hpcml sites list --format json)",
};

constexpr CommandHelp k_sites_show_help = {
    .summary = "Show all facts of a site profile and their sources",
    .examples = R"(hpcml sites show lumi
# For programs: the merged profile
hpcml sites show lumi --format json)",
};

constexpr CommandHelp k_sites_validate_help = {
    .summary = "Check site profiles for errors",
    .examples = R"(hpcml sites validate ~/.config/hpcml/sites/mycluster.json)",
    .notes = "Exit codes: 0 all are valid, 3 one is invalid.",
};

constexpr CommandHelp k_sites_schema_help = {
    .summary = "Print the keys of site profiles and their values",
    .examples = R"(# For an editor that completes profiles
hpcml sites schema > schema.json
# As a page in Markdown
hpcml sites schema --format markdown)",
};

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

/// Returns the rows that were computed at build time, of sites that no profile of the user changes.
std::map<std::string, std::vector<std::string>> built_in_rows(const std::set<std::string>& own) {
  std::map<std::string, std::vector<std::string>> rows;
  for (auto& row : parse_site_rows(embedded::site_rows()))
    if (std::none_of(row.marks.layers.begin(), row.marks.layers.end(),
                     [&](const auto& id) { return own.contains(id); }))
      rows.emplace(row.marks.id, std::move(row.cells));
  return rows;
}

/// The rows as a table, or as JSON with the heads as keys ("gpus_per_node"). A day that has passed is none to
/// wait for.
void print_rows(std::vector<std::vector<std::string>> rows, const std::string& format,
                const Context& context) {
  const auto day = util::today(context.env);
  for (auto& row : rows)
    if (auto& state = row.at(1); state.starts_with("until ") && state.substr(6, 10) < day)
      state = "retired" + state.substr(16);
  if (format != "json") return print(util::render_columns(rows));
  std::string text = "[";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    discover::JsonObjectBuilder row;
    for (std::size_t j = 0; j < rows[i].size(); ++j)
      row.put(util::replace_all(util::to_lower(rows[0][j]), " ", "_"), rows[i][j]);
    text += (i > 1 ? ",\n " : "\n ") + discover::render_on_one_line(row.node());
  }
  print(text + "\n]\n");
}

int run_list(const Context& context, const std::string& format) {
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  std::vector<std::vector<std::string>> rows = {sites_head()};
  int exit_code = k_ok;
  const auto own = config::own_profiles(directories);
  auto known = built_in_rows(own);
  if (own.empty()) {
    for (auto& [id, row] : known) rows.push_back(std::move(row));
    print_rows(std::move(rows), format, context);
    return exit_code;
  }
  for (const auto& id : config::list_sites(directories)) {
    if (const auto row = known.find(id); row != known.end()) {
      rows.push_back(row->second);
      continue;
    }
    const auto load = config::load_site(id, directories);
    if (!load.site) {
      print_diagnostics(load.diagnostics, load.source, context.colour);
      rows.push_back({id, "invalid", "?", "?", "?", "?", "?", "-", "see the message above"});
      exit_code = k_invalid_file;
      continue;
    }
    rows.push_back(sites_row(*load.site));
  }
  print_rows(std::move(rows), format, context);
  return exit_code;
}

void print_facts(const config::SiteFacts& facts) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& fact : facts.facts) {
    const auto source = fact.source.empty() ? ""
                                            : fmt::format("[{}{}]", fact.source,
                                                          fact.checked.empty() ? "" : ", " + fact.checked);
    if (!fact.value.empty()) rows.push_back({"  " + fact.path, fact.value, source});
    if (!fact.note.empty()) rows.push_back({"", "  note: " + fact.note});
    for (const auto& replaced : fact.superseded) {
      rows.push_back(
          {"  " + fact.path,
           fmt::format("  not {}{}: {}", replaced.value,
                       replaced.source.empty() ? "" : " [" + replaced.source + "]", replaced.why)});
    }
  }
  // Long values would push all sources out of sight: only the paths are aligned.
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row[0].size());
  for (const auto& row : rows) {
    print(fmt::format("{:<{}}  {}{}\n", row[0], width, row[1],
                      row.size() > 2 && !row[2].empty() ? "  " + row[2] : ""));
  }
}

int run_show(const Context& context, const std::string& id, const std::string& format) {
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  const auto load = config::load_site(id, directories);
  print_diagnostics(load.diagnostics, load.source, context.colour);
  if (!load.site) return load.not_found ? k_usage : k_invalid_file;
  const auto facts = config::load_facts(id, directories);
  if (format == "json") {
    print(facts.json + "\n");
    return k_ok;
  }
  const auto& site = *load.site;
  print(fmt::format("{}: {} ({})\nprofile: {}, hash {}\n", site.id, site.name, state_of(site), site.file,
                    site.hash));
  if (!site.partitions.empty())
    print(fmt::format(
        "\nPartitions (*: the default; TIME and MOST: time and nodes that a job can have; ?: unknown)\n{}",
        render_partitions(site, facts)));
  if (!site.qos.empty())
    print(fmt::format("\nQoS (*: the default; its limits replace those of the partition)\n{}",
                      render_qos(site)));
  print("\nFacts\n");
  print_facts(facts);
  if (!site.sources.empty()) print("\nSources (with the day on which they were read)\n");
  std::vector<std::vector<std::string>> rows;
  for (const auto& source : site.sources) rows.push_back({"  " + source.id, source.checked, source.url});
  print(util::render_columns(rows));
  if (!site.unknown.empty()) print("\nUnknown (not in any source)\n");
  for (const auto& fact : site.unknown) print("  " + fact + "\n");
  return k_ok;
}

/// Finds rules for options that neither sbatch nor srun has. A site's own plugins may have some, so that only
/// likely typos are reported.
diag::Diagnostics find_slips(const config::JsonNode& profile) {
  diag::Diagnostics slips;
  const auto* flags = profile.find("flags");
  if (flags == nullptr) return slips;
  const auto names = slurm::option_names(slurm::Program::sbatch);
  for (const auto& member : flags->members) {
    if (member.value.is(config::JsonKind::string) ||
        slurm::find_option(slurm::Program::sbatch, member.key).option ||
        slurm::find_option(slurm::Program::srun, member.key).option)
      continue;
    if (const auto near = util::nearest(member.key, names))
      slips.push_back({diag::Severity::warning, "site/option",
                       fmt::format("sbatch has no option --{}", member.key), member.place.location(),
                       fmt::format("use the key '{}'", *near)});
  }
  return slips;
}

int run_validate(const Context& context, const std::vector<std::string>& files) {
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  int exit_code = k_ok;
  for (const auto& file : files) {
    const auto load = config::load_site_file(file, directories);
    print_diagnostics(load.diagnostics, load.source, context.colour);
    if (const auto parsed = config::parse_json(load.source, file, "site"); load.site && parsed.root)
      print_diagnostics(find_slips(*parsed.root), load.source, context.colour);
    if (load.site)
      print(fmt::format("{}: ok, site {}, {}\n", file, load.site->id,
                        util::counted(load.site->sources.size(), "source")));
    else
      exit_code = k_invalid_file;
  }
  return exit_code;
}

} // namespace

void add_sites(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "sites", k_sites_help);
  command->require_subcommand(1);
  const auto list_format = std::make_shared<std::string>("text");
  auto* list_command = add_command(*command, "list", k_sites_list_help);
  add_format(*list_command, *list_format, {"text", "json"});
  list_command->callback(
      [list_format, &context, &exit_code] { exit_code = run_list(context, *list_format); });

  struct Show {
    std::string id;
    std::string format = "text";
  };
  const auto show = std::make_shared<Show>();
  auto* show_command = add_command(*command, "show", k_sites_show_help);
  show_command->add_option("SITE", show->id, "Name of the site")->required();
  add_format(*show_command, show->format, {"text", "json"});
  show_command->callback(
      [show, &context, &exit_code] { exit_code = run_show(context, show->id, show->format); });

  const auto files = std::make_shared<std::vector<std::string>>();
  auto* validate = add_command(*command, "validate", k_sites_validate_help);
  validate->add_option("FILE", *files, "Profiles to check")->required();
  validate->callback([files, &context, &exit_code] { exit_code = run_validate(context, *files); });

  add_sites_discover(*command, context, exit_code);
  add_sites_diff(*command, context, exit_code);
  const auto schema_format = std::make_shared<std::string>("json");
  auto* schema = add_command(*command, "schema", k_sites_schema_help);
  add_format(*schema, *schema_format, {"json", "markdown"}, "Output format; json is a JSON Schema");
  schema->callback([schema_format, &exit_code] {
    print(*schema_format == "json" ? config::render_site_schema() : config::render_profile_page());
    exit_code = k_ok;
  });
}

} // namespace hpcml::cli
