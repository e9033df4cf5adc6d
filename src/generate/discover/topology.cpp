// SPDX-License-Identifier: MIT
#include "generate/discover/topology.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/topo/live_node.hpp"
#include "core/topo/read_node.hpp"
#include "core/util/text.hpp"

namespace hpcml::discover {

namespace {

using model::CpuDomain;
using model::GpuLocality;

/// "GPU0" and "GPU[0]" → 0
std::optional<unsigned> gpu_index(std::string_view word) {
  if (!word.starts_with("GPU")) return std::nullopt;
  auto digits = std::string(word.substr(3));
  std::erase_if(digits, [](char c) { return c == '[' || c == ']'; });
  const auto number = util::parse_unsigned(digits);
  return number && *number < 1024 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// Columns of nvidia-smi: tabs between cells, spaces and colour codes around them.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> list;
  for (const auto& cell : util::split(line, '\t')) {
    std::string plain;
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (cell[i] == '\033')
        i = std::min(cell.find('m', i), cell.size() - 1);
      else
        plain += cell[i];
    }
    list.emplace_back(util::trim(plain));
  }
  return list;
}

std::vector<GpuLocality> parse_nvidia(const std::vector<std::string>& lines) {
  std::vector<GpuLocality> places;
  std::size_t column = 0;
  for (const auto& line : lines) {
    const auto row = cells(line);
    const auto head = std::find(row.begin(), row.end(), "NUMA Affinity");
    if (head != row.end()) column = static_cast<std::size_t>(head - row.begin());
    const auto index = gpu_index(row.front());
    if (column == 0 || head != row.end() || !index || *index != places.size()) continue;
    GpuLocality place;
    place.index = *index;
    const auto numa = column < row.size() ? util::parse_unsigned(row[column])
                                          : std::nullopt; // "N/A", or "0-1" where it is near both
    if (numa) place.numa = static_cast<unsigned>(*numa);
    places.push_back(place);
  }
  return places;
}

std::vector<GpuLocality> parse_amd(const std::vector<std::string>& lines) {
  std::vector<GpuLocality> places;
  for (const auto& line : lines) {
    const auto at = line.find("(Topology) Numa Node:");
    const auto index = gpu_index(util::trim(line.substr(0, line.find_first_of(" \t:"))));
    if (at == std::string::npos || !index || *index != places.size()) continue;
    GpuLocality place;
    place.index = *index;
    if (const auto numa = util::parse_unsigned(util::trim(line.substr(line.rfind(':') + 1))))
      place.numa = static_cast<unsigned>(*numa);
    places.push_back(place);
  }
  return places;
}

} // namespace

std::vector<GpuLocality> read_gpu_topology(std::string_view text) {
  const auto lines = util::split(text, '\n');
  if (text.find("NUMA Affinity") != std::string_view::npos) return parse_nvidia(lines);
  return parse_amd(lines);
}

util::Result<ObservedNode> load_seen_node(const std::filesystem::path& path) {
  ObservedNode seen;
  seen.source = path.filename().string();
  TRY(const auto text, topo::read_topology(path));
  seen.gpus = read_gpu_topology(text);
  if (!seen.gpus.empty()) {
    seen.gpu_vendor =
        text.find("(Topology)") == std::string::npos ? model::GpuVendor::nvidia : model::GpuVendor::amd;
    return seen;
  }
  TRY(const auto node, topo::parse_node(text, path));
  seen.cpu = node.cpus;
  for (const auto& gpu : node.gpus) seen.gpus.push_back(gpu.place);
  return seen;
}

util::Result<ObservedNode> read_seen_node(const std::string& host_name, const std::filesystem::path& root) {
  TRY(auto cpu, topo::read_live_cpus(root));
  auto gpus = topo::read_live_gpus(root);
  return ObservedNode{std::move(cpu), std::move(gpus.places), gpus.vendor,
                      fmt::format("the node {} itself", host_name)};
}

util::Result<std::string> find_kind(const ObservedNode& node, const std::vector<NodeKind>& kinds) {
  std::vector<std::string> found, all;
  const bool listed =
      std::any_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) { return kind.gpus > 0; });
  for (const auto& kind : kinds) {
    all.push_back(fmt::format("{} ({} cores, {} GPUs)", kind.id, kind.cores, kind.gpus));
    const bool cpus =
        node.cpu.cores == 0 || (node.cpu.sockets == kind.sockets && node.cpu.cores == kind.cores &&
                                node.cpu.threads_per_core == kind.threads_per_core);
    const bool gpus = node.gpus.empty() || !listed || node.gpus.size() == kind.gpus;
    if (cpus && gpus) found.push_back(kind.id);
  }
  if (found.size() == 1) return found.front();
  const auto shape = fmt::format("{} sockets, {} cores, {} threads per core, {} GPUs", node.cpu.sockets,
                                 node.cpu.cores, node.cpu.threads_per_core, node.gpus.size());
  if (found.empty())
    return util::Error{
        fmt::format("the topology of {} ({}) fits no node type of this cluster", node.source, shape),
        fmt::format("use --topology with a file of one of these node types: {}", util::join(all, ", "))};
  return util::Error{fmt::format("the topology of {} ({}) fits several node types: {}", node.source, shape,
                                 util::join(found, ", ")),
                     fmt::format("use --topology TYPE=FILE to choose one of them, such as --topology {}=FILE",
                                 found.front())};
}

} // namespace hpcml::discover
