# shellcheck shell=bash
# Sourced by the programs in bin/: what the site has (site.sh, generated), the record, messages.
# Uses no name that a user's script could be using: everything here begins with hpcml_.

hpcml_state=${BASH_SOURCE[0]%/lib/*}
# shellcheck source=/dev/null
. "$hpcml_state/lib/site.sh"

# A text as a JSON string.
hpcml_json() {
  local text=$1 out='' i c
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/\\t}
  text=${text//$'\r'/\\r}
  if [[ $text == *[$'\001'-$'\037']* ]]; then
    for ((i = 0; i < ${#text}; i++)); do
      c=${text:i:1}
      [[ $c == [$'\001'-$'\037'] ]] && printf -v c '\\u%04x' "'$c"
      out+=$c
    done
    text=$out
  fi
  printf '"%s"' "$text"
}

# hpcml_record TOOL OK WORD…: one line in the record; a single write, so that lines of several tasks do not mix.
hpcml_record() {
  local tool=$1 ok=$2 word words='' host
  shift 2
  read -r host < /proc/sys/kernel/hostname # HOSTNAME may have come along from another node
  for word in "$@"; do
    words+=${words:+,}$(hpcml_json "$word")
  done
  printf '{"tool":%s,"ok":%s,"argv":[%s],"host":%s,"job":%s,"step":%s,"task":%s}\n' \
    "$(hpcml_json "$tool")" "$ok" "$words" "$(hpcml_json "$host")" "$(hpcml_json "${SLURM_JOB_ID-}")" \
    "$(hpcml_json "${SLURM_STEP_ID-}")" "$(hpcml_json "${SLURM_PROCID-}")" >> "$hpcml_state/record.jsonl"
}

# hpcml_fail TOOL CODE MESSAGE WORD…: records, says why on stderr, leaves.
hpcml_fail() {
  local tool=$1 code=$2 message=$3
  shift 3
  hpcml_record "$tool" false "$@"
  printf '%s: %s\n' "$tool" "$message" >&2
  exit "$code"
}

# True when WORD is among the rest.
hpcml_among() {
  local word=$1 other
  shift
  for other in "$@"; do
    [[ $other == "$word" ]] && return 0
  done
  return 1
}

# True for an absolute path in a directory that this machine lacks: a path of the site, which a rehearsal cannot look at.
hpcml_only_at_site() {
  [[ $1 == /* && ! -e $1 && ! -d ${1%/*} ]]
}

# hpcml_assume TOOL WHAT: reports once per step what is assumed to be at the site.
hpcml_assume() {
  [[ ${SLURM_PROCID-0} != 0 ]] || printf '%s: assuming that %s is at the site: this machine does not have it\n' "$1" "$2" >&2
}
