#!/bin/bash
OUT=x
cat > job.sh <<EOF
#!/bin/bash
#SBATCH --time=10
OUT=$OUT
EOF
cat >> job.sh <<'EOF'
python train.py --out $OUT
EOF
sbatch job.sh
