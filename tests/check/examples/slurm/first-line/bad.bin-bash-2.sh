!#/bin/bash
srun true
