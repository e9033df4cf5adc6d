// SPDX-License-Identifier: MIT
#include "core/failures/failure_table.hpp"

#include <cassert>
#include <cstring>

#include "core/failures/log_messages.hpp"
#include "core/failures/world_size_one_detector.hpp"
#include "core/util/text.hpp"

namespace hpcml::failures {

namespace {

using model::FailureClass;
using enum ErrorSource;

constexpr const char* k_read_report =
    "check hpcml's report at this line: which rank failed first, its last lines, and what to do";
constexpr const char* k_check_agent = "check the node of the agent for a hung file system, swapping or a "
                                      "stopped process, or set a longer --heartbeat-timeout";
constexpr const char* k_train_together =
    "use srun hpcml launch to start the processes, and set ACCELERATE_USE_CPU=true for Accelerate on CPUs: "
    "each process trained its own model";
constexpr const char* k_exclude_lost_gpu =
    "use --exclude={host} and notify the site: the GPU is lost until its node is restarted";
constexpr const char* k_request_gpus =
    "request GPUs (--gpus-per-node), pass them to the container (--nv, --gpus all), and check that "
    "CUDA_VISIBLE_DEVICES is not empty: no GPU is visible to this rank";
constexpr const char* k_more_shared_memory = "use fewer data loader workers, or a container with more "
                                             "/dev/shm (--shm-size, --ipc=host): /dev/shm is full";
constexpr const char* k_check_other_ranks =
    "check the output of the other ranks: one of them or the network to it failed first";
constexpr const char* k_remove_port = "remove the port (--master-port, MASTER_PORT) to get a free one: "
                                      "another process on the node already uses it";
constexpr const char* k_more_memory = "request more memory (--mem), or use less (including data loader "
                                      "workers and caches): a process exceeded the memory of the job";
constexpr const char* k_slurm =
    "src/slurmd/slurmstepd/mgr.c, src/srun/libsrun/launch.c, src/api/step_launch.c";
constexpr const char* k_earlier = "earlier versions of hpcml";

/// What a rank prints because another one has ended. Without a hint other programs print it as well.
constexpr KnownError of_lost_peer(std::string_view id, std::string_view text, std::string_view hint,
                                  std::string_view reference) {
  return {.id = id,
          .source = rank_output,
          .text = text,
          .and_text = "",
          .hint = hint,
          .reference = reference,
          .is_of_lost_peer = true};
}

constexpr KnownError k_errors[] = {
    // Messages of hpcml, which precede all others.
    {"separate-worlds", hpcml_message, k_world_of_one, "hpcml: error",
     "remove what sets the world in the program (devices=1, world_size=1), or use --rendezvous-timeout 0 for "
     "independent programs",
     "core/failures/log_messages.hpp"},
    {"first-failure", hpcml_message, "hpcml: error: rank ", "", k_read_report,
     "core/failures/failure_report.cpp"},
    {"no-heartbeat", hpcml_message, k_no_heartbeat, "hpcml: error: ", k_check_agent,
     "core/failures/log_messages.hpp", FailureClass::node, true},
    {"program-provides-store", hpcml_message, "'s program provides the rendezvous store", "", "",
     "run/resolve/store_selection.cpp"},
    {"program-serves-store", hpcml_message, "'s program serves the store", "", "", k_earlier},
    {"launcher-warning", hpcml_message, "hpcml launch: rank ", "warning: ", "", k_earlier},
    {"agent-report", hpcml_message, "hpcml agent: rank ", "", k_read_report, k_earlier},
    {"launcher-report", hpcml_message, "hpcml launch: rank ", "", k_read_report, k_earlier},
    {"agent-without-heartbeat", hpcml_message, k_no_heartbeat, "hpcml agent: ", k_check_agent, k_earlier,
     FailureClass::node, true},
    // Hardware.
    {"gpu-off-bus", rank_output, "fallen off the bus", "", k_exclude_lost_gpu, "NVIDIA's Xid catalogue, 79",
     FailureClass::node, true},
    {"gpu-lost", rank_output, "GPU is lost", "", k_exclude_lost_gpu, "NVML_ERROR_GPU_IS_LOST (15)",
     FailureClass::node, true},
    {"gpu-memory-fault", rank_output, "uncorrectable ECC error", "",
     "use --exclude={host} and notify the site: the GPU memory has a hardware error",
     "cudaErrorECCUncorrectable (214)", FailureClass::node, true},
    {"gpu-link-fault", rank_output, "uncorrectable NVLink error", "",
     "use --exclude={host} and notify the site: the link between GPUs has a hardware error",
     "cudaErrorNvlinkUncorrectable (220), Xid 74", FailureClass::node, true},
    {"no-fabric-manager", rank_output, "system not yet initialized", "",
     "use --exclude={host} and notify the site: NVIDIA's fabric manager is not running on the node",
     "cudaErrorSystemNotReady (802)", FailureClass::node, true},
    // Memory of the GPU.
    {"nccl-out-of-gpu-memory", rank_output, "Cuda failure", "out of memory",
     "use a smaller batch, or less memory for torch (torch.cuda.set_per_process_memory_fraction), and check "
     "that no two ranks use one GPU: its memory was full before NCCL had its buffers",
     "NCCL's checks.h: WARN(\"Cuda failure %d '%s'\")"},
    {"cuda-out-of-memory", rank_output, "CUDA out of memory", "",
     "use a smaller batch, gradient checkpointing or sharding: the GPU memory is full, and --mem does not "
     "change it; if much is reserved and not allocated, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "c10/cuda/CUDACachingAllocator.cpp"},
    {"hip-out-of-memory", rank_output, "HIP out of memory", "",
     "use a smaller batch, gradient checkpointing or sharding: the GPU memory is full, and --mem does not "
     "change it",
     "c10/cuda/CUDACachingAllocator.cpp"},
    {"gpu-memory-in-use", rank_output, "CUDA error: out of memory", "",
     "check that no two ranks use one GPU (torch.cuda.set_device(LOCAL_RANK)): the GPU memory is full; at "
     "the first use of CUDA another process uses it",
     "cudaErrorMemoryAllocation (2)"},
    {"cublas-out-of-memory", rank_output, "CUBLAS_STATUS_ALLOC_FAILED", "",
     "use a smaller batch, or less memory for torch (torch.cuda.set_per_process_memory_fraction): cuBLAS "
     "found no memory on the GPU",
     "cublasStatus_t (3)"},
    // The wrong GPU, or none.
    {"wrong-device", rank_output, "invalid device ordinal", "",
     "use LOCAL_RANK, not RANK, or device 0 if each rank sees only one GPU (--gpu-visibility): the program "
     "uses a GPU that this rank does not see",
     "cudaErrorInvalidDevice (101)"},
    {"no-cuda-device", rank_output, "no CUDA-capable device", "", k_request_gpus, "cudaErrorNoDevice (100)"},
    {"no-cuda-gpu", rank_output, "No CUDA GPUs are available", "", k_request_gpus,
     "c10/cuda/CUDAFunctions.cpp"},
    {"no-hip-gpu", rank_output, "No HIP GPUs are available", "",
     "request GPUs (--gpus-per-node), pass them to the container (--rocm, /dev/kfd and /dev/dri), and check "
     "that ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES are not empty: no GPU is visible to this rank",
     "c10/hip/HIPFunctions.cpp"},
    {"no-driver", rank_output, "Found no NVIDIA driver", "",
     "use a partition with GPUs, and pass them to the container (--nv, --gpus all): no NVIDIA driver was "
     "found",
     "c10/cuda/CUDAFunctions.cpp"},
    {"no-driver-library", rank_output, "libcuda.so", "cannot open shared object file",
     "use a partition with GPUs, and pass them to the container (--nv, --gpus all): the GPU driver is not "
     "visible",
     "ld.so(8)"},
    {"old-driver", rank_output, "driver version is insufficient", "",
     "use a build for an older CUDA, or the container's package cuda-compat: the driver of the node is older "
     "than the CUDA of the program",
     "cudaErrorInsufficientDriver (35)"},
    {"cuda-compat", rank_output, "forward compatibility was attempted on non supported HW", "",
     "remove cuda-compat from LD_LIBRARY_PATH, or use an image with an older CUDA: the container's "
     "cuda-compat does not work with this GPU or driver",
     "cudaErrorCompatNotSupportedOnDevice (804)"},
    {"other-gpu-type", rank_output, "no kernel image is available", "",
     "use a build for this GPU type: torch.cuda.get_arch_list() shows the types that torch was built for",
     "cudaErrorNoKernelImageForDevice (209)"},
    {"gpu-busy", rank_output, "CUDA-capable device(s) is/are busy or unavailable", "",
     "check that no two ranks use one GPU (torch.cuda.set_device(LOCAL_RANK)): another process uses it "
     "exclusively; if it is not yours, notify the site",
     "cudaErrorDevicesUnavailable (46)"},
    {"duplicate-gpu", rank_output, "Duplicate GPU detected", "",
     "use torch.cuda.set_device(LOCAL_RANK) before the first collective: two ranks use one GPU, which NCCL "
     "rejects",
     "NCCL's init.cc"},
    // Faults of kernels. CUDA programming guide: kernels run later than the line that starts them.
    {"kernel-assert", rank_output, "device-side assert triggered", "",
     "set CUDA_LAUNCH_BLOCKING=1 to find the line: an assertion in a kernel failed, most often an index (a "
     "label, a token) out of range",
     "cudaErrorAssert (710)"},
    {"kernel-access", rank_output, "illegal memory access", "",
     "use CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to find the line: a kernel accessed invalid memory, "
     "and the reported line may be a later one",
     "cudaErrorIllegalAddress (700)"},
    {"kernel-crash", rank_output, "unspecified launch failure", "",
     "use CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to find the line: a kernel crashed, and the reported "
     "line may be a later one",
     "cudaErrorLaunchFailure (719)"},
    // Shared memory of the node.
    {"worker-shared-memory", rank_output, "nexpected bus error encountered in worker", "",
     k_more_shared_memory, "torch/csrc/DataLoader.cpp"},
    {"nccl-shared-memory", rank_output, "/dev/shm/nccl-", "failed",
     "check df -h /dev/shm, or use a container with more of it (--shm-size, --ipc=host): NCCL found no space "
     "there, or its file was removed",
     "NCCL's troubleshooting page, Shared memory"},
    {"shared-memory-full", rank_output, "/dev/shm", "No space left on device",
     "remove what earlier jobs left in /dev/shm, use fewer data loader workers, or a container with more of "
     "it (--shm-size, --ipc=host): it is full",
     "errno(3)"},
    {"worker-killed", rank_output, "DataLoader worker", "killed by signal: Killed",
     "use fewer data loader workers, or more --mem: one was killed, most often because it ran out of memory",
     "torch/csrc/DataLoader.cpp"},
    {"worker-bus-error", rank_output, "DataLoader worker", "killed by signal: Bus error",
     k_more_shared_memory, "torch/csrc/DataLoader.cpp"},
    // The network. NCCL's pages on errors, environment variables and networks.
    {"locked-memory", rank_output, "ibv_reg_mr", "Cannot allocate memory",
     "check that ulimit -l is unlimited in the job, or notify the site: the limit on locked memory is too "
     "low for InfiniBand",
     "NCCL's ibvwrap.cc"},
    {"libfabric", rank_output, "NCCL WARN NET/OFI", "",
     "set NCCL_DEBUG=INFO and FI_LOG_LEVEL=warn to see where NCCL's libfabric plugin failed; NCCL_NET=Socket "
     "(slow) shows if the rest works",
     "aws-ofi-nccl"},
    {"infiniband", rank_output, "NCCL WARN NET/IB", "",
     "check the cause that the line names: InfiniBand failed below NCCL; NCCL_IB_DISABLE=1 (slow) shows if "
     "the rest works",
     "NCCL's net_ib.cc"},
    {"nccl-cuda-call", rank_output, "NCCL WARN Cuda failure", "",
     "check the text in quotes: a CUDA call inside NCCL failed with it, often because of a kernel that ran "
     "before",
     "NCCL's checks.h"},
    {"collective-timeout", rank_output, "Watchdog caught collective operation timeout", "",
     "use --stall-timeout to see what each rank does, or init_process_group(timeout=…) to give slow ranks "
     "more time: a rank never reached a collective, or called another one",
     "ProcessGroupNCCL.cpp"},
    of_lost_peer("peer-failed", "remote process exited or there was a network error", k_check_other_ranks,
                 "ncclRemoteError"),
    of_lost_peer("closed-by-remote-peer", "Connection closed by remote peer", k_check_other_ranks,
                 "NCCL's socket.cc"),
    of_lost_peer("closed-by-peer", "Connection closed by peer", k_check_other_ranks, "Gloo's tcp/pair.cc"),
    {"nccl-system-call", rank_output, "unhandled system error", "",
     "set NCCL_DEBUG=WARN to see which system call inside NCCL failed (network or shared memory)",
     "ncclSystemError"},
    {"nccl-cuda-error", rank_output, "unhandled cuda error", "",
     "set NCCL_DEBUG=WARN to see which CUDA call inside NCCL failed, and the error of CUDA",
     "ncclUnhandledCudaError"},
    // The rendezvous of ranks.
    {"port-in-use", rank_output, "EADDRINUSE", "", k_remove_port, "torch/csrc/distributed/c10d/socket.cpp"},
    {"address-in-use", rank_output, "ddress already in use", "", k_remove_port, "errno(3)"},
    {"store-unreachable", rank_output, "client socket has timed out", "",
     "check that rank 0 has started and runs, and that this node reaches the name and network of "
     "MASTER_ADDR: the store of rank 0 was not reached",
     "torch/csrc/distributed/c10d/socket.cpp"},
    {"missing-ranks", rank_output, "Timed out after", "waiting for clients",
     "check for a slow or failed rank: not all ranks connected to the store",
     "torch/csrc/distributed/c10d/TCPStore.cpp"},
    // Libraries and programs.
    {"no-cuda-library", rank_output, "libcudart", "cannot open shared object file",
     "add the module of the CUDA that the program was built with to the job (--module), or set "
     "LD_LIBRARY_PATH: that CUDA was not found",
     "ld.so(8)"},
    {"missing-library", rank_output, "cannot open shared object file", "",
     "add the module that has the library to the job: it was not found on this node; ldd PROGRAM shows all "
     "that are missing",
     "ld.so(8)"},
    {"old-system", rank_output, "version `GLIBC", "not found",
     "use a container, or build the program here: it was built on a newer system than this node has",
     "ld.so(8)"},
    {"missing-package", rank_output, "No module named", "",
     "check that the Python that runs is the one of your environment (which python), and that the job "
     "activates it, not only the shell that submitted it: it has no such package",
     "Python's ModuleNotFoundError"},
    {"thread-at-exit", rank_output, "terminate called without an active exception", "",
     "use sys.stdout.flush() and os._exit(0) as the last lines, after destroy_process_group(), in Python "
     "with Gloo: a thread was still running when the program ended, which aborts it after its work is done",
     "libstdc++'s vterminate.cc; with torch 2.13 and Gloo a thread releases the last collective at Python's "
     "end"},
    {"message-size", rank_output, "op.preamble.length <= op.nbytes", "",
     "check that sender and receiver use the same shape and dtype, and that ranks call the same operations "
     "in the same order: this rank received more than its tensor holds (bytes sent vs room)",
     "Gloo's tcp/pair.cc, torch 1.13 and 2.13"},
    {"other-processor", rank_output, "Exec format error", "",
     "use a build for the processor of this node: the program was built for another one", "execve(2)"},
    // Limits and files.
    {"open-files", rank_output, "Too many open files", "",
     "set ulimit -n in the job, or torch.multiprocessing.set_sharing_strategy('file_system'): the limit on "
     "open files was reached",
     "errno(3)"},
    {"threads", rank_output, "can't start new thread", "",
     "use fewer workers, or a lower OMP_NUM_THREADS: the limit on processes and threads was reached (ulimit "
     "-u, or that of the job)",
     "CPython's _threadmodule.c"},
    {"disk-full", rank_output, "No space left on device", "",
     "check df -h and the site's quota command: a disk or your quota is full", "errno(3)"},
    {"quota", rank_output, "Disk quota exceeded", "",
     "check the site's quota command: your quota on a file system is full", "errno(3)"},
    // MPI. PMI is how srun passes ranks to MPI programs.
    {"mpi-without-pmi", rank_output, "OMPI was not built with SLURM's PMI", "",
     "run srun --mpi=list to see the types (--launcher mpirun does without): this Open MPI does not support "
     "srun's PMI",
     "Open MPI's help texts"},
    {"pmix", rank_output, "PMIX ERROR", "",
     "run srun --mpi=list to see the types, and use srun --mpi=TYPE: MPI and srun do not agree on PMIx",
     "OpenPMIx"},
    {"mpi-abort", rank_output, "MPI_ABORT was invoked", "",
     "check the lines before: the program called MPI_Abort, and they state why", "Open MPI's help texts"},
    // How Slurm ends tasks and jobs, in the order in which it explains an end.
    {"node-failure", slurm_message, "DUE TO NODE FAILURE", "",
     "run the job again: a node was lost (find it with sacct -j JOB -o NodeList)", k_slurm,
     FailureClass::node, true},
    {"out-of-memory-event", slurm_message, "oom_kill event", "", k_more_memory, k_slurm,
     FailureClass::out_of_memory},
    {"out-of-memory-event-22.05", slurm_message, "oom-kill event", "", k_more_memory,
     "slurmstepd up to 22.05", FailureClass::out_of_memory},
    {"task-out-of-memory", slurm_message, k_task_out_of_memory, k_srun_error,
     "request more memory (--mem), or use less: a task exceeded the memory of the job", k_slurm,
     FailureClass::out_of_memory},
    {"time-limit", slurm_message, "DUE TO TIME LIMIT", "",
     "request a longer --time, or use --signal and a checkpoint from which the next job continues: the time "
     "limit was reached",
     k_slurm, FailureClass::time_limit},
    {"preemption", slurm_message, "DUE TO PREEMPTION", "",
     "use --requeue and a checkpoint, or a QoS that is not preempted: a job with precedence took the nodes",
     k_slurm, FailureClass::preempted},
    {"task-exited", slurm_message, k_task_exited, k_srun_error,
     "check the lines of this task above: srun names it as the first to exit", k_slurm},
    // Ranks that trained separately: each exits with 0.
    {"unconnected-ranks", hpcml_message, k_train_alone, "hpcml: warning",
     "check that the program calls init_process_group (Accelerate on CPUs: set ACCELERATE_USE_CPU=true), or "
     "use --rendezvous-timeout 0 for independent programs",
     "core/failures/log_messages.hpp"},
    {"lightning-world-of-one", rank_output, k_world_reports[0], "", k_train_together,
     "Lightning's line at the start of a process group", FailureClass::program, false, 2, true},
    {"accelerate-world-of-one", rank_output, k_world_reports[1], "", k_train_together,
     "Accelerate's state, as each process prints it", FailureClass::program, false, 2, true},
    {"accelerate-value-of-one", rank_output, k_world_reports[2], "", k_train_together,
     "Accelerate with another enum of Python", FailureClass::program, false, 2, true},
    // What a rank prints when another one has ended, and other programs for other reasons.
    of_lost_peer("reset-by-peer", "Connection reset by peer", "", "errno(3), Gloo's tcp/pair.cc"),
    of_lost_peer("connection-likely-closed", "Connection was likely closed", "",
                 "torch/csrc/distributed/c10d/Utils.hpp"),
    of_lost_peer("store-closed", "failed to recv, got 0 bytes", "", "torch/csrc/distributed/c10d/Utils.hpp"),
    of_lost_peer("broken-pipe", "Broken pipe", "", "errno(3)"),
    // How a process of a rank ended.
    {"rank-out-of-memory", kernel_report, "", "",
     "use more --mem, or less memory: data loader workers and caches of a rank are included",
     "run/launch/out_of_memory.hpp", FailureClass::out_of_memory},
    {"gpu-fault", kernel_report, "", "",
     "use --exclude={host} and notify the site: the kernel of the node reports a hardware error",
     "core/node_health/kernel_log.hpp", FailureClass::node, true},
    {"killed", exit_status, "SIGKILL", "",
     "check dmesg and sacct -o MaxRSS: another process sent KILL, which is the kernel if memory ran out, "
     "Slurm or a user",
     "signal(7)"},
    {"bus-error", exit_status, "SIGBUS", "",
     "check df -h /dev/shm, and the file systems of the data: a file in memory could not be read or grown",
     "signal(7)"},
    {"illegal-instruction", exit_status, "SIGILL", "",
     "use a build for the processor of this node: the program may be built for a newer one", "signal(7)"},
    {"cpu-time", exit_status, "SIGXCPU", "", "check ulimit -t in the job: the limit on CPU time was reached",
     "signal(7)"},
};

} // namespace

std::span<const KnownError> known_errors() { return k_errors; }

const KnownError& known_error(std::string_view id) {
  const auto* error = find_error([&](const KnownError& row) { return row.id == id; });
  assert(error != nullptr);
  return *error;
}

bool holds(std::string_view text, std::string_view part) {
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

bool matches(const KnownError& error, std::string_view line) {
  if (!error.is_printed() || !holds(line, error.text) || !holds(line, error.and_text)) return false;
  return !error.is_word || holds_word(line, error.text, true);
}

std::string hint_for(const KnownError& error, std::string_view host) {
  return util::replace_all(std::string(error.hint), "{host}", host);
}

} // namespace hpcml::failures
