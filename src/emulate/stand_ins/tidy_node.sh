# shellcheck shell=bash
# Sourced by prolog and epilog, one at a time on a node: empties the node's own directories for temporary files.
node=@STATE_DIR@/nodes/${SLURMD_NODENAME:?} jobs=@STATE_DIR@/nodes/$SLURMD_NODENAME/jobs
shopt -s nullglob dotglob
exec 9> "$node/lock" && flock 9

# Removes what is older than each job that is on the node: then none of them made it. Names that are kept are the places of this
# machine's own directories, which are not seen here and never touched.
tidy_node() {
  local marks=("$jobs"/*) mark oldest='' directory entry name
  for mark in "${marks[@]}"; do
    [[ -n $oldest && $oldest -ot $mark ]] || oldest=$mark
  done
  for directory in "$node"/tmp[0-9]*; do
    local -A kept=()
    while IFS= read -r name; do [[ -z $name ]] || kept[$name]=1; done < "@STATE_DIR@/lib/kept${directory##*/tmp}"
    for entry in "$directory"/*; do
      if [[ -z ${kept[${entry##*/}]-} && (-z $oldest || $entry -ot $oldest) ]]; then rm -rf --one-file-system -- "$entry"; fi
    done
  done
}
