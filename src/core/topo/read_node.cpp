// SPDX-License-Identifier: MIT
// Node files of any kind.
#include "core/topo/read_node.hpp"

#include <fmt/format.h>

#include "core/util/input_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most = std::size_t{64}
                               << 20; // hwloc's file of a node with 1024 CPUs has less than 2 MiB

/// A node from the text of a file; what is before an error names the file.
util::Result<Node> parse_topology(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (begin == std::string::npos)
    return util::Error{"the topology file is empty",
                       "use hwloc XML (lstopo topo.xml), an NCCL topology file, or JSON"};
  if (text.at(begin) == '{') {
    auto node = parse_node_json(text);
    if (node && node->cpus.core_threads.empty() && node->gpus.empty())
      return util::Error{"the topology file contains neither CPUs nor GPUs",
                         "run hpcml affinity --help to see the keys of a node"};
    return node;
  }
  if (text.at(begin) != '<')
    return util::Error{"the topology file is neither JSON nor XML",
                       "use hwloc XML (lstopo topo.xml), an NCCL topology file, or JSON"};
  return text.find("<system") != std::string::npos && text.find("<topology") == std::string::npos
             ? parse_nccl_xml(text)
             : parse_hwloc_xml(text);
}

} // namespace

util::Result<std::string> read_topology(const fs::path& path) {
  const auto refuse = [&](const char* kind, const char* hint = "use the path of a topology file") {
    return util::Error{fmt::format("'{}' is {}, not a file with the topology of a node", path.string(), kind),
                       hint};
  };
  const auto too_long = [&] {
    return util::Error{fmt::format("the topology file '{}' has more than 64 MiB (limit)", path.string()),
                       "use a file that lstopo or NCCL wrote for one node"};
  };
  std::error_code error;
  switch (fs::status(path, error).type()) {
  case fs::file_type::directory: return refuse("a directory");
  case fs::file_type::block:
  case fs::file_type::character: return refuse("a device");
  case fs::file_type::socket:
    if (path != "/dev/stdin") return refuse("a socket");
    [[fallthrough]];
  case fs::file_type::fifo: {
    const std::string name = path.string();
    if (name != "/dev/stdin" && !name.starts_with("/dev/fd/") && !name.starts_with("/proc/self/fd/"))
      return refuse("a named pipe", "use --topology /dev/stdin and a pipe from cat");
    break;
  }
  default: break;
  }
  if (const auto size = fs::file_size(path, error); !error && size > k_most) return too_long();
  auto text = util::read_input_head(path, k_most + 1);
  if (text && text->size() > k_most) return too_long();
  return text;
}

util::Result<Node> load_node(const fs::path& path) {
  TRY(const auto text, read_topology(path));
  return parse_node(text, path);
}

util::Result<Node> parse_node(const std::string& text, const fs::path& path) {
  auto node = parse_topology(text);
  return node ? node : util::with_context(node.error(), path.string());
}

} // namespace hpcml::topo
