// SPDX-License-Identifier: MIT
#include "emulate/stand_in_files.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include "core/model/launcher.hpp"
#include "core/model/mpi_ranks.hpp"
#include "core/model/site_queries.hpp"
#include "core/util/embedded.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "emulate/gpu_files.hpp"
#include "emulate/login_files.hpp"
#include "emulate/slurm_files.hpp"

namespace hpcml::emulate {

namespace {

using model::Site;
using Files = std::map<std::string, StandInFile>;

/// "PATH|NAME" for each module: PATH is where `module use` must have pointed before, or empty.
void add_modules(std::vector<std::string>& into, const std::vector<std::string>& names) {
  std::string path;
  for (const auto& name : names) {
    if (name.starts_with("use:"))
      path = name.substr(4);
    else
      into.push_back(path + "|" + name);
  }
}

std::string shell_array(const std::string& name, const std::vector<std::string>& values) {
  std::string text = "hpcml_" + name + "=(";
  for (const auto& value : values) text += (text.back() == '(' ? "" : " ") + util::shell_quote(value);
  return text + ")\n";
}

/// Host paths that the profile's containers bind, and images that others are built on: they exist on the
/// site.
std::vector<std::string> site_paths(const Site& site) {
  std::vector<std::string> paths;
  for (const auto& rule : site.python)
    if (!rule.image.base_image.empty()) paths.push_back(rule.image.base_image);
  for (const auto& container : site.containers) {
    for (const auto& bind : container.binds) paths.push_back(bind.source);
    auto superseded = container.superseded;
    superseded.insert(superseded.end(), container.origin.superseded.begin(),
                      container.origin.superseded.end());
    for (const auto& old : superseded) { // older documents' binds still work on the site
      std::string text = old.value;
      std::replace_if(
          text.begin(), text.end(), [](char c) { return c == ',' || c == '\n' || c == '='; }, ' ');
      for (const auto& word : util::split(text, ' '))
        if (word.starts_with("/")) paths.push_back(util::split(word, ':').front());
    }
  }
  return paths;
}

/// The variable that an image offers to enter its environment: "WITH_CONDA" of "$WITH_CONDA".
std::string enter_variable(const Site& site) {
  for (const auto& container : site.containers) {
    const std::string name = util::replace_all(util::replace_all(container.enter, "{", ""), "}", "");
    if (name.size() > 1 && name[0] == '$' && name.find(' ') == std::string::npos) return name.substr(1);
  }
  return {};
}

/// True if there is a stand-in for a program that only some sites have.
bool has_stand_in(const std::string& program) {
  const auto& files = embedded::stand_in_files();
  return std::any_of(files.begin(), files.end(),
                     [&](const auto& file) { return file.name == program + ".sh"; });
}

/// The site's own launcher for which there is a stand-in: ibrun.
const model::LauncherRule* own_launcher(const Site& site) {
  const auto found = std::find_if(site.launchers.begin(), site.launchers.end(),
                                  [](const auto& rule) { return has_stand_in(rule.name); });
  return found == site.launchers.end() ? nullptr : &*found;
}

std::string module_lines(const Site& site) {
  std::vector<std::string> modules, conda_modules, conda_envs;
  for (const auto& rule : site.containers) add_modules(modules, rule.modules);
  for (const auto& rule : site.python) {
    add_modules(modules, rule.modules);
    if (rule.kind != model::PythonPackageSource::conda) continue;
    conda_modules.insert(conda_modules.end(), rule.modules.begin(), rule.modules.end());
    if (!rule.conda_env.empty()) conda_envs.push_back(rule.conda_env);
  }
  for (const auto& rule : site.modules) add_modules(modules, rule.load);
  add_modules(modules, site.libtorch_modules);
  std::vector<std::string> images; // "VARIABLE|EXPRESSION" of modules that give an image
  for (const auto& rule : site.containers)
    if (!rule.image_variable.empty()) images.push_back(rule.image_variable + "|" + rule.images);
  return shell_array("image_modules", images) + shell_array("modules", modules) +
         shell_array("conda_modules", conda_modules) + shell_array("conda_envs", conda_envs);
}

/// Returns the variables that the site's own launcher sets for its tasks: those of the profile, and the rest
/// as in MPI.
model::LauncherRule launcher_variables(const Site& site) {
  const auto* own = own_launcher(site);
  if (own == nullptr) return {};
  auto rule = *own;
  if (rule.rank_variable.empty()) rule.rank_variable = model::k_mpi_ranks.front().rank;
  for (const auto& known : model::k_mpi_ranks) {
    if (rule.rank_variable != known.rank) continue;
    if (rule.local_rank_variable.empty()) rule.local_rank_variable = known.local_rank;
    if (rule.world_size_variable.empty()) rule.world_size_variable = known.world_size;
  }
  return rule;
}

/// What the stand-ins know of the GPUs of a node type.
std::string gpu_data(const Site& site, const model::NodeType& type) {
  const auto& gpu = type.gpu;
  const auto set = [](const std::string& name, const std::string& value) {
    return "hpcml_gpu_" + name + "=" + util::shell_quote(value) + "\n";
  };
  return set("vendor", gpu ? model::word_of(gpu->vendor) : "") + set("model", gpu ? gpu->model : "") +
         set("count", std::to_string(gpu ? gpu->per_node : 0)) +
         set("gib", std::to_string(gpu ? gpu->mem_gib.value_or(0) : 0)) +
         set("in_slurm", gpu && counts_gpus(site) ? "1" : "0");
}

/// The architecture that programs on the login node see: that of the nodes if the profile does not name it.
model::CpuArch login_arch(const Site& site, const ClusterLayout& layout) {
  return site.login_arch == model::CpuArch::unknown ? layout.type->cpu_arch : site.login_arch;
}

/// The architecture of each node; empty if the profile names none.
std::string arch_data(const Site& site, const ClusterLayout& layout) {
  const auto set = [](model::CpuArch arch) {
    return "hpcml_arch=" + util::shell_quote(model::word_of(arch)) + "\n";
  };
  const auto at_login = login_arch(site, layout);
  std::string text = set(at_login) + "case $hpcml_host in\n";
  for (const auto& node : layout.nodes)
    if (node.type->cpu_arch != at_login)
      text += util::shell_quote(node.name) + ")\n" + set(node.type->cpu_arch) + ";;\n";
  return text + "esac\n";
}

/// For each device of a node with parts of GPUs: the GPU, the part's profile, number and UUID.
std::string part_data(const ClusterNode& node) {
  if (!node.slices) return {};
  std::vector<std::string> parts;
  for (const auto& part : cut_gpus(*node.type->gpu)) {
    const auto& name = part.slice->name;
    const auto profile = name.substr(name.rfind('_') == std::string::npos ? 0 : name.rfind('_') + 1);
    parts.push_back(std::to_string(part.gpu) + " " + profile + " " + std::to_string(part.number) + " " +
                    part_uuid(part, node.name));
  }
  return shell_array("gpu_parts", parts);
}

/// Options of Slurm that start images: plugins that the Slurm here does not have.
std::vector<std::string> plugin_options(const Site& site) {
  std::vector<std::string> names;
  for (const auto& rule : site.containers) {
    auto options = rule.options;
    if (!rule.bind_option.empty()) options.push_back(rule.bind_option);
    for (const auto& option : options) names.push_back(option.substr(0, option.find('=')));
  }
  return names;
}

/// lib/site.sh: what the stand-ins know of the site.
std::string site_data(const Site& site, const ClusterLayout& layout, const StandInOptions& options) {
  std::string text = "# shellcheck shell=bash disable=SC2034\n";
  const auto set = [&](const std::string& name, const std::string& value) {
    text += "hpcml_" + name + "=" + util::shell_quote(value) + "\n";
  };
  set("site_name", site.short_name());
  text += gpu_data(site, *layout.type);
  text += "read -r hpcml_host < /proc/sys/kernel/hostname\ncase $hpcml_host in\n";
  for (const auto& node : layout.nodes)
    if (node.type != layout.type || node.slices)
      text += util::shell_quote(node.name) + ")\n" + gpu_data(site, *node.type) + part_data(node) + ";;\n";
  text += "esac\n" + arch_data(site, layout);
  const auto variables = launcher_variables(site);
  set("rank_variable", variables.rank_variable);
  set("local_rank_variable", variables.local_rank_variable);
  set("world_size_variable", variables.world_size_variable);
  set("python", options.python);
  set("program", (util::own_executable().parent_path() / "hpcml").string());
  set("module_root_prefix", model::module_root_prefix(site));
  set("internet", site.network.internet_on_compute.value_or(true) ? "1" : "0");
  const std::string enter = enter_variable(site);
  set("enter_variable", enter);
  // An image whose environment has to be entered hides its Python until then.
  set("image_path",
      options.state_dir + "/image/bin" + (enter.empty() ? ":" + options.state_dir + "/image/env/bin" : ""));
  set("srun", options.srun);
  set("salloc", options.salloc);
  set("mpi", options.mpi);
  set("limits_devices", options.limits_devices ? "1" : "0");
  const auto plugins = plugin_options(site);
  set("plugin_lines", util::join(plugins, "|"));
  return text + module_lines(site) + shell_array("site_paths", site_paths(site)) +
         shell_array("plugin_options", plugins);
}

void put(Files& files, const StandInOptions& options, const std::string& path, const std::string& source,
         unsigned mode) {
  files[path] = {util::replace_all(std::string(stand_in_text(source)), "@STATE_DIR@", options.state_dir),
                 mode};
}

/// bin/python and its names as scripts: a link would not find the packages of a virtual environment.
void put_python(Files& files, const StandInOptions& options, const std::string& directory) {
  if (options.python.empty()) return;
  const std::string python = util::shell_quote(options.python);
  const std::string bin_directory = util::shell_quote(util::directory_name(options.python));
  for (const auto* name : {"python", "python3"})
    files[directory + "/" + name] = {"#!/bin/sh\nexec " + python + " \"$@\"\n", 0755};
  auto names = model::python_launchers();
  names.emplace_back("pip");
  for (const auto& name : names)
    files[directory + "/" + std::string(name)] = {
        "#!/bin/sh\nexec " + bin_directory + "/" + std::string(name) + " \"$@\"\n", 0755};
}

void put_gpu_tools(Files& files, const ClusterLayout& layout, const StandInOptions& options) {
  const auto has = [&](model::GpuVendor vendor) {
    const auto is = [&](const model::NodeType& type) { return type.gpu && type.gpu->vendor == vendor; };
    return is(*layout.type) || std::any_of(layout.nodes.begin(), layout.nodes.end(),
                                           [&](const auto& node) { return is(*node.type); });
  };
  for (const auto& [tool, of] :
       {std::pair{"nvidia-smi", model::GpuVendor::nvidia}, std::pair{"rocm-smi", model::GpuVendor::amd}}) {
    put(files, options, std::string("bin/") + tool, has(of) ? "gpu_smi.sh" : "absent.sh", 0755);
    if (has(of))
      files[std::string("image/bin/") + tool] = {
          "#!/bin/sh\nexec " + options.state_dir + "/bin/" + tool + " \"$@\"\n", 0755};
  }
}

void put_containers(Files& files, const Site& site, const StandInOptions& options) {
  const bool has = !site.containers.empty();
  for (const auto& tool : model::engine_programs())
    put(files, options, "bin/" + tool, has ? "container.sh" : "absent.sh", 0755);
  if (!has) return;
  for (const auto& rule : site.containers)
    if (has_stand_in(rule.prefix)) put(files, options, "bin/" + rule.prefix, rule.prefix + ".sh", 0755);
  put(files, options, "lib/container_root", "container_root.sh", 0755);
  put(files, options, "image/miniconda3/bin/activate", "image_activate.sh", 0644);
  put_python(files, options, "image/env/bin");
}

/// Conda, in PATH where the profile recommends it, else once a module that brings it is loaded.
void put_conda(Files& files, const Site& site, const StandInOptions& options) {
  const bool in_path = model::has_python(site, model::PythonPackageSource::conda);
  for (const std::string directory : {"bin/", "conda/bin/"}) {
    if (directory == "bin/" && !in_path) continue;
    for (const auto* tool : {"conda", "mamba"}) put(files, options, directory + tool, "conda.sh", 0755);
    put(files, options, directory + "activate", "conda_activate.sh", 0644);
  }
  put(files, options, "conda/etc/profile.d/conda.sh", "conda_profile.sh", 0644);
  put_python(files, options, "lib/python_stubs");
  for (const auto& rule : site.python)
    if (!rule.conda_env.empty()) put_python(files, options, "conda/envs/" + rule.conda_env + "/bin");
}

void put_python_tools(Files& files, const Site& site, const StandInOptions& options) {
  const bool wheelhouse = model::has_python(site, model::PythonPackageSource::wheelhouse);
  const bool venv = model::has_python(site, model::PythonPackageSource::venv) && !options.python.empty();
  put_conda(files, site, options);
  if (venv)
    for (const auto* name : {"python", "python3"})
      put(files, options, std::string("bin/") + name, "python.sh", 0755);
  if (!venv && options.lacks_python && !options.python.empty())
    put(files, options, "bin/python", "python_name.sh", 0755);
  if (wheelhouse) put(files, options, "bin/virtualenv", "virtualenv.sh", 0755);
  put(files, options, "lib/python_env.sh", "python_env.sh", 0644);
  put(files, options, "lib/site_files.sh", "site_files.sh", 0644);
  put(files, options, "lib/wheelhouse_pip.py", "wheelhouse_pip.py", 0644);
  for (const auto& rule : site.python) {
    if (!rule.list_wheels.empty()) {
      put(files, options, "bin/" + rule.list_wheels, "avail_wheels.sh", 0755);
      put(files, options, "lib/avail_wheels.py", "avail_wheels.py", 0644);
    }
    if (!rule.image.tool.empty() && has_stand_in(rule.image.tool))
      put(files, options, "bin/" + rule.image.tool, rule.image.tool + ".sh", 0755);
  }
}

} // namespace

std::string_view stand_in_text(std::string_view name) {
  for (const auto& file : embedded::stand_in_files())
    if (file.name == name) return file.text;
  assert(!"stand-in text is embedded");
  return {};
}

std::map<std::string, StandInFile> make_stand_ins(const Site& site, const ClusterLayout& layout,
                                                  const StandInOptions& options) {
  Files files;
  files["lib/site.sh"] = {site_data(site, layout, options), 0644};
  put(files, options, "lib/common.sh", "common.sh", 0644);
  put(files, options, "lib/module.sh", "module.sh", 0644);
  put_gpu_tools(files, layout, options);
  put_containers(files, site, options);
  put_python_tools(files, site, options);
  const bool has_plugins = !plugin_options(site).empty();
  put(files, options, has_plugins ? "lib/sbatch" : "bin/sbatch", "sbatch.sh", 0755);
  if (has_plugins)
    for (const auto* tool : {"sbatch", "srun", "salloc"})
      put(files, options, std::string("bin/") + tool, "plugin_options.sh", 0755);
  if (const auto* own = own_launcher(site)) {
    put(files, options, "bin/" + own->name, own->name + ".sh", 0755);
    put(files, options, "lib/launcher_rank", "launcher_rank.sh", 0755);
  }
  if (!site.interactive.options.empty() && has_stand_in(site.interactive.program)) {
    put(files, options, "bin/" + site.interactive.program, site.interactive.program + ".sh", 0755);
    put(files, options, "lib/idev_shell", "idev_shell.sh", 0755);
  }
  if (login_arch(site, layout) != model::CpuArch::unknown) put(files, options, "bin/uname", "uname.sh", 0755);
  put(files, options, "bin/ssh", "ssh.sh", 0755);
  put(files, options, "lib/ssh_step.sh", "ssh_step.sh", 0644);
  if (!options.accounting) put(files, options, "bin/sacct", "sacct.sh", 0755);
  put(files, options, "lib/task_prolog", "task_prolog.sh", 0755);
  auto& prolog = files["lib/task_prolog"].text;
  prolog = util::replace_all(prolog, "@MODULE_FUNCTION@", module_function(options.state_dir));
  prolog = util::replace_all(prolog, "@JOB_DIRECTORIES@", util::join(job_directory_variables(site), " "));
  put(files, options, "lib/tidy_node.sh", "tidy_node.sh", 0644);
  for (const auto* program : {"prolog", "epilog"})
    put(files, options, std::string("lib/") + program, std::string(program) + ".sh", 0755);
  return files;
}

} // namespace hpcml::emulate
