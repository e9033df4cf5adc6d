// SPDX-License-Identifier: MIT
// Any bytes as a site's profile, as a layer over one that is compiled in, and as a job file. Build with
// -DHPCML_FUZZ=ON and clang: ninja profile_fuzz && bin/profile_fuzz -max_len=30000 -timeout=10 NEW_FOLDER
// sites
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "core/config/job_file.hpp"
#include "core/config/profile_layers.hpp"
#include "core/config/site_facts.hpp"
#include "core/config/site_reader.hpp"
#include "core/util/embedded.hpp"

using namespace hpcml;

namespace {

void read_profile(const std::string& text) {
  const auto find = [](const std::string& id, std::size_t) -> std::optional<config::ProfileFile> {
    for (const auto& file : embedded::site_files())
      if (file.name == id + ".json")
        return config::ProfileFile{"built in", std::string(file.text), true, 1, id};
    return std::nullopt;
  };
  const auto layers = config::load_layers({"x.json", text, false, 0, "x"}, find);
  if (!layers.root) return;
  const auto read = config::read_site(*layers.root, "x.json");
  if (read.site.has_value() == diag::has_errors(read.diagnostics)) std::abort();
  config::make_facts(*layers.root);
}

/// The bytes as a file of this process, which needs no folder.
std::string file_with(const std::string& text) {
  static const int file = memfd_create("job", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_profile(text);
  const auto job = config::load_job_file(file_with(text));
  if (job.job && diag::has_errors(job.diagnostics)) std::abort();
  return 0;
}
