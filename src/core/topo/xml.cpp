// SPDX-License-Identifier: MIT
// A strict reader: what it does not know is an error, never a guess.
#include "core/topo/xml.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

constexpr std::size_t k_max_depth = 256;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name(char c) { return util::is_name_char(c) || c == '-' || c == '.' || c == ':'; }

class XmlReader {
public:
  explicit XmlReader(std::string_view text) : x_text(text) {}

  util::Result<XmlElement> read() {
    skip_misc();
    XmlElement root;
    if (!x_failure && !looking_at("<")) fail("invalid XML: it does not start with an element");
    if (!x_failure) read_element(root, 0);
    skip_misc();
    if (!x_failure && x_at < x_text.size())
      fail(fmt::format("there is text after the end of <{}>", root.name));
    if (x_failure) return *x_failure;
    return root;
  }

private:
  /// Counted on from the last call: elements ask for it in their order.
  std::size_t line() {
    const auto from = x_text.begin() + static_cast<std::ptrdiff_t>(x_counted);
    x_line +=
        static_cast<std::size_t>(std::count(from, x_text.begin() + static_cast<std::ptrdiff_t>(x_at), '\n'));
    x_counted = x_at;
    return x_line;
  }
  void fail(const std::string& what) {
    if (!x_failure) x_failure = util::Error{fmt::format("line {}: {}", line(), what), "", x_at};
  }
  void fail_end() { fail("the file ends here: it is incomplete"); }
  bool looking_at(std::string_view word) const { return x_text.substr(x_at, word.size()) == word; }
  void skip_blanks() {
    while (x_at < x_text.size() && is_blank(x_text[x_at])) ++x_at;
  }
  /// After the next `end`; a file that has none is cut off.
  void skip_to(std::string_view end) {
    const std::size_t found = x_text.find(end, x_at);
    if (found == std::string_view::npos) {
      x_at = x_text.size();
      return fail_end();
    }
    x_at = found + end.size();
  }
  /// Spaces, comments, the declaration and the document type.
  void skip_misc() {
    while (!x_failure) {
      skip_blanks();
      if (looking_at("<!--"))
        skip_to("-->");
      else if (looking_at("<?"))
        skip_to("?>");
      else if (looking_at("<!DOCTYPE")) {
        const std::size_t from = x_at;
        skip_to(">");
        if (x_text.substr(from, x_at - from).find('[') != std::string_view::npos)
          fail("a document type with definitions is not supported");
      } else
        return;
    }
  }

  std::string read_name() {
    const std::size_t from = x_at;
    while (x_at < x_text.size() && is_name(x_text[x_at])) ++x_at;
    if (x_at == from) x_at >= x_text.size() ? fail_end() : fail("a name is expected here");
    return std::string(x_text.substr(from, x_at - from));
  }

  void read_attributes(XmlElement& element) {
    while (!x_failure) {
      skip_blanks();
      if (x_at >= x_text.size()) return fail_end();
      if (x_text[x_at] == '>' || x_text[x_at] == '/') return;
      std::string name = read_name();
      skip_blanks();
      if (!looking_at("="))
        return x_at >= x_text.size() ? fail_end() : fail(fmt::format("attribute {} has no value", name));
      ++x_at;
      skip_blanks();
      if (x_at >= x_text.size()) return fail_end();
      const char quote = x_text[x_at];
      if (quote != '"' && quote != '\'') return fail(fmt::format("the value of {} has no quotes", name));
      const std::size_t from = ++x_at;
      while (x_at < x_text.size() && x_text[x_at] != quote) {
        if (x_text[x_at] == '<') return fail(fmt::format("the value of {} has no end", name));
        ++x_at;
      }
      if (x_at >= x_text.size()) return fail_end();
      if (element.find(name)) return fail(fmt::format("attribute {} appears twice", name));
      element.attributes.emplace_back(std::move(name), decode(x_text.substr(from, x_at - from)));
      ++x_at;
    }
  }

  static std::string decode(std::string_view value) {
    std::string text(value);
    const std::pair<const char*, const char*> entities[] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
    if (text.find('&') == std::string::npos) return text;
    for (const auto& [entity, plain] : entities) text = util::replace_all(std::move(text), entity, plain);
    return text;
  }

  void read_element(XmlElement& element, std::size_t depth) {
    if (depth >= k_max_depth) return fail("elements are nested more than 256 levels deep");
    element.line = line();
    ++x_at; // "<"
    element.name = read_name();
    read_attributes(element);
    if (x_failure) return;
    if (looking_at("/>")) {
      x_at += 2;
      return;
    }
    if (!looking_at(">"))
      return x_at + 1 >= x_text.size() ? fail_end() : fail(fmt::format("<{}> has no end", element.name));
    ++x_at;
    while (!x_failure) {
      read_text(element);
      if (x_at + 1 >= x_text.size()) return fail_end();
      if (looking_at("<!--")) {
        skip_to("-->");
      } else if (looking_at("</")) {
        x_at += 2;
        const std::string name = read_name();
        skip_blanks();
        if (x_failure) return;
        if (x_at >= x_text.size()) return fail_end();
        if (name != element.name) return fail("</" + name + "> ends <" + element.name + ">");
        if (!looking_at(">")) return fail(fmt::format("</{} has no end", name));
        ++x_at;
        return;
      } else {
        element.children.emplace_back();
        read_element(element.children.back(), depth + 1);
      }
    }
  }

  void read_text(XmlElement& element) {
    const std::size_t from = x_at;
    while (x_at < x_text.size() && x_text[x_at] != '<') ++x_at;
    element.text += x_text.substr(from, x_at - from);
  }

  std::string_view x_text;
  std::size_t x_at = 0;
  std::size_t x_counted = 0, x_line = 1;
  std::optional<util::Error> x_failure;
};

} // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  for (const auto& [key, value] : attributes)
    if (key == attribute) return &value;
  return nullptr;
}

std::string XmlElement::get(std::string_view attribute) const {
  const std::string* value = find(attribute);
  return value ? *value : std::string();
}

util::Result<XmlElement> parse_xml(std::string_view text) { return XmlReader(text).read(); }

} // namespace hpcml::topo
