#!/usr/bin/env expect
make_script $file "
#SBATCH --nodes=2
"
