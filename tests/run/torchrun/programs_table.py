# SPDX-License-Identifier: MIT
"""The programs that programs.py runs: where they are, their line, and how it shows that they ran.

repository, path    in SOURCES; a commit follows where the newest has it no more
flags, words        what stands before the program and after it; {scratch}, {root}, {port} are filled in, {agent} is the agent's number
agents              so many on this machine side by side (1)
launch              by torch.distributed.launch, which passes the local rank
code                hpcml's exit code; torchrun's is then 1
shows, times        what stands in the ranks' output, at least so often
varies              what else differs from run to run
needs               modules beside torch
"""
LAUNCHER = "test/distributed/launcher/bin/"
PROCESSES = "test/distributed/elastic/multiprocessing/bin/"
TORCH = "pytorch/pytorch"
ONE_NODE = ["--nnodes=1", "--nproc-per-node=4"]
C10D = ["--rdzv-backend=c10d", "--rdzv-endpoint=localhost:{port}", "--rdzv-id=a-run"]
LEFT = ["--touch_file_dir", "{scratch}/left"]
ALL_VARIABLES = {"TEST_SENTINEL_PARENT": "FOOBAR"}
FEW = ["--input-dim", "8", "--max-epochs", "1", "--num-batches-per-epoch", "4", "--batch-size", "4"]

PROGRAMS = [
    # The programs of PyTorch's own tests of its launcher, with the lines of those tests
    {"repository": TORCH, "path": LAUNCHER + "test_script.py", "flags": [*ONE_NODE, *C10D, "--monitor-interval=1", "--start-method=spawn"],
     "words": LEFT, "env": ALL_VARIABLES, "shows": "Success, created", "times": 4},
    {"repository": TORCH, "path": LAUNCHER + "test_script.py", "flags": ["--standalone", "--nproc-per-node=auto", "--role=trainer"],
     "words": LEFT, "env": ALL_VARIABLES, "shows": "ROLE_NAME = trainer"},
    {"repository": TORCH, "path": LAUNCHER + "test_script.py", "flags": ["--standalone", "--nproc-per-node=cpu", "--run-path"],
     "words": LEFT, "env": ALL_VARIABLES, "shows": "Success, created"},
    {"repository": TORCH, "path": LAUNCHER + "test_script.py", "flags": ["--nnodes=1:2", "--nproc-per-node=2", *C10D, "--max-restarts=1"],
     "words": ["--fail"], "env": ALL_VARIABLES, "shows": "RuntimeError: raising exception", "times": 2, "code": 1},
    {"repository": TORCH, "path": LAUNCHER + "test_script.py", "flags": ["--nnodes=2", "--nproc-per-node=2", *C10D], "agents": 2,
     "words": LEFT, "env": ALL_VARIABLES, "shows": "WORLD_SIZE = 4", "times": 4, "varies": [r"\b(GROUP_RANK|ROLE_RANK|RANK) = \d"]},
    {"repository": TORCH, "path": LAUNCHER + "test_script.sh", "flags": [*ONE_NODE, *C10D, "--no-python"], "words": ["{scratch}/left"],
     "shows": "creating", "times": 4},
    {"repository": TORCH, "path": LAUNCHER + "test_script_init_method.py", "flags": [*ONE_NODE, *C10D], "words": ["--init-method=env://"],
     "shows": "Done", "times": 4},
    {"repository": TORCH, "path": LAUNCHER + "test_script_init_method.py", "flags": ["--nnodes=1", "--nproc-per-node=2", "--master-port={port}",
     "--monitor-interval=1"], "words": ["--init-method=env://"], "shows": "Done", "times": 2},
    {"repository": TORCH, "path": LAUNCHER + "test_script_init_method.py", "flags": ["--nnodes=2", "--nproc-per-node=2", "--node-rank={agent}",
     "--master-addr=localhost", "--master-port={port}"], "agents": 2, "words": ["--init-method=env://"], "shows": "Done", "times": 4},
    {"repository": TORCH, "path": LAUNCHER + "test_script_is_torchelastic_launched.py", "flags": ["--standalone"],
     "words": ["--out_file={scratch}/left/launched"]},
    {"repository": TORCH, "path": LAUNCHER + "test_script_local_rank.py", "flags": ["--nnodes=1", "--nproc-per-node=4", "--master-port={port}"],
     "words": ["--local_rank=${{local_rank}}"], "shows": "End execution", "times": 4},
    {"repository": TORCH, "path": "test/distributed/bin/test_script.py", "flags": ["--nproc_per_node=2", "--master_port={port}"],
     "launch": True, "words": [], "shows": "Success, smoke test", "times": 2},
    {"repository": TORCH, "path": PROCESSES + "echo1.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["hello"],
     "shows": "hello stdout from"},
    {"repository": TORCH, "path": PROCESSES + "echo1.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["hello", "--exitcode=7"],
     "shows": "exit 7 from", "code": 7},
    {"repository": TORCH, "path": PROCESSES + "echo2.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["hello"],
     "shows": "hello from", "times": 2},
    {"repository": TORCH, "path": PROCESSES + "echo2.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["--raises=True", "hello"],
     "shows": "RuntimeError: raised from", "code": 1},
    {"repository": TORCH, "path": PROCESSES + "echo3.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["hello"],
     "shows": "hello from", "times": 2},
    {"repository": TORCH, "path": PROCESSES + "echo3.py", "flags": ["--standalone", "--nproc-per-node=2"],
     "words": ["--segfault=True", "hello"], "code": 128 + 11},
    {"repository": TORCH, "path": PROCESSES + "echo4.py", "flags": ["--standalone", "--nproc-per-node=2"], "words": ["hello", "--exitcode=3"],
     "shows": "exit 3 from", "code": 3},
    # The same of torchelastic, before it became a part of torch
    {"repository": "pytorch/elastic@8452bda", "path": "torchelastic/distributed/test/bin/test_script.py", "flags": [*ONE_NODE, *C10D],
     "words": ["--local_rank=${{local_rank}}", *LEFT], "env": ALL_VARIABLES, "shows": "Success, created", "times": 4},
    {"repository": "pytorch/elastic@8452bda", "path": "torchelastic/distributed/test/bin/sleep_script.py", "flags": [*ONE_NODE, *C10D],
     "words": ["--sleep=1"]},
    {"repository": "pytorch/elastic@2ddb81b", "path": "test/distributed/bin/test_script.py", "flags": ["--standalone", "--nproc_per_node=2"],
     "words": ["--local_rank", "$local_rank", *LEFT], "shows": "Success, created", "times": 2},
    {"repository": "pytorch/elastic@2ddb81b", "path": "test/distributed/bin/test_script_use_env.py", "launch": "use-env",
     "flags": ["--use_env", "--nproc_per_node=2", "--master_port={port}"], "words": LEFT, "shows": "Success, created", "times": 2},
    # Examples
    {"repository": "pytorch/elastic", "path": "examples/multi_container/echo.py", "flags": ["--nnodes=1:2", "--nproc-per-node=2", *C10D],
     "shows": "after init process group, rank=", "times": 2, "varies": [r"PID \d+"]},
    {"repository": "pytorch/elastic", "path": "examples/multi_container/echo.py", "flags": ["--nnodes=2", "--nproc-per-node=1", *C10D],
     "agents": 2, "shows": "world_size = 2", "times": 2, "varies": [r"PID \d+", r"RANK': '\d", r"rank=\d"]},
    {"repository": TORCH, "path": "torch/distributed/tensor/examples/visualize_sharding_example.py", "flags": ["--nproc-per-node=4"],
     "needs": ["rich"], "env": {"TERM": "xterm-256color"}, "shows": "Replicate along"},
    {"repository": "pytorch/PiPPy", "path": "examples/basic/example_manual_stage.py", "flags": ["--nproc-per-node=3"],
     "shows": "Rank . finished", "times": 3},
    {"repository": "pytorch/ignite", "path": "tests/ignite/distributed/check_idist_parallel.py", "flags": ["--nproc_per_node=4"],
     "words": ["--backend=gloo"], "needs": ["ignite"], "shows": "backend=gloo", "times": 4},
    {"repository": "pytorch/tnt", "path": "examples/auto_unit_example.py", "flags": ["--nproc-per-node=2"], "words": FEW,
     "needs": ["torcheval", "tensorboard", "pkg_resources"], "shows": "Finished fit", "times": 2},
    {"repository": "pytorch/tnt", "path": "examples/train_unit_example.py", "flags": ["--nproc-per-node=2"], "words": FEW,
     "needs": ["torcheval", "tensorboard", "pkg_resources"], "shows": "Finished train", "times": 2},
    {"repository": "pytorch/torchsnapshot", "path": "examples/simple_example.py", "flags": ["--nproc-per-node=2"],
     "words": ["--work-dir", "{scratch}/cwd"], "needs": ["torchsnapshot"], "shows": "Snapshot path", "times": 2},
    # Programs of others
    {"repository": "huggingface/accelerate", "path": "src/accelerate/test_utils/scripts/test_ops.py", "flags": ["--nproc-per-node=2"],
     "env": {"ACCELERATE_USE_CPU": "true"}, "needs": ["accelerate"], "shows": "testing gather"},
    {"repository": "huggingface/accelerate", "path": "src/accelerate/test_utils/scripts/test_sync.py", "flags": ["--nproc-per-node=2"],
     "env": {"ACCELERATE_USE_CPU": "true"}, "needs": ["accelerate"], "shows": "Test", "varies": [r"\d+\.\d+"]},
    {"repository": "huggingface/accelerate", "path": "src/accelerate/test_utils/scripts/test_script.py", "flags": ["--nproc-per-node=2"],
     "env": {"ACCELERATE_USE_CPU": "true"}, "needs": ["accelerate"], "shows": "Test integration|Training yielded the same results", "varies": [r"\d+\.\d+"]},
    {"repository": "huggingface/accelerate", "path": "src/accelerate/test_utils/scripts/test_cli.py", "flags": ["--nproc-per-node=2"],
     "env": {"ACCELERATE_USE_CPU": "true"}, "needs": ["accelerate"], "shows": "Successfully ran on", "times": 2},
    {"repository": "Lightning-AI/pytorch-lightning", "path": "examples/pytorch/bug_report/bug_report_model.py", "flags": ["--nproc-per-node=2"],
     "needs": ["lightning"], "shows": "test_loss", "times": 1, "varies": [r"-?\d+\.\d+", r"[━╸╺╴]+", r" +"]},
]
