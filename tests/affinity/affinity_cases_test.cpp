// SPDX-License-Identifier: MIT
// Placements that documents and other tools publish.
#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "agree_cases.hpp"
#include "test_data.hpp"

using namespace hpcml;
using Json = nlohmann::json;

namespace {

Json other_than(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<int>() + 1;
  if (value.is_array()) return Json::array({value.empty() ? 0 : value[0].get<int>() + 1});
  const std::string text = value.get<std::string>();
  return text.starts_with("0x") ? text + "1" : text == "300" ? "301" : "300";
}

} // namespace

TEST_CASE("Every published placement case agrees") {
  const auto outcomes = agree::run_cases(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/cases.json");
  REQUIRE(outcomes.ok());
  std::map<std::string, int> uses;
  for (const auto& outcome : *outcomes) {
    ++uses[outcome.use];
    INFO(outcome.id);
    CHECK(outcome.differences == std::vector<std::string>{});
  }
  // A reader that loses cases must not look like agreement.
  CHECK(uses == std::map<std::string, int>{{"plan", 23},
                                           {"derived", 6},
                                           {"negative", 6},
                                           {"parser", 6},
                                           {"foreign-policy", 4},
                                           {"inventory", 1},
                                           {"slurm-observed", 15}});
}

TEST_CASE("A published case with any value changed does not agree any more") {
  const std::string source = std::string(HPCML_SOURCE_DIR) + "/tests/affinity/cases.json";
  const Json cases = Json::parse(test::read_test_data(source).value()).at("cases");
  Json changed = Json::array();
  for (const Json& item : cases) {
    if (!item.at("expected").is_array()) continue;
    for (const auto& [key, value] : item.at("expected").at(0).items()) {
      // A task's node and the file's own words are no results; of verdicts only false ones have words.
      if (key == "task" || key == "node" || key == "why") continue;
      // The GPU is given there, not found.
      if (key == "gpu" && (item.at("use") == "parser" || item.at("use") == "negative")) continue;
      Json copy = item;
      copy["expected"][0][key] = other_than(value);
      copy["id"] = item.at("id").get<std::string>() + " " + key;
      changed.push_back(std::move(copy));
    }
  }
  const std::string path = std::string(HPCML_BINARY_DIR) + "/changed_cases.json";
  std::ofstream(path) << Json{{"cases", changed}};
  const auto outcomes = agree::run_cases(path);
  std::remove(path.c_str());
  REQUIRE(outcomes.ok());
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id);
    CHECK((!outcome.differences.empty() || !outcome.open.empty()));
  }
}

TEST_CASE("A case that expects an error agrees where the node has too little, and only there") {
  const auto run = [](const char* request) {
    const std::string path = std::string(HPCML_BINARY_DIR) + "/error_case.json";
    std::ofstream(path)
        << R"({"cases": [{"id": "few", "use": "derived", "node_description": {"numa": {"0": "0-3"}, "gpu": {"0": {"numa": 0}}}, "expected": {"error": "too few"}, "request": )"
        << request << "}]}";
    const auto outcomes = agree::run_cases(path);
    std::remove(path.c_str());
    REQUIRE(outcomes.ok());
    return outcomes->front().differences.empty();
  };
  CHECK(run(R"({"tasks": 2, "cpus_per_task": 3})"));
  CHECK(run(R"({"tasks": 5})"));
  CHECK(run(R"({"tasks": 1, "allowed_cpus": "9"})"));
  CHECK_FALSE(run(R"({"tasks": 2, "cpus_per_task": 2})"));
}

TEST_CASE("Policies of other tools give what those tools give") {
  // Recorded from the tools themselves: mpibind's own expectations, gpu_affinity and torch.numa.binding run.
  const auto outcomes = agree::run_cases(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/other_tools.json");
  REQUIRE(outcomes.ok());
  CHECK(outcomes->size() == 144);
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id);
    CHECK(outcome.differences == std::vector<std::string>{});
  }
}
