// SPDX-License-Identifier: MIT
#include "run/store/channel_key.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/util/scoped_descriptor.hpp"

namespace hpcml::store {

using util::Error;
using util::Result;

namespace {

constexpr std::string_view k_job_label = "hpcml job key 1";
constexpr std::string_view k_run_label = "hpcml run key 1";
constexpr std::string_view k_digits = "0123456789abcdef";

std::string home_of_user() {
  std::vector<char> buffer(16384);
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return {};
  return found->pw_dir == nullptr ? std::string() : found->pw_dir;
}

Error invalid_file(const std::string& path, const std::string& what) {
  return Error{fmt::format("cannot use the key file '{}': it {}", path, what),
               "remove this file and run 'hpcml config key' to create a key"};
}

util::Status check_file(const std::string& path, const struct stat& found) {
  if (!S_ISREG(found.st_mode)) return invalid_file(path, "is not a regular file");
  if (found.st_uid != ::geteuid())
    return invalid_file(path, fmt::format("belongs to another user (uid {})", found.st_uid));
  if ((found.st_mode & 077) != 0)
    return Error{fmt::format("cannot use the key file '{}': other users may access it (mode {:04o})", path,
                             found.st_mode & 07777),
                 "remove it and run 'hpcml config key', or run chmod 600 if no other user has read it"};
  if (found.st_size != static_cast<off_t>(sizeof(util::Digest)))
    return invalid_file(path,
                        fmt::format("has {} bytes, but a key has {}", found.st_size, sizeof(util::Digest)));
  return util::Success{};
}

Error cannot(const std::string& what, const std::string& path) {
  const int code = errno;
  return Error{fmt::format("cannot {} for the key of your jobs, '{}': {}", what, path, std::strerror(code)),
               "set HPCML_KEY_FILE to another path, or check the permissions and quota of this one"};
}

/// Writes a key into a new file at `path`.
util::Status write_key(const std::string& path, const SecretKey& key) {
  const util::ScopedDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return cannot("create the file", path);
  const auto bytes = key.bytes();
  const bool written =
      ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      ::fchmod(file.get(), 0600) == 0 && ::fsync(file.get()) == 0;
  if (written) return util::Success{};
  auto error = cannot("write", path);
  ::unlink(path.c_str());
  return error;
}

} // namespace

SecretKey SecretKey::take(util::Digest bytes) {
  SecretKey key(bytes);
  util::wipe(bytes.data(), bytes.size());
  return key;
}

SecretKey SecretKey::make_random() {
  SecretKey key{util::Digest{}};
  util::fill_random(key.x_bytes);
  return key;
}

std::optional<SecretKey> SecretKey::parse(std::string_view hex) {
  SecretKey key{util::Digest{}};
  auto& bytes = key.x_bytes;
  if (hex.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const auto digit = k_digits.find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bytes[i / 2] = static_cast<unsigned char>(bytes[i / 2] << 4 | digit);
  }
  return key;
}

std::string SecretKey::to_hex() const {
  std::string text;
  text.reserve(2 * x_bytes.size());
  for (const unsigned char byte : x_bytes) {
    text += k_digits[byte >> 4];
    text += k_digits[byte & 15];
  }
  return text;
}

std::string user_key_path(const util::EnvSnapshot& env) {
  if (auto path = env.get_or(k_key_file_variable, ""); !path.empty()) return path;
  const std::filesystem::path named = env.get_or("XDG_CONFIG_HOME", "");
  if (named.is_absolute()) return named / "hpcml" / "key";
  auto home = env.get_or("HOME", "");
  if (home.empty()) home = home_of_user();
  if (home.empty() || home.front() != '/') return {};
  return home + "/.config/hpcml/key";
}

Result<ChannelKey> load_user_key(const std::string& path) {
  // Not blocking: a FIFO at this path must not delay the job.
  const util::ScopedDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ELOOP)
      return Error{fmt::format("cannot use the key file '{}': it is a symbolic link", path),
                   "use the path of the file that it points to"};
    return ChannelKey{{}, fmt::format("cannot open key file '{}': {}", path, std::strerror(errno))};
  }
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return cannot("read the file", path);
  TRY_DONE(check_file(path, found));
  util::Digest bytes{};
  const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
  if (count != static_cast<ssize_t>(bytes.size())) return cannot("read the file", path);
  ChannelKey key{SecretKey::take(bytes), fmt::format("key file {}", path)};
  util::wipe(bytes.data(), bytes.size());
  return key;
}

util::Status make_user_key(const std::string& path) {
  if (path.empty())
    return Error{"the key file has no directory: HOME is not set",
                 "set HPCML_KEY_FILE to a path, or HOME to your home directory"};
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) return util::Success{};
  const auto directory = std::filesystem::path(path).parent_path();
  if (std::error_code failed; !directory.empty() && !std::filesystem::exists(directory, failed)) {
    std::filesystem::create_directories(directory.parent_path(), failed);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
      return cannot("create the directory", directory.string());
  }
  const auto key = SecretKey::make_random();
  const auto scratch = path + "." + SecretKey::make_random().to_hex().substr(0, 16);
  TRY_DONE(write_key(scratch, key));
  // A link never replaces a file, and others see a complete one.
  const bool linked = ::link(scratch.c_str(), path.c_str()) == 0;
  const int code = errno;
  ::unlink(scratch.c_str());
  if (linked || code == EEXIST) return util::Success{};
  if (code == EPERM || code == EOPNOTSUPP || code == ENOSYS) { // a file system without links
    auto written = write_key(path, key);
    return ::lstat(path.c_str(), &found) == 0 ? util::Status(util::Success{}) : written;
  }
  errno = code;
  return cannot("create the file", path);
}

SecretKey derive_job_key(const SecretKey& user_key, std::string_view job) {
  return SecretKey::take(util::hmac_sha256(user_key.bytes(), {k_job_label, std::string_view("\0", 1), job}));
}

SecretKey derive_run_key(const SecretKey& user_key) {
  return SecretKey::take(util::hmac_sha256(user_key.bytes(), {k_run_label, std::string_view("\0", 1)}));
}

Result<ChannelKey> find_channel_key(const util::EnvSnapshot& env,
                                    const std::function<SecretKey(const SecretKey&)>& derive,
                                    const std::string& key_file) {
  if (key_file.empty()) {
    if (const auto text = env.get_or(k_job_secret_variable, ""); !text.empty()) {
      const auto key = SecretKey::parse(text);
      if (!key)
        return Error{fmt::format("{} must be 64 hexadecimal digits", k_job_secret_variable),
                     "remove this variable: scripts of hpcml gen set it for their steps"};
      return ChannelKey{*key, k_job_secret_variable};
    }
  }
  const auto path = key_file.empty() ? user_key_path(env) : key_file;
  if (path.empty()) return ChannelKey{{}, "no home directory for a key file"};
  TRY(auto found, load_user_key(path));
  if (!found.key && !key_file.empty()) return Error{found.origin};
  if (found.key) found.key = derive(*found.key);
  return found;
}

} // namespace hpcml::store
