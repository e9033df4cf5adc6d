// SPDX-License-Identifier: MIT
// The rows of launchers, engines and flags of ranks: each says of itself only what can be so.
#include <catch2/catch.hpp>
#include <set>

#include "core/model/container_engine.hpp"
#include "core/model/launcher.hpp"
#include "core/model/launcher_rows.hpp"
#include "core/model/rank_settings.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using namespace hpcml::model;

namespace {

/// Options without dashes before them, "-" as "_".
std::set<std::string> plain_options(const ProgramSyntax& words) {
  std::set<std::string> names;
  for (const auto list : {words.values, words.flags})
    for (const auto& option : util::split(std::string(list), ' '))
      if (!option.empty())
        names.insert(util::replace_all(option.substr(option.find_first_not_of('-')), "-", "_"));
  return names;
}

bool is_word_list(std::string_view list) {
  return list.empty() || (list.size() > 2 && list.front() == ' ' && list.back() == ' ');
}

} // namespace

TEST_CASE("What a launcher's row says of options it says of options that the launcher has") {
  std::set<std::string_view> names;
  for (const auto& row : k_launchers) {
    INFO(row.words.name);
    CHECK(names.insert(row.words.name).second);
    const auto options = plain_options(row.words);
    const bool of_slurm = options.empty(); // srun's are in the table of Slurm's options
    for (const auto& option : row.options) {
      INFO(option.name);
      // Where the options without a value are not listed, one that says a thing by itself may be one of them.
      const bool flag =
          row.words.flags.empty() &&
          (option.meaning == OptionMeaning::alone || option.meaning == OptionMeaning::module ||
           option.meaning == OptionMeaning::plain || option.meaning == OptionMeaning::local_rank);
      CHECK((of_slurm || flag || options.count(std::string(option.name)) == 1));
      CHECK(row.meaning_of("--" + util::replace_all(std::string(option.name), "_", "-")) == option.meaning);
    }
    for (const auto list : {row.words.values, row.words.flags, row.words.subcommands, row.modules})
      CHECK(is_word_list(list));
    CHECK((row.ranks == RankStartMethod::agent) == !row.script.words[0].empty());
    CHECK(row.number_option.empty() == row.address_option.empty());
    CHECK(find_launcher(row.words.name) == &row);
    CHECK(Launcher::parse(row.words.name).ok() == (row.ranks != RankStartMethod::nobody));
    const bool listed =
        std::string(NameListText<k_launcher_names>::text).find(row.words.name) != std::string::npos;
    CHECK(listed == (row.ranks != RankStartMethod::nobody));
  }
  CHECK(NameListText<k_launcher_names>::text.starts_with("hpcml, torchrun, accelerate, "));
  CHECK(find_launcher("bede-mpirun") == find_launcher("mpirun"));
  CHECK(find_launcher("bede-torchrun") == nullptr);
}

TEST_CASE("A variable says what an option of the same name says, where the launcher reads variables") {
  CHECK(find_launcher("torchrun")->variable_for("nproc-per-node") == "PET_NPROC_PER_NODE");
  CHECK(find_launcher("accelerate")->variable_for("num_machines").empty());
}

TEST_CASE("A text starts a launcher where its words stand in it") {
  for (const char* text : {"srun", "L=\"torchrun --nnodes 2\"", "accelerate launch",
                           "python -m torch.distributed.run", "tune run x", "deepspeed --x"})
    CHECK(starts_launcher(text));
  for (const char* text :
       {"", "accelerate", "tune.py", "tune", "python srun_it.py", "fabric.json", "xsrun"}) {
    INFO(text);
    CHECK_FALSE(starts_launcher(text));
  }
}

TEST_CASE("An engine's row has what its kind needs") {
  std::set<std::string_view> names;
  for (const auto& row : k_engines) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    for (const auto list :
         {row.words.values, row.words.subcommands, row.step_options, row.gpu_options, row.downloads})
      CHECK(is_word_list(list));
    if (!row.words.name.empty()) CHECK(find_engine_program(row.words.name) == &row);
    if (!row.engine) continue;
    CHECK(&row_of(*row.engine) == &row);
    CHECK(row.taken > 0);
    CHECK_FALSE(row.example.empty());
    CHECK((row.by_slurm || !row.words.name.empty()));
    if (row.by_slurm) CHECK(find_image_option(row.image_option) == &row);
  }
  CHECK(word_of(ContainerEngine::edf) == "edf");
  CHECK(find_word<ContainerEngine>("docker") == std::nullopt);
  CHECK(find_engine_option("container-remap-root")->name == "pyxis");
  CHECK(find_engine_option("nodes") == nullptr);
  CHECK(engine_programs() == std::vector<std::string>{"apptainer", "singularity"});
}

TEST_CASE(
    "What reaches the ranks is read and written by its row, and known among the words of hpcml launch") {
  const auto values = k_launchers.front().words.values;
  for (const auto& flag : k_rank_flags) {
    INFO(flag.name);
    RankSettings rank_settings;
    CHECK_FALSE(flag.write(rank_settings));
    CHECK(flag.origin(rank_settings) == nullptr);
    const auto words = flag.words();
    const std::string text = flag.is_switch() ? "true" : words.empty() ? "3" : words.back();
    CHECK_FALSE(flag.read(rank_settings, text, {OriginKind::flag, "--x", {}, {}, {}}));
    CHECK(flag.write(rank_settings) == text);
    CHECK(flag.origin(rank_settings)->by == "--x");
    RankSettings second_request;
    flag.merge(second_request, rank_settings);
    CHECK(flag.write(second_request) == text);
    const auto word = " --" + std::string(flag.name) + " ";
    CHECK((values.find(word) != std::string_view::npos) == !flag.is_switch());
  }
  RankSettings rank_settings;
  CHECK(k_rank_flags[0].read(rank_settings, "nonsense", {}));
  CHECK_FALSE(rank_settings.bind_check);
}
