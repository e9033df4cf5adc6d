#!/bin/bash
cat <<'EOF'
for " in (
EOF
