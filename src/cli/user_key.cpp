// SPDX-License-Identifier: MIT
#include "cli/user_key.hpp"

#include <cstdio>

#include "run/store/channel_key.hpp"

namespace hpcml::cli {

void ensure_user_key(const Context& context) {
  if (!context.env.get_or("SLURM_JOB_ID", "").empty()) return;
  const auto path = store::user_key_path(context.env);
  if (path.empty() || !store::make_user_key(path)) return;
  if (const auto key = store::load_user_key(path); !key)
    print_error(key.error(), context.colour); // the job would not start
}

int run_config_key(const Context& context) {
  if (!context.env.get_or("SLURM_JOB_ID", "").empty()) {
    print_error("hpcml config key does not create a key file inside a job",
                "run 'hpcml config key' on a login node before you submit the job", context.colour);
    return k_usage;
  }
  const auto path = store::user_key_path(context.env);
  const auto made = store::make_user_key(path);
  const auto key = made ? store::load_user_key(path) : util::Result<store::ChannelKey>(made.error());
  if (!key || !key->key) {
    print_error(key ? util::Error{key->origin} : key.error(), context.colour);
    return k_world_failed;
  }
  std::printf("%s\n", path.c_str());
  return k_ok;
}

} // namespace hpcml::cli
