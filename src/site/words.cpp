// SPDX-License-Identifier: MIT
#include "site/words.hpp"

namespace hpcml::site {

util::Error describe_retirement(const model::Site& site) {
  return {(site.name.empty() ? site.id : site.name) + " is retired" +
              (site.retired_on.empty() ? "" : " since " + site.retired_on) + cited(site.state_origin),
          site.successor.empty() ? ""
                                 : "its successor is " + site.successor +
                                       "; `hpcml sites list` shows the sites that can be used"};
}

} // namespace hpcml::site
