// SPDX-License-Identifier: MIT
// Each flag of torchrun as it is read. The expectations are those of torch 2.13's documentation and of its
// argparse.
#include "run/torchrun/torchrun_flags.hpp"

#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/torchrun/torchrun_page.hpp"
#include "run/torchrun/torchrun_rows.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using Words = std::vector<std::string>;
using Of = torchrun::RanksPerNode::Of;

namespace {

torchrun::TorchrunParseResult read_words(Words words, std::map<std::string, std::string> env = {}) {
  words.emplace_back("train.py");
  return torchrun::read_torchrun_line(words, util::EnvSnapshot(std::move(env)));
}

/// A line without errors.
torchrun::TorchrunRequest request_of(const Words& words, std::map<std::string, std::string> env = {}) {
  const auto line = read_words(words, std::move(env));
  for (const auto& error : line.errors) FAIL_CHECK(error.what);
  CHECK(line.request.script == "train.py");
  return line.request;
}

/// What is wrong, of all errors the first; empty: nothing.
std::string fault_of(const Words& words, std::map<std::string, std::string> env = {}) {
  const auto line = read_words(words, std::move(env));
  return line.errors.empty() ? "" : line.errors.front().what;
}

const launch::OutputStreams k_none{}, k_out{true, false}, k_err{false, true}, k_both{true, true};

} // namespace

TEST_CASE("without flags the line is torchrun's default: one node, one rank, no restarts") {
  const auto request = request_of({});
  CHECK(request.min_nodes == 1);
  CHECK(request.max_nodes == 1);
  CHECK_FALSE(request.ranks);
  CHECK(request.backend == "static");
  CHECK(request.run_id == "none");
  CHECK(request.role == "default");
  CHECK(request.max_restarts == 0);
  CHECK(request.notes.empty());
}

TEST_CASE("--nnodes is a number or a range") {
  CHECK(request_of({"--nnodes", "3"}).min_nodes == 3);
  CHECK(request_of({"--nnodes=1:4"}).max_nodes == 4);
  CHECK(request_of({"--nnodes=1:4"}).min_nodes == 1);
  for (const auto* wrong : {"0", "4:1", "1:2:3", "two", ""})
    CHECK(fault_of({std::string("--nnodes=") + wrong}).starts_with("--nnodes must be N or MIN:MAX"));
}

TEST_CASE("--nproc-per-node is a number or what is counted") {
  CHECK(request_of({"--nproc-per-node", "8"}).ranks == torchrun::RanksPerNode{Of::number, 8});
  CHECK(request_of({"--nproc_per_node=auto"}).ranks == torchrun::RanksPerNode{Of::gpus_or_cpus, 0});
  CHECK(request_of({"--nproc-per-node=cpu"}).ranks == torchrun::RanksPerNode{Of::cpus, 0});
  CHECK(request_of({"--nproc-per-node=gpu"}).ranks == torchrun::RanksPerNode{Of::gpus, 0});
  CHECK(request_of({"--nproc-per-node=xpu"}).ranks == torchrun::RanksPerNode{Of::xpus, 0});
  CHECK(fault_of({"--nproc-per-node=0"}).find("must be a number from 1") != std::string::npos);
  CHECK(fault_of({"--nproc-per-node=hpu"}).find("not \"hpu\"") != std::string::npos);
}

TEST_CASE("--rdzv-backend is any name") {
  CHECK(request_of({"--rdzv-backend", "c10d"}).backend == "c10d");
  CHECK(request_of({"--rdzv_backend=etcd-v2"}).backend == "etcd-v2");
}

TEST_CASE("--rdzv-endpoint is a host with a port or without, also an address of six") {
  CHECK(request_of({"--rdzv-endpoint", "n1:29400"}).endpoint == torchrun::Endpoint{"n1", 29400});
  CHECK(request_of({"--rdzv-endpoint", "n1.site.org"}).endpoint == torchrun::Endpoint{"n1.site.org", {}});
  CHECK(request_of({"--rdzv_endpoint=localhost:0"}).endpoint == torchrun::Endpoint{"localhost", 0});
  CHECK(request_of({"--rdzv-endpoint=[fe80::1]:5"}).endpoint == torchrun::Endpoint{"fe80::1", 5});
  CHECK(request_of({"--rdzv-endpoint=[::1]"}).endpoint == torchrun::Endpoint{"::1", {}});
  CHECK_FALSE(request_of({"--rdzv-endpoint="}).endpoint);
  for (const auto* wrong : {"n1:", "n1:65536", "n1:x", "a b:1", "http://n1:1"})
    CHECK(fault_of({"--rdzv-endpoint", wrong}).starts_with("--rdzv-endpoint must be HOST or HOST:PORT"));
}

TEST_CASE("--rdzv-id and --rdzv-conf are kept as they are") {
  CHECK(request_of({"--rdzv-id", "42"}).run_id == "42");
  const auto request = request_of({"--rdzv-conf", " timeout = 30,join_timeout=60"});
  REQUIRE(request.conf.size() == 2);
  CHECK(request.conf[0] == std::pair<std::string, std::string>("timeout", "30"));
  CHECK(request.conf[1].second == "60");
  CHECK(fault_of({"--rdzv-conf", "timeout"}).starts_with("--rdzv-conf must be KEY=VALUE"));
}

TEST_CASE("--standalone is one machine") {
  CHECK(request_of({"--standalone"}).standalone);
  CHECK(fault_of({"--standalone", "--nnodes=2"}).find("uses one machine") != std::string::npos);
  CHECK(fault_of({"--standalone=1"}).find("accepts no value") != std::string::npos);
}

TEST_CASE("--max-restarts is a number") {
  CHECK(request_of({"--max-restarts", "3"}).max_restarts == 3);
  CHECK(request_of({"--max_restarts=+3"}).max_restarts == 3);
  CHECK(fault_of({"--max-restarts=-1"}).starts_with("--max-restarts must be a whole number from 0"));
}

TEST_CASE("torchrun flags without effect are checked and some reported") {
  for (const auto& [flag, good, wrong, reported] : {std::tuple("--monitor-interval", "0.5", "soon", false),
                                                    std::tuple("--start-method", "fork", "thread", false),
                                                    std::tuple("--numa-binding", "socket", "gpu", true)}) {
    CAPTURE(flag);
    const auto request = request_of({flag, good});
    REQUIRE(request.notes.size() == (reported ? 1 : 0));
    if (reported) CHECK(request.notes.front().starts_with(flag));
    CHECK(fault_of({flag, wrong}).starts_with(std::string(flag) + " must be "));
  }
  CHECK(request_of({"--local-addr", "10.0.0.1"}).notes.size() == 1);
}

TEST_CASE("--event-log-handler is refused but for null, and --logs-specs is") {
  CHECK(request_of({"--event-log-handler", "null"}).notes.empty());
  CHECK(fault_of({"--event_log_handler=console"}).find("the run record in --log-dir") != std::string::npos);
  CHECK(fault_of({"--logs-specs", "mine"}).find("--log-dir, -r and -t") != std::string::npos);
}

TEST_CASE("--role, --module, --no-python and --run-path say what is started") {
  CHECK(request_of({"--role", "trainer"}).role == "trainer");
  CHECK(request_of({"-m"}).module);
  CHECK(request_of({"--module"}).module);
  CHECK(request_of({"--no_python"}).no_python);
  CHECK(request_of({"--run-path", "--no-python", "-m"}).run_path);
  CHECK(fault_of({"-m", "--no-python"}).find("-m runs a Python module") != std::string::npos);
}

TEST_CASE("--log-dir is a folder") { CHECK(request_of({"--log-dir", "logs"}).log_directory == "logs"); }

TEST_CASE("-r and -t name streams of all ranks or of some") {
  CHECK(request_of({"-r", "3"}).redirects.others == k_both);
  CHECK(request_of({"-r1"}).redirects.others == k_out);
  CHECK(request_of({"--redirects=0"}).redirects.others == k_none);
  const auto tee = request_of({"-t", "0:1,11:2"}).tee;
  CHECK(tee.others == k_none);
  CHECK(tee.of(0) == k_out);
  CHECK(tee.of(11) == k_err);
  CHECK(tee.of(1) == k_none);
  for (const auto* wrong : {"4", "0:1,", "0", "a:1", ""})
    if (std::string(wrong) != "0") CHECK(fault_of({"--tee", wrong}).starts_with("--tee must be 0 to 3"));
}

TEST_CASE("--local-ranks-filter and the filters of lines are lists") {
  CHECK(request_of({"--local-ranks-filter", "0,2"}).shown == std::set<unsigned>{0, 2});
  CHECK(request_of({"--local_ranks_filter="}).shown.empty());
  CHECK(fault_of({"--local-ranks-filter", "0,x"}).find("must be ranks such as 0,1,2") != std::string::npos);
  CHECK(request_of({"--duplicate-stdout-filters", "loss,a,,b"}).out_filters == Words{"loss", "a,b"});
  CHECK(request_of({"--duplicate_stderr_filters=Error"}).err_filters == Words{"Error"});
}

TEST_CASE("--node-rank, --master-addr and --master-port are where the nodes meet") {
  CHECK(request_of({"--node-rank", "2"}).node_rank == 2U);
  CHECK_FALSE(request_of({}).node_rank);
  CHECK(request_of({"--master-addr", "n1"}).master_host == "n1");
  CHECK(request_of({"--master_port=1234"}).master_port == 1234);
  CHECK(fault_of({"--master-port=65536"}).find("from 0 to 65535") != std::string::npos);
}

TEST_CASE("--signals-to-handle names signals, and one that is not passed on is said") {
  CHECK(request_of({"--signals-to-handle", "SIGTERM, SIGUSR1"}).notes.empty());
  CHECK(request_of({"--signals-to-handle=SIGTERM"}).signals_to_handle == "SIGTERM");
  CHECK(request_of({}).signals_to_handle == "SIGTERM,SIGINT,SIGHUP,SIGQUIT"); // torch 2.13's default
  const auto notes = request_of({"--signals-to-handle=SIGTERM,SIGALRM"}).notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes.front().find("SIGALRM is not forwarded") != std::string::npos);
  CHECK(fault_of({"--signals-to-handle=TERM"}).find("must be names of signals") != std::string::npos);
}

TEST_CASE("--shutdown-timeout and --virtual-local-rank reach the ranks") {
  CHECK(request_of({"--shutdown-timeout", "5"}).shutdown_timeout == std::chrono::seconds(5));
  CHECK(request_of({"--virtual-local-rank"}).virtual_local_rank);
}

TEST_CASE("torch.distributed.launch's way to tell the local rank can be asked for") {
  CHECK_FALSE(request_of({"--use-env"}).pass_local_rank);
  CHECK_FALSE(request_of({"--use_env"}).pass_local_rank);
  CHECK(request_of({"--pass-local-rank"}).pass_local_rank);
}

TEST_CASE("a name may be shortened as long as one flag is meant") {
  CHECK(request_of({"--redirect=3"}).redirects.others == k_both);
  CHECK(request_of({"--nproc", "2"}).ranks == torchrun::RanksPerNode{Of::number, 2});
  CHECK(request_of({"--max", "2"}).max_restarts == 2);
  CHECK(fault_of({"--log", "x"}) == "--log is ambiguous: --log-dir, --logs-specs");
  CHECK(fault_of({"--r", "x"}).find("--rdzv-backend") != std::string::npos);
}

TEST_CASE("an unknown flag is named with its neighbour, and all faults of a line are said") {
  const auto line = read_words({"--nnode-rank", "--max-restarts=x", "--nnodes=0"});
  REQUIRE(line.errors.size() == 3);
  CHECK(line.errors[0].what == "unexpected argument '--nnode-rank'");
  CHECK(line.errors[0].hint == "use --node-rank");
  CHECK(fault_of({"--nnodes", "--standalone"}) == "--nnodes requires a value: --nnodes N|MIN:MAX");
}

TEST_CASE("what stands behind the script is the script's") {
  const auto line =
      torchrun::read_torchrun_line({"-r", "3", "train.py", "--nnodes", "7", "-h", "--", "x"}, {});
  CHECK(line.errors.empty());
  CHECK(line.request.max_nodes == 1);
  CHECK(line.request.arguments == Words{"--nnodes", "7", "-h", "--", "x"});
  CHECK(torchrun::read_torchrun_line({"--", "-x.py", "a"}, {}).request.script == "-x.py");
  CHECK(torchrun::read_torchrun_line({"x.py", "--", "a"}, {}).request.arguments == Words{"a"});
  CHECK(torchrun::read_torchrun_line({"--nnodes=1"}, {}).errors.front().what == "no script given");
}

TEST_CASE("PET_ variables say what the line does not") {
  CHECK(request_of({}, {{"PET_NNODES", "2"}}).max_nodes == 2);
  CHECK(request_of({"--nnodes=3"}, {{"PET_NNODES", "2"}}).max_nodes == 3);
  CHECK(request_of({}, {{"PET_NPROC_PER_NODE", "gpu"}}).ranks->of == Of::gpus);
  CHECK(request_of({}, {{"PET_REDIRECTS", "3"}}).redirects.others == k_both);
  CHECK(request_of({}, {{"PET_STANDALONE", "1"}}).standalone);
  CHECK_FALSE(request_of({}, {{"PET_STANDALONE", "0"}}).standalone);
  CHECK(request_of({}, {{"PET_MAX_RESTARTS", ""}}).max_restarts == 0);
  CHECK(fault_of({}, {{"PET_NNODES", "x"}}).starts_with("PET_NNODES must be"));
  CHECK(fault_of({}, {{"PET_MODULE", "yes"}}) == "PET_MODULE must be 0 or 1, not 'yes'");
  CHECK(request_of({}, {{"PET_LOGS_SPECS", "x"}, {"PET_NUMA_BINDING", "x"}})
            .notes.empty()); // torch reads neither
}

TEST_CASE("at most three flags are refused, and none that says where the ranks run, meet or write") {
  unsigned refused = 0;
  for (const auto& flag : torchrun::torchrun_flags()) {
    CAPTURE(flag.name);
    refused += flag.treatment == torchrun::FlagSupport::refused ? 1 : 0;
    CHECK(flag.read != nullptr);
    CHECK((flag.treatment == torchrun::FlagSupport::same || !flag.remark.empty()));
    const bool must = flag.name.starts_with("rdzv") || flag.name.starts_with("master") ||
                      flag.name == "nnodes" || flag.name == "nproc-per-node" || flag.name == "node-rank" ||
                      flag.name == "log-dir";
    CHECK_FALSE((must && flag.treatment == torchrun::FlagSupport::refused));
  }
  CHECK(torchrun::torchrun_flags().size() == 30);
  CHECK(refused <= 3);
}

TEST_CASE("torchrun options ask for help and for the table") {
  CHECK(torchrun::read_torchrun_line({"--help"}, {}).output == torchrun::TorchrunParseResult::Output::help);
  CHECK(torchrun::read_torchrun_line({"-m", "-h", "x"}, {}).output ==
        torchrun::TorchrunParseResult::Output::help);
  CHECK(torchrun::read_torchrun_line({"--help-markdown"}, {}).output ==
        torchrun::TorchrunParseResult::Output::table);
}
