// SPDX-License-Identifier: MIT
// Known failures are recognised as programs write them, each by its own row, and nothing else is.
#include "core/failures/rank_failure.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "core/failures/log_messages.hpp"
#include "core/util/log.hpp"
#include "holds.hpp"

using namespace hpcml;
using failures::KnownError;
using test::holds;

namespace {

/// Lines as programs write them, and the row that each must be read as.
const std::vector<std::pair<std::string_view, std::string>> k_lines = {
    {"separate-worlds", "0: hpcml: error: 2 programs each set up a world of 1 although WORLD_SIZE is 2: they "
                        "do not train together"},
    {"first-failure", "[1] hpcml: error: rank 0/2 (n1, local 0) exited with code 1 after 2.5 s"},
    {"no-heartbeat",
     "hpcml: error: no heartbeat from the agent of node002 (node 1 of 4) for 30 s: treated as lost"},
    {"program-provides-store",
     "hpcml: rank 0's program provides the rendezvous store: torch 1.8.1 supports no other"},
    {"program-serves-store",
     "[0] hpcml launch: rank 0's program serves the store, because its torch is not known here"},
    {"launcher-warning", "hpcml launch: rank 0 on n1: warning: has CPUs 0-3"},
    {"agent-report", "hpcml agent: rank 1 (local rank 0 on host node002) was killed by SIGSEGV after 6.7 s"},
    {"launcher-report", "hpcml launch: rank 0 on n1: cannot execute x"},
    {"agent-without-heartbeat",
     "hpcml agent: node002 (node 1 of 4): no heartbeat from its agent for 30 s: treated as lost"},
    {"cuda-out-of-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 "
                           "has a total capacity of 79.15 GiB"},
    {"hip-out-of-memory", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB"},
    {"gpu-memory-in-use", "RuntimeError: CUDA error: out of memory"},
    {"nccl-out-of-gpu-memory",
     "node1:12:34 [0] transport/p2p.cc:275 NCCL WARN Cuda failure 2 'out of memory'"},
    {"nccl-cuda-call", "node1:12:34 [0] init.cc:1840 NCCL WARN Cuda failure 'invalid argument'"},
    {"cublas-out-of-memory",
     "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"},
    {"wrong-device", "torch.AcceleratorError: CUDA error: invalid device ordinal"},
    {"no-cuda-device", "RuntimeError: CUDA error: no CUDA-capable device is detected"},
    {"no-cuda-gpu", "RuntimeError: No CUDA GPUs are available"},
    {"no-hip-gpu", "RuntimeError: No HIP GPUs are available"},
    {"no-driver", "RuntimeError: Found no NVIDIA driver on your system. Please check"},
    {"no-driver-library",
     "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"},
    {"no-cuda-library",
     "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory"},
    {"missing-library",
     "./a.out: error while loading shared libraries: libfoo.so.3: cannot open shared object file"},
    {"old-driver", "CUDA driver version is insufficient for CUDA runtime version"},
    {"cuda-compat", "Error 804: forward compatibility was attempted on non supported HW"},
    {"no-fabric-manager", "Error 802: system not yet initialized"},
    {"other-gpu-type", "CUDA error: no kernel image is available for execution on the device"},
    {"gpu-busy", "CUDA error: CUDA-capable device(s) is/are busy or unavailable"},
    {"duplicate-gpu",
     "ncclInvalidUsage: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000"},
    {"kernel-assert", "RuntimeError: CUDA error: device-side assert triggered"},
    {"kernel-access", "CUDA error: an illegal memory access was encountered"},
    {"kernel-crash", "CUDA error: unspecified launch failure"},
    {"gpu-memory-fault", "CUDA error: uncorrectable ECC error encountered"},
    {"gpu-link-fault", "CUDA error: uncorrectable NVLink error detected during the execution"},
    {"gpu-off-bus", "NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus."},
    {"gpu-lost", "Unable to determine the device handle for GPU0: GPU is lost.  Reboot the system"},
    {"worker-shared-memory",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory"},
    {"nccl-shared-memory", "NCCL WARN Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes"},
    {"shared-memory-full", "OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'"},
    {"worker-killed", "RuntimeError: DataLoader worker (pid 77) is killed by signal: Killed."},
    {"worker-bus-error",
     "RuntimeError: DataLoader worker (pid(s) 77) is killed by signal: Bus error. It is possible"},
    {"locked-memory", "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory"},
    {"libfabric", "NCCL WARN NET/OFI Request completed with error"},
    {"infiniband", "NCCL WARN NET/IB : Got completion with error 12"},
    {"collective-timeout",
     "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE)"},
    {"peer-failed", "ncclRemoteError: remote process exited or there was a network error"},
    {"closed-by-peer",
     "RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.1]:3"},
    {"closed-by-remote-peer", "NCCL WARN socketProgress: Connection closed by remote peer node2<4242>"},
    {"nccl-system-call", "ncclSystemError: unhandled system error (run with NCCL_DEBUG=INFO for details)"},
    {"nccl-cuda-error",
     "ncclUnhandledCudaError: unhandled cuda error (run with NCCL_DEBUG=INFO for details)"},
    {"port-in-use", "The server socket has failed to listen on any local network address. port: 29500, "
                    "useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use"},
    {"address-in-use", "OSError: [Errno 98] Address already in use"},
    {"store-unreachable",
     "The client socket has timed out after 60000ms while trying to connect to (n1, 29500)."},
    {"missing-ranks", "Timed out after 601 seconds waiting for clients. 3/4 clients joined."},
    {"old-system", "/lib64/libc.so.6: version `GLIBC_2.34' not found (required by ./a.out)"},
    {"missing-package", "ModuleNotFoundError: No module named 'torch'"},
    {"other-processor", "bash: ./train: cannot execute binary file: Exec format error"},
    {"message-size", "  what():  [enforce fail at ./gloo/transport/tcp/pair.cc:510] op.preamble.length <= "
                     "op.nbytes. 24 vs 16"},
    {"thread-at-exit", "terminate called without an active exception"},
    {"open-files", "OSError: [Errno 24] Too many open files"},
    {"threads", "RuntimeError: can't start new thread"},
    {"disk-full", "OSError: [Errno 28] No space left on device"},
    {"quota", "OSError: [Errno 122] Disk quota exceeded"},
    {"mpi-without-pmi", "using srun, but OMPI was not built with SLURM's PMI"},
    {"pmix", "[n1:1] PMIX ERROR: OUT-OF-RESOURCE in file gds_shmem.c"},
    {"mpi-abort", "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD"},
    {"node-failure", "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-01T10:00:00 DUE TO NODE "
                     "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"},
    {"out-of-memory-event", "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step "
                            "tasks have been OOM Killed."},
    {"out-of-memory-event-22.05", "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. Some of "
                                  "your processes may have been killed"},
    {"task-out-of-memory", "srun: error: nid000013: task 3: Out Of Memory"},
    {"time-limit",
     "slurmstepd: error: *** JOB 7 ON nid000012 CANCELLED AT 2026-11-01T10:00:00 DUE TO TIME LIMIT ***"},
    {"preemption",
     "slurmstepd: error: *** JOB 7 ON nid000012 CANCELLED AT 2026-11-01T10:00:00 DUE TO PREEMPTION ***"},
    {"task-exited", "srun: error: nid000001: tasks 2-3: Exited with exit code 7"},
    {"unconnected-ranks", "hpcml: warning: no program of the 4 ranks connected to the rendezvous store: "
                          "those that train do so alone"},
    {"lightning-world-of-one", "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1"},
    {"accelerate-world-of-one", "Distributed environment: DistributedType.NO"},
    {"reset-by-peer",
     "[/gloo/transport/tcp/pair.cc:589] Read error [127.0.0.1]:4242: Connection reset by peer"},
    {"connection-likely-closed", "Connection was likely closed. Did the remote server shutdown or crash?"},
    {"store-closed", "[W] recvValue failed: failed to recv, got 0 bytes"},
    {"broken-pipe", "[/gloo/transport/tcp/pair.cc:446] Write error: Broken pipe"},
    {"accelerate-value-of-one", "[3] Distributed environment: NO  Backend: gloo"},
};

/// The ID of the first row that matches; empty if none does.
std::string_view id_of(std::string_view line) {
  const auto* error = failures::find_error([&](const KnownError& row) { return matches(row, line); });
  return error == nullptr ? std::string_view() : error->id;
}

} // namespace

TEST_CASE("each line is read as its own row") {
  std::set<std::string_view> seen;
  for (const auto& [id, line] : k_lines) {
    CAPTURE(line);
    CHECK(id_of(line) == id);
    seen.insert(id);
  }
  for (const auto& error : failures::known_errors()) {
    CAPTURE(error.id);
    CHECK(seen.count(error.id) == (error.is_printed() ? 1 : 0));
  }
}

TEST_CASE("no row is hidden by an earlier one") {
  const auto errors = failures::known_errors();
  for (const auto& later : errors)
    for (const auto* earlier = errors.data(); earlier != &later; ++earlier) {
      CAPTURE(earlier->id, later.id);
      CHECK(earlier->id != later.id);
      if (!earlier->is_printed() || !later.is_printed() || earlier->is_word) continue;
      const auto texts = std::string(later.text) + '\n' + std::string(later.and_text);
      CHECK_FALSE((holds(texts, earlier->text) && holds(texts, earlier->and_text)));
    }
}

TEST_CASE("rows are complete and their hints say what to do") {
  for (const auto& error : failures::known_errors()) {
    CAPTURE(error.id);
    CHECK_FALSE(error.reference.empty());
    CHECK(error.text.empty() == (error.source == failures::ErrorSource::kernel_report));
    CHECK((!error.of_node || error.failure_class == model::FailureClass::node));
    CHECK(error.least >= 1);
    if (error.hint.empty()) continue;
    const auto verb = error.hint.substr(0, error.hint.find(' '));
    CHECK(std::set<std::string_view>{"use", "set", "add", "remove", "run", "request", "check"}.count(verb) ==
          1);
    CHECK_FALSE(error.hint.ends_with('.'));
  }
}

TEST_CASE("hints of a rank's lines are those of their rows") {
  for (const auto& [id, line] : k_lines) {
    const auto& error = failures::known_error(id);
    if (error.source != failures::ErrorSource::rank_output || error.least > 1 || error.hint.empty()) continue;
    CAPTURE(line);
    failures::RankFailure note;
    note.host = "nid7";
    note.last_lines = {"epoch 1", line, "bye"};
    CHECK(failures::find_hint(note) == hint_for(error, "nid7"));
    CHECK(failures::class_of(note) == error.failure_class);
  }
}

TEST_CASE("hints are found in messages and tracebacks") {
  failures::RankFailure note;
  note.host = "nid7";
  note.message = "RuntimeError: x\nCUDA error: uncorrectable ECC error encountered";
  CHECK(failures::find_hint(note).find("--exclude=nid7") != std::string::npos);
  note.message.clear();
  note.traceback = "Traceback\n  a\nModuleNotFoundError: No module named 'x'";
  CHECK(failures::find_hint(note).find("which python") != std::string::npos);
}

TEST_CASE("ordinary lines and ends have no hint") {
  failures::RankFailure note;
  note.status = 1 << 8;
  note.last_lines = {"loss 0.3",
                     "ValueError: bad shape",
                     "NCCL INFO NET/OFI Initializing",
                     "libcudart.so.12 found",
                     "Cuda failure is not an option",
                     "/dev/shm has 12 GB"};
  CHECK(failures::find_hint(note).empty());
  note.status = SIGSEGV;
  CHECK(failures::find_hint(note).empty());
  note.status = SIGTERM;
  CHECK(failures::find_hint(note).empty());
}

TEST_CASE("ends by signals and lack of memory have hints") {
  failures::RankFailure note;
  note.status = SIGKILL;
  CHECK(failures::find_hint(note).find("another process sent KILL") != std::string::npos);
  note.cut_short = true;
  CHECK(failures::find_hint(note).empty());
  note.cut_short = false;
  note.out_of_memory = true;
  note.last_lines = {"[Rank 0] Watchdog caught collective operation timeout"};
  CHECK(failures::find_hint(note).find("--mem") != std::string::npos);
  note = {};
  note.status = SIGBUS;
  CHECK(failures::find_hint(note).find("/dev/shm") != std::string::npos);
  note.status = SIGILL;
  CHECK(failures::find_hint(note).find("processor") != std::string::npos);
}

TEST_CASE("only errors of a GPU are a fault of its node") {
  failures::RankFailure note;
  note.last_lines = {"RuntimeError: CUDA error: uncorrectable ECC error encountered"};
  CHECK(failures::find_node_fault(note) == "uncorrectable ECC error");
  note.last_lines = {"RuntimeError: CUDA error: out of memory"};
  CHECK(failures::find_node_fault(note).empty());
  note.last_lines = {"ValueError: x"};
  CHECK(failures::find_node_fault(note).empty());
}

TEST_CASE("class of a rank's failure names node, memory, hpcml or program") {
  using model::FailureClass;
  failures::RankFailure note;
  note.status = SIGKILL;
  CHECK(failures::class_of(note) == FailureClass::program);
  note.out_of_memory = true;
  CHECK(failures::class_of(note) == FailureClass::out_of_memory);
  note.gpu_fault = "NVRM: Xid 79";
  CHECK(failures::class_of(note) == FailureClass::node);
  note = {};
  note.of_launcher = true;
  note.message = "the disk: No space left on device";
  CHECK(failures::class_of(note) == FailureClass::launcher);
}

TEST_CASE("class of a run is read from its last message") {
  for (const auto why : {model::FailureClass::node, model::FailureClass::time_limit}) {
    const auto line = util::log_text(util::LogLevel::info, failures::describe_run_end(3, why));
    CHECK(failures::parse_run_end(line) == why);
    CHECK(failures::parse_run_end("2: " + line) == why);
    CHECK_FALSE(failures::parse_run_end(line.substr(0, line.size() - 1)));
  }
  CHECK(failures::parse_run_end("hpcml launch: the run ended with 125: node") == model::FailureClass::node);
}
