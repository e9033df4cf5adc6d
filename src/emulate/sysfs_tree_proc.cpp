// SPDX-License-Identifier: MIT
// The parts of a node's view that are single texts.
#include <algorithm>
#include <map>

#include "core/util/text.hpp"
#include "emulate/sysfs_tree.hpp"

namespace hpcml::emulate {

model::CpuShape complete_shape(model::CpuShape shape) {
  if (shape.numa.empty()) shape.numa.push_back({0, shape.all()});
  if (shape.packages.empty()) shape.packages.push_back({0, shape.all()});
  return shape;
}

std::string describe_node_view(const model::CpuShape& cpu, unsigned long long mem_mib) {
  std::string text = std::to_string(mem_mib);
  for (const auto& threads : cpu.core_threads) text += " " + threads.to_list();
  for (const auto* level : {&cpu.numa, &cpu.l3, &cpu.packages}) {
    text += " /";
    for (const auto& domain : *level) text += " " + std::to_string(domain.id) + "=" + domain.cpus.to_list();
  }
  return text;
}

std::string render_cpuinfo(const model::CpuShape& cpu, const std::string& host_text) {
  const std::string block = host_text.substr(0, host_text.find("\n\n"));
  std::map<unsigned, std::string> blocks; // the kernel lists CPUs by number
  for (const auto& package : cpu.packages) {
    unsigned core_id = 0;
    for (const auto& threads : cpu.core_threads) {
      if (!threads.intersects(package.cpus)) continue;
      for (const unsigned id : threads.ids()) {
        std::string& text = blocks[id];
        const std::map<std::string, std::string> values{
            {"processor", std::to_string(id)},
            {"physical id", std::to_string(package.id)},
            {"siblings", std::to_string(package.cpus.size())},
            {"core id", std::to_string(core_id)},
            {"cpu cores", std::to_string(package.cpus.size() / std::max<std::size_t>(1, threads.size()))},
            {"apicid", std::to_string(id)},
            {"initial apicid", std::to_string(id)}};
        for (const auto& line : util::split(block, '\n')) {
          const auto colon = line.find(':');
          const auto found = values.find(std::string(util::trim(std::string_view(line).substr(0, colon))));
          text += found == values.end() ? line : line.substr(0, colon) + ": " + found->second;
          text += '\n';
        }
        text += '\n';
      }
      ++core_id;
    }
  }
  std::string all;
  for (const auto& [id, text] : blocks) all += text;
  return all;
}

std::string render_meminfo(const std::string& host_text, unsigned long long mem_mib) {
  const auto kib = mem_mib * 1024;
  std::string text;
  for (const auto& line : util::split(host_text, '\n')) {
    if (line.empty()) continue;
    const auto replace = [&](const char* name, unsigned long long value) {
      text += std::string(name) + " " + std::to_string(value) + " kB\n";
    };
    if (line.starts_with("MemTotal:"))
      replace("MemTotal:      ", kib);
    else if (line.starts_with("MemFree:"))
      replace("MemFree:       ", kib - kib / 16);
    else if (line.starts_with("MemAvailable:"))
      replace("MemAvailable:  ", kib - kib / 16);
    else
      text += line + "\n";
  }
  return text;
}

} // namespace hpcml::emulate
