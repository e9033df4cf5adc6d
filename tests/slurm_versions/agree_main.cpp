// SPDX-License-Identifier: MIT
// slurm_versions_agree FILE: how often hpcml's reader and the real sbatch of ten versions agree; exit 1 below
// 99 %.
#include <array>
#include <fmt/format.h>
#include <iostream>

#include "../agreement.hpp"
#include "agree_cases.hpp"

namespace {

using hpcml::agree::Outcome;
constexpr std::size_t k_versions = hpcml::slurm::k_version_names.size();

struct Tally {
  std::array<unsigned, k_versions> agreed{};
  std::array<unsigned, k_versions> all{};
};

void print_table(const std::vector<Outcome>& outcomes) {
  std::map<std::string, Tally> groups;
  for (const auto& outcome : outcomes) {
    const auto version = static_cast<std::size_t>(outcome.version);
    for (const std::string& name : {outcome.group, std::string("~ all")}) {
      ++groups[name].all[version];
      groups[name].agreed[version] += outcome.differences.empty() ? 1 : 0;
    }
  }
  std::cout << fmt::format("{:10}", "group");
  for (const auto name : hpcml::slurm::k_version_names) std::cout << fmt::format("{:>11}", name);
  std::cout << "\n";
  for (const auto& [group, tally] : groups) {
    std::cout << fmt::format("{:10}", group);
    for (std::size_t i = 0; i < k_versions; ++i)
      std::cout << fmt::format("{:>11}", fmt::format("{}/{}", tally.agreed[i], tally.all[i]));
    std::cout << "\n";
  }
}

/// One line per difference, with all versions that have it.
void print_differences(const std::vector<Outcome>& outcomes) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& outcome : outcomes)
    for (const auto& difference : outcome.differences) {
      const std::string text = outcome.id + ": " + difference;
      auto same = lines.begin();
      while (same != lines.end() && same->first != text) ++same;
      if (same == lines.end()) same = lines.insert(lines.end(), {text, ""});
      same->second += std::string(same->second.empty() ? "" : " ") + std::string(name_of(outcome.version));
    }
  for (const auto& [text, versions] : lines) std::cout << text << " [" << versions << "]\n";
}

} // namespace

int main(int argc, char** argv) {
  const auto show = [](const auto& outcomes) {
    print_differences(outcomes);
    print_table(outcomes);
  };
  const auto run = [](const char* file) { return hpcml::agree::run_cases(file); };
  return hpcml::agree::run_agreement(
      argc, argv, "compares hpcml's reader with the measured sbatch cases of FILE", run, show, 99);
}
