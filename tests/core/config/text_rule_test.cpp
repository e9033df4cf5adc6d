// SPDX-License-Identifier: MIT
// What profile texts may say where a shell, Slurm or a launcher reads them.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/config/text_rule.hpp"

using hpcml::config::text_fault;
using hpcml::config::TextRule;

namespace {

struct Row {
  TextRule rule;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> k_rows = {
      {TextRule::expression,
       {"$SLURM_TMPDIR", "${SCRATCH}/env", "/tmp/$USER-x", "$WITH_CONDA", ""},
       {"$(id)", "`id`",  "a;b",  "a|b",  "a&b", "a>b", "${A:-b}", "${A", "$",      "$1",
        "'a'",   "\"a\"", "a\nb", "a\\b", "~",   "*",   "#",       "!x",  "$((1))", "(a)"}},
      {TextRule::variable,
       {"NCCL_DEBUG", "_x", "A1"},
       {"", "1A", "A B", "A=B", "A-B", "$A", "BASH_ENV", "ENV", "SHELLOPTS", "PS4", "IFS", "PROMPT_COMMAND"}},
      {TextRule::interface, {"ib0", "hsn0", "en-x.1"}, {"", "mlx5_0", "mlx4_0", "hfi1_0", "a b", "-x"}},
      {TextRule::name, {"a", "gpu-h100", "a.b", "0"}, {"", "-x", "a b", "a/b", "a\"", "$x"}},
      {TextRule::word, {"", "gcc/12.2", "use:/opt/m", "a=b"}, {"-x", "a b", "a;b", "$x", "a'b"}},
      {TextRule::activation,
       {"$WITH_CONDA", "source /opt/env/bin/activate", "source /x"},
       {"",
        "$",
        "$1",
        "${WITH_CONDA}",
        "$A $B",
        "$A;id",
        " $A",
        "$A ",
        "touch /tmp/x",
        "/opt/run",
        "source env",
        "source  /x",
        "source /",
        "source /x y",
        "source /x;y",
        "source /$X",
        "source /a\tb",
        ". /x",
        "eval $X",
        "$SLURM_JOB_NAME",
        "$SLURM_JOB_COMMENT",
        "$BASH_ENV"}},
      {TextRule::option,
       {"--exclusive", "--hint=nomultithread", "-C", "--constraint=gpu&hbm80g", "--constraint=[a|b]",
        "--network=disable_rdzv_get", "--gres=nvme:1"},
       {"", "-", "--", "---x", "x", "--x y", "--a;b", "--a=$(id)", "--a=`id`", "--a='b'", "--1", "--wrap=id",
        "--wra=id", "--prolog=/x", "--task_epilog=/x", "--epi=/x", "--x=\xc2\xa0"}},
      {TextRule::launcher_argument,
       {"--mpi=none", "--map-by", "ppr:1:node", "--bind-to", "none", "--bede-par", "1ppg", "-n", "16"},
       {"", "id", "/bin/id", "./a:b", ":", "bash", "-c id", "--multi-prog=conf", "-mca", "--mca=a",
        "--launch-agent=x", "1;id", "1 2"}},
      {TextRule::requirement,
       {"torch", "numpy>=1.26,<2", "torch[opt]==2.3.0+cu121", "a~=1.*"},
       {"", "-r", "--index-url=x", "./wheel.whl", "git+https://x/y", "a@b", "a b", "a;b"}},
      {TextRule::suffix, {"", "i", "-interconnect-1", ".ib"}, {" ", "a b", "$x", ";id", "a/b"}},
      {TextRule::shebang,
       {"#!/bin/bash", "#!/bin/bash -l", "#!/usr/bin/env bash"},
       {"", "#!/bin/sh -c id", "#!/usr/bin/python3", "#!/bin/bash -c id", "bash"}},
      {TextRule::line,
       {"", "caf\xc3\xa9 $(id)"},
       {"a\nb", "\x1b[31m", "a\x7f", "\xc2\x9b", "a\xe2\x80\xae", "\xe2\x80\x8b", "\xff"}},
  };
  return k_rows;
}

} // namespace

TEST_CASE("A text may say what its place needs and nothing else", "[spec]") {
  for (const auto& row : rows()) {
    for (const auto& text : row.good) {
      INFO(static_cast<int>(row.rule) << ": " << text);
      CHECK(text_fault(text, row.rule) == "");
    }
    for (const auto& text : row.bad) {
      INFO(static_cast<int>(row.rule) << ": " << text);
      CHECK(text_fault(text, row.rule) != "");
    }
    CHECK_FALSE(text_hint(row.rule).empty());
  }
}
