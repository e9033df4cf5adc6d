// SPDX-License-Identifier: MIT
// Binds that the container engine does not take.
#include "check/launch_facts.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_container_bind {

/// Whether the list continues in the next word: "-B /a, /b". A comma at the end of a quoted list is passed
/// over.
bool continues(std::string_view text, diag::TextRange place) {
  const auto end = place.offset + place.length;
  if (end > text.size() || end == 0 || text[end - 1] != ',') return false;
  const auto next = text.find_first_not_of(" \t", end);
  return next != std::string_view::npos && next > end && (text[next] == '/' || text[next] == '$');
}

/// What is wrong with one "source[:target[:options]]"; empty where nothing is.
std::string fault_of(const std::string& bind) {
  if (bind.find('=') != std::string::npos) return {}; // image-src=… and id=… follow an option
  if (bind.empty()) return {};
  const auto parts = util::split(bind, ':');
  if (parts[0].empty()) return fmt::format("bind '{}' has no source", bind);
  if (parts.size() > 1 && !parts[1].starts_with("/"))
    return fmt::format("the target '{}' of a bind is not an absolute path", parts[1]);
  if (parts.size() > 2 && parts[2] != "ro" && parts[2] != "rw")
    return fmt::format("'{}' is not an option of a bind", parts[2]);
  return {};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    const auto* engine = container ? model::find_engine_program(container->program) : nullptr;
    if (!engine || !engine->bind_lists || !is_own(launch, *container)) continue;
    for (const auto& option : container->options) {
      if ((option.name != "B" && option.name != "bind") || !option.value || !option.value->known()) continue;
      const auto place = option.value->place;
      if (option.value->text().empty() || continues(subject.text, place)) {
        add_match(hits, {option.place,
                         option.value->text().empty() ? "the list of binds is empty"
                                                      : "the list of binds ends at the space after its comma",
                         "use -B SOURCE:TARGET:ro, several separated by commas without spaces"});
        continue;
      }
      for (const auto& bind : util::split(option.value->text(), ','))
        if (const auto fault = fault_of(bind); !fault.empty()) {
          add_match(
              hits,
              {option.place, fault,
               "use -B SOURCE:TARGET:ro with absolute paths, several separated by commas without spaces"});
          break;
        }
    }
  }
  return hits;
}

} // namespace launch_container_bind

Rule rule_launch_container_bind() {
  using namespace launch_container_bind;
  return {
      .id = "launch/container-bind",
      .severity = diag::Severity::warning,
      .title = "A bind that the container engine rejects",
      .why = "A bind is SOURCE, SOURCE:TARGET or SOURCE:TARGET:ro, and a list has commas without spaces. "
             "Anything else ends with \"while parsing bind path\", or makes the next word the image.",
      .link = "https://apptainer.org/docs/user/main/bind_paths_and_mounts.html",
      .bad = {R"(#!/bin/bash
singularity exec -B /a:/b:rox x.sif python t.py
)"},
      .good = {R"(#!/bin/bash
singularity exec -B /a:/b:ro,/c x.sif python t.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
