// SPDX-License-Identifier: MIT
// Which network a log tells of. The lines are those that NCCL and RCCL of several releases write.
#include <catch2/catch.hpp>

#include "diagnose/joblog/log_reader.hpp"

using namespace hpcml;
using Catch::Contains;

namespace {

const joblog::SiteNetwork k_slingshot{"LUMI", "Slingshot-11, 4 x 200 Gb/s"};
const joblog::SiteNetwork k_infiniband{"Narval", "InfiniBand HDR100"};
const joblog::SiteNetwork k_unnamed;

joblog::LogReport read(const std::string& log, const joblog::SiteNetwork& site) {
  joblog::LogReader reading;
  reading.add(log);
  reading.end();
  return joblog::make_report("run.log", reading, site);
}

/// What a process writes on its way to a network, as `host` and process `pid`.
std::string lines_of(const std::string& host, int pid, const std::vector<std::string>& texts) {
  std::string log;
  for (const auto& text : texts)
    log += host + ":" + std::to_string(pid) + ":" + std::to_string(pid) + " [0] NCCL INFO " + text + "\n";
  return log;
}

std::string by_cxi(const std::string& host, int rank) {
  return lines_of(
      host, 100 + rank,
      {"NET/OFI Using aws-ofi-rccl 1.4.0", "NET/OFI Selected Provider is cxi", "Using network AWS Libfabric",
       "comm 0x55d0 rank " + std::to_string(rank) + " nranks 2 cudaDev 0 busId c9000 - Init COMPLETE"});
}

std::string by_sockets(const std::string& host, int rank) {
  return lines_of(
      host, 100 + rank,
      {"NET/Plugin : No plugin found (librccl-net.so), using internal implementation",
       "NET/IB : No device found.", "NET/Socket : Using [0]hsn0:10.253.1.2<0> [1]hsn1:10.253.1.3<0>",
       "Using network Socket",
       "comm 0x55d0 rank " + std::to_string(rank) + " nranks 2 cudaDev 0 busId c9000 - Init COMPLETE"});
}

} // namespace

TEST_CASE("the two lines of LUMI's page say that the plugin and its network are used, with their places") {
  const auto report =
      read("hello\nNCCL INFO NET/OFI Using aws-ofi-rccl 1.4.0\nNCCL INFO NET/OFI Selected Provider is cxi\n",
           k_slingshot);
  CHECK_FALSE(report.is_bad());
  REQUIRE(report.network.groups.size() == 1);
  CHECK(report.network.groups[0].carrier == joblog::NetworkTransport::libfabric);
  CHECK(report.network.groups[0].how == "libfabric, provider cxi (aws-ofi-rccl 1.4.0)");
  CHECK_THAT(joblog::render_text(report), Contains("  run.log:2: NET/OFI Using aws-ofi-rccl 1.4.0\n") &&
                                              Contains("  run.log:3: NET/OFI Selected Provider is cxi\n"));
}

TEST_CASE(
    "ranks that fall back to sockets are told from those that do not, and what to do stands below them") {
  const auto report = read(by_cxi("nid000012", 0) + by_sockets("nid000013", 1), k_slingshot);
  REQUIRE(report.network.groups.size() == 2);
  const auto& bad = report.network.groups[0];
  CHECK(bad.carrier == joblog::NetworkTransport::sockets);
  CHECK(bad.hosts == std::set<std::string>{"nid000013"});
  CHECK(bad.ranks == std::set<unsigned>{1});
  CHECK(bad.warning == "traffic between nodes uses TCP, but LUMI has Slingshot-11, 4 x 200 Gb/s");
  REQUIRE(bad.next.size() == 1);
  CHECK_THAT(bad.next[0], Contains("the plugin was not found"));
  CHECK(report.network.groups[1].ranks == std::set<unsigned>{0});
  CHECK(report.network.groups[1].warning.empty());
  CHECK(report.is_bad());
  CHECK_THAT(joblog::render_text(report), Contains("network: rank 1 on nid000013: TCP sockets\n") &&
                                              Contains("  run.log:5: NET/Plugin : No plugin found"));
}

TEST_CASE("sockets are no fault on one node, nor on a site that has nothing else") {
  CHECK_FALSE(read(by_sockets("n1", 0), k_slingshot).is_bad());
  CHECK_THAT(joblog::render_text(read(by_sockets("n1", 0), k_slingshot)),
             Contains("all processes are on one node"));
  const auto both = by_sockets("n1", 0) + by_sockets("n2", 1);
  CHECK(read(both, k_slingshot).is_bad());
  CHECK_FALSE(read(both, {"A site", ""}).is_bad());
  CHECK_FALSE(read(both, {"A site", "Ethernet, 25 Gb/s"}).is_bad());
  CHECK_THAT(read(both, k_unnamed).network.groups[0].warning, Contains("check with --site SITE"));
}

TEST_CASE(
    "a rank of several nodes counts them by what NCCL says, where the log holds one node's lines only") {
  auto log = by_sockets("n1", 0);
  log += lines_of("n1", 100, {"comm 0x55eb rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0 MNNVL 0"});
  CHECK(read(log, k_infiniband).is_bad());
}

TEST_CASE(
    "InfiniBand is used where a device is named, and not where newer releases write the line without one") {
  const auto good =
      read(lines_of("n1", 1, {"NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.1<0>"}), k_infiniband);
  CHECK(good.network.groups.at(0).carrier == joblog::NetworkTransport::infiniband);
  const std::vector<std::string> none = {"NET/Plugin: Could not find: libnccl-net.so",
                                         "NET/IB : No device found.",
                                         "NET/IB : Using [RO]; OOB eth0:172.17.16.64<0>",
                                         "Failed to initialize NET plugin IB",
                                         "NET/Socket : Using [0]eth0:172.17.16.64<0>",
                                         "Initialized NET plugin Socket",
                                         "Assigned NET plugin Socket to comm"};
  const auto bad = read(lines_of("n1", 1, none) + lines_of("n2", 1, none), k_infiniband);
  REQUIRE(bad.network.groups.size() == 1);
  CHECK(bad.network.groups[0].carrier == joblog::NetworkTransport::sockets);
  CHECK(bad.network.groups[0].hosts.size() == 2);
  REQUIRE(bad.network.groups[0].next.size() == 1); // no plugin is needed there
  CHECK_THAT(bad.network.groups[0].next[0], Contains("/dev/infiniband"));
  const auto undecided = read(lines_of("n1", 1,
                                       {"NET/IB : Using [RO]; OOB eth0:172.17.16.64<0>",
                                        "NET/Socket : Using [0]eth0:172.17.16.64<0>"}),
                              k_infiniband);
  CHECK(undecided.network.groups.at(0).carrier == joblog::NetworkTransport::sockets);
}

TEST_CASE("a log that begins after the decision tells it by its channels") {
  const auto report =
      read(lines_of("n1", 1, {"Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA"}) +
               lines_of("n2", 1, {"Channel 00/0 : 8[0] -> 0[0] [receive] via NET/Socket/0"}),
           k_slingshot);
  REQUIRE(report.network.groups.size() == 2);
  CHECK(report.network.groups[0].hosts == std::set<std::string>{"n2"});
  CHECK(report.network.groups[0].carrier == joblog::NetworkTransport::sockets);
  CHECK(report.network.groups[1].carrier == joblog::NetworkTransport::libfabric);
}

TEST_CASE(
    "what stands in the way is named: a variable, a library, a plugin that fails, TCP below libfabric") {
  const auto next = [](const std::vector<std::string>& texts, const joblog::SiteNetwork& site) {
    const auto report = read(lines_of("n1", 1, texts) + lines_of("n2", 1, texts), site);
    REQUIRE(report.network.groups.size() == 1);
    REQUIRE_FALSE(report.network.groups[0].next.empty());
    return report.network.groups[0].next[0];
  };
  const std::string socket = "Using network Socket";
  CHECK_THAT(next({"NCCL_IB_DISABLE set by environment to 1.", socket}, k_infiniband),
             Contains("remove NCCL_IB_DISABLE"));
  CHECK_THAT(next({"NCCL_IB_DISABLE set by environment to 0.", socket}, k_infiniband), !Contains("unset"));
  CHECK_THAT(next({"Failed to open libibverbs.so[.1]", socket}, k_infiniband),
             Contains("libibverbs.so.1 is missing"));
  CHECK_THAT(next({"NET/OFI Using aws-ofi-nccl 1.9.1", "NET/OFI aws-ofi-nccl initialization failed", socket},
                  k_slingshot),
             Contains("did not start"));
  CHECK_THAT(next({"NET/OFI Using aws-ofi-rccl 1.4.0", "NET/OFI Selected Provider is tcp;ofi_rxm",
                   "Using network AWS Libfabric"},
                  k_slingshot),
             Contains("plugin aws-ofi-nccl"));
}

TEST_CASE("launchers' prefixes, EFA's count of cards and other libraries' lines leave host and rank right") {
  const auto line = joblog::parse_nccl_line(
      "[1,0]<stdout>:worker-0:21:22 [3] NCCL INFO NET/OFI Selected Provider is efa (found 1 nics)");
  REQUIRE(line);
  CHECK(line->writer.host == "worker-0");
  CHECK(line->writer.pid == 21);
  CHECK(line->device == "3");
  const auto dated = joblog::parse_nccl_line(
      "[2026-01-02 10:24:27] ip-172-31-3-153:35115:35469 [2] ncclResult_t init(int):162 "
      "NCCL WARN NET/OFI Initializing plugin failed");
  REQUIRE(dated);
  CHECK(dated->warning);
  CHECK(dated->writer.host == "ip-172-31-3-153");
  CHECK(joblog::rank_in_front("[12] nid1:1:1 [0] NCCL INFO x") == 12u);
  CHECK(joblog::rank_in_front("  3: text") == 3u);
  CHECK(joblog::rank_in_front("[rank7]: Traceback") == 7u);
  CHECK_FALSE(joblog::rank_in_front("[2026-01-02] x"));
  CHECK_FALSE(joblog::parse_nccl_line("about NCCL INFORMATION"));
  CHECK(read("[0] NCCL INFO NET/OFI Selected Provider is efa (found 1 nics)\n", k_unnamed)
            .network.groups.at(0)
            .how == "libfabric, provider efa");
}

TEST_CASE("a log of one endless line, of bytes that move the cursor, and of pieces that end anywhere is read "
          "alike") {
  const std::string hostile = "n1:1:1 [0] NCCL INFO Using network \x1b[2JSocket\xff\n";
  CHECK_THAT(joblog::render_text(read(hostile, k_unnamed)),
             !Contains("\x1b") && !Contains("\xff") && Contains("\\x1b[2J"));
  const auto whole =
      by_cxi("nid000012", 0) + "x" + std::string(100000, 'y') + "\n" + by_sockets("nid000013", 1);
  const auto expected = joblog::render_json(read(whole, k_slingshot));
  for (const std::size_t size : {1U, 7U, 1000U}) {
    joblog::LogReader reading;
    for (std::size_t at = 0; at < whole.size(); at += size)
      reading.add(std::string_view(whole).substr(at, size));
    reading.end();
    CHECK(joblog::render_json(joblog::make_report("run.log", reading, k_slingshot)) == expected);
  }
  joblog::LogReader endless;
  for (int i = 0; i < 64; ++i) endless.add(std::string(1U << 20U, 'z'));
  endless.add("\n" + by_cxi("n1", 0));
  endless.end();
  CHECK(endless.lines() == 5);
  CHECK(endless.networks().processes().size() == 1);
}
