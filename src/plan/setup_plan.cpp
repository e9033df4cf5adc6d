// SPDX-License-Identifier: MIT
#include "plan/setup_plan.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "model/gpu_arch.hpp"
#include "plan/container_choice.hpp"
#include "plan/environment.hpp"
#include "plan/named_choice.hpp"
#include "plan/option_word.hpp"
#include "plan/requirements.hpp"
#include "plan/staging.hpp"
#include "plan/when.hpp"
#include "util/text.hpp"

namespace hpcml::plan {

namespace {

using model::CpuArch;
using model::GpuVendor;
using model::PythonWay;

/// The newest Python that all indexes of today take; older indexes want an older one.
constexpr const char* k_python = "3.12";

/// The nodes that the environment is for, and what they have in common.
struct SetupNodes {
  std::vector<const model::NodeType*> types;
  WheelTarget target;
};

/// How srun gets a node for a while.
std::vector<std::string> step_of(const model::JobSpec& job) {
  std::vector<std::string> words = {"--nodes=1", "--ntasks=1",
                                    "--time=" + (job.time ? job.time->value.to_slurm() : "00:30:00")};
  if (job.account) words.push_back("--account=" + job.account->value);
  if (job.partition) words.push_back("--partition=" + job.partition->value);
  return words;
}

/// One run: reads the request and the site, fills the plan and the findings.
class SetupPlanner {
public:
  SetupPlanner(const SetupSpec& spec, const model::JobSpec& job, const model::Site& site)
      : x_spec(spec), x_job(job), x_site(site) {}

  SetupResult run() {
    x_plan.site_id = x_site.id;
    x_plan.site_hash = x_site.hash;
    x_plan.offline_nodes = !x_site.network.internet_on_compute.value_or(true);
    find_nodes();
    choose_kind();
    choose_place();
    read_packages();
    choose_index();
    add_software();
    if (diag::has_errors(x_findings)) return {std::nullopt, std::move(x_findings)};
    return {std::move(x_plan), std::move(x_findings)};
  }

private:
  void error(const std::string& code, const std::string& message, const std::string& hint) {
    x_findings.push_back({diag::Severity::error, code, message, {}, hint});
  }

  bool is_for_gpus() const { return !(x_job.gpus_per_node && x_job.gpus_per_node->value == 0); }

  /// What the profile's conditional rules ask; nothing is known of the number of nodes.
  JobFacts facts() const {
    JobFacts facts;
    facts.gpus = is_for_gpus();
    facts.container = x_plan.kind == SetupKind::container;
    if (x_job.partition) facts.partition = x_job.partition->value;
    if (x_job.gpu_type) facts.gpu_type = x_job.gpu_type->value;
    if (x_nodes.types.size() == 1) facts.node_type = x_nodes.types.front()->id;
    return facts;
  }

  bool is_wanted(const model::NodeType& node) const {
    if (node.gpu.has_value() != is_for_gpus()) return false;
    if (x_job.gpu_type &&
        !(node.gpu && (node.id == x_job.gpu_type->value || has_gpu_type(*node.gpu, x_job.gpu_type->value))))
      return false;
    if (!x_job.partition) return true;
    const auto* partition = x_site.find_partition(x_job.partition->value);
    return partition && (partition->node_types.empty() ||
                         std::find(partition->node_types.begin(), partition->node_types.end(), node.id) !=
                             partition->node_types.end());
  }

  void find_nodes() {
    if (x_job.partition && !x_site.partitions.empty() && !x_site.find_partition(x_job.partition->value)) {
      x_findings.push_back(unknown_partition(x_site, x_job.partition->value));
      return;
    }
    for (const auto& node : x_site.node_types)
      if (is_wanted(node)) x_nodes.types.push_back(&node);
    if (x_nodes.types.empty() && !x_site.node_types.empty())
      return error(
          "request/setup",
          fmt::format("{} has no nodes with {} for this request in its profile", x_site.name,
                      is_for_gpus() ? "GPUs" : "CPUs only"),
          "leave --partition and --gpu-type out, or --gpus-per-node 0 for an environment without GPUs");
    std::vector<std::string> vendors, cpus, toolkits;
    for (const auto* node : x_nodes.types) {
      add_once(cpus, model::word_of(node->cpu_arch));
      if (!node->gpu) continue;
      add_once(vendors, model::word_of(node->gpu->vendor));
      add_once(x_nodes.target.archs, model::gpu_arch(*node->gpu));
      add_once(toolkits, node->gpu->vendor == GpuVendor::amd ? node->gpu->rocm_max : node->gpu->cuda_max);
    }
    std::erase(cpus, std::string());
    if (std::find(vendors.begin(), vendors.end(), "") != vendors.end())
      vendors.clear(); // one unknown is enough not to know
    if (vendors.size() > 1 || cpus.size() > 1)
      return error("request/setup",
                   fmt::format("one environment cannot run on all nodes of {}: they have {}", x_site.name,
                               util::join(vendors.size() > 1 ? vendors : cpus, " and ")),
                   "choose the nodes with --partition or --gpu-type");
    auto& target = x_nodes.target;
    target.vendor = vendors.empty()
                        ? GpuVendor::unknown
                        : model::find_word<GpuVendor>(vendors.front()).value_or(GpuVendor::unknown);
    if (vendors.empty() &&
        is_for_gpus()) { // the profile knows no nodes, or not whose GPUs they have: who asks must know
      if (x_spec.cuda.empty() && x_spec.rocm.empty())
        error("usage/setup", fmt::format("the profile of {} does not say which GPUs it has", x_site.name),
              "say --cuda VERSION or --rocm VERSION, or --gpus-per-node 0 for an environment without GPUs");
      target.vendor = x_spec.rocm.empty() ? GpuVendor::nvidia : GpuVendor::amd;
    }
    target.cpu_arch =
        cpus.empty() ? CpuArch::unknown : model::find_word<CpuArch>(cpus.front()).value_or(CpuArch::unknown);
    // Several drivers: the oldest decides, and an unknown one may be older than all.
    std::erase(target.archs, std::string());
    if (!toolkits.empty() && std::find(toolkits.begin(), toolkits.end(), "") == toolkits.end())
      target.toolkit_max = *std::min_element(toolkits.begin(), toolkits.end(), is_older);
    x_plan.node_arch = target.cpu_arch;
  }

  static void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }

  const model::PythonRule* recipe(std::optional<PythonWay> kind) const {
    for (const auto& rule : x_site.python)
      if (rule.kind == kind && applies(rule.when, facts()) &&
          (rule.image.tool == "easybuild") == is_module_image())
        return &rule;
    return nullptr;
  }

  /// Whether the request names an image by the module that gives it.
  bool is_module_image() const {
    if (x_plan.kind != SetupKind::container || !x_job.container) return false;
    return !x_images.empty() && !x_images.front()->image_variable.empty();
  }

  /// The first way of the site's that a script can go; what stands before it is said to be left out.
  SetupKind recommended_kind() {
    for (const auto& rule : x_site.python) {
      if (rule.kind == PythonWay::module) break; // a Python in a module is what environments are made with
      const bool built = rule.kind != PythonWay::container || !rule.image.tool.empty();
      if (const auto kind = model::find_word<SetupKind>(model::word_of(rule.kind)); kind && built)
        return *kind;
      if (built) continue;
      x_findings.push_back(
          {diag::Severity::warning,
           "request/setup",
           fmt::format("{} recommends images{}, and its profile does not say how they are built there: this "
                       "makes a virtual environment",
                       x_site.name, rule.origin.source.empty() ? "" : " [" + rule.origin.source + "]"),
           {},
           "a ready image needs no set-up: hpcml gen --container IMAGE"});
    }
    return SetupKind::venv;
  }

  void choose_kind() {
    auto kind = x_spec.kind;
    if (!kind && x_job.conda) kind = SetupKind::conda;
    if (!kind && x_job.venv && !x_site.python.empty() && x_site.python.front().kind == PythonWay::uv)
      kind = SetupKind::uv;
    if (!kind && x_job.venv) kind = SetupKind::venv;
    if (!kind && x_job.container) kind = SetupKind::container;
    if (!kind) kind = recommended_kind();
    x_plan.kind = *kind;
    const auto name = model::word_of(x_plan.kind);
    x_recipe = recipe(model::find_word<PythonWay>(name));
    if (!x_spec.kind && x_recipe)
      x_plan.notes.emplace_back(fmt::format("{}: what the site recommends", name), x_recipe->origin);
    // Where the site has a Python of its own in a module, an environment is made with it.
    if (!x_recipe && (x_plan.kind == SetupKind::venv || x_plan.kind == SetupKind::uv))
      x_recipe = recipe(PythonWay::module);
    if (x_plan.kind == SetupKind::libtorch)
      x_recipe = recipe(PythonWay::wheelhouse) ? recipe(PythonWay::wheelhouse) : recipe(PythonWay::venv);
    if (x_plan.kind == SetupKind::wheelhouse && !x_recipe)
      error("request/setup", x_site.name + " has no wheels of its own in its profile",
            "--setup venv or --setup conda take PyTorch's");
    if (x_plan.kind == SetupKind::container && (!x_recipe || x_recipe->image.tool.empty()))
      error("request/setup",
            fmt::format("the profile of {} does not say how images are built there", x_site.name),
            "--setup venv makes an environment without an image");
    if (x_job.container && x_plan.kind != SetupKind::container) choose_image();
  }

  /// An environment on top of an image.
  void choose_image() {
    x_plan.squashed.emplace(); // whatever else is wrong: nothing is chosen for the host
    if (x_plan.kind != SetupKind::venv)
      return error(
          "usage/setup",
          fmt::format("--setup {} makes an environment without an image", model::word_of(x_plan.kind)),
          "leave --container out; --setup venv makes one on top of an image");
    auto inside = facts();
    inside.container = leaves_host(x_job, x_images);
    const auto* rule = first_that_applies(x_images, inside);
    if (!rule || !rule->squashfs.known)
      return error(
          "request/setup",
          fmt::format("the profile of {} does not say how an environment on top of {} image is mounted",
                      x_site.name, rule ? "such an" : "an"),
          "leave --container out");
    const bool by_srun = rule->engine == model::ContainerEngine::edf;
    if (by_srun && !fits_edf(x_job.container->value + (x_job.venv ? x_job.venv->value : "")))
      return error("usage/container", "an EDF cannot name a file with quotes, backslashes or dollars",
                   "rename it");
    if (by_srun && x_plan.offline_nodes)
      return error("request/setup", "an EDF's image is entered on a node, and the nodes have no internet",
                   "leave --container out");
    if (by_srun && !x_job.account && x_site.flag("account").policy == model::Policy::required)
      return error("usage/account", "an EDF's image is entered by srun, in a job that is charged",
                   "say --account NAME");
    if (!x_job.venv || !is_squashed(x_job.venv->value))
      return error("usage/venv", "an environment on top of an image is one file",
                   "say where, on a file system that all nodes see: --venv /project/me/env.sqsh");
    if (x_spec.packages.empty())
      error("usage/packages", "the image has its packages already",
            "say what it lacks: --packages 'optuna wandb'");
    std::vector<std::string> options;
    for (const auto& option : rule->options)
      if (option.find("{image}") == std::string::npos) options.push_back(option);
    x_plan.squashed = SquashedSetup{rule->engine,
                                    x_job.container->value,
                                    rule->image_variable,
                                    options,
                                    rule->enter,
                                    rule->squashfs.at,
                                    rule->squashfs.options,
                                    by_srun ? step_of(x_job) : std::vector<std::string>{}};
    x_plan.notes.emplace_back(
        "jobs mount it with the image: one file for the file system instead of thousands",
        rule->squashfs.origin);
    x_recipe = nullptr; // what the host's Python needs is of no use inside
    x_image_rule = rule;
  }

  void choose_place() {
    switch (x_plan.kind) {
    case SetupKind::conda:
      x_plan.use = "--conda";
      x_plan.place = x_job.conda ? x_job.conda->value : "torch";
      break;
    case SetupKind::container:
      x_plan.use = "--container";
      if (is_module_image()) x_plan.easyconfig = util::replace_all(x_job.container->value, "/", "-") + ".eb";
      if (x_job.container)
        x_plan.place = x_job.container->value;
      else
        error("usage/container", "the image needs a path",
              "say where it is built: --container /project/me/torch.sif");
      break;
    case SetupKind::wheelhouse: // tried in a folder that goes away; what stays is the list of packages
      x_plan.use = "--wheelhouse";
      x_plan.place = "requirements.txt";
      break;
    default:
      x_plan.use = x_plan.squashed ? "--container IMAGE --venv" : "--venv";
      if (x_job.venv) {
        x_plan.place = x_job.venv->value;
      } else if (x_recipe && !x_recipe->where.empty() && x_recipe->kind != PythonWay::wheelhouse) {
        x_plan.place = x_recipe->where + "/torch";
        x_plan.place_expression = true;
      } else if (!x_spec.kind && x_site.storage.scratch.substr(0, 1) == "$") {
        x_plan.place = x_site.storage.scratch + "/torch";
        x_plan.place_expression = true;
        if (const auto& days = x_site.storage.scratch_days)
          x_plan.notes.emplace_back(
              fmt::format(
                  "scratch removes files that nobody has touched for {} days; --venv chooses another place",
                  *days),
              x_site.storage.origin);
      } else {
        error("usage/venv", "the environment needs a path",
              "say where, on a file system that all nodes see: --venv /project/me/torch");
      }
    }
    x_plan.pack = x_spec.pack;
    const bool can_pack =
        x_plan.kind == SetupKind::conda || x_plan.kind == SetupKind::venv || x_plan.kind == SetupKind::uv;
    if (!x_plan.pack.empty() && !(can_pack && is_archive(x_plan.pack)))
      error("usage/pack",
            can_pack ? "'" + x_plan.pack + "' is no archive"
                     : "only conda and virtual environments are packed",
            "as --setup conda --pack /project/me/env.tar.gz");
    for (const auto* text : {&x_plan.place, &x_plan.pack})
      if (!text->empty() && !is_one_line(*text))
        error("usage/setup", "an environment's name or path is one line of text", {});
  }

  void read_packages() {
    std::vector<std::string> words;
    if (x_spec.packages.empty()) {
      words =
          x_recipe && !x_recipe->packages.empty() ? x_recipe->packages : std::vector<std::string>{"torch"};
    } else {
      words = requirement_words(x_spec.packages, "--packages", x_findings);
    }
    if (x_plan.kind == SetupKind::libtorch) add_once(words, "numpy");
    if (!words.empty() && words.front() == "-r") {
      if (x_plan.kind == SetupKind::container)
        error("usage/packages", "an image is built from packages by name, not from a requirements file",
              "as --packages 'torch numpy'");
      x_plan.packages = words;
      words = {"torch"};
    }
    for (const auto& word : words)
      (is_torch_package(word) ? x_plan.torch_packages : x_plan.packages).push_back(word);
  }

  void choose_index() {
    if (x_plan.squashed || !x_plan.easyconfig.empty()) {
      const bool any =
          !x_spec.cuda.empty() || !x_spec.rocm.empty() || !x_spec.python.empty() || !x_spec.pack.empty();
      if (any)
        error("usage/setup", "CUDA, ROCm and Python are the image's own",
              "leave --cuda, --rocm, --python and --pack out");
      if (!x_plan.easyconfig.empty() && !x_spec.packages.empty())
        error("usage/packages", "the recipe says what is in the image",
              "leave --packages out; --setup venv --container " + x_plan.place +
                  " --venv FILE.sqsh adds to it");
      return;
    }
    if (x_recipe && x_recipe->kind == PythonWay::wheelhouse) {
      x_plan.list_wheels = x_recipe->list_wheels;
      for (const auto* version : {&x_spec.cuda, &x_spec.rocm})
        if (!version->empty())
          error("usage/setup", "the site's own wheels are built for its GPUs: there is nothing to choose",
                "leave --cuda and --rocm out");
    } else {
      auto target = x_nodes.target;
      if (x_plan.kind == SetupKind::container && x_recipe) {
        target.toolkit_max = target.vendor == GpuVendor::amd ? x_recipe->image.rocm : x_recipe->image.cuda;
        target.limit = "base image";
      }
      const bool amd = target.vendor == GpuVendor::amd;
      target.toolkit_wanted = amd ? x_spec.rocm : x_spec.cuda;
      if (!(amd ? x_spec.cuda : x_spec.rocm).empty())
        error("usage/setup", fmt::format("the GPUs there are {}'s", amd ? "AMD" : "NVIDIA"),
              amd ? "say --rocm VERSION" : "say --cuda VERSION");
      const auto choice = choose_wheels(target);
      if (!choice.index) error("request/setup", choice.reason, choice.hint);
      x_plan.index = choice.index;
      x_plan.index_reason = choice.reason;
    }
    x_plan.python = x_spec.python;
    if (!x_plan.python.empty() && x_plan.python.find_first_not_of("0123456789.") != std::string::npos)
      error("usage/python", "'" + x_plan.python + "' is no version of Python", "as --python 3.12");
    if (!x_plan.python.empty()) return;
    // All are "3.NN".
    x_plan.python = x_plan.index && x_plan.index->python_to < k_python ? x_plan.index->python_to : k_python;
  }

  void add_modules(const std::vector<std::string>& modules, const model::Origin& origin) {
    for (const auto& text : modules) {
      const bool is_path = util::starts_with(text, "use:");
      x_plan.modules.push_back({is_path ? text.substr(4) : text, is_path, origin});
    }
  }

  /// Downloads do not fit into a home's quota. On a login node there is no job whose variables could name the
  /// place.
  void place_downloads() {
    const auto& storage = x_site.storage;
    if (x_plan.squashed || x_plan.kind == SetupKind::container ||
        storage.scratch.find("$SLURM") != std::string::npos ||
        storage.scratch.find("${SLURM") != std::string::npos)
      return;
    const auto* name = x_plan.kind == SetupKind::uv ? "UV_CACHE_DIR" : "PIP_CACHE_DIR";
    if (const auto place = place_in_scratch(x_site, name, x_plan.kind == SetupKind::uv ? "uv" : "pip");
        !place.empty())
      x_plan.downloads.push_back({name, place, true, model::Scope::batch, storage.origin});
  }

  void add_software() {
    place_downloads();
    x_plan.modules_reset = x_site.modules_reset.value;
    const model::Origin libtorch{model::OriginKind::site, "libtorch_modules", {}, {}, {}};
    if (x_plan.kind == SetupKind::libtorch && !x_site.libtorch_modules.empty()) {
      add_modules(x_site.libtorch_modules, libtorch);
    } else {
      for (const auto& rule : x_site.modules)
        if (applies(rule.when, facts())) add_modules(rule.load, rule.origin);
      if (x_recipe) add_modules(x_recipe->modules, x_recipe->origin);
      if (x_image_rule) add_modules(x_image_rule->modules, x_image_rule->origin);
      if (x_image_rule && !x_image_rule->image_variable.empty())
        add_modules({x_job.container->value}, x_job.container->origin);
    }
    for (const auto& module : x_job.modules) add_modules({module.value}, module.origin);
    if (x_recipe) {
      x_plan.base_image = x_recipe->image.base_image;
      for (const auto& other : x_recipe->origin.superseded)
        x_plan.notes.emplace_back(fmt::format("instead of {}: {}", other.value, other.why), x_recipe->origin);
    }
    if (x_plan.kind != SetupKind::libtorch) return;
    x_plan.link_directories = x_site.libtorch_link_directories;
    std::vector<std::string> archs;
    for (const auto& arch : x_nodes.target.archs)
      if (util::starts_with(arch, "sm_"))
        archs.push_back(arch.substr(3, arch.size() - 4) + "." + arch.back());
    x_plan.cuda_archs = util::join(archs, ";");
  }

  const SetupSpec& x_spec;
  const model::JobSpec& x_job;
  const model::Site& x_site;
  SetupPlan x_plan;
  diag::Diagnostics x_findings;
  SetupNodes x_nodes;
  const model::PythonRule* x_recipe = nullptr;
  const ContainerRules x_images =
      x_job.container ? container_rules(x_site, x_job) : ContainerRules{}; ///< those for the request's image
  const model::ContainerRule* x_image_rule = nullptr; ///< of the image that the environment lies on
};

} // namespace

SetupResult plan_setup(const SetupSpec& spec, const model::JobSpec& job, const model::Site& site) {
  return SetupPlanner(spec, job, site).run();
}

} // namespace hpcml::plan
