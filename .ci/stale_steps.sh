# shellcheck shell=bash
# Sourced by .ci/full: which steps' inputs have changed since their last result.
# Needs: repo (the checkout's path, which is the current directory), results (.ci/full.results), die.

inputs=.ci/full.inputs

# Prints src/NAME (core, core/util, ...) and, one a line, the directories of src/ that it may include, and those that they may include
# (src/LAYERS and the LAYERS of products).
layer_directories() {
  awk -F: -v first="$1" '
    FNR == 1 { product = FILENAME; sub(/^src\//, "", product); sub(/LAYERS$/, "", product) }
    /^[a-z_]+:/ { includes[product $1] = $2; inside[product] = inside[product] " " $1; if (product != "") has_layers[substr(product, 1, length(product) - 1)] = 1 }
    function add(name) { if (!(name in seen)) { seen[name] = 1; queue[++last] = name } }
    function is_directory(name) { return name in includes }
    END {
      if (!is_directory(first)) exit 1
      add(first)
      for (at = 1; at <= last; ++at) {
        name = queue[at]
        # A product with LAYERS is its directories, with what their lines name.
        if (name in has_layers) {
          count = split(inside[name "/"], names, " ")
          for (i = 1; i <= count; ++i) add(name "/" names[i])
          continue
        }
        print "src/" name
        product = name; if (!sub(/\/.*/, "/", product)) product = ""
        count = split(includes[name], names, " ")
        for (i = 1; i <= count; ++i) add(is_directory(product names[i]) ? product names[i] : names[i])
      }
    }' src/LAYERS src/*/LAYERS
}

# Prints the inputs of a step as git pathspecs, one a line; fails if one of them matches no file. The results are no input.
inputs_of() {
  local step=$1 word words=() expanded
  read -ra words < <(awk -v step="$step" '$1 == step { $1 = ""; line = line $0 } END { print line }' "$inputs")
  [ ${#words[@]} -gt 0 ] || words=(.)
  for word in "${words[@]}"; do
    if [ "${word#@}" != "$word" ]; then
      expanded=$(layer_directories "${word#@}") || { echo "$inputs: step $step: no LAYERS has a directory '${word#@}'" >&2; return 1; }
      printf '%s\n' "$expanded"
      continue
    fi
    case $word in
    :!*) ;;
    *) [ -n "$(git ls-files -- "$word" | head -n 1)" ] || { echo "$inputs: step $step: no tracked file matches '$word'" >&2; return 1; } ;;
    esac
    printf '%s\n' "$word"
  done
}

# Prints a commit with its distance: "636214f (12 commits ago)".
with_distance() {
  local count
  count=$(git rev-list --count "$1..HEAD")
  printf '%s (%d commit%s ago)' "$1" "$count" "$([ "$count" -eq 1 ] || printf s)"
}

# Prints why a step has to run again; nothing if its last result still holds. Fails if its inputs are declared wrongly.
find_stale_reason() {
  local step=$1 outcome='' commit='' paths changed count
  paths=$(inputs_of "$step") || return 1
  read -r _ outcome _ commit _ < <(grep "^$step " "$results") || true
  [ -n "$commit" ] || { echo "it has no result"; return; }
  [ "${commit%+}" = "$commit" ] || { echo "it ran with uncommitted changes on ${commit%+}"; return; }
  git merge-base --is-ancestor "$commit" HEAD 2>/dev/null || { echo "its commit $commit is not in the history of HEAD"; return; }
  [ "$outcome" = passed ] || { echo "it failed at $commit"; return; }
  mapfile -t paths <<<"$paths"
  changed=$(git diff --name-only "$commit" -- "${paths[@]}" ":!$results")
  [ -n "$changed" ] || return 0
  count=$(wc -l <<<"$changed")
  head -n 1 <<<"$changed" | tr '\n' ' '
  [ "$count" -eq 1 ] || printf 'and %d more ' $((count - 1))
  printf 'changed since %s\n' "$(with_distance "$commit")"
}

# Prints one line about a step.
print_staleness() {
  local step=$1 reason commit
  reason=$(find_stale_reason "$step") || return 1
  if [ -n "$reason" ]; then
    printf '%-13s stale    %s\n' "$step" "$reason"
  else
    commit=$(awk -v step="$step" '$1 == step { print $4 }' "$results")
    printf '%-13s current  no input changed since %s\n' "$step" "$(with_distance "$commit")"
  fi
}

# Prints "+" if tracked files other than the results have changes that no commit has.
uncommitted_mark() {
  [ -z "$(git status --porcelain --untracked-files=no -- . ":!$results")" ] || printf '+'
}

# Prints the minutes since SECONDS was $1, as "12.3 min".
minutes_since() {
  local tenths=$(((SECONDS - $1 + 3) / 6))
  printf '%d.%d min' $((tenths / 10)) $((tenths % 10))
}
