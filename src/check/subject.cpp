// SPDX-License-Identifier: MIT
#include "check/subject.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::check {

const slurm::Setting* LintContext::directive(std::string_view option) const {
  for (const auto& request : requests)
    if (const auto found = request.settings.find(option); found != request.settings.end())
      return &found->second;
  return nullptr;
}

bool LintContext::is_in_text(std::size_t offset) const {
  return std::any_of(texts.begin(), texts.end(), [&](diag::Place place) {
    return offset >= place.offset && offset < place.offset + place.length;
  });
}

std::optional<bool> LintContext::several_nodes() const {
  if (requests.size() > 1) return true;
  if (sizes.empty() || !sizes[0].nodes_given) return std::nullopt;
  return sizes[0].min_nodes > 1;
}

bool is_shell_script(std::string_view text) {
  if (!text.starts_with("#!")) return true;
  auto line = util::trim(text.substr(2, text.find('\n') - 2));
  std::string program;
  // "/usr/bin/env -S bash -l": the first word that is not an option and not env itself.
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const auto word = line.substr(0, end);
    program = util::base_name(word);
    if (program != "env" && word[0] != '-' && word.find('=') == std::string_view::npos) break;
    line = util::trim(line.substr(end));
  }
  return program.empty() || program == "bash" || program == "sh" || program == "dash" || program == "ksh" ||
         program == "zsh" || program == "ash";
}

diag::Place line_at(std::string_view text, std::size_t offset) {
  const auto before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const auto begin = before == std::string_view::npos ? 0 : before + 1;
  auto end = std::min(text.find('\n', offset), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end - begin};
}

} // namespace hpcml::check
