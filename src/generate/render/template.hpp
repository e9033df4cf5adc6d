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

/// The template `name` ("script") filled in. Texts go in as they are: whoever passes one has quoted it for
/// its place. Throws std::logic_error when the template is missing or broken, or names something that `data`
/// does not have.
std::string render_template(const std::string& name, const TemplateData& data);
/// The same by the library, whatever stands in the template.
std::string render_by_library(const std::string& name, const TemplateData& data);
/// The same without the library for a template of texts and {{{names}}} alone, where reading it is most of
/// what the library does. Nothing where there is more in it, or a name that is not there.
std::optional<std::string> render_names(const std::string& name, const TemplateData& data);
/// render_template without line breaks at its end: the lines of a Verbatim.
std::string render_block(const std::string& name, const TemplateData& data);

} // namespace hpcml::render
