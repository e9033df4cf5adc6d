#!/bin/bash
cat <<-!
#SBATCH -N2
	!
for i in 1 2; do cat <<$i; done
#SBATCH -N2
$i
