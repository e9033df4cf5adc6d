// SPDX-License-Identifier: MIT
// Environment, caches, containers, Python and the network of a profile.
#include "spec/site_parts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "util/text.hpp"

namespace hpcml::spec {

namespace {

/// An image may say how it is activated; a profile that fills the variable itself would say what runs.
void check_activation(ObjectReader& container, const model::ContainerRule& rule, const model::Site& site) {
  const auto name = rule.enter.substr(0, 1) == "$" ? rule.enter.substr(1) : std::string();
  const auto sets = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& variable) { return variable.name == name; });
  };
  const bool cached = std::any_of(site.caches.begin(), site.caches.end(),
                                  [&](const auto& cache) { return cache.variables.contains(name); });
  if (name.empty() || (!sets(site.env) && !cached && !site.openmp.contains(name))) return;
  container.report_value(
      "enter",
      fmt::format("{}.enter names ${}, which the profile itself sets: its value would run as a command",
                  container.path(), name),
      "name a variable that the image sets");
}

/// Which images the rule is for, and what jobs in them have.
void read_images(ObjectReader& object, model::ContainerRule& rule) {
  rule.images = read_pattern(object, "images");
  rule.image_variable = object.text("image_variable", TextRule::variable).value_or("");
  if (!rule.image_variable.empty() && model::works_by_slurm(rule.engine))
    object.report_value(
        "image_variable",
        fmt::format("{}.image_variable is for programs before the command, and {} works by options of Slurm",
                    object.path(), model::word_of(rule.engine)),
        "leave it out");
  rule.env = object.text_map("env", TextRule::variable, TextRule::line);
  rule.shows_scratch = object.flag("shows_scratch").value_or(false);
  if (auto squashfs = object.object("squashfs")) {
    rule.squashfs.known = true;
    rule.squashfs.at = squashfs.text("at", TextRule::expression).value_or("");
    rule.squashfs.options = squashfs.texts("options", TextRule::launcher_argument);
    rule.squashfs.origin = squashfs.origin();
    squashfs.finish();
  }
}

/// Engines that are no program before the command but options of Slurm.
void read_container_options(ObjectReader& object, model::ContainerRule& rule) {
  rule.options = object.texts("options", TextRule::option);
  rule.options_on_srun = object.choice("on", {"sbatch", "srun"}) == "srun";
  rule.bind_option = object.text("bind_option", TextRule::option).value_or("");
  rule.prefix = object.text("prefix", TextRule::name).value_or("");
  const auto name = model::word_of(rule.engine);
  if (!rule.prefix.empty() && rule.prefix != name)
    object.report_value("prefix", fmt::format("{}.prefix can only be the engine itself", object.path()),
                        "as \"shifter\"");
  if (model::works_by_slurm(rule.engine) && rule.options.empty())
    object.report_value(
        "engine", fmt::format("{} works by options of Slurm, and {}.options names none", name, object.path()),
        "as \"options\": [\"--environment={image}\"]");
  if (!rule.bind_option.empty() && rule.bind_option.find("{binds}") == std::string::npos)
    object.report_value("bind_option",
                        fmt::format("{}.bind_option does not say where the binds go", object.path()),
                        "as --container-mounts={binds}");
}

} // namespace

void read_environment(ObjectReader& root, model::Site& site) {
  root.each("env", [&](ObjectReader& object) {
    model::EnvRule rule;
    object.require("name", "the variable's name");
    object.require("value", "the variable's value");
    rule.name = object.text("name", TextRule::variable).value_or("");
    rule.expression = object.flag("expression").value_or(false);
    rule.value = object.text("value", rule.expression ? TextRule::expression : TextRule::line).value_or("");
    rule.scope = object.choice<model::Scope>("scope").value_or(rule.scope);
    rule.when = read_when(object);
    rule.origin = object.origin();
    site.env.push_back(std::move(rule));
  });
  root.each("caches", [&](ObjectReader& object) {
    model::CacheRule rule;
    object.require("name", "a name for the directory");
    object.require("base", "the node-local directory in which it is made");
    rule.name = object.text("name", TextRule::name).value_or("");
    rule.base = object.text("base", TextRule::expression).value_or("");
    rule.variables = object.text_map("variables", TextRule::variable, TextRule::word);
    for (const auto& [name, below] : rule.variables) {
      const auto parts = util::split(below, '/');
      if (below.substr(0, 1) == "/" || std::find(parts.begin(), parts.end(), "..") != parts.end())
        object.report_value(
            "variables",
            fmt::format("{}.variables.{} is \"{}\", which does not lie below the cache's folder",
                        object.path(), name, below),
            "a path inside the folder, as cache, or an empty text for the folder itself");
    }
    rule.when = read_when(object);
    rule.origin = object.origin();
    site.caches.push_back(std::move(rule));
  });
  root.each("conflicts", [&](ObjectReader& object) {
    object.require("settings", "NAME or NAME=VALUE, which do not go together");
    object.require("why", "what happens when they meet");
    site.conflicts.push_back({object.texts("settings"), object.text("why").value_or(""), object.origin()});
  });
  site.openmp = root.text_map("openmp", TextRule::variable, TextRule::line);
  site.openmp_origin = root.origin("openmp");
}

void read_software(ObjectReader& root, model::Site& site) {
  root.each("containers", [&](ObjectReader& object) {
    model::ContainerRule rule;
    object.require("engine", "singularity, apptainer, shifter, pyxis, edf or uenv");
    rule.engine = object.choice<model::ContainerEngine>("engine").value_or(rule.engine);
    read_container_options(object, rule);
    read_images(object, rule);
    rule.gpu_flag = object.choice<model::GpuFlag>("gpu_flag").value_or(rule.gpu_flag);
    object.each("binds", [&](ObjectReader& item) {
      model::ContainerBind bind;
      item.require("path", "the path on the host");
      bind.source = item.text("path", TextRule::expression).value_or("");
      bind.target = item.text("target", TextRule::expression).value_or("");
      bind.optional = item.flag("optional").value_or(false);
      bind.origin = item.origin();
      rule.binds.push_back(std::move(bind));
    });
    rule.modules = object.texts("modules", TextRule::word);
    rule.enter = object.text("enter", TextRule::activation).value_or("");
    check_activation(object, rule, site);
    rule.when = read_when(object);
    rule.origin = object.origin();
    site.containers.push_back(std::move(rule));
  });
  root.each("python", [&](ObjectReader& object) {
    model::PythonRule rule;
    object.require("kind", "venv, conda, wheelhouse, uv, module or container");
    rule.kind = object.choice<model::PythonWay>("kind").value_or(rule.kind);
    rule.modules = object.texts("modules", TextRule::word);
    rule.conda_env = object.text("conda_env", TextRule::word).value_or("");
    rule.where = object.text("where", TextRule::expression).value_or("");
    rule.packages = object.texts("packages", TextRule::requirement);
    rule.list_wheels = object.text("list_wheels", TextRule::name).value_or("");
    if (auto build = object.object("image")) {
      rule.image.tool = build.choice("tool", {"cotainr", "easybuild"}).value_or("");
      rule.image.base_image = build.text("base_image", TextRule::word).value_or("");
      rule.image.rocm = build.text("rocm", TextRule::name).value_or("");
      rule.image.cuda = build.text("cuda", TextRule::name).value_or("");
      if (rule.image.tool == "cotainr") build.require("base_image", "the image that cotainr starts from");
      build.finish();
    }
    rule.when = read_when(object);
    rule.origin = object.origin();
    site.python.push_back(std::move(rule));
  });
  site.modules_reset = {root.choice<model::ModulesReset>("modules_reset").value_or(model::ModulesReset::none),
                        root.origin("modules_reset")};
  root.each("modules", [&](ObjectReader& object) {
    object.require("load", "a list of modules");
    site.modules.push_back({object.texts("load", TextRule::word), read_when(object), object.origin()});
  });
  site.libtorch_modules = root.texts("libtorch_modules", TextRule::word);
  site.libtorch_link_directories = root.texts("libtorch_link_directories", TextRule::expression);
}

void read_submit(ObjectReader& root, model::Site& site) {
  auto submit = root.object("submit");
  if (!submit) return;
  const auto conditional = [&](std::string_view list, std::string_view key, TextRule rule,
                               std::vector<model::Conditional>& into) {
    submit.each(list, [&](ObjectReader& object) {
      object.require(key, "what the entry is about");
      into.push_back({object.text(key, rule).value_or(""), read_when(object), object.origin()});
    });
  };
  conditional("hosts", "host", TextRule::line, site.submit.hosts);
  conditional("commands", "command", TextRule::name, site.submit.commands);
  site.submit.require_directories = submit.texts("require_directories", TextRule::expression);
  site.submit.forbid_directories = submit.texts("forbid_directories", TextRule::expression);
  site.submit.origin = submit.origin();
  submit.finish();
}

void read_storage(ObjectReader& root, model::Site& site) {
  auto storage = root.object("storage");
  if (!storage) return;
  site.storage.scratch = storage.text("scratch", TextRule::expression).value_or("");
  site.storage.scratch_days = storage.number("scratch_days", 1, 10000);
  site.storage.project = storage.text("project", TextRule::expression).value_or("");
  site.storage.read_only_on_compute = storage.texts("read_only_on_compute", TextRule::expression);
  site.storage.tmp_is_memory = storage.flag("tmp_is_memory").value_or(false);
  site.storage.origin = storage.origin();
  storage.finish();
}

void read_network(ObjectReader& root, model::Site& site) {
  auto network = root.object("network");
  if (!network) return;
  site.network.interfaces = network.texts("interfaces", TextRule::name);
  site.network.internet_on_compute = network.flag("internet_on_compute");
  site.network.fabric = network.text("fabric").value_or("");
  site.network.proxy = network.text_map("proxy", TextRule::variable, TextRule::line);
  site.network.proxy_origin = network.origin("proxy");
  site.network.proxy_module = network.text("proxy_module", TextRule::word).value_or("");
  site.network.allowed_hosts = network.texts("allowed_hosts");
  if (auto master = network.object("master")) {
    site.network.master.ipv4 = master.flag("ipv4").value_or(false);
    site.network.master.from_env = master.text("from_env", TextRule::variable).value_or("");
    site.network.master.port_from_env = master.text("port_from_env", TextRule::variable).value_or("");
    site.network.master.port = master.number("port", 1024, 65535);
    site.network.master.interface = master.text("interface", TextRule::name).value_or("");
    site.network.master.suffix = master.text("suffix", TextRule::suffix).value_or("");
    site.network.master.origin = master.origin();
    master.finish();
  }
  site.network.origin = network.origin();
  network.finish();
}

} // namespace hpcml::spec
