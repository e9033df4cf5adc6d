// SPDX-License-Identifier: MIT
// Words of the step: what a person gives arrives as it was given, judged by real bash.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/word.hpp"
#include "samples.hpp"

using namespace hpcml;

namespace {

std::vector<std::string> launchers() {
  return {"hpcml", "srun", "torchrun", "accelerate", "deepspeed", "ibrun"};
}

} // namespace

TEST_CASE("hostile words of the command arrive unchanged under every launcher and nothing of them runs") {
  for (const auto& launcher : launchers()) {
    CAPTURE(launcher);
    test::TempDirectory directory;
    auto plan = test::make_plan_for(launcher);
    plan.hpcml_path.value = test::stand_in_hpcml(directory);
    plan.command = {test::word_writer(directory)};
    plan.command.insert(plan.command.end(), test::hostile_texts().begin(), test::hostile_texts().end());
    plan.request_line = util::join(plan.command, " ");
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory);
    INFO(script << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(test::written_words(directory) == test::hostile_texts());
    CHECK_FALSE(std::filesystem::exists(directory / "pwned"));
  }
}

TEST_CASE("each hostile text alone passes bash and shellcheck in every place that a person can fill") {
  for (const auto& text : test::hostile_texts()) {
    CAPTURE(text);
    test::TempDirectory directory;
    auto plan = test::make_whole_node_plan();
    plan.hpcml_path.value = test::stand_in_hpcml(directory);
    plan.command = {test::word_writer(directory), text, "--x=" + text};
    plan.request_line = "hpcml gen -- " + text;
    plan.env.push_back({"HOSTILE", text, false, model::ValueScope::batch, {}});
    plan.launcher.step_args = {"--comment=" + text};
    plan.container = model::PlannedContainer{model::ContainerEngine::singularity,
                                             text + "/x.sif",
                                             model::ContainerGpuOption::none,
                                             {{text, text, false, {}}, {text, "", true, {}}},
                                             "",
                                             {}};
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory);
    INFO(script << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(test::written_words(directory) == std::vector<std::string>{text, "--x=" + text});
    CHECK(test::seen_environment(directory)["HOSTILE"] == text);
    CHECK_FALSE(std::filesystem::exists(directory / "pwned"));
  }
}

TEST_CASE("what people would not see, or would see in another order, is written as its bytes") {
  struct Row {
    std::string word, written;
  };
  const std::vector<Row> rows = {
      {"a\u202eb", "$'a\\342\\200\\256b'"},
      {"\u200b1", "$'\\342\\200\\2131'"},
      {"\u2066it's\u2069", "$'\\342\\201\\246it\\'s\\342\\201\\251'"},
      {"a\xff", "$'a\\377'"},
      {"a\x1b[31m", "$'a\\033[31m'"},
      {"n\nt\t", "$'n\\nt\\t'"},
      {"é 日本", "'é 日本'"},
      {"“a”", "$'“a”'"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.written);
    CHECK(render::quote_word(row.word) == row.written);
    const auto read = util::run_process({"env", "LC_ALL=C", "bash", "-c", "printf %s " + row.written},
                                        util::EnvSnapshot::of_process());
    REQUIRE(read);
    CHECK(read->out == row.word);
  }
  CHECK(render::comment_text("gen -- a\u202eb \x1b") == "gen -- a\\u{202e}b \\x1b");
}

TEST_CASE("hostile names of environments do not run") {
  std::size_t number = 0;
  for (const auto& text : test::hostile_texts()) {
    for (const auto kind : {model::PythonEnvironmentKind::venv, model::PythonEnvironmentKind::conda,
                            model::PythonEnvironmentKind::wheelhouse}) {
      if (!test::is_sample(number++, 3)) continue;
      CAPTURE(text, static_cast<int>(kind));
      test::TempDirectory directory;
      auto plan = test::make_whole_node_plan();
      plan.hpcml_path.value = test::stand_in_hpcml(directory);
      plan.command = {test::word_writer(directory)};
      const bool built = kind == model::PythonEnvironmentKind::wheelhouse;
      plan.python = {kind, built ? "$SLURM_TMPDIR/built" : text, {text}, {}};
      const auto script = render::render_script(plan);
      CHECK(test::script_faults(script) == "");
      const auto result = test::run_script(
          script, directory); // a venv or conda environment of that name is not there: the script stops
      INFO(script << result.err);
      CHECK_FALSE(std::filesystem::exists(directory / "pwned"));
      if (!built) continue;
      REQUIRE(result.exit_code == 0);
      const auto words = util::split(util::read_file(directory / "internal-words").value_or(""), '\0');
      REQUIRE(words.size() > 2);
      CHECK(words[words.size() - 2] == text); // behind the last word stands a NUL, too
    }
  }
}

TEST_CASE("paths of a profile may name variables and nothing else") {
  CHECK(render::quote_path("/tmp/a b") == "'/tmp/a b'");
  CHECK(render::quote_path("$SLURM_TMPDIR/env") == "\"$SLURM_TMPDIR/env\"");
  CHECK(render::quote_path("${SCRATCH}/x") == "\"${SCRATCH}/x\"");
  CHECK(render::quote_path("${SCRATCH:-/tmp}/x") == "\"${SCRATCH:-/tmp}/x\""); // as launch reads it
  CHECK(render::quote_path("$(id)/`id`/$1/${x:-$(id)}") == "\"\\$(id)/\\`id\\`/\\$1/\\${x:-\\$(id)}\"");
}

TEST_CASE("a plain rank gets its own numbers, GPU and variables") {
  for (const auto* launcher : {"srun", "deepspeed", "ibrun"}) {
    CAPTURE(launcher);
    test::TempDirectory directory;
    auto plan = test::make_plan_for(launcher);
    plan.command = {test::word_writer(directory)};
    plan.env.push_back({"PER_TASK", "r$SLURM_PROCID", true, model::ValueScope::task, {}});
    const auto result = test::run_script(render::render_script(plan), directory);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    auto seen = test::seen_environment(directory);
    CHECK(seen["RANK"] == "11");
    CHECK(seen["LOCAL_RANK"] == "3");
    CHECK(seen["WORLD_SIZE"] == "16");
    CHECK(seen["LOCAL_WORLD_SIZE"] == "8");
    CHECK(seen["MASTER_ADDR"] == "node1");
    CHECK(seen["MASTER_PORT"] == "29967");
    CHECK(seen["ROCR_VISIBLE_DEVICES"] == "3");
    CHECK(seen["PER_TASK"] == "r11");
    CHECK(seen["OMP_NUM_THREADS"] == "7");
    CHECK(seen["GLOO_SOCKET_IFNAME"] == "hsn0,hsn1");
    CHECK(seen["NCCL_NET_GDR_LEVEL"] == "PHB");
    const auto cache = (directory / ("hpcml-" + std::to_string(::getuid()) + "-4711-0-miopen")).string();
    CHECK(seen["MIOPEN_CUSTOM_CACHE_DIR"] == cache + "/cache");
    CHECK_FALSE(std::filesystem::exists(cache));
  }
}

TEST_CASE("a rank with several GPUs gets its part of what the step has") {
  test::TempDirectory directory;
  auto plan = test::make_plan_for("srun");
  plan.command = {test::word_writer(directory)};
  plan.layout.gpus_per_rank = 2;
  const auto result = test::run_script(render::render_script(plan), directory);
  REQUIRE(result.exit_code == 0);
  CHECK(test::seen_environment(directory)["ROCR_VISIBLE_DEVICES"] == "6,7");
}

TEST_CASE("a rank keeps the GPU that the step gave to its task alone") {
  test::TempDirectory directory;
  auto plan = test::make_plan_for("srun");
  plan.command = {test::word_writer(directory)};
  const auto result =
      test::run_script(render::render_script(plan), directory, {{"ROCR_VISIBLE_DEVICES", "5"}});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(test::seen_environment(directory)["ROCR_VISIBLE_DEVICES"] == "5"); // local rank 3 of a list of one
}
