// SPDX-License-Identifier: MIT
#include "generate/discover/discover_helper.hpp"

#include <catch2/catch.hpp>

#include "core/config/site_reader.hpp"

namespace hpcml::test {

discover::ClusterFacts recorded_cluster(const std::string& name) {
  const slurm::RecordedCommands commands(std::string(HPCML_SOURCE_DIR) +
                                         "/tests/generate/discover/recorded/" + name);
  auto facts = discover::run_questions(commands, {"me", {"module", "avail"}});
  REQUIRE(facts);
  return std::move(*facts);
}

model::Site read_profile(const std::string& text) {
  INFO(text);
  auto parsed = config::parse_json(text, "profile", "site");
  REQUIRE(parsed.root);
  auto read = config::read_site(*parsed.root, "profile");
  for (const auto& finding : read.diagnostics) FAIL(finding.message);
  REQUIRE(read.site);
  return std::move(*read.site);
}

model::Site discovered(const std::string& name, discover::ProfileGenerationInput request) {
  if (request.date.empty()) request.date = "2026-11-02";
  const auto facts = recorded_cluster(name);
  return read_profile(discover::make_profile(facts, discover::make_node_kinds(facts.nodes), request).text);
}

} // namespace hpcml::test
