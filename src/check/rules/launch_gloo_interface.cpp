// SPDX-License-Identifier: MIT
// Beginnings of interface names, which NCCL takes and Gloo does not.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_gloo_interface {

/// "hsn", "ib", "^lo": no whole name of an interface; those that count end with their number.
bool is_pattern(std::string_view name) {
  if (name.empty() || name == "lo" || name.starts_with("enx") || name.starts_with("wlx")) return false;
  return name.front() == '^' || name.front() == '=' || std::none_of(name.begin(), name.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

bool is_letters(const std::string& name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"GLOO_SOCKET_IFNAME"})) {
    if (!seen.value->known()) continue;
    const auto value = seen.value->text();
    const auto names = util::split(value, ',');
    const auto wrong =
        std::find_if(names.begin(), names.end(), [](const auto& name) { return is_pattern(name); });
    if (wrong == names.end()) continue;
    std::string right;
    if (subject.site)
      for (const auto& interface : subject.site->network.interfaces)
        if (right.empty() && interface.starts_with(*wrong)) right = interface;
    add_match(hits,
              {seen.value->place,
               fmt::format("Gloo requires complete interface names, and '{}' is not one", *wrong),
               right.empty() ? fmt::format("use the name as ip addr shows it on a compute node{}",
                                           is_letters(*wrong) ? ": " + *wrong + "0" : std::string())
                             : "GLOO_SOCKET_IFNAME=" + right,
               right.empty() ? std::vector<Edit>() : replace_end(subject, seen.value->place, value, right)});
  }
  return hits;
}

} // namespace launch_gloo_interface

Rule rule_launch_gloo_interface() {
  using namespace launch_gloo_interface;
  return {
      .id = "launch/gloo-interface",
      .severity = diag::Severity::warning,
      .title = "Incomplete interface name for Gloo",
      .why =
          "NCCL_SOCKET_IFNAME takes beginnings of names (hsn) and exclusions (^lo). GLOO_SOCKET_IFNAME takes "
          "neither: \"Unable to find address for: hsn\" ends the first "
          "barrier on the CPU.",
      .link = "https://docs.pytorch.org/docs/stable/distributed.html#choosing-the-network-interface-to-use",
      .bad = {R"(#!/bin/bash
#SBATCH -p standard-g -N2
export GLOO_SOCKET_IFNAME=hsn
srun python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
export GLOO_SOCKET_IFNAME=hsn0,hsn1
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
