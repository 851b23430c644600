// Written by scripts/console-pages.sh: the files of the pages, embedded.

#include "identity_pages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page_index_html[] = {
#embed "web/index.html"
};

static const unsigned char page_pages_app_css[] = {
#embed "../ConsolePages/web/app.css"
};

static const unsigned char page_pages_app_js[] = {
#embed "web/pages/app.js"
};

static const unsigned char page_pages_icon_svg[] = {
#embed "../ConsolePages/web/icon.svg"
};

static const unsigned char page_pages_identity_css[] = {
#embed "web/pages/identity.css"
};

static const unsigned char page_pages_lib_agreement_js[] = {
#embed "web/pages/lib/agreement.js"
};

static const unsigned char page_pages_lib_api_js[] = {
#embed "web/pages/lib/api.js"
};

static const unsigned char page_pages_lib_bytes_js[] = {
#embed "web/pages/lib/bytes.js"
};

static const unsigned char page_pages_lib_dialog_js[] = {
#embed "../ConsolePages/web/lib/dialog.js"
};

static const unsigned char page_pages_lib_did_key_js[] = {
#embed "web/pages/lib/did-key.js"
};

static const unsigned char page_pages_lib_dom_js[] = {
#embed "../ConsolePages/web/lib/dom.js"
};

static const unsigned char page_pages_lib_handle_js[] = {
#embed "web/pages/lib/handle.js"
};

static const unsigned char page_pages_lib_icons_js[] = {
#embed "../ConsolePages/web/lib/icons.js"
};

static const unsigned char page_pages_lib_parts_js[] = {
#embed "web/pages/lib/parts.js"
};

static const unsigned char page_pages_lib_passkeys_js[] = {
#embed "web/pages/lib/passkeys.js"
};

static const unsigned char page_pages_texts_js[] = {
#embed "web/pages/texts.js"
};

static const unsigned char page_pages_views_account_js[] = {
#embed "web/pages/views/account.js"
};

static const unsigned char page_pages_views_ceremony_js[] = {
#embed "web/pages/views/ceremony.js"
};

static const unsigned char page_pages_views_home_js[] = {
#embed "web/pages/views/home.js"
};

static const unsigned char page_pages_views_register_js[] = {
#embed "web/pages/views/register.js"
};

static const unsigned char page_pages_views_sign_in_js[] = {
#embed "web/pages/views/sign-in.js"
};

static const web_page pages[] = {
    {"index.html", page_index_html, sizeof page_index_html},
    {"pages/app.css", page_pages_app_css, sizeof page_pages_app_css},
    {"pages/app.js", page_pages_app_js, sizeof page_pages_app_js},
    {"pages/icon.svg", page_pages_icon_svg, sizeof page_pages_icon_svg},
    {"pages/identity.css", page_pages_identity_css, sizeof page_pages_identity_css},
    {"pages/lib/agreement.js", page_pages_lib_agreement_js, sizeof page_pages_lib_agreement_js},
    {"pages/lib/api.js", page_pages_lib_api_js, sizeof page_pages_lib_api_js},
    {"pages/lib/bytes.js", page_pages_lib_bytes_js, sizeof page_pages_lib_bytes_js},
    {"pages/lib/dialog.js", page_pages_lib_dialog_js, sizeof page_pages_lib_dialog_js},
    {"pages/lib/did-key.js", page_pages_lib_did_key_js, sizeof page_pages_lib_did_key_js},
    {"pages/lib/dom.js", page_pages_lib_dom_js, sizeof page_pages_lib_dom_js},
    {"pages/lib/handle.js", page_pages_lib_handle_js, sizeof page_pages_lib_handle_js},
    {"pages/lib/icons.js", page_pages_lib_icons_js, sizeof page_pages_lib_icons_js},
    {"pages/lib/parts.js", page_pages_lib_parts_js, sizeof page_pages_lib_parts_js},
    {"pages/lib/passkeys.js", page_pages_lib_passkeys_js, sizeof page_pages_lib_passkeys_js},
    {"pages/texts.js", page_pages_texts_js, sizeof page_pages_texts_js},
    {"pages/views/account.js", page_pages_views_account_js, sizeof page_pages_views_account_js},
    {"pages/views/ceremony.js", page_pages_views_ceremony_js, sizeof page_pages_views_ceremony_js},
    {"pages/views/home.js", page_pages_views_home_js, sizeof page_pages_views_home_js},
    {"pages/views/register.js", page_pages_views_register_js, sizeof page_pages_views_register_js},
    {"pages/views/sign-in.js", page_pages_views_sign_in_js, sizeof page_pages_views_sign_in_js},
};

const web_page *identity_pages(size_t *count) {
    *count = sizeof pages / sizeof pages[0];
    return pages;
}
