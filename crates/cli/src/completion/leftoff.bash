# Completion of leftoff for bash: the program itself says what can stand next.
_leftoff() {
    local IFS=$'\n'
    COMPREPLY=($(leftoff __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [ "${#COMPREPLY[@]}" -eq 0 ]; then
        compopt -o default 2>/dev/null
    else
        local number
        for number in "${!COMPREPLY[@]}"; do
            COMPREPLY[number]=$(printf '%q' "${COMPREPLY[number]}")
        done
    fi
}
complete -F _leftoff leftoff
