// SPDX-License-Identifier: MIT
// The texts in templates/: Mustache without escaping, in which a name that does not resolve is an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

namespace hpcml::render {

/// What a template may name: a text, or whether a section is wanted.
using TemplateValue = std::variant<std::string, bool>;
using TemplateData = std::map<std::string, TemplateValue>;

/// Returns the template `name` ("script") with the texts of `data`, which the caller has quoted for their
/// places. Throws std::logic_error if the template is missing or broken, or contains a name that `data` does
/// not have.
std::string render_template(const std::string& name, const TemplateData& data);
/// Does the same with the library, for any template.
std::string render_by_library(const std::string& name, const TemplateData& data);
/// Does the same without the library, for which reading is most of the work, for a template of only texts and
/// {{{names}}}. Returns nothing if the template has other tags or an unknown name.
std::optional<std::string> render_names(const std::string& name, const TemplateData& data);
/// render_template without line breaks at its end: the lines of a Verbatim.
std::string render_block(const std::string& name, const TemplateData& data);

} // namespace hpcml::render
