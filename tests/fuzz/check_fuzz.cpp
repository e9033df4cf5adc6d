// SPDX-License-Identifier: MIT
// Any bytes as a batch script: checked for one version, for all and for a site, fixed, shown. Build with
// -DHPCML_FUZZ=ON and clang: ninja check_fuzz && bin/check_fuzz -max_len=4096 -timeout=10 NEW_FOLDER
// FOLDER_OF_SEEDS (tests/fuzz/seeds.py)
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "check/check_script.hpp"
#include "check/report_writer.hpp"
#include "core/config/site_store.hpp"

using namespace hpcml;

namespace {

/// One of a few sites with many rules, by the text's length.
const model::Site& site_for(std::size_t size) {
  static const std::vector<model::Site> c_sites = [] {
    std::vector<model::Site> sites;
    for (const char* id :
         {"lumi", "perlmutter", "jean_zay", "vista", "mila", "snellius", "narval", "alps_daint"})
      sites.push_back(config::load_site(id, {}).site.value());
    return sites;
  }();
  return c_sites[size % c_sites.size()];
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const check::TargetCluster& target :
       {check::TargetCluster{}, check::TargetCluster{slurm::Version::v22_05},
        check::TargetCluster{{}, &site_for(size)}}) {
    const auto findings = check::check_script("x.sh", text, target);
    for (const auto& finding : findings)
      for (const auto& edit : finding.fix)
        if (edit.offset > size || edit.length > size - edit.offset) std::abort();
    for (const char* format : {"text", "json", "sarif", "github"}) {
      const auto report = check::make_report(format, false);
      report->add(text, findings);
    }
  }
  const auto fixed = check::fix_script(text, {slurm::Version::v22_05});
  if ((fixed.text == text) != (fixed.findings == 0)) std::abort();
  check::unified_diff(text, fixed.text, "x.sh");
  return 0;
}
