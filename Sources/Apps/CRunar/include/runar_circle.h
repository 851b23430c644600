/*
 * runar_circle.h: the inner circle of a device's person: people who trust each other, and the thoughts that they exchange.
 * The rules of runar.h hold here too.
 *
 * Each function opens the circle of the node if it is not open. The circle belongs to the node, stays open while the node is
 * stopped and started, and is freed with it. Functions that take time end with RUNAR_ERROR_CANCELLED when the node is freed.
 *
 *   Ids         People and thoughts have public ids: 32 bytes in base58. Another text is refused with
 *               RUNAR_ERROR_INVALID_PARAMETERS.
 *   A person    is a JSON object as in the HTTP API: personId, name (the id if unknown), blurb (absent if unknown), trust
 *               ("none", "invited", "requested", "trusted" or "revoked"), safetyNumber, verified and devices: an array of
 *               objects with peerId, connected, sendingKeys (letters that can still be sealed to it) and low.
 *   A thought   is a JSON object with number (its place in the order in which this device stored thoughts), thoughtId,
 *               conversationId (the other person, or the stream), creatorId, creator (the name), own, mediaType, createdAt
 *               (milliseconds since 1970 by the creator's clock), text (absent if the content is no text), byteCount
 *               (absent if it is one), contentType and fileName (absent if unknown), holders, and for an own thought state
 *               and deliveries: an array of objects with peerId, state and holders. States are "refused", "expired",
 *               "waiting", "stored", "delivered" and "opened"; that of the thought is its least advanced delivery.
 */
#ifndef RUNAR_CIRCLE_H
#define RUNAR_CIRCLE_H

#include "runar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ people */

/** Opens the circle: from now on the node answers requests for trust and receives thoughts. Open it before
 * runar_node_start(), so that no request is refused. 2004 if another part of the program has a circle of this node. */
void runar_node_open_circle(runar_node *node, runar_callback callback, void *context);

/** Sets the profile of this device's person, and sends the new card to the people whom the person trusts. name has 1 to 128
 * bytes; blurb at most 1 024, or it is NULL. The value is the public id of this device's person. 4008 for a longer text,
 * 5003 for an empty name or a character that does not show. */
void runar_node_set_profile(
    runar_node *node, const char *name, const char *blurb, runar_callback callback, void *context);

/** The value is the card of this device's person as a text, `runar://person/...`, for a QR code or another channel. 6001
 * before runar_node_set_profile(). */
void runar_node_get_card(runar_node *node, runar_callback callback, void *context);

/** The value is a JSON array of all people, ordered by id, also those in whom trust was revoked. */
void runar_node_get_people(runar_node *node, runar_callback callback, void *context);

/** Asks the person of a connected device for trust, or accepts that person's request. 3002 if the device is in no
 * network that this one knows, 4001 if it has no circle, 6001 without a profile. */
void runar_node_invite_device(runar_node *node, const char *peer_id, runar_callback callback, void *context);

/** Asks the person of a card for trust, or accepts that person's request. Devices that are offline are asked when they
 * connect. The value is the person's id. 2009 if the signature is wrong, 5003 for a text that is no card, 6001 without a
 * profile, 6002 for the own card. */
void runar_node_invite_card(runar_node *node, const char *card, runar_callback callback, void *context);

/** Accepts the request of a person, or invites a person again in whom trust was revoked. 6001 without a profile, 6003 for
 * an unknown person. */
void runar_node_accept_person(runar_node *node, const char *person_id, runar_callback callback, void *context);

/** Declines the request of a person. 6003 for an unknown person. */
void runar_node_decline_person(runar_node *node, const char *person_id, runar_callback callback, void *context);

/** Notes that the safety number of a person was compared. The digits, with or without spaces, are those on the other
 * person's screen: 2011 if they differ from the ones of this device, 5003 if they are not 60, 6003 for an unknown person. */
void runar_node_verify_person(
    runar_node *node, const char *person_id, const char *safety_number, runar_callback callback, void *context);

/** Revokes the trust in a person: the devices are banned, the keys with them and the mail for them are deleted. This device
 * still renews tokens that it issued to them. Trust returns by runar_node_accept_person(); the device of a person who still
 * trusts this one answers by itself. 6003 for an unknown person. */
void runar_node_revoke_trust(runar_node *node, const char *person_id, runar_callback callback, void *context);

/* ------------------------------------------------------------------------------------------------ thoughts */

/** Says a text to a person. The callback is called when the thought is stored; deliveries follow, also after a restart. The
 * value is the public id of the thought. 4008 for more than 196 608 bytes, 6003 for an unknown person, 6004 without
 * trust. */
void runar_node_say(
    runar_node *node, const char *person_id, const char *text, runar_callback callback, void *context);

/** Sends length bytes of content at data, which may be NULL if there are none, as runar_node_say() does. media_type is "say",
 * "text", "post" (all three UTF-8), "image", "audio" or "video". content_type is a media type of RFC 6838 such as
 * "image/png", file_name the name of the file from which the content came; both have at most 255 bytes and may be NULL.
 * 5003 for another media type, a text that is not UTF-8 or a name with a character that does not show. */
void runar_node_send_thought(
    runar_node *node, const char *person_id, const char *media_type, const uint8_t *data, size_t length,
    const char *content_type, const char *file_name, runar_callback callback, void *context);

/** The value is a JSON array with the newest thoughts of the conversation with a person, the newest first. before is the
 * number of a thought, whose predecessors are listed, or 0; limit is at most 256, and 50 if it is 0. */
void runar_node_get_thoughts(
    runar_node *node, const char *person_id, uint64_t before, uint32_t limit, runar_callback callback, void *context);

/** Reads the content of a thought. 5003 if this device does not have the thought. */
void runar_node_get_thought_content(
    runar_node *node, const char *thought_id, runar_data_callback callback, void *context);

/** Tells the creators of thoughts that this device's person saw them. thought_ids are separated by commas, at most 256. A
 * thought is reported once, and none that is older than the newest one reported to the same person. Devices without
 * keys are left out. 5003 if this device does not have one of the thoughts. */
void runar_node_note_opened(runar_node *node, const char *thought_ids, runar_callback callback, void *context);

/* ------------------------------------------------------------------------------------------------ events */

/** The kinds of events of a circle. */
enum runar_circle_event_kind {
    RUNAR_CIRCLE_TRUST_CHANGED = 1,     /**< the trust in a person changed */
    RUNAR_CIRCLE_PROFILE_CHANGED = 2,   /**< a trusted person has a new profile */
    RUNAR_CIRCLE_THOUGHT_RECEIVED = 3,  /**< a thought came, also of this person from another own device: see creatorId */
    RUNAR_CIRCLE_DELIVERY_CHANGED = 4   /**< the delivery of a thought advanced */
};

/** A change in the circle. It lives until the callback returns. */
typedef struct runar_circle_event {
    size_t size;                    /**< bytes of this struct in the library; fields beyond it are absent */
    int32_t kind;                   /**< enum runar_circle_event_kind */
    const char *person_id;          /**< the other person; NULL if unknown, and for own thoughts in a group */
    const char *change;             /**< "requested", "trusted", "declined" or "revoked"; NULL for other kinds */
    const char *json;               /**< the person, or for the last two kinds the thought */
} runar_circle_event;

/** Receives an event of the circle. event lives until the callback returns. */
typedef void (*runar_circle_callback)(void *context, const runar_circle_event *event);

/** Has the callback called with each event of the circle, one after the other. At most 1 024 events wait for a slow callback;
 * further ones are dropped. The subscription is there when this returns, outlives a stop and a start and ends with
 * runar_node_unsubscribe() or runar_node_free(). Returns its id, to be freed with runar_string_free() at any time; NULL and
 * an error. */
char *runar_node_subscribe_circle(
    runar_node *node, runar_circle_callback callback, void *context, runar_error **error);

#ifdef __cplusplus
}
#endif

#endif /* RUNAR_CIRCLE_H */
