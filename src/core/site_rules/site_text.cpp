// SPDX-License-Identifier: MIT
#include "core/site_rules/site_text.hpp"

#include "core/util/text.hpp"

namespace hpcml::site_rules {

std::vector<std::string> engine_names(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& rule : site.containers) util::add_once(names, model::word_of(rule.engine));
  return names;
}

util::Error describe_retirement(const model::Site& site) {
  return {(site.name.empty() ? site.id : site.name) + " is retired" +
              (site.retired_on.empty() ? "" : " since " + site.retired_on) + cited(site.state_origin),
          site.successor.empty() ? ""
                                 : "its successor is " + site.successor +
                                       "; `hpcml sites list` shows the sites that can be used"};
}

} // namespace hpcml::site_rules
