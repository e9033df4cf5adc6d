// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>

#include "cli/run/job_output.hpp"
#include "cli/workspace_helper.hpp"

using namespace hpcml;
using test::Workspace;

namespace {

/// The pieces as text: errors in braces.
std::string text_of(const std::vector<cli::OutputPiece>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += piece.is_error ? "{" + piece.text + "}" : piece.text;
  return text;
}

} // namespace

TEST_CASE("job output of one file is copied at once") {
  const Workspace workspace;
  cli::JobOutput output;
  output.follow((workspace / "a").string());
  output.follow((workspace / "a").string(), true); // --error is the same file by default
  output.follow("");
  CHECK(text_of(output.read_more()).empty());
  CHECK_FALSE(output.found());
  workspace.put("a", "one\ntw");
  CHECK(text_of(output.read_more()) == "one\ntw");
  CHECK(output.found());
  workspace.put("a", "one\ntwo");
  CHECK(text_of(output.read_rest()) == "o");
}

TEST_CASE("job output has no log of an earlier job") {
  for (const bool appends : {false, true}) {
    CAPTURE(appends);
    const Workspace workspace;
    workspace.put("a", "earlier\n");
    const auto now = std::chrono::system_clock::now();
    std::filesystem::last_write_time(workspace / "a",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    cli::JobOutput output(cli::EarlierLogCriteria{now.time_since_epoch() - std::chrono::minutes(1), appends});
    output.follow((workspace / "a").string());
    output.follow((workspace / "b").string());
    CHECK(text_of(output.read_more()).empty());
    workspace.put("b", "other file\n");
    // A file server may have another clock.
    std::filesystem::last_write_time(workspace / "b",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    workspace.put("a", appends ? "earlier\nthis job\n" : "this job has a longer log\n");
    CHECK(text_of(output.read_more()) ==
          (appends ? "this job\nother file\n" : "this job has a longer log\nother file\n"));
  }
}

TEST_CASE("job output of several files has whole lines") {
  const Workspace workspace;
  cli::JobOutput output;
  output.follow((workspace / "a").string());
  output.follow((workspace / "b").string(), true);
  workspace.put("a", "one\ntw");
  workspace.put("b", "err");
  CHECK(text_of(output.read_more()) == "one\n");
  workspace.put("a", "one\ntwo\nthr");
  workspace.put("b", "error\n");
  CHECK(text_of(output.read_more()) == "two\n{error\n}");
  CHECK(text_of(output.read_more()).empty());
  workspace.put("a", "one\ntwo\nthree");
  CHECK(text_of(output.read_rest()) == "three\n");
}
