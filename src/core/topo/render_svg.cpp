// SPDX-License-Identifier: MIT
// The node as a drawing: packages, NUMA nodes and L3s as boxes inside each other, a square per core, a bar
// per GPU and NIC; below it the GPUs again, with an arc per link between them. Colours follow the page (light
// or dark) by CSS; a rank has a colour and its number.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "core/topo/placement_findings_by_device.hpp"
#include "core/topo/render_plan.hpp"
#include "core/topo/ring.hpp"
#include "core/topo/svg_shapes.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

constexpr int k_core = 22, k_bar = 20, k_line = 14, k_bar_width = 100;
constexpr int k_chip = 42,
              k_arc = 14; // from GPU to GPU in the row of links, and how much higher an arc over one more is

class Drawing {
public:
  Drawing(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen)
      : x_node(node), x_plan(plan), x_seen(seen), x_marks(node, seen) {}

  std::string draw() {
    std::vector<SvgFragment> boxes;
    const auto& shape = x_node.cpus;
    for (const CpuDomain& package : shape.packages) {
      std::vector<SvgFragment> inner = numa_boxes(package.cpus);
      append(inner, bars([&](const Place& p) { return !p.l3 && !p.numa && p.package == package.id; }));
      boxes.push_back(frame(fmt::format("package {}", package.id), row(inner)));
    }
    if (shape.packages.empty()) boxes = numa_boxes(shape.all());
    append(boxes, bars([](const Place& p) { return !p.l3 && !p.numa && !p.package; }));
    const SvgFragment all = row(boxes);
    SvgFragment page;
    page.add(all, k_pad, k_pad + k_head);
    const SvgFragment rest = column(with_links({legend()}));
    page.add(rest, k_pad, all.height + 2 * k_pad + k_head);
    const std::string name = x_node.name.empty() ? "node" : x_node.name;
    const int width = std::max({all.width, rest.width, width_of(name)}) + 2 * k_pad,
              height = all.height + rest.height + 3 * k_pad + k_head;
    const std::string size = std::to_string(width) + " " + std::to_string(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" +
           std::to_string(width) + "\" role=\"img\">\n<title>" +
           escape(util::replace_all(render_node_line(x_node), "\n", "")) + "</title>\n" + k_style +
           rect(0, 0, width, height, "class=\"page\"") + label(k_pad, k_pad + 12, name, "head") + page.body +
           "</svg>\n";
  }

private:
  struct Place {
    std::optional<unsigned> l3, numa, package;
  };

  static constexpr const char* k_style =
      "<style>.page{fill:#fff}text{font:12px "
      "sans-serif;fill:#222}.head{font-weight:bold}.core{font-size:11px;text-anchor:middle;fill:#111}"
      ".box{fill:none;stroke:#888}.free{fill:#ddd;stroke:#999}.kept{fill:none;stroke:#999;stroke-dasharray:2 "
      "2}.rank{stroke:#444}"
      ".off{stroke:#d00;stroke-width:2.5}.dim{fill:#666}.link{fill:none;stroke:#06c;stroke-opacity:.7}"
      "@media(prefers-color-scheme:dark){.page{fill:#1e2129}text{fill:#eee}.core{fill:#111}.core.dim,.dim{"
      "fill:#aaa}.free{fill:#"
      "555;stroke:#777}.rank{stroke:#ccc}.off{stroke:#f66}.link{stroke:#6bf}}</style>\n";

  static void append(std::vector<SvgFragment>& boxes, SvgFragment box) {
    if (box.width > 0) boxes.push_back(std::move(box));
  }

  bool has_caches(const IdSet& cpus) const {
    return std::any_of(x_node.cpus.l3.begin(), x_node.cpus.l3.end(),
                       [&](const CpuDomain& l3) { return l3.cpus.is_subset_of(cpus); });
  }

  /// Draws the GPUs in a row with an arc per link, thicker for wider links. Curves between the bars would
  /// hide the drawing; GPUs that are all linked alike are reported in the legend.
  SvgFragment links() const {
    SvgFragment box;
    if (x_node.links.empty() || is_linked_alike(x_node)) return box;
    struct Arc {
      const GpuLink& link;
      int left, right;
    };
    const auto at = [&](unsigned index) {
      const auto gpu = std::find_if(x_node.gpus.begin(), x_node.gpus.end(),
                                    [&](const Gpu& g) { return g.place.index == index; });
      return gpu == x_node.gpus.end() ? -1 : static_cast<int>(gpu - x_node.gpus.begin());
    };
    std::vector<Arc> arcs;
    unsigned widest = 1;
    int span = 1;
    for (const GpuLink& link : x_node.links) {
      const auto [left, right] = std::minmax({at(link.first), at(link.second)});
      if (left < 0 || left == right) continue;
      arcs.push_back({link, left, right});
      widest = std::max(widest, link.width);
      span = std::max(span, right - left);
    }
    const int height = span * k_arc + k_gap;
    for (const Arc& arc : arcs) {
      const int begin = arc.left * k_chip + k_core / 2, length = arc.right - arc.left;
      char path[160];
      std::snprintf(path, sizeof path,
                    "<path class=\"link\" stroke-width=\"%.1f\" d=\"M%d %dA%d %d 0 0 1 %d %d\">",
                    1 + 3.0 * arc.link.width / widest, begin, height, length * k_chip / 2, length * k_arc,
                    begin + length * k_chip, height);
      box.body += path + (fmt::format("<title>GPU {} and GPU {}", arc.link.first, arc.link.second)) +
                  ": width " + std::to_string(arc.link.width) + "</title></path>\n";
    }
    for (std::size_t i = 0; i < x_node.gpus.size(); ++i) {
      const unsigned gpu = x_node.gpus[i].place.index;
      const auto ranks = x_seen.empty() ? users_of(gpu, x_plan.ranks, &model::PlannedRankBinding::local_rank)
                                        : users_of(gpu, x_seen, &PlacedRank::rank);
      const int x = static_cast<int>(i) * k_chip;
      box.body +=
          rect(x, height, k_core, k_core,
               std::string("class=\"") + (ranks.empty() ? "free\"" : "rank\"") + fill_of(ranks)) +
          label(x + k_core / 2, height + 14, std::to_string(gpu), ranks.empty() ? "core dim" : "core");
      box.width = x + k_core;
    }
    box.height = height + k_core;
    return frame("links between GPUs, thicker ones are wider", box);
  }

  std::vector<SvgFragment> with_links(std::vector<SvgFragment> boxes) const {
    if (SvgFragment box = links(); box.width > 0) boxes.insert(boxes.begin(), std::move(box));
    return boxes;
  }

  std::vector<SvgFragment> numa_boxes(const IdSet& inside) {
    std::vector<SvgFragment> boxes;
    for (const CpuDomain& numa : x_node.cpus.numa) {
      if (!numa.cpus.is_subset_of(inside)) continue;
      std::vector<SvgFragment> inner = cache_boxes(numa.cpus);
      append(inner, bars([&](const Place& p) { return !p.l3 && p.numa == numa.id; }));
      append(inner, wrong_memory(numa.id));
      boxes.push_back(
          frame("NUMA " + std::to_string(numa.id), has_caches(numa.cpus) ? row(inner) : column(inner)));
    }
    return boxes.empty() ? cache_boxes(inside) : boxes;
  }

  std::vector<SvgFragment> cache_boxes(const IdSet& inside) {
    std::vector<SvgFragment> boxes;
    IdSet covered;
    for (const CpuDomain& l3 : x_node.cpus.l3) {
      if (!l3.cpus.is_subset_of(inside)) continue;
      covered = covered | l3.cpus;
      std::vector<SvgFragment> inner = {cores(l3.cpus)};
      append(inner, bars([&](const Place& p) { return p.l3 == l3.id; }));
      boxes.push_back(frame("L3 " + std::to_string(l3.id), column(inner)));
    }
    if (const IdSet rest = inside - covered; !rest.empty()) boxes.push_back(cores(rest));
    return boxes;
  }

  SvgFragment cores(const IdSet& inside) {
    SvgFragment box;
    std::vector<IdSet> list;
    for (const IdSet& core : x_node.cpus.core_threads)
      if (core.is_subset_of(inside)) list.push_back(core);
    std::sort(list.begin(), list.end(), [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    const int columns = list.size() > 24 ? 12 : list.size() > 8 ? 8 : 4;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const int x = static_cast<int>(i) % columns * (k_core + k_gap),
                y = static_cast<int>(i) / columns * (k_core + k_gap);
      box.body += core(list[i], x, y);
      box.width = std::max(box.width, x + k_core);
      box.height = y + k_core;
    }
    return box;
  }

  std::string core(const IdSet& core, int x, int y) const {
    const std::vector<unsigned> planned =
                                    ranks_of(core, x_plan.ranks, &model::PlannedRankBinding::local_rank),
                                seen = ranks_of(core, x_seen, &PlacedRank::rank);
    const std::vector<unsigned>& shown = x_seen.empty() ? planned : seen;
    const bool differs = !x_seen.empty() && seen != planned;
    std::string kind = !shown.empty() ? "rank" : core.intersects(x_node.cpus.reserved) ? "kept" : "free";
    if (differs) kind += " off";
    const std::string who = "CPUs " + core.to_list() + ": " + ranks_text(shown, "no rank") +
                            (differs ? ", planned: " + ranks_text(planned, "no rank") : "");
    std::string body = rect(x, y, k_core, k_core, "class=\"" + kind + "\"" + fill_of(shown));
    // A core of several ranks has a stripe of each one's colour.
    const int stripe = shown.empty() ? 0 : k_core / static_cast<int>(std::min<std::size_t>(shown.size(), 4));
    for (std::size_t i = 1; i < std::min<std::size_t>(shown.size(), 4); ++i)
      body += rect(x + static_cast<int>(i) * stripe, y + 2, stripe - 2, k_core - 4, fill_of({shown[i]}));
    return "<g><title>" + who + "</title>" + body +
           label(x + k_core / 2, y + 14, std::to_string(core.first()), shown.empty() ? "core dim" : "core") +
           "</g>\n";
  }

  template <class Rank>
  static std::vector<unsigned> ranks_of(const IdSet& core, const std::vector<Rank>& ranks,
                                        unsigned Rank::*number) {
    std::vector<unsigned> found;
    for (const Rank& rank : ranks)
      if (core.intersects(rank.cpus)) found.push_back(rank.*number);
    return found;
  }

  static std::string ranks_text(const std::vector<unsigned>& ranks, const std::string& none) {
    if (ranks.empty()) return none;
    return (ranks.size() == 1 ? "rank " : "ranks ") + IdSet::of(ranks).to_list();
  }

  static std::string fill_of(const std::vector<unsigned>& ranks) {
    return ranks.empty() ? "" : " style=\"fill:" + colour_of(ranks.front()) + "\"";
  }

  template <class Rank>
  static std::vector<unsigned> users_of(unsigned gpu, const std::vector<Rank>& ranks,
                                        unsigned Rank::*number) {
    std::vector<unsigned> found;
    for (const Rank& rank : ranks)
      if (std::find(rank.gpus.begin(), rank.gpus.end(), gpu) != rank.gpus.end())
        found.push_back(rank.*number);
    return found;
  }

  /// Adds a bar with a text and, below it, its details. `why` the bar is marked is a tooltip. Also without
  /// it a bar can differ from the plan.
  static void add_bar(SvgFragment& box, const std::string& text, const std::string& details,
                      const std::vector<unsigned>& ranks, bool differs, const std::string& why = {}) {
    if (!why.empty()) box.body += "<g><title>" + escape(why) + "</title>";
    differs = differs || !why.empty();
    const std::string kind = std::string(ranks.empty() ? "free" : "rank") + (differs ? " off" : "");
    const int width = std::max({k_bar_width, 12 + width_of(text), 12 + width_of(details)}),
              height = k_bar + (details.empty() ? 0 : k_line);
    const auto line = [&](int y, const std::string& words) {
      return "<text x=\"6\" y=\"" + std::to_string(y) + (ranks.empty() ? "\">" : "\" style=\"fill:#111\">") +
             escape(words) + "</text>\n";
    };
    box.width = std::max(box.width, width);
    box.body += rect(0, box.height, width, height, "class=\"" + kind + "\"" + fill_of(ranks)) +
                line(box.height + k_line, text);
    if (!details.empty()) box.body += line(box.height + 2 * k_line, details);
    if (!why.empty()) box.body += "</g>\n";
    box.height += height + k_gap;
  }

  SvgFragment wrong_memory(unsigned numa) const {
    SvgFragment box;
    const auto users = x_marks.users_of_memory(numa);
    if (!users.empty())
      add_bar(box, fmt::format("memory of NUMA {} for {}", numa, ranks_text(users, "")), "", users, true,
              x_marks.memory(numa));
    return box;
  }

  /// "0000:c1:00.0, memory NUMA 4"
  std::string details_of(const Gpu& gpu) const {
    std::string details = gpu.place.pci.empty() ? "" : address_of(x_node, gpu);
    if (gpu.memory_numa)
      details += fmt::format("{}memory NUMA {}", details.empty() ? "" : ", ", *gpu.memory_numa);
    return details;
  }

  template <class Here> SvgFragment bars(const Here& is_inside) const {
    SvgFragment box;
    for (const Gpu& gpu : x_node.gpus) {
      if (!is_inside(Place{gpu.place.l3, gpu.place.numa, gpu.place.package})) continue;
      const auto planned = users_of(gpu.place.index, x_plan.ranks, &model::PlannedRankBinding::local_rank),
                 seen = users_of(gpu.place.index, x_seen, &PlacedRank::rank);
      const auto& shown = x_seen.empty() ? planned : seen;
      std::string text = "GPU " + std::to_string(gpu.place.index);
      if (!shown.empty()) text += fmt::format(" for {}", ranks_text(shown, ""));
      add_bar(box, text, details_of(gpu), shown, !x_seen.empty() && seen != planned,
              x_marks.gpu(gpu.place.index));
      if (gpu.memory_numa)
        if (const auto users = x_marks.users_of_memory(*gpu.memory_numa); !users.empty())
          add_bar(box, fmt::format("its memory for {}", ranks_text(users, "")), "", users, true,
                  x_marks.memory(*gpu.memory_numa));
    }
    for (const Nic& nic : x_node.nics) {
      if (!is_inside(Place{nic.l3, nic.numa, nic.package})) continue;
      std::vector<unsigned> ranks;
      if (x_seen.empty())
        for (const auto& rank : x_plan.ranks)
          if (rank.nic == nic.name) ranks.push_back(rank.local_rank);
      for (const auto& rank : x_seen)
        if (rank.nic == nic.name) ranks.push_back(rank.rank);
      add_bar(box, "NIC " + nic.name + (ranks.empty() ? "" : fmt::format(" for {}", ranks_text(ranks, ""))),
              "", {}, false, x_marks.nic(nic.name));
    }
    if (box.height > 0) box.height -= k_gap;
    return box;
  }

  /// True if a core that is not reserved is drawn without a rank.
  bool has_idle_core() const {
    const auto& cores = x_node.cpus.core_threads;
    return std::any_of(cores.begin(), cores.end(), [&](const IdSet& core) {
      const auto ranks = x_seen.empty() ? ranks_of(core, x_plan.ranks, &model::PlannedRankBinding::local_rank)
                                        : ranks_of(core, x_seen, &PlacedRank::rank);
      return ranks.empty() && !core.intersects(x_node.cpus.reserved);
    });
  }

  SvgFragment legend() const {
    std::vector<SvgFragment> keys;
    const auto add = [&](const std::string& kind, const std::string& fill, const std::string& text) {
      SvgFragment box;
      box.body = rect(0, 0, 14, 14, "class=\"" + kind + "\"" + fill) + label(20, 11, text, "key");
      box.height = 14;
      box.width = 20 + width_of(text);
      keys.push_back(std::move(box));
    };
    const auto add_rank = [&](unsigned rank, const IdSet& cpus, const std::string& more) {
      add("rank", fill_of({rank}), fmt::format("rank {}: CPUs {}{}", rank, cpus.to_list(), more));
    };
    for (const auto& rank : x_plan.ranks)
      if (x_seen.empty())
        add_rank(rank.local_rank, rank.cpus,
                 ", " + util::counted(rank.cores, "core") +
                     (rank.memory.empty() ? "" : fmt::format(", memory of NUMA {}", rank.memory.to_list())));
    for (const PlacedRank& rank : x_seen) add_rank(rank.rank, rank.cpus, "");
    if (has_idle_core()) add("free", "", "core without a rank");
    if (!x_node.cpus.reserved.empty()) add("kept", "", "reserved core");
    if (!x_seen.empty()) add("free off", "", "not as planned, or wrong: point at it");
    int widest = 0;
    for (const SvgFragment& key : keys) widest = std::max(widest, key.width);
    for (SvgFragment& key : keys) key.width = widest; // columns
    SvgFragment all = row(keys);
    const std::string numbers = "The number of a core is its first CPU.";
    all.body += label(0, all.height + 20, numbers, "key");
    all.height += 24;
    all.width = std::max(all.width, width_of(numbers));
    if (!x_node.links.empty() && is_linked_alike(x_node)) {
      const std::string text = "every GPU is linked with every other, all alike";
      all.body += label(0, all.height + 20, text, "key");
      all.height += 24;
      all.width = std::max(all.width, width_of(text));
    }
    return all;
  }

  const Node& x_node;
  const AffinityPlan& x_plan;
  const std::vector<PlacedRank>& x_seen;
  PlacementFindingsByDevice x_marks;
};

} // namespace

std::string render_svg(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen) {
  return Drawing(node, plan, seen).draw();
}

} // namespace hpcml::topo
