// SPDX-License-Identifier: MIT
// The key that hpcml's processes of one job share, and where they find it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/env_snapshot.hpp"
#include "core/util/job_secret.hpp"
#include "core/util/result.hpp"
#include "core/util/sha256.hpp"

namespace hpcml::store {

using util::k_job_secret_variable; ///< its value: 64 hexadecimal digits
/// A path that replaces the default one of the user's key file.
inline constexpr const char* k_key_file_variable = "HPCML_KEY_FILE";

/// 32 secret bytes. Their memory is wiped on destruction.
class SecretKey {
public:
  /// Takes the bytes and wipes where they were.
  static SecretKey take(util::Digest bytes);
  ~SecretKey() { util::wipe(x_bytes.data(), x_bytes.size()); }
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;

  /// Draws a key.
  static SecretKey make_random();
  /// Returns the key that 64 hexadecimal digits stand for, or nothing.
  static std::optional<SecretKey> parse(std::string_view hex);

  std::string_view bytes() const { return util::view_of(x_bytes); }
  /// Returns the value of HPCML_JOB_SECRET.
  std::string to_hex() const;
  bool operator==(const SecretKey& key) const {
    return util::is_equal_in_constant_time(bytes(), key.bytes());
  }

private:
  explicit SecretKey(const util::Digest& bytes) : x_bytes(bytes) {}
  util::Digest x_bytes;
};

/// A key, if there is one, and where it comes from.
struct ChannelKey {
  std::optional<SecretKey> key;
  std::string origin; ///< "HPCML_JOB_SECRET", "key file /home/u/.config/hpcml/key"; without a key: why not
};

/// Returns $HPCML_KEY_FILE, else "key" in the directory of hpcml's configuration. Asks for the home directory
/// of the user if HOME is not set, as in a step of `srun --export=NONE`. Empty: there is no home directory.
std::string user_key_path(const util::EnvSnapshot& env);

/// Reads the user's key file. Returns no key if it cannot be opened, and an error if it is not a regular file
/// of 32 bytes that only this user can read: another user's file must not decide whom this job trusts.
util::Result<ChannelKey> load_user_key(const std::string& path);

/// Creates the file with a random key, and its directory, unless it exists. Two that create it at the same
/// time end up with one key.
util::Status make_user_key(const std::string& path);

/// Returns the key of one job, the same on all of its nodes. `job` differs between jobs and their restarts.
/// Pure.
SecretKey derive_job_key(const SecretKey& user_key, std::string_view job);
/// Returns the key of agents that no Slurm job joins. Their runs differ by what the session names. Pure.
SecretKey derive_run_key(const SecretKey& user_key);

/// Returns the key of a job: HPCML_JOB_SECRET, else one that `derive` makes from the user's key file. An
/// error if either exists and is invalid. `key_file`: a path that the user named, which must exist and comes
/// before HPCML_JOB_SECRET; empty: none.
util::Result<ChannelKey> find_channel_key(const util::EnvSnapshot& env,
                                          const std::function<SecretKey(const SecretKey&)>& derive,
                                          const std::string& key_file = {});

} // namespace hpcml::store
