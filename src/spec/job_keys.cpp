// SPDX-License-Identifier: MIT
#include "spec/job_keys.hpp"

#include <fmt/format.h>

#include "util/text.hpp"

namespace hpcml::spec {

namespace {

using model::JobSpec;
using model::Known;
using model::Origin;
using model::Sourced;
using Fault = std::optional<util::Error>;

template <class T> auto merge_known(Known<T> JobSpec::*member) {
  return [member](JobSpec& job, const JobSpec& over) {
    if (over.*member) job.*member = over.*member;
  };
}

JobKey text_key(std::string name, Known<std::string> JobSpec::*member) {
  return {
      name,
      [name, member](JobSpec& job, ObjectReader& root) { job.*member = root.known(name, root.text(name)); },
      [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
        const auto fault = text_fault(text, TextRule::line);
        if (!fault.empty()) return util::Error{fault};
        job.*member = Sourced<std::string>{text, origin};
        return std::nullopt;
      },
      merge_known(member)};
}

template <class E> JobKey choice_key(std::string name, Known<E> JobSpec::*member) {
  return {name,
          [name, member](JobSpec& job, ObjectReader& root) {
            job.*member = root.known(name, root.template choice<E>(name));
          },
          [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
            const auto value = model::parse_word<E>(text);
            if (!value) return value.error();
            job.*member = Sourced<E>{*value, origin};
            return std::nullopt;
          },
          merge_known(member)};
}

JobKey number_key(std::string name, Known<unsigned> JobSpec::*member, unsigned least) {
  return {name,
          [name, member, least](JobSpec& job, ObjectReader& root) {
            job.*member = root.known(name, root.number(name, least));
          },
          [member, least](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
            const auto number = util::parse_unsigned(text);
            if (!number || *number < least || *number > 1000000)
              return util::Error{
                  fmt::format("must be a whole number from {} to 1000000, not \"{}\"", least, text)};
            job.*member = Sourced<unsigned>{static_cast<unsigned>(*number), origin};
            return std::nullopt;
          },
          merge_known(member)};
}

util::Result<bool> parse_bool(const std::string& text) {
  if (text == "1" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "false" || text == "no") return false;
  return util::Error{fmt::format("must be true or false, not \"{}\"", text)};
}

JobKey bool_key(std::string name, Known<bool> JobSpec::*member) {
  return {
      name,
      [name, member](JobSpec& job, ObjectReader& root) { job.*member = root.known(name, root.flag(name)); },
      [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
        const auto yes = parse_bool(text);
        if (!yes) return yes.error();
        job.*member = Sourced<bool>{*yes, origin};
        return std::nullopt;
      },
      merge_known(member)};
}

/// A switch without an origin: on in either job means on.
JobKey switch_key(std::string name, bool JobSpec::*member) {
  return {name,
          [name, member](JobSpec& job, ObjectReader& root) { job.*member = root.flag(name).value_or(false); },
          [member](JobSpec& job, const std::string& text, const Origin& /*origin*/) -> Fault {
            const auto yes = parse_bool(text);
            if (!yes) return yes.error();
            job.*member = *yes;
            return std::nullopt;
          },
          [member](JobSpec& job, const JobSpec& over) { job.*member = job.*member || over.*member; }};
}

/// A value with a type of its own; a bare number in the file is read as its text ("time": 10 is ten minutes).
template <class T> JobKey parsed_key(std::string name, Known<T> JobSpec::*member) {
  return {name,
          [name, member](JobSpec& job, ObjectReader& root) {
            const auto* node = root.raw(name);
            if (!node) return;
            if (!node->is(JsonKind::integer)) {
              job.*member = root.known(name, root.template parsed<T>(name));
              return;
            }
            auto value = T::parse(std::to_string(node->integer));
            if (value)
              job.*member = Sourced<T>{*value, root.origin(name)};
            else
              root.report_value(name, value.error().what, value.error().hint);
          },
          [member](JobSpec& job, const std::string& text, const Origin& origin) -> Fault {
            auto value = T::parse(text);
            if (!value) return util::Error{"is wrong: " + value.error().what, value.error().hint};
            job.*member = Sourced<T>{*value, origin};
            return std::nullopt;
          },
          merge_known(member)};
}

JobKey list_key(std::string name, std::vector<Sourced<std::string>> JobSpec::*member) {
  return {name,
          [name, member](JobSpec& job, ObjectReader& root) {
            for (auto& text : root.texts(name)) (job.*member).push_back({std::move(text), root.origin(name)});
          },
          nullptr,
          [member](JobSpec& job, const JobSpec& over) {
            (job.*member).insert((job.*member).end(), (over.*member).begin(), (over.*member).end());
          }};
}

JobKey env_key() {
  return {"env",
          [](JobSpec& job, ObjectReader& root) {
            for (auto& [name, value] : root.text_map("env", TextRule::variable, TextRule::line))
              job.env.push_back({name, {value, root.origin("env")}});
          },
          nullptr,
          [](JobSpec& job, const JobSpec& over) {
            job.env.insert(job.env.end(), over.env.begin(), over.env.end());
          }};
}

} // namespace

const std::vector<JobKey>& job_keys() {
  static const std::vector<JobKey> k_keys = {
      text_key("partition", &JobSpec::partition),
      number_key("nodes", &JobSpec::nodes, 1),
      number_key("gpus-per-node", &JobSpec::gpus_per_node, 0),
      number_key("tasks-per-node", &JobSpec::tasks_per_node, 1),
      number_key("gpus-per-task", &JobSpec::gpus_per_task, 0),
      number_key("cpus-per-task", &JobSpec::cpus_per_task, 1),
      number_key("threads-per-core", &JobSpec::threads_per_core, 1),
      choice_key("spill", &JobSpec::spill),
      parsed_key("rank-order", &JobSpec::rank_order),
      parsed_key("mem", &JobSpec::mem),
      parsed_key("time", &JobSpec::time),
      text_key("account", &JobSpec::account),
      text_key("qos", &JobSpec::qos),
      text_key("job-name", &JobSpec::job_name),
      text_key("output", &JobSpec::output),
      parsed_key("launcher", &JobSpec::launcher),
      choice_key("backend", &JobSpec::backend),
      choice_key("gpu-visibility", &JobSpec::gpu_visibility),
      choice_key("bind-check", &JobSpec::bind_check),
      text_key("gpu-type", &JobSpec::gpu_type),
      text_key("venv", &JobSpec::venv),
      text_key("conda", &JobSpec::conda),
      text_key("wheelhouse", &JobSpec::wheelhouse),
      text_key("container", &JobSpec::container),
      choice_key("container-engine", &JobSpec::container_engine),
      list_key("bind", &JobSpec::binds),
      list_key("stage", &JobSpec::stage),
      bool_key("container-enter", &JobSpec::container_enter),
      list_key("module", &JobSpec::modules),
      env_key(),
      list_key("sbatch", &JobSpec::sbatch),
      list_key("srun", &JobSpec::srun),
      text_key("signal", &JobSpec::signal),
      bool_key("requeue", &JobSpec::requeue),
      text_key("array", &JobSpec::array),
      text_key("dependency", &JobSpec::dependency),
      switch_key("nccl-debug", &JobSpec::nccl_debug),
      switch_key("report", &JobSpec::report),
      switch_key("preflight", &JobSpec::preflight),
      text_key("hpcml-path", &JobSpec::hpcml_path),
  };
  return k_keys;
}

model::JobSpec read_job(ObjectReader& root) {
  model::JobSpec job;
  for (const auto& key : job_keys()) key.from_file(job, root);
  job.command = root.texts("command");
  return job;
}

} // namespace hpcml::spec
