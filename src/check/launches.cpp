// SPDX-License-Identifier: MIT
#include "check/launches.hpp"

#include <algorithm>
#include <array>

#include "slurm/options.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace {

using shell::Argument;
using Words = std::vector<Argument>;

/// A program that starts others: which of its options take the next word as their value, and what stands
/// before the program.
struct Wrapper {
  std::string_view name;
  std::string_view values;           ///< options with a value, each between blanks
  std::string_view optional = "";    ///< whose value is only ever behind "="
  std::size_t operands = 0;          ///< words before the next program
  std::string_view subcommands = ""; ///< one of these comes first, each between blanks
  std::string_view single_dash = ""; ///< "long" options with one dash are options, too
};

constexpr std::string_view k_container_values =
    " -B --bind -W --workdir -H --home --env --env-file --pwd --overlay -o --network --security --scratch -S "
    "--fakeroot-uid --app --dns --hostname --mount --cwd "
    "--contain-uid --fusemount --apply-cgroups --add-caps --drop-caps ";
constexpr std::string_view k_torchrun_values =
    " --nnodes --nproc-per-node --nproc_per_node --rdzv-backend --rdzv_backend --rdzv-endpoint "
    "--rdzv_endpoint --rdzv-id --rdzv_id --rdzv-conf --rdzv_conf "
    "--max-restarts --max_restarts --monitor-interval --monitor_interval --start-method --start_method "
    "--role --log-dir --log_dir -r --redirects -t --tee "
    "--local-ranks-filter --local_ranks_filter --node-rank --node_rank --master-addr --master_addr "
    "--master-port --master_port --local-addr --local_addr "
    "--logs-specs --logs_specs --numa-binding --numa_binding ";
constexpr std::string_view k_accelerate_values =
    " --config_file --config-file --num_processes --num-processes --num_machines --num-machines "
    "--machine_rank --machine-rank --main_process_ip --main-process-ip "
    "--main_process_port --main-process-port --mixed_precision --mixed-precision "
    "--num_cpu_threads_per_process --num-cpu-threads-per-process --rdzv_backend "
    "--rdzv-backend --rdzv_conf --rdzv-conf --gpu_ids --gpu-ids --dynamo_backend --max_restarts "
    "--monitor_interval --role --tee -r --same_network_conf "
    "--deepspeed_config_file --zero_stage --offload_optimizer_device --offload_param_device "
    "--gradient_accumulation_steps --gradient_clipping "
    "--deepspeed_hostfile --deepspeed_multinode_launcher --deepspeed_exclusion_filter "
    "--deepspeed_inclusion_filter --fsdp_sharding_strategy --log_dir --rdzv_id ";
constexpr std::string_view k_deepspeed_values =
    " -H --hostfile -i --include -e --exclude --num_nodes --num_gpus --master_addr --master_port --node_rank "
    "--launcher --launcher_args --ssh_port --bind_core_list "
    "--min_elastic_nodes --max_elastic_nodes --module_name --autotuning --venv_script ";
constexpr std::string_view k_hpcml_values =
    " --sites-dir --site --profile-hash --partition --node-type --qos --gpu-type --gpus-per-node --bind "
    "--bind-check --cpus-per-task --threads-per-core --spill "
    "--rank-order --gpus-per-task --gpu-visibility --backend --nproc-per-node --nproc_per_node --master-port "
    "--master_port --grace --address-of ";
constexpr std::string_view k_mpi_values =
    " -n -np --np -N -c -ppn --ppn -host --host -H -hostfile --hostfile -machinefile --machinefile -f "
    "-map-by --map-by -bind-to --bind-to -rank-by --rank-by -x -npernode "
    "--npernode -npersocket --npersocket -wdir --wdir -mca --mca -env -genv -o -d --depth --cpu-bind "
    "--mem-bind ";

/// Options of common plugins of srun that take a value; what others bring is not known.
constexpr std::string_view k_plugin_values =
    " --container-image --container-mounts --container-workdir --container-name --container-save "
    "--container-env --environment --uenv --view "
    "--image --module --volume ";

constexpr std::array<Wrapper, 18> k_wrappers = {{
    {"singularity", k_container_values, "", 1, " exec run shell "},
    {"apptainer", k_container_values, "", 1, " exec run shell "},
    {"singularity_wrapper", k_container_values, "", 0, " exec run "},
    {"shifter", " --image -V --volume --module --env --env-file --entrypoint --workdir -w ", "", 0},
    {"podman-hpc", " -v --volume -e --env -w --workdir --name --net --network ", "", 1, " run exec "},
    {"torchrun", k_torchrun_values, "", 0},
    {"accelerate", k_accelerate_values, "", 0, " launch "},
    {"deepspeed", k_deepspeed_values, "", 0},
    {"mpirun", k_mpi_values, "", 0},
    {"mpiexec", k_mpi_values, "", 0},
    {"ibrun", " -n -o ", "", 0},
    {"python", " -W -X -Q ", "", 0},
    {"hpcml", k_hpcml_values, "", 0, " launch "},
    {"nsys",
     " -o --output -t --trace -s --sample -c --capture-range --stats -f --force-overwrite -w --show-output ",
     "", 0, " profile launch "},
    {"ncu", " -o --export -k --kernel-name --set --section --target-processes ", "", 0},
    {"uv", " --with --with-requirements --python -p --project --directory --extra --group --env-file ", "", 0,
     " run "},
    {"conda", " -n --name -p --prefix --cwd ", "", 0, " run "},
    {"micromamba", " -n --name -p --prefix --cwd ", "", 0, " run "},
}};

Role role_of(std::string_view program) {
  static constexpr std::pair<std::string_view, Role> c_roles[] = {
      {"srun", Role::step},         {"mpirun", Role::step},           {"mpiexec", Role::step},
      {"ibrun", Role::step},        {"torchrun", Role::agent},        {"accelerate", Role::agent},
      {"deepspeed", Role::agent},   {"singularity", Role::container}, {"apptainer", Role::container},
      {"shifter", Role::container}, {"podman-hpc", Role::container}};
  const auto* found = std::find_if(std::begin(c_roles), std::end(c_roles),
                                   [&](const auto& row) { return row.first == program; });
  return found == std::end(c_roles) ? Role::other : found->second;
}

bool has_word(std::string_view list, const std::string& word) {
  return list.find(" " + word + " ") != std::string_view::npos;
}

/// "python3.11" is python.
std::string program_name(const Argument& word) {
  auto name = word.text();
  name.erase(0, name.rfind('/') + 1);
  if (name.substr(0, 6) == "python" && name.find_first_not_of("0123456789.", 6) == std::string::npos)
    return "python";
  return name;
}

/// From the first byte of `a` to the last of `b`, if they lie so.
shell::Place span(shell::Place a, shell::Place b) {
  return b.offset >= a.offset ? shell::Place{a.offset, b.offset + b.length - a.offset} : a;
}

/// The part of a word behind its first `count` bytes.
Argument cut(Argument word, std::size_t count) {
  for (auto& piece : word.pieces) {
    const auto n = piece.known ? std::min(count, piece.text.size()) : 0;
    piece.text.erase(0, n);
    count -= n;
    if (count == 0) break;
  }
  return word;
}

/// Reads the options of one program out of its words.
class OptionReader {
public:
  OptionReader(const Words& words, std::size_t at, Link& link) : x_words(words), x_at(at), x_link(link) {}
  std::size_t at() const { return x_at; }
  bool done() const { return x_at >= x_words.size(); }
  const Argument& word() const { return x_words[x_at]; }
  void skip() { ++x_at; }

  /// True while the word here is an option or of unknown number.
  bool is_option() {
    for (; !done(); skip()) {
      const auto head = word().prefix();
      // What begins with an option's name is that option, though its value may be cut at blanks:
      // "--nnodes=$N".
      const bool named = head.size() > 1 && head[0] == '-' && head != "--";
      if (!word().many || named) return head.size() > 1 && head[0] == '-';
      // A path behind something unknown, `pwd`/train.py, is an operand all the same.
      if (word().text().find('/', word().unknown().size()) != std::string::npos) return false;
      x_link.complete = false;
    }
    return false;
  }
  void flag(const std::string& name) {
    x_link.options.push_back({name, std::nullopt, word().place});
    skip();
  }
  /// One of several letters of the word.
  void note_flag(const std::string& name) { x_link.options.push_back({name, std::nullopt, word().place}); }
  /// An option that nobody knows: the next word may be its value.
  void note_unknown() { x_link.complete = false; }
  void glued(const std::string& name, std::size_t head) {
    x_link.options.push_back({name, cut(word(), head), word().place});
    skip();
  }
  void with_next(const std::string& name) {
    const auto first = word().place;
    skip();
    if (done()) return;
    x_link.options.push_back({name, word(), span(first, word().place)});
    skip();
  }

private:
  const Words& x_words;
  std::size_t x_at;
  Link& x_link;
};

/// srun's options, by the table of Slurm's options. Short ones can stand together: "-lN2".
void read_srun(OptionReader& reader) {
  using slurm::Argument;
  while (reader.is_option()) {
    const auto head = reader.word().prefix();
    if (head == "--") return reader.skip();
    if (head.substr(0, 2) == "--") {
      const auto equals = head.find('=');
      const auto match = slurm::find_option(
          slurm::Program::srun,
          std::string_view(head).substr(2, equals == std::string::npos ? equals : equals - 2));
      const auto name = match.option ? match.option->name
                                     : head.substr(2, equals == std::string::npos ? equals : equals - 2);
      if (equals != std::string::npos)
        reader.glued(name, equals + 1);
      else if ((match.option && match.option->argument == Argument::required) ||
               has_word(k_plugin_values, head))
        reader.with_next(name);
      else {
        if (!match.option && !util::starts_with(name, "container")) reader.note_unknown();
        reader.flag(name);
      }
      continue;
    }
    std::size_t i = 1;
    for (; i < head.size(); ++i) {
      const auto option = slurm::find_option(slurm::Program::srun, head[i]);
      const bool last = i + 1 >= head.size() && reader.word().known();
      const auto name = option ? option->name : std::string(1, head[i]);
      if (!option || option->argument == Argument::none) {
        if (last)
          reader.flag(name);
        else
          reader.note_flag(name);
        continue;
      }
      if (!last)
        reader.glued(name, i + 1);
      else if (option->argument == Argument::required)
        reader.with_next(name);
      else
        reader.flag(name);
      break;
    }
    if (i >= head.size() && !reader.done() && reader.word().prefix() == head && !reader.word().known())
      reader.skip();
  }
}

void read_options(OptionReader& reader, const Wrapper& wrapper) {
  while (reader.is_option()) {
    const auto head = reader.word().prefix();
    if (head == "--") return reader.skip();
    if (wrapper.name == "python" && (head == "-m" || head == "-c")) return;
    const auto equals = head.find('=');
    const auto dashes = head.find_first_not_of('-');
    if (dashes == std::string::npos) return;
    const auto name = head.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    if (equals != std::string::npos)
      reader.glued(name, equals + 1);
    else if (has_word(wrapper.values, head))
      reader.with_next(name);
    else if (!reader.word().known())
      reader.skip();
    else
      reader.flag(name);
  }
}

class Chains {
public:
  /// Appends the links that the words from `at` on make.
  void add(const Words& words, std::size_t at, std::vector<Link>& chain) {
    while (at < words.size() && chain.size() < 16) {
      const auto program = shell::skip_prefixes(words, at);
      if (!program || *program >= words.size()) return;
      at = *program;
      if (!words[at].known()) return;
      Link link;
      link.program = program_name(words[at]);
      link.place = words[at].place;
      at = read(words, at, link);
      link.role = role_of(link.program);
      const bool ends = !goes_on(link);
      if (ends)
        for (; at < words.size(); ++at) link.operands.push_back(words[at]);
      chain.push_back(std::move(link));
      if (ends) return;
    }
  }

private:
  static const Wrapper* wrapper_of(const std::string& program) {
    const auto* found = std::find_if(k_wrappers.begin(), k_wrappers.end(),
                                     [&](const Wrapper& w) { return w.name == program; });
    return found == k_wrappers.end() ? nullptr : found;
  }
  static bool starts_another(std::string_view program) {
    return program != "python" && program != "torchrun" && program != "accelerate" && program != "deepspeed";
  }
  /// Whether another program follows behind the options.
  static bool goes_on(const Link& link) {
    return link.program == "srun" || link.program == "mpirun" ||
           (wrapper_of(link.program) && starts_another(link.program) && link.complete);
  }

  /// Reads the options of words[at]'s program; returns where the rest begins.
  static std::size_t read(const Words& words, std::size_t at, Link& link) {
    OptionReader reader(words, at + 1, link);
    if (link.program == "srun") {
      read_srun(reader);
      return reader.at();
    }
    const auto* wrapper = wrapper_of(link.program);
    if (!wrapper) return at + 1;
    if (!wrapper->subcommands.empty()) {
      while (reader.is_option()) reader.flag(reader.word().text()); // options of the engine itself
      if (reader.done() || !has_word(wrapper->subcommands, reader.word().text())) {
        link.complete = false;
        return reader.at();
      }
      reader.skip();
    }
    read_options(reader, *wrapper);
    if (link.program == "python" && !reader.done() && reader.word().text() == "-m")
      return read_module(words, reader, link);
    for (std::size_t i = 0; i < wrapper->operands && !reader.done(); ++i) {
      link.operands.push_back(reader.word());
      reader.skip();
    }
    return reader.at();
  }

  /// `python -m torch.distributed.run` is torchrun.
  static std::size_t read_module(const Words& words, OptionReader& reader, Link& link) {
    reader.skip();
    if (reader.done()) return reader.at();
    link.module = reader.word().text();
    reader.skip();
    static constexpr std::array<std::array<std::string_view, 2>, 5> k_modules = {
        {{"torch.distributed.run", "torchrun"},
         {"torch.distributed.launch", "torchrun"},
         {"accelerate.commands.launch", "accelerate"},
         {"deepspeed.launcher.runner", "deepspeed"},
         {"accelerate.launch", "accelerate"}}};
    const auto* known = std::find_if(k_modules.begin(), k_modules.end(),
                                     [&](const auto& row) { return row[0] == link.module; });
    if (known == k_modules.end()) return reader.at();
    link.program = std::string((*known)[1]);
    OptionReader rest(words, reader.at(), link);
    read_options(rest, *wrapper_of(link.program));
    return rest.at();
  }
};

} // namespace

const GivenOption* Link::find(std::string_view option) const {
  const auto found = std::find_if(options.rbegin(), options.rend(),
                                  [&](const GivenOption& given) { return given.name == option; });
  return found == options.rend() ? nullptr : &*found;
}

std::optional<std::string> Link::value(std::string_view option) const {
  const auto* given = find(option);
  return given && given->value && given->value->known() ? std::optional(given->value->text()) : std::nullopt;
}

const Link* Launch::find(std::string_view program) const {
  const auto found =
      std::find_if(chain.begin(), chain.end(), [&](const Link& link) { return link.program == program; });
  return found == chain.end() ? nullptr : &*found;
}

const Link* Launch::find(Role role) const {
  const auto found =
      std::find_if(chain.begin(), chain.end(), [&](const Link& link) { return link.role == role; });
  return found == chain.end() ? nullptr : &*found;
}

const Link* Launch::python() const {
  return !chain.empty() && chain.back().program == "python" ? &chain.back() : nullptr;
}

const shell::Argument* Launch::variable(std::string_view name) const {
  for (const auto& setting : command->own)
    if (setting.name == name) return &setting.value;
  if (!command->exports) return nullptr;
  const auto found =
      std::lower_bound(command->exports->begin(), command->exports->end(), name,
                       [](const shell::VariableRef& a, std::string_view b) { return a->name < b; });
  if (found == command->exports->end() || (*found)->name != name || (*found)->value.words.size() != 1)
    return nullptr;
  return &(*found)->value.words[0];
}

std::vector<Launch> find_launches(const shell::View& view) {
  Chains chains;
  std::vector<Launch> launches;
  std::vector<std::vector<Link>> by_command(view.commands.size()); // of those whose text holds others
  std::vector<bool> is_parent(view.commands.size());
  for (const auto& command : view.commands)
    if (command.parent) is_parent[*command.parent] = true;
  for (std::size_t i = 0; i < view.commands.size(); ++i) {
    const auto& command = view.commands[i];
    if (!command.program || command.context.uncalled || command.context.unreached || command.calls_function)
      continue;
    std::vector<Link> chain;
    if (command.parent && *command.parent < i) chain = by_command[*command.parent];
    chains.add(command.words, *command.program, chain);
    if (is_parent[i]) by_command[i] = chain;
    if (!chain.empty()) launches.push_back({&command, std::move(chain)});
  }
  return launches;
}

} // namespace hpcml::check
