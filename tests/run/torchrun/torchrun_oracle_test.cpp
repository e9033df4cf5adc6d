// SPDX-License-Identifier: MIT
// The lines that torchrun takes are those that we take, with the same values: torch's own parser is the
// judge, where a Python with torch is installed. It need not be of the version whose flags we have.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "python_packages.hpp"
#include "random_numbers.hpp"
#include "run/torchrun/torchrun_flags.hpp"
#include "run/torchrun/torchrun_values.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using nlohmann::json;
using test::chance;
using test::pick;

namespace {

struct Case {
  std::vector<std::string> words;
  std::map<std::string, std::string> env;
};

/// What the judge says of each case, behind the names of its flags; nothing where there is none.
std::optional<std::vector<json>> ask_torch(const std::string& python, const std::vector<Case>& cases) {
  std::string input;
  for (const auto& test_case : cases)
    input += json{{"words", test_case.words}, {"env", test_case.env}}.dump() + "\n";
  const auto output =
      util::run_process({python, std::string(HPCML_SOURCE_DIR) + "/tests/run/torchrun/torchrun_lines.py"},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(120), input);
  if (!output || output->exit_code != 0) return std::nullopt;
  std::vector<json> answers;
  for (const auto& line : util::split(util::trim(output->out), '\n')) answers.push_back(json::parse(line));
  return answers;
}

/// Values that a flag may have, and some that it may not.
std::vector<std::string> values_for(const std::string& flag) {
  const auto has = [&](const char* text) { return flag.find(text) != flag.npos; };
  if (has("nnodes")) return {"1", "2", "1:4"};
  if (has("nproc")) return {"1", "8", "gpu", "auto"};
  if (has("filter")) return {"0,1", "3"};
  if (has("max") || has("rank") || has("port") || has("timeout")) return {"0", "3", "x", " 2 ", "+1", "-r"};
  if (has("interval")) return {"0.1", "5", "x"};
  if (has("method")) return {"spawn", "fork", "thread"};
  if (has("handler")) return {"null"};
  if (has("conf")) return {"timeout=30,join_timeout=60", "is_host=1"};
  if (has("endpoint")) return {"n1:29400", "n1", "[::1]:5"};
  if (has("numa")) return {"node", "exclusive", "no"};
  if (has("signals")) return {"SIGTERM,SIGUSR1"};
  if (flag == "-r" || flag == "-t" || has("redirects") || has("tee")) return {"0", "3", "0:1,1:2"};
  return {"c10d", "a b", "-", "--", "x=y", "-v", "-5"};
}

bool is_switch(const std::string& flag) {
  for (const auto* name : {"-h", "--help", "-m", "--module", "--standalone", "--no-python", "--no_python",
                           "--run-path", "--run_path", "--virtual-local-rank", "--virtual_local_rank"})
    if (flag == name) return true;
  return false;
}

Case make_case(std::mt19937& random, const std::vector<std::string>& flags) {
  Case made;
  for (unsigned count = pick(random, 0, 4); count > 0; --count) {
    auto flag = flags[random() % flags.size()];
    if (flag == "--logs-specs" || flag == "--logs_specs" || (flag.find("-h") == 0 && chance(random, 90)))
      continue;
    const auto values = values_for(flag);
    auto value = values[random() % values.size()];
    if (flag.size() > 6 && chance(random, 25)) flag.resize(flag.size() - pick(random, 1, 4));
    if (is_switch(flag) || chance(random, 2))
      made.words.push_back(chance(random, 3) ? flag + "=1" : flag);
    else if (chance(random, 50))
      made.words.insert(made.words.end(), {flag, value});
    else if (value == "--") // argparse makes an empty list of "--flag=--"
      made.words.push_back(flag + "=x");
    else
      made.words.push_back(flag.size() == 2 && chance(random, 50) ? flag + value : flag + "=" + value);
  }
  if (chance(random, 5)) made.words.emplace_back(chance(random, 50) ? "--no-such-flag" : "-mr3");
  if (chance(random, 10)) made.words.emplace_back("--");
  if (chance(random, 95)) made.words.emplace_back(chance(random, 50) ? "train.py" : "a b");
  for (const auto* word : {"--", "--lr=3", "--nnodes", "7", "-v", "--"})
    if (chance(random, 30)) made.words.emplace_back(word);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"PET_NNODES", "2:3"},
                                                                      {"PET_REDIRECTS", "3"},
                                                                      {"PET_STANDALONE", "1"},
                                                                      {"PET_MODULE", "0"},
                                                                      {"PET_MAX_RESTARTS", "4"},
                                                                      {"PET_RDZV_ID", "job"},
                                                                      {"PET_NO_PYTHON", "x"},
                                                                      {"PET_NODE_RANK", "y"}})
    if (chance(random, value.size() == 1 && value > "9" ? 2 : 15)) made.env[name] = value;
  return made;
}

/// Where what we read is not what torch did; empty: nowhere.
std::string difference(const torchrun::TorchrunRequest& ours, const json& theirs) {
  std::string found;
  const auto compare = [&](const char* name, auto&& mine, auto&& wanted) {
    if (!(mine == wanted)) found += std::string(found.empty() ? "" : ", ") + name;
  };
  const auto text = [&](const char* name) { return theirs.at(name).get<std::string>(); };
  compare("nnodes", std::optional(std::pair(ours.min_nodes, ours.max_nodes)),
          torchrun::parse_node_range(text("nnodes")));
  compare("nproc", ours.ranks.value_or(torchrun::RanksPerNode{}),
          *torchrun::parse_ranks_of_node(text("nproc_per_node")));
  compare("backend", ours.backend, text("rdzv_backend"));
  compare("endpoint", ours.endpoint,
          text("rdzv_endpoint").empty() ? std::nullopt : torchrun::parse_endpoint(text("rdzv_endpoint")));
  compare("id", ours.run_id, text("rdzv_id"));
  compare("conf", ours.conf, *torchrun::parse_conf(text("rdzv_conf")));
  compare("standalone", ours.standalone, theirs.at("standalone").get<bool>());
  compare("restarts", static_cast<long>(ours.max_restarts), theirs.at("max_restarts").get<long>());
  compare("role", ours.role, text("role"));
  compare("module", ours.module, theirs.at("module").get<bool>());
  compare("no_python", ours.no_python, theirs.at("no_python").get<bool>());
  compare("run_path", ours.run_path, theirs.at("run_path").get<bool>());
  compare("log_dir", ours.log_directory, theirs.at("log_dir").is_null() ? "" : text("log_dir"));
  const auto is_streams = [&](const launch::StreamsOfRanks& mine, const char* name) {
    const auto wanted = torchrun::parse_streams(text(name));
    return wanted && mine.others == wanted->others && mine.named == wanted->named;
  };
  compare("redirects", is_streams(ours.redirects, "redirects"), true);
  compare("tee", is_streams(ours.tee, "tee"), true);
  compare("node_rank", static_cast<long>(ours.node_rank.value_or(0)), theirs.at("node_rank").get<long>());
  compare("master_addr", ours.master_host.empty() ? "127.0.0.1" : ours.master_host, text("master_addr"));
  compare("script", ours.script, text("training_script"));
  compare("arguments", ours.arguments, theirs.at("training_script_args").get<std::vector<std::string>>());
  return found;
}

/// Whether torchrun takes this line's words and ends, or waits for ever, because of what they say.
bool fails_later(const json& theirs) {
  const auto nodes = torchrun::parse_node_range(theirs.at("nnodes").get<std::string>());
  return !torchrun::parse_streams(theirs.at("redirects").get<std::string>()) ||
         !torchrun::parse_streams(theirs.at("tee").get<std::string>()) ||
         !torchrun::parse_rank_list(theirs.value("local_ranks_filter", "")) ||
         (theirs.at("module").get<bool>() && theirs.at("no_python").get<bool>() &&
          !theirs.at("run_path").get<bool>()) ||
         theirs.value("event_log_handler", "null") != "null" ||
         (theirs.at("standalone").get<bool>() && nodes && nodes->second > 1);
}

} // namespace

TEST_CASE("lines are read as the installed torch's own parser reads them") {
  const auto pythons = test::torch_pythons();
  if (pythons.empty()) return test::skip_missing("python3-torch");
  auto answers = ask_torch(pythons.front(), {});
  REQUIRE(answers);
  const auto flags = answers->front().get<std::vector<std::string>>();
  std::mt19937 random(17);
  std::vector<Case> cases;
  for (unsigned count = 0; count < 2000; ++count) cases.push_back(make_case(random, flags));
  answers = ask_torch(pythons.front(), cases);
  REQUIRE(answers);
  REQUIRE(answers->size() == cases.size() + 1);
  unsigned read = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& theirs = (*answers)[i + 1];
    const auto line = torchrun::read_torchrun_line(cases[i].words, util::EnvSnapshot(cases[i].env));
    CAPTURE(cases[i].words, cases[i].env, theirs.dump());
    const auto error = theirs.value("error", "");
    // A short name that two spellings of one flag have is no doubt for us, nor is a flag of the program's; a
    // variable that is no number is none where the line says it; an older torch has fewer flags that may be
    // meant.
    if (error.find("ambiguous") != error.npos || error.find("invalid literal") != error.npos) continue;
    if (!line.errors.empty() && line.errors.front().what.find(" is ambiguous") != std::string::npos) continue;
    if (line.output != torchrun::TorchrunParseResult::Output::ranks) {
      CHECK(theirs.contains("error")); // help ends their parser
      continue;
    }
    if (theirs.contains("error") || fails_later(theirs)) {
      CHECK_FALSE(line.errors.empty());
      continue;
    }
    if (!line.errors.empty())
      FAIL_CHECK("torchrun takes this line, and we say: " << line.errors.front().what);
    CHECK(difference(line.request, theirs).empty());
    ++read;
  }
  CHECK(read > 500);
}
