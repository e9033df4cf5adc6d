// SPDX-License-Identifier: MIT
#include "render/template.hpp"

#include <kainjow/mustache.hpp>
#include <stdexcept>

#include "util/embedded.hpp"

namespace hpcml::render {

namespace {

/// Looks names up like the library's own context, and remembers the first that is not there (the library prints nothing for it).
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

std::string find_template(const std::string& name) {
  for (const auto& file : embedded::template_files())
    if (file.name == name + ".mustache") return std::string(file.text);
  throw std::logic_error("there is no template " + name + ".mustache");
}

} // namespace

std::string render_template(const std::string& name, const TemplateData& data) {
  kainjow::mustache::mustache text(find_template(name));
  if (!text.is_valid()) throw std::logic_error("template " + name + ".mustache: " + text.error_message());
  text.set_custom_escape([](const std::string& value) { return value; });
  kainjow::mustache::data values(kainjow::mustache::data::type::object);
  for (const auto& [key, value] : data) {
    if (const auto* flag = std::get_if<bool>(&value)) values.set(key, *flag);
    else values.set(key, std::get<std::string>(value));
  }
  StrictContext context(&values);
  const std::string out = text.render(context);
  if (!text.is_valid()) throw std::logic_error("template " + name + ".mustache: " + text.error_message());
  if (!context.missing().empty())
    throw std::logic_error("template " + name + ".mustache: nothing is called '" + context.missing() + "'");
  return out;
}

} // namespace hpcml::render
