// SPDX-License-Identifier: MIT
// Launch on a node without /sys, and at a terminal.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "run/launch/process_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

TEST_CASE("without /sys a program starts that nobody is to bind, and another is told how") {
  if (::geteuid() != 0) return test::skip("only root can cover /sys");
  const auto launch = [](const std::string& flags) {
    return run_line("unshare --mount bash -c 'mount -t tmpfs none /sys; exec " + std::string(HPCML_BINARY) +
                    " launch " + flags + " --nproc-per-node 2 -- echo hi'");
  };
  const auto unbound = launch("--bind none");
  CHECK(unbound.exit_code == 0);
  CHECK_THAT(unbound.out, Contains("[0] hi\n") && Contains("[1] hi\n"));
  for (const auto* flags : {"", "--bind apply"}) {
    const auto output = launch(flags);
    CHECK(output.exit_code == 125);
    CHECK(output.out.empty());
    CHECK_THAT(output.err,
               Contains("/sys/devices/system/cpu/online is missing") && Contains("use --bind none"));
  }
}

TEST_CASE("Ctrl-Z at a terminal stops launch and its ranks, and fg goes on with all") {
  // The shell's own terminal; what is typed waits for what is to be seen.
  const auto output =
      run_line("export PROGRAM=" + std::string(HPCML_BINARY) + "\n" + R"sh(/usr/bin/python3 - <<'END'
import os, pty, select, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1="> ", NO_COLOR="1")
    os.execv("/bin/bash", ["bash", "--norc", "--noediting", "-i"])
seen = passed = ""
def until(text):
    global seen, passed
    end = time.time() + 120
    while text not in seen:
        assert time.time() < end, "no " + text + " in " + repr(seen)
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 4096).decode()
    passed, seen = seen.split(text, 1)
os.write(fd, b"$PROGRAM launch --nproc-per-node 1 -- bash -c 'echo its pid $$; sleep 1; sleep 1; echo it ended'\n")
until("[0] its pid ")
until("\n")
rank = passed.strip()
os.write(fd, b"\x1a")
until("Stopped")
end, state = time.time() + 120, ""
while state != "T":
    assert time.time() < end, "the rank goes on"
    with open("/proc/" + rank + "/stat") as stat:
        state = stat.read().split(") ")[1][0]
os.write(fd, b"fg\n")
until("[0] it ended")
print("all seen")
END
)sh");
  CHECK(output.out == "all seen\n");
  CHECK(output.err.empty());
}
