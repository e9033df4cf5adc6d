// SPDX-License-Identifier: MIT
// The line by which a script has itself run by `hpcml internal batch`, and what that does at which event.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "core/util/wrap_text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

bool requeues(const model::Plan& plan) { return plan.requeue && plan.requeue->requeues; }

bool is_expedited(const model::Plan& plan) { return plan.requeue && plan.requeue->slurm; }

/// Whether something is asked for that the job does by hpcml whatever starts its ranks.
bool requests_survival(const model::Plan& plan) {
  const bool has_directory = plan.requeue && !plan.requeue->checkpoint_dir.empty();
  return plan.saving || requeues(plan) || is_expedited(plan) || has_directory || plan.layout.spare_nodes > 0;
}

/// Whether the header counts the GPUs of all nodes: a step on fewer has to name how many it has.
bool counts_gpus_as_total(const model::Plan& plan) {
  return std::any_of(plan.directives.begin(), plan.directives.end(),
                     [](const auto& directive) { return directive.name == "--gpus"; });
}

/// Time before the limit at which the ranks are asked to save, as --save-before accepts it: "10m".
std::string lead_time(const model::Plan& plan) {
  const auto seconds = plan.saving->seconds;
  return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}s", seconds);
}

/// True if the batch process serves the rendezvous store of the ranks of hpcml launch. A port that the site
/// prescribes is the programs' own, and agents serve a store for each start of their ranks.
bool serves_store(const model::Plan& plan) {
  return model::needs_rendezvous(plan.ranks, plan.tasks()) && !has_site_port(plan.rendezvous) &&
         !plan.launcher.has_own_agent();
}

/// The words of the command, each with who decided it.
class BatchWords {
public:
  explicit BatchWords(const model::Plan& plan) : x_plan(plan) {}

  ScriptWords make(Reasons& reasons) {
    add_ranks();
    add_saving();
    add_requeue();
    add_spare_nodes();
    add_stage();
    explain_rule("\"$0\" \"$@\"",
                 "this script with its arguments; HPCML_BATCH keeps it from starting hpcml again");
    reasons = std::move(x_reasons);
    return std::move(x_words);
  }

private:
  void add(const char* option, const std::string& value) {
    x_words.push_back(ScriptWord::literal(option));
    x_words.push_back(ScriptWord::literal(value));
  }
  void add_expression(const char* option, const std::string& value) {
    x_words.push_back(ScriptWord::literal(option));
    x_words.push_back(ScriptWord::expression(value));
  }
  void add_switch(const char* option) { x_words.push_back(ScriptWord::literal(option)); }
  void explain(std::string about, const model::Origin& origin) {
    x_reasons.push_back({std::move(about), origin});
  }
  void explain_rule(std::string about, std::string rule) {
    explain(std::move(about), by_rule(std::move(rule)).front().origin);
  }

  /// Ranks of hpcml launch need the job's key, a store, and the address of both.
  void add_ranks() {
    const auto& launcher = x_plan.launcher;
    if (!launcher.choice.is_hpcml()) {
      add("--launcher", launcher.choice.name());
      return explain_rule("--launcher " + launcher.choice.name(),
                          "only the ranks of hpcml launch need a key and a store of the job");
    }
    const auto& endpoint = x_plan.rendezvous;
    const bool is_prescribed = has_site_port(endpoint);
    if (serves_store(x_plan)) {
      explain_rule("serves the ranks' rendezvous store",
                   "it serves before any rank starts, and stays when one of them ends");
    } else {
      const auto* server = launcher.has_own_agent() ? "agents" : is_prescribed ? "rank0" : "none";
      add("--store", server);
      explain_rule(std::string("--store ") + server,
                   launcher.has_own_agent()
                       ? "the agents serve the store, again for each restart of the ranks"
                   : is_prescribed ? "rank 0 serves the store at the site's port (--master-port)"
                                   : "the ranks need no rendezvous");
    }
    add_address();
  }

  void add_address() {
    const auto& endpoint = x_plan.rendezvous;
    const auto count = x_words.size();
    if (!endpoint.interface.empty()) {
      add("--interface", endpoint.interface);
    } else if (!endpoint.from_env.empty()) {
      add_expression("--host", "\"$" + endpoint.from_env + "\"");
    } else if (endpoint.ipv4 || !endpoint.suffix.empty()) {
      if (!endpoint.suffix.empty())
        add_expression("--host", quote_path("${SLURMD_NODENAME}" + endpoint.suffix));
      if (endpoint.ipv4) add_switch("--ipv4");
    }
    if (x_words.size() == count) return;
    explain("sets the address of the ranks' rendezvous", endpoint.origin);
  }

  void add_saving() {
    if (!x_plan.saving) return;
    const auto& saving = *x_plan.saving;
    add("--save-before", lead_time(x_plan));
    add("--save-signal", saving.signal.text());
    explain("--save-before", saving.requested_by);
    explain("--save-signal " + saving.signal.text(), saving.chosen);
  }

  void add_requeue() {
    if (!x_plan.requeue) return;
    const auto& requeue = *x_plan.requeue;
    if (requeue.requeues) {
      add("--max-requeues", std::to_string(requeue.most));
      explain(fmt::format("--max-requeues {}", requeue.most), requeue.bound);
      if (!requeue.requeue_on.empty()) {
        add("--requeue-on", requeue.requeue_on.text());
        explain_rule("--requeue-on", "what ended the run is in its record, or Slurm reports it");
      }
      explain("requeues the job", requeue.origin);
      if (x_plan.submit_command.value != "sbatch") add("--submit-command", x_plan.submit_command.value);
    }
    if (!requeue.checkpoint_dir.empty()) {
      add("--checkpoint-dir", requeue.checkpoint_dir);
      explain_rule("--checkpoint-dir",
                   "the program reads the job's directory in it from HPCML_CHECKPOINT_DIR");
    }
    if (requeue.requeues && x_plan.ranks.log_dir) {
      add("--log-dir", x_plan.ranks.log_dir->value.text());
      explain_rule("--log-dir", "the record of the run there names what ended it");
    }
    if (requeue.chain) add("--chain", fmt::format("{}:{}", requeue.chain->first, requeue.chain->number));
    if (!requeue.slurm) return;
    add_switch("--expedited");
    explain("--expedited", requeue.slurm->origin);
  }

  void add_spare_nodes() {
    const auto& layout = x_plan.layout;
    if (layout.spare_nodes == 0) return;
    add("--program-nodes", std::to_string(layout.nodes));
    explain_rule("--program-nodes", "the healthy ones of the job's nodes run the program");
    // The check of the nodes gets no GPUs by such a total. NVIDIA's driver shows them nevertheless, AMD's
    // does not.
    const bool hides_gpus = counts_gpus_as_total(x_plan) && x_plan.gpu_vendor == model::GpuVendor::amd;
    const bool counts = x_plan.gpu_type.empty() && !hides_gpus;
    if (counts && layout.gpus_held > 0) add("--gpus-per-node", std::to_string(layout.gpus_held));
  }

  void add_stage() {
    if (!stages_by_hpcml(x_plan)) return;
    add_expression("--stage", quote_path(stage_disk(x_plan)));
    if (const auto launcher = node_launcher(x_plan); !launcher.empty()) add("--node-launcher", launcher);
    explain_rule("--stage", "a node's disk belongs to all who use the node");
  }

  const model::Plan& x_plan;
  ScriptWords x_words;
  Reasons x_reasons;
};

/// The shell of the script's first line, with its options: of "#!/bin/bash -l" a login shell also reads the
/// body.
std::string shell_of(const model::Plan& plan) {
  std::string words;
  const auto shell = plan.shebang.substr(std::min<std::size_t>(plan.shebang.size(), 2));
  for (const auto& word : util::split(shell, ' '))
    if (!word.empty() && !word.ends_with("/env"))
      words += (words.empty() ? "" : " ") + (word == "/bin/bash" ? "bash" : quote_word(word));
  return words.empty() ? "bash" : words;
}

void add_events_of_saving(const model::Plan& plan, std::string& text) {
  text += fmt::format("{} before the time limit: asks the ranks to save (SIG{}) and waits for them{}\n",
                      lead_time(plan), plan.saving->signal.text(),
                      requeues(plan) ? ", then requeues the job" : "");
  if (requeues(plan))
    text += "the ranks have not ended shortly before the limit: requeues the job without waiting further\n";
}

/// How the ranks are asked to save, and where.
std::string describe_saving(const model::Plan& plan) {
  const bool has_directory = plan.requeue && !plan.requeue->checkpoint_dir.empty();
  // hpcml launch spares programs that the signal would kill. Slurm itself signals the tasks of other
  // launchers.
  const auto signal = plan.saving->signal.text();
  return fmt::format(" {} before the time limit{} it sends SIG{} to {}, to save {}and exit.", lead_time(plan),
                     signal == model::k_limit_signal ? "" : fmt::format(" (SIG{})", model::k_limit_signal),
                     signal, plan.launcher.choice.is_hpcml() ? "ranks with a handler" : "the tasks",
                     has_directory ? "in $HPCML_CHECKPOINT_DIR " : "");
}

/// "a lost node or preemption": the causes of --requeue-on.
std::string describe_causes(const std::vector<std::string>& words) {
  std::vector<std::string> causes;
  for (const auto& word : words)
    causes.push_back(word == "node"         ? "a lost node"
                     : word == "preempted"  ? "preemption"
                     : word == "launcher"   ? "an error of hpcml"
                     : word == "time-limit" ? "the time limit"
                                            : word);
  return util::join(causes, " or ");
}

/// After which events the job is requeued, and how often.
std::string describe_requeue(const model::Plan& plan) {
  const auto& requeue = *plan.requeue;
  const auto& words = requeue.requeue_on.words();
  const bool has_spare_nodes = plan.layout.spare_nodes > 0 && util::contains(words, "node");
  const auto action =
      fmt::format("{}requeues the job up to {}", has_spare_nodes ? "restarts on spare nodes or " : "",
                  util::counted(requeue.most, "time"));
  if (words.empty()) return fmt::format(" {} {}.", plan.saving ? "Then it" : "It", action);
  const auto causes = describe_causes(words);
  return plan.saving ? fmt::format(" Then, or after {}, it {}.", causes, action)
                     : fmt::format(" It {} after {}.", action, causes);
}

/// What readers of the script must know of hpcml internal batch: what happens at the time limit and after
/// failures, and what names in its line mean.
std::vector<std::string> describe_batch(const model::Plan& plan) {
  std::string text = "hpcml runs the lines below in a child";
  if (plan.layout.spare_nodes > 0)
    text += fmt::format(", on {} of {} (HPCML_RUN_NODES)", util::counted(plan.layout.nodes, "healthy node"),
                        plan.layout.nodes_requested());
  else if (!plan.saving && !requeues(plan) && plan.launcher.choice.is_hpcml())
    text += serves_store(plan) ? " and serves the ranks' rendezvous store"
            : plan.launcher.has_own_agent()
                ? ", with a secret for the agents, which serve the rendezvous store"
                : ", with a secret for the ranks";
  text += ".";
  if (plan.saving) text += describe_saving(plan);
  if (requeues(plan)) text += describe_requeue(plan);
  if (!plan.saving && plan.requeue && !plan.requeue->checkpoint_dir.empty())
    text += " $HPCML_CHECKPOINT_DIR is the job's.";
  constexpr std::size_t k_comment_columns = 108; // 110 with "# "
  auto lines = util::wrap_text(text, k_comment_columns);
  // Where to read more, if that needs no line.
  const std::string_view more = " See 'hpcml internal batch -h'.";
  if (lines.back().size() + more.size() <= k_comment_columns) lines.back() += more;
  return lines;
}

} // namespace

bool runs_in_batch(const model::Plan& plan) {
  return plan.launcher.choice.is_hpcml() || requests_survival(plan);
}

ScriptLines make_batch_line(const model::Plan& plan) {
  if (!runs_in_batch(plan)) return {};
  Reasons reasons;
  ScriptWords words{ScriptWord::expression("exec \"$HPCML\" internal batch")};
  for (auto& word : BatchWords(plan).make(reasons)) words.push_back(std::move(word));
  words.push_back(ScriptWord::expression("-- " + shell_of(plan) + " \"$0\" \"$@\""));
  ScriptLines lines{Verbatim{render_block("find_hpcml", {{"path", quote_word(plan.hpcml_path.value)}}),
                             because(plan.hpcml_path.origin)}};
  const auto rule = by_rule("signals, requeues and services of the job are handled outside of the shell");
  for (auto& text : describe_batch(plan)) lines.push_back(Comment{std::move(text), rule});
  lines.push_back(
      Verbatim{"[[ ${HPCML_BATCH-0} == \"$SLURM_JOB_ID\" ]] ||\n  " + wrap_words(words, 2, "    "), reasons});
  return lines;
}

std::string explain_events(const model::Plan& plan) {
  if (!runs_in_batch(plan)) return {};
  std::string text;
  if (plan.saving) add_events_of_saving(plan, text);
  text += fmt::format(
      "SIGTERM (scancel, preemption, the time limit): {}waits for the steps until Slurm kills the job\n",
      plan.saving ? "asks the ranks to save, and " : "");
  if (requeues(plan)) {
    const auto& requeue = *plan.requeue;
    for (const auto& word : requeue.requeue_on.words())
      text += fmt::format("the run ended by {}: {}requeues the job\n", word,
                          word == "node" && plan.layout.spare_nodes > 0
                              ? "starts again on other nodes of this job, or "
                              : "");
    text += fmt::format(
        "the job was restarted {}: does not requeue it again; 'hpcml submit --continue JOB' does\n",
        util::counted(requeue.most, "time"));
    text += "slurmctld does not answer: repeats the requeue until it does\n";
    text += "a node was found faulty: excludes it from the next start\n";
  }
  text += fmt::format("the script ends: {}ends with its exit code\n",
                      stages_by_hpcml(plan) ? "removes $HPCML_STAGE on each node, and " : "");
  return "\nhpcml internal batch does at these events:\n" + text;
}

ScriptWords healthy_node_words(const model::Plan& plan) {
  const auto& layout = plan.layout;
  if (layout.spare_nodes == 0) return {};
  ScriptWords words = literals({"--nodes=" + std::to_string(layout.nodes)});
  words.push_back(ScriptWord::expression("--nodelist=\"$HPCML_RUN_NODES\""));
  if (counts_gpus_as_total(plan))
    words.push_back(ScriptWord::literal("--gpus=" + std::to_string(layout.nodes * layout.gpus_per_node)));
  if (!plan.launcher.spawns)
    words.push_back(ScriptWord::literal("--ntasks=" + std::to_string(layout.nodes * layout.tasks_per_node)));
  return words;
}

} // namespace hpcml::render
