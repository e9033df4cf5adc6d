// SPDX-License-Identifier: MIT
// A list that its copies share: of ten thousand nodes each rank of a step has one, not one per value.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace hpcml::util {

/// Reads as a const std::vector does; only assigning gives it other items.
template <class T> class SharedList {
public:
  SharedList() = default;
  SharedList(std::vector<T> items) : x_items(std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  operator const std::vector<T>&() const { return items(); }
  std::size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  const T& operator[](std::size_t at) const { return items()[at]; }
  const T& front() const { return items().front(); }
  const T& back() const { return items().back(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  void resize(std::size_t count) {
    auto copy = items();
    copy.resize(count);
    *this = std::move(copy);
  }
  friend bool operator==(const SharedList& a, const SharedList& b) { return a.items() == b.items(); }
  friend bool operator==(const SharedList& a, const std::vector<T>& b) { return a.items() == b; }

private:
  const std::vector<T>& items() const {
    static const std::vector<T> c_none;
    return x_items ? *x_items : c_none;
  }
  std::shared_ptr<const std::vector<T>> x_items;
};

} // namespace hpcml::util
