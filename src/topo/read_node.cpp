// SPDX-License-Identifier: MIT
// Node files of any kind.
#include "topo/read_node.hpp"

#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::topo {

util::Result<Node> load_node(const std::filesystem::path& path) {
  const auto text = util::read_file(path);
  if (!text) return text.error();
  const auto begin = text->find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const auto fail = [&](util::Error error) { return util::with_context(std::move(error), path.string()); };
  if (begin == std::string::npos) return fail({"the file is empty"});
  if (text->at(begin) == '{') {
    auto node = parse_node_json(*text);
    return node ? node : fail(node.error());
  }
  if (text->at(begin) != '<')
    return fail({"this is neither JSON nor XML",
                 "a topology is hwloc XML (lstopo topo.xml), an NCCL topology file, or JSON"});
  auto node = text->find("<system") != std::string::npos && text->find("<topology") == std::string::npos
                  ? parse_nccl_xml(*text)
                  : parse_hwloc_xml(*text);
  return node ? node : fail(node.error());
}

} // namespace hpcml::topo
