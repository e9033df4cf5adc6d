// SPDX-License-Identifier: MIT
#include "run/batch/run_cause.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::batch {

namespace {

constexpr std::streamoff k_tail = 64 << 10;

std::string read_tail(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(size > k_tail ? size - k_tail : 0);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::string class_of_record(const std::string& text) {
  std::string found;
  for (const auto& line : util::split(text, '\n')) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object() || event.value("event", nlohmann::json()) != "end") continue;
    const auto value = event.value("class", nlohmann::json());
    found = value.is_string() ? value.get<std::string>() : std::string();
  }
  return found;
}

std::string read_run_cause(const std::string& log_dir, const util::EnvSnapshot& env) {
  if (log_dir.empty()) return {};
  const auto prefix = env.get_or("SLURM_JOB_ID", "") + ".";
  std::optional<std::filesystem::file_time_type> newest;
  std::filesystem::path record;
  for (const auto& name : util::list_directory(log_dir)) {
    if (!name.starts_with(prefix)) continue;
    const auto path = std::filesystem::path(log_dir) / name / "record-0.jsonl";
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    if (error || (newest && time < *newest)) continue;
    newest = time;
    record = path;
  }
  return newest ? class_of_record(read_tail(record)) : std::string();
}

} // namespace hpcml::batch
