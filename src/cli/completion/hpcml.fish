# Completion of hpcml in fish: what can stand in a line `hpcml __complete` says.

function __hpcml_complete
    set -l words (commandline -opc) 
    set -l answer ($words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    switch "$answer[1]"
        case 'program *'
            set -l at (math (string replace 'program ' '' -- $answer[1]) + 2)
            if test $at -gt (count $words)
                complete -C (commandline -ct)
            else
                complete -C (string join ' ' -- (string escape -- $words[$at..-1]) (commandline -ct))
            end
        case files
            __fish_complete_path (commandline -ct)
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end
complete -c hpcml -f -a '(__hpcml_complete)'
