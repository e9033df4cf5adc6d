#!/bin/bash
cat > a.sh << 'end of the script'
#SBATCH --nodes=2
end of the script
sbatch a.sh
