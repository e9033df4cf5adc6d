// SPDX-License-Identifier: MIT
// Files of cases: reading, the node of each case, the judge for its kind.
#include "agree_cases.hpp"

#include "agree_checks.hpp"
#include "core/topo/read_node.hpp"
#include "test_data.hpp"

namespace hpcml::agree {
namespace {

namespace fs = std::filesystem;

fs::path find_fixture(const fs::path& file, const std::string& fixture) {
  const fs::path name = fs::path(fixture).filename(), beside = file.parent_path();
  for (const fs::path& place :
       {beside / fixture, beside / name, beside / "topologies" / name, beside.parent_path() / fixture,
        beside.parent_path() / "topologies" / name, test::unpacked_topologies() / name})
    if (fs::is_regular_file(place)) return place;
  return {};
}

/// The node that the case writes down, else the recorded topology that it names.
util::Result<topo::Node> read_node(const fs::path& file, const Json& item) {
  const Json description = item.contains("node_description") ? item.at("node_description") : Json::object();
  const bool written =
      description.contains("numa") || description.contains("cores") || !description.contains("fixture");
  if (written) return topo::parse_node_json(description.dump());
  const std::string fixture = text_of(description, {"fixture"});
  const fs::path path = find_fixture(file, fixture);
  if (path.empty()) return util::Error{"the recorded topology " + fixture + " is not here"};
  return topo::load_node(path);
}

void evaluate(const Case& item) {
  // What nobody compares must not look like agreement.
  for (const std::string& key : unread_keys(item.item)) item.differ("hpcml's runner does not know " + key);
  const std::string policy = policy_of(item.item);
  const std::string& use = item.outcome.use;
  if (use == "parser") return check_parser(item);
  if (use == "inventory") return check_inventory(item);
  if (use == "negative" || use == "questionable" || use == "slurm-observed") return check_observed(item);
  if (!policy.empty()) return check_compat(item, policy);
  return check_plan(item);
}

} // namespace

util::Result<std::vector<Outcome>> run_cases(const fs::path& file) {
  const auto text = test::read_test_data(file);
  if (!text) return text.error();
  const Json root = Json::parse(*text, nullptr, false);
  const Json* cases = root.is_array()                              ? &root
                      : root.is_object() && root.contains("cases") ? &root.at("cases")
                                                                   : nullptr;
  if (!cases || !cases->is_array()) return util::Error{file.string() + " holds no list \"cases\""};
  std::vector<Outcome> outcomes;
  for (const Json& item : *cases) {
    Outcome outcome;
    outcome.id = text_of(item, {"id"});
    outcome.use = text_of(item, {"use"});
    try {
      const auto node = read_node(file, item);
      if (!node)
        outcome.differences.push_back("the node cannot be read: " + node.error().what);
      else
        evaluate({item, *node, outcome});
    } catch (const Json::exception& error) {
      outcome.differences.push_back(std::string("the case cannot be read: ") + error.what());
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

} // namespace hpcml::agree
