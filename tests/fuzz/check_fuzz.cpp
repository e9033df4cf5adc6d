// SPDX-License-Identifier: MIT
// Any bytes as a batch script: checked for one version and for all, mended, shown. Build with -DHPCML_FUZZ=ON and clang:
// ninja check_fuzz && bin/check_fuzz -max_len=4096 -timeout=10 NEW_FOLDER FOLDER_OF_SEEDS (tests/fuzz/seeds.py)
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check/check_script.hpp"
#include "check/report.hpp"

using namespace hpcml;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const check::Target target : {check::Target{}, check::Target{slurm::Version::v22_05}}) {
    const auto findings = check::check_script("x.sh", text, target);
    for (const auto& finding : findings)
      for (const auto& edit : finding.fix)
        if (edit.offset > size || edit.length > size - edit.offset) std::abort();
    for (const char* format : {"text", "json", "sarif", "github"}) {
      const auto report = check::make_report(format, false);
      report->add(text, findings);
    }
  }
  const auto mended = check::fix_script(text, {slurm::Version::v22_05});
  if ((mended.text == text) != (mended.findings == 0)) std::abort();
  check::unified_diff(text, mended.text, "x.sh");
  return 0;
}
