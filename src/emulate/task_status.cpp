// SPDX-License-Identifier: MIT
#include "emulate/task_status.hpp"

#include <cstdint>
#include <cstdio>
#include <linux/mempolicy.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

std::optional<pid_t> parse_pid(std::string_view text) {
  const auto number = util::parse_unsigned(text);
  if (!number || *number == 0 || *number > 0x7fffffffULL) return std::nullopt;
  return static_cast<pid_t>(*number);
}

/// The number after "NAME:" in a status text.
std::optional<pid_t> find_number(std::string_view status, std::string_view name) {
  const auto at = status.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const auto begin = at + name.size();
  const auto end = status.find('\n', begin);
  const auto number = util::parse_unsigned(util::trim(status.substr(begin, end - begin)));
  if (!number) return std::nullopt;
  return static_cast<pid_t>(*number);
}

} // namespace

std::optional<ThreadProcessIds> read_task_links(pid_t tid) {
  const auto text = util::read_file("/proc/" + std::to_string(tid) + "/status");
  if (!text) return std::nullopt;
  const auto process = find_number(*text, "\nTgid:");
  const auto parent = find_number(*text, "\nPPid:");
  if (!process || !parent) return std::nullopt;
  return ThreadProcessIds{*process, *parent};
}

std::vector<pid_t> list_all_threads() {
  std::vector<pid_t> threads;
  for (const auto& process : util::list_directory("/proc")) {
    if (!parse_pid(process)) continue;
    for (const auto& task : util::list_directory("/proc/" + process + "/task"))
      if (const auto tid = parse_pid(task)) threads.push_back(*tid);
  }
  return threads;
}

std::optional<pid_t> find_file_task(std::string_view path, std::string_view name, pid_t caller) {
  if (!path.starts_with("/proc/") || !path.ends_with("/" + std::string(name))) return std::nullopt;
  path.remove_prefix(6);
  path.remove_suffix(name.size() + 1);
  const auto slash = path.find('/');
  const auto process = path.substr(0, slash);
  if (slash == std::string_view::npos) {
    if (process == "thread-self") return caller;
    if (process != "self") return parse_pid(process);
    const auto links = read_task_links(caller);
    return links ? std::optional(links->process) : std::nullopt;
  }
  path.remove_prefix(slash + 1);
  if (!path.starts_with("task/") || (process != "self" && !parse_pid(process))) return std::nullopt;
  return parse_pid(path.substr(5));
}

std::string render_kernel_mask(const model::IdSet& ids, unsigned id_count) {
  const unsigned words = id_count == 0 ? 1 : (id_count + 31) / 32;
  std::string text;
  for (unsigned word = words; word-- > 0;) {
    std::uint32_t bits = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      if (ids.contains(word * 32 + bit)) bits |= std::uint32_t(1) << bit;
    // The kernel prints only as many digits of the first word as there are CPUs.
    const unsigned in_word = word == words - 1 && id_count % 32 != 0 ? id_count % 32 : 32;
    char digits[16];
    std::snprintf(digits, sizeof digits, "%0*x", static_cast<int>((in_word + 3) / 4), bits);
    if (!text.empty()) text += ',';
    text += digits;
  }
  return text;
}

std::string render_status(std::string_view status, const model::IdSet& cpus, unsigned cpu_ids,
                          const model::IdSet& memory_nodes) {
  std::string text;
  text.reserve(status.size() + 256);
  while (!status.empty()) {
    const auto end = std::min(status.find('\n'), status.size() - 1) + 1;
    const auto line = status.substr(0, end);
    status.remove_prefix(end);
    if (line.starts_with("Cpus_allowed:"))
      text += "Cpus_allowed:\t" + render_kernel_mask(cpus, cpu_ids) + "\n";
    else if (line.starts_with("Cpus_allowed_list:"))
      text += "Cpus_allowed_list:\t" + cpus.to_list() + "\n";
    else if (line.starts_with("Mems_allowed:"))
      text += "Mems_allowed:\t" + render_kernel_mask(memory_nodes, 1024) + "\n";
    else if (line.starts_with("Mems_allowed_list:"))
      text += "Mems_allowed_list:\t" + memory_nodes.to_list() + "\n";
    else
      text += line;
  }
  return text;
}

std::string render_numa_maps(std::string_view maps, const MemPolicy& policy, unsigned pages) {
  static const char* const k_names[] = {
      "default", "prefer", "bind", "interleave", "local", "prefer (many)", "weighted interleave"};
  std::string shown = k_names[policy.mode];
  if (!policy.nodes.empty()) {
    if (policy.flags & MPOL_F_STATIC_NODES) shown += "=static";
    if (policy.flags & MPOL_F_RELATIVE_NODES) shown += "=relative";
    shown += ":" + policy.nodes.to_list();
  }
  std::string text;
  for (const auto& line : util::split(std::string(maps), '\n')) {
    bool first = true;
    for (const auto& word : util::split(line, ' ')) {
      const auto sign = word.find('=');
      const bool on_node = word.size() > 2 && word[0] == 'N' && sign != std::string::npos &&
                           util::parse_unsigned(word.substr(1, sign - 1));
      text += first ? word
                    : " " + (word == "default" ? shown
                             : on_node         ? "N" + std::to_string(pages) + word.substr(sign)
                                               : word);
      first = false;
    }
    text += "\n";
  }
  if (!text.empty()) text.pop_back(); // of what is after the last line's end
  return text;
}

} // namespace hpcml::emulate
