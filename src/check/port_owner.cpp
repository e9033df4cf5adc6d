// SPDX-License-Identifier: MIT
#include "check/port_owner.hpp"

#include <algorithm>
#include <array>

#include "check/launch_facts.hpp"
#include "core/model/hostlist.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {

namespace {

/// What the option or the variable of the agent says; nothing where neither is given.
const shell::Argument* backend_of(const Launch& launch, const Link& agent) {
  const auto* option = agent.find(model::OptionMeaning::backend);
  if (option && option->value) return &*option->value;
  return launch.variable(agent, model::OptionMeaning::backend);
}

/// "host" of "host:29400", "fd00::1" of "[fd00::1]:29400".
std::string_view host_of(std::string_view endpoint) {
  if (endpoint.starts_with('[')) return endpoint.substr(1, endpoint.find(']') - 1);
  return endpoint.substr(0, endpoint.rfind(':'));
}

bool is_foreign(const LintContext& subject, std::string_view host) {
  if (host.empty() || util::is_loopback_address(host)) return false;
  const auto name = util::short_host_name(std::string(host));
  return std::none_of(subject.requests.begin(), subject.requests.end(), [&](const auto& request) {
    const auto nodes = model::Hostlist::parse(request.text("nodelist"));
    return nodes && std::any_of(nodes->names().begin(), nodes->names().end(),
                                [&](const auto& node) { return util::short_host_name(node) == name; });
  });
}

using util::is_name_char;

/// The variable that is given what begins at the byte: "PORT" of "export PORT=6000".
std::string_view assigned_name(std::string_view text, std::size_t offset) {
  while (offset > 0 && (text[offset - 1] == '"' || text[offset - 1] == '\'')) --offset;
  if (offset == 0 || text[offset - 1] != '=') return {};
  const auto end = offset - 1;
  auto begin = end;
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  const bool is_option = begin > 0 && (text[begin - 1] == '-' || text[begin - 1] == '$');
  return is_option ? std::string_view() : text.substr(begin, end - begin);
}

/// Whether the line that reads a variable at `at` hands its value to the rendezvous, or only prints it.
bool is_of_rendezvous(const LintContext& subject, std::string_view line, std::size_t at, std::size_t length) {
  const auto before = line.substr(0, at);
  if (before.ends_with(':')) {
    const auto begin = before.find_last_of(" \t\"'=/@") + 1; // npos + 1 is 0
    const auto host = before.substr(begin, before.size() - 1 - begin);
    if (host.find_first_of("$`)}") == std::string_view::npos && is_foreign(subject, host)) return false;
  }
  // Without the variable's own name.
  const auto words = util::to_lower(before) + " " + util::to_lower(line.substr(at + length));
  static constexpr std::array<std::string_view, 6> k_words = {"rdzv",         "endpoint", "master",
                                                              "main_process", "echo ",    "printf "};
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](auto word) { return words.find(word) != std::string::npos; }) ||
         (before.ends_with(':') && before.find_first_of(" \t") == std::string_view::npos);
}

} // namespace

bool has_rendezvous_service(const Launch& launch, const Link& agent) {
  const auto* backend = backend_of(launch, agent);
  return backend && backend->known() && backend->text() != "c10d" && backend->text() != "static";
}

bool has_unknown_backend(const Launch& launch, const Link& agent) {
  const auto* backend = backend_of(launch, agent);
  return backend && !backend->known();
}

bool names_foreign_host(const LintContext& subject, const shell::Argument& word, bool with_port) {
  std::string known; // up to the first piece that is not
  for (const auto& piece : word.pieces) {
    if (!piece.known) break;
    known += piece.text;
  }
  if (!with_port) return word.known() && is_foreign(subject, known);
  if (!word.known() && known.find(':') == std::string::npos) return false;
  return is_foreign(subject, host_of(known));
}

bool is_used_elsewhere(const LintContext& subject, diag::TextRange place) {
  const auto text = subject.text;
  const auto name = assigned_name(text, place.offset);
  if (name.empty()) return false;
  for (const auto& form : {"$" + std::string(name), "${" + std::string(name)})
    for (auto at = text.find(form); at != std::string_view::npos; at = text.find(form, at + 1)) {
      auto end = at + form.size();
      if (end < text.size() && is_name_char(text[end])) continue;
      if (form[1] == '{') end = std::min(text.find('}', end), text.size() - 1) + 1;
      const auto place_of_line = line_at(text, at);
      const auto line = text.substr(place_of_line.offset, place_of_line.length);
      if (util::trim(line).starts_with('#')) continue;
      if (!is_of_rendezvous(subject, line, at - place_of_line.offset, end - at)) return true;
    }
  return false;
}

} // namespace hpcml::check
