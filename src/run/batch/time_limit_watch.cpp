// SPDX-License-Identifier: MIT
#include "run/batch/time_limit_watch.hpp"

#include "core/slurm/commands.hpp"
#include "run/batch/job_time.hpp"

namespace hpcml::batch {

namespace {
constexpr std::chrono::seconds k_question_interval(60);
}

void TimeLimitWatch::refresh(const std::string& job, const util::EnvSnapshot& env, Phase phase) {
  if (const auto record = x_question.take())
    if (const auto end = parse_end_time(*record); end > 0) x_end = end;
  const auto now = std::chrono::steady_clock::now();
  if (!is_on() || phase != Phase::running || x_question.is_running() || now < x_next_question) return;
  x_next_question = now + k_question_interval;
  x_question.start({"scontrol", "-o", "show", "job", job}, slurm::make_plain(env), slurm::k_answer_timeout);
}

std::optional<EventKind> TimeLimitWatch::event_at(std::time_t now, Phase phase) const {
  if (!is_on() || (x_end == 0 && !is_saving())) return std::nullopt;
  // If Slurm has only sent its signal, the limit is that much later.
  const auto lead = static_cast<long>(x_lead.count());
  const auto times = save_times(x_end != 0 ? x_end : x_saving_since + lead, lead);
  if (phase == Phase::running && now >= times.ask) return EventKind::limit_near;
  if (phase == Phase::saving && now >= times.give_up) return EventKind::save_time_over;
  return std::nullopt;
}

} // namespace hpcml::batch
