/// The pages of the identity server: the files of `web/`, and those that it shares with the console.

#ifndef IDENTITY_PAGES_H
#define IDENTITY_PAGES_H

#include "web_pages.h"

/// Returns the files in the order of their paths, and their count.
const web_page *identity_pages(size_t *count);

#endif
