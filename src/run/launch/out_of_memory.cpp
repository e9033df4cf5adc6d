// SPDX-License-Identifier: MIT
#include "run/launch/out_of_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "core/util/cgroup_path.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

namespace {

/// cgroup v1 reports this value, the largest number of whole pages, if there is no limit.
constexpr unsigned long long k_no_limit = 1ULL << 60;

/// The kernel takes memory in pieces, and so does not come nearer to a limit than that.
constexpr unsigned long long k_charged_at_once = 256U << 10U;

/// "NAME NUMBER" in one of the lines; 0 where there is none.
unsigned long long count_of(std::string_view text, std::string_view name) {
  for (const auto& line : util::split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    return util::parse_unsigned(util::trim(std::string_view(line).substr(name.size()))).value_or(0);
  }
  return 0;
}

std::optional<unsigned long long> limit_of(std::string_view text) {
  const auto limit = util::parse_unsigned(util::trim(text));
  return limit && *limit < k_no_limit ? limit : std::nullopt;
}

std::string read_text(System& system, const std::string& path) { return system.read_file(path).value_or(""); }

std::string directory_of(const std::string& root, const util::CgroupPath& place, const std::string& path) {
  return root + place.top + (path == "/" ? "" : path) + "/";
}

/// Whether the kernel counts there what it kills: not in v2's outermost group, and not before Linux 4.13.
bool counts_kills(System& system, const std::string& directory, bool unified) {
  return read_text(system, directory + (unified ? "memory.events" : "memory.oom_control"))
             .find("oom_kill ") != std::string::npos;
}

MemoryCgroup read_level(System& system, const std::string& root, const util::CgroupPath& place,
                        const std::string& path) {
  const auto directory = directory_of(root, place, path);
  if (place.unified)
    return parse_memory_v2(path, read_text(system, directory + "memory.events"),
                           read_text(system, directory + "memory.max"));
  return parse_memory_v1(path, read_text(system, directory + "memory.oom_control"),
                         read_text(system, directory + "memory.limit_in_bytes"),
                         read_text(system, directory + "memory.failcnt"),
                         read_text(system, directory + "memory.max_usage_in_bytes"));
}

/// "16 GiB", "1.5 GiB", "900 MiB".
std::string render_bytes(unsigned long long bytes) {
  const char* unit = bytes >= (1ULL << 30) ? "GiB" : "MiB";
  const double value = static_cast<double>(bytes) / (bytes >= (1ULL << 30) ? 0x1p30 : 0x1p20);
  char text[40];
  std::snprintf(text, sizeof text, "%.1f", value);
  auto digits = std::string(text);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return digits + " " + unit;
}

/// Slurm's groups are called job_NUMBER, step_NUMBER and task_NUMBER; with cgroup v2 a step's limit is that
/// of "user" in it.
std::string owner_of(const std::string& path) {
  auto name = util::base_name(path);
  if (name == "user") name = util::base_name(util::directory_name(path));
  for (const auto* kind : {"job", "step", "task"})
    if (name.starts_with(std::string(kind) + "_")) return "the " + std::string(kind) + "'s limit";
  return "the limit";
}

/// The level of the other reading, by its path.
const MemoryCgroup* same_level(const std::vector<MemoryCgroup>& levels, const std::string& path) {
  const auto found = std::find_if(levels.begin(), levels.end(),
                                  [&](const MemoryCgroup& level) { return level.path == path; });
  return found == levels.end() ? nullptr : &*found;
}

} // namespace

MemoryCgroup parse_memory_v1(std::string path, std::string_view oom_control, std::string_view limit,
                             std::string_view failcnt, std::string_view max_usage) {
  const auto number = [](std::string_view text) {
    return util::parse_unsigned(util::trim(text)).value_or(0);
  };
  MemoryCgroup level{std::move(path), limit_of(limit), count_of(oom_control, "oom_kill"), number(failcnt)};
  level.has_been_full = level.limit && number(max_usage) + k_charged_at_once >= *level.limit;
  return level;
}

MemoryCgroup parse_memory_v2(std::string path, std::string_view events, std::string_view max) {
  return {std::move(path), limit_of(max), count_of(events, "oom_kill"), count_of(events, "oom")};
}

std::vector<MemoryCgroup> read_memory_levels(const std::string& root, System& system) {
  std::vector<MemoryCgroup> levels;
  const auto base = root == "/" ? std::string() : root;
  const auto place = util::parse_memory_place(read_text(system, base + "/proc/self/cgroup"),
                                              read_text(system, base + "/proc/self/mountinfo"));
  if (place)
    for (auto path = place->path;; path = util::directory_name(path)) {
      levels.push_back(read_level(system, base, *place, path));
      if (path == "/" || path.empty() || path == ".") break;
    }
  if (place && counts_kills(system, directory_of(base, *place, place->path), place->unified)) return levels;
  MemoryCgroup machine; // includes other jobs, so that it is used only if nothing else is known
  machine.kills = count_of(read_text(system, base + "/proc/vmstat"), "oom_kill");
  levels.push_back(machine);
  return levels;
}

std::optional<std::string> find_out_of_memory(const std::vector<MemoryCgroup>& before,
                                              const std::vector<MemoryCgroup>& after) {
  const auto risen = [&](const MemoryCgroup& level, unsigned long long MemoryCgroup::*counter) {
    const auto* old = same_level(before, level.path);
    return old != nullptr && level.*counter > old->*counter ? level.*counter - old->*counter : 0;
  };
  // The innermost group that counts: a kill is counted where the process was, with v2 in all groups around
  // it.
  const auto counted = std::find_if(
      after.begin(), after.end(), [&](const auto& level) { return risen(level, &MemoryCgroup::kills) > 0; });
  if (counted == after.end()) return std::nullopt;
  const auto kills = risen(*counted, &MemoryCgroup::kills);
  const auto killed = util::counted(kills, "process");
  auto full = std::find_if(after.begin(), after.end(), [&](const auto& level) {
    return level.limit && risen(level, &MemoryCgroup::hits) > 0;
  });
  if (full == after.end())
    full = std::find_if(after.begin(), after.end(), [](const auto& level) { return level.has_been_full; });
  if (full != after.end())
    return fmt::format("out of memory: the kernel killed {}: {} of {} was reached ({})", killed,
                       owner_of(full->path), render_bytes(*full->limit), full->path);
  return counted->path.empty()
             ? fmt::format("out of memory: the kernel killed {} of this node", killed)
             : fmt::format(
                   "out of memory: the kernel killed {}: the node or an enclosing cgroup had none left",
                   killed);
}

} // namespace hpcml::launch
