// SPDX-License-Identifier: MIT
// Known errors are recognised as programs write them, each by its own row, and nothing else is.
#include "core/failures/failure_hints.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

using namespace hpcml;

namespace {

/// Lines as the programs write them; what each must be recognised by.
const std::vector<std::pair<std::string, std::string>> k_lines = {
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
     "79.15 GiB",
     "CUDA out of memory"},
    {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB", "HIP out of memory"},
    {"RuntimeError: CUDA error: out of memory", "CUDA error: out of memory"},
    {"node1:12:34 [0] transport/p2p.cc:275 NCCL WARN Cuda failure 2 'out of memory'", "Cuda failure"},
    {"node1:12:34 [0] init.cc:1840 NCCL WARN Cuda failure 'invalid argument'", "NCCL WARN Cuda failure"},
    {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
     "CUBLAS_STATUS_ALLOC_FAILED"},
    {"torch.AcceleratorError: CUDA error: invalid device ordinal", "invalid device ordinal"},
    {"RuntimeError: CUDA error: no CUDA-capable device is detected", "no CUDA-capable device"},
    {"RuntimeError: No CUDA GPUs are available", "No CUDA GPUs are available"},
    {"RuntimeError: No HIP GPUs are available", "No HIP GPUs are available"},
    {"RuntimeError: Found no NVIDIA driver on your system. Please check", "Found no NVIDIA driver"},
    {"ImportError: libcuda.so.1: cannot open shared object file: No such file or directory", "libcuda.so"},
    {"ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "libcudart"},
    {"./a.out: error while loading shared libraries: libfoo.so.3: cannot open shared object file",
     "cannot open shared object file"},
    {"CUDA driver version is insufficient for CUDA runtime version", "driver version is insufficient"},
    {"Error 804: forward compatibility was attempted on non supported HW",
     "forward compatibility was attempted on non supported HW"},
    {"Error 802: system not yet initialized", "system not yet initialized"},
    {"CUDA error: no kernel image is available for execution on the device", "no kernel image is available"},
    {"CUDA error: CUDA-capable device(s) is/are busy or unavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {"ncclInvalidUsage: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000",
     "Duplicate GPU detected"},
    {"RuntimeError: CUDA error: device-side assert triggered", "device-side assert triggered"},
    {"CUDA error: an illegal memory access was encountered", "illegal memory access"},
    {"CUDA error: unspecified launch failure", "unspecified launch failure"},
    {"CUDA error: uncorrectable ECC error encountered", "uncorrectable ECC error"},
    {"CUDA error: uncorrectable NVLink error detected during the execution", "uncorrectable NVLink error"},
    {"NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.", "fallen off the bus"},
    {"Unable to determine the device handle for GPU0: GPU is lost.  Reboot the system", "GPU is lost"},
    {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory",
     "nexpected bus error encountered in worker"},
    {"NCCL WARN Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes", "/dev/shm/nccl-"},
    {"OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'", "/dev/shm"},
    {"RuntimeError: DataLoader worker (pid 77) is killed by signal: Killed.", "DataLoader worker"},
    {"RuntimeError: DataLoader worker (pid(s) 77) is killed by signal: Bus error. It is possible",
     "DataLoader worker"},
    {"NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", "ibv_reg_mr"},
    {"NCCL WARN NET/OFI Request completed with error", "NCCL WARN NET/OFI"},
    {"NCCL WARN NET/IB : Got completion with error 12", "NCCL WARN NET/IB"},
    {"[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE)",
     "Watchdog caught collective operation timeout"},
    {"ncclRemoteError: remote process exited or there was a network error",
     "remote process exited or there was a network error"},
    {"RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.1]:3",
     "Connection closed by peer"},
    {"NCCL WARN socketProgress: Connection closed by remote peer node2<4242>",
     "Connection closed by remote peer"},
    {"ncclSystemError: unhandled system error (run with NCCL_DEBUG=INFO for details)",
     "unhandled system error"},
    {"ncclUnhandledCudaError: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
     "unhandled cuda error"},
    {"The server socket has failed to listen on any local network address. port: 29500, useIpv6: 0, code: "
     "-98, "
     "name: EADDRINUSE, message: address already in use",
     "EADDRINUSE"},
    {"OSError: [Errno 98] Address already in use", "ddress already in use"},
    {"The client socket has timed out after 60000ms while trying to connect to (n1, 29500).",
     "client socket has timed out"},
    {"Timed out after 601 seconds waiting for clients. 3/4 clients joined.", "Timed out after"},
    {"/lib64/libc.so.6: version `GLIBC_2.34' not found (required by ./a.out)", "version `GLIBC"},
    {"ModuleNotFoundError: No module named 'torch'", "No module named"},
    {"bash: ./train: cannot execute binary file: Exec format error", "Exec format error"},
    {"  what():  [enforce fail at ./gloo/transport/tcp/pair.cc:510] op.preamble.length <= op.nbytes. 24 vs "
     "16",
     "op.preamble.length <= op.nbytes"},
    {"terminate called without an active exception", "terminate called without an active exception"},
    {"OSError: [Errno 24] Too many open files", "Too many open files"},
    {"RuntimeError: can't start new thread", "can't start new thread"},
    {"OSError: [Errno 28] No space left on device", "No space left on device"},
    {"OSError: [Errno 122] Disk quota exceeded", "Disk quota exceeded"},
    {"using srun, but OMPI was not built with SLURM's PMI", "OMPI was not built with SLURM's PMI"},
    {"[n1:1] PMIX ERROR: OUT-OF-RESOURCE in file gds_shmem.c", "PMIX ERROR"},
    {"MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD", "MPI_ABORT was invoked"},
};

} // namespace

TEST_CASE("each known error is recognised by its own row, as programs write it") {
  std::set<const failures::KnownError*> seen;
  for (const auto& [line, text] : k_lines) {
    INFO(line);
    failures::RankFailure note;
    note.last_lines = {"epoch 1", line, "bye"};
    const auto hint = failures::find_hint(note);
    const failures::KnownError* row = nullptr;
    for (const auto& error : failures::known_errors())
      if (row == nullptr && error.text == text && line.find(error.and_text) != std::string::npos)
        row = &error;
    REQUIRE(row != nullptr);
    std::string expected(row->hint);
    if (const auto host = expected.find("{host}"); host != std::string::npos) expected.erase(host, 6);
    CHECK(hint == expected);
    seen.insert(row);
  }
  for (const auto& error : failures::known_errors()) {
    INFO(error.text);
    CHECK(seen.count(&error) == 1);
  }
}

TEST_CASE("a hint is found in the message and the traceback, too, and names the host") {
  failures::RankFailure note;
  note.host = "nid7";
  note.message = "RuntimeError: x\nCUDA error: uncorrectable ECC error encountered";
  CHECK(failures::find_hint(note).find("--exclude=nid7") != std::string::npos);
  note.message.clear();
  note.traceback = "Traceback\n  a\nModuleNotFoundError: No module named 'x'";
  CHECK(failures::find_hint(note).find("which python") != std::string::npos);
}

TEST_CASE("ordinary lines and ordinary ends ask for no hint") {
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

TEST_CASE("an end by KILL, BUS or ILL says what it can mean, and memory that was short what helps") {
  failures::RankFailure note;
  note.status = SIGKILL;
  CHECK(failures::find_hint(note).find("another process sent KILL") != std::string::npos);
  note.out_of_memory = true;
  note.last_lines = {"[Rank 0] Watchdog caught collective operation timeout"};
  CHECK(failures::find_hint(note).find("--mem") != std::string::npos);
  note = {};
  note.status = SIGBUS;
  CHECK(failures::find_hint(note).find("/dev/shm") != std::string::npos);
  note.status = SIGILL;
  CHECK(failures::find_hint(note).find("processor") != std::string::npos);
}

TEST_CASE("a GPU's own errors tell of a bad node, and a program's do not") {
  failures::RankFailure note;
  note.last_lines = {"RuntimeError: CUDA error: uncorrectable ECC error encountered"};
  CHECK(failures::find_node_fault(note) == "uncorrectable ECC error");
  note.last_lines = {"RuntimeError: CUDA error: out of memory"};
  CHECK(failures::find_node_fault(note).empty());
  note.last_lines = {"ValueError: x"};
  CHECK(failures::find_node_fault(note).empty());
}
