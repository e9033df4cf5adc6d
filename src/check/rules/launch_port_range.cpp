// SPDX-License-Identifier: MIT
// Random ports below 1024.
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_port_range {

/// True if the line is about a port up to the place: "MASTER_PORT=$(shuf".
bool is_about_port(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto before = util::to_lower(text.substr(line.offset, at - line.offset));
  const auto port = before.rfind("port");
  if (port == std::string::npos || before.find('#') != std::string::npos) return false;
  return !before.substr(0, port).ends_with("ex") || before.find("port", 0) != port;
}

/// Reports `shuf -i 0-65535` for a port.
void find_range(const LintContext& subject, const shell::Command& command, RuleMatches& hits) {
  constexpr unsigned long long k_first_free = 1024;
  const auto words = command.arguments();
  if (words.size() < 2 || words[0].text() != "-i" || words[1].place.offset >= subject.text.size()) return;
  const auto range = words[1].text();
  const auto least = util::parse_unsigned(range.substr(0, range.find('-')));
  if (least && *least < k_first_free && is_about_port(subject.text, words[1].place.offset))
    hits.add({words[1].place,
              fmt::format("ports from {} include those below 1024, on which only root may listen", *least),
              "use a range above 1024, such as 20000-60000"});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands)
    if (is_program(command, "shuf")) find_range(subject, command, hits);
  for (const auto& setting : subject.listing.settings) {
    const auto& name = setting->name;
    if (!(name.ends_with("PORT") || name.ends_with("port") || name.ends_with("Port")) ||
        setting->value.words.size() != 1)
      continue;
    const auto* only = only_unknown_piece(setting->value.words[0]);
    if (only && (only->text == "$RANDOM" || only->text == "${RANDOM}"))
      hits.add({setting->set_at, "$RANDOM may be below 1024, where only root may listen",
                fmt::format("use {}=$((20000 + RANDOM % 20000))", name)});
  }
  return hits;
}

} // namespace launch_port_range

Rule rule_launch_port_range() {
  using namespace launch_port_range;
  return {
      .id = "launch/port-range",
      .severity = diag::Severity::note,
      .title = "Random port that may be reserved",
      .why = "Ports below 1024 belong to root, and 0 means any port, which the other ranks do not know. A "
             "random number that may be one of them makes some jobs fail, and the same script works the next "
             "time.",
      .link = "https://man7.org/linux/man-pages/man7/ip.7.html",
      .bad = {R"(#!/bin/bash
export MASTER_PORT=$(shuf -i 0-65535 -n 1)
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export MASTER_PORT=$(shuf -i 20000-60000 -n 1)
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
