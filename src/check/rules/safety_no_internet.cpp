// SPDX-License-Identifier: MIT
// Commands that need the internet on nodes that have none.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_no_internet {

using Arguments = std::span<const shell::Argument>;

/// Whether the site says that its compute nodes, those of this job among them, reach nothing.
bool is_offline(const LintContext& subject) {
  if (!subject.site) return false;
  std::vector<const model::Partition*> partitions;
  for (const auto& fit : subject.fits)
    partitions.insert(partitions.end(), fit.partitions.begin(), fit.partitions.end());
  return site_rules::is_offline(*subject.site, partitions) &&
         subject.text.find("_proxy") == std::string_view::npos &&
         subject.text.find("_PROXY") == std::string_view::npos;
}

bool is_address(const std::string& word) {
  return (word.starts_with("http://") || word.starts_with("https://") || word.starts_with("ftp://")) &&
         word.find("://localhost") == std::string::npos && word.find("://127.") == std::string::npos &&
         word.find("://$") == std::string::npos;
}

bool has_address(Arguments words) {
  return std::any_of(words.begin(), words.end(),
                     [](const shell::Argument& word) { return is_address(word.text()); });
}

/// `pip install NAME` asks the index; a wheel or a directory does so for what it depends on, which may exist
/// already.
bool installs_from_index(Arguments words) {
  if (words.empty() || words[0].text() != "install") return false;
  for (const auto* option : {"--no-index", "--find-links", "-f", "--no-deps", "-i", "--index-url"})
    if (has_word(words, option)) return false;
  bool named = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto word = words[i].text();
    if (!words[i].known() || word.starts_with("--index-url=") || word.starts_with("--find-links=") ||
        word.starts_with("file:"))
      return false;
    if (word.starts_with("git+http")) return true;
    if (word[0] != '-' && word.find('/') == std::string::npos && word != ".") named = true;
  }
  return named;
}

bool downloads(const std::string& name, Arguments words) {
  const auto first = words.empty() ? std::string() : words[0].text();
  if (name == "pip" || name == "pip3") return installs_from_index(words);
  if (name == "python" || name == "python3")
    return words.size() > 2 && first == "-m" && words[1].text() == "pip" &&
           installs_from_index(words.subspan(2));
  if (name == "conda" || name == "mamba" || name == "micromamba")
    return (first == "install" || first == "create" ||
            (first == "env" && words.size() > 1 && words[1].text() == "create")) &&
           !has_word(words, "--offline") && !has_word(words, "--clone");
  if (name == "git")
    return first == "clone" && std::any_of(words.begin(), words.end(), [](const auto& w) {
             return is_address(w.text()) || w.text().starts_with("git@");
           });
  if (name == "wget" || name == "curl") return has_address(words);
  if (name == "huggingface-cli" || name == "hf")
    return first == "download" || first == "login" || first == "upload";
  if (name == "export") return has_word(words, "WANDB_MODE=online");
  if (name == "wandb") return first == "sync" || first == "login";
  if (name == "apt-get" || name == "apt") return first == "install" || first == "update";
  if (const auto* engine = model::find_engine_program(name))
    return launch_chain::has_word(engine->downloads, first) &&
           std::any_of(words.begin(), words.end(), [](const auto& w) {
             return w.text().starts_with("docker://") || w.text().starts_with("library://") ||
                    w.text().starts_with("oras://");
           });
  return false;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!is_offline(subject)) return hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (!name || command.context.uncalled || command.context.unreached || command.context.inexact ||
        !downloads(*name, command.arguments()))
      continue;
    hits.push_back({command.place,
                    fmt::format("compute nodes of {} have no internet, so {} cannot reach what it needs",
                                subject.site->name, *name),
                    "run it on a login node before you submit"});
  }
  return hits;
}

} // namespace safety_no_internet

Rule rule_safety_no_internet() {
  using namespace safety_no_internet;
  return {
      .id = "safety/no-internet",
      .severity = diag::Severity::warning,
      .title = "Internet access from a compute node",
      .why = "Compute nodes of this site reach nothing outside. pip, git clone or a download hang until they "
             "time out or fail at once, "
             "and the job has waited in the queue for that.",
      .link = "https://docs.alliancecan.ca/wiki/Technical_glossary_for_the_resource_allocation_competitions",
      .bad = {R"(#!/bin/bash
pip install torch
)",
              "jean_zay"},
      .good = {R"(#!/bin/bash
pip install --no-index torch
pip install -e .
)",
               "jean_zay"},
      .find = find,
  };
}

} // namespace hpcml::check
