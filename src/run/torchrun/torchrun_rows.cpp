// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_rows.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "run/torchrun/torchrun_values.hpp"

namespace hpcml::torchrun {

namespace {

using Fault = std::optional<std::string>;
using enum FlagSupport;

Fault must_be(const char* what, const std::string& text) {
  return std::string("must be ") + what + ", not \"" + text + "\"";
}

/// Stores a text unchanged.
template <std::string TorchrunRequest::*Member>
Fault take_text(TorchrunRequest& line, const std::string& text) {
  line.*Member = text;
  return {};
}

template <bool TorchrunRequest::*Member>
Fault take_switch(TorchrunRequest& line, const std::string& /*text*/) {
  line.*Member = true;
  return {};
}

/// A value that `parse` makes of the text.
template <auto Member, auto Parse>
Fault take_parsed(TorchrunRequest& line, const std::string& text, const char* what) {
  auto value = Parse(text);
  if (!value) return must_be(what, text);
  line.*Member = std::move(*value);
  return {};
}

template <auto Member> Fault take_number(TorchrunRequest& line, const std::string& text, long long most) {
  const auto number = parse_whole_number(text);
  if (!number || *number < 0 || *number > most)
    return must_be(("a whole number from 0 to " + std::to_string(most)).c_str(), text);
  using Value = std::remove_cvref_t<decltype(line.*Member)>;
  if constexpr (requires { typename Value::value_type; })
    line.*Member = typename Value::value_type(*number);
  else
    line.*Member = static_cast<Value>(*number);
  return {};
}

template <std::size_t N>
Fault check_word(const std::string& text, const std::array<const char*, N>& words, const char* what) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; })
             ? Fault{}
             : must_be(what, text);
}

Fault take_nodes(TorchrunRequest& line, const std::string& text) {
  const auto range = parse_node_range(text);
  if (!range) return must_be("N or MIN:MAX, with 1 <= MIN <= MAX", text);
  std::tie(line.min_nodes, line.max_nodes) = *range;
  return {};
}

Fault take_interval(TorchrunRequest& /*line*/, const std::string& text) {
  std::size_t used = 0;
  try {
    if (static_cast<void>(std::stod(text, &used)); used == text.size()) return {};
  } catch (const std::exception&) {
  }
  return must_be("a number of seconds", text);
}

Fault take_signals_to_handle(TorchrunRequest& line, const std::string& text) {
  const auto unhandled = find_unhandled_signals(text);
  if (!unhandled) return must_be("names of signals such as SIGTERM,SIGUSR1", text);
  line.signals_to_handle = text;
  for (const auto& name : *unhandled)
    line.notes.push_back(
        fmt::format("--signals-to-handle: {} is not forwarded to the ranks (only INT, TERM, HUP, "
                    "QUIT, USR1 and USR2 are)",
                    name));
  return {};
}

Fault take_event_handler(TorchrunRequest& /*line*/, const std::string& text) {
  if (text == "null") return {};
  return "must be \"null\": other handlers are part of torch's own agent (the run record in --log-dir has "
         "the events)";
}

using Line = TorchrunRequest;
using Text = const std::string&;

constexpr TorchrunFlag k_flags[] = {
    {"nnodes", 0, "N|MIN:MAX", true, same, "Number of nodes, or the least and the largest number", "1",
     "With MIN:MAX the run continues with the remaining nodes, and all ranks restart when a node joins. The "
     "backend static uses MAX, as torchrun does.",
     take_nodes},
    {"nproc-per-node", 0, "N|auto|cpu|gpu|xpu", true, same,
     "Ranks on each node, or one per GPU or CPU of the node", "1",
     "Counts the GPUs and CPUs that this process may use, without loading torch.",
     [](Line& line, Text text) {
       return take_parsed<&Line::ranks, parse_ranks_of_node>(
           line, text, "a number from 1 to 4096, auto, cpu, gpu or xpu");
     }},
    {"rdzv-backend", 0, "NAME", true, better, "Rendezvous of the nodes: static or c10d", "static",
     "Both use hpcml's store at the endpoint. Other names (etcd) are accepted in a Slurm step, whose nodes "
     "find "
     "each other, and are an error elsewhere.",
     [](Line& line, Text text) -> Fault {
       if (text.empty()) return must_be("static or c10d", text);
       return take_text<&Line::backend>(line, text);
     }},
    {"rdzv-endpoint", 0, "HOST[:PORT]", true, better,
     "Endpoint of the rendezvous; the port with c10d is 29400", "",
     "The node with this name or address is the host. Not required in a Slurm step with one task per node.",
     [](Line& line, Text text) -> Fault {
       return text.empty() ? Fault{}
                           : take_parsed<&Line::endpoint, parse_endpoint>(
                                 line, text, "HOST or HOST:PORT with a port from 0 to 65535");
     }},
    {"rdzv-id", 0, "ID", true, same, "Name of the run, the same on all its nodes", "none", "",
     take_text<&Line::run_id>},
    {"rdzv-conf", 0, "KEY=VALUE,...", true, better, "Settings of the rendezvous, such as join_timeout=600",
     "",
     "join_timeout, last_call_timeout, keep_alive_interval, keep_alive_max_attempt (at least 3) and "
     "is_host=true (c10d), timeout (static) and key_file=PATH (docs/concepts/security.md) apply. The other "
     "keys of "
     "torchrun are not needed; a key that it does not know is reported.",
     [](Line& line, Text text) {
       return take_parsed<&Line::conf, parse_conf>(line, text, "KEY=VALUE,KEY=VALUE");
     }},
    {"standalone", 0, "", true, better, "Run on this machine alone, with its own rendezvous", "",
     "The port is not fixed, so that concurrent runs never connect to each other. With --nnodes above 1 it "
     "is an "
     "error.",
     take_switch<&Line::standalone>},
    {"max-restarts", 0, "N", true, same, "Restart all ranks after a failure, up to N times", "0", "",
     [](Line& line, Text text) { return take_number<&Line::max_restarts>(line, text, 1000000); }},
    {"monitor-interval", 0, "SECONDS", true, better, "Interval in which the ranks are checked", "0.1",
     "Not used: the exit of a rank is an event, which is detected within a millisecond.", take_interval},
    {"start-method", 0, "spawn|fork|forkserver", true, same, "How Python starts a function as a process",
     "spawn",
     "No effect on programs and scripts, as in torchrun. With --run-path, a rank is a new process as well.",
     [](Line& /*line*/, Text text) {
       return check_word(text, std::array{"spawn", "fork", "forkserver"}, "spawn, fork or forkserver");
     }},
    {"event-log-handler", 0, "NAME", true, refused, "Python object of torch that receives events", "null",
     "It is part of torch's agent, which is not used; the run record in --log-dir has the events. The "
     "default "
     "\"null\" is accepted.",
     take_event_handler},
    {"role", 0, "NAME", true, same, "ROLE_NAME of the ranks", "default",
     "It is part of the prefix of their lines.", take_text<&Line::role>},
    {"module", 'm', "", true, same, "Run the script as a module, as python -m does", "", "",
     take_switch<&Line::module>},
    {"no-python", 0, "", true, same, "Run the script as a program", "", "", take_switch<&Line::no_python>},
    {"run-path", 0, "", true, better, "Run the script by runpy, in a process that has imported torch", "",
     "It runs as `python -u SCRIPT`, which is equivalent, without the second Python.",
     take_switch<&Line::run_path>},
    {"log-dir", 0, "DIR", true, better,
     "Directory of the logs: DIR/RUN/attempt_N/RANK/stdout.log and stderr.log", "a temporary one",
     "It also contains the run record; /dev/null means no files, as in torchrun.",
     take_text<&Line::log_directory>},
    {"redirects", 'r', "0|1|2|3|RANK:N,...", true, same,
     "Streams to write to files: 1 is output, 2 errors, 3 both", "0", "Ranks above 9 are accepted as well.",
     [](Line& line, Text text) {
       return take_parsed<&Line::redirects, parse_streams>(line, text,
                                                           "0 to 3, or RANK:N,RANK:N with such numbers");
     }},
    {"tee", 't', "0|1|2|3|RANK:N,...", true, better, "Streams to write to files and to print", "0",
     "Complete lines are shown immediately; torchrun reads the files ten times per second.",
     [](Line& line, Text text) {
       return take_parsed<&Line::tee, parse_streams>(line, text,
                                                     "0 to 3, or RANK:N,RANK:N with such numbers");
     }},
    {"local-ranks-filter", 0, "RANK,...", true, same, "Print only the output of these ranks of each node",
     "all", "",
     [](Line& line, Text text) {
       return take_parsed<&Line::shown, parse_rank_list>(line, text, "ranks such as 0,1,2");
     }},
    {"duplicate-stdout-filters", 0, "TEXT,...", true, same,
     "Copy output lines with one of these texts to filtered_stdout.log", "", "",
     [](Line& line, Text text) -> Fault {
       line.out_filters = parse_filters(text);
       return {};
     }},
    {"duplicate-stderr-filters", 0, "TEXT,...", true, same,
     "Copy error lines with one of these texts to filtered_stderr.log", "", "",
     [](Line& line, Text text) -> Fault {
       line.err_filters = parse_filters(text);
       return {};
     }},
    {"node-rank", 0, "N", true, better, "Number of this node, with the backend static", "0",
     "Without it, nodes are numbered in the order in which they join, the host first. It has no effect with "
     "c10d, as in torchrun.",
     [](Line& line, Text text) { return take_number<&Line::node_rank>(line, text, 1000000); }},
    {"master-addr", 0, "HOST", true, better, "Address of the rendezvous, with the backend static",
     "127.0.0.1", "Also used with c10d for several nodes without an endpoint.",
     take_text<&Line::master_host>},
    {"master-port", 0, "PORT", true, better, "Port of the rendezvous, with the backend static", "29500",
     "On one node the ranks get it as MASTER_PORT. With several nodes the agents use it, and the ranks use "
     "another port, because the store of an attempt starts before the previous one stops.",
     [](Line& line, Text text) { return take_number<&Line::master_port>(line, text, 65535); }},
    {"local-addr", 0, "HOST", true, better, "Address of this node for the other nodes", "",
     "The ranks use the address of the endpoint, which all nodes have reached.",
     [](Line& /*line*/, Text /*text*/) { return Fault{}; },
     "has no effect: the ranks use the endpoint of the nodes"},
    {"logs-specs", 0, "NAME", false, refused, "Python class that defines where the logs go", "",
     "It is part of torch's agent, which is not used; --log-dir, -r, -t and the filters choose the log "
     "files.",
     [](Line& /*line*/, Text /*text*/) -> Fault {
       return "is not supported: it names a class of torch's agent (use --log-dir, -r and -t)";
     }},
    {"numa-binding", 0, "node|socket|exclusive|core-complex", false, better,
     "Bind the ranks to CPUs near their GPUs", "",
     "Each rank always has its own cores and memory near its GPU, on any node and with any number of ranks; "
     "HPCML_BIND_CHECK=warn reports them.",
     [](Line& /*line*/, Text text) {
       return check_word(text, std::array{"node", "socket", "exclusive", "core-complex"},
                         "node, socket, exclusive or core-complex");
     },
     "has no effect: each rank always has its own cores near its GPU"},
    {"signals-to-handle", 0, "SIG,...", true, better, "Signals that are passed on to the ranks",
     "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
     "INT, TERM, HUP, QUIT, USR1 and USR2 are always forwarded; on INT and TERM the ranks stop within "
     "--shutdown-timeout. Other signals are not forwarded, which is reported.",
     take_signals_to_handle},
    {"shutdown-timeout", 0, "SECONDS", true, same, "Time for ranks to exit before they are killed", "30",
     "Also TORCH_ELASTIC_SHUTDOWN_TIMEOUT. The default is 10 after a failure and 30 after a signal; in a "
     "job, "
     "Slurm's own limit.",
     [](Line& line, Text text) { return take_number<&Line::shutdown_timeout>(line, text, 86400LL * 7); }},
    {"virtual-local-rank", 0, "", true, same, "Set LOCAL_RANK to 0 for all; each rank sees one GPU, its own",
     "", "On a node without GPUs, no variable is set.", take_switch<&Line::virtual_local_rank>},
};
static_assert(std::size(k_flags) == 30);

constexpr TorchrunFlag k_old_flags[] = {
    {"use-env", 0, "", false, same, "Set the local rank in LOCAL_RANK, not as an argument", "",
     "This is the default, as in torchrun.", [](Line& /*line*/, Text /*text*/) { return Fault{}; }},
    {"pass-local-rank", 0, "", false, same, "Pass --local-rank=N as the first argument of each rank", "",
     "As torch.distributed.launch does without --use-env.", take_switch<&Line::pass_local_rank>},
};

} // namespace

std::span<const TorchrunFlag> torchrun_flags() { return k_flags; }
std::span<const TorchrunFlag> flags_of_old_launch() { return k_old_flags; }

std::string dashed_name(const TorchrunFlag& flag) { return "--" + std::string(flag.name); }

std::string variable_of_flag(const TorchrunFlag& flag) {
  std::string name = "PET_";
  for (const char c : flag.name)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

} // namespace hpcml::torchrun
