// SPDX-License-Identifier: MIT
#include "run/resolve/node_view.hpp"

namespace hpcml::launch {

const model::Site& site_or_none(const LaunchRequest& request) {
  static const model::Site k_none{};
  return request.site ? *request.site : k_none;
}

} // namespace hpcml::launch
