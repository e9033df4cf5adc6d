// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace {

/// Tests neither read nor make the key file of the user who runs them: they have one in the build directory.
void use_key_of_tests() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return;
  const std::string path = program.parent_path() / "key-of-tests",
                    scratch = path + std::to_string(::getpid());
  if (!std::filesystem::exists(path, failed)) {
    constexpr char k_key[] = "0123456789abcdef0123456789abcdef";
    const int fd = ::open(scratch.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    const bool written = fd >= 0 && ::write(fd, k_key, sizeof k_key - 1) == sizeof k_key - 1;
    ::close(fd);
    if (!written || ::rename(scratch.c_str(), path.c_str()) != 0) return;
  }
  ::setenv("HPCML_KEY_FILE", path.c_str(), 0);
}

} // namespace

int main(int argc, char** argv) {
  use_key_of_tests();
  return Catch::Session().run(argc, argv);
}
