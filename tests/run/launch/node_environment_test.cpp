// SPDX-License-Identifier: MIT
// What a node's ranks get for their network: Gloo's interface and limits, for the preflight and the program
// alike.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "run/launch/launch_play.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/gloo_interface.hpp"
#include "run/resolve/process_limits.hpp"
#include "shipped_site.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::launch;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

constexpr std::uint64_t k_gib = std::uint64_t{1} << 30;

NetworkView two_networks(const std::string& source) {
  return {{{"lo", "127.0.0.1", true},
           {"eth0", "10.1.0.7", false},
           {"hsn0", "10.2.0.7", false},
           {"hsn0", "fd00::7", false}},
          source};
}

/// A shell line under these limits of locked memory ("64" KiB, or "unlimited").
util::ProcessOutput run_limited(const std::string& limits, const std::string& site,
                                const std::vector<std::string>& words) {
  auto env = step_environment(0, 1);
  if (!site.empty()) env.set("HPCML_SITE", site);
  std::vector<std::string> argv = {"bash", "-c", limits + " exec \"$@\"", "bash", HPCML_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto output = util::run_process(argv, env, std::chrono::seconds(60));
  REQUIRE(output);
  return *output;
}

} // namespace

TEST_CASE("Gloo uses the interface that reaches the other nodes") {
  CHECK(choose_gloo_interface(two_networks("10.2.0.7"), "") == "hsn0");
  CHECK(choose_gloo_interface(two_networks("fd00::7"), "") == "hsn0");
  CHECK(choose_gloo_interface(two_networks("10.1.0.7"), "") == "eth0");
  CHECK(choose_gloo_interface(two_networks(""), "").empty());
  CHECK(choose_gloo_interface(two_networks("127.0.0.1"), "").empty());
  CHECK(choose_gloo_interface(two_networks("192.0.2.1"), "").empty());
  CHECK(choose_gloo_interface({}, "").empty());
  // NCCL's names are beginnings, "=" makes them exact, "^" excludes.
  CHECK(choose_gloo_interface(two_networks("10.1.0.7"), "hsn") == "hsn0");
  CHECK(choose_gloo_interface(two_networks("10.1.0.7"), "=hsn") == "eth0");
  CHECK(choose_gloo_interface(two_networks("10.1.0.7"), "^docker") == "eth0");
  CHECK(choose_gloo_interface(two_networks("10.1.0.7"), "ib0") == "eth0");
}

TEST_CASE("way to other nodes skips the node's own loopback names") {
  CHECK(read_network({}).addresses.empty());
  const auto network = read_network({"localhost", "127.0.1.1", "no-such-host.invalid"});
  CHECK(network.source.empty());
  CHECK_FALSE(network.addresses.empty());
  for (const auto& address : network.addresses)
    if (!address.loopback && !address.address.starts_with("fe80:")) // which needs an interface's name
      CHECK(read_network({"127.0.0.1", address.address}).source == address.address);
}

TEST_CASE("soft limits are raised to the hard limits, never lowered") {
  const auto raised = raise_limits({{65536, 8 * k_gib}, {1024, 524288}});
  CHECK(raised.locked_memory.soft == 8 * k_gib);
  CHECK(raised.open_files.soft == k_enough_open_files);
  CHECK(raise_limits({{1, 1}, {1024, 4096}}).open_files.soft == 4096);
  CHECK(raise_limits({{1, 1}, {1000000, 1000000}}).open_files.soft == 1000000);
  CHECK(raise_limits({{1, ProcessLimit::k_unlimited}, {}}).locked_memory.soft == ProcessLimit::k_unlimited);
}

TEST_CASE("locked memory is checked where the fabric locks any") {
  CHECK(locking_fabric_of("InfiniBand NDR, 4 x 200 Gb/s") == "InfiniBand NDR");
  CHECK(locking_fabric_of("InfiniBand: HDR for A100, NDR for the others") == "InfiniBand");
  CHECK(locking_fabric_of("Ethernet with RoCE, 100 Gb/s") == "Ethernet with RoCE");
  CHECK(locking_fabric_of("Omni-Path, 100 Gb/s") == "Omni-Path");
  CHECK(locking_fabric_of("Slingshot-11, 4 x 200 Gb/s").empty());
  CHECK(locking_fabric_of("Ethernet, 200 Gb/s").empty());
  CHECK(locking_fabric_of("").empty());
  CHECK_FALSE(check_locked_memory({65536, 65536}, ""));
  CHECK_FALSE(check_locked_memory({k_gib, k_gib}, "InfiniBand"));
  const auto soft = check_locked_memory({65536, ProcessLimit::k_unlimited}, "InfiniBand");
  REQUIRE(soft);
  CHECK(soft->can_be_raised);
  CHECK_THAT(soft->what, Contains("64 KiB (ulimit -l)") && Contains("unlimited"));
  const auto hard = check_locked_memory({65536, 8u << 20}, "InfiniBand");
  REQUIRE(hard);
  CHECK_FALSE(hard->can_be_raised);
  CHECK_THAT(hard->what, Contains("8 MiB (ulimit -Hl)"));
}

TEST_CASE("fabric that locks memory is found by the node's devices") {
  const test::TempDirectory root;
  CHECK(read_locking_fabric(root.path()).empty());
  const auto add = [&](const std::string& name, const std::string& state, const std::string& layer) {
    const auto port = root / ("sys/class/infiniband/" + name + "/ports/1");
    std::filesystem::create_directories(port);
    REQUIRE(util::write_file(port / "state", state + "\n"));
    REQUIRE(util::write_file(port / "link_layer", layer + "\n"));
  };
  add("mlx5_0", "1: DOWN", "InfiniBand");
  CHECK(read_locking_fabric(root.path()).empty());
  add("mlx5_1", "4: ACTIVE", "Ethernet");
  CHECK(read_locking_fabric(root.path()) == "RoCE");
  add("mlx5_2", "4: ACTIVE", "InfiniBand");
  CHECK(read_locking_fabric(root.path()) == "InfiniBand");
}

TEST_CASE("launch raises limits and reports insufficient ones") {
  const auto play_with = [](ProcessLimit locked, const std::string& site) {
    auto play = std::make_unique<LaunchPlay>(std::vector<std::string>{"exit 0"});
    play->become_task(0, 1);
    play->node.limits = {locked, {900, 4096}};
    if (!site.empty()) play->request.site = test::shipped_site(site);
    CHECK(play->run() == -1);
    return play;
  };
  const auto raised = play_with({65536, ProcessLimit::k_unlimited}, "");
  const auto& limits = raised->system.executed().at(0).limits;
  CHECK(limits.at(RLIMIT_MEMLOCK).rlim_cur == RLIM_INFINITY);
  CHECK(limits.at(RLIMIT_NOFILE).rlim_cur > 900);
  CHECK_THAT(raised->err(), !Contains("locked memory"));
  // Below 1 GiB at both ends.
  CHECK_THAT(play_with({65536, 65536}, "juwels_booster")->err(),
             Contains("locked memory is limited to 64 KiB (ulimit -Hl)") && Contains("InfiniBand HDR") &&
                 Contains("LimitMEMLOCK"));
  CHECK_THAT(play_with({65536, 65536}, "lumi")->err(), !Contains("locked memory"));
}

TEST_CASE("doctor and preflight report the same limit as launch") {
  const auto doctor = run_limited("ulimit -l 64;", "juwels_booster", {"doctor"});
  CHECK(doctor.exit_code == 1);
  CHECK_THAT(doctor.out,
             Contains("locked memory for InfiniBand HDR: 64 KiB (too low)") && Contains("[locked-memory]"));
  CHECK_THAT(run_limited("ulimit -l 64;", "lumi", {"doctor"}).out, !Contains("locked memory for"));
  // preflight shows the warnings of the launch by which it starts the same ranks
  const auto dry =
      run_limited("ulimit -l 64;", "juwels_booster", {"launch", "--nproc-per-node", "2", "--", "true"});
  CHECK_THAT(dry.err, Contains("hpcml: warning: ") && Contains("locked memory is limited to 64 KiB"));
}
