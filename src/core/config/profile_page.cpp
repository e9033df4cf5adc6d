// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>

#include "core/config/site_parts.hpp"
#include "core/config/site_schema.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

/// `|` would end a cell.
std::string cell(std::string_view text) { return util::replace_all(std::string(text), "|", "\\|"); }

std::string text_form(const MemberSchema& member) {
  if (member.words) {
    std::vector<std::string> words;
    for (const auto& word : member.words()) words.push_back(fmt::format("`\"{}\"`", word));
    return util::join(words, ", ");
  }
  if (member.pattern.empty() && member.rule == TextRule::line) return "text";
  return fmt::format("text ({})", member.pattern.empty() ? std::string(text_name(member.rule))
                                                         : fmt::format("`{}`", member.pattern));
}

std::string number_form(const MemberSchema& member) {
  if (member.least == member.most) return std::to_string(member.least);
  if (member.most >= MemberSchema::k_most) return fmt::format("number from {}", member.least);
  return fmt::format("number from {} to {}", member.least, member.most);
}

std::string form_of_value(const MemberSchema& member) {
  const auto object = [&] {
    const std::string name(member.schema().name);
    return fmt::format("[{}](#{})", name, name);
  };
  switch (member.kind) {
  case MemberKind::text: return text_form(member);
  case MemberKind::number: return number_form(member);
  case MemberKind::yes_no: return "`true` or `false`";
  case MemberKind::texts: return fmt::format("list of {}", text_form(member));
  case MemberKind::numbers: return fmt::format("list of {}", number_form(member));
  case MemberKind::number_or_texts:
    return fmt::format("{}, or a list of {}", number_form(member), text_form(member));
  case MemberKind::text_map:
    return fmt::format("object: {} to {}", text_name(member.key_rule), text_form(member));
  case MemberKind::object: return object();
  case MemberKind::objects: return fmt::format("list of {}", object());
  case MemberKind::object_or_list: return fmt::format("{}, or a list of them", object());
  case MemberKind::objects_or_texts: return fmt::format("list of {} and {}", object(), text_form(member));
  case MemberKind::object_map:
    return fmt::format("object: {} to {} or a list of them", text_name(member.key_rule), object());
  }
  return {};
}

void add_section(const TypeErasedObjectSchema& schema, std::vector<std::string>& done, std::string& text) {
  if (std::find(done.begin(), done.end(), schema.name) != done.end()) return;
  done.emplace_back(schema.name);
  text +=
      fmt::format("\n## {}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n", schema.name, schema.about);
  for (const auto& member : schema.members) {
    std::string about(member.about);
    if (about.empty() && member.schema) about = member.schema().about;
    text += fmt::format("| `{}`{} | {} | {} |\n", member.key, member.why.empty() ? "" : " (must)",
                        cell(form_of_value(member)), cell(about));
  }
  for (const auto& member : schema.members)
    if (member.schema) add_section(member.schema(), done, text);
}

} // namespace

std::string render_profile_page() {
  std::string text =
      "# Keys of a site profile\n\n"
      "Any object can also have `source`, `checked`, `note` and `alternatives`, and any value can be written "
      "as `{\"value\": …, \"source\": …}`.\n\n"
      "| Type of text | Form |\n|---|---|\n";
  for (const auto rule : all_text_rules())
    text += fmt::format("| {} | {} |\n", text_name(rule), cell(text_hint(rule)));
  std::vector<std::string> done;
  add_section(without_readers(schema_of<model::Site>()), done, text);
  return text;
}

} // namespace hpcml::config
