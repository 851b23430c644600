/// The pages of the console, the files of `web/`.

#ifndef CONSOLE_PAGES_H
#define CONSOLE_PAGES_H

#include "web_pages.h"

/// Returns the files in the order of their paths, and their count.
const web_page *console_pages(size_t *count);

#endif
