// SPDX-License-Identifier: MIT
// The five documents that this project began with: what each page has a person type, typed on its site's
// emulated nodes. The pages' programs are in documents/, with fewer nodes and shorter sleeps, and a torch
// that starts at once.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "python_packages.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::Cluster;
namespace fs = std::filesystem;

namespace {

/// Something that the output has so often.
struct Expected {
  const char* text;
  unsigned times = 1;
};

struct Page {
  const char* name;                   ///< of the document, and of what is typed, in documents/NAME.sh
  std::vector<std::string> cluster;   ///< flags of emulate
  std::vector<Expected> expectations; ///< on either output
};

const std::vector<Page> k_pages = {
    {"lumi_pytorch",
     {"--site", "lumi", "--nodes", "2"},
     {{"Successfully built container lumi-sfantao-pytorch-lumi-base.sif\n"},
      {"extended image 2.7.1\n"},
      {"GPU 7: AMD MI250X (GCD) (emulated)\n", 2},
      {"'s current affinity mask: fe000000000000\n", 2},
      {"'s current affinity mask: fe\n", 2},
      {" of 16 GPU ", 16},
      {" cache True\n", 16},
      {"rank 15 of 16 GPU 7 cache True\n"},
      {"failed 1 with 0 files\n"},
      {"Ready. Use it in a job with: hpcml gen --site lumi --container "},
      {"image of hpcml 2.7.1\n"}}},
    {"zurada_pytorch",
     {"--site", "zurada"},
     {{"pytorch  "},
      {"in the global environment\n"},
      {"installed in my_pytorch_cuda", 3},
      {"installed in my_pytorch_cuda12.8\n"},
      {"names no environment my_pytorch_env (it has: pytorch): taken for one of yours"},
      {"CUDA available: True\nNumber of GPUs: 1\nCurrent GPU: GPU 0\n"},
      {"GPU 0: NVIDIA H100 NVL (emulated)\n"},
      {"Zurada (University of Louisville) requires --mem"},
      // The page's two tasks start two trainings on the same two GPUs.
      {"trained with 2 ranks, 16 threads each\n", 3},
      {"one launcher:\ntrained with 2 ranks, 16 threads each\n"},
      {"Ready. Use it in a job with: hpcml gen --site zurada --conda my_pytorch_cuda12\n"},
      {"setup: there is an environment my_pytorch_cuda12 already"},
      {"torch --index-url https://download.pytorch.org/whl/cu129\n"},
      {"Traceback", 0}}},
    {"vista_ml",
     {"--site", "vista", "--partition", "gh-dev", "--nodes", "2"},
     {{"c123-001\navailable True\n"},
      {"own torch 2.7.1\n"},
      {"nodes 2 tasks 2 c123-001 c123-002\n"},
      {"rank 0 of 2 on c123-001\n"},
      {"rank 1 of 2 on c123-002\n"},
      {"system torch True gcc:cuda:python3\n"},
      {"torch --index-url https://download.pytorch.org/whl/cu124\n"},
      {"the profile of Vista names no module python3", 0},
      {"/python-envs/made\n"}}},
    {"alliance_pytorch",
     {"--site", "narval"},
     {{"torch  2.7.1", 2},
      {"CUDA available: True\nNumber of GPUs: 1\n"},
      {"for LibTorch: 2.7.1\n"},
      {"No matching distribution found for torch==1.9.1"},
      {"setup: requirements.txt is there already, and the list of packages would replace it"},
      {"hpcml gen --site narval --wheelhouse requirements.txt\nnumpy==1.0\n"},
      {"\nmine\n"},
      {"CXX_STANDARD 17 or higher in its"},
      {"built/env is there already"},
      {"\nsoftware/cuda/12.2/extras/CUPTI/lib64\n"},
      {"Traceback", 0}}},
    {"server_notes_pytorch",
     {"--site", "narval", "--nodes", "2"},
     {{"Start training..\nthreads 4\n"},
      {"one node: before, rank 0 False\none node: before, rank 1 False\none node: saved, rank 0 True\none "
       "node: saved, "
       "rank 1 True\n"},
      // Nothing is left of the first job, and the second node has a /tmp of its own.
      {"two nodes: before, rank 0 False\ntwo nodes: before, rank 1 False\ntwo nodes: saved, rank 0 True\ntwo "
       "nodes: "
       "saved, rank 1 False\n"}}},
};

// Not sbatch -W: it asks after 2, 10 and 20 seconds.
const char* const k_submit = R"(export PYTHONPATH=$PWD
exec 2>&1
submit() {
  local id
  id=$(sbatch --parsable "$@") || return
  until [[ -z $(squeue -h -j "$id" 2> /dev/null) ]]; do sleep 0.1; done
}
)";

/// A package as pip's records have it.
void write_package(const Cluster& cluster, const std::string& name, const std::string& version,
                   const std::string& files) {
  const auto info = name + "-" + version + ".dist-info";
  fs::create_directory(cluster.directory() / info);
  cluster.write(info + "/METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
  cluster.write(info + "/RECORD", files + info + "/METADATA,,\n" + info + "/RECORD,,\n");
}

void put_documents(const Cluster& cluster) {
  fs::copy(fs::path(HPCML_SOURCE_DIR) / "tests/emulate/documents", cluster.directory().path(),
           fs::copy_options::recursive);
  write_package(cluster, "torch", "2.7.1", "torch/__init__.py,,\ntorch/cuda.py,,\n");
  for (const std::string name : {"torchvision", "torchaudio", "numpy"}) {
    cluster.write(name + ".py", "");
    write_package(cluster, name, "1.0", name + ".py,,\n");
  }
  cluster.write("your-container-image.sif", "");
}

unsigned count(const std::string& text, const std::string& part) {
  unsigned found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("what each document has a person type does on its emulated site what the page says", "[slurm]") {
  const bool has_mpi = test::module_version(test::k_system_python, "mpi4py").has_value();
  if (!has_mpi) test::skip_missing("python3-mpi4py");
  for (const auto& page : k_pages) {
    DYNAMIC_SECTION(page.name) {
      const Cluster cluster(page.cluster);
      put_documents(cluster);
      const auto result = cluster.run(k_submit + cluster.read(page.name + std::string(".sh")));
      CAPTURE(page.name);
      INFO(result.out + result.err);
      for (const auto& expected : page.expectations) {
        CAPTURE(expected.text);
        CHECK(count(result.out, expected.text) == expected.times);
      }
      if (has_mpi && page.name == std::string("vista_ml")) {
        CHECK(count(result.out, "World Rank: 1, World Size: 2, GPU_ID: 0\n") == 1);
        CHECK(count(result.out, "Starting process on c123-002:GPU 0\n") == 1);
        CHECK(count(result.out, "worker_1 has received data from rank 0\n") == 1);
      }
    }
  }
}
