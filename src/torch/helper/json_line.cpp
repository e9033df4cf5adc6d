// SPDX-License-Identifier: MIT
#include "torch/helper/json_line.hpp"

#include <unistd.h>

namespace hpcml::helper {

void print(const JsonLine& object) {
  const std::string line = object.text() + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

} // namespace hpcml::helper
