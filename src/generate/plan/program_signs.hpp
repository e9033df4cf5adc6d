// SPDX-License-Identifier: MIT
// What the text of the user's Python program suggests. It is searched for words, not parsed: callers warn,
// and reject nothing.
#pragma once

#include <string>

namespace hpcml::plan {

/// True if a program seems to handle a signal to save, or its text is not known.
bool seems_to_handle_signals(const std::string& program);
/// True if a program leaves the signal to Lightning, which handles USR1 unless its plugin names another one
/// (lightning.ai, "Run on an on-prem cluster", requeue_signal).
bool leaves_signal_to_lightning(const std::string& program);
/// True if a program seems to take LOCAL_RANK as the number of its device, as most examples do, and not
/// LOCAL_RANK % torch.cuda.device_count().
bool numbers_device_by_rank(const std::string& program);

} // namespace hpcml::plan
