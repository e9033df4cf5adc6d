// SPDX-License-Identifier: MIT
#include "spec/schema_check.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

// The validator's only call into the library of mathematics, which each rank of a job would load for it; the
// schema has no multiples of fractions.
namespace valijson {
inline double remainder(double value, double divisor) {
  const double parts = value / divisor;
  if (!(parts < 1e15 && parts > -1e15)) return 0;
  return value - divisor * static_cast<double>(static_cast<long long>(parts + (parts < 0 ? -0.5 : 0.5)));
}
} // namespace valijson

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "spec/site_schema.hpp"
#include "util/text.hpp"

namespace hpcml::spec {

namespace {

/// The node that a path of the validator ("<root>", "[partitions]", "[0]") leads to, as far as it leads.
const JsonNode& node_at(const JsonNode& root, const std::vector<std::string>& context) {
  const auto* node = &root;
  for (const auto& step : context) {
    if (step.size() < 3 || step.front() != '[') continue;
    const auto key = step.substr(1, step.size() - 2);
    const auto index = util::parse_unsigned(key);
    const JsonNode* next = nullptr;
    if (node->is(JsonKind::array) && index && *index < node->items.size())
      next = &node->items[*index];
    else if (node->is(JsonKind::object))
      next = node->find(key);
    if (!next) break;
    node = next;
  }
  return *node;
}

} // namespace

diag::Diagnostics check_schema(const JsonNode& root, std::string_view text) {
  static const auto schema_document = nlohmann::json::parse(render_site_schema());
  const auto document = nlohmann::json::parse(text.begin(), text.end(), nullptr, false, true); // takes //
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_document), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results);

  struct Finding {
    std::vector<std::string> path;
    std::string what;
  };
  std::vector<Finding> findings;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) findings.push_back({error.context, error.description});

  diag::Diagnostics list;
  for (const auto& finding : findings) {
    // The validator reports a failed part also for everything around it: the innermost finding says it all.
    const bool around = std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.path.size() > finding.path.size() &&
             std::equal(finding.path.begin(), finding.path.end(), other.path.begin());
    });
    const auto& node = node_at(root, finding.path);
    const bool placed = std::any_of(list.begin(), list.end(), [&](const diag::Diagnostic& d) {
      return d.span.line == node.place.line && d.span.column == node.place.column;
    });
    const bool version = !finding.path.empty() && finding.path.back() == "[schema]";
    const auto what =
        version ? "this is no profile of schema 1, the one that this hpcml reads" : finding.what;
    if (!around && !placed)
      list.push_back({diag::Severity::error, "site/schema", what, node.place.span(),
                      "the form of a profile: hpcml sites schema"});
  }
  return list;
}

} // namespace hpcml::spec
