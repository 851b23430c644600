#!/usr/bin/env bash
# Lists the files of the console's web folder in pages.c, which puts them into the program. Run it when a file is
# added, renamed or removed; a test says so when it was forgotten.
set -euo pipefail
cd "$(dirname "$0")/../Sources/Apps/ConsolePages"

files() { (cd web && find . -type f ! -name '.*' | sed 's|^\./||' | LC_ALL=C sort); }
symbol() { printf 'page_%s' "$(printf %s "$1" | LC_ALL=C tr -c 'a-zA-Z0-9' '_')"; }

{
    echo '// Written by scripts/console-pages.sh: the files of web/, embedded.'
    echo
    echo '#include "console_pages.h"'
    echo
    echo '#pragma clang diagnostic ignored "-Wc23-extensions"'
    files | while read -r file; do
        printf '\nstatic const unsigned char %s[] = {\n#embed "web/%s"\n};\n' "$(symbol "$file")" "$file"
    done
    printf '\nstatic const console_page pages[] = {\n'
    files | while read -r file; do
        printf '    {"%s", %s, sizeof %s},\n' "$file" "$(symbol "$file")" "$(symbol "$file")"
    done
    printf '};\n\nconst console_page *console_pages(size_t *count) {\n'
    printf '    *count = sizeof pages / sizeof pages[0];\n    return pages;\n}\n'
} > pages.c
