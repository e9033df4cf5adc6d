#!/bin/sh
# Run by slurmd before each task: what it prints as "export NAME=value" is in the task's environment.
echo 'export HPCML_REHEARSAL=1'
case ":$PATH:" in
  *":@STATE_DIR@/bin:"*) ;;
  *) # a job with --export=NONE: the site's login files would bring these
    echo "export PATH=@STATE_DIR@/bin:$PATH"
    echo 'export BASH_FUNC_module%%=@MODULE_FUNCTION@'
    ;;
esac
dir="@STATE_DIR@/local/${SLURM_JOB_USER:-$USER}.$SLURM_JOB_ID.0"
# shellcheck disable=SC2043 # several names, or none
for name in @JOB_DIRECTORIES@; do
  mkdir -p "$dir" && echo "export $name=$dir"
done
