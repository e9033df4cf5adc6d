// SPDX-License-Identifier: MIT
// The node as a drawing: packages, NUMA nodes and L3s as boxes inside each other, a square per core, a bar
// per GPU and NIC. Colours follow the page (light or dark) by CSS; a rank is told by its colour and its
// number.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "topo/render_plan.hpp"
#include "util/text.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

constexpr int k_core = 22, k_gap = 4, k_pad = 10, k_head = 18, k_bar = 20, k_bar_width = 190;

struct Box {
  int width = 0, height = 0;
  std::string body;
};

/// Hues far apart for neighbouring ranks, light enough for dark text; as #rrggbb, which every viewer knows.
std::string colour_of(unsigned rank) {
  const double hue = rank * 137 % 360 / 60.0, chroma = 0.48, low = 0.44;
  const double second = chroma * (1 - std::fabs(std::fmod(hue, 2.0) - 1));
  double red = 0, green = 0, blue = 0;
  if (hue < 1)
    red = chroma, green = second;
  else if (hue < 2)
    red = second, green = chroma;
  else if (hue < 3)
    green = chroma, blue = second;
  else if (hue < 4)
    green = second, blue = chroma;
  else if (hue < 5)
    red = second, blue = chroma;
  else
    red = chroma, blue = second;
  const auto byte = [&](double part) { return static_cast<unsigned>((part + low) * 255); };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", byte(red), byte(green), byte(blue));
  return text;
}

std::string escape(const std::string& text) {
  return util::replace_all(util::replace_all(util::replace_all(text, "&", "&amp;"), "<", "&lt;"), "\"",
                           "&quot;");
}

std::string rect(int x, int y, int width, int height, const std::string& more) {
  char text[128];
  std::snprintf(text, sizeof text, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" ", x, y,
                width, height);
  return text + more + "/>\n";
}

std::string label(int x, int y, const std::string& text, const char* kind) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" + kind + "\">" +
         escape(text) + "</text>\n";
}

std::string moved(const std::string& body, int x, int y) {
  return "<g transform=\"translate(" + std::to_string(x) + "," + std::to_string(y) + ")\">\n" + body +
         "</g>\n";
}

class Drawing {
public:
  Drawing(const Node& node, const AffinityPlan& plan, const std::vector<Placed>& seen)
      : x_node(node), x_plan(plan), x_seen(seen) {}

  std::string draw() {
    std::vector<Box> boxes;
    const auto& shape = x_node.cpus;
    for (const CpuDomain& package : shape.packages) {
      std::vector<Box> inner = numa_boxes(package.cpus);
      append(inner, bars([&](const Place& p) { return !p.l3 && !p.numa && p.package == package.id; }));
      boxes.push_back(frame("package " + std::to_string(package.id), row(inner, 4)));
    }
    if (shape.packages.empty()) boxes = numa_boxes(shape.all());
    append(boxes, bars([](const Place& p) { return !p.l3 && !p.numa && !p.package; }));
    const bool wide = !boxes.empty() && boxes.front().width > 700;
    const Box all = row(boxes, wide ? 1 : 2), key = legend();
    const int width = std::max(all.width, key.width) + 2 * k_pad,
              height = all.height + key.height + 3 * k_pad + k_head;
    std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) +
                       " " + std::to_string(height) + "\" width=\"" + std::to_string(width) +
                       "\" role=\"img\">\n<title>" +
                       escape(util::replace_all(render_node_line(x_node), "\n", "")) + "</title>\n" + k_style;
    text += label(k_pad, k_pad + 12, x_node.name.empty() ? "node" : x_node.name, "head");
    text += moved(all.body, k_pad, k_pad + k_head) + moved(key.body, k_pad, all.height + 2 * k_pad + k_head);
    return text + "</svg>\n";
  }

private:
  struct Place {
    std::optional<unsigned> l3, numa, package;
  };

  static constexpr const char* k_style =
      "<style>text{font:11px "
      "sans-serif;fill:#222}.head{font-weight:bold}.core{font-size:9px;text-anchor:middle;fill:#111}"
      ".box{fill:none;stroke:#888}.free{fill:#ddd;stroke:#999}.kept{fill:none;stroke:#999;stroke-dasharray:2 "
      "2}.rank{stroke:#444}"
      ".off{stroke:#d00;stroke-width:2.5}.dim{fill:#666}"
      "@media(prefers-color-scheme:dark){text{fill:#eee}.core{fill:#111}.core.dim,.dim{fill:#aaa}.free{fill:#"
      "555;stroke:#777}.rank{stroke:#ccc}.off{stroke:#f66}}</style>\n";

  static void append(std::vector<Box>& boxes, Box box) {
    if (box.width > 0) boxes.push_back(std::move(box));
  }

  static Box frame(const std::string& title, const Box& inner) {
    Box box;
    box.width = std::max(inner.width, 7 * static_cast<int>(title.size())) + 2 * k_pad;
    box.height = inner.height + k_pad + k_head;
    box.body = rect(0, 0, box.width, box.height, "class=\"box\"") + label(k_pad, 13, title, "dim") +
               moved(inner.body, k_pad, k_head);
    return box;
  }

  /// Boxes beside each other, `columns` in a row.
  static Box row(const std::vector<Box>& boxes, std::size_t columns) {
    Box all;
    int x = 0, y = 0, tallest = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (i > 0 && i % columns == 0) {
        y += tallest + k_pad;
        x = tallest = 0;
      }
      all.body += moved(boxes[i].body, x, y);
      x += boxes[i].width + k_pad;
      tallest = std::max(tallest, boxes[i].height);
      all.width = std::max(all.width, x - k_pad);
    }
    all.height = y + tallest;
    return all;
  }

  std::vector<Box> numa_boxes(const IdSet& inside) {
    std::vector<Box> boxes;
    for (const CpuDomain& numa : x_node.cpus.numa) {
      if (!numa.cpus.is_subset_of(inside)) continue;
      std::vector<Box> inner = cache_boxes(numa.cpus);
      append(inner, bars([&](const Place& p) { return !p.l3 && p.numa == numa.id; }));
      boxes.push_back(frame("NUMA " + std::to_string(numa.id), row(inner, 2)));
    }
    return boxes.empty() ? cache_boxes(inside) : boxes;
  }

  std::vector<Box> cache_boxes(const IdSet& inside) {
    std::vector<Box> boxes;
    IdSet covered;
    for (const CpuDomain& l3 : x_node.cpus.l3) {
      if (!l3.cpus.is_subset_of(inside)) continue;
      covered = covered | l3.cpus;
      std::vector<Box> inner = {cores(l3.cpus)};
      append(inner, bars([&](const Place& p) { return p.l3 == l3.id; }));
      boxes.push_back(frame("L3 " + std::to_string(l3.id), row(inner, 1)));
    }
    if (const IdSet rest = inside - covered; !rest.empty()) boxes.push_back(cores(rest));
    return boxes;
  }

  Box cores(const IdSet& inside) {
    Box box;
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
    std::vector<unsigned> planned, seen;
    for (const auto& rank : x_plan.ranks)
      if (core.intersects(rank.cpus)) planned.push_back(rank.local_rank);
    for (const Placed& rank : x_seen)
      if (core.intersects(rank.cpus)) seen.push_back(rank.rank);
    std::string kind = core.intersects(x_node.cpus.reserved) ? "kept" : planned.empty() ? "free" : "rank";
    if (!x_seen.empty() && seen != planned) kind += " off";
    const std::string fill = planned.empty() ? "" : " style=\"fill:" + colour_of(planned.front()) + "\"";
    std::string who = planned.empty() ? "no rank" : "rank " + std::to_string(planned.front());
    if (!x_seen.empty() && seen != planned)
      who += ", has " + (seen.empty() ? "nobody" : "rank " + std::to_string(seen.front()));
    return "<g><title>CPUs " + core.to_list() + ": " + who + "</title>" +
           rect(x, y, k_core, k_core, "class=\"" + kind + "\"" + fill) +
           label(x + k_core / 2, y + 14, std::to_string(core.first()),
                 planned.empty() ? "core dim" : "core") +
           "</g>\n";
  }

  template <class Here> Box bars(const Here& here) const {
    Box box;
    const auto add = [&](const std::string& text, const std::vector<unsigned>& ranks) {
      const std::string fill = ranks.empty() ? "" : " style=\"fill:" + colour_of(ranks.front()) + "\"";
      box.body += rect(0, box.height, k_bar_width, k_bar,
                       std::string("class=\"") + (ranks.empty() ? "free" : "rank") + "\"" + fill) +
                  "<text x=\"6\" y=\"" + std::to_string(box.height + 14) +
                  (ranks.empty() ? "\">" : "\" style=\"fill:#111\">") + escape(text) + "</text>\n";
      box.height += k_bar + k_gap;
      box.width = k_bar_width;
    };
    for (const Gpu& gpu : x_node.gpus) {
      if (!here(Place{gpu.place.l3, gpu.place.numa, gpu.place.package})) continue;
      std::vector<unsigned> ranks;
      for (const auto& rank : x_plan.ranks)
        if (std::find(rank.gpus.begin(), rank.gpus.end(), gpu.place.index) != rank.gpus.end())
          ranks.push_back(rank.local_rank);
      add("GPU " + std::to_string(gpu.place.index) + " " + gpu.place.pci +
              (ranks.empty()
                   ? ""
                   : (gpu.place.pci.empty() ? "for rank " : " for rank ") + IdSet::of(ranks).to_list()),
          ranks);
    }
    for (const Nic& nic : x_node.nics) {
      if (!here(Place{nic.l3, nic.numa, nic.package})) continue;
      std::vector<unsigned> ranks;
      for (const auto& rank : x_plan.ranks)
        if (rank.nic == nic.name) ranks.push_back(rank.local_rank);
      add("NIC " + nic.name + (ranks.empty() ? "" : " for rank " + IdSet::of(ranks).to_list()), {});
    }
    return box;
  }

  Box legend() const {
    Box box;
    const auto add = [&](const std::string& kind, const std::string& fill, const std::string& text) {
      box.body += rect(0, box.height, 14, 14, "class=\"" + kind + "\"" + fill) +
                  label(20, box.height + 11, text, "key");
      box.height += 18;
      box.width = std::max(box.width, 20 + 6 * static_cast<int>(text.size()));
    };
    for (const auto& rank : x_plan.ranks)
      add("rank", " style=\"fill:" + colour_of(rank.local_rank) + "\"",
          "rank " + std::to_string(rank.local_rank) + ": CPUs " + rank.cpus.to_list());
    add("kept", "", "reserved");
    if (!x_seen.empty()) add("free off", "", "differs from what the processes have");
    return box;
  }

  const Node& x_node;
  const AffinityPlan& x_plan;
  const std::vector<Placed>& x_seen;
};

} // namespace

std::string render_svg(const Node& node, const AffinityPlan& plan, const std::vector<Placed>& seen) {
  return Drawing(node, plan, seen).draw();
}

} // namespace hpcml::topo
