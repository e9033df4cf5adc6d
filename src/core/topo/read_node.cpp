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
  if (begin == std::string::npos) return util::Error{"the file is empty"};
  if (text.at(begin) == '{') {
    auto node = parse_node_json(text);
    if (node && node->cpus.core_threads.empty() && node->gpus.empty())
      return util::Error{"it contains neither CPUs nor GPUs",
                         "run hpcml affinity --help to see the keys of a node"};
    return node;
  }
  if (text.at(begin) != '<')
    return util::Error{"this is neither JSON nor XML",
                       "use hwloc XML (lstopo topo.xml), an NCCL topology file, or JSON"};
  return text.find("<system") != std::string::npos && text.find("<topology") == std::string::npos
             ? parse_nccl_xml(text)
             : parse_hwloc_xml(text);
}

} // namespace

util::Result<std::string> read_topology(const fs::path& path) {
  const auto refuse = [&](const char* what, const char* hint = "") {
    return util::Error{fmt::format("'{}' is {}", path.string(), what), hint};
  };
  const char* const too_long = "more than 64 MiB (limit)";
  std::error_code error;
  switch (fs::status(path, error).type()) {
  case fs::file_type::directory: return refuse("a directory, not a file");
  case fs::file_type::block:
  case fs::file_type::character: return refuse("a device, not a file");
  case fs::file_type::socket:
    if (path != "/dev/stdin") return refuse("a socket, not a file");
    [[fallthrough]];
  case fs::file_type::fifo: {
    const std::string name = path.string();
    if (name != "/dev/stdin" && !name.starts_with("/dev/fd/") && !name.starts_with("/proc/self/fd/"))
      return refuse("a named pipe, not a file", "use --topology /dev/stdin and a pipe from cat");
    break;
  }
  default: break;
  }
  if (const auto size = fs::file_size(path, error); !error && size > k_most) return refuse(too_long);
  auto text = util::read_input_head(path, k_most + 1);
  if (text && text->size() > k_most) return refuse(too_long);
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
