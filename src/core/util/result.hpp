// SPDX-License-Identifier: MIT
// Result<T>: a value, or an Error that says what failed, where, and what to do next.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace hpcml::util {

/// Why something could not be done. `what` is a sentence for users; `hint` says what to do next and may be
/// empty.
struct Error {
  std::string what;
  std::string hint = {};
  /// Offset in the text that was parsed, where the error is about a text; npos otherwise.
  std::size_t offset = std::string::npos;
};

/// Puts a circumstance in front of an error: "cannot read sites/x.json: no such file".
inline Error with_context(Error error, const std::string& context) {
  error.what = context + ": " + error.what;
  return error;
}

/// Either a T or an Error; test with `if (result)`, never read the side that does not exist.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : x_state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : x_state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return x_state.index() == 0; }
  bool ok() const { return x_state.index() == 0; }
  T& value() & {
    assert(ok());
    return std::get<0>(x_state);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(x_state);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(x_state));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    assert(!ok());
    return std::get<1>(x_state);
  }
  T value_or(T fallback) const { return ok() ? std::get<0>(x_state) : std::move(fallback); }

private:
  std::variant<T, Error> x_state;
};

/// Success without a value.
struct Success {};
using Status = Result<Success>;

// NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot be in parentheses.
#define HPCML_RESULT_NAME_2(line) result_of_line_##line
#define HPCML_RESULT_NAME(line) HPCML_RESULT_NAME_2(line)
/// `TRY(const auto text, read_file(path));` has the value in `text`, or returns the error. Into what already
/// exists: `TRY(world.port, free_port());`. It is several statements: below an `if` it is in braces.
#define TRY(target, ...)                                                                                     \
  auto HPCML_RESULT_NAME(__LINE__) = (__VA_ARGS__);                                                          \
  if (!HPCML_RESULT_NAME(__LINE__)) return HPCML_RESULT_NAME(__LINE__).error();                              \
  target = *std::move(HPCML_RESULT_NAME(__LINE__))
/// `TRY_DONE(write_file(path, text));` continues where that is done, or returns the error.
#define TRY_DONE(...)                                                                                        \
  do {                                                                                                       \
    if (const auto HPCML_RESULT_NAME(__LINE__) = (__VA_ARGS__); !HPCML_RESULT_NAME(__LINE__))                \
      return HPCML_RESULT_NAME(__LINE__).error();                                                            \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)

} // namespace hpcml::util
