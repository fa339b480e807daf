#compdef leftoff
# Completion of leftoff for zsh: the program itself says what can stand next.
_leftoff() {
    local -a found
    found=("${(@f)$(leftoff __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    if (( ${#found} )); then
        compadd -a found
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_leftoff" ]; then
    _leftoff "$@"
else
    compdef _leftoff leftoff
fi
