// SPDX-License-Identifier: MIT
#include "core/topo/xml.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::topo {
namespace {

constexpr int k_max_depth = 256, k_max_attributes = 256;

std::size_t offset_of(const pugi::xml_node& node) {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
}

bool is_space(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

} // namespace

XmlDocument::XmlDocument(std::string_view text) : x_document(std::make_unique<pugi::xml_document>()) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    x_line_ends.push_back(at);
}

util::Result<XmlDocument> XmlDocument::parse(std::string_view text) {
  XmlDocument result(text);
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    return result.error_at(zero, "it contains a zero byte");
  // A fragment: text outside of the root element is an error here, and nothing to pugixml's documents.
  constexpr unsigned k_flags =
      pugi::parse_cdata | pugi::parse_escapes | pugi::parse_doctype | pugi::parse_fragment;
  const auto parsed = result.x_document->load_buffer(text.data(), text.size(), k_flags, pugi::encoding_utf8);
  if (!parsed) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0));
    if (text.find('>', offset) == std::string_view::npos || is_space(text.substr(offset + 1)))
      return result.error_at(text.size(), "the file ends here: it is incomplete");
    return result.error_at(offset, parsed.description());
  }
  TRY_DONE(result.check_top_level());
  TRY_DONE(result.check_elements());
  return result;
}

util::Status XmlDocument::check_top_level() const {
  bool has_root = false;
  for (const pugi::xml_node& node : *x_document) {
    if (node.type() == pugi::node_doctype &&
        std::string_view(node.value()).find('[') != std::string_view::npos)
      return error_at(offset_of(node), "a document type with definitions is not supported");
    const bool is_element = node.type() == pugi::node_element;
    if (has_root && (is_element || !is_space(node.value())))
      return error_at(offset_of(node), "there is text or an element after the root element");
    if (!has_root && !is_element && node.type() != pugi::node_doctype && !is_space(node.value())) break;
    has_root = has_root || is_element;
  }
  if (!has_root) return error_at(0, "invalid XML: it does not start with an element");
  return util::Success{};
}

util::Status XmlDocument::check_elements() const {
  struct Check : pugi::xml_tree_walker { // without recursion
    bool for_each(pugi::xml_node& node) override {
      element = node;
      if (depth() >= k_max_depth) what = "elements are nested more than 256 levels deep";
      int count = 0;
      for (auto each = node.first_attribute(); each && what.empty(); each = each.next_attribute()) {
        if (++count > k_max_attributes) what = "an element has more than 256 attributes";
        for (auto earlier = node.first_attribute(); earlier != each; earlier = earlier.next_attribute())
          if (std::string_view(each.name()) == earlier.name())
            what = fmt::format("attribute {} appears twice", each.name());
      }
      return what.empty();
    }
    pugi::xml_node element;
    std::string what;
  } check;
  if (!x_document->traverse(check)) return error_at(offset_of(check.element), check.what);
  return util::Success{};
}

std::size_t XmlDocument::line_at(std::size_t offset) const {
  const auto end = std::lower_bound(x_line_ends.begin(), x_line_ends.end(), offset);
  return static_cast<std::size_t>(end - x_line_ends.begin()) + 1;
}

std::size_t XmlDocument::line_of(const pugi::xml_node& node) const { return line_at(offset_of(node)); }

util::Error XmlDocument::error_at(std::size_t offset, const std::string& what) const {
  return {fmt::format("line {}: {}", line_at(offset), what), "", offset};
}

} // namespace hpcml::topo
