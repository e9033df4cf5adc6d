// SPDX-License-Identifier: MIT
#include "live_cases.hpp"

#include <nlohmann/json.hpp>

#include "mutations.hpp"
#include "util/file.hpp"

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

} // namespace

util::Result<std::vector<Case>> read_cases(const std::filesystem::path& file) {
  const auto text = util::read_file(file);
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

util::Result<unsigned> measure_mutations(const std::filesystem::path& cases, unsigned count, unsigned seed,
                                         const std::filesystem::path& prefix,
                                         const std::filesystem::path& out) {
  const auto base = read_cases(cases);
  if (!base) return base.error();
  const std::vector<Case> given = count == 0 ? *base : std::vector<Case>();
  if (count == 0) count = static_cast<unsigned>(given.size());
  Mutator mutator(*base, seed);
  auto cluster = LiveCluster::start(prefix);
  if (!cluster) return cluster.error();
  Json measured = Json::array();
  for (unsigned i = 0; i < count; ++i) {
    const auto item = given.empty() ? mutator.next() : given[i];
    const auto answer = cluster->ask(item);
    if (!answer) return util::Error{item.id + ": " + answer.error().what};
    measured.push_back(to_json(item, *answer, cluster->version()));
  }
  if (const auto written =
          util::write_file(out, measured.dump(1, ' ', false, Json::error_handler_t::replace));
      !written)
    return written.error();
  return count;
}

} // namespace hpcml::agree
