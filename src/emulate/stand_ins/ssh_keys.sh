#!/bin/bash
# The keys of this rehearsal, made anew, and the agent that has the user's: both are gone with the sandbox.
set -e
cd "@STATE_DIR@/ssh"
ssh-keygen -q -t ed25519 -N '' -C 'hpcml emulate' -f host_key &
host=$!
ssh-keygen -q -t ed25519 -N '' -C 'hpcml emulate' -f user_key
wait "$host"
# It goes into the background by itself once its socket is there.
eval "$(ssh-agent -s -a "$PWD/agent")" >/dev/null
ssh-add -q user_key
printf '%s %s\n' "$(<host_names)" "$(<host_key.pub)" >etc/ssh_known_hosts
: >ready
