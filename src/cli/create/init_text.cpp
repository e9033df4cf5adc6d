// SPDX-License-Identifier: MIT
#include "cli/create/init_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/config/job_keys.hpp"
#include "core/model/site_queries.hpp"
#include "core/site_rules/limits.hpp"
#include "core/util/text.hpp"
#include "hpcml/json_string.hpp"

namespace hpcml::cli {

namespace {

using model::OptionPolicy;

/// Collects lines: comments, keys, and keys that are still to be filled in.
class FileText {
public:
  void comment(const std::string& text) {
    x_text += x_fresh ? "" : "\n";
    x_fresh = true;
    more(text);
  }
  void more(const std::string& text) {
    std::string line = "//";
    // The rest of a list that does not fit on a line continues on the next one, indented.
    const auto margin = text.find_first_not_of(' ');
    const std::string next = "//" + (margin == 0 ? std::string() : std::string(margin + 2, ' '));
    for (const auto& word : util::split(text, ' ')) {
      if (line.size() + word.size() > 110) {
        x_text += "  " + line + "\n";
        line = next;
      }
      line += " " + word;
    }
    x_text += "  " + line + "\n";
  }
  void key(const std::string& name, const std::string& json) {
    x_keys.insert(name);
    line(fmt::format("{}: {},", json_string(name), json));
  }
  void last(const std::string& name, const std::string& json) {
    line(fmt::format("{}: {}", json_string(name), json));
  }
  void open_key(const std::string& name, const std::string& json) {
    line(fmt::format("// {}: {},", json_string(name), json));
  }
  bool has(const std::string& name) const { return x_keys.contains(name); }
  std::string take() { return std::move(x_text); }

private:
  void line(const std::string& text) {
    x_text += "  " + text + "\n";
    x_fresh = false;
  }
  std::string x_text;
  std::set<std::string> x_keys;
  bool x_fresh = true; // no blank line is due
};

std::string describe_node(const model::NodeType& node) {
  std::string text = node.gpu && node.gpu->per_node > 0
                         ? fmt::format("{} {} per node", node.gpu->per_node,
                                       node.gpu->model.empty() ? "GPUs" : node.gpu->model)
                         : "no GPUs";
  if (node.cpu.cores > 0) text += fmt::format(", {} cores", node.cpu.cores);
  if (node.memory) text += ", " + node.memory->value.to_slurm() + " memory";
  return text;
}

std::string describe_partition(const model::Site& site, const model::Partition& partition) {
  std::string text = partition.name + (partition.is_default ? " (default): " : ": ");
  std::vector<std::string> nodes;
  for (const auto& id : partition.node_types)
    if (const auto* node = site.find_node_type(id)) nodes.push_back(describe_node(*node));
  text += nodes.empty() ? "nodes not known" : util::join(nodes, "; or ");
  if (partition.exclusive) text += ", whole nodes";
  if (partition.max_nodes)
    text += fmt::format(", at most {} {}", partition.max_nodes->value,
                        partition.max_nodes->value == 1 ? "node" : "nodes");
  if (partition.max_time) text += ", at most " + partition.max_time->value.to_slurm();
  return text;
}

/// The partition that the file names: the one asked for, the site's default, else the first with GPUs.
const model::Partition* choose_partition(const model::Site& site, const model::JobSpec& job) {
  if (job.partition) return site.find_partition(job.partition->value);
  return site.default_partition(
      [](const auto& partition) { return partition.nameable && !partition.cpu_only; });
}

/// "account" or "qos": what was asked for, else what the site takes, else an example to fill in.
void write_name(FileText& file, const char* name, const model::SbatchOptionRule& rule,
                const model::Known<std::string>& known, const std::string& usual,
                const std::string& example) {
  if (known)
    file.key(name, json_string(known->value));
  else if (!rule.default_value.empty())
    file.key(name, json_string(rule.default_value));
  else if (rule.policy == OptionPolicy::required && !usual.empty())
    file.key(name, json_string(usual));
  else
    file.open_key(name, json_string(rule.pattern_hint.empty() ? example : rule.pattern_hint));
}

std::string requirement(const model::SbatchOptionRule& rule) {
  return (rule.policy == OptionPolicy::required ? "; this site requires it" : "") +
         (rule.pattern_hint.empty() ? std::string() : ", as " + rule.pattern_hint);
}

void write_account(FileText& file, const model::Site& site, const model::JobSpec& job) {
  const auto& rule = site.flag("account");
  if (!rule.takes()) return;
  file.comment("The account that is charged" + requirement(rule));
  write_name(file, "account", rule, job.account, {}, "NAME");
}

std::string describe_qos(const model::Site& site, const model::Qos& qos) {
  std::vector<std::string> parts, places;
  for (const auto& name : qos.partitions)
    if (const auto* partition = site.find_partition(name); partition && partition->nameable)
      places.push_back(name);
  if (!places.empty()) parts.push_back("in " + util::join(places, " and "));
  if (qos.max_nodes)
    parts.push_back(
        fmt::format("at most {} {}", qos.max_nodes->value, qos.max_nodes->value == 1 ? "node" : "nodes"));
  if (qos.max_gpus)
    parts.push_back(fmt::format("at most {} {} in total", qos.max_gpus->value,
                                qos.max_gpus->value == 1 ? "GPU" : "GPUs"));
  if (qos.max_time) parts.push_back(fmt::format("at most {}", qos.max_time->value.to_slurm()));
  if (qos.preemptible) parts.push_back("may be stopped for other jobs");
  return qos.name + (qos.is_default ? " (default)" : "") +
         (parts.empty() ? "" : ": " + util::join(parts, ", "));
}

void write_qos(FileText& file, const model::Site& site, const model::JobSpec& job, const model::Qos* usual) {
  const auto& rule = site.flag("qos");
  if (!rule.takes() || (!job.qos && rule.policy != OptionPolicy::required && site.qos.empty())) return;
  file.comment("Quality of service" + requirement(rule) + (site.qos.empty() ? "" : "; known are:"));
  for (const auto& qos : site.qos) file.more("  " + describe_qos(site, qos));
  const auto candidate =
      std::find_if(site.qos.begin(), site.qos.end(), [&](const auto& qos) { return &qos != usual; });
  write_name(file, "qos", rule, job.qos, usual ? usual->name : "",
             candidate == site.qos.end() ? "NAME" : candidate->name);
}

void write_partition(FileText& file, const model::Site& site, const model::Partition* chosen) {
  if (!site.flag("partition").takes()) {
    file.comment("Jobs here name no partition: Slurm chooses it.");
    return;
  }
  if (site.partitions.empty()) return;
  if (std::none_of(site.partitions.begin(), site.partitions.end(),
                   [](const auto& partition) { return partition.nameable; })) {
    file.comment("Jobs here name no partition: the scheduler chooses it.");
    return;
  }
  file.comment("Partitions of this site:");
  for (const auto& partition : site.partitions)
    if (partition.nameable) file.more("  " + describe_partition(site, partition));
  if (chosen && chosen->nameable) file.key("partition", json_string(chosen->name));
}

unsigned gpus_of(const model::Site& site, const model::Partition* partition) {
  unsigned gpus = 0;
  if (partition)
    for (const auto& id : partition->node_types)
      if (const auto* node = site.find_node_type(id); node && node->gpu && gpus == 0)
        gpus = node->gpu->per_node;
  if (!partition && !site.node_types.empty() && site.node_types.front().gpu)
    gpus = site.node_types.front().gpu->per_node;
  return gpus;
}

void write_size(FileText& file, const model::Site& site, const model::Partition* partition,
                const model::Qos* qos, const model::JobSpec& job) {
  file.comment("How much: nodes, and GPUs on each. One rank runs per GPU.");
  file.key("nodes", std::to_string(job.nodes ? job.nodes->value : 1));
  unsigned gpus = job.gpus_per_node ? job.gpus_per_node->value : gpus_of(site, partition);
  if (const auto& most = site_rules::limit_of(qos, partition, &model::Limits::max_gpus);
      most && !job.gpus_per_node)
    gpus = std::min(gpus, most->value);
  if (gpus > 0 || job.gpus_per_node || site.node_types.empty())
    file.key("gpus-per-node", std::to_string(gpus));
  if (const auto& rule = site.flag("mem"); job.mem || rule.policy == OptionPolicy::required) {
    const auto* node = partition && !partition->node_types.empty()
                           ? site.find_node_type(partition->node_types.front())
                           : nullptr;
    file.comment(std::string("Memory on each node") +
                 (rule.policy == OptionPolicy::required ? "; this site requires it." : "."));
    if (job.mem)
      file.key("mem", json_string(job.mem->value.to_slurm()));
    else if (node && node->memory)
      file.key("mem", json_string(node->memory->value.to_slurm()));
    else
      file.open_key("mem", "\"64G\"");
  }
  const auto hour = model::Walltime::of(std::chrono::hours(1));
  const auto& known = site_rules::limit_of(qos, partition, &model::Limits::max_time);
  const auto limit = known ? std::optional(known->value) : std::nullopt;
  const auto time = job.time ? job.time->value : limit ? std::min(hour, *limit) : hour;
  file.comment("How long at most: \"30m\", \"4h\", \"1-12:00:00\"." +
               (limit ? (qos && qos->max_time ? " The QoS " + qos->name : std::string(" The partition")) +
                            " allows " + limit->to_slurm() + "; short jobs start sooner."
                      : ""));
  file.key("time", json_string(time.to_slurm()));
}

void write_images(FileText& file, const model::Site& site, const model::JobSpec& job) {
  std::vector<model::ContainerEngine> engines;
  for (const auto& rule : site.containers)
    if (rule.image_variable.empty() &&
        std::find(engines.begin(), engines.end(), rule.engine) == engines.end())
      engines.push_back(rule.engine);
  if (job.container)
    file.key("container", json_string(job.container->value));
  else
    for (const auto engine : engines) file.open_key("container", json_string(model::row_of(engine).example));
  if (job.container_engine)
    file.key("container-engine", json_string(model::word_of(job.container_engine->value)));
}

void write_software(FileText& file, const model::Site& site, const model::JobSpec& job) {
  file.comment("The Python environment: one of these, or none for what the site recommends.");
  const auto software = [&](const char* name, const model::Known<std::string>& known,
                            const std::string& example) {
    if (known)
      file.key(name, json_string(known->value));
    else
      file.open_key(name, json_string(example));
  };
  software("venv", job.venv, "~/venvs/train");
  software("conda", job.conda, "NAME");
  if (model::has_python(site, model::PythonPackageSource::wheelhouse))
    software("wheelhouse", job.wheelhouse, "torch numpy");
  write_images(file, site, job);
  if (job.env.empty()) file.open_key("env", "{\"NAME\": \"value\"}");
}

/// Writes the requested keys that have no separate place above.
void write_rest(FileText& file, const model::JobSpec& job) {
  bool first = true;
  for (const auto& key : config::job_keys()) {
    const auto json = key.to_json(job);
    if (!json || file.has(key.name)) continue;
    if (first) file.comment("As asked for:");
    first = false;
    file.key(key.name, *json);
  }
}

void write_pieces(FileText& file, const model::JobSpec& job) {
  file.comment("A training that exceeds the time limit of one job: the number of jobs, one after the other.");
  file.open_key("chain", "4");
  file.comment("The same program with many settings: a job array; SLURM_ARRAY_TASK_ID is the task's number.");
  if (!job.array) file.open_key("array", "\"0-9%2\"");
  file.comment("Several programs in this job: \"steps\" instead of \"command\"; several jobs: \"jobs\".");
  file.open_key(
      "steps",
      "[{\"command\": [\"bash\", \"stage.sh\"], \"once\": true}, {\"command\": [\"python\", \"train.py\"]}]");
  file.open_key("jobs", "[{\"name\": \"train\", \"command\": [\"python\", \"train.py\"]}, {\"name\": "
                        "\"test\", \"after\": \"train\", \"command\": [\"python\", \"test.py\"]}]");
}

} // namespace

std::string render_job_file(const model::Site& site, const model::JobSpec& job) {
  FileText file;
  const auto* partition = choose_partition(site, job);
  const auto* place = partition
                          ? partition
                          : site.default_partition([](const auto& candidate) { return !candidate.cpu_only; });
  const auto* qos =
      job.qos ? site.find_qos(job.qos->value) : site_rules::default_qos(site, place ? place->name : "");
  file.key("site", json_string(site.id));
  write_account(file, site, job);
  write_partition(file, site, partition);
  write_qos(file, site, job, qos);
  write_size(file, site, partition, qos, job);
  write_software(file, site, job);
  write_rest(file, job);
  write_pieces(file, job);
  std::vector<std::string> words;
  for (const auto& word : job.command) words.push_back(json_string(word));
  file.comment("The program and its arguments, one word each.");
  file.last(
      "command",
      "[" + util::join(words.empty() ? std::vector<std::string>{"\"python\"", "\"train.py\""} : words, ", ") +
          "]");
  return "// A job for " + site.name + ". hpcml submit --test-only checks it, hpcml submit submits it.\n" +
         "// Flags (--time 2h) and HPCML_* variables override this file. Text after // is a comment.\n{\n" +
         file.take() + "}\n";
}

} // namespace hpcml::cli
