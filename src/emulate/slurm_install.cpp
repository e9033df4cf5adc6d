// SPDX-License-Identifier: MIT
#include "emulate/slurm_install.hpp"

#include <filesystem>

#include "util/process.hpp"
#include "util/text.hpp"

namespace hpcml::emulate {

namespace {

constexpr const char* k_install =
    "install Slurm on this machine: apt-get install slurm-wlm (Debian, Ubuntu); its daemons need not run";

/// "23.11" of "23.11.4": what Slurm calls a release.
std::string release_of(const std::string& version) {
  const auto parts = util::split(version, '.');
  return parts.size() < 2 ? version : parts[0] + "." + parts[1];
}

bool has_plugin(const std::string& name, const std::string& slurmctld) {
  namespace fs = std::filesystem;
  const fs::path prefix = fs::path(slurmctld).parent_path().parent_path();
  std::vector<fs::path> folders = {prefix / "lib/slurm", prefix / "lib64/slurm", prefix / "lib/slurm-wlm"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
    folders.push_back(entry.path() / "slurm-wlm");
    folders.push_back(entry.path() / "slurm");
  }
  for (const auto& folder : folders)
    if (fs::exists(folder / name, error)) return true;
  return false;
}

} // namespace

std::string parse_slurm_version(const std::string& text) {
  for (const auto& word : util::split(std::string(util::trim(text)), ' '))
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos) return word;
  return {};
}

util::Result<SlurmInstall> find_slurm(const util::EnvSnapshot& env) {
  util::EnvSnapshot wide = env;
  wide.set("PATH", env.get_or("PATH", "/usr/bin:/bin") +
                       ":/usr/sbin:/sbin:/usr/local/sbin:/opt/slurm/sbin:/opt/slurm/bin");
  SlurmInstall slurm;
  std::vector<std::string> missing;
  const std::pair<const char*, std::string*> programs[] = {{"slurmctld", &slurm.slurmctld},
                                                           {"slurmd", &slurm.slurmd},
                                                           {"srun", &slurm.srun},
                                                           {"salloc", &slurm.salloc},
                                                           {"sinfo", &slurm.sinfo}};
  for (const auto& [name, path] : programs) {
    if (const auto found = util::find_program(name, wide))
      *path = *found;
    else
      missing.push_back(name);
  }
  if (!missing.empty())
    return util::Error{"Slurm is not installed here: no " + util::join(missing, ", ") + " in PATH",
                       k_install};
  const auto answer = util::run_process({slurm.slurmctld, "-V"}, wide, std::chrono::seconds(10));
  if (!answer) return util::with_context(answer.error(), "cannot ask Slurm for its version");
  slurm.version = parse_slurm_version(answer->out);
  if (slurm.version.empty())
    return util::Error{"cannot read Slurm's version from \"" + answer->out + "\"", k_install};
  slurm.has_lua = has_plugin("job_submit_lua.so", slurm.slurmctld);
  return slurm;
}

std::string describe_version_difference(const std::string& installed, const std::string& site_name,
                                        const std::string& site_version) {
  if (site_version.empty())
    return "this machine has Slurm " + installed + "; which version " + site_name +
           " runs is not known, so details may differ";
  if (release_of(installed) == release_of(site_version)) return {};
  return "this machine has Slurm " + installed + ", " + site_name + " runs " + site_version +
         ": options and defaults that changed between them behave as in " + release_of(installed) + " here";
}

} // namespace hpcml::emulate
