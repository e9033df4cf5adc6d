// SPDX-License-Identifier: MIT
// Which commands a job is asked after with, and what becomes of their answers.
#include <catch2/catch.hpp>

#include "core/slurm/accounts.hpp"
#include "core/slurm/jobs.hpp"
#include "core/util/text.hpp"

using namespace hpcml;

namespace {

/// A Slurm that has forgotten its jobs, and what its accounting says; keeps the commands.
class Archive : public slurm::Commands {
public:
  explicit Archive(std::string text) : x_text(std::move(text)) {}
  slurm::Answer ask(const std::vector<std::string>& words) const override {
    executed.push_back(util::join(words, " "));
    slurm::Answer answer{words, true, {}, {}};
    if (words.front() == "sacct")
      answer.output.out = x_text;
    else {
      answer.output.exit_code = 1;
      answer.why_not = "Invalid job id specified";
    }
    return answer;
  }
  mutable std::vector<std::string> executed;

private:
  std::string x_text;
};

} // namespace

TEST_CASE("a job on another cluster is asked after there") {
  const Archive slurm("77|77|COMPLETED|0:0|gh001\n");
  const auto found = slurm::find_job(slurm, "77", "gh");
  REQUIRE(found);
  CHECK(found->size() == 1);
  REQUIRE(slurm.executed.size() == 2);
  CHECK(slurm.executed[0] == "scontrol --clusters=gh show job 77");
  CHECK(slurm.executed[1].starts_with("sacct --clusters=gh "));
  const Archive archive("");
  REQUIRE(slurm::find_job(archive, "77"));
  CHECK(archive.executed[0] == "scontrol show job 77");
  CHECK(archive.executed[1].find("--clusters") == std::string::npos);
}

TEST_CASE("the tasks of an array that only the accounting remembers are told apart") {
  const Archive slurm("7_1|8|COMPLETED|0:0|n1\n7_2|9|FAILED|3:0|n1\n7_3|7|TIMEOUT|0:0|n1\n7_[4-9%2]|7|"
                      "CANCELLED by 0|0:0|None assigned\n");
  const auto found = slurm::find_job(slurm, "7");
  REQUIRE(found);
  REQUIRE(found->size() == 4);
  const std::pair<const char*, const char*> tasks[] = {{"8", "1"}, {"9", "2"}, {"7", "3"}, {"7", "4-9%2"}};
  for (std::size_t i = 0; i < std::size(tasks); ++i) {
    CHECK((*found)[i].id == tasks[i].first);
    CHECK((*found)[i].array_id == "7");
    CHECK((*found)[i].array_tasks == tasks[i].second);
  }
  CHECK(slurm::exit_code_of((*found)[1]) == 3);
}

TEST_CASE("accounts are asked for on this cluster, for one plain name, and where there are any") {
  slurm::ConfigRecord config;
  config.cluster = "gh";
  config.has_accounting = true;
  const Archive slurm("");
  slurm::ask_accounts(slurm, config, "me.too@site");
  REQUIRE(slurm.executed.size() == 1);
  CHECK(slurm.executed[0].find(" name=me.too@site cluster=gh ") != std::string::npos);
  for (const char* user : {"", "me,you", "-i", "me you", "me=x"})
    CHECK_FALSE(slurm::ask_accounts(slurm, config, user).why_not.empty());
  config.has_accounting = false;
  CHECK_FALSE(slurm::ask_accounts(slurm, config, "me").executed);
  CHECK(slurm.executed.size() == 1);
}
