// SPDX-License-Identifier: MIT
#include "agree_part.hpp"

#include <fmt/format.h>
#include <regex>

#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

class GpuPrinter : FieldPart {
public:
  using FieldPart::FieldPart;

  void run() {
    std::vector<std::string> per_node;
    if (r.text("gpus-per-node").find_first_not_of(',') != std::string::npos)
      per_node.push_back(tres_list(r.text("gpus-per-node"), "gpu:"));
    const bool gres = r.has("gres") && util::to_lower(r.text("gres")) != "none";
    if (gres) per_node.push_back(gres_text());
    if (gres || !per_node.empty()) x_fields["TresPerNode"] = util::join(per_node, ",");
    set("TresPerJob", tres_list(r.text("gpus"), "gpu:"), "");
    set("TresPerSocket", tres_list(r.text("gpus-per-socket"), "gpu:"), "");
    if (const auto text = per_task_text(); !text.empty() || (r.tres_per_task && from(Version::v23_11)))
      x_fields["TresPerTask"] = text;
    if (r.has("cpus-per-gpu")) x_fields["CpusPerTres"] = fmt::format("gres/gpu:{}", r.count("cpus-per-gpu"));
    if (r.has("gpu-freq")) x_fields["TresFreq"] = "gres/gpu:" + r.text("gpu-freq");
    if (const auto gpus = bound_gpus_per_task(); from(Version::v23_11) && gpus > 0)
      x_fields["TresBind"] = fmt::format("gres/gpu:per_task:{}", gpus);
    if (r.has("ntasks-per-gpu")) {
      if (from(Version::v21_08) && slurm::sent_count(r, "ntasks-per-gpu") == 0)
        x_fields.erase("NtasksPerTRES");
      else if (from(Version::v21_08))
        x_fields["NtasksPerTRES"] = std::to_string(slurm::sent_count(r, "ntasks-per-gpu"));
      else
        x_fields["TresBind"] = fmt::format("gres/gpu:single:{}", r.count("ntasks-per-gpu"));
    }
    copy("TresBind", "tres-bind");
    if (r.has("gpu-bind")) x_fields["TresBind"] = "gres/gpu:" + r.text("gpu-bind");
  }

private:
  /// --gres as it was written: up to 20.11 and from 23.11 with its empty items.
  std::string gres_text() const {
    const bool later = from(Version::v23_11);
    std::vector<std::string> items;
    for (auto item : util::split(r.text("gres"), ',')) {
      for (const char* own : {"gres:", "gres/"})
        if (item.starts_with(own)) item = item.substr(5);
      const bool gpu = item.starts_with("gpu");
      items.push_back((later || gpu ? "gres/" : from(Version::v21_08) ? "gres:" : "") + item);
    }
    return util::join(items, ",");
  }

  static std::string tres_list(const std::string& text, const std::string& prefix) {
    std::vector<std::string> parts;
    if (!text.empty())
      for (auto part : util::split(text, ',')) {
        if (part.empty()) continue;
        for (const char* own : {"gres:", "gres/"})
          if (prefix.empty() && part.starts_with(own)) part = part.substr(5);
        parts.push_back("gres/" + prefix + part);
      }
    return util::join(parts, ",");
  }

  /// Of several in --tres-per-task the first counts, from 25.05 the sum.
  std::uint64_t bound_gpus_per_task() const {
    if (!r.tres_per_task || r.gpus("gpus-per-task") > 0) return s.gpus_per_task;
    std::uint64_t sum = 0;
    for (const auto& item : r.tres_per_task->items) {
      if (item.name != "gpu") continue;
      sum += item.count;
      if (!from(Version::v25_05)) break;
    }
    return sum;
  }

  std::string per_task_text() const {
    std::vector<std::string> parts;
    const bool later = from(Version::v23_11);
    if (later && r.has("cpus-per-task")) parts.push_back(fmt::format("cpu={}", s.cpus_per_task));
    const auto add = [&](const slurm::GresItem& item) {
      if (item.name == "cpu") {
        if (!(later && r.has("cpus-per-task"))) parts.push_back(fmt::format("cpu={}", item.count));
      } else
        parts.push_back(
            fmt::format("gres/{}{}{}={}", item.name, item.type.empty() ? "" : ":", item.type, item.count));
    };
    if (const auto found = r.gres.find("gpus-per-task"); later && found != r.gres.end())
      for (const auto& item : found->second) add(item);
    if (r.tres_per_task && later) { // as it was written
      static const std::regex number(":([0-9])");
      for (const auto& part : util::split(r.text("tres-per-task"), ','))
        if (!(part.starts_with("cpu") && r.has("cpus-per-task")))
          parts.push_back(std::regex_replace(util::replace_all(part, "gres:", "gres/"), number, "=$1"));
    } else if (r.tres_per_task) {
      for (const auto& item : r.tres_per_task->items) add(item);
    }
    if (!later && !r.text("gpus-per-task").empty()) {
      for (auto part : util::split(tres_list(r.text("gpus-per-task"), "gpu:"), ',')) {
        const auto colon = part.rfind(':');
        if (part[colon + 1] >= '0' && part[colon + 1] <= '9') part[colon] = '=';
        parts.push_back(part);
      }
    }
    return util::join(parts, ",");
  }
};

} // namespace

void print_gpus(const slurm::JobOptions& request, const slurm::JobSize& size,
                const slurm::ClusterFacts& cluster, slurm::Version version, Fields& fields) {
  GpuPrinter(request, size, cluster, version, fields).run();
}

} // namespace hpcml::agree
