#compdef hpcml
# Completion of hpcml in zsh: what can stand in a line `hpcml __complete` says.

_hpcml() {
  local -a answer values
  local line text
  answer=("${(@f)$(${(Q)words[1]} __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  case $answer[1] in
    program*)
      shift $((${answer[1]#program } + 1)) words
      ((CURRENT -= ${answer[1]#program } + 1))
      _normal
      return
      ;;
    files)
      [[ $PREFIX == --*=* ]] && compset -P '*='
      _files
      return
      ;;
  esac
  for line in "${(@)answer[2,-1]}"; do
    text=${line%%$'\t'*}
    values+=("${text//:/\\:}:${line#*$'\t'}")
  done
  _describe -V hpcml values
}

if [[ $funcstack[1] == _hpcml ]]; then
  _hpcml "$@"
else
  compdef _hpcml hpcml
fi
