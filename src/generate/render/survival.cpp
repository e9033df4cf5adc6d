// SPDX-License-Identifier: MIT
// What a script does before its job ends and behind it: the ranks hear of it and are waited for, the job is
// put back into the queue.
#include <algorithm>

#include "core/util/text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

/// Of the time before the limit so much is left for the requeue itself, in seconds.
unsigned reserve_of(unsigned seconds) { return std::clamp(seconds / 10, 1U, 30U); }

bool requeues(const model::Plan& plan) { return plan.requeue && plan.requeue->requeues; }
/// Whether hpcml finds out about nodes in the job, and its next start leaves out the bad ones.
bool leaves_out(const model::Plan& plan) { return requeues(plan) && plan.launcher.choice.is_hpcml(); }

bool retries_on(const model::Plan& plan, model::FailureClass why) {
  if (!requeues(plan)) return false;
  const auto& words = plan.requeue->requeue_on.words();
  return std::find(words.begin(), words.end(), model::word_of(why)) != words.end();
}

bool retries_preempted(const model::Plan& plan) {
  return plan.saving && retries_on(plan, model::FailureClass::preempted);
}

/// Whether a node that was found bad is a reason to try again.
bool retries_node(const model::Plan& plan) {
  return leaves_out(plan) && retries_on(plan, model::FailureClass::node);
}

/// Whether the script looks into the run's record, or for bad nodes.
bool retries(const model::Plan& plan) {
  const bool recorded = requeues(plan) && !plan.requeue->requeue_on.empty() && plan.ranks.log_dir;
  return recorded || (retries_node(plan) && model::is_on(plan.ranks.preflight));
}

/// Whether the program starts again on other nodes of the same job.
bool starts_again_here(const model::Plan& plan) { return plan.layout.spare_nodes > 0 && retries_node(plan); }

/// A folder that all starts of the job share has it; else the one where the job runs.
std::string bad_nodes_file(const model::Plan& plan) {
  if (!plan.requeue->checkpoint_dir.empty()) return "$HPCML_CHECKPOINT_DIR/bad-nodes";
  const auto name = "bad-nodes-\"$first_job\"";
  if (!plan.ranks.log_dir) return std::string("$PWD/") + name;
  const auto directory = plan.ranks.log_dir->value.text();
  return (directory.starts_with("/") ? "" : "$PWD/") + quote_word(directory) + "/" + name;
}

/// How often the job may be started again, those before it in its chain counted where the script counts them.
std::string most_starts(const model::Plan& plan) {
  if (!plan.requeue) return "0";
  const auto& requeue = *plan.requeue;
  return std::to_string(requeue.most + (leaves_out(plan) && requeue.chain ? requeue.chain->number : 0));
}

/// How the ranks are asked.
void add_saving(const model::Plan& plan, ScriptLines& lines) {
  const auto& saving = *plan.saving;
  const Reasons chosen{{"signal " + saving.signal.text(), saving.chosen}};
  const auto signal = saving.signal.text();
  const std::string unhandled = saving.by_launch()
                                    ? " A program without a handler is not signalled, and runs on."
                                    : " A program without a handler dies of it.";
  lines.push_back(
      Comment{"Programs save and end where they get SIG" + signal + ", or TERM." + unhandled, chosen});
  lines.push_back(Export{model::k_save_variable, signal, false, chosen});
  lines.push_back(
      Verbatim{render_block("survival",
                            {{"word", saving.word},
                             {"left", model::Walltime::of(std::chrono::seconds(saving.seconds)).to_slurm()},
                             {"signal", std::string(model::k_limit_signal)},
                             {"requeues", requeues(plan)},
                             {"retries_preempted", retries_preempted(plan)},
                             {"seconds", std::to_string(saving.seconds - reserve_of(saving.seconds))}}),
               {{"", saving.requested_by}}});
}

/// What the programs find, and how the job is put back.
void add_requeue(const model::Plan& plan, ScriptLines& lines) {
  const auto& requeue = *plan.requeue;
  const Reasons reasons{{"", requeue.origin}};
  const bool leaves = leaves_out(plan), inherits = leaves || requeue.chain;
  lines.push_back(
      Export{"HPCML_RESTART_COUNT",
             inherits ? "$((starts_before + ${SLURM_RESTART_COUNT:-0}))" : "${SLURM_RESTART_COUNT:-0}", true,
             reasons});
  if (!requeue.checkpoint_dir.empty()) {
    lines.push_back(Verbatim{render_block("checkpoint_dir", {{"folder", quote_word(requeue.checkpoint_dir)},
                                                             {"job", inherits ? "first_job" : "this_job"}}),
                             reasons});
  }
  if (!requeue.requeues) return;
  const auto most = most_starts(plan);
  if (leaves)
    lines.push_back(Verbatim{render_block("bad_nodes", {{"file", bad_nodes_file(plan)},
                                                        {"submit", quote_word(plan.submit_command.value)}}),
                             by_rule("a node that failed once would fail the job again")});
  lines.push_back(Verbatim{
      render_block("requeue",
                   {{"most", most},
                    {"leaves_out", leaves},
                    {"times", std::string(leaves ? "$HPCML_RESTART_COUNT" : "${SLURM_RESTART_COUNT:-0}")}}),
      {{"", requeue.origin}, {"at most " + most, requeue.bound}}});
  if (leaves)
    lines.push_back(Verbatim{render_block("begins_on_bad_node", {{"most", most}}),
                             by_rule("a node that failed once would fail the job again")});
  if (!retries(plan)) return;
  const auto& words = requeue.requeue_on.words();
  TemplateData data{{"classes", util::join(words, " | ")},
                    {"node", retries_node(plan)},
                    {"again", starts_again_here(plan)},
                    {"log_dir", false}};
  if (plan.ranks.log_dir) data["log_dir"] = quote_word(plan.ranks.log_dir->value.text());
  lines.push_back(Verbatim{render_block("retry", data), reasons});
}

/// Whether the header counts the GPUs of all nodes: a step on fewer has to say how many it has.
bool counts_gpus_in_all(const model::Plan& plan) {
  return std::any_of(plan.directives.begin(), plan.directives.end(),
                     [](const auto& directive) { return directive.name == "--gpus"; });
}

/// Which nodes run the program.
void add_spares(const model::Plan& plan, ScriptLines& lines) {
  const auto& layout = plan.layout;
  if (layout.spare_nodes == 0) return;
  // A step that overlaps others gets none by such a number (22.05). NVIDIA's driver shows them all the same,
  // AMD's does not.
  const bool none = counts_gpus_in_all(plan);
  const bool counts = plan.gpu_type.empty() && !(none && plan.gpu_vendor == model::GpuVendor::amd);
  lines.push_back(
      Verbatim{render_block("spare_nodes", {{"nodes", std::to_string(layout.nodes)},
                                            {"gpus", std::to_string(counts ? layout.gpus_held : 0)},
                                            {"gpus_option", std::string(none ? "--gpus=0 " : "")},
                                            {"again", starts_again_here(plan)},
                                            {"requeues", requeues(plan)},
                                            {"most", most_starts(plan)}}),
               by_rule("the healthy ones of the job's nodes run the program")});
}

} // namespace

bool expedites(const model::Plan& plan) { return plan.requeue && plan.requeue->slurm; }

ScriptLines make_expedite(const model::Plan& plan) {
  if (!expedites(plan)) return {};
  return {Verbatim{render_block("expedite", {}), because(plan.requeue->slurm->origin)}};
}

bool hears_signals(const model::Plan& plan) { return plan.saving || retries(plan); }

ScriptLines make_survival(const model::Plan& plan) {
  ScriptLines lines;
  const auto chain = plan.requeue ? plan.requeue->chain : std::nullopt;
  const bool has_directory = plan.requeue && !plan.requeue->checkpoint_dir.empty();
  const bool named = plan.saving || requeues(plan) || (has_directory && !chain);
  if (named || chain)
    lines.push_back(
        Verbatim{render_block("this_job", {{"named", named},
                                           {"chained", chain.has_value()},
                                           {"first", chain ? quote_word(chain->first) : std::string()},
                                           {"before", std::to_string(chain ? chain->number : 0)},
                                           {"succeeds", leaves_out(plan)}}),
                 by_rule("one task of an array is not the array, and may have its number")});
  if (plan.requeue) add_requeue(plan, lines);
  add_spares(plan, lines);
  if (plan.saving) add_saving(plan, lines);
  if (hears_signals(plan))
    lines.push_back(
        Verbatim{render_block("run_step", {{"signal", std::string(model::k_limit_signal)},
                                           {"saves", plan.saving.has_value()},
                                           {"saves_and_requeues", plan.saving && requeues(plan)},
                                           {"requeues", requeues(plan)},
                                           {"retries_preempted", retries_preempted(plan)},
                                           {"again", starts_again_here(plan)},
                                           {"retries", retries(plan)}}),
                 by_rule("a shell hears no signal while it waits for a command in the foreground")});
  return lines;
}

ScriptWords healthy_node_words(const model::Plan& plan) {
  const auto& layout = plan.layout;
  if (layout.spare_nodes == 0) return {};
  ScriptWords words = literals({"--nodes=" + std::to_string(layout.nodes)});
  words.push_back(ScriptWord::expression("--nodelist=\"$run_nodes\""));
  if (counts_gpus_in_all(plan))
    words.push_back(ScriptWord::literal("--gpus=" + std::to_string(layout.nodes * layout.gpus_per_node)));
  if (!plan.launcher.spawns)
    words.push_back(ScriptWord::literal("--ntasks=" + std::to_string(layout.nodes * layout.tasks_per_node)));
  return words;
}

Step step_with_signal_trap(const model::Plan& plan, Step step) {
  if (!hears_signals(plan) || step.groups.empty()) return step;
  auto& first = step.groups.front();
  first.insert(first.begin(), ScriptWord::literal("run_step"));
  return step;
}

} // namespace hpcml::render
