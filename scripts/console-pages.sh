#!/usr/bin/env bash
# Lists the files of the web folders of the console and of the identity server in their pages.c, which put them into the
# programs. Run it when a file is added, renamed or removed; a test says so when it was forgotten.
set -euo pipefail
cd "$(dirname "$0")/../Sources/Apps"

# The pages of the identity server have these files of the console, in their folder `pages`.
shared="pages/app.css pages/icon.svg pages/lib/dialog.js pages/lib/dom.js pages/lib/icons.js"

own() { (cd "$1/web" && find . -type f ! -name '.*' | sed 's|^\./||'); }
symbol() { printf 'page_%s' "$(printf %s "$1" | LC_ALL=C tr -c 'a-zA-Z0-9' '_')"; }

# write_list TARGET NAME [SHARED...]: writes the pages.c of a target, whose header has that name.
write_list() {
    local target=$1 name=$2 files file source
    shift 2
    files=$({ own "$target"; [ $# = 0 ] || printf '%s\n' "$@"; } | LC_ALL=C sort)
    {
        echo '// Written by scripts/console-pages.sh: the files of the pages, embedded.'
        echo
        printf '#include "%s.h"\n' "$name"
        echo
        echo '#pragma clang diagnostic ignored "-Wc23-extensions"'
        for file in $files; do
            source=web/$file
            [ -e "$target/$source" ] || source=../ConsolePages/web/${file#pages/}
            printf '\nstatic const unsigned char %s[] = {\n#embed "%s"\n};\n' "$(symbol "$file")" "$source"
        done
        printf '\nstatic const web_page pages[] = {\n'
        for file in $files; do
            printf '    {"%s", %s, sizeof %s},\n' "$file" "$(symbol "$file")" "$(symbol "$file")"
        done
        printf '};\n\nconst web_page *%s(size_t *count) {\n' "$name"
        printf '    *count = sizeof pages / sizeof pages[0];\n    return pages;\n}\n'
    } > "$target/pages.c"
}

write_list ConsolePages console_pages
# shellcheck disable=SC2086  # several names are several words
write_list IdentityPages identity_pages $shared
