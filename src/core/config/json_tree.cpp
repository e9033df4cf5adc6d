// SPDX-License-Identifier: MIT
#include "core/config/json_tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hpcml::config {

namespace {

constexpr std::size_t k_max_depth = 64;

/// Counts what the parser has read: nlohmann's SAX events carry no positions.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  std::size_t* count = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    ++*count;
    return *this;
  }
  CountingIterator operator++(int) {
    const auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

/// Builds the tree from the events and works out where each token began.
class Builder {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Builder(std::string_view text, const std::string& file, std::string code)
      : x_text(text), x_file(std::make_shared<const std::string>(file)), x_code(std::move(code)) {}

  bool null() { return add(scalar(JsonKind::null)); }
  bool boolean(bool value) {
    auto node = scalar(JsonKind::boolean);
    node.boolean = value;
    return add(std::move(node));
  }
  bool number_integer(number_integer_t value) {
    auto node = scalar(JsonKind::integer);
    node.integer = value;
    return add(std::move(node));
  }
  bool number_unsigned(number_unsigned_t value) {
    auto node = scalar(JsonKind::integer);
    node.integer =
        value > static_cast<number_unsigned_t>(INT64_MAX) ? INT64_MAX : static_cast<long long>(value);
    return add(std::move(node));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) {
    auto node = scalar(JsonKind::real);
    node.real = value;
    return add(std::move(node));
  }
  bool string(string_t& value) {
    auto node = scalar(JsonKind::string);
    node.text = std::move(value);
    return add(std::move(node));
  }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(JsonKind::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(JsonKind::array); }
  bool end_array() { return close(); }
  bool key(string_t& value);
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error);

  std::size_t count = 0; ///< bytes the parser has read so far
  JsonParse result;

private:
  JsonSourceLocation place();
  void go_to(std::size_t offset);
  JsonNode scalar(JsonKind kind);
  bool open(JsonKind kind);
  bool close();
  bool add(JsonNode node);
  void report(std::string_view code, std::string message, const JsonSourceLocation& where, std::string hint);

  std::string_view x_text;
  std::shared_ptr<const std::string> x_file;
  std::string x_code;
  std::vector<JsonNode> x_open;   // containers under construction
  std::vector<JsonMember> x_keys; // keys that wait for their value
  std::size_t x_offset = 0;       // where line and column below are
  unsigned x_line = 1;
  unsigned x_column = 1;
};

void Builder::go_to(std::size_t offset) {
  for (; x_offset < std::min(offset, x_text.size()); ++x_offset) {
    if (x_text[x_offset] == '\n') {
      ++x_line;
      x_column = 1;
    } else {
      ++x_column;
    }
  }
}

JsonSourceLocation Builder::place() {
  // Between the end of the last token and this one only spaces and punctuation can be.
  std::size_t start = x_offset;
  while (start < x_text.size() &&
         std::string_view(" \t\r\n,:]}\xef\xbb\xbf").find(x_text[start]) != std::string_view::npos)
    ++start;
  go_to(start);
  JsonSourceLocation where{x_file, x_line, x_column, 1};
  auto end = std::min(count, x_text.size());
  while (end > start + 1 && std::string_view(" \t\r\n,]}").find(x_text[end - 1]) != std::string_view::npos)
    --end;
  if (end > start) where.length = static_cast<unsigned>(end - start);
  go_to(end);
  return where;
}

void Builder::report(std::string_view code, std::string message, const JsonSourceLocation& where,
                     std::string hint) {
  result.diagnostics.push_back({diag::Severity::error, fmt::format("{}/{}", x_code, code), std::move(message),
                                where.location(), std::move(hint)});
}

JsonNode Builder::scalar(JsonKind kind) {
  JsonNode node;
  node.kind = kind;
  node.place = place();
  return node;
}

bool Builder::open(JsonKind kind) {
  auto node = scalar(kind);
  if (x_open.size() >= k_max_depth) {
    report("json",
           fmt::format("the JSON file has values nested more than {} levels deep (limit)", k_max_depth),
           node.place, "remove levels of objects and lists");
    return false;
  }
  x_open.push_back(std::move(node));
  return true;
}

bool Builder::close() {
  auto node = std::move(x_open.back());
  x_open.pop_back();
  return add(std::move(node));
}

bool Builder::add(JsonNode node) {
  if (x_open.empty()) {
    result.root = std::move(node);
  } else if (x_open.back().kind == JsonKind::array) {
    x_open.back().items.push_back(std::move(node));
  } else {
    auto member = std::move(x_keys.back());
    x_keys.pop_back();
    member.value = std::move(node);
    x_open.back().members.push_back(std::move(member));
  }
  return true;
}

bool Builder::key(string_t& value) {
  const auto where = place();
  for (const auto& member : x_open.back().members) {
    if (member.key != value) continue;
    report("duplicate-key",
           fmt::format("the key \"{}\" is given twice in one object; the first is in line {}", value,
                       member.place.line),
           where, "remove one of them: JSON readers differ in which one they use");
    break;
  }
  x_keys.push_back({std::move(value), where, {}});
  return true;
}

bool Builder::parse_error(std::size_t position, const std::string& /*token*/,
                          const nlohmann::json::exception& error) {
  go_to(position > 0 ? position - 1 : 0);
  std::string what = error.what();
  // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while …": the position is
  // reported by the location
  if (const auto at = what.find(": "); at != std::string::npos) what = what.substr(at + 2);
  report("json", fmt::format("invalid JSON: {}", what), {x_file, x_line, x_column, 1},
         "use double quotes around names and texts, only // for comments, and no comma before } or ]");
  return false;
}

} // namespace

std::string_view name_of(JsonKind kind) {
  switch (kind) {
  case JsonKind::null: return "null";
  case JsonKind::boolean: return "true or false";
  case JsonKind::integer: return "a whole number";
  case JsonKind::real: return "a number with a fraction, or too large a one";
  case JsonKind::string: return "a text";
  case JsonKind::array: return "a list";
  case JsonKind::object: return "an object";
  }
  return "a value";
}

std::string_view example_of(JsonKind kind) {
  switch (kind) {
  case JsonKind::null: return "null";
  case JsonKind::boolean: return "true or false, without quotes";
  case JsonKind::integer: return "a number without quotes, such as 4";
  case JsonKind::real: return "a number such as 0.5";
  case JsonKind::string: return "double quotes, as in \"text\"";
  case JsonKind::array: return "brackets, as in [\"a\", \"b\"]";
  case JsonKind::object: return "braces, as in {\"key\": \"value\"}";
  }
  return "another value";
}

const JsonNode* JsonNode::find(std::string_view key) const {
  for (const auto& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

JsonNode* JsonNode::find(std::string_view key) {
  return const_cast<JsonNode*>(std::as_const(*this).find(key));
}

std::string blank_comments(std::string text) {
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      in_text = !in_text;
    else if (text[i] == '\n')
      in_text = false; // a text that never ends must not hide the comments below
    else if (!in_text && text.compare(i, 2, "//") == 0)
      for (; i < text.size() && text[i] != '\n'; ++i) text[i] = ' ';
  }
  return text;
}

JsonParse parse_json(std::string_view input, const std::string& file, const std::string& code) {
  const auto text = blank_comments(std::string(input));
  Builder builder(text, file, code);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    builder.result.diagnostics.push_back({diag::Severity::error,
                                          code + "/json",
                                          "invalid JSON: the file is empty",
                                          {file, 1, 1, 1},
                                          "add a JSON object, at least {}, or use another file"});
    return std::move(builder.result);
  }
  const CountingIterator first{text.data(), &builder.count};
  const CountingIterator last{text.data() + text.size(), &builder.count};
  const bool whole = nlohmann::json::sax_parse(first, last, &builder);
  // Twice the same key is an error, but what else is wrong can still be reported.
  if (!whole) builder.result.root.reset();
  return std::move(builder.result);
}

} // namespace hpcml::config
