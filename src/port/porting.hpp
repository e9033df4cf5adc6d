// SPDX-License-Identifier: MIT
// What the parts of porting share.
#pragma once

#include <string>

#include "check/subject.hpp"
#include "model/job_spec.hpp"
#include "model/site.hpp"
#include "port/port_script.hpp"
#include "slurm/job_size.hpp"
#include "slurm/request.hpp"
#include "slurm/script_header.hpp"

namespace hpcml::port {

using check::place_of;

/// One script on its way to another site.
struct Porting {
  std::string file;
  std::string_view text;
  const model::Site& to;
  Chosen chosen;
  Ported result = {};

  void note(slurm::Place place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::note, place, std::move(code), std::move(message), std::move(hint));
  }
  void error(slurm::Place place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::error, place, std::move(code), std::move(message), std::move(hint));
  }
  /// A value of the old script.
  model::Origin origin(const std::string& what) const {
    return {model::OriginKind::job_file, what + " of " + file, {}, {}, {}};
  }

private:
  void add(diag::Severity severity, slurm::Place place, std::string code, std::string message,
           std::string hint) {
    diag::Span span{file, 0, 0, 0};
    if (place.length > 0) span = diag::span_at(file, text, place.offset, static_cast<unsigned>(place.length));
    result.findings.push_back({severity, std::move(code), std::move(message), span, std::move(hint)});
  }
};

/// A program that the script starts on the nodes, and where the words stand that start it.
struct FoundLaunch {
  std::size_t begin = 0; ///< of srun, torchrun …
  std::size_t end = 0;   ///< behind the program's last word
  model::PortedLaunch program;
  const check::Launch* launch = nullptr;
  std::optional<unsigned> agent_processes; ///< per node, as torchrun or accelerate was told
};

/// The programs to be started anew, in the script's order; what cannot be taken apart is reported.
std::vector<FoundLaunch> find_programs(Porting& porting, const std::vector<check::Launch>& launches,
                                       const shell::View& view);
/// Fills the request from the directives.
void port_request(Porting& porting, const slurm::Request& request, const slurm::JobSize& size,
                  const std::vector<FoundLaunch>& programs);
/// The text behind the directives with its launches as gaps, without what the new script does itself.
model::PortedBody port_body(Porting& porting, const slurm::ScriptHeader& header, const shell::Node& program,
                            const std::vector<FoundLaunch>& launches);

} // namespace hpcml::port
