// SPDX-License-Identifier: MIT
#include "cli/create/gen_from.hpp"

#include "check/check_script.hpp"
#include "cli/chosen_site.hpp"
#include "core/util/input_file.hpp"
#include "generate/import_script/port_script.hpp"

namespace hpcml::cli {

bool add_script(MergedRequest& request, const std::string& file, const Context& context, int& exit_code) {
  const auto text = util::read_input(file, {check::k_largest_script});
  if (!text) {
    print_error(text.error(), context.colour);
    exit_code = k_invalid_file;
    return false;
  }
  const auto site = choose_site(request.site, context, exit_code);
  if (!site) return false;
  request.site = site->id;
  auto& job = request.parts.front().job;
  if (!job.command.empty() || request.parts.size() > 1) {
    print_error("--from takes the program from the script", "leave out what stands behind --",
                context.colour);
    exit_code = k_usage;
    return false;
  }
  const bool environment = job.venv || job.conda || job.container || job.wheelhouse;
  const auto is_set = [](const model::Known<std::string>& known) {
    return known ? known->value : std::string();
  };
  import_script::Chosen chosen;
  chosen.environment = environment;
  chosen.partition = is_set(job.partition);
  chosen.account = is_set(job.account);
  chosen.qos = is_set(job.qos);
  if (job.nnodes && !job.nodes)
    job.nodes = model::Sourced<unsigned>{job.nnodes->value.most, job.nnodes->origin};
  chosen.nodes = job.nodes || job.gpus_per_node;
  chosen.node_count = job.nodes && !job.gpus_per_node ? job.nodes->value : 0;
  chosen.launcher = job.launcher           ? std::string(job.launcher->value.name())
                    : model::is_agent(job) ? "hpcml"
                                           : "";
  chosen.gpus_seen = job.gpu_visibility.has_value();
  const auto ported = import_script::port_script(file, *text, *site, chosen);
  print_diagnostics(ported.findings, *text, context.colour);
  if (diag::has_errors(ported.findings)) {
    exit_code = k_invalid_file;
    return false;
  }
  job = config::merge_jobs(ported.job, job);
  return true;
}

} // namespace hpcml::cli
