#!/bin/bash
cmd=(
  python
  train.py
)
add() { [ -n "$2" ] && cmd+=("$1" "$2"); }
add --steps "$STEPS"
cmd+=("$@")
"${cmd[@]}"
echo "===== DONE ====="
