#!/bin/bash
sbatch <<'EOF'
#!/bin/bash
#SBATCH --nodes=2
EOF
