// SPDX-License-Identifier: MIT
#include "check/sarif.hpp"

#include <fmt/format.h>

#include "check/text_places.hpp"
#include "hpcml/json_string.hpp"

namespace hpcml::check {
namespace {

std::string message_object(std::string_view text) { return "{\"text\":" + json_string(text) + "}"; }

std::string rule_object(const Rule& rule) {
  return fmt::format("{{\"id\":{},\"shortDescription\":{},\"fullDescription\":{},\"helpUri\":{},\"help\":{},"
                     "\"defaultConfiguration\":{{\"level\":{}}},"
                     "\"properties\":{{\"tags\":[{}]}}}}",
                     json_string(rule.id), message_object(rule.title), message_object(rule.why),
                     json_string(rule.link),
                     message_object(fmt::format("{} See {}; `hpcml rules {}` prints examples.", rule.why,
                                                rule.link, rule.id)),
                     json_string(level_name(rule.severity)), json_string(rule.group()));
}

/// The bytes [offset, offset + length) as lines and columns; the end is the column behind the last character.
std::string region_object(const TextPlaces& places, std::size_t offset, std::size_t length) {
  const auto begin = places.at(offset);
  const auto end = places.at(offset + length);
  return fmt::format("{{\"startLine\":{},\"startColumn\":{},\"endLine\":{},\"endColumn\":{}}}", begin.line,
                     begin.column, end.line, end.column);
}

class SarifReport : public Report {
public:
  std::string begin() override {
    std::string rules;
    for (const auto* rule : all_rules()) rules += (rules.empty() ? "" : ",\n  ") + rule_object(*rule);
    return fmt::format("{{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                       "sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{"
                       "\"tool\":{{\"driver\":{{\"name\":\"hpcml\",\"version\":{},\"rules\":[\n  "
                       "{}]}}}},\n\"columnKind\":\"utf16CodeUnits\",\"results\":[",
                       json_string(HPCML_VERSION), rules);
  }
  std::string add(std::string_view text, const Findings& findings) override {
    const TextPlaces places(text);
    std::string out;
    for (const auto& finding : findings) {
      out += x_any ? ",\n  " : "\n  ";
      out += result_object(places, finding);
      x_any = true;
    }
    return out;
  }
  std::string end() override { return "]}]}\n"; }

private:
  static std::string result_object(const TextPlaces& places, const Finding& finding) {
    const auto& what = finding.what;
    std::string index;
    const auto& rules = all_rules();
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i]->id == what.code) index = fmt::format(",\"ruleIndex\":{}", i);
    const auto artifact = "{\"uri\":" + json_string(file_uri(what.span.file)) + "}";
    std::string region;
    if (what.span.line > 0)
      region = ",\"region\":" + region_object(places, finding.place.offset, finding.place.length);
    return fmt::format("{{\"ruleId\":{}{},\"level\":{},\"message\":{},\"locations\":[{{\"physicalLocation\":{"
                       "{\"artifactLocation\":{}{}}}}}]{}}}",
                       json_string(what.code), index, json_string(level_name(what.severity)),
                       message_object(what.message + (what.hint.empty() ? "" : " (" + what.hint + ")")),
                       artifact, region, fixes(places, finding, artifact));
  }

  static std::string fixes(const TextPlaces& places, const Finding& finding, const std::string& artifact) {
    if (finding.fix.empty()) return {};
    std::string replacements;
    for (const auto& edit : finding.fix) {
      if (!replacements.empty()) replacements += ",";
      replacements += "{\"deletedRegion\":" + region_object(places, edit.offset, edit.length);
      if (!edit.text.empty()) replacements += ",\"insertedContent\":" + message_object(edit.text);
      replacements += "}";
    }
    const auto& hint = finding.what.hint;
    return fmt::format(",\"fixes\":[{{\"description\":{},\"artifactChanges\":[{{\"artifactLocation\":{},"
                       "\"replacements\":[{}]}}]}}]",
                       message_object(hint.empty() ? finding.what.message : hint), artifact, replacements);
  }

  bool x_any = false;
};

} // namespace

std::unique_ptr<Report> make_sarif_report() { return std::make_unique<SarifReport>(); }

} // namespace hpcml::check
