// SPDX-License-Identifier: MIT
#include "core/failures/failure_hints.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/util/text.hpp"

namespace hpcml::failures {

const std::vector<KnownError>& known_errors() {
  static const std::vector<KnownError> k_errors = {
      // --- hardware. CUDA runtime API, cudaError_t: ECCUncorrectable (214), NvlinkUncorrectable (220);
      // NVIDIA's Xid catalogue, 79 and 74.
      {"fallen off the bus", "",
       "the GPU is lost until its node is restarted: exclude the node (--exclude={host}) and notify the site",
       true},
      {"GPU is lost", "",
       "the GPU is lost until its node is restarted: exclude the node (--exclude={host}) and notify the site",
       true},
      {"uncorrectable ECC error", "",
       "the GPU memory has a hardware error: exclude the node (--exclude={host}) and notify the site", true},
      {"uncorrectable NVLink error", "",
       "the link between GPUs has a hardware error: exclude the node (--exclude={host}) and notify the site",
       true},
      // cudaErrorSystemNotReady (802): the daemons of the NVSwitch are not running.
      {"system not yet initialized", "",
       "NVIDIA's fabric manager is not running on the node: exclude it (--exclude={host}) and notify the "
       "site",
       true},

      // --- memory of the GPU. c10/cuda/CUDACachingAllocator.cpp; cudaErrorMemoryAllocation (2); NCCL's
      // checks.h: WARN("Cuda failure %d '%s'").
      {"Cuda failure", "out of memory",
       "the GPU memory was full before NCCL had its buffers: use less of it (a smaller batch, "
       "torch.cuda.set_per_process_memory_fraction), and check that no two ranks use one GPU"},
      {"CUDA out of memory", "",
       "the GPU memory is full, and --mem does not change it: use a smaller batch, gradient checkpointing or "
       "sharding; if much is reserved and not allocated, set "
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
      {"HIP out of memory", "",
       "the GPU memory is full, and --mem does not change it: use a smaller batch, gradient checkpointing or "
       "sharding"},
      {"CUDA error: out of memory", "",
       "the GPU memory is full; at the first use of CUDA another process uses it: check that no two ranks "
       "use one GPU (torch.cuda.set_device(LOCAL_RANK))"},
      {"CUBLAS_STATUS_ALLOC_FAILED", "",
       "cuBLAS found no memory on the GPU: use a smaller batch, or less memory for torch "
       "(torch.cuda.set_per_process_memory_fraction)"},

      // --- the wrong GPU, or none. cudaError_t: InvalidDevice (101), NoDevice (100), InsufficientDriver
      // (35), DevicesUnavailable (46), NoKernelImageForDevice (209), CompatNotSupportedOnDevice (804).
      {"invalid device ordinal", "",
       "the program uses a GPU that this rank does not see: use LOCAL_RANK, not RANK, or device 0 if each "
       "rank sees only one GPU (--gpu-visibility)"},
      {"no CUDA-capable device", "",
       "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--nv, "
       "--gpus all), and check that CUDA_VISIBLE_DEVICES is not empty"},
      {"No CUDA GPUs are available", "",
       "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--nv, "
       "--gpus all), and check that CUDA_VISIBLE_DEVICES is not empty"},
      {"No HIP GPUs are available", "",
       "no GPU is visible to this rank: request GPUs (--gpus-per-node), pass them to the container (--rocm, "
       "/dev/kfd and /dev/dri), and check that ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES are not empty"},
      {"Found no NVIDIA driver", "",
       "no NVIDIA driver was found: use a partition with GPUs, and pass them to the container (--nv, --gpus "
       "all)"},
      {"libcuda.so", "cannot open shared object file",
       "the GPU driver is not visible: use a partition with GPUs, and pass them to the container (--nv, "
       "--gpus all)"},
      {"driver version is insufficient", "",
       "the driver of the node is older than the CUDA of the program: use a build for an older CUDA, or the "
       "container's package cuda-compat"},
      {"forward compatibility was attempted on non supported HW", "",
       "the container's cuda-compat does not work with this GPU or driver: remove it from LD_LIBRARY_PATH, "
       "or use an image with an older CUDA"},
      {"no kernel image is available", "",
       "the program was not built for this GPU type: torch.cuda.get_arch_list() shows the types that torch "
       "was built for"},
      {"CUDA-capable device(s) is/are busy or unavailable", "",
       "another process uses the GPU exclusively: check that no two ranks use one GPU "
       "(torch.cuda.set_device(LOCAL_RANK)); if it is not yours, notify the site"},
      {"Duplicate GPU detected", "",
       "two ranks use one GPU, which NCCL rejects: use torch.cuda.set_device(LOCAL_RANK) before the first "
       "collective"},

      // --- faults of kernels. CUDA programming guide: kernels run later than the line that starts them.
      {"device-side assert triggered", "",
       "an assertion in a kernel failed, most often an index (a label, a token) out of range: set "
       "CUDA_LAUNCH_BLOCKING=1 to find the line"},
      {"illegal memory access", "",
       "a kernel accessed invalid memory, and the reported line may be a later one: use "
       "CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to find the line"},
      {"unspecified launch failure", "",
       "a kernel crashed, and the reported line may be a later one: use CUDA_LAUNCH_BLOCKING=1 or "
       "compute-sanitizer to find the line"},

      // --- shared memory of the node. torch/csrc/DataLoader.cpp; NCCL's troubleshooting
      // page, "Shared memory".
      {"nexpected bus error encountered in worker", "",
       "/dev/shm is full: use fewer data loader workers, or a container with more of it (--shm-size, "
       "--ipc=host)"},
      {"/dev/shm/nccl-", "failed",
       "NCCL found no space in /dev/shm, or its file was removed: check df -h /dev/shm, or use a container "
       "with more of it (--shm-size, --ipc=host)"},
      {"/dev/shm", "No space left on device",
       "/dev/shm is full: remove what earlier jobs left in it, use fewer data loader workers, or a container "
       "with more of it (--shm-size, --ipc=host)"},
      {"DataLoader worker", "killed by signal: Killed",
       "a data loader process was killed, most often because it ran out of memory: use fewer workers, or "
       "more --mem"},
      {"DataLoader worker", "killed by signal: Bus error",
       "/dev/shm is full: use fewer data loader workers, or a container with more of it (--shm-size, "
       "--ipc=host)"},

      // --- the network. NCCL's pages on errors, environment variables and networks.
      {"ibv_reg_mr", "Cannot allocate memory",
       "the limit on locked memory is too low for InfiniBand: check that ulimit -l is unlimited in the job, "
       "or notify the site"},
      {"NCCL WARN NET/OFI", "",
       "NCCL's libfabric plugin failed: set NCCL_DEBUG=INFO and FI_LOG_LEVEL=warn to see where; "
       "NCCL_NET=Socket (slow) shows if the rest works"},
      {"NCCL WARN NET/IB", "",
       "InfiniBand failed below NCCL, and the line names the cause; NCCL_IB_DISABLE=1 (slow) shows if the "
       "rest works"},
      {"NCCL WARN Cuda failure", "",
       "a CUDA call inside NCCL failed: the text in quotes is the error of CUDA, often of a kernel that ran "
       "before"},
      {"Watchdog caught collective operation timeout", "",
       "a collective timed out: a rank never reached it, or called another one; --stall-timeout shows what "
       "each rank does, and init_process_group(timeout=…) gives slow ranks more time"},
      {"remote process exited or there was a network error", "",
       "another rank or the network to it failed first: check the output of that rank"},
      {"Connection closed by remote peer", "",
       "another rank or the network to it failed first: check the output of that rank"},
      {"Connection closed by peer", "",
       "another rank or the network to it failed first: check the output of that rank"},
      {"unhandled system error", "",
       "a system call inside NCCL failed (network or shared memory): set NCCL_DEBUG=WARN to see which one"},
      {"unhandled cuda error", "",
       "a CUDA call inside NCCL failed: set NCCL_DEBUG=WARN to see which one, and the error of CUDA"},

      // --- the rendezvous of ranks. torch/csrc/distributed/c10d/socket.cpp and TCPStore.cpp.
      {"EADDRINUSE", "",
       "another process on the node already uses that port: remove the port (--master-port, MASTER_PORT) to "
       "get a free one"},
      {"ddress already in use", "",
       "another process on the node already uses that port: remove the port (--master-port, MASTER_PORT) to "
       "get a free one"},
      {"client socket has timed out", "",
       "the store of rank 0 was not reached: rank 0 may have failed or be slow to start, or this node cannot "
       "reach the name or network in MASTER_ADDR"},
      {"Timed out after", "waiting for clients",
       "not all ranks connected to the store: check for a slow or failed rank"},

      // --- libraries and programs. ld.so(8), execve(2).
      {"libcudart", "cannot open shared object file",
       "the CUDA that the program was built with was not found: load its module in the job (--module), or "
       "set LD_LIBRARY_PATH"},
      {"cannot open shared object file", "",
       "a library was not found on this node: load the module that has it in the job; ldd PROGRAM shows all "
       "that are missing"},
      {"version `GLIBC", "not found",
       "the program was built on a newer system than this node has: build it here, or use a container"},
      {"No module named", "",
       "the Python that runs has no such package: check that it is the one of your environment (which "
       "python), and that the job activates it, not only the shell that submitted it"},
      // std::terminate's own words in libstdc++ (vterminate.cc); seen with torch 2.13 and Gloo, whose thread
      // lets go of the last collective while Python finalizes.
      {"terminate called without an active exception", "",
       "a thread was still running when the program ended, which aborts it after its work is done: in Python "
       "with Gloo, use sys.stdout.flush() and os._exit(0) as the last lines, after destroy_process_group()"},
      // Gloo's tcp/pair.cc; seen with torch 1.13 and 2.13.
      {"op.preamble.length <= op.nbytes", "",
       "this rank received more than its tensor holds (bytes sent vs room): sender and receiver differ in "
       "shape or dtype, or ranks do not call the same operations in the same order"},
      {"Exec format error", "", "the program was built for another processor than that of this node"},

      // --- limits and files. errno(3), ulimit of bash.
      {"Too many open files", "",
       "the limit on open files was reached: set ulimit -n in the job, or "
       "torch.multiprocessing.set_sharing_strategy('file_system')"},
      {"can't start new thread", "",
       "the limit on processes and threads was reached (ulimit -u, or that of the job): use fewer workers, "
       "or a lower OMP_NUM_THREADS"},
      {"No space left on device", "",
       "a disk or your quota is full: check df -h and the site's quota command"},
      {"Disk quota exceeded", "", "your quota on a file system is full: check the site's quota command"},

      // --- MPI. Open MPI's help-mpi-runtime texts; PMI is how srun passes ranks to MPI programs.
      {"OMPI was not built with SLURM's PMI", "",
       "this Open MPI does not support srun's PMI: run srun --mpi=list to see the types (--launcher mpirun "
       "does without)"},
      {"PMIX ERROR", "",
       "MPI and srun do not agree on PMIx: run srun --mpi=list to see the types, and use srun --mpi=TYPE"},
      {"MPI_ABORT was invoked", "", "the program called MPI_Abort: the lines before state why"},
  };
  return k_errors;
}

namespace {

bool mentions(std::string_view text, const KnownError& error) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    if (line.find(error.text) != std::string_view::npos &&
        (error.and_text.empty() || line.find(error.and_text) != std::string_view::npos))
      return true;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

std::string hint_for_end(const RankFailure& note) {
  if (note.out_of_memory)
    return "use more --mem, or less memory: data loader workers and caches of a rank are included";
  if (!WIFSIGNALED(note.status)) return {};
  switch (WTERMSIG(note.status)) {
  case SIGKILL:
    return "another process sent KILL: the kernel because memory ran out (dmesg, sacct -o MaxRSS), Slurm or "
           "a user";
  case SIGBUS:
    return "a file in memory could not be read or grown: check df -h /dev/shm, and the file systems of the "
           "data";
  case SIGILL: return "the program may be built for a newer processor than that of this node";
  case SIGXCPU: return "the limit on CPU time was reached: check ulimit -t in the job";
  default: return {};
  }
}

/// The first known error that the rank's words describe; nullptr: none.
const KnownError* find_known(const RankFailure& note) {
  const auto is_known = [&](const KnownError& error) {
    return mentions(note.message, error) || mentions(note.traceback, error) ||
           std::any_of(note.last_lines.begin(), note.last_lines.end(),
                       [&](const std::string& line) { return mentions(line, error); });
  };
  const auto& errors = known_errors();
  const auto found = std::find_if(errors.begin(), errors.end(), is_known);
  return found == errors.end() ? nullptr : &*found;
}

} // namespace

std::string find_hint(const RankFailure& note) {
  if (!note.gpu_fault.empty())
    return fmt::format("the kernel of the node reports a hardware error: exclude the node (--exclude={}) and "
                       "notify the site",
                       note.host);
  const auto* known = find_known(note);
  if (known == nullptr || (note.out_of_memory && WIFSIGNALED(note.status))) return hint_for_end(note);
  return util::replace_all(std::string(known->hint), "{host}", note.host);
}

std::string find_node_fault(const RankFailure& note) {
  if (!note.gpu_fault.empty()) return note.gpu_fault;
  const auto* known = note.of_launcher ? nullptr : find_known(note);
  return std::string(known != nullptr && known->of_node ? known->text : "");
}

} // namespace hpcml::failures
