// SPDX-License-Identifier: MIT
#include "cli/run/job_output.hpp"

#include <algorithm>
#include <utility>

namespace hpcml::cli {

void JobOutput::follow(const std::string& path, bool is_error) {
  if (path.starts_with("/")) x_files.try_emplace(path, File{LogFollower(path, x_earlier), is_error, {}});
}

std::vector<OutputPiece> JobOutput::read_more() {
  std::vector<OutputPiece> pieces;
  for (auto& [path, file] : x_files) {
    auto text = std::exchange(file.rest, {}) + file.log.read_more();
    if (x_files.size() > 1) {
      const auto end = text.rfind('\n') + 1; // 0 without a line
      file.rest = text.substr(end);
      text.resize(end);
    }
    if (!text.empty()) pieces.push_back({file.is_error, std::move(text)});
  }
  return pieces;
}

std::vector<OutputPiece> JobOutput::read_rest() {
  std::vector<OutputPiece> pieces;
  for (auto& [path, file] : x_files) {
    auto text = std::exchange(file.rest, {});
    for (auto more = file.log.read_more(); !more.empty(); more = file.log.read_more()) text += more;
    if (!text.empty() && x_files.size() > 1 && text.back() != '\n') text += '\n';
    if (!text.empty()) pieces.push_back({file.is_error, std::move(text)});
  }
  return pieces;
}

bool JobOutput::found() const {
  return std::any_of(x_files.begin(), x_files.end(),
                     [](const auto& file) { return file.second.log.found(); });
}

} // namespace hpcml::cli
