// SPDX-License-Identifier: MIT
// A software environment to make on a site: what hpcml env prints a script for. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/enum_names.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/plan.hpp"
#include "core/model/site.hpp"
#include "generate/plan/torch_wheels.hpp"

namespace hpcml::model {

/// What hpcml env makes: an environment of that kind, or (libtorch) one to build C++ programs with.
enum class SetupKind { venv, wheelhouse, conda, uv, container, libtorch };

template <>
inline constexpr std::array<NamedValue<SetupKind>, 6> k_words<SetupKind> = {
    {{"venv", SetupKind::venv},
     {"wheelhouse", SetupKind::wheelhouse},
     {"conda", SetupKind::conda},
     {"uv", SetupKind::uv},
     {"container", SetupKind::container},
     {"libtorch", SetupKind::libtorch}}};

} // namespace hpcml::model

namespace hpcml::plan {

using model::SetupKind;

/// What a user asks for besides the job's own keys (--venv, --conda, --container, --partition, --gpu-type).
struct SetupOptions {
  std::optional<SetupKind> kind; ///< unset: what the site recommends
  std::string
      packages;       ///< requirement words or a requirements file; empty: torch, or what the site recommends
  std::string python; ///< "3.12"; empty: one that the packages take
  std::string cuda;   ///< "12.8"; empty: by driver and GPUs
  std::string rocm;
  std::string pack = {}; ///< archive to make of it, for jobs that unpack it on their nodes; empty: none
  std::string request_line = {}; ///< as typed, for the script's head
};

/// An environment on top of an image, in one file that jobs mount with it.
struct SquashfsSetup {
  model::ContainerEngine engine = model::ContainerEngine::singularity;
  std::string image;
  std::string image_variable;             ///< where a module gives the image: the variable with its path
  std::vector<std::string> image_options; ///< of the engine, before the image: "--view=default"
  std::string enter;                      ///< evaluated inside the image first; empty: none
  std::string at; ///< where jobs mount it; empty: at the file's path without the ending
  std::vector<std::string> file_options; ///< of mksquashfs
  std::vector<std::string>
      step; ///< options of the srun that enters the image; empty: it is entered where the script runs
};

/// The environment, decided.
struct SetupPlan {
  SetupKind kind = SetupKind::venv;
  std::string site_id;
  std::string site_hash;
  std::string place; ///< path (with variables, if `place_expression`), name or image
  bool place_expression = false;
  model::ModulesReset modules_reset = model::ModulesReset::none;
  std::vector<model::PlannedModule> modules;
  std::vector<std::string> torch_packages; ///< from PyTorch's index, or from the site's wheels
  std::vector<std::string> packages;       ///< all others, "-r FILE" included
  bool has_torch = true;                   ///< torch is among them, by name or by what asks for it
  std::string python;                      ///< version
  std::optional<WheelIndex> index;         ///< none: the site's own wheels
  std::string index_reason;
  std::string list_wheels;               ///< the site's program that lists its wheels; empty: none
  std::string base_image;                ///< of the image to build
  std::string easyconfig;                ///< EasyBuild's recipe of an image that a module gives; empty: none
  std::optional<SquashfsSetup> squashed; ///< the environment is on top of an image, as one file
  model::CpuArch node_arch = model::CpuArch::unknown; ///< of the nodes where it will run
  bool offline_nodes = false;                         ///< compute nodes have no internet
  std::vector<std::string> link_directories;          ///< expressions
  std::string cuda_archs;                             ///< TORCH_CUDA_ARCH_LIST: "8.0;9.0"; empty: none
  std::string request_line;                           ///< as typed, for the script's head
  std::string pack;                                   ///< archive to make of it; empty: none
  std::vector<model::PlannedEnv> downloads;           ///< where pip and uv keep what they have fetched
  std::string use; ///< the flag that a job takes it with: "--venv"; empty: the place is not a place of a job
  std::vector<std::pair<std::string, model::Origin>> notes;
};

/// The plan, or everything that speaks against it.
struct SetupResult {
  std::optional<SetupPlan> plan;
  diag::Diagnostics diagnostics; ///< "usage/…" (exit 2), "request/…" (exit 4), as of make_plan
};
/// The plan of an environment for the jobs of `job` on the site.
SetupResult plan_setup(const SetupOptions& spec, const model::JobSpec& job, const model::Site& site);

} // namespace hpcml::plan
