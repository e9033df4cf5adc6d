// SPDX-License-Identifier: MIT
// A request to the ranks to save and to end, and the process that hands it on to a rank's program.
#pragma once

#include <csignal>
#include <functional>

#include "core/model/save_signal.hpp"
#include "core/util/env_snapshot.hpp"
#include "hpcml/rank_label.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// The signal by which a script's word to save arrives (model::k_save_word).
constexpr int k_save_word_signal = SIGURG;

/// The number of a save signal.
int number_of(const model::SaveSignal& signal);

/// True if srun passes the signal on to its tasks. It takes TERM and HUP as a request to kill its step
/// (Slurm: src/srun/libsrun/srun_job.c).
bool is_forwarded_by_srun(int signal);

/// Returns the save signal of the programs (HPCML_SAVE_SIGNAL); 0: none.
int find_save_signal(const util::EnvSnapshot& env);

/// Whether a signal to launch asks the ranks to save: the script's word, or the save signal itself. TERM is a
/// request to end.
bool is_save_request(int signal, int save_signal);

/// In a process that becomes a rank's program: the program finds the signal unblocked and with its default
/// action. Frameworks keep a handler that is set already, an ignored signal included.
void reset_save_signal(System& system, int signal);

/// Runs `program`, which becomes a rank's program or returns an exit code, in a child with its own process
/// group. Passes on to the whole group what this process gets (Slurm signals only the first process of a
/// task), and the request to save to those processes that handle it. The exit code, or the end by the same
/// signal, is the program's. `rank` is for messages.
int run_handing_on(System& system, int save_signal, const RankLocation& rank,
                   const std::function<int()>& program);

} // namespace hpcml::launch
