// SPDX-License-Identifier: MIT
// The XML that topology files need: elements, attributes and text. No its own entities, no external files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::topo {

/// An element with what is in it.
struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  std::string text; ///< what is between its tags, as it is there
  std::size_t line = 0;
  /// The attribute's value, or nothing.
  const std::string* find(std::string_view attribute) const;
  /// The attribute's value, or an empty text.
  std::string get(std::string_view attribute) const;
};

/// The root element. Errors name the line; a file that breaks off states it. At most 256 levels deep.
util::Result<XmlElement> parse_xml(std::string_view text);

} // namespace hpcml::topo
