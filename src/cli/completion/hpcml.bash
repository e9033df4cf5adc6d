# shellcheck shell=bash
# Completion of hpcml in bash (4 or later): what can stand in a line `hpcml __complete` says.

_hpcml() {
  # Bash has cut the words at "=" and ":", too: what no blank divides is put together again.
  local line=${COMP_LINE:0:COMP_POINT} words=() last=-1 word i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -eq 0 || $line == [[:space:]]* ]]; then
      line=${line#"${line%%[![:space:]]*}"}
      words[++last]=
    fi
    [[ $i -lt $COMP_CWORD ]] || word=$line
    words[last]+=$word
    line=${line#"$word"}
  done

  local answer=() kind text
  mapfile -t answer < <(HPCML_COMPLETE_SHELL=bash "$1" __complete -- "${words[@]:1}" 2>/dev/null)
  kind=${answer[0]-}
  COMPREPLY=()
  if [[ $kind == program* ]]; then
    i=$((${kind#program } + 1))
    if declare -F _command_offset >/dev/null; then
      _command_offset $((COMP_CWORD - last + i))
    elif [[ $last -eq $i ]]; then
      mapfile -t COMPREPLY < <(compgen -c -- "${words[last]}")
    fi
    return
  fi
  [[ $kind == files ]] || compopt +o default # readline completes files itself

  # Readline puts the text behind the last "=" or ":" only.
  local current=${words[last]} cut=
  if [[ $current == *[=:]* ]]; then cut=${current%"${current##*[=:]}"}; fi
  for text in "${answer[@]:1}"; do
    text=${text%%$'\t'*}
    if [[ $current == [\"\']* ]]; then # the quote is still open: only what needs none
      [[ $text =~ [^A-Za-z0-9_@%+=:,./-] ]] || COMPREPLY+=("$text")
      continue
    fi
    printf -v text %q "${text#"$cut"}"
    COMPREPLY+=("$text")
  done
}
complete -o default -F _hpcml hpcml
