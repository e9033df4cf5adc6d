// SPDX-License-Identifier: MIT
// Asks the stores of a running job what they see.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/slurm/step_env.hpp"
#include "core/util/result.hpp"
#include "run/store/client.hpp"
#include "run/store/store_search.hpp"
#include "run/store/store_watch.hpp"

namespace hpcml::launch {

/// The ports at which a job may have stores, each once: those of its script and of these steps. Pure.
std::vector<std::uint16_t> ports_of_job(const slurm::StepIdentity& job,
                                        const std::vector<unsigned long long>& steps);

/// Why no store answered.
struct StoreQueryError {
  std::string what;                                      ///< a sentence
  store::SessionError error = store::SessionError::none; ///< of a store that answered without the key
};

/// Asks all places at once and returns the report of one that proves the key: of several the one of a step
/// whose ranks are known, the first of them.
std::variant<store::StoreReport, StoreQueryError> query_stores(const std::vector<store::StoreAddress>& places,
                                                               const store::Credentials& credentials,
                                                               std::chrono::milliseconds limit);

} // namespace hpcml::launch
