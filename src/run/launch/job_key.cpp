// SPDX-License-Identifier: MIT
#include "run/launch/job_key.hpp"

#include <unistd.h>

namespace hpcml::launch {

using util::Result;

namespace {

Result<store::ChannelKey> find_key(const util::EnvSnapshot& env, const slurm::StepIdentity& identity) {
  return store::find_channel_key(env, [&](const store::SecretKey& user_key) {
    return store::derive_job_key(user_key, rendezvous_job(identity));
  });
}

} // namespace

std::string rendezvous_job(const slurm::StepIdentity& identity) {
  return std::to_string(identity.job) + "." + std::to_string(identity.restart) + "." +
         std::to_string(::getuid());
}

Result<JobChannelKey> find_job_channel(const util::EnvSnapshot& env, const slurm::StepIdentity& identity,
                                       bool starts_all_ranks) {
  TRY(auto found, find_key(env, identity));
  if (found.key) return JobChannelKey{std::move(found.key), true, false, std::move(found.origin)};
  if (starts_all_ranks) return JobChannelKey{store::SecretKey::make_random(), true, false, "this launch"};
  return JobChannelKey{store::SecretKey::make_random(), false, false, std::move(found.origin)};
}

Result<std::string> make_job_secret(const util::EnvSnapshot& env) {
  auto own = env;
  own.unset(store::k_job_secret_variable);
  TRY(const auto found, find_key(own, slurm::read_step_identity(env)));
  return (found.key ? *found.key : store::SecretKey::make_random()).to_hex();
}

} // namespace hpcml::launch
