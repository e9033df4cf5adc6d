// SPDX-License-Identifier: MIT
// Another user of an emulated cluster attacks jobs: a script's store, rank 0's node, a run of agents. The
// same client with the job's key does change the run. hpcml store show finds a job's store by its number.
#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

// $H is hpcml, $X runs the hostile client as another user, $D is a directory that user may write to.
const char* const k_common = R"SH(export D=$PWD/shared
mkdir -p "$D" && chmod 0777 "$D"
echo 'echo "$(id -u)" >> "$D/evil.$SLURM_PROCID"' > "$D/evil.sh"
chmod 0644 "$D/evil.sh"
X() { setpriv --reuid=12345 --regid=12345 --clear-groups "$HOSTILE" "$@"; }
wait_for() { for _ in $(seq 600); do [ -s "$1" ] && return; sleep 0.1; done; echo "no $1"; exit 1; }
wait_end() { for _ in $(seq 600); do [ -z "$(number_of "$1")" ] && return; sleep 0.1; done; }
export -f X wait_for
number_of() { squeue --noheader --format=%i --name="$1" | head -1; }
)SH";

const char* const k_script = R"SH(
"$H" gen --site generic --nodes 2 --gpus-per-node 0 --tasks-per-node 2 --time 5 --job-name "$NAME" --store own --hpcml-path "$H" \
  -o "$NAME.sh" -- bash -c 'echo rank $RANK at $MASTER_ADDR:$MASTER_PORT with "[$BASH_ENV]"; sleep 1'
# What the job waits for in its prologue: modules, files, the other nodes.
sed -i '/"\$0" "\$@"$/a (umask 077; echo "$HPCML_JOB_SECRET" > secret.$SLURM_JOB_NAME); echo "$HPCML_STORE_ADDR" > where.$SLURM_JOB_NAME; while [ ! -e go.$SLURM_JOB_NAME ]; do sleep 0.1; done' "$NAME.sh"
sbatch -o "$NAME.out" "$NAME.sh" > /dev/null
wait_for "where.$NAME"
place=$(cat "where.$NAME")
address=$(getent hosts "${place%:*}" | cut -d' ' -f1)
job=$(number_of "$NAME")
ATTACK
touch "go.$NAME"
wait_end "$NAME"
)SH";

const char* const k_bare = R"SH(
export HPCML_JOB_SECRET= HPCML_KEY_FILE
[ "$KEY" = yes ] || HPCML_KEY_FILE=/nowhere/key
cat > bare-$KEY.sh <<'END'
#!/bin/bash
cd "$SLURM_SUBMIT_DIR"
ports=$("$HOSTILE" number=$SLURM_JOB_ID step=1 ports | head -1)
setpriv --reuid=12345 --regid=12345 --clear-groups "$HOSTILE" port=${ports%% *} file="$D/evil.sh" answer & # on rank 0's node
sleep 1
srun -N2 -n2 --overlap true
srun -N2 -n2 --overlap "$H" launch --bind none --store own --rendezvous-timeout 25 -- bash -c 'echo rank $RANK with "[$BASH_ENV]" $MASTER_ADDR'
kill %1
END
sbatch -W -N2 -n2 -o bare-$KEY.out bare-$KEY.sh || true
)SH";

/// Another user forwards the first port of the ranks and one that the job's owner uses as a tunnel, records
/// what passes, and sends it again while the ranks run.
const char* const k_relay = R"SH(
cat > relay.sh <<'END'
#!/bin/bash
cd "$SLURM_SUBMIT_DIR"
address=$(getent hosts "$SLURMD_NODENAME" | cut -d' ' -f1)
ports=($("$HOSTILE" number=$SLURM_JOB_ID step=0 ports | head -1))
X port=${ports[0]} at=$address:${ports[1]} file="$D/ranks.record" relay > relay.1 &
X port=35999 at=$address:${ports[1]} file="$D/show.record" relay > relay.2 &
wait_for relay.1; wait_for relay.2
srun -N2 -n2 --overlap "$H" launch --bind none --store own -- \
  bash -c 'echo rank $RANK with "[$BASH_ENV]" at $MASTER_PORT; echo up > up.$RANK; while [ ! -e done ]; do sleep 0.1; done' &
step=$!
wait_for up.0; wait_for up.1
"$H" store show "$address:35999" > relay.show 2>&1
for record in ranks show; do X at=$address:${ports[1]} file="$D/$record.record" replay; done > replays
touch done
wait $step
echo "code $?, expected port ${ports[1]}."
kill %1 %2
END
sbatch -W -N2 -n2 -o relay.out relay.sh || true
)SH";

/// $KEY: hexadecimal digits; empty: the agents find no key, and create the key file.
const char* const k_agents = R"SH(
export HPCML_KEY_FILE=$PWD/key-of-agents HPCML_JOB_SECRET=$KEY
cat > $NAME.sh <<'END'
#!/bin/bash
cd "$SLURM_SUBMIT_DIR"
export HPCML_BAD_NODES=$SLURM_SUBMIT_DIR/bad-nodes.$SLURM_JOB_NAME
srun -N2 -n2 --ntasks-per-node=1 bash -c 'sleep $((SLURM_PROCID * LATE)); exec "$H" launch --bind none \
  --nproc-per-node 1 --max-restarts 1 -- bash -c "echo up > up.\$RANK; sleep 6
    echo rank \$RANK of \$WORLD_SIZE ran, restarts \$TORCHELASTIC_RESTART_COUNT"'
echo "code $?"
END
sbatch -J $NAME -N2 -n2 -o $NAME.out $NAME.sh > /dev/null
ATTACK
wait_end $NAME
)SH";

const char* const k_attack_agents = R"SH(
wait_for up.0
job=$(number_of $NAME)
address=$(getent hosts "$(squeue --noheader --format=%B --name=$NAME)" | cut -d' ' -f1)
for port in $("$HOSTILE" number=$job step=0 ports | tail -1); do
  for kind in failed leaving serving; do
    for key in "" "key=$(printf '0%.0s' $(seq 64))"; do
      X at=$address:$port job=$job.0.0 step=$job.0 rank=1 host=node002 kind=$kind $key agent
    done
  done
done > agents.attacks
"$H" store show $job > show.agents 2>&1 || true
)SH";

/// The second agent comes late: the client takes its place.
const char* const k_join_agents = R"SH(
until job=$(number_of $NAME); [ -n "$job" ]; do sleep 0.1; done
until [ "$(squeue --noheader --format=%T --name=$NAME)" = RUNNING ]; do sleep 0.1; done
address=$(getent hosts "$(squeue --noheader --format=%B --name=$NAME)" | cut -d' ' -f1)
for times in 1 2 3 4 5 6 7 8 9 10; do
  for port in $("$HOSTILE" number=$job step=0 ports | tail -1); do
    X at=$address:$port job=$job.0.0 step=$job.0 rank=1 world=1 host=node002 kind=failed key=$KEY agent
  done > control.attacks
  if grep -q joined control.attacks; then break; fi
  sleep 0.2
done
for times in $(seq 150); do
  if grep -q Xid $NAME.out; then break; fi
  sleep 0.2
done
scancel $job
)SH";

/// Runs a bash script on two emulated nodes in a temporary directory.
class Cluster {
public:
  Cluster() : x_directory(make_directory()) {}
  ~Cluster() { std::filesystem::remove_all(x_directory); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  void run(const std::string& script) const {
    std::filesystem::permissions(x_directory, std::filesystem::perms(0755));
    REQUIRE(util::write_file(x_directory + "/all.sh",
                             "export H=" HPCML_BINARY " HOSTILE=" HPCML_HOSTILE_CLIENT "\n" +
                                 std::string(k_common) + script,
                             0755));
    auto env = util::EnvSnapshot::of_process();
    env.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    const auto output =
        util::run_process({"env", "-C", x_directory, HPCML_BINARY, "emulate", "--site", "generic", "--nodes",
                           "2", "--cpus-per-node", "8", "--", "bash", "./all.sh"},
                          env, std::chrono::seconds(900));
    REQUIRE(output);
    INFO(output->out << output->err);
    REQUIRE(output->exit_code == 0);
  }
  std::string read(const std::string& name) const {
    const auto text = util::read_file(x_directory + "/" + name);
    return text ? *text : text.error().what;
  }
  /// Files that evil.sh has left: code of the other user ran.
  std::size_t evil_files() const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(x_directory + "/shared"))
      found +=
          entry.path().filename().string().starts_with("evil.") && entry.path().extension() != ".sh" ? 1 : 0;
    return found;
  }

private:
  std::string x_directory;
};

std::string with(std::string text, const std::string& name, const std::string& attack) {
  return "NAME=" + name + "\n" + util::replace_all(std::move(text), "ATTACK", attack);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("another user cannot change a job of hpcml gen", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can become another user");
  const Cluster cluster;
  const std::string wrong = "key=" + std::string(64, '0');
  cluster.run(
      with(k_script, "attacked",
           "for a in old-decision decision failure size version show; do\n"
           "  X at=$address:${place#*:} job=$job.0.0 world=4 rank=3 file=$D/evil.sh $a\n"
           "  X at=$address:${place#*:} job=$job.0.0 world=4 rank=3 file=$D/evil.sh " +
               wrong +
               " $a\ndone > attacks\n"
               "\"$H\" store show $job > show.login 2>&1 || true\n"
               "srun --jobid=$job --overlap -N1 -n1 \"$H\" store show > show.step 2>&1 || true\n"
               "X at=$address:${place#*:} job=$job.0.0 show > show.stranger 2>&1 || true\n") +
      with(k_script, "control",
           "\"$HOSTILE\" at=$address:${place#*:} job=$job.0.0 world=4 rank=0 address=127.0.0.99 port=4242 "
           "key=$(cat secret.$NAME) stay=yes decision > control.attack &\nwait_for control.attack\n"
           "(until grep -q 'rank 1 at' control.out; do sleep 0.2; done; scancel $job) &\n"));
  const auto out = cluster.read("attacked.out");
  CAPTURE(out, cluster.read("attacks"));
  for (const char* rank : {"0", "1", "2", "3"})
    CHECK_THAT(out, Contains(std::string("rank ") + rank + " at node001:"));
  CHECK(count(out, "with []") == 4);
  CHECK(cluster.evil_files() == 0);
  CHECK(count(out, "rejected a client at ") == 1);
  CHECK_THAT(cluster.read("attacks"), !Contains("welcome"));
  CHECK_THAT(cluster.read("show.login"), Contains("programs connected"));
  CHECK_THAT(cluster.read("show.step"), Contains("programs connected"));
  CHECK_THAT(cluster.read("show.stranger"), !Contains("connected") && !Contains("answered"));
  const auto control = cluster.read("control.out");
  CAPTURE(control, cluster.read("control.attack"));
  CHECK_THAT(control, Contains(" at 127.0.0.99:4242"));
}

TEST_CASE("another user's listener cannot change ranks of a bare srun", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can become another user");
  const Cluster cluster;
  cluster.run(std::string("KEY=yes\n") + k_bare + "KEY=no\n" + k_bare);
  for (const char* key : {"yes", "no"}) {
    const auto out = cluster.read("bare-" + std::string(key) + ".out");
    CAPTURE(key, out);
    CHECK_THAT(out, !Contains("192.0.2.1") && !Contains("evil"));
    if (std::string(key) == "yes") {
      CHECK_THAT(out, Contains("rank 0 with [] node001") && Contains("rank 1 with [] node001"));
    } else {
      CHECK_THAT(out, Contains("is in use")); // rank 0 says so, and nobody believes the listener
    }
  }
  CHECK(cluster.evil_files() == 0);
}

TEST_CASE("another user can neither end agents nor exclude a node", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can become another user");
  const Cluster cluster;
  const std::string key(64, 'a');
  cluster.run("export LATE=0 KEY= \n" + with(k_agents, "agents", k_attack_agents) +
              "export LATE=20 KEY=" + key + "\n" + with(k_agents, "control", k_join_agents));
  const auto out = cluster.read("agents.out");
  CAPTURE(out, cluster.read("agents.attacks"));
  CHECK_THAT(out, Contains("rank 0 of 2 ran, restarts 0") && Contains("rank 1 of 2 ran, restarts 0"));
  CHECK_THAT(out, Contains("code 0") && !Contains("Xid"));
  CHECK(count(out, "rejected a client at ") == 1);
  CHECK_THAT(cluster.read("agents.attacks"), !Contains("joined") && !Contains("got an order"));
  CHECK_THAT(cluster.read("bad-nodes.agents"), Contains("No such file") || Catch::Equals(""));
  CHECK_THAT(cluster.read("show.agents"), Contains("2 ranks"));
  CHECK(cluster.read("key-of-agents").size() == 32);
  const auto control = cluster.read("control.out");
  CAPTURE(control, cluster.read("control.attacks"));
  CHECK_THAT(control, Contains("Xid") && Contains("(node002, ") && !Contains("code 0"));
}

TEST_CASE("another user's relay and replay do not change a step", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can become another user");
  const Cluster cluster;
  cluster.run(k_relay);
  const auto out = cluster.read("relay.out");
  CAPTURE(out, cluster.read("relay.show"), cluster.read("replays"));
  const auto port = out.substr(std::min(out.find("expected port "), out.size()));
  CHECK_THAT(port, Catch::StartsWith("expected port "));
  const auto number = port.substr(14, port.find('.') - 14);
  CHECK_THAT(out, Contains("rank 0 with [] at " + number + "\n") &&
                      Contains("rank 1 with [] at " + number + "\n") && Contains("code 0, "));
  CHECK_THAT(cluster.read("relay.show"), Contains("2 ranks"));
  CHECK_THAT(cluster.read("shared/ranks.record"),
             Contains("hpcml session request") && !Contains("hpcml session proof"));
  CHECK_THAT(cluster.read("shared/show.record"), Contains("hpcml session proof"));
  CHECK(cluster.read("replays") == "not answered\nnot answered\n");
}
