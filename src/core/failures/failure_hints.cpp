// SPDX-License-Identifier: MIT
#include "core/failures/failure_hints.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>

#include "core/util/text.hpp"

namespace hpcml::failures {

const std::vector<KnownError>& known_errors() {
  static const std::vector<KnownError> k_errors = {
      // --- hardware. CUDA runtime API, cudaError_t: ECCUncorrectable (214), NvlinkUncorrectable (220);
      // NVIDIA's Xid catalogue, 79 and 74.
      {"fallen off the bus", "",
       "the GPU is lost until its node is restarted: leave the node out (--exclude={host}) and tell the "
       "site",
       true},
      {"GPU is lost", "",
       "the GPU is lost until its node is restarted: leave the node out (--exclude={host}) and tell the "
       "site",
       true},
      {"uncorrectable ECC error", "",
       "the GPU's memory has an error that is not the program's: leave the node out (--exclude={host}) and "
       "tell the site",
       true},
      {"uncorrectable NVLink error", "",
       "the link between GPUs has an error that is not the program's: leave the node out (--exclude={host}) "
       "and tell the site",
       true},
      // cudaErrorSystemNotReady (802): the daemons of the NVSwitch are not running.
      {"system not yet initialized", "",
       "NVIDIA's fabric manager is not running on the node: leave it out (--exclude={host}) and tell the "
       "site",
       true},

      // --- memory of the GPU. c10/cuda/CUDACachingAllocator.cpp; cudaErrorMemoryAllocation (2); NCCL's
      // checks.h: WARN("Cuda failure %d '%s'").
      {"Cuda failure", "out of memory",
       "the GPU's memory was full before NCCL had its buffers: leave it some (a smaller batch, "
       "torch.cuda.set_per_process_memory_fraction), and see that no two ranks use one GPU"},
      {"CUDA out of memory", "",
       "the GPU's own memory is full, --mem does not change it: a smaller batch, gradient checkpointing or "
       "sharding; where much is reserved and not allocated, "
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
      {"HIP out of memory", "",
       "the GPU's own memory is full, --mem does not change it: a smaller batch, gradient checkpointing or "
       "sharding"},
      {"CUDA error: out of memory", "",
       "the GPU's own memory is full; at the first use of CUDA another process has it: see that no two ranks "
       "use one GPU (torch.cuda.set_device(LOCAL_RANK))"},
      {"CUBLAS_STATUS_ALLOC_FAILED", "",
       "cuBLAS found no memory on the GPU: a smaller batch, or less memory for torch "
       "(torch.cuda.set_per_process_memory_fraction)"},

      // --- the wrong GPU, or none. cudaError_t: InvalidDevice (101), NoDevice (100), InsufficientDriver
      // (35), DevicesUnavailable (46), NoKernelImageForDevice (209), CompatNotSupportedOnDevice (804).
      {"invalid device ordinal", "",
       "the program takes a GPU that this rank does not see: it has to take LOCAL_RANK, not RANK; and "
       "where each rank sees one GPU only, device 0 (--gpu-visibility)"},
      {"no CUDA-capable device", "",
       "this rank sees no GPU: ask for some (--gpus-per-node), let the container have them (--nv, --gpus "
       "all), and see that nothing sets CUDA_VISIBLE_DEVICES to nothing"},
      {"No CUDA GPUs are available", "",
       "this rank sees no GPU: ask for some (--gpus-per-node), let the container have them (--nv, --gpus "
       "all), and see that nothing sets CUDA_VISIBLE_DEVICES to nothing"},
      {"No HIP GPUs are available", "",
       "this rank sees no GPU: ask for some (--gpus-per-node), let the container have them (--rocm, "
       "/dev/kfd and /dev/dri), and see that nothing sets ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES to "
       "nothing"},
      {"Found no NVIDIA driver", "",
       "there is no NVIDIA driver here: a partition with GPUs, and a container that is given them (--nv, "
       "--gpus all)"},
      {"libcuda.so", "cannot open shared object file",
       "the GPU's driver is not seen: a partition with GPUs, and a container that is given them (--nv, "
       "--gpus all)"},
      {"driver version is insufficient", "",
       "the node's driver is older than the program's CUDA: a build for an older CUDA, or the container's "
       "package cuda-compat"},
      {"forward compatibility was attempted on non supported HW", "",
       "the container's cuda-compat does not work with this GPU or driver: take it out of LD_LIBRARY_PATH, "
       "or use an image with an older CUDA"},
      {"no kernel image is available", "",
       "the program was not built for this kind of GPU: torch.cuda.get_arch_list() says for which ones torch "
       "was"},
      {"CUDA-capable device(s) is/are busy or unavailable", "",
       "another process has the GPU for itself: see that no two ranks use one GPU "
       "(torch.cuda.set_device(LOCAL_RANK)); where it is not yours, tell the site"},
      {"Duplicate GPU detected", "",
       "two ranks use one GPU, which NCCL refuses: torch.cuda.set_device(LOCAL_RANK) before the first "
       "collective"},

      // --- faults of kernels. CUDA programming guide: kernels run later than the line that starts them.
      {"device-side assert triggered", "",
       "a kernel's own check failed, most often an index (a label, a token) out of range; "
       "CUDA_LAUNCH_BLOCKING=1 shows the line that started it"},
      {"illegal memory access", "",
       "a kernel used memory that is not its own, and the line that is named may be a later one: "
       "CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer shows the right one"},
      {"unspecified launch failure", "",
       "a kernel crashed, and the line that is named may be a later one: CUDA_LAUNCH_BLOCKING=1 or "
       "compute-sanitizer shows the right one"},

      // --- shared memory of the node. torch/csrc/DataLoader.cpp; NCCL's troubleshooting
      // page, "Shared memory".
      {"nexpected bus error encountered in worker", "",
       "/dev/shm is full: fewer data loader workers, or a container with more of it (--shm-size, "
       "--ipc=host)"},
      {"/dev/shm/nccl-", "failed",
       "NCCL found no room in /dev/shm, or its file was removed: df -h /dev/shm; a container with more of it "
       "(--shm-size, --ipc=host)"},
      {"/dev/shm", "No space left on device",
       "/dev/shm is full: what earlier jobs left there, fewer data loader workers, or a container with more "
       "of it (--shm-size, --ipc=host)"},
      {"DataLoader worker", "killed by signal: Killed",
       "a data loader's process was killed, most often for want of memory: fewer workers, or more --mem"},
      {"DataLoader worker", "killed by signal: Bus error",
       "/dev/shm is full: fewer data loader workers, or a container with more of it (--shm-size, "
       "--ipc=host)"},

      // --- the network. NCCL's pages on errors, environment variables and networks.
      {"ibv_reg_mr", "Cannot allocate memory",
       "the limit on locked memory is too low for InfiniBand: ulimit -l should say unlimited in the job, "
       "else tell the site"},
      {"NCCL WARN NET/OFI", "",
       "NCCL's libfabric plugin failed: NCCL_DEBUG=INFO and FI_LOG_LEVEL=warn say at what; with "
       "NCCL_NET=Socket (slow) it is seen whether the rest works"},
      {"NCCL WARN NET/IB", "",
       "InfiniBand failed below NCCL: the line says at what; with NCCL_IB_DISABLE=1 (slow) it is seen "
       "whether the rest works"},
      {"NCCL WARN Cuda failure", "",
       "a call of CUDA inside NCCL failed: what stands between the quotes is CUDA's own error, often of a "
       "kernel that ran before"},
      {"Watchdog caught collective operation timeout", "",
       "a collective did not end in time: some rank never came to it, or came to another one; "
       "--stall-timeout shows where each rank is, and init_process_group(timeout=…) gives slow ones longer"},
      {"remote process exited or there was a network error", "",
       "another rank was lost first, or the network to it: look for what that one said"},
      {"Connection closed by remote peer", "",
       "another rank was lost first, or the network to it: look for what that one said"},
      {"Connection closed by peer", "",
       "another rank was lost first, or the network to it: look for what that one said"},
      {"unhandled system error", "",
       "a system call inside NCCL failed (network or shared memory): NCCL_DEBUG=WARN says which one"},
      {"unhandled cuda error", "",
       "a call of CUDA inside NCCL failed: NCCL_DEBUG=WARN says which one, and CUDA's own error"},

      // --- the meeting of ranks. torch/csrc/distributed/c10d/socket.cpp and TCPStore.cpp.
      {"EADDRINUSE", "",
       "something on the node has that port already: leave the port out (--master-port, MASTER_PORT), and a "
       "free one is taken"},
      {"ddress already in use", "",
       "something on the node has that port already: leave the port out (--master-port, MASTER_PORT), and a "
       "free one is taken"},
      {"client socket has timed out", "",
       "rank 0's store was not reached: rank 0 may have failed or be slow to start, or MASTER_ADDR is a name "
       "or network that this node cannot reach"},
      {"Timed out after", "waiting for clients",
       "not all ranks came to the store: look for the one that is slow or failed"},

      // --- libraries and programs. ld.so(8), execve(2).
      {"libcudart", "cannot open shared object file",
       "the CUDA that the program was built with is not found: load its module in the job (--module), or set "
       "LD_LIBRARY_PATH"},
      {"cannot open shared object file", "",
       "a library is not found on this node: load the module that has it in the job; ldd PROGRAM shows all "
       "that are missing"},
      {"version `GLIBC", "not found",
       "the program was built on a newer system than this node has: build it here, or use a container"},
      {"No module named", "",
       "the Python that runs has no such package: is it the one of your environment (which python), and is "
       "that activated in the job, not only where you submitted?"},
      // std::terminate's own words in libstdc++ (vterminate.cc); seen with torch 2.13 and Gloo, whose thread
      // lets go of the last collective while Python finalizes.
      {"terminate called without an active exception", "",
       "a thread was still at work as the program ended, which aborts it after its work is done; in Python "
       "with Gloo: sys.stdout.flush() and os._exit(0) as the last lines, behind destroy_process_group()"},
      // Gloo's tcp/pair.cc; seen with torch 1.13 and 2.13.
      {"op.preamble.length <= op.nbytes", "",
       "this rank was sent more than the tensor that it receives into holds (bytes sent vs room): sender and "
       "receiver differ in shape or dtype, or ranks do not call the same operations in the same order"},
      {"Exec format error", "", "the program was built for another kind of processor than this node has"},

      // --- limits and files. errno(3), ulimit of bash.
      {"Too many open files", "",
       "the limit on open files was reached: ulimit -n in the job, or "
       "torch.multiprocessing.set_sharing_strategy('file_system')"},
      {"can't start new thread", "",
       "the limit on processes and threads was reached (ulimit -u, or the job's own): fewer workers, or "
       "OMP_NUM_THREADS"},
      {"No space left on device", "", "a disk is full, or your share of it: df -h, and the site's quota"},
      {"Disk quota exceeded", "",
       "your share of a file system is used up: the site's quota command says where"},

      // --- MPI. Open MPI's help-mpi-runtime texts; PMI is what srun tells MPI's programs by.
      {"OMPI was not built with SLURM's PMI", "",
       "this Open MPI does not speak srun's PMI: srun --mpi=list shows what there is (--launcher mpirun "
       "starts it by itself)"},
      {"PMIX ERROR", "",
       "MPI and srun do not agree on PMIx: srun --mpi=list shows what there is, srun --mpi=… chooses"},
      {"MPI_ABORT was invoked", "", "the program ended itself by MPI_Abort: the lines before say why"},
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
    return "more --mem, or less in use: data loader workers and caches of a rank count, too";
  if (!WIFSIGNALED(note.status)) return {};
  switch (WTERMSIG(note.status)) {
  case SIGKILL:
    return "KILL comes from outside: the kernel for want of memory (dmesg, sacct -o MaxRSS), Slurm or a "
           "person";
  case SIGBUS:
    return "a file in memory could not be read or grown: df -h /dev/shm, and the file systems of the data";
  case SIGILL: return "the program may be built for a newer processor than this node has";
  case SIGXCPU: return "the limit on CPU time was reached: ulimit -t in the job";
  default: return {};
  }
}

/// The first known error that the rank's words tell of; nullptr: none.
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
    return "the node's kernel tells of an error that is not the program's: leave the node out (--exclude=" +
           note.host + ") and tell the site";
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
