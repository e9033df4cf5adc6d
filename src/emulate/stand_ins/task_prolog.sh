#!/bin/sh
# Run by slurmd before each task: what it prints as "export NAME=value" is in the task's environment.
case ":$PATH:" in
  *":@STATE_DIR@/bin:"*) ;;
  *) # a job with --export=NONE: the site's login files would bring these
    echo "export PATH=@STATE_DIR@/bin:$PATH"
    echo 'export BASH_FUNC_module%%=@MODULE_FUNCTION@'
    ;;
esac
job_directory=@JOB_DIRECTORY@
if [ "$job_directory" = yes ]; then
  dir="@STATE_DIR@/local/${SLURM_JOB_USER:-$USER}.$SLURM_JOB_ID.0"
  mkdir -p "$dir" && echo "export SLURM_TMPDIR=$dir"
fi
