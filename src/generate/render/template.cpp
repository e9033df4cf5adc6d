// SPDX-License-Identifier: MIT
#include "generate/render/template.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <kainjow/mustache.hpp>
#include <stdexcept>

#include "core/util/embedded.hpp"

namespace hpcml::render {

namespace {

/// Looks names up like the library's own context, and keeps the first missing name, for which the library
/// prints nothing.
class StrictContext : public kainjow::mustache::context<std::string> {
public:
  using kainjow::mustache::context<std::string>::context;
  const kainjow::mustache::data* get(const std::string& name) const override {
    const auto* found = kainjow::mustache::context<std::string>::get(name);
    if (found == nullptr && x_missing.empty()) x_missing = name;
    return found;
  }
  const kainjow::mustache::data* get_partial(const std::string& name) const override {
    if (x_missing.empty()) x_missing = "> " + name;
    return nullptr;
  }
  const std::string& missing() const { return x_missing; }

private:
  mutable std::string x_missing;
};

/// Returns the template with each section tag that is alone on a line joined to the next line: such a line
/// prints nothing, but the library keeps its line break if the section is not rendered.
std::string join_section_tags(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  while (!text.empty()) {
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    const bool tag = line.size() > 5 && line[0] == '{' && line[1] == '{' &&
                     (line[2] == '#' || line[2] == '/') && line.substr(line.size() - 3) == "}}\n" &&
                     line.find("{{", 2) == std::string_view::npos;
    joined += tag ? line.substr(0, line.size() - 1) : line;
    text.remove_prefix(line.size());
  }
  return joined;
}

std::string_view find_template(const std::string& name) {
  for (const auto& file : embedded::template_files())
    if (file.name == name + ".mustache") return file.text;
  throw std::logic_error(fmt::format("template {}.mustache does not exist", name));
}

} // namespace

std::optional<std::string> render_names(const std::string& name, const TemplateData& data) {
  auto text = find_template(name);
  std::string out;
  for (;;) {
    const auto open = text.find("{{");
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const auto close = text.find("}}}", open);
    if (text.substr(open, 3) != "{{{" || close == std::string_view::npos) return std::nullopt;
    const auto found = data.find(std::string(text.substr(open + 3, close - open - 3)));
    const auto* value = found == data.end() ? nullptr : std::get_if<std::string>(&found->second);
    if (!value) return std::nullopt;
    out += *value;
    text.remove_prefix(close + 3);
  }
}

std::string render_by_library(const std::string& name, const TemplateData& data) {
  kainjow::mustache::mustache text(join_section_tags(find_template(name)));
  if (!text.is_valid())
    throw std::logic_error(fmt::format("template {}.mustache: {}", name, text.error_message()));
  text.set_custom_escape([](const std::string& value) { return value; });
  kainjow::mustache::data values(kainjow::mustache::data::type::object);
  for (const auto& [key, value] : data) {
    if (const auto* flag = std::get_if<bool>(&value))
      values.set(key, *flag);
    else
      values.set(key, std::get<std::string>(value));
  }
  StrictContext context(&values);
  std::string out = text.render(context);
  if (!text.is_valid())
    throw std::logic_error(fmt::format("template {}.mustache: {}", name, text.error_message()));
  if (!context.missing().empty())
    throw std::logic_error(
        fmt::format("template {}.mustache has the unknown name '{}'", name, context.missing()));
  return out;
}

std::string render_template(const std::string& name, const TemplateData& data) {
  if (auto filled = render_names(name, data)) return std::move(*filled);
  return render_by_library(name, data);
}

std::string render_block(const std::string& name, const TemplateData& data) {
  auto text = render_template(name, data);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

} // namespace hpcml::render
