// Written by scripts/console-pages.sh: the files of the pages, embedded.

#include "console_pages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page_app_css[] = {
#embed "web/app.css"
};

static const unsigned char page_app_js[] = {
#embed "web/app.js"
};

static const unsigned char page_icon_svg[] = {
#embed "web/icon.svg"
};

static const unsigned char page_index_html[] = {
#embed "web/index.html"
};

static const unsigned char page_lib_access_js[] = {
#embed "web/lib/access.js"
};

static const unsigned char page_lib_activity_js[] = {
#embed "web/lib/activity.js"
};

static const unsigned char page_lib_api_js[] = {
#embed "web/lib/api.js"
};

static const unsigned char page_lib_code_js[] = {
#embed "web/lib/code.js"
};

static const unsigned char page_lib_dialog_js[] = {
#embed "web/lib/dialog.js"
};

static const unsigned char page_lib_dom_js[] = {
#embed "web/lib/dom.js"
};

static const unsigned char page_lib_format_js[] = {
#embed "web/lib/format.js"
};

static const unsigned char page_lib_icons_js[] = {
#embed "web/lib/icons.js"
};

static const unsigned char page_lib_list_js[] = {
#embed "web/lib/list.js"
};

static const unsigned char page_lib_parts_js[] = {
#embed "web/lib/parts.js"
};

static const unsigned char page_lib_phrase_js[] = {
#embed "web/lib/phrase.js"
};

static const unsigned char page_lib_router_js[] = {
#embed "web/lib/router.js"
};

static const unsigned char page_lib_scan_js[] = {
#embed "web/lib/scan.js"
};

static const unsigned char page_lib_secret_js[] = {
#embed "web/lib/secret.js"
};

static const unsigned char page_lib_store_js[] = {
#embed "web/lib/store.js"
};

static const unsigned char page_lib_turns_js[] = {
#embed "web/lib/turns.js"
};

static const unsigned char page_manifest_webmanifest[] = {
#embed "web/manifest.webmanifest"
};

static const unsigned char page_openapi_json[] = {
#embed "web/openapi.json"
};

static const unsigned char page_peers_css[] = {
#embed "web/peers.css"
};

static const unsigned char page_pictures_css[] = {
#embed "web/pictures.css"
};

static const unsigned char page_pictures_buckets_js[] = {
#embed "web/pictures/buckets.js"
};

static const unsigned char page_pictures_draw_js[] = {
#embed "web/pictures/draw.js"
};

static const unsigned char page_pictures_history_js[] = {
#embed "web/pictures/history.js"
};

static const unsigned char page_pictures_layout_js[] = {
#embed "web/pictures/layout.js"
};

static const unsigned char page_pictures_map_js[] = {
#embed "web/pictures/map.js"
};

static const unsigned char page_pictures_plot_js[] = {
#embed "web/pictures/plot.js"
};

static const unsigned char page_pictures_strip_js[] = {
#embed "web/pictures/strip.js"
};

static const unsigned char page_texts_js[] = {
#embed "web/texts.js"
};

static const unsigned char page_views_account_js[] = {
#embed "web/views/account.js"
};

static const unsigned char page_views_admit_js[] = {
#embed "web/views/admit.js"
};

static const unsigned char page_views_attachments_js[] = {
#embed "web/views/attachments.js"
};

static const unsigned char page_views_circle_devices_js[] = {
#embed "web/views/circle-devices.js"
};

static const unsigned char page_views_circle_homes_js[] = {
#embed "web/views/circle-homes.js"
};

static const unsigned char page_views_circle_js[] = {
#embed "web/views/circle.js"
};

static const unsigned char page_views_connect_js[] = {
#embed "web/views/connect.js"
};

static const unsigned char page_views_conversation_js[] = {
#embed "web/views/conversation.js"
};

static const unsigned char page_views_create_js[] = {
#embed "web/views/create.js"
};

static const unsigned char page_views_data_js[] = {
#embed "web/views/data.js"
};

static const unsigned char page_views_devices_js[] = {
#embed "web/views/devices.js"
};

static const unsigned char page_views_groups_js[] = {
#embed "web/views/groups.js"
};

static const unsigned char page_views_join_js[] = {
#embed "web/views/join.js"
};

static const unsigned char page_views_keys_js[] = {
#embed "web/views/keys.js"
};

static const unsigned char page_views_logs_js[] = {
#embed "web/views/logs.js"
};

static const unsigned char page_views_map_plots_js[] = {
#embed "web/views/map-plots.js"
};

static const unsigned char page_views_map_js[] = {
#embed "web/views/map.js"
};

static const unsigned char page_views_member_js[] = {
#embed "web/views/member.js"
};

static const unsigned char page_views_messages_store_js[] = {
#embed "web/views/messages-store.js"
};

static const unsigned char page_views_messages_js[] = {
#embed "web/views/messages.js"
};

static const unsigned char page_views_metrics_text_js[] = {
#embed "web/views/metrics-text.js"
};

static const unsigned char page_views_metrics_js[] = {
#embed "web/views/metrics.js"
};

static const unsigned char page_views_network_js[] = {
#embed "web/views/network.js"
};

static const unsigned char page_views_networks_js[] = {
#embed "web/views/networks.js"
};

static const unsigned char page_views_peer_js[] = {
#embed "web/views/peer.js"
};

static const unsigned char page_views_peers_doctor_js[] = {
#embed "web/views/peers-doctor.js"
};

static const unsigned char page_views_peers_news_js[] = {
#embed "web/views/peers-news.js"
};

static const unsigned char page_views_peers_store_js[] = {
#embed "web/views/peers-store.js"
};

static const unsigned char page_views_peers_js[] = {
#embed "web/views/peers.js"
};

static const unsigned char page_views_person_js[] = {
#embed "web/views/person.js"
};

static const unsigned char page_views_records_dialogs_js[] = {
#embed "web/views/records-dialogs.js"
};

static const unsigned char page_views_records_js[] = {
#embed "web/views/records.js"
};

static const unsigned char page_views_sealing_js[] = {
#embed "web/views/sealing.js"
};

static const unsigned char page_views_services_form_js[] = {
#embed "web/views/services-form.js"
};

static const unsigned char page_views_services_js[] = {
#embed "web/views/services.js"
};

static const unsigned char page_views_settings_lan_js[] = {
#embed "web/views/settings-lan.js"
};

static const unsigned char page_views_settings_page_js[] = {
#embed "web/views/settings-page.js"
};

static const unsigned char page_views_settings_js[] = {
#embed "web/views/settings.js"
};

static const unsigned char page_views_share_js[] = {
#embed "web/views/share.js"
};

static const unsigned char page_views_sign_in_js[] = {
#embed "web/views/sign-in.js"
};

static const unsigned char page_views_storage_js[] = {
#embed "web/views/storage.js"
};

static const unsigned char page_views_thoughts_js[] = {
#embed "web/views/thoughts.js"
};

static const unsigned char page_views_topics_js[] = {
#embed "web/views/topics.js"
};

static const web_page pages[] = {
    {"app.css", page_app_css, sizeof page_app_css},
    {"app.js", page_app_js, sizeof page_app_js},
    {"icon.svg", page_icon_svg, sizeof page_icon_svg},
    {"index.html", page_index_html, sizeof page_index_html},
    {"lib/access.js", page_lib_access_js, sizeof page_lib_access_js},
    {"lib/activity.js", page_lib_activity_js, sizeof page_lib_activity_js},
    {"lib/api.js", page_lib_api_js, sizeof page_lib_api_js},
    {"lib/code.js", page_lib_code_js, sizeof page_lib_code_js},
    {"lib/dialog.js", page_lib_dialog_js, sizeof page_lib_dialog_js},
    {"lib/dom.js", page_lib_dom_js, sizeof page_lib_dom_js},
    {"lib/format.js", page_lib_format_js, sizeof page_lib_format_js},
    {"lib/icons.js", page_lib_icons_js, sizeof page_lib_icons_js},
    {"lib/list.js", page_lib_list_js, sizeof page_lib_list_js},
    {"lib/parts.js", page_lib_parts_js, sizeof page_lib_parts_js},
    {"lib/phrase.js", page_lib_phrase_js, sizeof page_lib_phrase_js},
    {"lib/router.js", page_lib_router_js, sizeof page_lib_router_js},
    {"lib/scan.js", page_lib_scan_js, sizeof page_lib_scan_js},
    {"lib/secret.js", page_lib_secret_js, sizeof page_lib_secret_js},
    {"lib/store.js", page_lib_store_js, sizeof page_lib_store_js},
    {"lib/turns.js", page_lib_turns_js, sizeof page_lib_turns_js},
    {"manifest.webmanifest", page_manifest_webmanifest, sizeof page_manifest_webmanifest},
    {"openapi.json", page_openapi_json, sizeof page_openapi_json},
    {"peers.css", page_peers_css, sizeof page_peers_css},
    {"pictures.css", page_pictures_css, sizeof page_pictures_css},
    {"pictures/buckets.js", page_pictures_buckets_js, sizeof page_pictures_buckets_js},
    {"pictures/draw.js", page_pictures_draw_js, sizeof page_pictures_draw_js},
    {"pictures/history.js", page_pictures_history_js, sizeof page_pictures_history_js},
    {"pictures/layout.js", page_pictures_layout_js, sizeof page_pictures_layout_js},
    {"pictures/map.js", page_pictures_map_js, sizeof page_pictures_map_js},
    {"pictures/plot.js", page_pictures_plot_js, sizeof page_pictures_plot_js},
    {"pictures/strip.js", page_pictures_strip_js, sizeof page_pictures_strip_js},
    {"texts.js", page_texts_js, sizeof page_texts_js},
    {"views/account.js", page_views_account_js, sizeof page_views_account_js},
    {"views/admit.js", page_views_admit_js, sizeof page_views_admit_js},
    {"views/attachments.js", page_views_attachments_js, sizeof page_views_attachments_js},
    {"views/circle-devices.js", page_views_circle_devices_js, sizeof page_views_circle_devices_js},
    {"views/circle-homes.js", page_views_circle_homes_js, sizeof page_views_circle_homes_js},
    {"views/circle.js", page_views_circle_js, sizeof page_views_circle_js},
    {"views/connect.js", page_views_connect_js, sizeof page_views_connect_js},
    {"views/conversation.js", page_views_conversation_js, sizeof page_views_conversation_js},
    {"views/create.js", page_views_create_js, sizeof page_views_create_js},
    {"views/data.js", page_views_data_js, sizeof page_views_data_js},
    {"views/devices.js", page_views_devices_js, sizeof page_views_devices_js},
    {"views/groups.js", page_views_groups_js, sizeof page_views_groups_js},
    {"views/join.js", page_views_join_js, sizeof page_views_join_js},
    {"views/keys.js", page_views_keys_js, sizeof page_views_keys_js},
    {"views/logs.js", page_views_logs_js, sizeof page_views_logs_js},
    {"views/map-plots.js", page_views_map_plots_js, sizeof page_views_map_plots_js},
    {"views/map.js", page_views_map_js, sizeof page_views_map_js},
    {"views/member.js", page_views_member_js, sizeof page_views_member_js},
    {"views/messages-store.js", page_views_messages_store_js, sizeof page_views_messages_store_js},
    {"views/messages.js", page_views_messages_js, sizeof page_views_messages_js},
    {"views/metrics-text.js", page_views_metrics_text_js, sizeof page_views_metrics_text_js},
    {"views/metrics.js", page_views_metrics_js, sizeof page_views_metrics_js},
    {"views/network.js", page_views_network_js, sizeof page_views_network_js},
    {"views/networks.js", page_views_networks_js, sizeof page_views_networks_js},
    {"views/peer.js", page_views_peer_js, sizeof page_views_peer_js},
    {"views/peers-doctor.js", page_views_peers_doctor_js, sizeof page_views_peers_doctor_js},
    {"views/peers-news.js", page_views_peers_news_js, sizeof page_views_peers_news_js},
    {"views/peers-store.js", page_views_peers_store_js, sizeof page_views_peers_store_js},
    {"views/peers.js", page_views_peers_js, sizeof page_views_peers_js},
    {"views/person.js", page_views_person_js, sizeof page_views_person_js},
    {"views/records-dialogs.js", page_views_records_dialogs_js, sizeof page_views_records_dialogs_js},
    {"views/records.js", page_views_records_js, sizeof page_views_records_js},
    {"views/sealing.js", page_views_sealing_js, sizeof page_views_sealing_js},
    {"views/services-form.js", page_views_services_form_js, sizeof page_views_services_form_js},
    {"views/services.js", page_views_services_js, sizeof page_views_services_js},
    {"views/settings-lan.js", page_views_settings_lan_js, sizeof page_views_settings_lan_js},
    {"views/settings-page.js", page_views_settings_page_js, sizeof page_views_settings_page_js},
    {"views/settings.js", page_views_settings_js, sizeof page_views_settings_js},
    {"views/share.js", page_views_share_js, sizeof page_views_share_js},
    {"views/sign-in.js", page_views_sign_in_js, sizeof page_views_sign_in_js},
    {"views/storage.js", page_views_storage_js, sizeof page_views_storage_js},
    {"views/thoughts.js", page_views_thoughts_js, sizeof page_views_thoughts_js},
    {"views/topics.js", page_views_topics_js, sizeof page_views_topics_js},
};

const web_page *console_pages(size_t *count) {
    *count = sizeof pages / sizeof pages[0];
    return pages;
}
