// SPDX-License-Identifier: MIT
// A value that its copies share until one of them is changed.
#pragma once

#include <memory>

namespace hpcml::shell {

/// Copying costs nothing; the first change of a copy copies the value. What was found in the value before
/// edit() is not part of what edit() returns.
template <typename Value> class CopyOnWrite {
public:
  const Value& operator*() const {
    static const Value c_empty{};
    return x_value ? *x_value : c_empty;
  }
  const Value* operator->() const { return &**this; }

  /// This copy's own value, to be changed.
  Value& edit() {
    if (!x_value)
      x_value = std::make_shared<Value>();
    else if (x_value.use_count() > 1)
      x_value = std::make_shared<Value>(*x_value);
    return *x_value;
  }

  /// Whether nothing was changed since one was copied from the other.
  bool is_same(const CopyOnWrite& other) const { return x_value == other.x_value; }

private:
  std::shared_ptr<Value> x_value;
};

} // namespace hpcml::shell
