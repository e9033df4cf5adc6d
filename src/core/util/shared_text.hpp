// SPDX-License-Identifier: MIT
// A text that many values hold and none changes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hpcml::util {

/// An immutable text, copied without its bytes: hundreds of a profile's facts name the same source.
class SharedText {
public:
  SharedText() = default;
  SharedText(std::string text) // NOLINT(google-explicit-constructor): it is a text
      : x_text(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  SharedText(std::string_view text) // NOLINT(google-explicit-constructor)
      : SharedText(std::string(text)) {}
  SharedText(const char* text) // NOLINT(google-explicit-constructor)
      : SharedText(std::string(text)) {}
  /// The same bytes as another holder's.
  explicit SharedText(std::shared_ptr<const std::string> text) : x_text(std::move(text)) {}

  const std::string& text() const {
    static const std::string k_empty;
    return x_text ? *x_text : k_empty;
  }
  operator const std::string&() const { return text(); } // NOLINT(google-explicit-constructor)
  bool empty() const { return !x_text || x_text->empty(); }
  bool starts_with(std::string_view start) const { return text().starts_with(start); }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.x_text == b.x_text || a.text() == b.text();
  }
  friend bool operator==(const SharedText& a, const std::string& b) { return a.text() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.text() == b; }

private:
  std::shared_ptr<const std::string> x_text;
};

} // namespace hpcml::util
