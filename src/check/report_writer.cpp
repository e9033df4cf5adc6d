// SPDX-License-Identifier: MIT
#include "check/report_writer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "core/diag/line_table.hpp"
#include "core/util/text.hpp"
#include "hpcml/json_line.hpp"
#include "hpcml/json_string.hpp"

namespace hpcml::check {

namespace {

/// A byte as editors count: line and column from 1, the column in UTF-16 code units.
struct EditorPlace {
  unsigned line = 1;
  unsigned column = 1;
};

/// Converts bytes of one text into the places that editors and services show.
class TextPlaces {
public:
  explicit TextPlaces(std::string_view text) : x_text(text), x_lines(text) {}
  /// Returns the byte's place; the end of the text if the byte is after it.
  EditorPlace at(std::size_t offset) const {
    offset = std::min(offset, x_text.size());
    const auto line = x_lines.number_at(offset);
    unsigned column = 1;
    for (auto at = x_lines.begin_of(line); at < offset;) {
      const auto length = utf8_length(x_text.substr(at));
      column += length == 4 ? 2 : 1; // a surrogate pair; an invalid byte counts as one
      at += std::max<std::size_t>(length, 1);
    }
    return {line, column};
  }

private:
  std::string_view x_text;
  diag::LineTable x_lines;
};

// Findings as SARIF 2.1.0, for code scanning services and editors.

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

/// The bytes [offset, offset + length) as lines and columns; the end is the column after the last character.
JsonLine region_object(const TextPlaces& places, std::size_t offset, std::size_t length) {
  const auto begin = places.at(offset);
  const auto end = places.at(offset + length);
  return JsonLine()
      .add("startLine", begin.line)
      .add("startColumn", begin.column)
      .add("endLine", end.line)
      .add("endColumn", end.column);
}

/// The sentence with what follows it in the text form, on one line.
std::string message_with_hint(const diag::Diagnostic& what) {
  const auto source = what.source.empty() ? "" : "source: " + what.source;
  const auto* joint = what.hint.empty() || source.empty() ? "" : "; ";
  const auto more = what.hint + joint + source;
  return more.empty() ? what.message : fmt::format("{} ({})", what.message, more);
}

class SarifReport : public ReportWriter {
public:
  std::string begin() override {
    std::string rules;
    for (const auto& rule : all_rules()) rules += (rules.empty() ? "" : ",\n  ") + rule_object(rule);
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
    const auto rules = all_rules();
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i].id == what.code) result.add("ruleIndex", i);
    const auto artifact = JsonLine().add("uri", file_uri(what.location.file));
    JsonLine place;
    place.add("artifactLocation", artifact);
    if (what.location.line > 0)
      place.add("region", region_object(places, finding.place.offset, finding.place.length));
    result.add("level", level_name(what.severity))
        .add("message", message_object(message_with_hint(what)))
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

/// One run of the tool, with every rule and the findings' fixes. Columns count UTF-16 code units.
std::unique_ptr<ReportWriter> make_sarif_report() { return std::make_unique<SarifReport>(); }

class TextReport : public ReportWriter {
public:
  explicit TextReport(bool colour) : x_colour(colour) {}
  std::string add(std::string_view text, const Findings& findings) override {
    const diag::LineTable lines(text);
    std::string out;
    for (const auto& finding : findings)
      out += diag::render_line_text(finding.what, lines.line(finding.what.location.line), x_colour);
    return out;
  }

private:
  bool x_colour;
};

class JsonReport : public ReportWriter {
public:
  std::string begin() override { return "["; }
  std::string add(std::string_view, const Findings& findings) override {
    std::string out;
    for (const auto& finding : findings) {
      out += x_any ? ",\n " : "";
      out += object(finding);
      x_any = true;
    }
    return out;
  }
  std::string end() override { return "]\n"; }

private:
  static std::string object(const Finding& finding) {
    const auto& what = finding.what;
    const auto* rule = find_rule(what.code);
    std::vector<JsonLine> fix;
    for (const auto& edit : finding.fix)
      fix.push_back(JsonLine().add("offset", edit.offset).add("length", edit.length).add("text", edit.text));
    return JsonLine()
        .add("severity", level_name(what.severity))
        .add("code", what.code)
        .add("message", what.message)
        .add("file", what.location.file)
        .add("line", what.location.line)
        .add("column", what.location.column)
        .add("length", what.location.length)
        .add("hint", what.hint)
        .add("source", what.source)
        .add("link", rule ? rule->link : "")
        .add("fix", fix)
        .text();
  }
  bool x_any = false;
};

/// What would end a workflow command or one of its properties, escaped as the runner reads it.
std::string workflow_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

class GithubReport : public ReportWriter {
public:
  std::string add(std::string_view text, const Findings& findings) override {
    const TextPlaces places(text);
    std::string out;
    for (const auto& finding : findings) {
      const auto& what = finding.what;
      out +=
          what.severity == diag::Severity::note ? "::notice" : "::" + std::string(level_name(what.severity));
      out += " file=" +
             workflow_text(std::filesystem::path(what.location.file).lexically_normal().string(), true);
      if (what.location.line > 0) {
        const auto begin = places.at(finding.place.offset);
        const auto end = places.at(finding.place.offset + finding.place.length);
        out += fmt::format(",line={}", begin.line);
        // A place on several lines has no columns here.
        out += begin.line == end.line ? fmt::format(",col={},endColumn={}", begin.column, end.column)
                                      : fmt::format(",endLine={}", end.line);
      }
      out += ",title=" + workflow_text(what.code, true) + "::" +
             workflow_text(what.message + (what.hint.empty() ? "" : "\nhint: " + what.hint) +
                               (what.source.empty() ? "" : "\nsource: " + what.source),
                           false) +
             "\n";
    }
    return out;
  }
};

} // namespace

std::unique_ptr<ReportWriter> make_report(std::string_view format, bool colour) {
  if (format == "json") return std::make_unique<JsonReport>();
  if (format == "sarif") return make_sarif_report();
  if (format == "github") return std::make_unique<GithubReport>();
  return std::make_unique<TextReport>(colour);
}

std::string_view level_name(diag::Severity severity) {
  return severity == diag::Severity::error     ? "error"
         : severity == diag::Severity::warning ? "warning"
                                               : "note";
}

std::string file_uri(std::string_view path) {
  const auto normal = std::filesystem::path(path).lexically_normal().string();
  std::string uri = normal.starts_with("/") ? "file://" : "";
  for (const char c : normal) {
    const bool plain = util::is_name_char(c) || std::string_view("-.~/").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string count_text(unsigned errors, unsigned warnings, unsigned notes) {
  std::string text;
  const auto add = [&](unsigned count, const char* word) {
    if (count > 0) text += (text.empty() ? "" : ", ") + util::counted(count, word);
  };
  add(errors, "error");
  add(warnings, "warning");
  add(notes, "note");
  return text.empty() ? "no findings" : text;
}

} // namespace hpcml::check
