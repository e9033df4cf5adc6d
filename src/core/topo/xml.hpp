// SPDX-License-Identifier: MIT
// The XML of topology files, as pugixml reads it.
#pragma once

#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::topo {

/// A document and the lines of its elements.
class XmlDocument {
public:
  /// Reads a document. Errors name the line. More than 256 levels, an attribute that an element has twice and
  /// a document type with its own definitions are errors.
  static util::Result<XmlDocument> parse(std::string_view text);

  pugi::xml_node root() const { return x_document->document_element(); }
  std::size_t line_of(const pugi::xml_node& node) const;

private:
  explicit XmlDocument(std::string_view text);
  std::size_t line_at(std::size_t offset) const;
  util::Error error_at(std::size_t offset, const std::string& what) const;
  util::Status check_top_level() const;
  util::Status check_elements() const;

  std::unique_ptr<pugi::xml_document> x_document;
  std::vector<std::size_t> x_line_ends;
};

inline bool has_name(const pugi::xml_node& element, std::string_view name) { return element.name() == name; }

/// Returns the value of an attribute, or an empty text.
inline std::string attribute_of(const pugi::xml_node& element, const char* name) {
  return element.attribute(name).value();
}

} // namespace hpcml::topo
