// SPDX-License-Identifier: MIT
#include "check/sarif.hpp"

#include <fmt/format.h>

#include "check/text_places.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::check {
namespace {

JsonLine message_object(std::string_view text) { return JsonLine().add("text", text); }

std::string rule_object(const Rule& rule) {
  const auto help = fmt::format("{} See {}; `hpcml rules {}` prints examples.", rule.why, rule.link, rule.id);
  return JsonLine()
      .add("id", rule.id)
      .add("shortDescription", message_object(rule.title))
      .add("fullDescription", message_object(rule.why))
      .add("helpUri", rule.link)
      .add("help", message_object(help))
      .add("defaultConfiguration", JsonLine().add("level", level_name(rule.severity)))
      .add("properties", JsonLine().add("tags", std::vector{rule.group()}))
      .text();
}

/// The bytes [offset, offset + length) as lines and columns; the end is the column behind the last character.
JsonLine region_object(const TextPlaces& places, std::size_t offset, std::size_t length) {
  const auto begin = places.at(offset);
  const auto end = places.at(offset + length);
  return JsonLine()
      .add("startLine", begin.line)
      .add("startColumn", begin.column)
      .add("endLine", end.line)
      .add("endColumn", end.column);
}

class SarifReport : public Report {
public:
  std::string begin() override {
    std::string rules;
    for (const auto* rule : all_rules()) rules += (rules.empty() ? "" : ",\n  ") + rule_object(*rule);
    const auto head =
        JsonLine()
            .add("$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                            "sarif-schema-2.1.0.json")
            .add("version", "2.1.0");
    const auto driver = JsonLine()
                            .add("name", "hpcml")
                            .add("version", HPCML_VERSION)
                            .add_json("rules", "[\n  " + rules + "]");
    // Open until the end of the report: nothing is kept of a script.
    return head.open() + ",\"runs\":[" + JsonLine().add("tool", JsonLine().add("driver", driver)).open() +
           ",\n\"columnKind\":\"utf16CodeUnits\",\"results\":[";
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
    JsonLine result;
    result.add("ruleId", what.code);
    const auto& rules = all_rules();
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i]->id == what.code) result.add("ruleIndex", i);
    const auto artifact = JsonLine().add("uri", file_uri(what.span.file));
    JsonLine place;
    place.add("artifactLocation", artifact);
    if (what.span.line > 0)
      place.add("region", region_object(places, finding.place.offset, finding.place.length));
    result.add("level", level_name(what.severity))
        .add("message", message_object(what.message + (what.hint.empty() ? "" : " (" + what.hint + ")")))
        .add("locations", std::vector{JsonLine().add("physicalLocation", place)});
    if (!finding.fix.empty()) result.add("fixes", std::vector{fix_object(places, finding, artifact)});
    return result.text();
  }

  static JsonLine fix_object(const TextPlaces& places, const Finding& finding, const JsonLine& artifact) {
    std::vector<JsonLine> replacements;
    for (const auto& edit : finding.fix) {
      JsonLine replacement;
      replacement.add("deletedRegion", region_object(places, edit.offset, edit.length));
      if (!edit.text.empty()) replacement.add("insertedContent", message_object(edit.text));
      replacements.push_back(replacement);
    }
    const auto& hint = finding.what.hint;
    const auto change = JsonLine().add("artifactLocation", artifact).add("replacements", replacements);
    return JsonLine()
        .add("description", message_object(hint.empty() ? finding.what.message : hint))
        .add("artifactChanges", std::vector{change});
  }

  bool x_any = false;
};

} // namespace

std::unique_ptr<Report> make_sarif_report() { return std::make_unique<SarifReport>(); }

} // namespace hpcml::check
