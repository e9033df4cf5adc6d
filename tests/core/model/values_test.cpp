// SPDX-License-Identifier: MIT
// Value types against what Slurm itself reads and writes (22.05.8; tables measured with real sbatch, see docs
// of each row).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iterator>

#include <filesystem>
#include <random>
#include <set>

#include <unistd.h>

#include "core/model/hostlist.hpp"
#include "core/model/id_set.hpp"
#include "core/model/launcher.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/node_shape.hpp"
#include "core/model/retry_classes.hpp"
#include "core/model/walltime.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::model;

TEST_CASE("time limits are read as Slurm reads them") {
  struct Row {
    const char* text;
    long seconds;
    const char* slurm;
  };
  for (const Row row : {Row{"90", 5400, "01:30:00"},
                        {"0:45", 45, "00:00:45"},
                        {"10:00", 600, "00:10:00"},
                        {"08:00:00", 28800, "08:00:00"},
                        {"2-0", 172800, "2-00:00:00"},
                        {"1-12:30", 131400, "1-12:30:00"},
                        {"0-00:60:00", 3600, "01:00:00"},
                        {"1-", 86400, "1-00:00:00"},
                        {"1-24:00:00", 172800, "2-00:00:00"},
                        {"48h", 172800, "2-00:00:00"},
                        {"1h30m", 5400, "01:30:00"},
                        {"2d", 172800, "2-00:00:00"}}) {
    INFO(row.text);
    const auto time = Walltime::parse(row.text);
    REQUIRE(time);
    CHECK(time->seconds().count() == row.seconds);
    CHECK(time->to_slurm() == row.slurm);
    CHECK(Walltime::parse(time->to_slurm())->seconds() == time->seconds());
  }
}

TEST_CASE("a time before the limit is read as a limit is, and said to be none where it is wrong") {
  CHECK(LeadTime::parse("90s")->seconds().count() == 90);
  CHECK(LeadTime::parse("5")->seconds().count() == 300);
  for (const char* text : {"", "0", "-1", "unlimited", "soon"}) {
    INFO(text);
    const auto time = LeadTime::parse(text);
    REQUIRE_FALSE(time);
    CHECK(time.error().what.find("before the time limit") != std::string::npos);
    CHECK(time.error().hint.find("90s") != std::string::npos);
  }
}

TEST_CASE("what may be tried again: words that may not, or are none, get those that may") {
  CHECK(RetryClasses::parse("node,preempted")->text() == "node,preempted");
  for (const char* text : {"program", "out-of-memory", "user", "terminated", "nod", "node,", ""}) {
    INFO(text);
    const auto classes = RetryClasses::parse(text);
    REQUIRE_FALSE(classes);
    CHECK(classes.error().hint == "use one or more of time-limit, preempted, node, launcher");
  }
}

TEST_CASE("time limits that Slurm refuses or takes for unlimited are errors") {
  for (const char* text : {"", " ", "1:00:00:00", "=08:00:00", "-1", "UNLIMITED", "0", "0:0:0", "30m1h", "1x",
                           "h", "1.5h", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(Walltime::parse(text).ok());
  }
}

TEST_CASE("memory sizes are read as Slurm reads them") {
  struct Row {
    const char* text;
    unsigned long long mib;
    const char* slurm;
  };
  for (const Row row : {Row{"480G", 491520, "480G"},
                        {"256Gb", 262144, "256G"},
                        {"64g", 65536, "64G"},
                        {"16384", 16384, "16G"},
                        {"510000M", 510000, "510000M"},
                        {"16K", 1, "1M"},
                        {"1T", 1048576, "1024G"},
                        {"0", 0, "0"}}) {
    INFO(row.text);
    const auto size = MemSize::parse(row.text);
    REQUIRE(size);
    CHECK(size->mib() == row.mib);
    CHECK(size->to_slurm() == row.slurm);
  }
  for (const char* text : {"", "1.5G", "64GiB", "16B", "16Go", "1P", "G", "-1G", "9999999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(MemSize::parse(text).ok());
  }
}

TEST_CASE("id sets survive lists and masks of any length") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::set<unsigned> oracle;
    IdSet set;
    const unsigned highest = 1 + random() % 600;
    for (unsigned i = random() % 80; i > 0; --i) {
      const unsigned id = random() % highest;
      oracle.insert(id);
      set.add(id);
    }
    REQUIRE(set.ids() == std::vector<unsigned>(oracle.begin(), oracle.end()));
    REQUIRE(set.size() == oracle.size());
    REQUIRE(*IdSet::parse_list(set.to_list()) == set);
    REQUIRE(*IdSet::parse_mask(set.to_mask()) == set);
    const unsigned gone = random() % highest;
    oracle.erase(gone);
    set.remove(gone);
    REQUIRE(set.ids() == std::vector<unsigned>(oracle.begin(), oracle.end()));
    REQUIRE((set | IdSet::of({gone})).contains(gone));
    REQUIRE((set & IdSet::of({gone})).empty());
  }
}

TEST_CASE("sets of ids do what sets of numbers do, below and above 255") {
  std::mt19937 random(20261121);
  const auto draw = [&] {
    // Few or many ids, some sets with low ones only.
    const unsigned top = std::array{70U, 256U, 300U, 65535U}[random() % 4];
    std::set<unsigned> ids;
    for (unsigned i = random() % 20; i > 0; --i) ids.insert(random() % (top + 1));
    return ids;
  };
  const auto as_set = [](const std::set<unsigned>& ids) { return IdSet::of({ids.begin(), ids.end()}); };
  for (unsigned round = 0; round < 5000; ++round) {
    const auto a = draw();
    auto b = draw();
    if (round % 4 == 0) b.insert(a.begin(), a.end());
    std::set<unsigned> both, either, only;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::inserter(either, either.end()));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(only, only.end()));
    const auto x = as_set(a), y = as_set(b);
    REQUIRE(x.ids() == std::vector<unsigned>(a.begin(), a.end()));
    REQUIRE((x & y) == as_set(both));
    REQUIRE((x | y) == as_set(either));
    REQUIRE((x - y) == as_set(only));
    REQUIRE(x.intersects(y) == !both.empty());
    REQUIRE(x.is_subset_of(y) == only.empty());
    REQUIRE(x.size() == a.size());
    REQUIRE(x.empty() == a.empty());
    if (!a.empty()) REQUIRE(x.first() == *a.begin());
    auto less = x;
    for (const auto id : a) less.remove(id);
    REQUIRE(less == IdSet());
  }
}

TEST_CASE("masks are written as the LUMI documentation writes them") {
  CHECK(IdSet::range(49, 55).to_mask() == "0xfe000000000000");
  CHECK(IdSet::range(1, 7).to_mask() == "0xfe");
  CHECK(IdSet::parse_mask("ffffffff,00000001")->to_list() == "0,32-63");
  CHECK(IdSet().to_mask() == "0x0");
  for (const char* text : {"0x", "0xg", "", "f,ffffffff,"}) CHECK_FALSE(IdSet::parse_mask(text).ok());
  for (const char* text : {"3-1", "a", "1,,2", "1-", "70000"}) CHECK_FALSE(IdSet::parse_list(text).ok());
}

TEST_CASE("node lists give the names that scontrol gives") {
  auto env = util::EnvSnapshot::of_process();
  // scontrol wants a readable configuration even where it asks no daemon
  const auto conf = std::filesystem::temp_directory_path() /
                    ("hpcml-hostlist-test-" + std::to_string(::getpid()) + ".conf");
  REQUIRE(util::write_file(conf, "ClusterName=t\nSlurmctldHost=localhost\nAuthType=auth/"
                                 "none\nNodeName=localhost\nPartitionName=p Nodes=localhost\n"));
  env.set("SLURM_CONF", conf.string());
  bool was_evaluated = false;
  for (const char* text :
       {"nid[001-004,007]", "r[1-2]n[03-04]", "a,b[2-3]", "n1", "n[01-10]", "x[1-2],x[9-11]y"}) {
    INFO(text);
    const auto list = Hostlist::parse(text);
    if (std::string(text).find("]y") != std::string::npos) { // a suffix: Slurm 23.11 and later only
      REQUIRE(list);
      CHECK(list->names() == std::vector<std::string>{"x1", "x2", "x9y", "x10y", "x11y"});
      continue;
    }
    REQUIRE(list);
    // scontrol needs a readable configuration even for this; an empty one with a cluster name will do
    const auto result =
        util::run_process({"scontrol", "show", "hostnames", text}, env, std::chrono::seconds(300));
    if (result && result->exit_code == 0) {
      was_evaluated = true;
      CHECK(util::join(list->names(), "\n") == std::string(util::trim(result->out)));
    }
    CHECK(Hostlist::parse(compress_hostlist(list->names()))->names() == list->names());
  }
  std::filesystem::remove(conf);
  if (util::find_program("scontrol", env))
    CHECK(was_evaluated);
  else
    test::skip_missing("scontrol");
  CHECK(compress_hostlist({"n1", "n2", "n4"}) == "n[1-2,4]");
  CHECK(compress_hostlist({"n3", "n1", "n2"}) == "n[3,1-2]");
  CHECK(compress_hostlist({"a", "b"}) == "a,b");
  for (const char* text : {"n[1-2", "n1]", "n[2-1]", "n[1-2:2]", "n[x]", "a,,b", "n[1-999999]", "n[]"}) {
    INFO(text);
    CHECK_FALSE(Hostlist::parse(text).ok());
  }
}

TEST_CASE("a regular node has the usual Linux numbering") {
  const auto shape = make_regular_cpus(1, 64, 2, 4, 8);
  CHECK(shape.numa[3].cpus.to_list() == "48-63,112-127");
  CHECK(shape.l3[7].cpus.to_list() == "56-63,120-127");
  CHECK(shape.core_threads[5].to_list() == "5,69");
  CHECK(shape.all().size() == 128);
}

TEST_CASE("a launcher is hpcml, an agent, or a program that starts tasks") {
  struct Row {
    const char* name;
    bool hpcml;
    bool agent;
  };
  for (const Row row : {Row{"hpcml", true, false},
                        {"torchrun", false, true},
                        {"accelerate", false, true},
                        {"deepspeed", false, false},
                        {"srun", false, false},
                        {"ibrun", false, false},
                        {"bede-mpirun", false, false},
                        {"mpiexec", false, false}}) {
    INFO(row.name);
    const auto launcher = Launcher::parse(row.name);
    REQUIRE(launcher);
    CHECK(launcher->name() == row.name);
    CHECK(launcher->is_hpcml() == row.hpcml);
    CHECK(launcher->is_agent() == row.agent);
  }
  for (const char* name : {"", "bash", "torchrum", "-srun", "a b-srun", "/bin/srun", "srun-x", "A-mpirun"}) {
    INFO(name);
    CHECK_FALSE(Launcher::parse(name));
  }
  CHECK(Launcher::parse("torchrum").error().hint == "use 'torchrun', or run hpcml gen --help");
}
