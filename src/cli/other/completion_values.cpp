// SPDX-License-Identifier: MIT
// What an option takes as its value.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "check/check_script.hpp"
#include "cli/app_tree.hpp"
#include "cli/chosen_site.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/know/site_rows.hpp"
#include "cli/know/sites_table.hpp"
#include "cli/other/completion.hpp"
#include "core/config/config_file.hpp"
#include "core/config/job_file.hpp"
#include "core/config/job_keys.hpp"
#include "core/config/site_store.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/embedded.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

using Candidates = std::vector<CompletionCandidate>;

/// What the words of an option depend on.
struct Question {
  const CompletedLine& line;
  const Context& context;
};

Candidates plain(const std::vector<std::string>& words) {
  Candidates list;
  for (const auto& word : words)
    if (!word.empty()) list.push_back({word, {}});
  return list;
}

Candidates site_ids(const Question& question) {
  const auto directories = config::site_directories(question.context.sites_dirs, question.context.env);
  std::map<std::string, std::string> names;
  for (const auto& row : parse_site_rows(embedded::site_rows())) names[row.marks.id] = row.cells.back();
  for (const auto& id : config::own_profiles(directories)) names.erase(id); // theirs may have another name
  Candidates list;
  for (const auto& id : config::list_sites(directories)) list.push_back({id, names[id]});
  return list;
}

/// The job file that the command would read; empty without one.
config::JobLoad job_file_of(const Question& question) {
  if (const auto named = question.line.value("--job")) return config::load_job_file(*named);
  return config::has_default_job_file() ? config::load_default_job_file() : config::JobLoad{};
}

/// The site that the line is for, as the command would choose it.
std::optional<model::Site> site_of_line(const Question& question) {
  auto named = question.line.value("--site");
  if (named == "auto") named.reset();
  if (!named) named = question.context.env.get("HPCML_SITE");
  if (!named) named = job_file_of(question).site;
  int exit_code = k_ok;
  return choose_site(named, question.context, exit_code);
}

/// "the usual one; 8 x AMD MI250X (GCD), to 2d"
std::string partition_in_brief(const model::Site& site, const model::Partition& partition) {
  std::string about = partition.is_default ? "the usual one; " : "";
  for (const auto& type : site.node_types)
    if (!partition.node_types.empty() && type.id == partition.node_types.front())
      about += type.gpu ? std::to_string(type.gpu->per_node) + " x " + type.gpu->model : "no GPUs";
  return partition.max_time ? about + ", to " + short_time(partition.max_time->value) : about;
}

Candidates partitions(const Question& question) {
  Candidates list;
  const auto site = site_of_line(question);
  if (!site) return list;
  for (const auto& partition : site->partitions)
    if (partition.nameable) list.push_back({partition.name, partition_in_brief(*site, partition)});
  return list;
}

Candidates qualities(const Question& question) {
  Candidates list;
  const auto site = site_of_line(question);
  const auto partition = question.line.value("--partition");
  if (!site) return list;
  for (const auto& qos : site->qos)
    if (!partition || qos.partitions.empty() || util::contains(qos.partitions, *partition))
      list.push_back({qos.name, qos.max_time ? "to " + short_time(qos.max_time->value) : ""});
  return list;
}

void add_new(Candidates& list, const std::string& text, const std::string& about) {
  const bool exists = std::any_of(list.begin(), list.end(),
                                  [&](const CompletionCandidate& known) { return known.text == text; });
  if (!text.empty() && !exists) list.push_back({text, about});
}

Candidates gpu_types(const Question& question) {
  Candidates list;
  if (const auto site = site_of_line(question))
    for (const auto& type : site->node_types)
      if (type.gpu) {
        add_new(list, type.gpu->slurm_type, type.gpu->model);
        for (const auto& slice : type.gpu->slices) add_new(list, slice.name, "a part of " + type.gpu->model);
      }
  return list;
}

Candidates node_types(const Question& question) {
  Candidates list;
  if (const auto site = site_of_line(question))
    for (const auto& type : site->node_types)
      list.push_back({type.id, type.gpu ? type.gpu->model : "no GPUs"});
  return list;
}

/// Returns the user's jobs, if Slurm answers soon.
Candidates jobs(const Question& question) {
  const auto answer = slurm::run_command({"squeue", "--me", "--noheader", "--format=%i\t%j, %T"},
                                         slurm::make_plain(question.context.env), std::chrono::seconds(2));
  Candidates list;
  if (!answer.ok()) return list;
  for (const auto& line : util::split(answer.output.out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      list.push_back({std::string(util::trim(line.substr(0, tab))), line.substr(tab + 1)});
  return list;
}

Candidates accounts(const Question& question) {
  Candidates list;
  const auto config = config::load_config(config::config_path(question.context.env)).config;
  for (const auto& [site, values] : config.sites)
    if (const auto found = values.find("account"); found != values.end())
      add_new(list, found->second, "remembered for " + site);
  return list;
}

Candidates jobs_of_file(const Question& question) {
  Candidates list;
  for (const auto& part : job_file_of(question).jobs) list.push_back({part.name, {}});
  return list;
}

Candidates rules(const Question& /*question*/) {
  Candidates list;
  for (const auto& rule : check::all_rules()) list.push_back({std::string(rule.id), std::string(rule.title)});
  return list;
}

Candidates config_words(const Question& /*question*/) {
  auto keys = config::config_keys();
  keys.insert(keys.begin(), "site");
  return plain(keys);
}

Candidates commands(const Question& question) {
  Candidates list;
  with_app_tree(question.context, {}, [&](const CLI::App& app, const Context&) {
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
      list.push_back({command->get_name(), command->get_description()});
  });
  return list;
}

/// What options and words of these names take, in whichever command.
struct Source {
  std::string_view name;
  Candidates (*list)(const Question&);
};
constexpr Source k_sources[] = {
    {"--site", site_ids},    {"SITE", site_ids},        {"--partition", partitions},
    {"--qos", qualities},    {"--gpu-type", gpu_types}, {"--node-type", node_types},
    {"--account", accounts}, {"--only", jobs_of_file},  {"JOB", jobs},
    {"PLACE", jobs},         {"RULE", rules},           {"KEY", config_words},
    {"COMMAND", commands},
};

/// What the name takes: that of a flag, of a word, or of a key of requests.
Candidates words_of_name(const std::string& name, const Question& question) {
  for (const auto& source : k_sources)
    if (source.name == name) return source.list(question);
  for (const auto& key : config::job_keys())
    if (key.flag() == name && key.words != nullptr) return plain(key.words());
  return {};
}

bool takes_file(const CLI::Option& option) {
  const auto what = value_name(option);
  for (const char* word : {"FILE", "SCRIPT", "PATH", "DIR", "SRC", "IMAGE", "PACKAGES", "LOG"})
    if (what.find(word) != std::string::npos) return true;
  return false;
}

} // namespace

std::optional<std::string> CompletedLine::value(std::string_view flag) const {
  for (auto at = values.rbegin(); at != values.rend(); ++at)
    if (at->first == flag) return at->second;
  return std::nullopt;
}

Completion complete_value(const CLI::Option& option, const CompletedLine& line, const Context& context) {
  const Question question{line, context};
  if (auto words = closed_values(option); !words.empty()) return {Completion::Kind::words, 0, plain(words)};
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  if (option.get_positional()) names.push_back(option.get_name(true));
  // "config set KEY VALUE": the value of that key.
  if (names == std::vector<std::string>{"VALUE"} && !line.words.empty()) names = {"--" + line.words.front()};
  for (const auto& name : names)
    if (auto list = words_of_name(name, question); !list.empty())
      return {Completion::Kind::words, 0, std::move(list)};
  return {takes_file(option) ? Completion::Kind::files : Completion::Kind::words, 0, {}};
}

} // namespace hpcml::cli
