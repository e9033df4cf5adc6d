// SPDX-License-Identifier: MIT
// A request to the ranks to save and to end, and the process that hands it on to a rank's program.
#pragma once

#include <csignal>
#include <functional>

#include "util/env_snapshot.hpp"

namespace hpcml::launch {

/// The signal by which a script's word to save arrives (model::k_save_word).
constexpr int k_save_word_signal = SIGURG;

/// What the programs are to get for it (HPCML_SAVE_SIGNAL); 0: nobody asks them.
int find_save_signal(const util::EnvSnapshot& env);

/// In a process that becomes a rank's program: no process of it dies of the signal unless it wants to. What
/// TERM ends stays so.
void ignore_save_signal(int signal);

/// Runs `rank`, which becomes a program or returns an exit code, in a child with a group of its own, and
/// hands on to the whole group what this process gets: Slurm signals only the first process of a task. Its
/// exit code, or the end by the same signal, is the rank's.
int run_handing_on(int save_signal, const std::function<int()>& rank);

} // namespace hpcml::launch
