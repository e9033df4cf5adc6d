// SPDX-License-Identifier: MIT
#include "check/subject.hpp"

#include <algorithm>

namespace hpcml::check {

const slurm::Setting* Subject::directive(std::string_view option) const {
  for (const auto& request : requests)
    if (const auto found = request.given.find(option); found != request.given.end()) return &found->second;
  return nullptr;
}

std::optional<bool> Subject::several_nodes() const {
  if (requests.size() > 1) return true;
  if (sizes.empty() || !sizes[0].nodes_given) return std::nullopt;
  return sizes[0].min_nodes > 1;
}

slurm::Place line_at(std::string_view text, std::size_t offset) {
  const auto before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const auto begin = before == std::string_view::npos ? 0 : before + 1;
  auto end = std::min(text.find('\n', offset), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end - begin};
}

} // namespace hpcml::check
