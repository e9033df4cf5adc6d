// SPDX-License-Identifier: MIT
#include "live_cases.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "mutations.hpp"
#include "test_data.hpp"

namespace hpcml::agree {
namespace {

using Json = nlohmann::json;

Json to_json(const Case& item, const Answer& answer, const std::string& version) {
  Json result = {{"accepted", answer.accepted}};
  if (!answer.accepted) {
    result["msg"] = answer.message;
    if (answer.held_accepted) result["held_accepted"] = true;
  } else if (answer.components.size() == 1)
    result["fields"] = answer.components.front();
  else
    result["components"] = answer.components;
  Json json = {
      {"id", item.id}, {"group", item.group}, {"script", item.script}, {"results", {{version, result}}}};
  if (!item.arguments.empty()) json["args"] = item.arguments;
  if (!item.environment.empty()) json["env"] = item.environment;
  return json;
}

/// Another program may have taken the port in the meantime.
util::Result<LiveCluster> start_cluster(const std::filesystem::path& prefix) {
  for (int tries = 1;; ++tries)
    if (auto started = LiveCluster::start(prefix); started || tries == 3) return started;
}

} // namespace

util::Result<std::vector<Case>> read_cases(const std::filesystem::path& file) {
  const auto text = test::read_test_data(file);
  if (!text) return text.error();
  const Json root = Json::parse(*text, nullptr, false);
  if (!root.is_array()) return util::Error{file.string() + " holds no list of cases"};
  std::vector<Case> cases;
  for (const auto& item : root)
    cases.push_back({item.at("id"), item.at("group"), item.at("script"),
                     item.value("args", std::vector<std::string>{}),
                     item.value("env", std::map<std::string, std::string>{})});
  return cases;
}

util::Result<unsigned> measure_mutations(const std::string& files, unsigned count, unsigned seed,
                                         const std::filesystem::path& prefix,
                                         const std::filesystem::path& out) {
  std::vector<Case> base;
  for (const auto& file : util::split(files, ',')) {
    const auto list = read_cases(file);
    if (!list) return list.error();
    base.insert(base.end(), list->begin(), list->end());
  }
  const std::vector<Case> base_cases = count == 0 ? base : std::vector<Case>();
  if (count == 0) count = static_cast<unsigned>(base_cases.size());
  Mutator mutator(base, seed);
  std::optional<LiveCluster> cluster;
  Json measured = Json::array();
  for (unsigned i = 0; i < count; ++i) {
    if (!cluster) {
      auto started = start_cluster(prefix);
      if (!started) return started.error();
      cluster.emplace(std::move(*started));
    }
    const auto item = base_cases.empty() ? mutator.next() : base_cases[i];
    const auto answer = cluster->ask(item);
    if (!answer) return util::Error{item.id + ": " + answer.error().what};
    // Some requests end some versions' controller, which is no answer.
    if (answer->message.find("Unable to contact slurm controller") != std::string::npos ||
        answer->message.find("Connection reset by peer") != std::string::npos ||
        answer->message.find("Zero Bytes were transmitted") != std::string::npos) {
      std::cerr << "live: the controller ended, left out: " << item.id << "\n" << item.script;
      cluster.reset();
      continue;
    }
    measured.push_back(to_json(item, *answer, cluster->version()));
  }
  if (const auto written =
          util::write_file(out, measured.dump(1, ' ', false, Json::error_handler_t::replace));
      !written)
    return written.error();
  return count;
}

} // namespace hpcml::agree
