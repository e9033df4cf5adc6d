// SPDX-License-Identifier: MIT
// The examples of the rules of `hpcml check`: the two of a rule's page, and the files of
// tests/check/examples/RULE/{bad,good}.NAME[@SITE][@VERSION].sh. A version of Slurm begins with a digit.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "check/check_script.hpp"
#include "check/rule.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "shipped_site.hpp"

namespace hpcml::test {

/// A script with which a rule is tested.
struct RuleExample {
  std::string name; ///< "page", or the path below tests/check/examples
  bool bad = false; ///< the rule must find it; else it must leave it alone
  std::string script = {};
  std::string site = {};
  std::string version = {};
};

/// Returns the built-in profile with this ID, which is read once; null for an empty ID.
inline const model::Site* example_site(const std::string& id) {
  static std::map<std::string, model::Site> sites;
  if (id.empty()) return nullptr;
  if (const auto found = sites.find(id); found != sites.end()) return &found->second;
  return &sites.emplace(id, shipped_site(id)).first->second;
}

/// Returns what an example is checked for: Slurm 23.11 if neither its name nor its site has a version.
inline check::TargetCluster target_of(const RuleExample& example) {
  check::TargetCluster target{std::nullopt, example_site(example.site)};
  if (!example.version.empty())
    target.version = slurm::parse_version(example.version);
  else if (!target.site || !target.site->slurm_version)
    target.version = slurm::Version::v23_11;
  return target;
}

/// Returns the example of a file, whose name states what it is for.
inline RuleExample read_example(const std::filesystem::path& directory, const std::filesystem::path& path) {
  RuleExample example{std::filesystem::relative(path, directory).string()};
  INFO(example.name);
  const auto name = path.filename().string();
  REQUIRE(path.extension() == ".sh");
  example.bad = name.starts_with("bad.");
  REQUIRE((example.bad || name.starts_with("good.")));
  const auto words = util::split(name.substr(0, name.size() - 3), '@');
  REQUIRE(words.size() <= 3);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool is_version = !words[i].empty() && words[i][0] >= '0' && words[i][0] <= '9';
    CHECK((!is_version || slurm::parse_version(words[i])));
    (is_version ? example.version : example.site) = words[i];
  }
  const auto script = util::read_file(path.string());
  REQUIRE(script);
  example.script = *script;
  return example;
}

/// Returns the examples of all rules: {rule ID: examples}.
inline const std::map<std::string, std::vector<RuleExample>, std::less<>>& rule_examples() {
  static const auto all = [] {
    std::map<std::string, std::vector<RuleExample>, std::less<>> examples;
    for (const auto& rule : check::all_rules())
      for (const auto* example : {&rule.bad, &rule.good})
        if (!example->script.empty())
          examples[std::string(rule.id)].push_back({"page", example == &rule.bad,
                                                    std::string(example->script), std::string(example->site),
                                                    std::string(example->version)});
    const std::filesystem::path directory = HPCML_SOURCE_DIR "/tests/check/examples";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
      if (entry.is_regular_file())
        examples[std::filesystem::relative(entry.path().parent_path(), directory).string()].push_back(
            read_example(directory, entry.path()));
    return examples;
  }();
  return all;
}

} // namespace hpcml::test
