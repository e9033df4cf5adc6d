// SPDX-License-Identifier: MIT
#include "cli/know/sites_table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "core/util/text_table.hpp"

namespace hpcml::cli {

namespace {

using model::NodeType;
using model::Partition;
using model::Site;

/// "4 x A100": the maker's name says nothing that the model does not.
std::string gpus_of(const NodeType& type) {
  if (!type.gpu || type.gpu->per_node == 0) return "-";
  auto model = type.gpu->model.empty() ? type.gpu->slurm_type : type.gpu->model;
  for (const char* maker : {"NVIDIA ", "AMD ", "Intel "})
    if (model.starts_with(maker)) model = model.substr(std::string_view(maker).size());
  if (model.empty())
    model = type.gpu->vendor == model::GpuVendor::unknown ? "GPU" : model::word_of(type.gpu->vendor);
  return std::to_string(type.gpu->per_node) + " x " + model;
}

/// Without the memory and the board's form: "A100" of "A100 SXM4, 40 GB".
std::string short_model(const std::string& gpus) {
  std::vector<std::string> words;
  for (const auto& word : util::split(gpus, ' ')) {
    if (word == "GB" && words.size() > 1) {
      words.pop_back();
      continue;
    }
    if (word.starts_with("SXM") || word.starts_with("PCIe") || word == "custom," || word == "(DGX)") continue;
    words.push_back(word);
  }
  auto text = util::join(words, " ");
  if (text.ends_with(",")) text.pop_back();
  return text;
}

std::string joined(const std::vector<std::string>& list, const char* otherwise) {
  return list.empty() ? otherwise : util::join(list, ", ");
}

/// The sum over GPU nodes, or over all where none has GPUs; "?" where one kind's number is unknown.
std::string node_count(const Site& site) {
  const bool gpus = std::any_of(site.node_types.begin(), site.node_types.end(),
                                [](const NodeType& type) { return type.gpu.has_value(); });
  unsigned sum = 0;
  for (const auto& type : site.node_types) {
    if (gpus && !type.gpu) continue;
    if (!type.node_count) return "?";
    sum += *type.node_count;
  }
  return site.node_types.empty() ? "?" : std::to_string(sum);
}

std::string limit_text(const model::Known<model::Walltime>& time) {
  return time ? short_time(time->value) : "?";
}

std::string longest_time(const Partition& partition) {
  if (partition.max_time) return short_time(partition.max_time->value);
  std::optional<model::Walltime> longest;
  for (const auto& row : partition.max_time_by_nodes)
    if (!longest || row.time > *longest) longest = row.time;
  return longest ? short_time(*longest) : "?";
}

std::string most_nodes(const Partition& partition) {
  return partition.max_nodes ? std::to_string(partition.max_nodes->value) : "?";
}

/// The partition that jobs get without naming one, else the one with GPUs where jobs may run longest
/// undisturbed.
const Partition* usual_partition(const Site& site) {
  for (const auto& partition : site.partitions)
    if (partition.is_default) return &partition;
  const Partition* longest = nullptr;
  const auto time = [](const Partition& partition) {
    return partition.max_time ? partition.max_time->value.seconds().count() : 0;
  };
  for (const auto& partition : site.partitions)
    if (!partition.cpu_only && !partition.preemptible &&
        (longest == nullptr || time(partition) > time(*longest)))
      longest = &partition;
  return longest != nullptr || site.partitions.empty() ? longest : &site.partitions.front();
}

std::string last_checked(const Site& site) {
  std::string last = "-";
  for (const auto& source : site.sources) last = std::max(last, source.checked);
  return last;
}

} // namespace

std::string short_time(const model::Walltime& time) {
  const auto all = time.seconds().count();
  if (all % 86400 == 0 && all > 0) return std::to_string(all / 86400) + "d";
  std::string text;
  if (all >= 3600) text += std::to_string(all / 3600) + "h";
  if (all % 3600 >= 60) text += std::to_string(all % 3600 / 60) + "m";
  if (all % 60 != 0 || all == 0) text += std::to_string(all % 60) + "s";
  return text;
}

std::string state_of(const Site& site) {
  if (site.state == model::SiteState::retired)
    return "retired" + (site.successor.empty() ? "" : ", see " + site.successor);
  // Without a clock: the row is written when the program is built.
  return site.until.empty()
             ? model::word_of(site.state)
             : "until " + site.until + (site.successor.empty() ? "" : ", see " + site.successor);
}

std::vector<std::string> sites_head() {
  return {"SITE", "STATE", "GPUS PER NODE", "NODES", "PARTITION", "TIME", "MOST", "CHECKED", "NAME"};
}

std::vector<std::string> sites_row(const Site& site) {
  std::vector<std::string> gpus;
  for (const auto& type : site.node_types)
    if (type.gpu && type.gpu->per_node > 0) util::add_once(gpus, short_model(gpus_of(type)));
  constexpr std::size_t k_most = 3;
  if (gpus.size() > k_most) {
    const auto more = gpus.size() - k_most;
    gpus.resize(k_most);
    gpus.push_back("and " + std::to_string(more) + " more");
  }
  const auto* partition = usual_partition(site);
  const auto name = partition == nullptr ? "?" : partition->nameable ? partition->name : "(not named)";
  return {site.id,
          state_of(site),
          joined(gpus, site.node_types.empty() ? "?" : "-"),
          node_count(site),
          name,
          partition == nullptr ? "?" : longest_time(*partition),
          partition == nullptr ? "?" : most_nodes(*partition),
          last_checked(site),
          site.name};
}

std::string render_partitions(const Site& site, const config::SiteFacts& facts) {
  if (site.partitions.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"  PARTITION", "GPUS PER NODE", "CORES", "MEMORY", "NODES",
                                                 "TIME", "WITHOUT --time", "MOST", "WHOLE NODES"}};
  const auto value_at = [&](const std::string& path) {
    return std::any_of(facts.facts.begin(), facts.facts.end(),
                       [&](const auto& fact) { return fact.path == path; });
  };
  for (std::size_t i = 0; i < site.partitions.size(); ++i) {
    const auto& partition = site.partitions[i];
    const char* const otherwise = value_at(fmt::format("partitions[{}].exclusive", i)) ? "no" : "?";
    std::vector<std::string> gpus, cores, memory;
    std::optional<unsigned> count = 0;
    for (const auto& id : partition.node_types) {
      const auto* type = site.find_node_type(id);
      if (type == nullptr) continue;
      util::add_once(gpus, gpus_of(*type));
      util::add_once(cores, type->cpu.cores > 0 ? std::to_string(type->cpu.cores) : "?");
      util::add_once(memory, type->memory ? type->memory->value.to_slurm() : "?");
      count = count && type->node_count ? std::optional(*count + *type->node_count) : std::nullopt;
    }
    if (partition.node_count) count = partition.node_count->value; // of its nodes' kind others may have some
    rows.push_back({"  " + partition.name + (partition.is_default ? "*" : "") +
                        (partition.nameable ? "" : " (not named)"),
                    joined(gpus, "?"), joined(cores, "?"), joined(memory, "?"),
                    count && *count > 0 ? std::to_string(*count) : "?", longest_time(partition),
                    limit_text(partition.default_time), most_nodes(partition),
                    partition.exclusive ? "yes" : otherwise});
  }
  return util::render_columns(rows);
}

std::string render_qos(const Site& site) {
  if (site.qos.empty()) return {};
  const auto number = [](const auto& limit) {
    return limit ? std::to_string(limit->value) : std::string("?");
  };
  std::vector<std::vector<std::string>> rows = {
      {"  QOS", "PARTITIONS", "TIME", "MOST", "TOTAL GPUS", "JOBS QUEUED"}};
  for (const auto& qos : site.qos)
    rows.push_back({"  " + qos.name + (qos.is_default ? "*" : ""), joined(qos.partitions, "all"),
                    limit_text(qos.max_time), number(qos.max_nodes), number(qos.max_gpus),
                    number(qos.max_submitted)});
  return util::render_columns(rows);
}

} // namespace hpcml::cli
