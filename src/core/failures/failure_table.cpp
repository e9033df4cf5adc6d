// SPDX-License-Identifier: MIT
#include "core/failures/failure_table.hpp"

#include <cassert>
#include <cstring>

#include "core/failures/log_messages.hpp"
#include "core/failures/world_report_finder.hpp"
#include "core/util/text.hpp"

namespace hpcml::failures {

namespace {

using model::FailureClass;
using enum ErrorSource;

constexpr const char* k_read_report =
    "read hpcml's report at this line: which rank failed first, its last lines, and what to do";
constexpr const char* k_check_agent = "check the node of the agent for a hung file system, swapping or a "
                                      "stopped process, or set a longer --heartbeat-timeout";
constexpr const char* k_train_together =
    "use srun hpcml launch to start the processes, and set ACCELERATE_USE_CPU=true for Accelerate on CPUs: "
    "each process trained its own model";
constexpr const char* k_more_memory = "request more memory (--mem), or use less (including data loader "
                                      "workers and caches): a process exceeded the memory of the job";
constexpr const char* k_slurm =
    "src/slurmd/slurmstepd/mgr.c, src/srun/libsrun/launch.c, src/api/step_launch.c";
constexpr const char* k_earlier = "earlier versions of hpcml";

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
    {"gpu-off-bus", rank_output, "fallen off the bus", "",
     "the GPU is lost until its node is restarted: exclude the node (--exclude={host}) and notify the site",
     "NVIDIA's Xid catalogue, 79", FailureClass::node, true},
    {"gpu-lost", rank_output, "GPU is lost", "",
     "the GPU is lost until its node is restarted: exclude the node (--exclude={host}) and notify the site",
     "NVML_ERROR_GPU_IS_LOST (15)", FailureClass::node, true},
    {"gpu-memory-fault", rank_output, "uncorrectable ECC error", "",
     "the GPU memory has a hardware error: exclude the node (--exclude={host}) and notify the site",
     "cudaErrorECCUncorrectable (214)", FailureClass::node, true},
    {"gpu-link-fault", rank_output, "uncorrectable NVLink error", "",
     "the link between GPUs has a hardware error: exclude the node (--exclude={host}) and notify the site",
     "cudaErrorNvlinkUncorrectable (220), Xid 74", FailureClass::node, true},
    {"no-fabric-manager", rank_output, "system not yet initialized", "",
     "NVIDIA's fabric manager is not running on the node: exclude it (--exclude={host}) and notify the site",
     "cudaErrorSystemNotReady (802)", FailureClass::node, true},
    // Memory of the GPU.
    {"nccl-out-of-gpu-memory", rank_output, "Cuda failure", "out of memory",
     "the GPU memory was full before NCCL had its buffers: use less of it (a smaller batch, "
     "torch.cuda.set_per_process_memory_fraction), and check that no two ranks use one GPU",
     "NCCL's checks.h: WARN(\"Cuda failure %d '%s'\")"},
    {"cuda-out-of-memory", rank_output, "CUDA out of memory", "",
     "the GPU memory is full, and --mem does not change it: use a smaller batch, gradient checkpointing or "
     "sharding; if much is reserved and not allocated, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "c10/cuda/CUDACachingAllocator.cpp"},
    {"hip-out-of-memory", rank_output, "HIP out of memory", "",
     "the GPU memory is full, and --mem does not change it: use a smaller batch, gradient checkpointing or "
     "sharding",
     "c10/cuda/CUDACachingAllocator.cpp"},
    {"gpu-memory-in-use", rank_output, "CUDA error: out of memory", "",
     "the GPU memory is full; at the first use of CUDA another process uses it: check that no two ranks use "
     "one GPU (torch.cuda.set_device(LOCAL_RANK))",
     "cudaErrorMemoryAllocation (2)"},
    {"cublas-out-of-memory", rank_output, "CUBLAS_STATUS_ALLOC_FAILED", "",
     "cuBLAS found no memory on the GPU: use a smaller batch, or less memory for torch "
     "(torch.cuda.set_per_process_memory_fraction)",
     "cublasStatus_t (3)"},
    // The wrong GPU, or none.
    {"wrong-device", rank_output, "invalid device ordinal", "",
     "the program uses a GPU that this rank does not see: use LOCAL_RANK, not RANK, or device 0 if each rank "
     "sees only one GPU (--gpu-visibility)",
     "cudaErrorInvalidDevice (101)"},
    {"no-cuda-device", rank_output, "no CUDA-capable device", "",
     "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--nv, "
     "--gpus all), and check that CUDA_VISIBLE_DEVICES is not empty",
     "cudaErrorNoDevice (100)"},
    {"no-cuda-gpu", rank_output, "No CUDA GPUs are available", "",
     "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--nv, "
     "--gpus all), and check that CUDA_VISIBLE_DEVICES is not empty",
     "c10/cuda/CUDAFunctions.cpp"},
    {"no-hip-gpu", rank_output, "No HIP GPUs are available", "",
     "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--rocm, "
     "/dev/kfd and /dev/dri), and check that ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES are not empty",
     "c10/hip/HIPFunctions.cpp"},
    {"no-driver", rank_output, "Found no NVIDIA driver", "",
     "no NVIDIA driver was found: use a partition with GPUs, and pass them to the container (--nv, --gpus "
     "all)",
     "c10/cuda/CUDAFunctions.cpp"},
    {"no-driver-library", rank_output, "libcuda.so", "cannot open shared object file",
     "the GPU driver is not visible: use a partition with GPUs, and pass them to the container (--nv, --gpus "
     "all)",
     "ld.so(8)"},
    {"old-driver", rank_output, "driver version is insufficient", "",
     "the driver of the node is older than the CUDA of the program: use a build for an older CUDA, or the "
     "container's package cuda-compat",
     "cudaErrorInsufficientDriver (35)"},
    {"cuda-compat", rank_output, "forward compatibility was attempted on non supported HW", "",
     "the container's cuda-compat does not work with this GPU or driver: remove it from LD_LIBRARY_PATH, or "
     "use an image with an older CUDA",
     "cudaErrorCompatNotSupportedOnDevice (804)"},
    {"other-gpu-type", rank_output, "no kernel image is available", "",
     "the program was not built for this GPU type: torch.cuda.get_arch_list() shows the types that torch was "
     "built for",
     "cudaErrorNoKernelImageForDevice (209)"},
    {"gpu-busy", rank_output, "CUDA-capable device(s) is/are busy or unavailable", "",
     "another process uses the GPU exclusively: check that no two ranks use one GPU "
     "(torch.cuda.set_device(LOCAL_RANK)); if it is not yours, notify the site",
     "cudaErrorDevicesUnavailable (46)"},
    {"duplicate-gpu", rank_output, "Duplicate GPU detected", "",
     "two ranks use one GPU, which NCCL rejects: use torch.cuda.set_device(LOCAL_RANK) before the first "
     "collective",
     "NCCL's init.cc"},
    // Faults of kernels. CUDA programming guide: kernels run later than the line that starts them.
    {"kernel-assert", rank_output, "device-side assert triggered", "",
     "an assertion in a kernel failed, most often an index (a label, a token) out of range: set "
     "CUDA_LAUNCH_BLOCKING=1 to find the line",
     "cudaErrorAssert (710)"},
    {"kernel-access", rank_output, "illegal memory access", "",
     "a kernel accessed invalid memory, and the reported line may be a later one: use CUDA_LAUNCH_BLOCKING=1 "
     "or compute-sanitizer to find the line",
     "cudaErrorIllegalAddress (700)"},
    {"kernel-crash", rank_output, "unspecified launch failure", "",
     "a kernel crashed, and the reported line may be a later one: use CUDA_LAUNCH_BLOCKING=1 or "
     "compute-sanitizer to find the line",
     "cudaErrorLaunchFailure (719)"},
    // Shared memory of the node.
    {"worker-shared-memory", rank_output, "nexpected bus error encountered in worker", "",
     "/dev/shm is full: use fewer data loader workers, or a container with more of it (--shm-size, "
     "--ipc=host)",
     "torch/csrc/DataLoader.cpp"},
    {"nccl-shared-memory", rank_output, "/dev/shm/nccl-", "failed",
     "NCCL found no space in /dev/shm, or its file was removed: check df -h /dev/shm, or use a container "
     "with more of it (--shm-size, --ipc=host)",
     "NCCL's troubleshooting page, Shared memory"},
    {"shared-memory-full", rank_output, "/dev/shm", "No space left on device",
     "/dev/shm is full: remove what earlier jobs left in it, use fewer data loader workers, or a container "
     "with more of it (--shm-size, --ipc=host)",
     "errno(3)"},
    {"worker-killed", rank_output, "DataLoader worker", "killed by signal: Killed",
     "a data loader process was killed, most often because it ran out of memory: use fewer workers, or more "
     "--mem",
     "torch/csrc/DataLoader.cpp"},
    {"worker-bus-error", rank_output, "DataLoader worker", "killed by signal: Bus error",
     "/dev/shm is full: use fewer data loader workers, or a container with more of it (--shm-size, "
     "--ipc=host)",
     "torch/csrc/DataLoader.cpp"},
    // The network. NCCL's pages on errors, environment variables and networks.
    {"locked-memory", rank_output, "ibv_reg_mr", "Cannot allocate memory",
     "the limit on locked memory is too low for InfiniBand: check that ulimit -l is unlimited in the job, or "
     "notify the site",
     "NCCL's ibvwrap.cc"},
    {"libfabric", rank_output, "NCCL WARN NET/OFI", "",
     "NCCL's libfabric plugin failed: set NCCL_DEBUG=INFO and FI_LOG_LEVEL=warn to see where; "
     "NCCL_NET=Socket (slow) shows if the rest works",
     "aws-ofi-nccl"},
    {"infiniband", rank_output, "NCCL WARN NET/IB", "",
     "InfiniBand failed below NCCL, and the line names the cause; NCCL_IB_DISABLE=1 (slow) shows if the rest "
     "works",
     "NCCL's net_ib.cc"},
    {"nccl-cuda-call", rank_output, "NCCL WARN Cuda failure", "",
     "a CUDA call inside NCCL failed: the text in quotes is the error of CUDA, often of a kernel that ran "
     "before",
     "NCCL's checks.h"},
    {"collective-timeout", rank_output, "Watchdog caught collective operation timeout", "",
     "a collective timed out: a rank never reached it, or called another one; --stall-timeout shows what "
     "each rank does, and init_process_group(timeout=…) gives slow ranks more time",
     "ProcessGroupNCCL.cpp"},
    {"peer-failed", rank_output, "remote process exited or there was a network error", "",
     "another rank or the network to it failed first: check the output of that rank", "ncclRemoteError"},
    {"closed-by-remote-peer", rank_output, "Connection closed by remote peer", "",
     "another rank or the network to it failed first: check the output of that rank", "NCCL's socket.cc"},
    {"closed-by-peer", rank_output, "Connection closed by peer", "",
     "another rank or the network to it failed first: check the output of that rank", "Gloo's tcp/pair.cc"},
    {"nccl-system-call", rank_output, "unhandled system error", "",
     "a system call inside NCCL failed (network or shared memory): set NCCL_DEBUG=WARN to see which one",
     "ncclSystemError"},
    {"nccl-cuda-error", rank_output, "unhandled cuda error", "",
     "a CUDA call inside NCCL failed: set NCCL_DEBUG=WARN to see which one, and the error of CUDA",
     "ncclUnhandledCudaError"},
    // The rendezvous of ranks.
    {"port-in-use", rank_output, "EADDRINUSE", "",
     "another process on the node already uses that port: remove the port (--master-port, MASTER_PORT) to "
     "get a free one",
     "torch/csrc/distributed/c10d/socket.cpp"},
    {"address-in-use", rank_output, "ddress already in use", "",
     "another process on the node already uses that port: remove the port (--master-port, MASTER_PORT) to "
     "get a free one",
     "errno(3)"},
    {"store-unreachable", rank_output, "client socket has timed out", "",
     "the store of rank 0 was not reached: rank 0 may have failed or be slow to start, or this node cannot "
     "reach the name or network in MASTER_ADDR",
     "torch/csrc/distributed/c10d/socket.cpp"},
    {"missing-ranks", rank_output, "Timed out after", "waiting for clients",
     "not all ranks connected to the store: check for a slow or failed rank",
     "torch/csrc/distributed/c10d/TCPStore.cpp"},
    // Libraries and programs.
    {"no-cuda-library", rank_output, "libcudart", "cannot open shared object file",
     "the CUDA that the program was built with was not found: load its module in the job (--module), or set "
     "LD_LIBRARY_PATH",
     "ld.so(8)"},
    {"missing-library", rank_output, "cannot open shared object file", "",
     "a library was not found on this node: load the module that has it in the job; ldd PROGRAM shows all "
     "that are missing",
     "ld.so(8)"},
    {"old-system", rank_output, "version `GLIBC", "not found",
     "the program was built on a newer system than this node has: build it here, or use a container",
     "ld.so(8)"},
    {"missing-package", rank_output, "No module named", "",
     "the Python that runs has no such package: check that it is the one of your environment (which python), "
     "and that the job activates it, not only the shell that submitted it",
     "Python's ModuleNotFoundError"},
    {"thread-at-exit", rank_output, "terminate called without an active exception", "",
     "a thread was still running when the program ended, which aborts it after its work is done: in Python "
     "with Gloo, use sys.stdout.flush() and os._exit(0) as the last lines, after destroy_process_group()",
     "libstdc++'s vterminate.cc; with torch 2.13 and Gloo a thread releases the last collective at Python's "
     "end"},
    {"message-size", rank_output, "op.preamble.length <= op.nbytes", "",
     "this rank received more than its tensor holds (bytes sent vs room): sender and receiver differ in "
     "shape or dtype, or ranks do not call the same operations in the same order",
     "Gloo's tcp/pair.cc, torch 1.13 and 2.13"},
    {"other-processor", rank_output, "Exec format error", "",
     "the program was built for another processor than that of this node", "execve(2)"},
    // Limits and files.
    {"open-files", rank_output, "Too many open files", "",
     "the limit on open files was reached: set ulimit -n in the job, or "
     "torch.multiprocessing.set_sharing_strategy('file_system')",
     "errno(3)"},
    {"threads", rank_output, "can't start new thread", "",
     "the limit on processes and threads was reached (ulimit -u, or that of the job): use fewer workers, or "
     "a lower OMP_NUM_THREADS",
     "CPython's _threadmodule.c"},
    {"disk-full", rank_output, "No space left on device", "",
     "a disk or your quota is full: check df -h and the site's quota command", "errno(3)"},
    {"quota", rank_output, "Disk quota exceeded", "",
     "your quota on a file system is full: check the site's quota command", "errno(3)"},
    // MPI. PMI is how srun passes ranks to MPI programs.
    {"mpi-without-pmi", rank_output, "OMPI was not built with SLURM's PMI", "",
     "this Open MPI does not support srun's PMI: run srun --mpi=list to see the types (--launcher mpirun "
     "does without)",
     "Open MPI's help texts"},
    {"pmix", rank_output, "PMIX ERROR", "",
     "MPI and srun do not agree on PMIx: run srun --mpi=list to see the types, and use srun --mpi=TYPE",
     "OpenPMIx"},
    {"mpi-abort", rank_output, "MPI_ABORT was invoked", "",
     "the program called MPI_Abort: the lines before state why", "Open MPI's help texts"},
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
     "read the lines of this task above: srun names it as the first to exit", k_slurm},
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
    // How a process of a rank ended.
    {"rank-out-of-memory", kernel_report, "", "",
     "use more --mem, or less memory: data loader workers and caches of a rank are included",
     "run/launch/out_of_memory.hpp", FailureClass::out_of_memory},
    {"gpu-fault", kernel_report, "", "",
     "the kernel of the node reports a hardware error: exclude the node (--exclude={host}) and notify the "
     "site",
     "core/node_health/kernel_log.hpp", FailureClass::node, true},
    {"killed", exit_status, "SIGKILL", "",
     "another process sent KILL: the kernel because memory ran out (dmesg, sacct -o MaxRSS), Slurm or a user",
     "signal(7)"},
    {"bus-error", exit_status, "SIGBUS", "",
     "a file in memory could not be read or grown: check df -h /dev/shm, and the file systems of the data",
     "signal(7)"},
    {"illegal-instruction", exit_status, "SIGILL", "",
     "the program may be built for a newer processor than that of this node", "signal(7)"},
    {"cpu-time", exit_status, "SIGXCPU", "", "the limit on CPU time was reached: check ulimit -t in the job",
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
