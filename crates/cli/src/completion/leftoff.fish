# Completion of leftoff for fish: the program itself says what can stand next.
function __leftoff_complete
    set -l words (commandline -opc)
    leftoff __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c leftoff -n 'test -n "$(__leftoff_complete)"' -f -a '(__leftoff_complete)'
