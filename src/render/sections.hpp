// SPDX-License-Identifier: MIT
// The parts of a script, each a pure function of the plan; templates/script.mustache puts them in order.
#pragma once

#include "model/plan.hpp"
#include "render/line.hpp"

namespace hpcml::render {

/// True where the step starts `hpcml launch`; else the script is plain and needs no hpcml on the node.
bool uses_launch(const model::Plan& plan);
/// True where one agent per node (torchrun, accelerate) starts the ranks.
bool starts_agents(const model::Plan& plan);

Lines make_directives(const model::Plan& plan);
Lines make_head(const model::Plan& plan);
Lines make_find_hpcml(const model::Plan& plan);
Lines make_modules(const model::Plan& plan);
Lines make_python(const model::Plan& plan);
Lines make_environment(const model::Plan& plan);
Lines make_rendezvous(const model::Plan& plan);
Lines make_caches(const model::Plan& plan);
Lines make_container(const model::Plan& plan);
Lines make_step(const model::Plan& plan);

/// The words that start one task on each node: "srun --ntasks=2 --ntasks-per-node=1 --cpu-bind=none".
Words per_node_words(const model::Plan& plan);
/// What starts the tasks and how they are bound: "srun --cpu-bind=none --kill-on-bad-exit=1".
Words step_words(const model::Plan& plan);
/// What stands between the launcher and the program: container and activation inside it, one group per line.
std::vector<Words> wrapper_groups(const model::Plan& plan);
/// The step of a script with `hpcml launch`, and of a plain one.
std::vector<Words> launch_groups(const model::Plan& plan);
std::vector<Words> plain_groups(const model::Plan& plan);
/// The variables that a plain step sets in each task, as lines of a shell program; empty where there are none.
std::string task_exports(const model::Plan& plan);

/// All lines of the script in order, ready to print or to explain.
Lines make_script(const model::Plan& plan);

} // namespace hpcml::render
