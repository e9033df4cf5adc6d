// SPDX-License-Identifier: MIT
#include "core/slurm/records.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

bool is_key(std::string_view word) {
  if (word.empty()) return false;
  if (const char c = word.front(); !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return false;
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return util::is_name_char(c) || c == '/' || c == ':'; });
}

/// Adds the pairs of one line: a value continues until a space that the next "Key=" follows.
void add_pairs(std::string_view line, std::vector<std::pair<std::string, std::string>>& pairs) {
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
      continue;
    }
    const auto end = std::min(line.find_first_of(" \t", at), line.size());
    const auto word = line.substr(at, end - at);
    const auto equals = word.find('=');
    if (equals != std::string_view::npos && is_key(word.substr(0, equals))) {
      pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!pairs.empty()) {
      pairs.back().second += " " + std::string(word);
    }
    at = end;
  }
}

} // namespace

void Record::add(std::string key, std::string value) {
  x_fields.emplace_back(std::move(key), std::move(value));
}

std::optional<std::string> Record::get(std::string_view key) const {
  const auto found =
      std::find_if(x_fields.begin(), x_fields.end(), [&](const auto& field) { return field.first == key; });
  if (found == x_fields.end()) return std::nullopt;
  for (const std::string_view none : {"", "(null)", "N/A", "NONE", "n/a", "n/s", "None"})
    if (found->second == none) return std::nullopt;
  return found->second;
}

std::optional<unsigned long long> Record::number(std::string_view key) const {
  const auto text = get(key);
  return text ? util::parse_unsigned(*text) : std::nullopt;
}

bool Record::flag(std::string_view key) const {
  const auto text = get(key);
  return text && util::to_lower(*text) == "yes";
}

std::vector<Record> read_records(std::string_view text, std::string_view first_key) {
  std::vector<Record> records;
  for (const auto& line : util::split(text, '\n')) {
    std::vector<std::pair<std::string, std::string>> pairs;
    const auto content = util::trim(line);
    const bool begins = content.starts_with(std::string(first_key) + "=");
    add_pairs(content, pairs);
    if (begins) records.emplace_back();
    if (records.empty()) continue;
    for (auto& [key, value] : pairs) records.back().add(std::move(key), std::move(value));
  }
  return records;
}

Record read_config(std::string_view text) {
  Record config;
  for (const auto& line : util::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    config.add(std::string(util::trim(std::string_view(line).substr(0, equals))),
               std::string(util::trim(std::string_view(line).substr(equals + 1))));
  }
  return config;
}

std::vector<std::vector<std::string>> read_rows(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : util::split(text, '\n')) {
    if (!util::trim(line).empty()) rows.push_back(util::split(util::trim(line), '|'));
  }
  return rows;
}

} // namespace hpcml::slurm
